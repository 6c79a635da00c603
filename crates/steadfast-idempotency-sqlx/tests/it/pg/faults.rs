//! Backends that are terminated and servers that restart, at each step of an operation.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use steadfast_idempotency::server::{
    Answer, Began, Engine, EngineConfig, Operation, Record, StoreError, TransactionSlot, TxStore,
    Worked,
};
use steadfast_idempotency_sqlx::{PgStore, PgTx};
use steadfast_servers::Postgres;

use super::PgLedger;
use super::ledger::{insert, run};
use crate::ledger::{operation, payload, word};

/// Each step, the outcome when the connection is lost right after it, and whether the effect is
/// committed by then.
const STEPS: [(&str, &str, bool); 6] = [
    // A connection that died while it was idle is replaced.
    ("found", "ran", true),
    ("began", "failed", false),
    ("effect", "unavailable", false),
    ("undone", "unavailable", false),
    ("recorded", "unavailable", false),
    ("committed", "ran", true),
];

type Fault = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// The store, with a fault after one of its steps.
#[derive(Clone)]
struct Faulty {
    store: PgStore,
    step: &'static str,
    fault: Fault,
}

impl Faulty {
    async fn at(&self, step: &str) {
        if self.step == step {
            (self.fault)().await;
        }
    }
}

impl TxStore for Faulty {
    type Tx = PgTx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        let found = self.store.find(operation).await;
        self.at("found").await;
        found
    }

    async fn begin(&self, operation: &Operation) -> Result<Began<PgTx>, StoreError> {
        let began = self.store.begin(operation).await;
        self.at("began").await;
        began
    }

    async fn rollback_effect(&self, tx: &mut PgTx) -> Result<(), StoreError> {
        let undone = self.store.rollback_effect(tx).await;
        self.at("undone").await;
        undone
    }

    async fn record(
        &self,
        tx: &mut PgTx,
        operation: &Operation,
        record: &Record,
        retention: Duration,
    ) -> Result<(), StoreError> {
        let recorded = self.store.record(tx, operation, record, retention).await;
        self.at("recorded").await;
        recorded
    }

    async fn commit(&self, tx: PgTx) -> Result<(), StoreError> {
        let committed = self.store.commit(tx).await;
        self.at("committed").await;
        committed
    }

    async fn rollback(&self, tx: PgTx) -> Result<(), StoreError> {
        self.store.rollback(tx).await
    }

    async fn resolve(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        self.store.resolve(operation).await
    }
}

async fn at_every_step(ledger: &PgLedger, fault: Fault) {
    for (step, outcome, committed) in STEPS {
        let before = (ledger.charges().await, ledger.records().await);
        let faulty = Faulty {
            store: ledger.other().await,
            step,
            fault: Arc::clone(&fault),
        };
        let stop = faulty.clone();
        let work = move |slot: TransactionSlot<PgTx>| async move {
            let mut tx = slot.take().unwrap();
            if insert(&mut tx, "k", 4200).await.is_err() {
                return Worked::discard("failed");
            }
            stop.at("effect").await;
            let answer = Answer::new(StatusCode::CREATED, "receipt");
            match step {
                "undone" => Worked::store("ran", answer),
                _ => Worked::commit("ran", answer),
            }
        };
        let engine = Engine::new(faulty, EngineConfig::default());
        let executed = engine.execute(operation(step), payload(), work).await;
        let seen = match &executed {
            Ok(steadfast_idempotency::server::Executed::Ran(word)) => word,
            other => word(other),
        };
        assert_eq!(seen, outcome, "{step}: {executed:?}");

        let kept = i64::from(committed);
        let left = (ledger.charges().await, ledger.records().await);
        assert_eq!(left, (before.0 + kept, before.1 + kept), "{step}");
        let again = run(&ledger.engine(), step).await;
        assert_eq!(again, if committed { "replayed" } else { "ran" }, "{step}");
        let left = (ledger.charges().await, ledger.records().await);
        assert_eq!(left, (before.0 + 1, before.1 + 1), "{step}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_that_is_terminated_at_any_step_leaves_no_duplicate_and_no_stuck_key() {
    let Some(ledger) = PgLedger::new().await else {
        return;
    };
    let pool = ledger.pool.clone();
    let fault: Fault = Arc::new(move || {
        let pool = pool.clone();
        Box::pin(async move {
            let killed: i64 = sqlx::query_scalar(
                "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity \
                 WHERE datname = current_database() AND application_name = 'store'",
            )
            .fetch_one(&pool)
            .await
            .unwrap();
            assert!(killed > 0);
        })
    });
    at_every_step(&ledger, fault).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_restarts_at_any_step_leaves_no_duplicate_and_no_stuck_key() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let ledger = PgLedger::on(&server).await;
    let server = Arc::new(server);
    let fault: Fault = Arc::new(move || {
        let server = Arc::clone(&server);
        Box::pin(async move {
            let restart = tokio::task::spawn_blocking(move || {
                server.stop("QUIT");
                server.start_again();
            });
            restart.await.unwrap();
        })
    });
    at_every_step(&ledger, fault).await;
}

#[tokio::test]
async fn a_store_that_is_down_is_unavailable_and_the_handler_does_not_run() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let ledger = PgLedger::on(&server).await;
    let engine = Engine::new(
        ledger.store.clone(),
        EngineConfig::default().with_store_timeout(Duration::from_millis(300)),
    );
    assert_eq!(run(&engine, "k").await, "ran");
    server.stop("QUIT");
    assert_eq!(
        run(&engine, "k").await,
        "unavailable",
        "closed, also to replays"
    );
    assert_eq!(run(&engine, "other").await, "unavailable");
    server.start_again();
    assert_eq!(run(&ledger.engine(), "k").await, "replayed");
    assert_eq!(run(&ledger.engine(), "other").await, "ran");
}
