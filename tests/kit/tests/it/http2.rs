//! The HTTP/2 peer against hyper's client.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client, Error, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use steadfast_kit::{ErrorCode, Http2Server, Reply};

type Http2 = Client<HttpConnector, Full<Bytes>>;

fn client() -> Http2 {
    Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http()
}

async fn post(
    client: &Http2,
    server: &Http2Server,
    body: impl Into<Bytes>,
) -> Result<Response<Incoming>, Error> {
    let request = Request::post(server.url("/"))
        .body(Full::new(body.into()))
        .unwrap();
    client.request(request).await
}

fn reason(error: &Error) -> h2::Reason {
    let mut cause: &dyn std::error::Error = error;
    loop {
        if let Some(error) = cause.downcast_ref::<h2::Error>() {
            return error.reason().unwrap();
        }
        cause = cause.source().unwrap();
    }
}

#[tokio::test]
async fn requests_are_recorded_and_answered_in_order_on_one_connection() {
    let long = "x".repeat(100_000);
    let replies = [
        Reply::answer(201, &[("x-name", "value")], long.clone()),
        Reply::answer(204, &[], ""),
    ];
    let server = Http2Server::start(replies).await.unwrap();
    let client = client();
    // Above every initial window, so the server's credit is needed.
    let sent = Bytes::from(vec![b'y'; 200_000]);
    let answer = post(&client, &server, sent.clone()).await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["x-name"]),
        (201, &"value".parse().unwrap())
    );
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), long);
    assert_eq!(post(&client, &server, "").await.unwrap().status(), 204);
    let seen = server.requests();
    assert_eq!((seen.len(), server.connections()), (2, 1));
    assert_eq!((seen[0].stream, seen[1].stream), (1, 3));
    assert!(seen[0].ended && seen[0].body == sent);
}

#[tokio::test]
async fn trailers_and_answers_of_a_head_only_are_as_told() {
    let replies = [
        Reply::answer_with_trailers(200, &[], "data", &[("grpc-status", "14")]),
        Reply::head_only(200, &[("grpc-status", "8")]),
    ];
    let server = Http2Server::start(replies).await.unwrap();
    let client = client();
    let answer = post(&client, &server, "")
        .await
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap();
    assert_eq!(answer.trailers().unwrap()["grpc-status"], "14");
    assert_eq!(answer.to_bytes(), "data");
    let answer = post(&client, &server, "").await.unwrap();
    assert_eq!(answer.headers()["grpc-status"], "8");
    assert!(http_body::Body::is_end_stream(answer.body()));
}

#[tokio::test]
async fn resets_and_goaways_carry_their_codes() {
    let replies = [
        Reply::reset(ErrorCode::REFUSED_STREAM).early(),
        Reply::reset(ErrorCode(0x2a)),
        Reply::go_away(2, ErrorCode::ENHANCE_YOUR_CALM).and_close(),
    ];
    let server = Http2Server::start(replies).await.unwrap();
    let client = client();
    for code in [
        h2::Reason::REFUSED_STREAM,
        0x2a.into(),
        h2::Reason::ENHANCE_YOUR_CALM,
    ] {
        let error = post(&client, &server, "body").await.unwrap_err();
        assert_eq!(reason(&error), code);
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn an_answer_is_cut_where_it_was_told() {
    let server = Http2Server::start([Reply::cut(200, "half", ErrorCode::CANCEL)])
        .await
        .unwrap();
    let client = client();
    let mut body = post(&client, &server, "").await.unwrap().into_body();
    assert_eq!(
        body.frame().await.unwrap().unwrap().into_data().unwrap(),
        "half"
    );
    assert!(body.frame().await.unwrap().is_err());
}
