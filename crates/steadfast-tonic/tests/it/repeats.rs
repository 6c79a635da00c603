//! What is repeated, and what each attempt says.

use std::time::Duration;

use steadfast_core::{Outcome, Reason};
use steadfast_deadline::AttemptTimeoutLayer;
use steadfast_greeter::greeter_client::GreeterClient;
use steadfast_retry::RetryLayer;
use steadfast_tonic::{DestinationLayer, LeafLayer, StatusLayer};
use tonic::Code;
use tower::ServiceBuilder;

use crate::greeter::{Running, Says};
use crate::peer::*;

#[tokio::test]
async fn an_answer_of_unavailable_is_repeated_where_the_caller_allows_it() {
    let server = Running::start([Says::unavailable(&[]), Says::Hello]).await;
    let mut client = client(server.channel(), config());
    let answer = client.say_hello(idempotent()).await.unwrap();
    assert_eq!(answer.into_inner().text, "hello, you");
    assert_eq!(server.calls(), 2);
}

#[tokio::test]
async fn a_method_that_nobody_declared_is_sent_once() {
    let server = Running::start([Says::unavailable(&[])]).await;
    let mut client = client(server.channel(), config());
    let status = client.say_hello(hello()).await.unwrap_err();
    assert_eq!((status.code(), server.calls()), (Code::Unavailable, 1));
    assert_eq!(status.message(), "as scripted");
    assert_eq!(reason(&status), Some(Reason::Unprotected));
    assert_eq!(report(&status).outcome, Outcome::Unknown);
}

#[tokio::test]
async fn the_last_status_comes_back_with_its_metadata_and_the_report() {
    let server = Running::start([Says::unavailable(&[("x-shard", "7")])]).await;
    let mut client = client(server.channel(), config());
    let status = client.say_hello(idempotent()).await.unwrap_err();
    assert_eq!((status.code(), server.calls()), (Code::Unavailable, 3));
    assert_eq!(status.metadata().get("x-shard").unwrap(), "7");
    let report = report(&status);
    assert_eq!(
        (report.attempts, report.reason),
        (3, Some(Reason::AttemptsExhausted))
    );
}

/// gRFC A6: absent on the first attempt, then 1, 2.
#[tokio::test]
async fn each_repeat_says_how_many_attempts_came_before_it() {
    let server = Running::start([Says::unavailable(&[])]).await;
    let mut client = client(server.channel(), config());
    // What came with an inbound request and was passed on is not this call's.
    let mut request = idempotent();
    request
        .metadata_mut()
        .insert("grpc-previous-rpc-attempts", "9".parse().unwrap());
    client.say_hello(request).await.unwrap_err();
    let told = server.told("grpc-previous-rpc-attempts");
    assert_eq!(told, [None, Some("1".to_owned()), Some("2".to_owned())]);
}

#[tokio::test]
async fn a_deadline_of_the_caller_is_that_of_the_whole_call() {
    let server = Running::start([
        Says::unavailable(&[("grpc-retry-pushback-ms", "30")]),
        Says::Nothing,
    ])
    .await;
    let mut client = client(server.channel(), config());
    let mut request = idempotent();
    request.set_timeout(Duration::from_millis(300));
    let began = tokio::time::Instant::now();
    let status = client.say_hello(request).await.unwrap_err();
    let took = began.elapsed();
    assert_eq!((status.code(), server.calls()), (Code::DeadlineExceeded, 2));
    assert!((290..600).contains(&took.as_millis()), "{took:?}");
    let left: Vec<_> = server
        .told("grpc-timeout")
        .into_iter()
        .flatten()
        .map(micros)
        .collect();
    assert!(left[0] <= 300_000, "{left:?}");
    assert!(
        left[1] <= left[0] - 30_000,
        "{left:?}: less the wait before it"
    );
}

fn micros(told: String) -> u64 {
    let (number, unit) = told.split_at(told.len() - 1);
    let number: u64 = number.parse().unwrap();
    match unit {
        "u" => number,
        "m" => number * 1_000,
        "n" => number / 1_000,
        "S" => number * 1_000_000,
        other => panic!("{other}"),
    }
}

