//! Streams: the point of no return, and requests that are long.

use steadfast_core::{CallState, Reason, Safety};
use steadfast_greeter::HelloRequest;
use tokio_stream::StreamExt;
use tonic::{Code, Request};

use crate::greeter::{Running, Says};
use crate::peer::*;

/// O-22, first form; O-23 (a).
#[tokio::test]
async fn a_status_alone_in_the_trailers_is_repeated() {
    let server = Running::start([Says::unavailable(&[]), Says::Hello]).await;
    let mut client = client(server.channel(), config());
    let mut replies = client.list_hellos(idempotent()).await.unwrap().into_inner();
    let mut texts = Vec::new();
    while let Some(reply) = replies.next().await {
        texts.push(reply.unwrap().text);
    }
    assert_eq!(texts, ["1", "2", "hello, you"]);
    assert_eq!(server.calls(), 2);
}

/// O-23 (a), strict: gRFC A6 commits with the head, and a service config means A6.
#[tokio::test]
async fn under_a_service_config_a_head_commits() {
    let server = Running::start([Says::unavailable(&[]), Says::Hello]).await;
    let mut client = configured(server.channel(), &policy(3, r#""UNAVAILABLE""#, ""));
    let mut replies = client.list_hellos(hello()).await.unwrap().into_inner();
    let status = replies.next().await.unwrap().unwrap_err();
    assert_eq!((status.code(), server.calls()), (Code::Unavailable, 1));
}

/// O-22, second form; O-23 (b); O-20.
#[tokio::test]
async fn a_stream_of_which_a_message_was_handed_on_is_never_opened_again() {
    let server = Running::start([Says::unavailable(&[]), Says::Hello]).await;
    let mut client = client(server.channel(), config());
    let mut request = idempotent();
    request.get_mut().name = "late".to_owned();
    let mut replies = client.list_hellos(request).await.unwrap().into_inner();
    assert_eq!(replies.next().await.unwrap().unwrap().text, "1");
    assert_eq!(replies.next().await.unwrap().unwrap().text, "2");
    let status = replies.next().await.unwrap().unwrap_err();
    assert_eq!((status.code(), server.calls()), (Code::Unavailable, 1));
}

/// O-19: a stream of requests is kept as it goes out, and goes out again whole.
#[tokio::test]
async fn a_stream_of_requests_is_sent_again_whole() {
    let server = Running::start([Says::unavailable(&[]), Says::Hello]).await;
    let mut client = client(server.channel(), config());
    let questions = ["a", "b", "c"].map(|name| HelloRequest {
        name: name.to_owned(),
    });
    let mut request = Request::new(tokio_stream::iter(questions));
    declare(&mut request);
    let reply = client.collect(request).await.unwrap().into_inner();
    assert_eq!(reply.text, "hello, a+b+c");
    assert_eq!(server.names(), ["a+b+c", "a+b+c"]);
}

/// O-18, O-19: over the replay limit it goes out once, whole, and its answer comes back.
#[tokio::test]
async fn a_stream_of_requests_over_the_limit_is_sent_once() {
    let server = Running::start([Says::unavailable(&[]), Says::Hello]).await;
    let mut client = client(server.channel(), config().with_replay_limit(1024));
    let long = "x".repeat(600);
    let questions = [(); 3].map(|()| HelloRequest { name: long.clone() });
    let mut request = Request::new(tokio_stream::iter(questions));
    declare(&mut request);
    let status = client.collect(request).await.unwrap_err();
    assert_eq!((status.code(), server.calls()), (Code::Unavailable, 1));
    assert_eq!(reason(&status), Some(Reason::BodyNotReplayable));
    assert_eq!(server.names()[0].len(), 3 * 600 + 2, "whole");
}

#[tokio::test]
async fn questions_and_answers_go_on_at_the_same_time() {
    let server = Running::start([Says::Hello]).await;
    let mut client = client(server.channel(), config());
    let (questions, receiver) = tokio::sync::mpsc::channel(1);
    let mut request = Request::new(tokio_stream::wrappers::ReceiverStream::new(receiver));
    declare(&mut request);
    questions
        .send(HelloRequest {
            name: "a".to_owned(),
        })
        .await
        .unwrap();
    let mut replies = client.chat(request).await.unwrap().into_inner();
    assert_eq!(replies.next().await.unwrap().unwrap().text, "hello, a");
    questions
        .send(HelloRequest {
            name: "b".to_owned(),
        })
        .await
        .unwrap();
    assert_eq!(replies.next().await.unwrap().unwrap().text, "hello, b");
    drop(questions);
    assert!(replies.next().await.is_none());
}

fn declare<T>(request: &mut Request<T>) {
    let mut state = CallState::new();
    state.set_safety(Safety::Idempotent);
    request.extensions_mut().insert(state);
}
