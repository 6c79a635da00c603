use std::io;
use std::time::Duration;

use http_body::Body;
use http_body_util::BodyExt;
use steadfast_core::{
    BoxError, Classify, Delivery, Failure, Outcome, Reason, Rejected, Safety, Verdict, chain,
};
use steadfast_kit::{Chunks, Piece, Step};

use crate::stack::*;

/// Connecting fails: what an adapter knows by type.
#[derive(Debug)]
struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("refused")
    }
}

impl std::error::Error for Refused {}

struct ByType;

impl Classify for ByType {
    fn error(&self, error: &(dyn std::error::Error + 'static)) -> Verdict {
        if chain(error).any(|cause| cause.is::<Refused>()) {
            return Verdict::Transient(Delivery::Unsent);
        }
        steadfast_core::DefaultClassify.error(error)
    }
}

/// O-17: the last real outcome comes back.
#[tokio::test(start_paused = true)]
async fn the_last_answer_is_returned_readable_and_unchanged() {
    let trailing = Chunks::new([chunk("B"), Piece::Pending, Piece::trailer("x-sum", "1")]);
    let script = vec![
        status(503, "A"),
        reset(),
        answer(503, &[("x-which", "b"), ("x-which", "c")], trailing),
    ];
    let (retry, probe) = stack(config(), script);
    let answered = run(&retry, get()).await;
    assert_eq!(reason(&answered), Some(Reason::AttemptsExhausted));
    assert_eq!(report(&answered).attempts, 3);
    assert_eq!(report(&answered).outcome, Outcome::Unknown);
    let response = answered.unwrap();
    assert_eq!(response.status(), 503);
    let lines: Vec<_> = response.headers().get_all("x-which").iter().collect();
    assert_eq!(lines, ["b", "c"]);
    let body = response.into_body().collect().await.unwrap();
    assert_eq!(body.trailers().unwrap()["x-sum"], "1");
    assert_eq!(body.to_bytes(), "B");
    assert_eq!(probe.calls(), 3);
}

/// O-17: an error that ends the call keeps its type.
#[tokio::test(start_paused = true)]
async fn the_last_error_is_found_by_type_beside_the_report() {
    let (retry, _) = stack(config(), vec![status(503, "A"), reset(), reset()]);
    let answered = run(&retry, get()).await;
    assert_eq!(report(&answered).attempts, 3);
    let error = answered.unwrap_err();
    let kind = chain(&*error)
        .find_map(|cause| cause.downcast_ref::<io::Error>())
        .unwrap()
        .kind();
    assert_eq!(kind, io::ErrorKind::ConnectionReset);
}

/// O-17: on a request whose body cannot be sent again.
#[tokio::test(start_paused = true)]
async fn an_answer_is_not_replaced_by_a_complaint_about_the_body() {
    let (retry, probe) = stack(config().with_replay_limit(3), vec![status(429, "slow")]);
    let answered = run(&retry, post(Chunks::of(["long body"]).with_exact_size())).await;
    assert_eq!(reason(&answered), Some(Reason::BodyNotReplayable));
    let response = answered.unwrap();
    assert_eq!(response.status(), 429);
    assert_eq!(text(response).await, "slow");
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_was_not_sent_hides_no_answer() {
    let unsent = || {
        vec![
            status(503, "busy"),
            Step::fail(Refused),
            Step::fail(Refused),
        ]
    };
    let (retry, _) = stack(config().with_classify(ByType), unsent());
    let answered = run(&retry, get()).await;
    assert_eq!(reason(&answered), Some(Reason::AttemptsExhausted));
    assert_eq!(text(answered.unwrap()).await, "busy");

    // Too long to keep: the head is still there, and the error says what happened last.
    let (retry, _) = stack(config().with_classify(ByType).with_keep_limit(3), unsent());
    let error = run(&retry, get()).await.unwrap_err();
    let failure = Failure::find(&*error).unwrap();
    assert_eq!(failure.last_head().unwrap().status, 503);
    assert!(chain(&*error).any(|cause| cause.is::<Refused>()));
}

/// O-33: a refusal of ours is no attempt, takes no wait and no budget.
#[tokio::test(start_paused = true)]
async fn a_refusal_from_below_stops_the_call_at_once() {
    let refused = || Step::fail(Rejected::new(Reason::CircuitOpen));
    let started = tokio::time::Instant::now();
    let (retry, probe) = stack(config(), vec![refused()]);
    let answered = run(&retry, get()).await;
    assert_eq!(reason(&answered), Some(Reason::CircuitOpen));
    assert_eq!(report(&answered).attempts, 0);
    assert_eq!(report(&answered).outcome, Outcome::NotApplied);
    assert!(Rejected::find(&*answered.unwrap_err()).is_some());
    assert_eq!(probe.calls(), 1);
    assert!(started.elapsed().is_zero());

    let (retry, _) = stack(config(), vec![status(503, "busy"), refused()]);
    let answered = run(&retry, get()).await;
    assert_eq!(reason(&answered), Some(Reason::CircuitOpen));
    assert_eq!(report(&answered).attempts, 1);
    assert_eq!(text(answered.unwrap()).await, "busy");
}

#[tokio::test(start_paused = true)]
async fn attempts_follow_safety_and_delivery() {
    use Safety::*;
    for (safety, after_503, after_reset, after_429, after_404) in [
        (Safe, 3, 3, 3, 1),
        (Idempotent, 3, 3, 3, 1),
        (Keyed, 3, 3, 3, 1),
        (Conditional, 3, 3, 3, 1),
        (Unprotected, 1, 1, 3, 1),
    ] {
        let runs: [(fn() -> Script, usize); 4] = [
            (|| status(503, ""), after_503),
            (reset, after_reset),
            (|| status(429, ""), after_429),
            (|| status(404, ""), after_404),
        ];
        for (i, (step, want)) in runs.into_iter().enumerate() {
            let (retry, probe) = stack(config(), (0..3).map(|_| step()).collect());
            let answered = run(&retry, with_safety(post(Chunks::of(["x"])), safety)).await;
            assert_eq!(probe.calls(), want, "{safety:?}, run {i}");
            let unknown = matches!(i, 0 | 1);
            let want = if unknown {
                Outcome::Unknown
            } else {
                Outcome::NotApplied
            };
            assert_eq!(report(&answered).outcome, want, "{safety:?}, run {i}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_post_without_protection_stops_with_its_outcome_unknown() {
    let (retry, probe) = stack(config(), vec![reset()]);
    let answered = run(&retry, post(Chunks::of(["charge"]))).await;
    assert_eq!(reason(&answered), Some(Reason::Unprotected));
    assert_eq!(report(&answered).outcome, Outcome::Unknown);
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_success_at_once_carries_nothing_more_and_one_after_a_retry_its_report() {
    let (retry, _) = stack(config(), vec![status(200, "")]);
    let response = run(&retry, get()).await.unwrap();
    assert!(response.extensions().is_empty());

    let (retry, _) = stack(config(), vec![reset(), status(200, "")]);
    let answered = run(&retry, get()).await;
    let report = report(&answered);
    assert_eq!(
        (report.attempts, report.reason, report.outcome),
        (2, None, Outcome::Applied)
    );
}

/// O-16: the documented difference is the attempt in the call's state.
#[tokio::test(start_paused = true)]
async fn attempt_n_equals_attempt_one() {
    #[derive(Clone, Debug, PartialEq)]
    struct Route(&'static str);

    let (retry, probe) = stack(config(), vec![reset(), status(503, ""), status(200, "")]);
    let mut request = http::Request::put("http://api.example/a?b=c")
        .version(http::Version::HTTP_2)
        .header("x-twice", "1")
        .header("x-twice", "2")
        .header("content-encoding", "gzip")
        .extension(Route("a"))
        .body(Chunks::of(["body"]).with_exact_size())
        .unwrap();
    steadfast_core::CallState::edit(request.extensions_mut(), |_| ());
    run(&retry, request).await.unwrap();
    let heads = probe.heads();
    for (n, head) in heads.iter().enumerate() {
        assert_eq!(head.method, http::Method::PUT);
        assert_eq!(head.uri, "http://api.example/a?b=c");
        assert_eq!(head.version, http::Version::HTTP_2);
        assert_eq!(head.headers, heads[0].headers);
        assert_eq!(head.extensions.get::<Route>(), Some(&Route("a")));
        let state = steadfast_core::CallState::of(&head.extensions).unwrap();
        assert_eq!(state.attempt().unwrap().number as usize, n + 1);
        assert_eq!(state.attempt().unwrap().max, 3);
    }
    assert_eq!(heads.len(), 3);
}

/// O-21: neither an endless nor a stalled body of a failed answer holds the next attempt back.
#[tokio::test(start_paused = true)]
async fn a_failed_answer_is_read_within_bounds_and_dropped_before_the_next_attempt() {
    let endless = Chunks::new((0..1000).map(|_| Piece::data(vec![0; 4096])));
    let stalled = Chunks::new([chunk("half"), Piece::Never]);
    let watches = [endless.watch(), stalled.watch()];
    let script = vec![
        answer(503, &[], endless),
        answer(503, &[], stalled),
        status(200, "done"),
    ];
    let (retry, _) = stack(config(), script);
    let started = tokio::time::Instant::now();
    assert_eq!(text(run(&retry, get()).await.unwrap()).await, "done");
    assert_eq!(watches[0].given(), 16, "64 KiB of the endless one");
    assert!(watches.iter().all(|watch| watch.dropped() == 1));
    assert!(started.elapsed() < Duration::from_millis(200));
}

#[tokio::test(start_paused = true)]
async fn an_error_in_a_body_that_was_handed_on_reaches_the_caller() {
    let broken = Chunks::new([chunk("H"), Piece::fail(io::Error::other("cut"))]);
    let (retry, probe) = stack(config(), vec![answer(200, &[], broken)]);
    let mut body = run(&retry, get()).await.unwrap().into_body();
    assert_eq!(
        body.frame().await.unwrap().unwrap().into_data().unwrap(),
        "H"
    );
    let error: BoxError = body.frame().await.unwrap().unwrap_err();
    assert!(error.is::<io::Error>());
    assert_eq!(probe.calls(), 1);
    assert!(body.size_hint().upper().is_none());
}

/// O-14: what a permanent error costs.
#[tokio::test(start_paused = true)]
async fn permanent_errors_get_one_attempt_however_they_are_wrapped() {
    #[derive(Debug)]
    struct NoSuchName;
    impl std::fmt::Display for NoSuchName {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("connection reset, or so it says")
        }
    }
    impl std::error::Error for NoSuchName {}
    struct Resolver;
    impl Classify for Resolver {
        fn error(&self, error: &(dyn std::error::Error + 'static)) -> Verdict {
            match chain(error).any(|cause| cause.is::<NoSuchName>()) {
                true => Verdict::Permanent(Delivery::Unsent),
                false => Verdict::Transient(Delivery::Unknown),
            }
        }
    }
    let wrapped = || io::Error::other(io::Error::other(NoSuchName));
    for step in [Step::fail(NoSuchName), Step::fail(wrapped())] {
        let (retry, probe) = stack(config().with_classify(Resolver), vec![step]);
        let answered = run(&retry, get()).await;
        assert_eq!(reason(&answered), Some(Reason::NotRetryable));
        assert_eq!(report(&answered).outcome, Outcome::NotApplied);
        assert_eq!(probe.calls(), 1);
    }
    let speaks = answer(400, &[], Chunks::of(["connection reset by peer, timeout"]));
    let (retry, probe) = stack(config(), vec![speaks]);
    assert_eq!(
        reason(&run(&retry, get()).await),
        Some(Reason::NotRetryable)
    );
    assert_eq!(probe.calls(), 1);
}
