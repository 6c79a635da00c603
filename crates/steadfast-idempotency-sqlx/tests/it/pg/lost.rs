//! COMMITs whose answers get lost on the wire, and COMMITs that get lost themselves.

use std::time::Duration;

use steadfast_idempotency::server::{Engine, EngineConfig};
use steadfast_idempotency_sqlx::PgStore;
use steadfast_servers::Postgres;

use super::PgLedger;
use super::ledger::run;
use super::proxy::{CommitProxy, Fate};

#[tokio::test]
async fn a_lost_commit_is_looked_up_once_its_transaction_has_ended() {
    let Some(server) = Postgres::shared() else {
        return;
    };
    let ledger = PgLedger::on(server).await;
    let proxy = CommitProxy::start(server.port()).await;
    let direct = format!("127.0.0.1:{}", server.port());
    let url = ledger.url.replace(&direct, &proxy.addr.to_string());
    let store = PgStore::open(&url).await.unwrap();
    // What is left of a transaction whose COMMIT never came ends by itself.
    let store = store.with_idle_limit(Duration::from_millis(500));
    let config = EngineConfig::default().with_store_timeout(Duration::from_secs(2));
    let engine = Engine::new(store, config);
    let fates = [
        // The caller gets the answer all the same: the record is its own.
        (Fate::AnswerCut, "replayed"),
        (Fate::AnswerHeld, "replayed"),
        (Fate::RequestCut, "unavailable"),
        (Fate::RequestHeld, "unavailable"),
    ];
    let mut done = 0;
    for (fate, outcome) in fates {
        let key = format!("{fate:?}");
        proxy.next_commit(fate);
        assert_eq!(run(&engine, &key).await, outcome, "{fate:?}");
        assert!(proxy.met(), "{fate:?} was not tried");
        let committed = i64::from(outcome == "replayed");
        let left = (ledger.charges().await, ledger.records().await);
        assert_eq!(left, (done + committed, done + committed), "{fate:?}");

        let again = run(&engine, &key).await;
        assert_eq!(
            again,
            if committed == 1 { "replayed" } else { "ran" },
            "{fate:?}: the answer of resolve stays true"
        );
        done += 1;
        assert_eq!(
            (ledger.charges().await, ledger.records().await),
            (done, done),
            "{fate:?}"
        );
    }
}