/// O-24: pushback in the head of an answer, by code.
#[tokio::test]
async fn pushback_replaces_the_wait_or_ends_the_call_and_makes_no_code_retryable() {
    for (code, pushback, calls) in [
        (Code::Unavailable, "0", 2),
        (Code::Unavailable, "20", 2),
        (Code::Unavailable, "-1", 1),
        (Code::Unavailable, "abc", 1),
        (Code::Unavailable, "2147483648", 1),
        (Code::InvalidArgument, "0", 1),
    ] {
        let no = Says::No(code, vec![("grpc-retry-pushback-ms", pushback)]);
        let server = Running::start([no, Says::Hello]).await;
        // Own waits of a minute: a repeat that comes at once came by pushback.
        let backoff = config().backoff().with_base(Duration::from_secs(60));
        let backoff = backoff.with_jitter(steadfast_core::Jitter::None);
        let mut client = client(server.channel(), config().with_backoff(backoff));
        let answered = client.say_hello(idempotent()).await;
        assert_eq!(server.calls(), calls, "{code:?} {pushback}");
        assert_eq!(answered.is_ok(), calls == 2, "{code:?} {pushback}");
        if let (Err(status), Code::Unavailable) = (answered, code) {
            assert_eq!(reason(&status), Some(Reason::PeerSaidNo));
        }
    }
}

/// O-16: what the caller said goes with each attempt, repeated and binary lines included.
#[tokio::test]
async fn each_attempt_carries_the_same_metadata() {
    let server = Running::start([Says::unavailable(&[])]).await;
    let mut client = client(server.channel(), config());
    let mut request = idempotent();
    let metadata = request.metadata_mut();
    metadata.append("x-tag", "1".parse().unwrap());
    metadata.append_bin(
        "trace-bin",
        tonic::metadata::MetadataValue::from_bytes(&[0, 255]),
    );
    client.say_hello(request).await.unwrap_err();
    assert_eq!(server.told("x-tag"), vec![Some("1".to_owned()); 3]);
    assert_eq!(server.binary("trace-bin"), vec![Some(vec![0, 255]); 3]);
}

/// O-08.
#[tokio::test]
async fn a_call_that_is_dropped_sends_nothing_more() {
    for first in [
        Says::Nothing,
        Says::unavailable(&[("grpc-retry-pushback-ms", "20000")]),
    ] {
        let server = Running::start([first, Says::Hello]).await;
        let mut client = client(server.channel(), config());
        let mut call = Box::pin(client.say_hello(idempotent()));
        // Until the attempt was seen, and a while longer, so that a wait has begun.
        let seen = async {
            while server.calls() == 0 {
                tokio::task::yield_now().await;
            }
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            answered = &mut call => panic!("{answered:?}"),
            () = seen => {}
        }
        drop(call);
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(server.calls(), 1);
    }
}

/// One attempt's time, which gRPC core calls its receive timeout.
#[tokio::test]
async fn an_attempt_that_hangs_is_repeated_and_the_last_one_ends_the_call() {
    for (answers, calls) in [
        (vec![Says::Nothing, Says::Hello], 2),
        (vec![Says::Nothing], 3),
    ] {
        let server = Running::start(answers).await;
        let timeout = AttemptTimeoutLayer::new(Duration::from_millis(100));
        let stack = ServiceBuilder::new()
            .layer(StatusLayer::new())
            .layer(DestinationLayer::new("greeter.example"))
            .layer(RetryLayer::new(config()))
            .layer(timeout)
            .layer(LeafLayer::new())
            .service(server.channel());
        let answered = GreeterClient::new(stack).say_hello(idempotent()).await;
        assert_eq!((server.calls(), answered.is_ok()), (calls, calls == 2));
        if let Err(status) = answered {
            assert_eq!(status.code(), Code::DeadlineExceeded);
            assert_eq!(reason(&status), Some(Reason::AttemptsExhausted));
        }
    }
}

/// O-18, O-19.
#[tokio::test]
async fn a_message_over_the_replay_limit_is_sent_once() {
    let server = Running::start([Says::unavailable(&[]), Says::Hello]).await;
    let mut client = client(server.channel(), config().with_replay_limit(100));
    let mut request = idempotent();
    request.get_mut().name = "x".repeat(101);
    let status = client.say_hello(request).await.unwrap_err();
    assert_eq!(
        (reason(&status), server.calls()),
        (Some(Reason::BodyNotReplayable), 1)
    );
    assert_eq!(server.names()[0].len(), 101, "whole");
}
