use std::time::{Duration, Instant};

use steadfast_core::budget::{Ending, Permit, Sending};
use steadfast_core::decide::Terms;
use steadfast_core::grpc::RetryableCodes;
use steadfast_core::{
    Budget, Deadline, Delivery, Draws, Outcome, Owner, Reason, Report, Safety, Verdict,
};

use crate::{Commit, RetryConfig, clock};

mod next;
mod opening;

pub(crate) use next::Brought;
pub(crate) use opening::Opening;

/// The attempts of one call: what was sent, what may follow. It knows no HTTP, and its config by
/// whatever its owner shares with it.
///
/// Kept small: every call moves it, and most end with their first attempt.
pub(crate) struct Attempts<C: AsRef<RetryConfig>> {
    config: C,
    opening: Opening,
    made: u32,
    /// Whether the attempt on its way is one of those made.
    counted: bool,
    /// Whether any attempt was more than a refusal of ours.
    went_out: bool,
    /// Whether an attempt is on its way, of which the budget has yet to be told.
    in_flight: bool,
    /// Whether the budget has been told that one goes out.
    told: bool,
    /// Whether the call's start is the present: its first attempt was over at once.
    starts_now: bool,
    /// From the first failure on.
    history: Option<Box<History>>,
}

/// What the attempts before this one left.
#[derive(Default)]
struct History {
    retries: u32,
    refusals_repeated: u32,
    admissions_awaited: u32,
    unknown: bool,
    last_wait: Duration,
    /// Of the retry on its way.
    permit: Option<Permit>,
    draws: Option<Draws>,
}

/// The end of a call.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) report: Report,
    /// The attempt that ended it did not leave: an earlier answer is the last word.
    pub(crate) unsent: bool,
}

impl<C: AsRef<RetryConfig>> Attempts<C> {
    /// Of a call that has sent nothing.
    #[inline]
    pub(crate) fn new(config: C, opening: Opening) -> Self {
        Self {
            config,
            opening,
            made: 0,
            counted: false,
            went_out: false,
            in_flight: false,
            told: false,
            starts_now: false,
            history: None,
        }
    }

    /// Of a call whose first attempt has just gone out, of which nobody was told yet.
    #[inline(always)]
    pub(crate) fn sent(config: C, opening: Opening) -> Self {
        Self {
            config,
            opening,
            made: 1,
            counted: true,
            went_out: false,
            in_flight: true,
            told: false,
            starts_now: false,
            history: None,
        }
    }

    #[inline]
    pub(crate) fn config(&self) -> &RetryConfig {
        self.config.as_ref()
    }

    /// What the config is shared by.
    pub(crate) const fn shared(&self) -> &C {
        &self.config
    }

    fn terms(&self) -> &Terms {
        self.opening.terms(self.config())
    }

    #[inline]
    fn budget(&self) -> &dyn Budget {
        self.opening.budget(self.config())
    }

    pub(crate) fn deadline(&self) -> Deadline {
        self.opening.deadline(self.config())
    }

    pub(crate) const fn made(&self) -> u32 {
        self.made
    }

    pub(crate) fn max(&self) -> u32 {
        self.terms().max_attempts.get()
    }

    /// Which gRPC codes a repeat may cure.
    pub(crate) fn retryable_codes(&self) -> RetryableCodes {
        self.opening.retryable_codes(self.config())
    }

    /// When an answer counts as the caller's.
    #[inline]
    pub(crate) fn commit(&self) -> Commit {
        self.opening.commit(self.config())
    }

    /// What the next hop is told of this attempt.
    pub(crate) fn told(&self, owns: bool, number: u32) -> Option<Owner> {
        self.opening.told(self.config(), owns, number)
    }

    /// Whether an earlier attempt may have taken effect.
    pub(crate) fn unknown_before(&self) -> bool {
        self.history.as_ref().is_some_and(|history| history.unknown)
    }

    pub(crate) fn elapsed(&self, now: Instant) -> Duration {
        let since = |started| now.saturating_duration_since(started);
        self.opening.started.map_or(Duration::ZERO, since)
    }

    /// Whether any outcome could lead to another attempt of a call that is so safe.
    #[inline]
    pub(crate) fn may_repeat(&self, safety: impl FnOnce() -> Safety) -> bool {
        self.terms().may_repeat(safety)
    }

