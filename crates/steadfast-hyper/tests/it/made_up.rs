use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use http::uri::PathAndQuery;
use http::{HeaderMap, Request, StatusCode, Uri};
use steadfast_core::{
    Answer, Classify, Cut, Delivery, Elapsed, Failure, Outcome, Reason, Rejected, Report, Verdict,
};
use steadfast_hyper::HyperClassify;

use crate::wrapped::verdict;

const UNKNOWN: Verdict = Verdict::Transient(Delivery::Unknown);

/// Says what others say.
#[derive(Debug)]
struct Mimic(&'static str);

impl fmt::Display for Mimic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Mimic {}

#[test]
fn text_is_not_believed() {
    for text in [
        "client error (Connect)",
        "tcp connect error: Connection refused (os error 111)",
        "operation was canceled",
        "stream error received: refused stream before processing any application logic",
        "invalid URI",
        "invalid peer certificate: Expired",
    ] {
        assert_eq!(verdict(Mimic(text)), UNKNOWN, "{text}");
    }
}

#[test]
fn an_io_error_outside_a_connector_may_come_after_the_request() {
    for kind in [
        io::ErrorKind::ConnectionRefused,
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::InvalidData,
        io::ErrorKind::NotFound,
        io::ErrorKind::TimedOut,
    ] {
        assert_eq!(verdict(io::Error::from(kind)), UNKNOWN, "{kind}");
    }
}

#[test]
fn a_request_that_could_not_be_built_is_permanent() {
    let invalid = Verdict::Permanent(Delivery::Unsent);
    assert_eq!(
        verdict(Request::get("no spaces").body(()).unwrap_err()),
        invalid
    );
    assert_eq!(verdict("no spaces".parse::<Uri>().unwrap_err()), invalid);
    assert_eq!(
        verdict("\u{7f}".parse::<PathAndQuery>().unwrap_err()),
        invalid
    );
    let mut parts = http::uri::Parts::default();
    parts.scheme = Some(http::uri::Scheme::HTTP);
    assert_eq!(verdict(Uri::from_parts(parts).unwrap_err()), invalid);
}

#[test]
fn only_errors_of_the_remote_mean_that_it_refused() {
    // Made here, so nobody refused anything.
    assert_eq!(
        verdict(h2::Error::from(h2::Reason::REFUSED_STREAM)),
        UNKNOWN
    );
    assert_eq!(verdict(h2::Error::from(h2::Reason::NO_ERROR)), UNKNOWN);
}

// O-14.
#[test]
fn a_400_that_talks_of_a_connection_is_final() {
    let mut headers = HeaderMap::new();
    headers.insert("x-error", "connection reset, please retry".parse().unwrap());
    let answer = Answer::new(StatusCode::BAD_REQUEST, &headers);
    assert_eq!(
        HyperClassify.answer(&answer),
        Verdict::Permanent(Delivery::Answered)
    );
}

#[test]
fn what_a_layer_of_ours_says_comes_before_the_error_inside() {
    let invalid = || Request::get("no spaces").body(()).unwrap_err();
    let report = |outcome| Report::new(2, Duration::ZERO, Some(Reason::AttemptsExhausted), outcome);
    // An earlier attempt may have been applied, though the last one was not sent.
    assert_eq!(
        verdict(Failure::new(report(Outcome::Unknown), invalid())),
        UNKNOWN
    );
    let elapsed = Elapsed::new(Duration::ZERO, Cut::AttemptTimeout);
    assert_eq!(
        verdict(Failure::new(report(Outcome::Unknown), elapsed)),
        UNKNOWN
    );
    let unsent = Verdict::Transient(Delivery::Unsent);
    assert_eq!(
        verdict(Failure::new(report(Outcome::NotApplied), Mimic("hm"))),
        unsent
    );
    let rejected = Rejected::new(Reason::Cooldown);
    assert_eq!(verdict(rejected), Verdict::Rejected(Reason::Cooldown));
}
