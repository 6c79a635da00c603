//! Records come and go while everything else happens: each server keeps answers for no time at all
//! in a namespace that is no client's, and sweeps.

use std::future::Future;
use std::time::Duration;

use http::StatusCode;
use steadfast_idempotency::OperationKey;
use steadfast_idempotency::server::{
    Answer, Engine, EngineConfig, FingerprintHasher, Operation, TransactionUse, TxStore, Worked,
};
use steadfast_idempotency_sqlx::{PgStore, SqliteStore};
use tokio::time::sleep;

const PAUSE: Duration = Duration::from_millis(200);
const LIMIT: u32 = 100;

/// A store that can be swept.
pub(crate) trait Sweep: Send + Sync {
    fn sweep_some(&self) -> impl Future<Output = Result<u64, sqlx::Error>> + Send;
}

impl Sweep for SqliteStore {
    async fn sweep_some(&self) -> Result<u64, sqlx::Error> {
        self.sweep(LIMIT).await
    }
}

impl Sweep for PgStore {
    async fn sweep_some(&self) -> Result<u64, sqlx::Error> {
        self.sweep(LIMIT).await
    }
}

pub(crate) async fn sweep_for_ever<St: TxStore + Sweep>(store: St) {
    let config = EngineConfig::default()
        .with_retention(Duration::ZERO)
        .with_transaction_use(TransactionUse::Optional);
    let engine = Engine::new(store, config);
    loop {
        let key = OperationKey::random();
        let operation = Operation::new("swept", "the sweeper", key.as_key());
        let fingerprint = FingerprintHasher::new("swept").finish();
        let work = |_| async { Worked::commit((), Answer::new(StatusCode::OK, "")) };
        // A store that is away now will be back.
        let _ = engine.execute(operation, fingerprint, work).await;
        let _ = engine.store().sweep_some().await;
        sleep(PAUSE).await;
    }
}
