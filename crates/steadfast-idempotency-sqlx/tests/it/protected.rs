use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use sqlx::Connection;
use steadfast_idempotency::server::{
    Answer, Began, IdempotencyConfig, IdempotencyLayer, Operation, Record, TransactionSlot,
    TxStore, Worked,
};
use steadfast_idempotency::{IDEMPOTENCY_KEY, Key};
use steadfast_idempotency_sqlx::{SqliteStore, SqliteTx};
use tower::{Layer, ServiceExt, service_fn};

use crate::ledger::{Ledger, charge, count, insert, operation, payload, run, word};

#[tokio::test]
async fn effect_key_and_answer_commit_together_and_outlive_the_process() {
    let ledger = Ledger::new().await;
    let first = ledger.engine();
    assert_eq!(run(&first, "k").await, "ran");
    assert_eq!((ledger.charges().await, ledger.records().await), (1, 1));
    ledger.store.close().await;

    let store = SqliteStore::open(&ledger.path).await.unwrap();
    let second = steadfast_idempotency::server::Engine::new(store.clone(), Default::default());
    assert_eq!(run(&second, "k").await, "replayed");
    assert_eq!(count(&store, "SELECT count(*) FROM charge").await, 1);
}

#[tokio::test]
async fn a_record_comes_back_as_it_was() {
    let ledger = Ledger::new().await;
    let mut headers = HeaderMap::new();
    headers.append("link", "<a>".parse().unwrap());
    headers.append("link", "<b>".parse().unwrap());
    headers.append(
        "x-bytes",
        http::HeaderValue::from_bytes(b"caf\xe9").unwrap(),
    );
    let answer = Answer::new(StatusCode::from_u16(599).unwrap(), &b"\0\xff binary"[..])
        .with_headers(headers)
        .with_origin(Method::PATCH, "/a/b");
    let record = Record::new(payload(), answer);

    let key = operation("k");
    let Began::Fresh(mut tx) = ledger.store.begin(&key).await.unwrap() else {
        panic!("nothing is recorded yet");
    };
    let retention = std::time::Duration::MAX;
    ledger
        .store
        .record(&mut tx, &key, &record, retention)
        .await
        .unwrap();
    assert_eq!(
        ledger.store.find(&key).await.unwrap(),
        None,
        "seen before its commit"
    );
    ledger.store.commit(tx).await.unwrap();
    assert_eq!(ledger.store.find(&key).await.unwrap(), Some(record.clone()));
    assert_eq!(
        ledger.store.resolve(&key).await.unwrap(),
        Some(record.clone())
    );
    let Began::Done(second_look) = ledger.store.begin(&key).await.unwrap() else {
        panic!("it is recorded");
    };
    assert_eq!(second_look, record);
}

#[tokio::test]
async fn scope_and_key_are_columns_of_their_own() {
    let ledger = Ledger::new().await;
    let engine = ledger.engine();
    for (scope, key) in [("a", "b_c"), ("a_b", "c"), ("", "a"), ("a'; --", "b")] {
        let operation = Operation::new("n", scope, &Key::parse(key).unwrap());
        for expected in ["ran", "replayed"] {
            let outcome = engine.execute(operation.clone(), payload(), charge).await;
            assert_eq!(word(&outcome), expected, "{scope} {key}");
        }
    }
    assert_eq!(ledger.charges().await, 4);
}

#[tokio::test]
async fn a_refusal_is_stored_and_its_effect_is_not() {
    let ledger = Ledger::new().await;
    let engine = ledger.engine();
    let refuse = async |slot: TransactionSlot<SqliteTx>| {
        insert(&slot, 4200).await.unwrap();
        // A statement that fails must not keep the answer from being stored.
        insert(&slot, -1).await.unwrap_err();
        Worked::store(
            "refused",
            Answer::new(StatusCode::UNPROCESSABLE_ENTITY, "no"),
        )
    };
    for expected in ["ran", "replayed"] {
        let outcome = engine.execute(operation("k"), payload(), refuse).await;
        assert_eq!(word(&outcome), expected);
    }
    assert_eq!((ledger.charges().await, ledger.records().await), (0, 1));
}

