use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::claim::{Fenced, Terms};
use super::counts::{Counters, count};
use super::lease::Lease;
use super::store::LeaseStore;

/// Holds a lease while its handler works.
///
/// Two renewals in a row may fail before a lease ends: it is renewed at a third of its length.
/// The time it holds is counted from before the store was asked, since the store's own count
/// began later.
pub(super) struct Renewal<'a, St> {
    pub(super) store: &'a St,
    pub(super) lease: &'a Lease,
    pub(super) terms: Terms,
    pub(super) store_timeout: Duration,
    pub(super) counters: &'a Counters,
    /// When the claim was asked for.
    pub(super) since: Instant,
}

impl<St: LeaseStore> Renewal<'_, St> {
    /// Renews until it is dropped, or until another claim is seen.
    pub(super) async fn run(mut self) -> Infallible {
        let third = self.terms.lease() / 3;
        let mut pause = third;
        loop {
            sleep(self.in_time(pause)).await;
            self.lose_if_over();
            let asked = Instant::now();
            let renewed = self
                .store
                .renew(self.lease.operation(), self.lease.fence(), self.terms);
            let patience = self.in_time(self.store_timeout.min(third));
            match timeout(patience, renewed).await {
                Ok(Ok(Fenced::Accepted)) => {
                    self.since = asked;
                    pause = third;
                }
                Ok(Ok(Fenced::Rejected)) => {
                    self.lose();
                    return pending().await;
                }
                // Not heard. It may be ours even after its time, as long as nobody claims it.
                Ok(Err(_)) | Err(_) => {
                    self.lose_if_over();
                    pause = third / 4;
                }
            }
        }
    }

    /// No longer than the lease has left: its end is told when it comes, not when a store that is
    /// down has been waited for.
    fn in_time(&self, pause: Duration) -> Duration {
        match self.terms.lease().saturating_sub(self.since.elapsed()) {
            Duration::ZERO => pause,
            left => pause.min(left),
        }
    }

    fn lose_if_over(&self) {
        if self.since.elapsed() >= self.terms.lease() {
            self.lose();
        }
    }

    fn lose(&self) {
        if !self.lease.is_lost() {
            count(&self.counters.lost);
            self.lease.lose();
        }
    }
}
