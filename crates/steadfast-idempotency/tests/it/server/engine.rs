use http::StatusCode;
use steadfast_idempotency::Key;
use steadfast_idempotency::server::{
    Answer, Engine, EngineConfig, Executed, FingerprintHasher, Operation, Refused, TransactionSlot,
    Worked,
};

use super::store::{MemoryStore, MemoryTx};

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
