use std::sync::Arc;

use http::StatusCode;

use super::settlement::Settlement;

/// Which answers are kept, by their status.
///
/// The default is [`Settlement::of_status`]. [`keeping_failures`](Self::keeping_failures) is for
/// clients that expect Stripe's ways. Single statuses can be said by hand, and a response decides
/// for itself with a [`Settlement`] among its extensions.
///
/// ```
/// use http::StatusCode;
/// use steadfast_idempotency::server::{Settlement, StorePolicy};
///
/// let policy = StorePolicy::default().with(StatusCode::NOT_FOUND, Settlement::Discard);
/// assert_eq!(policy.settlement(StatusCode::NOT_FOUND), Settlement::Discard);
/// assert_eq!(policy.settlement(StatusCode::CREATED), Settlement::Commit);
/// assert_eq!(policy.settlement(StatusCode::BAD_GATEWAY), Settlement::Discard);
///
/// let stripe = StorePolicy::keeping_failures();
/// assert_eq!(stripe.settlement(StatusCode::BAD_GATEWAY), Settlement::Store);
/// assert_eq!(stripe.settlement(StatusCode::TOO_MANY_REQUESTS), Settlement::Discard);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorePolicy {
    failures: Failures,
    by_hand: Arc<[(StatusCode, Settlement)]>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Failures {
    #[default]
    Pass,
    Keep,
}

impl StorePolicy {
    /// Keeps whatever the handler answered, 500 included, as Stripe's first API does; but for 401,
    /// 409 and 429, which say that it did not begin.
    ///
    /// In a transaction the effect of a failure is still rolled back: the key is spent for nothing,
    /// and the client needs a new one to try again. Under a lease it ends the question of what
    /// happened by answering it with the failure.
    pub fn keeping_failures() -> Self {
        Self {
            failures: Failures::Keep,
            ..Self::default()
        }
    }

    /// Sets what becomes of answers with this status.
    #[must_use]
    pub fn with(mut self, status: StatusCode, settlement: Settlement) -> Self {
        let others = self.by_hand.iter().filter(|row| row.0 != status);
        self.by_hand = others.copied().chain([(status, settlement)]).collect();
        self
    }

    /// What becomes of an answer with this status.
    pub fn settlement(&self, status: StatusCode) -> Settlement {
        if let Some(row) = self.by_hand.iter().find(|row| row.0 == status) {
            return row.1;
        }
        match (self.failures, status.as_u16()) {
            (Failures::Keep, 401 | 409 | 429) => Settlement::Discard,
            (Failures::Keep, 400..) => Settlement::Store,
            _ => Settlement::of_status(status),
        }
    }
}
