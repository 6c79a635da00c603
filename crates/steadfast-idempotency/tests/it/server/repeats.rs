//! Repeats of an operation that is done, at the same moment.

use std::time::Duration;

use steadfast_idempotency::server::{
    Began, IdempotencyLayer, Operation, Record, StoreError, TxStore,
};
use tower::{Layer, ServiceExt, service_fn};

use super::rig::{Server, charge, config, post};
use super::store::{MemoryStore, MemoryTx};

/// A store whose plain read takes its time.
#[derive(Clone)]
struct Slow(MemoryStore);

impl TxStore for Slow {
    type Tx = MemoryTx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        tokio::time::sleep(Duration::from_millis(10)).await;
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

/// The statuses of two requests at once with the key of an operation that is done with body `x`.
async fn pair(first: &'static str, second: &'static str) -> (u16, u16) {
    let server = Server::new(charge);
    assert_eq!(server.send(post("k", "x")).await.status, 201);
    let layer = IdempotencyLayer::new(Slow(server.store.clone()), config());
    let service = layer.layer(service_fn(charge));
    let send = |body| service.clone().oneshot(post("k", body));
    let (a, b) = tokio::join!(send(first), send(second));
    (a.unwrap().status().as_u16(), b.unwrap().status().as_u16())
}

#[tokio::test(start_paused = true)]
async fn a_repeat_of_what_is_done_is_replayed_beside_a_mix_up() {
    assert_eq!(pair("other", "x").await, (422, 201));
}

#[tokio::test(start_paused = true)]
async fn two_repeats_of_what_is_done_are_both_replayed() {
    assert_eq!(pair("x", "x").await, (201, 201));
}