    /// Whether an attempt is on its way.
    pub(crate) const fn in_flight(&self) -> bool {
        self.in_flight
    }

    /// Whether the deadline has come.
    pub(crate) fn is_expired(&self) -> bool {
        let deadline = self.deadline();
        deadline != Deadline::NONE && deadline.is_expired(clock::now())
    }

    /// The first attempt goes out.
    pub(crate) fn on_first_sent(&mut self) {
        self.send(true);
    }

    /// The next attempt goes out.
    pub(crate) fn on_sent(&mut self, counted: bool, permit: Permit) {
        let history = self.history.get_or_insert_default();
        history.refusals_repeated += u32::from(!counted);
        history.permit = Some(permit);
        self.send(counted);
    }

    fn send(&mut self, counted: bool) {
        self.counted = counted;
        self.made += u32::from(counted);
        self.in_flight = true;
        self.told = self.went_out;
        self.begin();
    }

    /// The attempt on its way is not over at once, so that time begins to count, and the budget
    /// hears of the call.
    #[inline]
    pub(crate) fn begin(&mut self) {
        if !self.told {
            self.told = true;
            self.opening.on_call(self.config.as_ref());
        }
    }

    /// The same, for an attempt that has been polled; `over` says whether it has ended.
    #[inline]
    pub(crate) fn on_polled(&mut self, over: bool) {
        if !self.told {
            self.starts_now = over && self.opening.started.is_none();
            self.begin();
        }
    }

    /// The present.
    pub(crate) fn now(&mut self) -> Instant {
        match std::mem::take(&mut self.starts_now) {
            true => self.opening.start(),
            false => clock::now(),
        }
    }

    /// The first attempt brought what was wanted, and nobody had to wait for it.
    #[inline]
    pub(crate) fn succeed_at_once(&mut self) {
        if self.told || self.opening.is_repeat() {
            return self.on_verdict(Verdict::Success);
        }
        self.in_flight = false;
        self.went_out = true;
        self.opening.on_success_at_once(self.config.as_ref());
    }

    /// How the attempt on its way ended; the budget is told once for each attempt.
    #[inline]
    pub(crate) fn settle(&mut self, ending: Ending) {
        if !std::mem::take(&mut self.in_flight) {
            return;
        }
        self.begin();
        let started = self.opening.start();
        let sending = if self.went_out || self.opening.is_repeat() {
            Sending::Retry
        } else {
            Sending::First
        };
        self.went_out |= ending != Ending::NotSent;
        self.budget().on_outcome(sending, ending, started);
        if ending == Ending::NotSent {
            // Not spent: it waits for what is decided.
            return;
        }
        let history = self.history.as_mut();
        if let Some(mut permit) = history.and_then(|history| history.permit.take()) {
            match ending {
                Ending::Success => permit.succeeded(),
                _ => permit.sent(),
            }
        }
    }

    /// An attempt ended with this verdict.
    #[inline]
    pub(crate) fn on_verdict(&mut self, verdict: Verdict) {
        self.settle(match verdict {
            Verdict::Success => Ending::Success,
            Verdict::Transient(_) | Verdict::Refused | Verdict::PeerSaidNo(_) => Ending::Failure,
            Verdict::Permanent(_) => Ending::Neither,
            Verdict::Rejected(_) => Ending::NotSent,
        });
        if let Verdict::Rejected(_) = verdict {
            // A refusal of ours is no attempt, nor the repeat of one: nothing was sent.
            match (self.counted, &mut self.history) {
                (false, Some(history)) => {
                    history.refusals_repeated = history.refusals_repeated.saturating_sub(1)
                }
                (counted, _) => self.made -= u32::from(counted),
            }
        }
    }

    /// The call ends, its last attempt having ended with `last`.
    pub(crate) fn end(&self, last: Verdict, reason: Option<Reason>, now: Instant) -> End {
        let outcome = Outcome::of(last, self.unknown_before());
        End {
            report: Report::new(self.made, self.elapsed(now), reason, outcome),
            unsent: last.delivery() == Some(Delivery::Unsent),
        }
    }
}

/// Whoever drops a call that is under way says nothing about the peer.
impl<C: AsRef<RetryConfig>> Drop for Attempts<C> {
    #[inline]
    fn drop(&mut self) {
        if self.in_flight {
            self.settle(Ending::Neither);
        }
    }
}
