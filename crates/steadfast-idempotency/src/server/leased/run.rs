use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::claim::{Claim, Claimed, Fenced, OnExpired, Seen};
use super::counts::count;
use super::engine::LeasedEngine;
use super::fence::Fence;
use super::lease::Lease;
use super::policy::LeasePolicy;
use super::renewal::Renewal;
use super::resolver::{Resolution, UnknownOutcome};
use super::store::LeaseStore;
use crate::server::answer::Answer;
use crate::server::engine::{Executed, Keep, Refused, Worked};
use crate::server::fingerprint::Fingerprint;
use crate::server::operation::Operation;
use crate::server::record::Record;
use crate::server::registry::{Clash, Place, Running};
use crate::server::store::StoreError;
use crate::server::unwind::CatchUnwind;
use crate::server::waiting::Patience;

/// One operation on its way through a store of leases: claim, work and renew, settle.
pub(super) struct Run<St, P> {
    pub(super) engine: LeasedEngine<St, P>,
    pub(super) operation: Operation,
    pub(super) fingerprint: Fingerprint,
}

type Outcome<T> = Result<Executed<T>, Refused>;

/// How often a completion is said, and how long after the last time.
const COMPLETIONS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(50);

impl<St: LeaseStore, P: LeasePolicy> Run<St, P> {
    pub(super) async fn run<W, F, T>(self, mut patience: Patience, work: W) -> Outcome<T>
    where
        W: FnOnce(Lease) -> F,
        F: Future<Output = Worked<T>>,
    {
        loop {
            let place = match self
                .engine
                .registry()
                .owned(&self.operation, self.fingerprint)
            {
                Some(Clash::OtherRequest) => return Err(Refused::KeyReused),
                // Whoever works here is waited for, also when its lease was lost: a claim would
                // only make its answer worthless.
                Some(Clash::SameRequest) => self.place(),
                None => {
                    let since = Instant::now();
                    match self.claim().await? {
                        Claimed::Held { fence, attempt } => match self.enter() {
                            Ok(running) => {
                                running.owns();
                                let outcome = self.work(since, fence, attempt, work).await;
                                // The entry goes before the answer is seen: the repeat after it
                                // must not meet a 409.
                                drop(running);
                                return outcome;
                            }
                            // Somebody entered meanwhile; nothing has run under this claim.
                            Err(_) => {
                                let _ = self.release(fence).await;
                                self.place()
                            }
                        },
                        Claimed::Done(record) => return Ok(Executed::Replayed(record)),
                        Claimed::Reused => return Err(Refused::KeyReused),
                        Claimed::Running { .. } => self.place(),
                        Claimed::Unknown { fence, attempt } => {
                            match self.resolve(fence, attempt).await? {
                                Some(record) => return Ok(Executed::Replayed(record)),
                                None => continue,
                            }
                        }
                    }
                }
            };
            if !patience.again(place).await {
                return Err(Refused::InProgress);
            }
        }
    }

    fn place(&self) -> Option<Place> {
        let places = self.engine.config().waiters();
        self.engine.registry().wait(&self.operation, places)
    }

    fn enter(&self) -> Result<Running, Clash> {
        self.engine
            .registry()
            .enter(&self.operation, self.fingerprint)
    }

    /// Claims, a second time where the first answer was lost: a claim that nobody knows of would
    /// block its key for a lease.
    async fn claim(&self) -> Result<Claimed, Refused> {
        let store = self.engine.store();
        if self.engine.config().forgot(&self.operation) {
            let found = self.step("find", store.find(&self.operation)).await?;
            if found.is_none() {
                return Err(Refused::KeyExpired);
            }
        }
        let claim = Claim::new(self.fingerprint, self.engine.terms(), P::ON_EXPIRED);
        let claimed = match self
            .step("claim", store.claim(&self.operation, &claim))
            .await
        {
            Ok(claimed) => claimed,
            Err(_) => {
                self.step("claim", store.claim(&self.operation, &claim))
                    .await?
            }
        };
        if matches!(claimed, Claimed::Held { attempt, .. } if attempt > 1) {
            count(&self.engine.counters().reruns);
        }
        Ok(claimed)
    }

