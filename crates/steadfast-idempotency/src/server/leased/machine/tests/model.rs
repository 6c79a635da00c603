//! What must be true of any history, told without the machine.

use super::*;

#[derive(Default)]
pub(super) struct Model {
    /// The fences given out, and to which claim.
    given: Vec<(u64, ClaimId)>,
    holder: Option<Holder>,
    done: Option<Record>,
}

struct Holder {
    until: u64,
    request: u8,
    /// Somebody found it lost, or it said itself that it does not know.
    unknown: bool,
}

impl Model {
    /// Whose request the operation is.
    pub(super) fn request(&self) -> u8 {
        self.holder.as_ref().map_or(0, |holder| holder.request)
    }

    pub(super) fn claimed(&mut self, now: u64, asked: &Claim, claimed: Claimed) {
        let request = asked.fingerprint.digest()[0];
        match claimed {
            Claimed::Held { fence, attempt } => {
                let fence = fence.get();
                assert!(self.done.is_none(), "what is done never runs again");
                match self.given.last() {
                    Some((newest, owner)) if *newest == fence => {
                        assert_eq!(*owner, asked.id, "only the same claim has the same fence");
                    }
                    _ => self.given_anew(now, asked, fence),
                }
                assert_eq!(attempt as usize, self.given.len());
                self.holder = Some(Holder {
                    until: now + LEASE.as_secs(),
                    request,
                    unknown: false,
                });
            }
            Claimed::Running { left } => {
                let holder = self.holder.as_ref().expect("somebody holds it");
                assert!(!holder.unknown && holder.request == request);
                assert_eq!(left, Duration::from_secs(holder.until - now));
            }
            Claimed::Unknown { fence, .. } => {
                assert_eq!(asked.on_expired, OnExpired::Unknown);
                assert_eq!(self.given.last().unwrap().0, fence.get());
                let holder = self.holder.as_mut().expect("somebody was lost");
                assert!(holder.unknown || holder.until <= now);
                assert_eq!(holder.request, request);
                holder.unknown = true;
            }
            Claimed::Done(record) => {
                assert_eq!(Some(&record), self.done.as_ref());
                assert_eq!(record.fingerprint, asked.fingerprint);
            }
            Claimed::Reused => {
                assert!(self.holder.is_some());
                assert_ne!(self.request(), request);
            }
        }
    }

    fn given_anew(&mut self, now: u64, asked: &Claim, fence: u64) {
        assert!(self.given.iter().all(|(given, _)| *given < fence));
        if let Some(holder) = &self.holder {
            assert!(holder.unknown || holder.until <= now, "two hold at a time");
            assert_eq!(asked.on_expired, OnExpired::TakeOver, "it ran at most once");
            assert_eq!(holder.request, asked.fingerprint.digest()[0]);
        }
        self.given.push((fence, asked.id));
    }

    pub(super) fn heard(&mut self, now: u64, fence: u64, word: &Word, fenced: Fenced) {
        let newest = self
            .given
            .last()
            .is_some_and(|(newest, _)| *newest == fence);
        let settled = self.done.is_some() || self.holder.is_none();
        let unknown = self.holder.as_ref().is_some_and(|holder| holder.unknown);
        if fenced == Fenced::Rejected {
            let late = unknown && *word == Word::Renew;
            assert!(!newest || settled || late, "{word:?} was not heard");
            return;
        }
        assert!(newest, "an older fence is never heard");
        match word {
            Word::Renew => {
                let holder = self.holder.as_mut().expect("it holds");
                assert!(!holder.unknown && self.done.is_none());
                holder.until = now + LEASE.as_secs();
            }
            // Twice is the same as once.
            Word::Complete(_) if self.done.is_some() => {}
            Word::Complete(record) => {
                assert!(self.holder.is_some());
                self.done = Some(record.clone());
            }
            Word::Release => {
                assert!(self.done.is_none());
                self.holder = None;
            }
            Word::Abandon => {
                assert!(self.done.is_none());
                self.holder.as_mut().expect("it holds").unknown = true;
            }
        }
    }
}
