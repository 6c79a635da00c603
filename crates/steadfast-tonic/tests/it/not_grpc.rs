//! Answers of something that is no gRPC server.

use steadfast_core::grpc::Code as Core;
use steadfast_kit::{Http2Server, Reply};
use steadfast_tonic::{NotGrpc, code_of_http};
use tonic::Code;

use crate::greeter::channel;
use crate::peer::*;
use crate::transport::hi;

const PAGE: (&str, &str) = ("content-type", "text/html");

#[test]
fn statuses_map_as_grpcs_own_list_says() {
    for status in 100..600 {
        let want = match status {
            400 => Core::Internal,
            401 => Core::Unauthenticated,
            403 => Core::PermissionDenied,
            404 => Core::Unimplemented,
            429 | 502 | 503 | 504 => Core::Unavailable,
            _ => Core::Unknown,
        };
        let status = http::StatusCode::from_u16(status).unwrap();
        assert_eq!(code_of_http(status), want, "{status}");
    }
}

#[tokio::test]
async fn a_gateways_page_is_the_code_of_its_status() {
    for (status, code, calls) in [
        (400, Code::Internal, 1),
        (401, Code::Unauthenticated, 1),
        (403, Code::PermissionDenied, 1),
        (404, Code::Unimplemented, 1),
        (200, Code::Unknown, 1),
        (500, Code::Unknown, 1),
        (429, Code::Unavailable, 3),
        (502, Code::Unavailable, 3),
        (503, Code::Unavailable, 3),
        (504, Code::Unavailable, 3),
    ] {
        let page = || Reply::answer(status, &[PAGE], "<h1>no</h1>");
        let server = Http2Server::start((0..9).map(|_| page())).await.unwrap();
        let mut client = client(channel(&server.url("")), config());
        let failed = client.say_hello(idempotent()).await.unwrap_err();
        assert_eq!(
            (failed.code(), server.requests().len()),
            (code, calls),
            "{status}"
        );
        let cause = steadfast_core::chain(&failed).find_map(|it| it.downcast_ref::<NotGrpc>());
        assert_eq!(cause.map(|cause| cause.status().as_u16()), Some(status));
    }
}

#[tokio::test]
async fn a_gateway_that_is_back_is_asked_again() {
    let gone = Reply::answer(503, &[PAGE, ("retry-after", "0")], "<h1>no</h1>");
    let kind = ("content-type", "application/grpc");
    let ok = Reply::answer_with_trailers(200, &[kind], hi(), &[("grpc-status", "0")]);
    let server = Http2Server::start([gone, ok]).await.unwrap();
    let mut client = client(channel(&server.url("")), config());
    let answer = client.say_hello(idempotent()).await.unwrap();
    assert_eq!(
        (&*answer.into_inner().text, server.requests().len()),
        ("hi", 2)
    );
}
