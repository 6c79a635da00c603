use std::time::Duration;

use http::{Extensions, HeaderMap};
use steadfast_core::Ratio;

use super::*;

/// Every field that there is, with a value that is not its default.
const EVERYTHING: &str = include_str!("everything.toml");

#[test]
fn a_file_that_says_nothing_is_the_default() {
    let policy = Policy::from_toml("").unwrap();
    let (deadline, arrivals) = (policy.as_draft().deadline(), policy.as_draft().arrivals());
    assert_eq!(deadline.maximum(), Duration::MAX);
    assert_eq!(arrivals.share(), Ratio::percent(20).unwrap());
}

#[test]
fn every_field_is_heard() {
    let policy = Policy::from_toml(EVERYTHING).unwrap();
    let deadline = policy.as_draft().deadline();
    assert_eq!(deadline.mode(), Mode::Measure);
    assert_eq!(deadline.maximum(), Duration::from_secs(20));
    assert_eq!(deadline.answer_margin(), Duration::from_millis(25));
    let trust = deadline.trust_of(&HeaderMap::new(), &Extensions::new());
    assert_eq!(trust, InboundTrust::Everything);
    assert_eq!(deadline.headers()[0].name(), "x-time-left");
    assert_eq!(deadline.headers().len(), 1);
    assert_eq!(deadline.operation_header().unwrap(), "x-operation");
    assert_eq!(deadline.owner_mark().name(), "x-attempt");
    let arrivals = policy.as_draft().arrivals();
    assert_eq!(arrivals.mode(), steadfast_admission::Mode::Shadow);
    assert_eq!(arrivals.share(), Ratio::percent(25).unwrap());
    assert_eq!(arrivals.window(), Duration::from_secs(5));
    assert_eq!(arrivals.minimum().get(), 50);
    assert_eq!(
        arrivals.marks(),
        [AttemptHeader::Envoy, AttemptHeader::Grpc]
    );
}

#[test]
fn what_cannot_be_is_named() {
    for (text, rule) in [
        (
            "[deadline]\nmaximun = \"1s\"",
            "line 2: unknown field `maximun`",
        ),
        (
            "[deadline]\nmaximum = \"0s\"",
            "deadline.maximum is 0s: every request is refused",
        ),
        (
            "[arrivals]\nshare = \"120%\"",
            "arrivals.share is 120%: retries are never above it",
        ),
        (
            "[arrivals]\nmarks = []",
            "arrivals.marks is empty: no retry is ever seen",
        ),
        ("[arrivals]\nmarks = [\"x-try\"]", "unknown variant `x-try`"),
    ] {
        let said = Policy::from_toml(text).unwrap_err().to_string();
        assert!(said.contains(rule), "{text}: {said}");
        assert!(!said.contains('\n'), "{said}");
    }
    let off = "[arrivals]\nmode = \"off\"\nshare = \"100%\"";
    assert!(Policy::from_toml(off).is_ok(), "what is off need not work");
}
