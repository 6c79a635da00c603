use http::StatusCode;

/// What becomes of a handler's effect and of its answer.
///
/// The status decides by [`of_status`](Self::of_status); a handler that knows better puts a
/// `Settlement` into the extensions of its response.
///
/// ```
/// use http::{Response, StatusCode};
/// use steadfast_idempotency::server::Settlement;
///
/// // A refusal that has been written down and must stay: the audit row commits with the key.
/// let mut response = Response::new("declined");
/// *response.status_mut() = StatusCode::PAYMENT_REQUIRED;
/// response.extensions_mut().insert(Settlement::Commit);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Settlement {
    /// The effect commits, and the answer is stored with it.
    Commit,
    /// The effect is rolled back; the answer is stored, so that a repeat gets it again.
    Store,
    /// The effect is rolled back and nothing is stored: a repeat runs the handler again.
    Discard,
}

impl Settlement {
    /// The default: success commits, a refusal is final, trouble is not.
    ///
    /// 2xx and 3xx commit. 4xx is stored without its effect, but for the statuses that another
    /// moment or another credential may turn into success: 401, 403, 408, 409, 421, 423, 425,
    /// 429. Those and 5xx leave nothing behind. Stripe's first API stores a 500; here a 500 has
    /// provably had no effect, so that repeating it is the better answer.
    pub fn of_status(status: StatusCode) -> Self {
        match status.as_u16() {
            200..=399 => Self::Commit,
            401 | 403 | 408 | 409 | 421 | 423 | 425 | 429 => Self::Discard,
            400..=499 => Self::Store,
            _ => Self::Discard,
        }
    }
}
