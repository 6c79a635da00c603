//! A process that is killed at a step leaves no duplicate and no stuck key.
//!
//! The test runs itself again as a child, which does the real work up to a step, says so on its
//! standard output and waits there for its SIGKILL.

use std::env;
use std::ffi::OsStr;
use std::future::{Future, pending};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::StatusCode;
use steadfast_idempotency::server::{
    Answer, Began, Engine, EngineConfig, Operation, Record, StoreError, TransactionSlot, TxStore,
    Worked,
};
use steadfast_idempotency_sqlx::{PgStore, PgTx, SqliteStore, SqliteTx};
use steadfast_servers::Postgres;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::ledger::{Ledger, operation, payload, run, word};
use crate::pg::PgLedger;

const NAME: &str = "kill::sigkill_at_every_step_leaves_no_duplicate_and_no_stuck_key";
const NAME_ON_POSTGRES: &str = "kill::sigkill_at_every_step_on_postgres_leaves_the_same";
const NAME_OF_CONTROL: &str = "kill::a_key_written_after_its_effect_is_doubled_by_such_a_kill";
const STEP: &str = "STEADFAST_TEST_KILL_AT";
const PLACE: &str = "STEADFAST_TEST_PLACE";
const REACHED: &str = "reached the step ";
/// Far above what any step takes, far below what a stuck test may cost.
const BOUND: Duration = Duration::from_secs(60);

/// Each step, and whether the effect is committed by then.
const STEPS: [(&str, bool); 7] = [
    ("found", false),
    ("began", false),
    ("effect", false),
    ("undone", false),
    ("recorded", false),
    ("committed", true),
    ("answered", true),
];

#[tokio::test]
async fn sigkill_at_every_step_leaves_no_duplicate_and_no_stuck_key() {
    if let Some(stepping) = Stepping::<SqliteStore>::of_child(Order::Together).await {
        let _ = tokio::time::timeout(BOUND, child(stepping)).await;
        return;
    }
    for (step, committed) in STEPS {
        let ledger = Ledger::new().await;
        killed_at(NAME, step, &ledger.path).await;

        let left = (ledger.charges().await, ledger.records().await);
        let kept = i64::from(committed);
        assert_eq!(
            left,
            (kept, kept),
            "{step}: effect and record are both there or both not"
        );
        let again = run(&ledger.engine(), "k").await;
        assert_eq!(again, if committed { "replayed" } else { "ran" }, "{step}");
        assert_eq!(
            (ledger.charges().await, ledger.records().await),
            (1, 1),
            "{step}"
        );
        assert_eq!(run(&ledger.engine(), "k").await, "replayed", "{step}");
    }
}

#[tokio::test]
async fn sigkill_at_every_step_on_postgres_leaves_the_same() {
    if let Some(stepping) = Stepping::<PgStore>::of_child(Order::Together).await {
        let _ = tokio::time::timeout(BOUND, child(stepping)).await;
        return;
    }
    let Some(server) = Postgres::shared() else {
        return;
    };
    for (step, committed) in STEPS {
        let ledger = PgLedger::on(server).await;
        killed_at(NAME_ON_POSTGRES, step, &ledger.url).await;
        // The server notices the end of its client by itself.
        let ended = async {
            loop {
                match ledger.run("k").await {
                    "in progress" => tokio::task::yield_now().await,
                    again => break again,
                }
            }
        };
        let again = tokio::time::timeout(BOUND, ended).await.unwrap();
        assert_eq!(again, if committed { "replayed" } else { "ran" }, "{step}");
        assert_eq!(
            (ledger.charges().await, ledger.records().await),
            (1, 1),
            "{step}"
        );
    }
}

/// The negative control: what the tests above would show of a store that leaves the gap.
#[tokio::test]
async fn a_key_written_after_its_effect_is_doubled_by_such_a_kill() {
    if let Some(stepping) = Stepping::<SqliteStore>::of_child(Order::KeyAfterEffect).await {
        let _ = tokio::time::timeout(BOUND, child(stepping)).await;
        return;
    }
    let ledger = Ledger::new().await;
    killed_at(NAME_OF_CONTROL, "gap", &ledger.path).await;
    assert_eq!((ledger.charges().await, ledger.records().await), (1, 0));
    assert_eq!(run(&ledger.engine(), "k").await, "ran");
    assert_eq!(ledger.charges().await, 2);
}

/// Runs the child until it has reached the step, and kills it there.
async fn killed_at(name: &str, step: &str, place: impl AsRef<OsStr>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(STEP, step)
        .env(PLACE, place)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let reached = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            // The test harness writes its own text in front of it.
            if line.ends_with(&format!("{REACHED}{step}")) {
                return true;
            }
        }
        false
    };
    assert!(
        tokio::time::timeout(BOUND, reached).await.unwrap(),
        "{step} was never reached"
    );
    child.kill().await.unwrap();
}

