//! Refusals of our own that are waited out, among attempts that do not count.

use std::time::Duration;

use http::HeaderMap;
use steadfast_core::decide::Admission;
use steadfast_core::{Answer, Classify, DefaultClassify, OwnerMark, Reason, Rejected, Verdict};
use steadfast_kit::Step;

use crate::stack::*;

/// A 421 refuses by protocol, as REFUSED_STREAM does.
struct Misdirected;

impl Classify for Misdirected {
    fn answer(&self, answer: &Answer<'_>) -> Verdict {
        match answer.status.as_u16() {
            421 => Verdict::Refused,
            _ => DefaultClassify.answer(answer),
        }
    }
}

fn not_admitted() -> Script {
    Step::fail(Rejected::new(Reason::CircuitOpen).with_retry_in(Duration::from_secs(3)))
}

/// What is sent after the wait stands in the place of what was refused, and counts as that did.
#[tokio::test(start_paused = true)]
async fn what_is_waited_out_counts_as_the_attempt_that_was_not_admitted() {
    let config = config()
        .with_classify(Misdirected)
        .with_admission(Admission::WaitOnce)
        .with_max_attempts(attempts(2))
        .with_owner_mark(OwnerMark::default());
    let script = vec![
        status(503, "busy"),
        status(421, "not here"),
        not_admitted(),
        status(503, "still busy"),
    ];
    let (retry, probe) = stack(config, script);
    let answered = run(&retry, get()).await;
    let mark = |headers: &HeaderMap| headers["steadfast-attempt"].to_str().unwrap().to_owned();
    let marks: Vec<_> = probe
        .heads()
        .iter()
        .map(|head| mark(&head.headers))
        .collect();
    assert_eq!(marks, ["1/2", "2/2", "2/2", "2/2"]);
    assert_eq!(reason(&answered), Some(Reason::AttemptsExhausted));
    assert_eq!(report(&answered).attempts, 2);
}

/// The repeat of a protocol refusal that was not admitted is still the one that may be sent.
#[tokio::test(start_paused = true)]
async fn a_second_refusal_by_protocol_is_an_attempt_like_any_other() {
    let config = config()
        .with_classify(Misdirected)
        .with_admission(Admission::WaitOnce)
        .with_max_attempts(attempts(2));
    let refused = || status(421, "not here");
    let script = vec![refused(), not_admitted(), refused(), refused()];
    let (retry, probe) = stack(config, script);
    let answered = run(&retry, get()).await;
    assert_eq!(reason(&answered), Some(Reason::AttemptsExhausted));
    assert_eq!(report(&answered).attempts, 2);
    assert_eq!(probe.calls(), 4, "of them one was refused here");
}
