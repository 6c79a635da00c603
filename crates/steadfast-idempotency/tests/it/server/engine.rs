use std::time::Duration;

use http::StatusCode;
use steadfast_idempotency::Key;
use steadfast_idempotency::server::{
    Answer, Began, Engine, EngineConfig, Executed, FingerprintHasher, Operation, Record, Refused,
    StoreError, TransactionSlot, TxStore, Worked,
};

use super::store::{MemoryStore, MemoryTx, Step};

fn operation(scope: &str, key: &str) -> Operation {
    Operation::new("mail", scope, &Key::parse(key).unwrap())
}

async fn deliver(slot: TransactionSlot<MemoryTx>) -> Worked<&'static str> {
    slot.take().unwrap().effects.push("delivered".to_owned());
    Worked::commit("fresh", Answer::new(StatusCode::OK, "kept"))
}

#[tokio::test(start_paused = true)]
async fn a_consumer_of_messages_needs_no_http_server() {
    let store = MemoryStore::default();
    let engine = Engine::new(store.clone(), EngineConfig::default());
    let payload = |text: &str| FingerprintHasher::new("message").field(text).finish();

    let first = engine.execute(operation("queue", "17"), payload("hello"), deliver);
    assert!(matches!(first.await.unwrap(), Executed::Ran("fresh")));
    let second = engine
        .execute(operation("queue", "17"), payload("hello"), deliver)
        .await;
    let Ok(Executed::Replayed(record)) = second else {
        panic!("{second:?}");
    };
    assert_eq!(record.answer.body, "kept");
    let other = engine
        .execute(operation("queue", "17"), payload("bye"), deliver)
        .await;
    assert!(matches!(other, Err(Refused::KeyReused)), "{other:?}");
    assert_eq!(store.effects(), ["delivered"]);
}

#[test]
fn an_operations_child_keys_differ_by_every_part_of_it() {
    let namespaced = |namespace: &str, scope: &str, key: &str, step: &str| {
        Operation::new(namespace, scope, &Key::parse(key).unwrap()).child(step)
    };
    let base = namespaced("n", "a", "b_c", "charge");
    assert_eq!(base, namespaced("n", "a", "b_c", "charge"));
    for (namespace, scope, key, step) in [
        ("m", "a", "b_c", "charge"),
        ("n", "b", "b_c", "charge"),
        ("n", "a_b", "c", "charge"),
        ("n", "a", "b_c", "refund"),
    ] {
        assert_ne!(base, namespaced(namespace, scope, key, step));
    }
}

#[test]
fn debug_output_shows_neither_scope_nor_key() {
    let shown = format!("{:?}", operation("secret-caller", "secret-key"));
    assert!(
        shown.contains("mail") && !shown.contains("secret"),
        "{shown}"
    );
}

/// A store whose `begin` does all the looking.
#[derive(Clone, Default)]
struct Looks(MemoryStore);

impl TxStore for Looks {
    type Tx = MemoryTx;

    fn finds_first(&self) -> bool {
        false
    }

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        self.0.find(operation).await
    }

    async fn begin(&self, operation: &Operation) -> Result<Began<MemoryTx>, StoreError> {
        self.0.begin(operation).await
    }

    async fn rollback_effect(&self, tx: &mut MemoryTx) -> Result<(), StoreError> {
        self.0.rollback_effect(tx).await
    }

    async fn record(
        &self,
        tx: &mut MemoryTx,
        operation: &Operation,
        record: &Record,
        retention: Duration,
    ) -> Result<(), StoreError> {
        self.0.record(tx, operation, record, retention).await
    }

    async fn commit(&self, tx: MemoryTx) -> Result<(), StoreError> {
        self.0.commit(tx).await
    }

    async fn rollback(&self, tx: MemoryTx) -> Result<(), StoreError> {
        self.0.rollback(tx).await
    }

    async fn resolve(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        self.0.resolve(operation).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_whose_begin_looks_is_spared_the_look_before_it() {
    let store = Looks::default();
    let engine = Engine::new(store.clone(), EngineConfig::default());
    let payload = |text: &str| FingerprintHasher::new("message").field(text).finish();
    let first = engine.execute(operation("queue", "17"), payload("hello"), deliver);
    assert!(matches!(first.await.unwrap(), Executed::Ran("fresh")));
    assert_eq!(store.0.steps(), [Step::Begin, Step::Record, Step::Commit]);

    // Replays that meet do not stand in each other's way, whose request it is notwithstanding.
    let again = || engine.execute(operation("queue", "17"), payload("hello"), deliver);
    let other = engine.execute(operation("queue", "17"), payload("bye"), deliver);
    let (one, two, other) = tokio::join!(again(), again(), other);
    assert!(matches!(one, Ok(Executed::Replayed(_))), "{one:?}");
    assert!(matches!(two, Ok(Executed::Replayed(_))), "{two:?}");
    assert!(matches!(other, Err(Refused::KeyReused)), "{other:?}");
    assert_eq!(store.0.effects(), ["delivered"]);

    // An old key is looked for all the same, because it must not begin.
    let old = operation("queue", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F");
    let steps = store.0.steps().len();
    let refused = engine.execute(old, payload("hello"), deliver).await;
    assert!(matches!(refused, Err(Refused::KeyExpired)), "{refused:?}");
    assert_eq!(store.0.steps()[steps..], [Step::Find]);
}
