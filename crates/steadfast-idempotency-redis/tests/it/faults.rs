use std::time::Duration;

use steadfast_idempotency::server::leased::{AtMostOnce, Claimed, LeaseStore, Reentrant};
use steadfast_servers::Redis;
use tokio::time::Instant;

use super::rig::{Effects, ask, engine, operation, operator, run, store};

const AOF: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

/// Asks again until the server is back.
async fn run_until_heard(
    engine: &steadfast_idempotency::server::leased::LeasedEngine<
        steadfast_idempotency_redis::RedisLeaseStore,
        AtMostOnce,
    >,
    key: &str,
    effects: &Effects,
) -> &'static str {
    let asking = async {
        loop {
            match run(engine, key, effects).await {
                "unavailable" => tokio::time::sleep(Duration::from_millis(20)).await,
                heard => return heard,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asking)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_down_lets_nothing_run_and_knows_all_when_it_is_back() {
    let Some(server) = Redis::start_with(&AOF) else {
        return;
    };
    let engine = engine(store(&server).await, AtMostOnce::new());
    let effects = Effects::default();
    assert_eq!(run(&engine, "before", &effects).await, "ran");
    let Claimed::Held { fence, .. } = engine
        .store()
        .claim(&operation("held"), &ask())
        .await
        .unwrap()
    else {
        panic!("nobody holds it");
    };

    server.stop("KILL");
    let start = Instant::now();
    assert_eq!(run(&engine, "before", &effects).await, "unavailable");
    assert_eq!(run(&engine, "down", &effects).await, "unavailable");
    assert!(
        start.elapsed() < Duration::from_secs(8),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(effects.count(), 1);

    server.start_again();
    assert_eq!(
        run_until_heard(&engine, "before", &effects).await,
        "replayed"
    );
    assert_eq!(run_until_heard(&engine, "down", &effects).await, "ran");
    let held = engine
        .store()
        .claim(&operation("held"), &ask())
        .await
        .unwrap();
    assert!(matches!(held, Claimed::Running { .. }), "{held:?}");
    let key = operation("held");
    engine
        .store()
        .release(&key, fence, ask().terms)
        .await
        .unwrap();
    let again = engine.store().claim(&key, &ask()).await.unwrap();
    assert!(matches!(again, Claimed::Held { fence: next, .. } if next > fence));
    assert_eq!(effects.count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_connections_cost_nothing_but_time() {
    let Some(server) = Redis::start() else { return };
    let engine = engine(store(&server).await, AtMostOnce::new());
    let effects = Effects::default();
    let mut operator = operator(&server).await;
    for at in 0..25 {
        let mut kill = redis::cmd("CLIENT");
        kill.arg("KILL")
            .arg("TYPE")
            .arg("normal")
            .arg("SKIPME")
            .arg("yes");
        let _: i64 = kill.query_async(&mut operator).await.unwrap();
        let key = format!("k{at}");
        assert_eq!(run_until_heard(&engine, &key, &effects).await, "ran");
        assert_eq!(run(&engine, &key, &effects).await, "replayed");
    }
    assert_eq!(effects.count(), 25);
    assert_eq!(engine.counts().unknown, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_killed_under_load_repeat_no_effect() {
    let Some(server) = Redis::start() else { return };
    let engine = engine(store(&server).await, AtMostOnce::new());
    let effects = Effects::default();
    let mut operator = operator(&server).await;
    let killing = tokio::spawn(async move {
        loop {
            let mut kill = redis::cmd("CLIENT");
            kill.arg("KILL")
                .arg("TYPE")
                .arg("normal")
                .arg("SKIPME")
                .arg("yes");
            let _: Result<i64, _> = kill.query_async(&mut operator).await;
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    });
    let keys = 60;
    for at in 0..keys {
        let key = format!("k{at}");
        let before = effects.count();
        for _ in 0..3 {
            run(&engine, &key, &effects).await;
        }
        assert!(effects.count() <= before + 1, "{key} ran twice");
    }
    killing.abort();
    // Answers that could not be kept are the declared price; none of them runs again.
    tokio::time::sleep(Duration::from_secs(4)).await;
    for at in 0..keys {
        let before = effects.count();
        let key = format!("k{at}");
        let last = run_until_heard(&engine, &key, &effects).await;
        assert!(["ran", "replayed", "unknown"].contains(&last), "{last}");
        assert_eq!(effects.count() - before, usize::from(last == "ran"));
    }
    assert!(effects.count() <= keys);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_server_is_waited_for_within_bounds_and_a_lost_claim_for_its_lease() {
    let Some(server) = Redis::start() else { return };
    let engine = engine(store(&server).await, Reentrant);
    let effects = Effects::default();
    server.signal("STOP");
    let start = Instant::now();
    assert_eq!(run(&engine, "k", &effects).await, "unavailable");
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    // The claims that nobody heard of are made now.
    server.signal("CONT");
    let mut came = Vec::new();
    let asking = async {
        loop {
            let last = run(&engine, "k", &effects).await;
            came.push(last);
            if last == "ran" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asking)
        .await
        .unwrap();
    assert_eq!(effects.count(), 1, "{came:?}");
    assert_eq!(run(&engine, "k", &effects).await, "replayed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_lost_its_scripts_gets_them_again() {
    let Some(server) = Redis::start() else { return };
    let engine = engine(store(&server).await, AtMostOnce::new());
    let effects = Effects::default();
    let mut operator = operator(&server).await;
    for key in ["a", "b"] {
        let mut flush = redis::cmd("SCRIPT");
        let _: String = flush.arg("FLUSH").query_async(&mut operator).await.unwrap();
        assert_eq!(run(&engine, key, &effects).await, "ran");
        assert_eq!(run(&engine, key, &effects).await, "replayed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_server_takes_no_claim_and_still_replays() {
    let Some(server) = Redis::start() else { return };
    let engine = engine(store(&server).await, AtMostOnce::new());
    let effects = Effects::default();
    assert_eq!(run(&engine, "a", &effects).await, "ran");
    let mut operator = operator(&server).await;
    for (maxmemory, came) in [("1", "unavailable"), ("0", "ran")] {
        let mut set = redis::cmd("CONFIG");
        set.arg("SET").arg("maxmemory").arg(maxmemory);
        let _: String = set.query_async(&mut operator).await.unwrap();
        assert_eq!(run(&engine, "a", &effects).await, "replayed");
        assert_eq!(run(&engine, "b", &effects).await, came);
    }
    assert_eq!(effects.count(), 2);
}
