//! A peer that writes raw frames: what HTTP/2 itself says of a call.

use bytes::Bytes;
use steadfast_core::{CallState, Outcome, Reason, Safety};
use steadfast_greeter::HelloRequest;
use steadfast_kit::{ErrorCode, Http2Server, Reply};
use tonic::{Code, Request};

use crate::greeter::channel;
use crate::peer::*;

const KIND: (&str, &str) = ("content-type", "application/grpc");

/// `HelloReply { text: "hi" }` in its frame.
pub(crate) fn hi() -> Bytes {
    Bytes::from_static(&[0, 0, 0, 0, 4, 0x0a, 2, b'h', b'i'])
}

fn ok() -> Reply {
    Reply::answer_with_trailers(200, &[KIND], hi(), &[("grpc-status", "0")])
}

fn refused() -> Reply {
    Reply::reset(ErrorCode::REFUSED_STREAM)
}

async fn server(
    replies: impl IntoIterator<Item = Reply>,
) -> (Http2Server, tonic::transport::Channel) {
    let server = Http2Server::start(replies).await.unwrap();
    let channel = channel(&server.url(""));
    (server, channel)
}

/// O-13, O-16: gRFC A6's transparent retry, whatever the method.
#[tokio::test]
async fn a_refused_stream_is_sent_again_whole_though_nobody_declared_the_method() {
    let (server, channel) = server([refused(), ok()]).await;
    let mut client = client(channel, config());
    let answer = client.say_hello(hello()).await.unwrap();
    assert_eq!(answer.into_inner().text, "hi");
    let seen = server.requests();
    assert_eq!(seen.len(), 2);
    assert_eq!(
        &seen[1].body[..],
        &[0, 0, 0, 0, 5, 0x0a, 3, b'y', b'o', b'u'],
        "whole"
    );
}

/// O-13.
#[tokio::test]
async fn a_stream_above_the_last_of_a_goaway_is_sent_again() {
    let goes = Reply::go_away(0, ErrorCode::NO_ERROR).and_close();
    let (server, channel) = server([goes, ok()]).await;
    let mut client = client(channel, config());
    let answer = client.say_hello(hello()).await.unwrap();
    assert_eq!(answer.into_inner().text, "hi");
    assert_eq!((server.requests().len(), server.connections()), (2, 2));
}

#[tokio::test]
async fn a_peer_that_refuses_for_ever_is_asked_one_time_more_than_configured() {
    let (server, channel) = server((0..9).map(|_| refused())).await;
    let mut client = client(channel, config());
    let status = client.say_hello(hello()).await.unwrap_err();
    assert_eq!(
        (status.code(), server.requests().len()),
        (Code::Unavailable, 4)
    );
    assert_eq!(
        (report(&status).attempts, report(&status).outcome),
        (3, Outcome::NotApplied)
    );
}

#[tokio::test]
async fn another_reset_is_repeated_only_where_the_method_was_declared() {
    for (request, calls) in [(hello(), 1), (idempotent(), 2)] {
        let (server, channel) = server([Reply::reset(ErrorCode::INTERNAL_ERROR), ok()]).await;
        let answered = client(channel, config()).say_hello(request).await;
        assert_eq!(
            (server.requests().len(), answered.is_ok()),
            (calls, calls == 2)
        );
        if let Err(status) = answered {
            assert_eq!(reason(&status), Some(Reason::Unprotected));
            assert_eq!(report(&status).outcome, Outcome::Unknown);
        }
    }
}

/// O-22, O-24: a head without a status, no message, and all of it in the trailers.
#[tokio::test]
async fn pushback_in_late_trailers_replaces_the_wait_or_ends_the_call() {
    for (pushback, calls) in [("0", 2), ("20", 2), ("-1", 1), ("garbage", 1)] {
        let late = Reply::answer_with_trailers(
            200,
            &[KIND],
            "",
            &[("grpc-status", "14"), ("grpc-retry-pushback-ms", pushback)],
        );
        let (server, channel) = server([late, ok()]).await;
        let answered = client(channel, config()).say_hello(idempotent()).await;
        assert_eq!(server.requests().len(), calls, "{pushback}");
        assert_eq!(answered.is_ok(), calls == 2, "{pushback}");
        if let Err(status) = answered {
            assert_eq!(status.code(), Code::Unavailable, "{pushback}");
        }
    }
}

#[tokio::test]
async fn trailers_only_answers_are_read_in_their_head() {
    let no = Reply::head_only(
        200,
        &[KIND, ("grpc-status", "14"), ("grpc-message", "later")],
    );
    let (server, channel) = server([no, ok()]).await;
    let answer = client(channel, config())
        .say_hello(idempotent())
        .await
        .unwrap();
    assert_eq!(
        (&*answer.into_inner().text, server.requests().len()),
        ("hi", 2)
    );
}

/// O-20: an answer that breaks after its first byte begins nothing again.
#[tokio::test]
async fn an_answer_that_breaks_after_data_is_an_error() {
    let broken = Reply::cut(200, hi().slice(..6), ErrorCode::INTERNAL_ERROR);
    let (server, channel) = server([broken, ok()]).await;
    let status = client(channel, config())
        .say_hello(idempotent())
        .await
        .unwrap_err();
    assert_ne!(status.code(), Code::Ok);
    assert_eq!(server.requests().len(), 1);
}

/// The second attempt is answered while it is still being sent; the answer is taken.
#[tokio::test]
async fn an_answer_that_comes_before_the_repeat_is_sent_whole_is_taken() {
    let no = Reply::head_only(200, &[KIND, ("grpc-status", "14")]);
    let (server, channel) = server([no, ok().early()]).await;
    let questions = ["a", "b", "c"].map(|name| HelloRequest {
        name: name.to_owned(),
    });
    let mut request = Request::new(tokio_stream::iter(questions));
    let mut state = CallState::new();
    state.set_safety(Safety::Idempotent);
    request.extensions_mut().insert(state);
    let answer = client(channel, config()).collect(request).await.unwrap();
    assert_eq!(
        (&*answer.into_inner().text, server.requests().len()),
        ("hi", 2)
    );
}