#[tokio::test]
async fn a_discarded_run_and_a_panic_leave_nothing() {
    let ledger = Ledger::new().await;
    let engine = ledger.engine();
    let discard = async |slot: TransactionSlot<SqliteTx>| {
        insert(&slot, 4200).await.unwrap();
        Worked::discard("failed")
    };
    assert_eq!(
        word(&engine.execute(operation("k"), payload(), discard).await),
        "ran"
    );
    let panics = async |slot: TransactionSlot<SqliteTx>| -> Worked<()> {
        insert(&slot, 4200).await.unwrap();
        panic!("the handler's own");
    };
    assert_eq!(
        word(&engine.execute(operation("k"), payload(), panics).await),
        "other"
    );
    assert_eq!((ledger.charges().await, ledger.records().await), (0, 0));
    assert_eq!(run(&engine, "k").await, "ran");
}

#[tokio::test]
async fn transactions_inside_the_transaction_are_savepoints() {
    let ledger = Ledger::new().await;
    let nested = async |slot: TransactionSlot<SqliteTx>| {
        let mut tx = slot.take().unwrap();
        for kept in [true, false] {
            let mut inner = tx.begin().await.unwrap();
            sqlx::query("INSERT INTO charge (key, cents) VALUES ('inner', 1)")
                .execute(&mut *inner)
                .await
                .unwrap();
            if kept {
                inner.commit().await.unwrap();
            }
        }
        drop(tx);
        Worked::commit("ran", Answer::new(StatusCode::OK, ""))
    };
    let outcome = ledger
        .engine()
        .execute(operation("k"), payload(), nested)
        .await;
    assert_eq!(word(&outcome), "ran", "{outcome:?}");
    assert_eq!((ledger.charges().await, ledger.records().await), (1, 1));
}

#[tokio::test]
async fn the_file_is_in_wal_mode_and_fully_synchronous() {
    let ledger = Ledger::new().await;
    for (pragma, expected) in [("PRAGMA journal_mode", "wal"), ("PRAGMA synchronous", "2")] {
        let value: String = match pragma {
            "PRAGMA journal_mode" => sqlx::query_scalar(pragma)
                .fetch_one(ledger.store.writer())
                .await
                .unwrap(),
            _ => sqlx::query_scalar::<_, i64>(pragma)
                .fetch_one(ledger.store.writer())
                .await
                .unwrap()
                .to_string(),
        };
        assert_eq!(value, expected, "{pragma}");
    }
    let written = sqlx::query("DELETE FROM charge")
        .execute(ledger.store.reader())
        .await;
    assert!(written.is_err(), "readers do not write");
}

#[tokio::test]
async fn over_http_a_replay_is_the_first_answer_again() {
    let ledger = Ledger::new().await;
    let config = IdempotencyConfig::new(|_| Some("caller"));
    let layer = IdempotencyLayer::new(ledger.store.clone(), config);
    let service = layer.layer(service_fn(async |request: Request<Full<Bytes>>| {
        let slot = request
            .extensions()
            .get::<TransactionSlot<SqliteTx>>()
            .unwrap();
        insert(slot, 4200).await?;
        let response = Response::builder()
            .status(201)
            .header("location", "/charges/1");
        Ok::<_, sqlx::Error>(response.body(Full::from("receipt")).unwrap())
    }));
    let mut seen = Vec::new();
    for _ in 0..2 {
        let request = Request::post("/charges")
            .header(IDEMPOTENCY_KEY, "\"k\"")
            .body(Full::from("x"))
            .unwrap();
        let (parts, body) = service.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        seen.push((parts.status, parts.headers["location"].clone(), body));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(ledger.charges().await, 1);
}
