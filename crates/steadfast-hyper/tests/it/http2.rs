use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use steadfast_core::{Delivery, Verdict};
use steadfast_hyper::LeafBody;
use steadfast_kit::{Script, ScriptedServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::wrapped::verdict;

const UNKNOWN: Verdict = Verdict::Transient(Delivery::Unknown);

// RFC 9113 §7.
const NO_ERROR: u8 = 0x0;
const INTERNAL_ERROR: u8 = 0x2;
const REFUSED_STREAM: u8 = 0x7;
const CANCEL: u8 = 0x8;
const ENHANCE_YOUR_CALM: u8 = 0xb;
const HTTP_1_1_REQUIRED: u8 = 0xd;

const HEADERS: u8 = 0x1;
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

/// RST_STREAM on the first stream.
fn reset(code: u8) -> Vec<u8> {
    vec![0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, code]
}

/// GOAWAY that names this stream as the last one processed.
fn go_away(last: u8, code: u8) -> Vec<u8> {
    vec![0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, last, 0, 0, 0, code]
}

/// The verdict on a request to a peer that answers its HEADERS with these bytes and then closes.
async fn after(frames: Vec<u8>) -> Verdict {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut peer = JoinSet::new();
    peer.spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&SETTINGS).await.unwrap();
        let mut preface = [0; 24];
        stream.read_exact(&mut preface).await.unwrap();
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head).await.unwrap();
            let length = usize::from(head[1]) << 8 | usize::from(head[2]);
            stream.read_exact(&mut vec![0; length]).await.unwrap();
            if head[3] == HEADERS {
                break;
            }
        }
        stream.write_all(&frames).await.unwrap();
        stream.shutdown().await.unwrap();
        // Everything that comes is read, so that the end is a close and no reset.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    });
    let verdict = ask(addr).await;
    peer.join_next().await.unwrap().unwrap();
    verdict
}

async fn ask(addr: SocketAddr) -> Verdict {
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http::<LeafBody>();
    let request = Request::post(format!("http://{addr}/pay"))
        .body(LeafBody::default())
        .unwrap();
    verdict(client.request(request).await.unwrap_err())
}

#[tokio::test]
async fn a_refused_stream_was_not_processed() {
    assert_eq!(after(reset(REFUSED_STREAM)).await, Verdict::Refused);
}

#[tokio::test]
async fn after_any_other_reset_nothing_is_known() {
    for code in [
        NO_ERROR,
        INTERNAL_ERROR,
        CANCEL,
        ENHANCE_YOUR_CALM,
        HTTP_1_1_REQUIRED,
    ] {
        assert_eq!(after(reset(code)).await, UNKNOWN, "{code:#x}");
    }
}

#[tokio::test]
async fn a_stream_above_the_last_of_a_graceful_goaway_was_not_processed() {
    assert_eq!(after(go_away(0, NO_ERROR)).await, Verdict::Refused);
}

#[tokio::test]
async fn a_stream_that_the_goaway_includes_may_have_been_processed() {
    assert_eq!(after(go_away(1, NO_ERROR)).await, UNKNOWN);
}

#[tokio::test]
async fn after_a_goaway_with_an_error_nothing_is_known() {
    for code in [INTERNAL_ERROR, REFUSED_STREAM, ENHANCE_YOUR_CALM] {
        assert_eq!(after(go_away(0, code)).await, UNKNOWN, "{code:#x}");
        assert_eq!(after(go_away(1, code)).await, UNKNOWN, "{code:#x}");
    }
}

#[tokio::test]
async fn a_connection_that_closes_says_nothing() {
    assert_eq!(after(Vec::new()).await, UNKNOWN);
}

#[tokio::test]
async fn a_request_that_http_2_cannot_carry_is_permanent() {
    let script = Script::new().write(SETTINGS.to_vec()).stall();
    let server = ScriptedServer::start([script]).await.unwrap();
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    let body = LeafBody::new(Full::new(Bytes::from("1234")));
    let request = Request::connect(server.url("")).body(body).unwrap();
    let error = client.request(request).await.unwrap_err();
    assert_eq!(verdict(error), Verdict::Permanent(Delivery::Unsent));
}
