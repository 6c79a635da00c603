//! The few calls that a half-open circuit lets through. Pure.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use steadfast_core::Deadline;

/// Probes that are out, and what came back.
#[derive(Debug, Default)]
pub(super) struct Probes {
    out: Vec<Probe>,
    /// Those that lost their place and may yet succeed: an answer can be longer than a lease.
    late: Vec<u32>,
    sent: u32,
    succeeded: u32,
    /// Whether the circuit has left this state: nobody is let through any longer.
    over: bool,
}

#[derive(Debug)]
struct Probe {
    number: u32,
    /// When it loses its place: a probe that never ends must not keep everybody out.
    until: Deadline,
}

/// What a probe's end means for the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing yet.
    Wait,
    Close,
    Open,
}

/// What a probe showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Alive,
    Failing,
    /// Its caller left, or it never reached the peer.
    Nothing,
}

/// Why no probe was let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// All are out.
    Places,
    /// The circuit is in another state by now.
    Over,
}

impl Probes {
    /// A probe's number, from 1 on, if one more may go out.
    pub(super) fn begin(
        &mut self,
        most: NonZeroU32,
        lease: Duration,
        now: Instant,
    ) -> Result<u32, Full> {
        if self.over {
            return Err(Full::Over);
        }
        let late = &mut self.late;
        self.out.retain(|probe| {
            let keeps = !probe.until.is_expired(now);
            late.extend((!keeps).then_some(probe.number));
            keeps
        });
        // Of many that hang, the latest as many as may be out are heard still.
        let heard = late.len().min(most.get() as usize);
        late.drain(..late.len() - heard);
        // No more are sent than successes are needed.
        if self.out.len() as u64 + u64::from(self.succeeded) >= u64::from(most.get()) {
            return Err(Full::Places);
        }
        self.sent = self.sent.wrapping_add(1).max(1);
        self.out.push(Probe {
            number: self.sent,
            until: Deadline::after(now, lease),
        });
        Ok(self.sent)
    }

    /// A probe ended. Of one that has lost its place only a success is heard: the circuit would
    /// never close where every answer takes longer than a lease.
    pub(super) fn end(&mut self, number: u32, shown: Shown, needed: NonZeroU32) -> Step {
        if self.over {
            return Step::Wait;
        }
        if let Some(place) = self.out.iter().position(|probe| probe.number == number) {
            self.out.swap_remove(place);
        } else {
            let late = self.late.iter().position(|late| *late == number);
            let Some(place) = late else {
                return Step::Wait;
            };
            self.late.swap_remove(place);
            if shown != Shown::Alive {
                return Step::Wait;
            }
        }
        let step = match shown {
            Shown::Nothing => Step::Wait,
            Shown::Failing => Step::Open,
            Shown::Alive => {
                self.succeeded += 1;
                match self.succeeded >= needed.get() {
                    true => Step::Close,
                    false => Step::Wait,
                }
            }
        };
        self.over = step != Step::Wait;
        step
    }

    /// The circuit leaves this state by another's hand.
    pub(super) fn finish(&mut self) {
        self.over = true;
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "an arbitrary instant to count from"
    )]

    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    fn count(n: u32) -> NonZeroU32 {
        NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)
    }

    #[test]
    fn no_more_are_out_than_allowed_and_each_place_comes_back_once() {
        let now = Instant::now();
        let mut probes = Probes::default();
        let first = probes.begin(count(2), LEASE, now);
        assert_eq!(first, Ok(1));
        assert_eq!(probes.begin(count(2), LEASE, now), Ok(2));
        assert_eq!(probes.begin(count(2), LEASE, now), Err(Full::Places));
        assert_eq!(probes.end(1, Shown::Nothing, count(2)), Step::Wait);
        assert_eq!(probes.end(1, Shown::Nothing, count(2)), Step::Wait);
        assert_eq!(probes.begin(count(2), LEASE, now), Ok(3));
        assert_eq!(probes.begin(count(2), LEASE, now), Err(Full::Places));
    }

    #[test]
    fn it_closes_after_as_many_successes_and_opens_with_one_failure() {
        let now = Instant::now();
        let mut probes = Probes::default();
        let _ = probes.begin(count(2), LEASE, now);
        assert_eq!(probes.end(1, Shown::Alive, count(2)), Step::Wait);
        let _ = probes.begin(count(2), LEASE, now);
        assert_eq!(probes.begin(count(2), LEASE, now), Err(Full::Places));
        assert_eq!(probes.end(2, Shown::Alive, count(2)), Step::Close);
        assert_eq!(probes.begin(count(2), LEASE, now), Err(Full::Over));
        let mut probes = Probes::default();
        let _ = probes.begin(count(2), LEASE, now);
        let _ = probes.begin(count(2), LEASE, now);
        assert_eq!(probes.end(1, Shown::Failing, count(2)), Step::Open);
        assert_eq!(probes.end(2, Shown::Alive, count(2)), Step::Wait);
    }

    #[test]
    fn an_answer_that_outlasts_its_lease_still_shows_a_peer_that_lives() {
        let now = Instant::now();
        let mut probes = Probes::default();
        let _ = probes.begin(count(1), LEASE, now);
        assert_eq!(probes.begin(count(1), LEASE, now + LEASE), Ok(2));
        assert_eq!(probes.end(1, Shown::Alive, count(1)), Step::Close);
        // Each is heard once, and of many only the latest.
        let mut probes = Probes::default();
        for nth in 0..3 {
            assert_eq!(
                probes.begin(count(1), LEASE, now + nth * LEASE),
                Ok(nth + 1)
            );
        }
        assert_eq!(probes.end(1, Shown::Alive, count(1)), Step::Wait);
        assert_eq!(probes.end(2, Shown::Alive, count(1)), Step::Close);
    }

    #[test]
    fn a_probe_that_never_ends_loses_its_place_and_its_word() {
        let now = Instant::now();
        let mut probes = Probes::default();
        let _ = probes.begin(count(1), LEASE, now);
        let before = now + LEASE - Duration::from_nanos(1);
        assert_eq!(probes.begin(count(1), LEASE, before), Err(Full::Places));
        assert_eq!(probes.begin(count(1), LEASE, now + LEASE), Ok(2));
        assert_eq!(probes.end(1, Shown::Failing, count(1)), Step::Wait);
        assert_eq!(probes.end(2, Shown::Alive, count(1)), Step::Close);
    }
}