    async fn work<W, F, T>(&self, since: Instant, fence: Fence, attempt: u32, work: W) -> Outcome<T>
    where
        W: FnOnce(Lease) -> F,
        F: Future<Output = Worked<T>>,
    {
        let config = self.engine.config();
        let lease = Lease::new(self.operation.clone(), fence, attempt);
        let renewal = Renewal {
            store: self.engine.store(),
            lease: &lease,
            terms: self.engine.terms(),
            store_timeout: config.store_timeout(),
            counters: self.engine.counters(),
            since,
        };
        let lent = lease.clone();
        let work = CatchUnwind::new(async move { work(lent).await });
        let worked = tokio::select! {
            // Work that is done needs no renewal.
            biased;
            worked = timeout(config.work_limit(), work) => worked,
            never = renewal.run() => match never {},
        };
        let failed = match worked {
            Ok(Ok(Worked { value, keep })) => {
                return match keep {
                    Keep::EffectAndAnswer(answer) | Keep::AnswerOnly(answer) => {
                        self.complete(fence, value, answer).await
                    }
                    // Said or not, the caller has its answer; a word that is lost leaves the
                    // claim to its lease.
                    Keep::Nothing => {
                        let _ = self.release(fence).await;
                        Ok(Executed::Ran(value))
                    }
                    Keep::Unknown => {
                        self.leave(fence).await;
                        Ok(Executed::Ran(value))
                    }
                };
            }
            Ok(Err(_)) => Refused::Panicked,
            Err(_) => Refused::WorkLimit(config.work_limit()),
        };
        self.leave(fence).await;
        Err(failed)
    }

    /// Settles work that cannot say what it did.
    async fn leave(&self, fence: Fence) {
        let store = self.engine.store();
        let terms = self.engine.terms();
        let left = match P::ON_EXPIRED {
            OnExpired::TakeOver => self.release(fence).await,
            OnExpired::Unknown => {
                count(&self.engine.counters().unknown);
                let abandon = store.abandon(&self.operation, fence, terms);
                self.step("abandon", abandon).await
            }
        };
        if matches!(left, Ok(Fenced::Rejected)) {
            count(&self.engine.counters().fenced);
        }
    }

    async fn release(&self, fence: Fence) -> Result<Fenced, StoreError> {
        let store = self.engine.store();
        let release = store.release(&self.operation, fence, self.engine.terms());
        self.step("release", release).await
    }

    async fn complete<T>(&self, fence: Fence, value: T, answer: Answer) -> Outcome<T> {
        let record = Record::new(self.fingerprint, answer);
        match self.say_done(fence, &record).await {
            Ok(Fenced::Accepted) => Ok(Executed::Ran(value)),
            Ok(Fenced::Rejected) => {
                count(&self.engine.counters().fenced);
                self.answer_of_others().await
            }
            Err(_) => {
                count(&self.engine.counters().unrecorded);
                Ok(Executed::Ran(value))
            }
        }
    }

    async fn say_done(&self, fence: Fence, record: &Record) -> Result<Fenced, StoreError> {
        let store = self.engine.store();
        let terms = self.engine.terms();
        let mut said = 1;
        loop {
            let complete = store.complete(&self.operation, fence, record, terms);
            match self.step("complete", complete).await {
                Err(_) if said < COMPLETIONS => {
                    tokio::time::sleep(PAUSE * said).await;
                    said += 1;
                }
                said => return said,
            }
        }
    }

    /// What the claim made of the operation that came after ours.
    async fn answer_of_others<T>(&self) -> Outcome<T> {
        let found = self.engine.store().find(&self.operation);
        match self.step("find", found).await? {
            Some(Seen::Done(record)) if record.fingerprint == self.fingerprint => {
                Ok(Executed::Replayed(record))
            }
            Some(Seen::Done(_)) => Err(Refused::KeyReused),
            Some(Seen::Unknown { .. }) => Err(Refused::OutcomeUnknown),
            Some(Seen::Running { .. }) | None => Err(Refused::InProgress),
        }
    }

    /// Asks what a lost run did. None: nothing, or somebody else settled it; claim again.
    async fn resolve(&self, fence: Fence, attempt: u32) -> Result<Option<Record>, Refused> {
        // One repeat asks at a time.
        let _asking = self.enter()?;
        let unknown = UnknownOutcome {
            operation: self.operation.clone(),
            fence,
            attempt,
        };
        let store = self.engine.store();
        let terms = self.engine.terms();
        let probe = CatchUnwind::new(self.engine.policy().probe(unknown));
        let settled = match timeout(self.engine.config().work_limit(), probe).await {
            Ok(Ok(Resolution::Applied(answer))) => {
                let record = Record::new(self.fingerprint, answer);
                let complete = store.complete(&self.operation, fence, &record, terms);
                let fenced = self.step("complete", complete).await?;
                (fenced == Fenced::Accepted).then_some(record)
            }
            Ok(Ok(Resolution::NotApplied)) => {
                self.release(fence).await?;
                None
            }
            Ok(Ok(Resolution::StillUnknown)) | Ok(Err(_)) | Err(_) => {
                count(&self.engine.counters().unknown);
                return Err(Refused::OutcomeUnknown);
            }
        };
        count(&self.engine.counters().resolved);
        Ok(settled)
    }

    async fn step<T>(
        &self,
        name: &'static str,
        step: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        StoreError::in_time(name, self.engine.config().store_timeout(), step).await
    }
}
