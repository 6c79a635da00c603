use std::error::Error;
use std::io;

use http::Uri;
use hyper_util::client::legacy::{self, connect::HttpConnector};
use steadfast_core::{
    Classify, DefaultClassify, Delivery, Failure, Rejected, Verdict, chain, downcast_ref as is,
};

/// What the errors of hyper, hyper-util and h2 mean, by type down the source chain.
///
/// The outermost error that says something decides; an error that none of these libraries made
/// is what [`DefaultClassify`] says: its delivery is unknown. See the table on the crate's page.
///
/// ```
/// use std::io;
/// use steadfast_core::{Classify, Delivery, Verdict};
/// use steadfast_hyper::HyperClassify;
///
/// // Refused by whom, and after how many bytes? Only a connector's error says that.
/// let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
/// assert_eq!(HyperClassify.error(&refused), Verdict::Transient(Delivery::Unknown));
///
/// let invalid = http::Request::builder().uri("no spaces").body(()).unwrap_err();
/// assert_eq!(HyperClassify.error(&invalid), Verdict::Permanent(Delivery::Unsent));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HyperClassify;

const UNSENT: Verdict = Verdict::Transient(Delivery::Unsent);
const UNKNOWN: Verdict = Verdict::Transient(Delivery::Unknown);
const INVALID: Verdict = Verdict::Permanent(Delivery::Unsent);

impl HyperClassify {
    /// What the error of a connector means, for clients that are not hyper-util's: nothing was
    /// sent, so only whether trying again can help is asked of the causes. Certificates that do
    /// not hold and addresses that cannot be are permanent.
    ///
    /// ```
    /// use std::io;
    /// use steadfast_core::{Delivery, Verdict};
    /// use steadfast_hyper::HyperClassify;
    ///
    /// let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
    /// assert_eq!(HyperClassify::connector(&refused), Verdict::Transient(Delivery::Unsent));
    /// ```
    pub fn connector(error: &(dyn Error + 'static)) -> Verdict {
        of_connect(error)
    }
}

impl Classify for HyperClassify {
    fn error(&self, error: &(dyn Error + 'static)) -> Verdict {
        for cause in chain(error) {
            // A layer of ours knows more about the call than the error that ended it.
            if let Some(failure) = is::<Failure>(cause) {
                return DefaultClassify.error(failure);
            }
            if let Some(rejected) = is::<Rejected>(cause) {
                return DefaultClassify.error(rejected);
            }
            if let Some(verdict) = of_one(cause) {
                return verdict;
            }
        }
        DefaultClassify.error(error)
    }
}

/// What this error alone says, if it says anything.
fn of_one(error: &(dyn Error + 'static)) -> Option<Verdict> {
    if let Some(error) = is::<legacy::Error>(error) {
        return of_client(error);
    }
    if let Some(error) = is::<hyper::Error>(error) {
        return of_hyper(error);
    }
    if let Some(error) = is::<h2::Error>(error) {
        return Some(of_h2(error));
    }
    is_invalid_request(error).then_some(INVALID)
}

fn of_client(error: &legacy::Error) -> Option<Verdict> {
    if error.is_connect() {
        return Some(of_connect(error));
    }
    match error.source() {
        // Which of its own checks failed is private, but they all come before connecting or
        // sending, and they alone have no source: no absolute URI, unsupported version or method.
        None => Some(INVALID),
        Some(_) => None,
    }
}

/// No byte of the request left. Whether trying again can help is for the causes to say.
fn of_connect(error: &(dyn Error + 'static)) -> Verdict {
    if let Some(rejected) = Rejected::find(error) {
        return Verdict::Rejected(rejected.reason());
    }
    match chain(error).any(is_permanent_below_connect) {
        true => INVALID,
        false => UNSENT,
    }
}

/// What the connector of hyper-util fails with: public, but without a public name.
type ConnectError = <HttpConnector as tower_service::Service<Uri>>::Error;

fn is_permanent_below_connect(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = is::<io::Error>(error) {
        // How tokio's TLS streams wrap what the handshake objects to, certificates above all.
        return matches!(
            error.kind(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
        );
    }
    if let Some(error) = is::<ConnectError>(error) {
        // It gives a cause for all that fails on the way, and none for a URI that it refuses.
        return error.source().is_none();
    }
    is_invalid_request(error)
}

fn of_hyper(error: &hyper::Error) -> Option<Verdict> {
    if error.is_canceled() || error.is_closed() {
        // Dropped from the connection's queue, before its first byte (hyper: client/dispatch.rs).
        return Some(UNSENT);
    }
    if error.is_user() {
        // With a source it is the request body that failed, or the connection's task that went
        // away: bytes may be out, and what is below is not about this connection.
        let late = error.source().is_some() || error.is_body_write_aborted();
        return Some(if late { UNKNOWN } else { INVALID });
    }
    if error.is_parse() || error.is_incomplete_message() || error.is_timeout() {
        return Some(UNKNOWN);
    }
    None
}

fn of_h2(error: &h2::Error) -> Verdict {
    let unprocessed = match error.reason() {
        // RFC 9113 §8.7: refused before any processing.
        Some(h2::Reason::REFUSED_STREAM) => error.is_reset() && error.is_remote(),
        // RFC 9113 §6.8: h2 fails only the streams above the last one that the peer names; those
        // at or below it end with an I/O error if the connection closes under them.
        Some(h2::Reason::NO_ERROR) => error.is_go_away() && error.is_remote(),
        _ => false,
    };
    if unprocessed {
        Verdict::Refused
    } else {
        UNKNOWN
    }
}

fn is_invalid_request(error: &(dyn Error + 'static)) -> bool {
    is::<http::Error>(error).is_some()
        || is::<http::uri::InvalidUri>(error).is_some()
        || is::<http::uri::InvalidUriParts>(error).is_some()
}
