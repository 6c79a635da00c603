use std::error::Error;

use steadfast_core::{
    Classify, Delivery, Failure, Rejected, Verdict, chain, delivery_of_status, downcast_ref as is,
};
use steadfast_hyper::HyperClassify;

/// What reqwest's errors mean, by kind, and below them what hyper's say.
///
/// The outermost error that says something decides. It is right only for a client that neither
/// repeats nor follows redirects by itself: see [`client_builder`](crate::client_builder).
///
/// ```
/// use steadfast_core::{Classify, Delivery, Verdict};
/// use steadfast_reqwest::ReqwestClassify;
///
/// let client = reqwest::Client::new();
/// let invalid = client.get("no url").build().unwrap_err();
/// assert_eq!(ReqwestClassify.error(&invalid), Verdict::Permanent(Delivery::Unsent));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReqwestClassify;

const UNKNOWN: Verdict = Verdict::Transient(Delivery::Unknown);

impl Classify for ReqwestClassify {
    fn error(&self, error: &(dyn Error + 'static)) -> Verdict {
        for cause in chain(error) {
            // A layer of ours knows more about the call than the error that ended it.
            if is::<Failure>(cause).is_some() || is::<Rejected>(cause).is_some() {
                break;
            }
            if let Some(error) = is::<reqwest::Error>(cause) {
                if let Some(verdict) = of_kind(error) {
                    return verdict;
                }
            }
        }
        HyperClassify.error(error)
    }
}

/// What the kind of this error says; the kinds of a request that failed are for its causes to say.
fn of_kind(error: &reqwest::Error) -> Option<Verdict> {
    if let Some(status) = error.status() {
        return Some(match delivery_of_status(status) {
            Delivery::Answered => Verdict::Permanent(Delivery::Answered),
            delivery => Verdict::Transient(delivery),
        });
    }
    if error.is_builder() {
        return Some(Verdict::Permanent(Delivery::Unsent));
    }
    if error.is_redirect() {
        // Another attempt is led the same way round; what the hops did is not known.
        return Some(Verdict::Permanent(Delivery::Unknown));
    }
    // A body or an upgrade comes after a head: no cause can make that undone, even one that says
    // "refused" or "while connecting".
    (error.is_body() || error.is_decode() || error.is_upgrade()).then_some(UNKNOWN)
}