/// A store, and the effect of a handler on it.
trait Application: TxStore {
    fn at(place: String) -> impl Future<Output = Self> + Send;
    fn charge(tx: &mut Self::Tx) -> impl Future<Output = ()> + Send;
}

impl Application for SqliteStore {
    async fn at(place: String) -> Self {
        Self::open(place).await.unwrap()
    }

    async fn charge(tx: &mut SqliteTx) {
        let sql = "INSERT INTO charge (key, cents) VALUES ('k', 4200)";
        sqlx::raw_sql(sql).execute(&mut **tx).await.unwrap();
    }
}

impl Application for PgStore {
    async fn at(place: String) -> Self {
        Self::open(&place).await.unwrap()
    }

    async fn charge(tx: &mut PgTx) {
        let sql = "INSERT INTO charge (key, cents) VALUES ('k', 4200)";
        sqlx::raw_sql(sql).execute(&mut **tx).await.unwrap();
    }
}

async fn child<St: Application>(stepping: Stepping<St>) {
    let stop = stepping.clone();
    let engine = Engine::new(stepping, EngineConfig::default());
    let stop_in_work = stop.clone();
    let work = move |slot: TransactionSlot<St::Tx>| async move {
        St::charge(&mut *slot.take().unwrap()).await;
        stop_in_work.at("effect").await;
        let answer = Answer::new(StatusCode::CREATED, "receipt");
        match &stop_in_work.step[..] {
            "undone" => Worked::store((), answer),
            _ => Worked::commit((), answer),
        }
    };
    let outcome = engine.execute(operation("k"), payload(), work).await;
    assert_eq!(word(&outcome), "ran");
    stop.at("answered").await;
}

/// The store, with a stop after each step.
#[derive(Clone)]
struct Stepping<St> {
    store: St,
    step: String,
    order: Order,
    // What the control writes after its effect.
    late: Arc<Mutex<Option<(Operation, Record, Duration)>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Together,
    KeyAfterEffect,
}

impl<St: Application> Stepping<St> {
    /// The store of a child; None in the parent.
    async fn of_child(order: Order) -> Option<Self> {
        let (step, place) = (env::var(STEP).ok()?, env::var(PLACE).ok()?);
        Some(Self {
            store: St::at(place).await,
            step,
            order,
            late: Arc::default(),
        })
    }

    async fn write_late_key(&self) {
        self.at("gap").await;
        let (operation, record, retention) = self.late.lock().unwrap().take().unwrap();
        let Began::Fresh(mut tx) = self.store.begin(&operation).await.unwrap() else {
            panic!("nothing is recorded yet");
        };
        let recorded = self.store.record(&mut tx, &operation, &record, retention);
        recorded.await.unwrap();
        self.store.commit(tx).await.unwrap();
    }

    async fn at(&self, step: &str) {
        if self.step == step {
            println!("{REACHED}{step}");
            pending().await
        }
    }
}

impl<St: Application> TxStore for Stepping<St> {
    type Tx = St::Tx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        let found = self.store.find(operation).await;
        self.at("found").await;
        found
    }

    async fn begin(&self, operation: &Operation) -> Result<Began<St::Tx>, StoreError> {
        let began = self.store.begin(operation).await;
        self.at("began").await;
        began
    }

    async fn rollback_effect(&self, tx: &mut St::Tx) -> Result<(), StoreError> {
        let undone = self.store.rollback_effect(tx).await;
        self.at("undone").await;
        undone
    }

    async fn record(
        &self,
        tx: &mut St::Tx,
        operation: &Operation,
        record: &Record,
        retention: Duration,
    ) -> Result<(), StoreError> {
        if self.order == Order::KeyAfterEffect {
            let late = (operation.clone(), record.clone(), retention);
            *self.late.lock().unwrap() = Some(late);
            return Ok(());
        }
        let recorded = self.store.record(tx, operation, record, retention).await;
        self.at("recorded").await;
        recorded
    }

    async fn commit(&self, tx: St::Tx) -> Result<(), StoreError> {
        let committed = self.store.commit(tx).await;
        if self.order == Order::KeyAfterEffect {
            self.write_late_key().await;
        }
        self.at("committed").await;
        committed
    }

    async fn rollback(&self, tx: St::Tx) -> Result<(), StoreError> {
        self.store.rollback(tx).await
    }

    async fn resolve(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        self.store.resolve(operation).await
    }
}
