use std::io;
use std::time::Duration;

use http::HeaderValue;

use super::*;
use crate::{BoxError, Reason, Report};

fn verdict(status: u16, hint: Hint, headers: &[(&'static str, &'static str)]) -> Verdict {
    let headers = headers
        .iter()
        .map(|(name, value)| {
            (
                http::HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        })
        .collect();
    Answer {
        hint,
        ..Answer::new(StatusCode::from_u16(status).unwrap(), &headers)
    }
    .verdict()
}

/// O-05: what a hint changes and what it does not.
#[test]
fn a_hint_is_not_a_verdict() {
    use Delivery::*;
    let wait = Hint::Wait(Duration::from_secs(2));
    for (status, hint, want) in [
        (429, Hint::None, Verdict::Transient(Unprocessed)),
        (429, wait, Verdict::Transient(Unprocessed)),
        (503, Hint::None, Verdict::Transient(Unknown)),
        (503, wait, Verdict::Transient(Unknown)),
        (413, Hint::None, Verdict::Permanent(Answered)),
        (413, Hint::Unreadable, Verdict::Permanent(Answered)),
        (413, wait, Verdict::Transient(Unprocessed)),
        (404, wait, Verdict::Permanent(Answered)),
        (400, wait, Verdict::Permanent(Answered)),
    ] {
        assert_eq!(verdict(status, hint, &[]), want, "{status} with {hint:?}");
    }
}

#[test]
fn retryable_statuses_are_these_and_no_others() {
    for status in 100..=599 {
        let want = match status {
            ..400 => Verdict::Success,
            425 | 429 => Verdict::Transient(Delivery::Unprocessed),
            408 | 500 | 502 | 503 | 504 => Verdict::Transient(Delivery::Unknown),
            _ => Verdict::Permanent(Delivery::Answered),
        };
        assert_eq!(verdict(status, Hint::None, &[]), want, "{status}");
    }
}

#[test]
fn the_peers_own_word_wins_over_the_table() {
    for spelling in ["x-should-retry", "stripe-should-retry"] {
        let (yes, no, odd) = (
            [(spelling, "true")],
            [(spelling, "FALSE")],
            [(spelling, "maybe")],
        );
        let unknown = Delivery::Unknown;
        assert_eq!(verdict(400, Hint::None, &yes), Verdict::Transient(unknown));
        assert_eq!(verdict(503, Hint::None, &no), Verdict::PeerSaidNo(unknown));
        assert_eq!(verdict(503, Hint::None, &odd), Verdict::Transient(unknown));
        assert_eq!(verdict(200, Hint::None, &no), Verdict::Success);
    }
}

#[test]
fn a_replayed_5xx_is_what_the_peer_will_always_say() {
    let replayed = [("idempotent-replayed", "true")];
    let want = Verdict::Permanent(Delivery::Answered);
    assert_eq!(verdict(503, Hint::None, &replayed), want);
    assert_eq!(verdict(201, Hint::None, &replayed), Verdict::Success);
}

#[test]
fn a_409_means_still_running_only_with_a_key_after_an_unknown_attempt() {
    let headers = HeaderMap::new();
    let first = Answer::new(StatusCode::CONFLICT, &headers);
    assert_eq!(first.verdict(), Verdict::Permanent(Delivery::Answered));
    let later = Answer {
        keyed_after_unknown: true,
        ..first
    };
    assert_eq!(later.verdict(), Verdict::Transient(Delivery::Unprocessed));
}

#[test]
fn errors_are_told_apart_by_type_however_deep_they_sit() {
    let rejected = || Rejected::new(Reason::CircuitOpen);
    let report = |outcome| Report::new(1, Duration::ZERO, Some(Reason::Deadline), outcome);
    let failed = |outcome| Failure::new(report(outcome), io::Error::other("reset"));
    let refused = |outcome| Failure::new(report(outcome), rejected());
    let boxed: [(BoxError, Verdict); 6] = [
        (Box::new(rejected()), Verdict::Rejected(Reason::CircuitOpen)),
        (
            Box::new(io::Error::other(rejected())),
            Verdict::Rejected(Reason::CircuitOpen),
        ),
        (
            Box::new(failed(Outcome::NotApplied)),
            Verdict::Transient(Delivery::Unsent),
        ),
        (
            Box::new(failed(Outcome::Unknown)),
            Verdict::Transient(Delivery::Unknown),
        ),
        (
            Box::new(refused(Outcome::NotApplied)),
            Verdict::Rejected(Reason::CircuitOpen),
        ),
        // Attempt 1 timed out, attempt 2 was refused: the call may have taken effect.
        (
            Box::new(refused(Outcome::Unknown)),
            Verdict::Transient(Delivery::Unknown),
        ),
    ];
    for (error, want) in boxed {
        assert_eq!(DefaultClassify.error(&*error), want, "{error}");
        let twice: BoxError = Box::new(io::Error::other(io::Error::other(error)));
        assert_eq!(DefaultClassify.error(&*twice), want, "{twice}, boxed twice");
    }
}

#[test]
fn a_rule_makes_a_status_retryable_for_its_route_only() {
    let headers = HeaderMap::new();
    let endpoint = crate::Endpoint::all_of("*").unwrap();
    let rule = RouteRule::on(endpoint).with_retried_status(StatusCode::NOT_FOUND);
    let answer = Answer::new(StatusCode::NOT_FOUND, &headers);
    assert_eq!(answer.verdict(), Verdict::Permanent(Delivery::Answered));
    let ruled = Answer {
        rule: Some(&rule),
        ..answer
    };
    assert_eq!(ruled.verdict(), Verdict::Transient(Delivery::Unprocessed));
}
