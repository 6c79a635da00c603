//! A service config at work.

use std::num::NonZeroU32;

use steadfast_core::{CallState, Reason, Safety};
use steadfast_retry::RetryOverrides;
use tonic::Code;

use crate::greeter::{Running, Says};
use crate::peer::*;

#[tokio::test]
async fn a_retry_policy_declares_its_methods_repeatable() {
    let server = Running::start([Says::no(Code::Aborted), Says::Hello]).await;
    let mut client = configured(server.channel(), &policy(3, r#""ABORTED""#, ""));
    let answer = client.say_hello(hello()).await.unwrap();
    assert_eq!(
        (&*answer.into_inner().text, server.calls()),
        ("hello, you", 2)
    );
}

#[tokio::test]
async fn a_method_without_a_policy_is_not_repeated() {
    let server = Running::start([Says::unavailable(&[])]).await;
    let json = policy(3, r#""UNAVAILABLE""#, "");
    let json = json.replace(
        "{}",
        r#"{ "service": "greeter.v1.Greeter", "method": "Collect" }"#,
    );
    let mut client = configured(server.channel(), &json);
    let status = client.say_hello(hello()).await.unwrap_err();
    assert_eq!(
        (reason(&status), server.calls()),
        (Some(Reason::Unprotected), 1)
    );
}

#[tokio::test]
async fn another_code_than_those_of_the_policy_is_final() {
    let server = Running::start([Says::unavailable(&[])]).await;
    let mut client = configured(server.channel(), &policy(3, r#""ABORTED""#, ""));
    let status = client.say_hello(hello()).await.unwrap_err();
    assert_eq!((status.code(), server.calls()), (Code::Unavailable, 1));
    assert_eq!(reason(&status), Some(Reason::NotRetryable));
}

#[tokio::test]
async fn attempts_end_at_the_policys_number_and_never_beyond_five() {
    for (attempts, made) in [(2, 2), (5, 5), (9, 5)] {
        let server = Running::start([Says::unavailable(&[])]).await;
        let mut client = configured(server.channel(), &policy(attempts, r#""UNAVAILABLE""#, ""));
        let status = client.say_hello(hello()).await.unwrap_err();
        assert_eq!(
            (report(&status).attempts, server.calls()),
            (made, made as usize)
        );
        assert_eq!(reason(&status), Some(Reason::AttemptsExhausted));
    }
}

/// gRFC A6: with two tokens of which more than one must be left, the first failure ends it.
#[tokio::test]
async fn throttling_ends_the_repeats_to_a_server_that_fails() {
    let server = Running::start([Says::unavailable(&[])]).await;
    let throttle = r#", "retryThrottling": { "maxTokens": 2, "tokenRatio": 0.1 }"#;
    let mut client = configured(server.channel(), &policy(3, r#""UNAVAILABLE""#, throttle));
    let status = client.say_hello(hello()).await.unwrap_err();
    assert_eq!(
        (reason(&status), server.calls()),
        (Some(Reason::BudgetExhausted), 1)
    );
    assert_eq!(status.code(), Code::Unavailable, "what the peer last said");
}

#[tokio::test]
async fn a_timeout_ends_a_call_that_hangs() {
    let server = Running::start([Says::Nothing]).await;
    let json = r#"{ "methodConfig": [{ "name": [{}], "timeout": "0.05s" }] }"#;
    let mut client = configured(server.channel(), json);
    let status = client.say_hello(hello()).await.unwrap_err();
    assert_eq!((status.code(), server.calls()), (Code::DeadlineExceeded, 1));
    assert!(
        server.told("grpc-timeout")[0].is_some(),
        "the server is told"
    );
}

#[tokio::test]
async fn a_pushback_that_says_no_ends_the_call() {
    let no = Says::unavailable(&[("grpc-retry-pushback-ms", "-1")]);
    let server = Running::start([no]).await;
    let mut client = configured(server.channel(), &policy(3, r#""UNAVAILABLE""#, ""));
    let status = client.say_hello(hello()).await.unwrap_err();
    assert_eq!(
        (reason(&status), server.calls()),
        (Some(Reason::PeerSaidNo), 1)
    );
}

/// Disabled for a call, or by leaving the service config out.
#[tokio::test]
async fn a_callers_own_word_wins_over_the_policy() {
    let server = Running::start([Says::unavailable(&[])]).await;
    let mut client = configured(server.channel(), &policy(3, r#""UNAVAILABLE""#, ""));
    let mut request = hello();
    let once = RetryOverrides::new().with_max_attempts(NonZeroU32::MIN);
    request.extensions_mut().insert(once);
    let status = client.say_hello(request).await.unwrap_err();
    assert_eq!((status.code(), server.calls()), (Code::Unavailable, 1));
}

/// A caller may know that its call is not what its method usually is.
#[tokio::test]
async fn a_call_that_its_caller_protects_is_not_repeated() {
    let server = Running::start([Says::unavailable(&[])]).await;
    let mut client = configured(server.channel(), &policy(3, r#""UNAVAILABLE""#, ""));
    let mut request = hello();
    let mut state = CallState::new();
    state.set_safety(Safety::Unprotected);
    request.extensions_mut().insert(state);
    let status = client.say_hello(request).await.unwrap_err();
    assert_eq!(
        (reason(&status), server.calls()),
        (Some(Reason::Unprotected), 1)
    );
}
