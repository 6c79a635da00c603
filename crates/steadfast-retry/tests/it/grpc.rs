use std::time::Duration;

use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::Body;
use http_body_util::BodyExt;
use proptest::prelude::*;
use steadfast_core::grpc::{Code, RetryableCodes};
use steadfast_core::{Backoff, Jitter, Reason, Safety};
use steadfast_kit::{Chunks, Piece, Step};
use steadfast_retry::{Commit, RetryOverrides};

use crate::stack::*;

fn trailers(lines: &[(&'static str, &str)]) -> Piece {
    let mut trailers = HeaderMap::new();
    for (name, value) in lines {
        trailers.append(*name, HeaderValue::from_str(value).unwrap());
    }
    Piece::Trailers(trailers)
}

fn grpc(pieces: impl IntoIterator<Item = Piece>) -> Script {
    answer(
        200,
        &[("content-type", "application/grpc+proto")],
        Chunks::new(pieces),
    )
}

fn rpc() -> Request<Chunks> {
    with_safety(
        post(Chunks::of(["msg"]).with_exact_size()),
        Safety::Idempotent,
    )
}

/// Reads the request, as a server does, before it answers.
fn served(step: Response<Chunks>) -> Script {
    Step::call(move |request: Sent| async move {
        request.into_body().collect().await?;
        Ok(step)
    })
}

fn response(pieces: impl IntoIterator<Item = Piece>) -> Response<Chunks> {
    let mut response = Response::new(Chunks::new(pieces));
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert("content-type", kind);
    response
}

/// O-22, first form; O-23 (a): the status comes alone in the trailers.
#[tokio::test(start_paused = true)]
async fn a_status_alone_in_the_trailers_is_retried() {
    let script = || {
        vec![
            served(response([
                Piece::Pending,
                trailers(&[("grpc-status", "14")]),
            ])),
            served(response([chunk("data"), trailers(&[("grpc-status", "0")])])),
        ]
    };
    let (retry, probe) = stack(config(), script());
    let body = run(&retry, rpc())
        .await
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap();
    assert_eq!(body.trailers().unwrap()["grpc-status"], "0");
    assert_eq!(body.to_bytes(), "data");
    assert_eq!(probe.calls(), 2);

    // As gRFC A6 has it, the head is the point of no return.
    let (retry, probe) = stack(config().with_commit(Commit::Head), script());
    let body = run(&retry, rpc())
        .await
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap();
    assert_eq!(body.trailers().unwrap()["grpc-status"], "14");
    assert_eq!(probe.calls(), 1);
}

/// O-22, second form; O-23 (b): after data there is no other attempt, and nothing is delayed.
#[tokio::test(start_paused = true)]
async fn after_data_the_stream_passes_and_is_never_reopened() {
    let stalled = [chunk("one"), Piece::Never];
    let (retry, probe) = stack(config(), vec![served(response(stalled))]);
    let mut body = run(&retry, rpc()).await.unwrap().into_body();
    assert_eq!(
        body.frame().await.unwrap().unwrap().into_data().unwrap(),
        "one"
    );
    drop(body);
    let two = [
        chunk("one"),
        chunk("two"),
        trailers(&[("grpc-status", "14")]),
    ];
    let (retry, more) = stack(config(), vec![served(response(two))]);
    let body = run(&retry, rpc())
        .await
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap();
    assert_eq!(body.trailers().unwrap()["grpc-status"], "14");
    assert_eq!(body.to_bytes(), "onetwo");
    assert_eq!((probe.calls(), more.calls()), (1, 1));
}

/// The sender may wait for the head: it is not held while the request is on its way.
#[tokio::test(start_paused = true)]
async fn a_head_is_not_held_while_the_request_is_being_sent() {
    let silent = Step::answer(response([Piece::Never]));
    let (retry, _) = stack(config(), vec![silent]);
    let started = tokio::time::Instant::now();
    run(&retry, rpc()).await.unwrap();
    assert!(started.elapsed().is_zero());
}

/// O-24: what the pushback says, on which code, and whether that leads to another attempt.
#[tokio::test(start_paused = true)]
async fn pushback_replaces_the_wait_and_never_makes_a_code_retryable() {
    let exactly = |ms| Some(Duration::from_millis(ms));
    for (code, pushback, want) in [
        ("14", Some("0"), exactly(0)),
        ("14", Some("1500"), exactly(1500)),
        ("14", None, exactly(40)),
        ("14", Some("-1"), None),
        ("14", Some("abc"), None),
        ("14", Some("2147483648"), None),
        ("3", Some("0"), None),
        ("3", None, None),
    ] {
        let mut lines = vec![("grpc-status", code)];
        lines.extend(pushback.map(|value| ("grpc-retry-pushback-ms", value)));
        let events = Events::default();
        let backoff = Backoff::default()
            .with_jitter(Jitter::None)
            .with_base(Duration::from_millis(40));
        // In the trailers, and as trailers-only in the head.
        let in_head = answer(
            200,
            &[&[("content-type", "application/grpc")], &lines[..]].concat(),
            Chunks::of([""; 0]).with_exact_size(),
        );
        for first in [served(response([trailers(&lines)])), in_head] {
            let ok = served(response([trailers(&[("grpc-status", "0")])]));
            let config = events.observe(config().with_backoff(backoff));
            let (retry, probe) = stack(config, vec![first, ok]);
            let answered = run(&retry, rpc()).await;
            let waited = std::mem::take(&mut *events.attempts.lock().unwrap())[0].wait;
            assert_eq!(waited, want, "{code} {pushback:?}");
            assert_eq!(probe.calls(), 1 + usize::from(want.is_some()));
            let stopped = match (code, pushback) {
                ("3", None) => Some(Reason::NotRetryable),
                ("3", Some(_)) => Some(Reason::NotRetryable),
                _ if want.is_none() => Some(Reason::PeerSaidNo),
                _ => None,
            };
            assert_eq!(reason(&answered), stopped, "{code} {pushback:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn other_codes_are_retried_as_configured_and_unprotected_methods_never() {
    let exhausted = || served(response([trailers(&[("grpc-status", "8")])]));
    let ok = || served(response([trailers(&[("grpc-status", "0")])]));
    let codes = RetryableCodes::default().with(Code::ResourceExhausted);
    let (retry, probe) = stack(
        config().with_retryable_codes(codes),
        vec![exhausted(), ok()],
    );
    run(&retry, rpc()).await.unwrap();
    assert_eq!(probe.calls(), 2);
    let (retry, probe) = stack(config(), vec![exhausted()]);
    run(&retry, rpc()).await.unwrap();
    assert_eq!(probe.calls(), 1);
    let unavailable = grpc([trailers(&[("grpc-status", "14")])]);
    let (retry, probe) = stack(config(), vec![unavailable]);
    let response = run(&retry, post(Chunks::of(["msg"]))).await.unwrap();
    let body = response.into_body().collect().await.unwrap();
    assert_eq!(body.trailers().unwrap()["grpc-status"], "14");
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_body_attempts_left_the_trailers_are_handed_on() {
    let unavailable = || served(response([trailers(&[("grpc-status", "14")])]));
    let script = vec![unavailable(), unavailable(), unavailable()];
    let (retry, probe) = stack(config(), script);
    let body = run(&retry, rpc())
        .await
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap();
    assert_eq!(body.trailers().unwrap()["grpc-status"], "14");
    assert_eq!(probe.calls(), 3);
}

/// O-20, buffered mode.
#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_is_asked_for_again_where_all_of_it_is_read_first() {
    let broken = || Chunks::new([chunk("H"), Piece::fail(std::io::Error::other("reset"))]);
    let whole = || Chunks::of(["Hello", " ", "World"]).with_exact_size();
    let buffered = || config().with_commit(Commit::WholeBody { limit: 1024 });
    let (retry, probe) = stack(
        buffered(),
        vec![answer(200, &[], broken()), answer(200, &[], whole())],
    );
    let response = run(&retry, get()).await.unwrap();
    assert_eq!(response.body().size_hint().exact(), Some(11));
    assert_eq!(text(response).await, "Hello World");
    assert_eq!(probe.calls(), 2);

    // Without another attempt the caller gets what came, and the error after it.
    let script = (0..3).map(|_| answer(200, &[], broken())).collect();
    let (retry, probe) = stack(buffered(), script);
    let mut body = run(&retry, get()).await.unwrap().into_body();
    assert_eq!(
        body.frame().await.unwrap().unwrap().into_data().unwrap(),
        "H"
    );
    assert!(
        body.frame()
            .await
            .unwrap()
            .unwrap_err()
            .is::<std::io::Error>()
    );
    assert_eq!(probe.calls(), 3);

    // A longer one is handed on when the limit is reached.
    let long = Chunks::new([chunk("abc"), chunk("def"), Piece::fail("late")]);
    let short = config().with_commit(Commit::WholeBody { limit: 4 });
    let (retry, probe) = stack(short, vec![answer(200, &[], long)]);
    let mut body = run(&retry, get()).await.unwrap().into_body();
    assert_eq!(
        body.frame().await.unwrap().unwrap().into_data().unwrap(),
        "abc"
    );
    assert_eq!(
        body.frame().await.unwrap().unwrap().into_data().unwrap(),
        "def"
    );
    assert!(body.frame().await.unwrap().is_err());
    assert_eq!(probe.calls(), 1);
}

/// A frame as a word, to compare bodies by.
async fn frames<B>(body: B) -> Vec<String>
where
    B: Body<Data = bytes::Bytes, Error: std::fmt::Display>,
{
    let mut body = std::pin::pin!(body);
    let mut seen = vec![format!("{:?}", (body.size_hint(), body.is_end_stream()))];
    while let Some(frame) = body.frame().await {
        seen.push(match frame {
            Ok(frame) if frame.is_data() => format!("{:?}", frame.into_data().ok()),
            Ok(frame) => format!("{:?}", frame.into_trailers().ok()),
            Err(error) => error.to_string(),
        });
        seen.push(format!("{:?}", (body.size_hint(), body.is_end_stream())));
        if seen.last().is_some_and(|last| last == "broken") {
            break;
        }
    }
    seen
}

proptest! {
    /// Looking ahead changes no frame, no order, no end flag and no size hint.
    #[test]
    fn looking_ahead_changes_nothing(
        schedule in proptest::collection::vec(0..5u8, 0..10), exact in any::<bool>(),
    ) {
        let body = || {
            let pieces = schedule.iter().map(|kind| match kind {
                0 => Piece::Pending,
                1 => chunk(""),
                4 => Piece::fail("broken"),
                n => chunk(&"x".repeat(usize::from(*n))),
            });
            let chunks = Chunks::new(pieces.chain([trailers(&[("grpc-status", "0")])]));
            if exact { chunks.with_exact_size() } else { chunks }
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (through, plain) = runtime.block_on(async {
            // One attempt left to spend, so that it is held, and none that could follow an error.
            let mut held = response([]);
            *held.body_mut() = body();
            let config = config().with_budget(crate::budgets::Never);
            let (retry, _) = stack(config, vec![served(held)]);
            let response = run(&retry, rpc()).await.unwrap();
            (frames(response.into_body()).await, frames(body()).await)
        });
        prop_assert_eq!(through, plain);
    }
}

/// A service config says them by method.
#[tokio::test(start_paused = true)]
async fn codes_and_commit_can_be_said_for_one_call() {
    let late = || served(response([trailers(&[("grpc-status", "10")])]));
    let ok = || served(response([trailers(&[("grpc-status", "0")])]));
    let aborted =
        RetryOverrides::new().with_retryable_codes(RetryableCodes::NONE.with(Code::Aborted));
    for (overrides, calls) in [
        (RetryOverrides::new(), 1),
        (aborted, 2),
        (aborted.with_commit(Commit::Head), 1),
    ] {
        let (retry, probe) = stack(config(), vec![late(), ok()]);
        let mut request = rpc();
        request.extensions_mut().insert(overrides);
        run(&retry, request).await.unwrap();
        assert_eq!(probe.calls(), calls, "{overrides:?}");
    }
}
