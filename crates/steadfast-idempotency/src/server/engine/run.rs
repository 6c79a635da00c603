use std::future::Future;

use tokio::time::timeout;

use super::config::EngineConfig;
use super::execution::Executed;
use super::refused::Refused;
use super::worked::{Keep, Worked};
use crate::server::answer::Answer;
use crate::server::fingerprint::Fingerprint;
use crate::server::operation::Operation;
use crate::server::record::Record;
use crate::server::registry::Running;
use crate::server::store::{Began, StoreError, StoreErrorKind, TxStore};
use crate::server::transaction::{TransactionSlot, TransactionUse};
use crate::server::unwind::CatchUnwind;

/// One operation on its way through the store: find, begin, work, keep, commit.
pub(super) struct Run<St> {
    pub(super) store: St,
    pub(super) config: EngineConfig,
    pub(super) operation: Operation,
    pub(super) fingerprint: Fingerprint,
}

type Outcome<T> = Result<Executed<T>, Refused>;

impl<St: TxStore> Run<St> {
    pub(super) async fn find<T>(&self) -> Result<Option<Executed<T>>, Refused> {
        let found = self.step("find", self.store.find(&self.operation)).await?;
        found.map(|record| self.replay(record)).transpose()
    }

    /// Whether the key says that its record may be gone. If nothing is kept of it, it is refused.
    pub(super) fn is_old(&self) -> bool {
        self.config.forgot(&self.operation)
    }

    pub(super) async fn begin(&self) -> Result<Began<St::Tx>, StoreError> {
        self.step("begin", self.store.begin(&self.operation)).await
    }

    pub(super) async fn run<W, F, T>(self, tx: St::Tx, running: &Running, work: W) -> Outcome<T>
    where
        W: FnOnce(TransactionSlot<St::Tx>) -> F,
        F: Future<Output = Worked<T>>,
    {
        running.owns();
        let slot = TransactionSlot::new(tx);
        let lent = slot.clone();
        let work = CatchUnwind::new(async move { work(lent).await });
        // Both the work and a panic's or a timeout's remains are dropped at the end of this
        // statement, and with them every guard that was not smuggled out.
        let worked = timeout(self.config.work_limit(), work).await;
        let (tx, used) = slot.close();

        let worked = match worked {
            Ok(Ok(worked)) => worked,
            Ok(Err(_)) => return Err(self.abandon(tx, Refused::Panicked).await),
            Err(_) => {
                let refused = Refused::WorkLimit(self.config.work_limit());
                return Err(self.abandon(tx, refused).await);
            }
        };
        let Some(tx) = tx else {
            return Err(Refused::TransactionNotReturned);
        };
        self.keep(tx, used, worked).await
    }

    async fn keep<T>(&self, mut tx: St::Tx, used: bool, worked: Worked<T>) -> Outcome<T> {
        let answer = match worked.keep {
            Keep::Nothing | Keep::Unknown => {
                return match self.rollback(tx).await {
                    Some(refused) => Err(refused),
                    None => Ok(Executed::Ran(worked.value)),
                };
            }
            Keep::EffectAndAnswer(answer) => {
                if !used && self.config.transaction_use() == TransactionUse::Required {
                    return Err(self.abandon(Some(tx), Refused::TransactionNotUsed).await);
                }
                answer
            }
            Keep::AnswerOnly(answer) => {
                let undone = self.store.rollback_effect(&mut tx);
                if let Err(error) = self.step("rollback_effect", undone).await {
                    return Err(self.abandon(Some(tx), error.into()).await);
                }
                answer
            }
        };
        self.commit(tx, worked.value, answer).await
    }

    async fn commit<T>(&self, mut tx: St::Tx, value: T, answer: Answer) -> Outcome<T> {
        let record = Record::new(self.fingerprint, answer);
        let retention = self.config.retention();
        let recorded = self
            .store
            .record(&mut tx, &self.operation, &record, retention);
        if let Err(error) = self.step("record", recorded).await {
            return Err(self.abandon(Some(tx), error.into()).await);
        }
        let Err(error) = self.step("commit", self.store.commit(tx)).await else {
            return Ok(Executed::Ran(value));
        };
        // The commit may have happened all the same. If it did, the record is there; whose run
        // wrote it makes no difference to what every caller must be told from now on.
        match self
            .step("resolve", self.store.resolve(&self.operation))
            .await
        {
            Ok(Some(record)) => self.replay(record),
            Ok(None) => Err(error.into()),
            Err(unresolved) => Err(unresolved.into()),
        }
    }

    pub(super) fn replay<T>(&self, record: Record) -> Outcome<T> {
        match record.fingerprint == self.fingerprint {
            true => Ok(Executed::Replayed(record)),
            false => Err(Refused::KeyReused),
        }
    }

    /// Rolls back and says why there is no answer: an ended transaction outweighs other reasons,
    /// because it is the one case where an effect may be left behind.
    async fn abandon(&self, tx: Option<St::Tx>, reason: Refused) -> Refused {
        match tx {
            Some(tx) if !matches!(reason, Refused::TransactionEnded(_)) => {
                self.rollback(tx).await.unwrap_or(reason)
            }
            Some(tx) => {
                self.rollback(tx).await;
                reason
            }
            None => reason,
        }
    }

    /// Rolls back; a reason only where the transaction was not there to be rolled back. Any other
    /// failure leaves a transaction that never commits, which is as good.
    async fn rollback(&self, tx: St::Tx) -> Option<Refused> {
        match self.step("rollback", self.store.rollback(tx)).await {
            Err(error) if error.kind() == StoreErrorKind::TransactionEnded => Some(error.into()),
            Ok(()) | Err(_) => None,
        }
    }

    async fn step<T>(
        &self,
        name: &'static str,
        step: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        StoreError::in_time(name, self.config.store_timeout(), step).await
    }
}
