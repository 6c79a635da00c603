use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use steadfast_core::{Random, in_current_context};
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::claim::{Fenced, Seen, Terms};
use super::counts::{Counters, LeaseCounts, count};
use super::lease::Lease;
use super::policy::LeasePolicy;
use super::resolver::Resolution;
use super::run::Run;
use super::store::LeaseStore;
use crate::server::engine::{Conflict, EngineConfig, Execution, Undrained, Worked};
use crate::server::fingerprint::Fingerprint;
use crate::server::operation::Operation;
use crate::server::record::Record;
use crate::server::registry::{Clash, Registry};
use crate::server::store::StoreError;
use crate::server::waiting::Patience;

/// Runs work under a lease of its store, and keeps its answer for repeats.
///
/// It is [`Engine`](crate::server::Engine) for effects that no database can commit with the key.
/// Clones share everything.
pub struct LeasedEngine<St, P> {
    store: St,
    policy: P,
    config: EngineConfig,
    registry: Registry,
    random: Random,
    tasks: TaskTracker,
    counters: Arc<Counters>,
}

impl<St: LeaseStore, P: LeasePolicy> LeasedEngine<St, P> {
    /// An engine over `store`; `policy` is [`Reentrant`](super::Reentrant) or
    /// [`AtMostOnce`](super::AtMostOnce).
    pub fn new(store: St, policy: P, config: EngineConfig) -> Self {
        Self {
            store,
            policy,
            config,
            registry: Registry::default(),
            random: Random::new(),
            tasks: TaskTracker::new(),
            counters: Arc::default(),
        }
    }

    /// Runs `work` under a fresh claim, unless the operation is done, running or unknown.
    ///
    /// The work starts in a task of its own, inside the caller's
    /// [`CallContext`](steadfast_core::CallContext) and tracing span, and goes on when the
    /// returned future is dropped. Its lease is renewed while it works. Work is dropped at
    /// [`EngineConfig::work_limit`]; what it did by then stays, and the policy rules.
    ///
    /// Work that fails, panics or is dropped settles its claim at once: under
    /// [`Reentrant`](super::Reentrant) the next repeat runs, under
    /// [`AtMostOnce`](super::AtMostOnce) the outcome is unknown, unless the work says
    /// [`Keep::Nothing`](crate::server::Keep::Nothing), which asserts that it did nothing.
    ///
    /// A completion that the store does not take is tried again, then given up: the caller gets
    /// its answer, and the claim stays for its lease. One that is rejected because another claim
    /// has been made is not answered; what that claim made of it is.
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
        W: FnOnce(Lease) -> F + Send + 'static,
        F: Future<Output = Worked<T>> + Send + 'static,
        T: Send + 'static,
    {
        let conflict = self.config.conflict();
        if let Some(clash) = self.registry.owned(&operation, fingerprint) {
            if clash == Clash::OtherRequest || conflict == Conflict::Refuse {
                return Execution::refused(clash.into());
            }
        }
        let (caller, patience) = Patience::new(conflict, &self.random);
        let run = Run {
            engine: self.clone(),
            operation,
            fingerprint,
        };
        let task = in_current_context(run.run(patience, work).in_current_span());
        Execution::running(self.tasks.spawn(task), caller)
    }

    /// Settles an operation whose outcome is unknown, by what an operator has found out. False:
    /// it is not unknown, or was settled by somebody else meanwhile.
    ///
    /// An operation whose lease has ended without a word counts as unknown, under either policy.
    ///
    /// # Errors
    ///
    /// The store cannot serve.
    pub async fn resolve(
        &self,
        operation: &Operation,
        resolution: Resolution,
    ) -> Result<bool, StoreError> {
        let (fence, fingerprint) = match self.store.find(operation).await? {
            Some(Seen::Unknown {
                fence, fingerprint, ..
            }) => (fence, fingerprint),
            Some(Seen::Running {
                fence,
                fingerprint,
                left: Duration::ZERO,
                ..
            }) => (fence, fingerprint),
            _ => return Ok(false),
        };
        let terms = self.terms();
        let settled = match resolution {
            Resolution::Applied(answer) => {
                let record = Record::new(fingerprint, answer);
                let complete = self.store.complete(operation, fence, &record, terms);
                complete.await?
            }
            Resolution::NotApplied => self.store.release(operation, fence, terms).await?,
            Resolution::StillUnknown => return Ok(false),
        };
        if settled == Fenced::Accepted {
            count(&self.counters.resolved);
        }
        Ok(settled == Fenced::Accepted)
    }

    /// Waits for all work that runs, at most for `limit`; see
    /// [`Engine::drain`](crate::server::Engine::drain).
    ///
    /// # Errors
    ///
    /// How much work was still running at the limit. What the runtime's end cuts off is left to
    /// its lease and the policy.
    pub async fn drain(&self, limit: Duration) -> Result<(), Undrained> {
        self.tasks.close();
        let drained = tokio::time::timeout(limit, self.tasks.wait()).await;
        drained.map_err(|_| Undrained {
            running: self.tasks.len(),
        })
    }

    /// What went other than usual so far.
    pub fn counts(&self) -> LeaseCounts {
        self.counters.read()
    }

    /// The store.
    pub const fn store(&self) -> &St {
        &self.store
    }

    /// The knobs.
    pub const fn config(&self) -> &EngineConfig {
        &self.config
    }

    pub(super) fn terms(&self) -> Terms {
        Terms::new(self.config.lease(), self.config.retention())
    }

    pub(super) const fn policy(&self) -> &P {
        &self.policy
    }

    pub(super) const fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }
}

impl<St: Clone, P: Clone> Clone for LeasedEngine<St, P> {
    fn clone(&self) -> Self {
        Self {
            store: self.store.clone(),
            policy: self.policy.clone(),
            config: self.config.clone(),
            registry: self.registry.clone(),
            random: self.random.clone(),
            tasks: self.tasks.clone(),
            counters: Arc::clone(&self.counters),
        }
    }
}

impl<St, P: fmt::Debug> fmt::Debug for LeasedEngine<St, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeasedEngine")
            .field("policy", &self.policy)
            .field("config", &self.config)
            .field("running", &self.tasks.len())
            .finish_non_exhaustive()
    }
}
