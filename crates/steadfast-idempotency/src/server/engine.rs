use std::fmt;
use std::future::Future;
use std::time::Duration;

use steadfast_core::{Random, in_current_context};
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::fingerprint::Fingerprint;
use super::operation::Operation;
use super::registry::{Clash, Place, Registry};
use super::store::{Began, TxStore};
use super::transaction::TransactionSlot;
use super::waiting::Patience;

mod config;
mod execution;
mod refused;
mod run;
mod worked;

pub use config::{Conflict, EngineConfig, OldKeys};
pub use execution::{Executed, Execution};
pub use refused::Refused;
pub use worked::{Keep, Worked};

/// Runs work at most once per [`Operation`], in a transaction of its store.
///
/// It knows no HTTP framework: [`IdempotencyLayer`](super::IdempotencyLayer) is a shell around it,
/// and a consumer of messages calls [`execute`](Self::execute) itself. Clones share everything.
pub struct Engine<St> {
    store: St,
    config: EngineConfig,
    registry: Registry,
    random: Random,
    tasks: TaskTracker,
}

impl<St: TxStore> Engine<St> {
    /// An engine over `store`.
    pub fn new(store: St, config: EngineConfig) -> Self {
        Self {
            store,
            config,
            registry: Registry::default(),
            random: Random::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// Runs `work` in a fresh transaction, unless the operation is done or running.
    ///
    /// Work starts at once in a task of its own, inside the caller's
    /// [`CallContext`](steadfast_core::CallContext) and tracing span, and goes on when the
    /// returned future is dropped: the next repeat then finds the answer. Work is dropped at
    /// [`EngineConfig::work_limit`] and rolled back.
    ///
    /// The future answers after the commit returned, never before.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn execute<W, F, T>(
        &self,
        operation: Operation,
        fingerprint: Fingerprint,
        work: W,
    ) -> Execution<T>
    where
        W: FnOnce(TransactionSlot<St::Tx>) -> F + Send + 'static,
        F: Future<Output = Worked<T>> + Send + 'static,
        T: Send + 'static,
    {
        let conflict = self.config.conflict();
        if let Some(clash) = self.registry.owned(&operation, fingerprint) {
            if clash == Clash::OtherRequest || conflict == Conflict::Refuse {
                return Execution::refused(clash.into());
            }
        }
        let registry = self.registry.clone();
        let run = run::Run {
            store: self.store.clone(),
            config: self.config.clone(),
            operation,
            fingerprint,
        };
        let (caller, mut patience) = Patience::new(conflict, &self.random);
        let task = async move {
            loop {
                // Replays must not stand in each other's way: they look before they enter, or else
                // when they find another one there.
                let old = run.is_old();
                let looks = old || run.store.finds_first();
                if looks {
                    if let Some(replayed) = run.find().await? {
                        return Ok(replayed);
                    }
                }
                if old {
                    return Err(Refused::KeyExpired);
                }
                let place = match registry.enter(&run.operation, run.fingerprint) {
                    Ok(running) => match run.begin().await? {
                        Began::Fresh(tx) => {
                            let outcome = run.run(tx, &running, work).await;
                            // The entry goes before the answer is seen: the repeat after it must
                            // not meet a 409.
                            drop(running);
                            return outcome;
                        }
                        Began::Done(record) => return run.replay(record),
                        Began::Busy => Some(Place::Elsewhere),
                    },
                    Err(clash) => {
                        if !looks {
                            if let Some(replayed) = run.find().await? {
                                return Ok(replayed);
                            }
                        }
                        match clash {
                            Clash::OtherRequest => return Err(Refused::KeyReused),
                            Clash::SameRequest => {
                                registry.wait(&run.operation, run.config.waiters())
                            }
                        }
                    }
                };
                if !patience.again(place).await {
                    return Err(Refused::InProgress);
                }
            }
        };
        let task = in_current_context(task.in_current_span());
        Execution::running(self.tasks.spawn(task), caller)
    }

    /// Waits for all work that runs, at most for `limit`.
    ///
    /// Call it after the server has stopped accepting: a graceful shutdown of hyper or axum waits
    /// for connections, not for work whose client has hung up.
    ///
    /// # Errors
    ///
    /// How much work was still running at the limit. It goes on, until the runtime ends it and
    /// with it its transactions.
    pub async fn drain(&self, limit: Duration) -> Result<(), Undrained> {
        self.tasks.close();
        let drained = tokio::time::timeout(limit, self.tasks.wait()).await;
        drained.map_err(|_| Undrained {
            running: self.tasks.len(),
        })
    }

    /// The store.
    pub const fn store(&self) -> &St {
        &self.store
    }

    /// The knobs.
    pub const fn config(&self) -> &EngineConfig {
        &self.config
    }
}

impl<St: Clone> Clone for Engine<St> {
    fn clone(&self) -> Self {
        Self {
            store: self.store.clone(),
            config: self.config.clone(),
            registry: self.registry.clone(),
            random: self.random.clone(),
            tasks: self.tasks.clone(),
        }
    }
}

impl<St> fmt::Debug for Engine<St> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("config", &self.config)
            .field("running", &self.tasks.len())
            .finish_non_exhaustive()
    }
}

/// Work that outlasted [`Engine::drain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undrained {
    /// How many tasks were still running.
    pub running: usize,
}

impl fmt::Display for Undrained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} protected requests were still running", self.running)
    }
}

impl std::error::Error for Undrained {}
