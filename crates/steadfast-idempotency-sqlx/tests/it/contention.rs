use std::time::Duration;

use steadfast_idempotency::server::{Answer, Began, Engine, EngineConfig, Record, TxStore};
use steadfast_idempotency_sqlx::SqliteStore;

use crate::ledger::{Ledger, charge, operation, payload, run, word};

#[tokio::test]
async fn a_locked_database_is_unavailable_and_never_in_progress() {
    let ledger = Ledger::new().await;
    let other = ledger.impatient().await;
    let engine = Engine::new(other, EngineConfig::default());
    let Began::Fresh(held) = ledger.store.begin(&operation("held")).await.unwrap() else {
        panic!("nothing is recorded yet");
    };
    assert_eq!(run(&engine, "k").await, "unavailable");
    ledger.store.rollback(held).await.unwrap();
    assert_eq!(run(&engine, "k").await, "ran");
}

#[tokio::test]
async fn replays_do_not_queue_behind_a_writer() {
    let ledger = Ledger::new().await;
    let engine = ledger.engine();
    assert_eq!(run(&engine, "k").await, "ran");
    let held = ledger.store.begin(&operation("held")).await.unwrap();
    assert!(matches!(held, Began::Fresh(_)));
    assert_eq!(run(&engine, "k").await, "replayed");
}

#[tokio::test]
async fn a_transaction_that_is_dropped_is_rolled_back_and_frees_the_writer() {
    let ledger = Ledger::new().await;
    for _ in 0..3 {
        let Began::Fresh(mut tx) = ledger.store.begin(&operation("k")).await.unwrap() else {
            panic!("nothing is recorded yet");
        };
        sqlx::raw_sql("INSERT INTO charge (key, cents) VALUES ('k', 1)")
            .execute(&mut *tx)
            .await
            .unwrap();
    }
    assert_eq!(run(&ledger.engine(), "k").await, "ran");
    assert_eq!(ledger.charges().await, 1);
}

#[tokio::test]
async fn begin_may_be_dropped_at_any_await() {
    let ledger = Ledger::new().await;
    for polls in 1..40 {
        let key = operation("k");
        let mut begin = Box::pin(ledger.store.begin(&key));
        for _ in 0..polls {
            let poll = std::future::poll_fn(|cx| {
                std::task::Poll::Ready(begin.as_mut().poll(cx).is_ready())
            });
            if poll.await {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(begin);
        let next = ledger.store.begin(&key);
        let next = tokio::time::timeout(Duration::from_secs(10), next)
            .await
            .unwrap();
        assert!(matches!(next.unwrap(), Began::Fresh(_)), "{polls}");
    }
}

#[tokio::test]
async fn a_lost_commit_is_resolved_after_its_transaction_has_ended() {
    let ledger = Ledger::new().await;
    for polls in 1..30 {
        let key = operation(&format!("k{polls}"));
        let Began::Fresh(mut tx) = ledger.store.begin(&key).await.unwrap() else {
            panic!("nothing is recorded yet");
        };
        let answer = Answer::new(http::StatusCode::OK, "");
        let record = Record::new(payload(), answer);
        let retention = Duration::from_secs(60);
        ledger
            .store
            .record(&mut tx, &key, &record, retention)
            .await
            .unwrap();
        let mut commit = Box::pin(ledger.store.commit(tx));
        for _ in 0..polls {
            let poll = std::future::poll_fn(|cx| {
                std::task::Poll::Ready(commit.as_mut().poll(cx).is_ready())
            });
            if poll.await {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(commit);
        let resolved = ledger.store.resolve(&key).await.unwrap();
        let found = ledger.store.find(&key).await.unwrap();
        assert_eq!(resolved, found, "{polls}: what was resolved stays so");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_that_race_for_a_key_have_one_effect() {
    let ledger = Ledger::new().await;
    let stores = [
        ledger.store.clone(),
        SqliteStore::open(&ledger.path).await.unwrap(),
    ];
    // An engine each: the registry of one does not see the other's work.
    let engines = stores.map(|store| Engine::new(store, EngineConfig::default()));
    for at in 0..20 {
        let key = operation(&format!("k{at}"));
        let runs = engines
            .clone()
            .map(|engine| tokio::spawn(engine.execute(key.clone(), payload(), charge)));
        let mut words = Vec::new();
        for run in runs {
            words.push(word(&run.await.unwrap()));
        }
        words.sort_unstable();
        assert_eq!(words, ["ran", "replayed"], "{at}");
    }
    assert_eq!((ledger.charges().await, ledger.records().await), (20, 20));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_may_open_a_fresh_file_at_once() {
    for _ in 0..10 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fresh.sqlite");
        let opening: Vec<_> = (0..8)
            .map(|_| tokio::spawn(SqliteStore::open(path.clone())))
            .collect();
        for open in opening {
            open.await.unwrap().unwrap();
        }
    }
}
