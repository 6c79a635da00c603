//! How far does a deadline reach into an answer?

use steadfast_core::BoxError;
use steadfast_kit::{Chunks, Piece};

use super::*;

/// A silence of this length.
fn wait(silence: Duration) -> Piece {
    let over = Arc::new(tokio::sync::Notify::new());
    let notify = Arc::clone(&over);
    tokio::spawn(async move {
        tokio::time::sleep(silence).await;
        notify.notify_one();
    });
    Piece::Wait(over)
}

fn streaming(pieces: impl IntoIterator<Item = Piece>) -> Probe<Request<()>, Response<Chunks>> {
    Probe::script([Step::answer(Response::new(Chunks::new(pieces)))])
}

#[tokio::test(start_paused = true)]
async fn a_download_goes_on_after_the_deadline() {
    let pieces = [Piece::data("a"), wait(500 * MS), Piece::data("b")];
    let service = served(InboundConfig::new(), streaming(pieces));
    let answer = service.oneshot(waiting(100)).await.unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "ab");
}

#[tokio::test(start_paused = true)]
async fn a_grpc_stream_ends_by_its_deadline_with_trailers_and_drops_its_source() {
    let body = Chunks::new([Piece::data("a"), wait(500 * MS), Piece::data("b")]);
    let watch = body.watch();
    let handler = Probe::<_, _>::script([Step::answer(Response::new(body))]);
    let before = Instant::now();
    let answer = served(InboundConfig::new(), handler)
        .oneshot(grpc("100m"))
        .await
        .unwrap();
    let mut body = std::pin::pin!(answer.into_body());
    let first: Result<_, BoxError> = body.frame().await.unwrap();
    assert_eq!(first.unwrap().into_data().unwrap(), "a");
    let last = body
        .frame()
        .await
        .unwrap()
        .unwrap()
        .into_trailers()
        .unwrap();
    assert_eq!(
        (&last["grpc-status"], before.elapsed()),
        (&"4".parse().unwrap(), 90 * MS)
    );
    assert_eq!(watch.dropped(), 1);
    assert!(body.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_grpc_stream_in_time_keeps_its_own_trailers() {
    let pieces = [
        Piece::data("a"),
        wait(50 * MS),
        Piece::trailer("grpc-status", "0"),
    ];
    let service = served(InboundConfig::new(), streaming(pieces));
    let answer = service.oneshot(grpc("100m")).await.unwrap();
    let collected = answer.into_body().collect().await.unwrap();
    assert_eq!(collected.trailers().unwrap()["grpc-status"], "0");
    assert_eq!(collected.to_bytes(), "a");
}

/// A gRPC-Web call of 100 ms whose stream falls silent for longer, and what its reader got.
async fn web_stream(kind: &'static str) -> (Duration, http_body_util::Collected<bytes::Bytes>) {
    let pieces = [Piece::data("a"), wait(500 * MS), Piece::data("b")];
    let mut answer = Response::new(Chunks::new(pieces));
    answer
        .headers_mut()
        .insert("content-type", kind.parse().unwrap());
    let mut request = grpc("100m");
    request
        .headers_mut()
        .insert("content-type", kind.parse().unwrap());
    let before = Instant::now();
    let service = served(InboundConfig::new(), Probe::script([Step::answer(answer)]));
    let answer = service.oneshot(request).await.unwrap();
    let collected = answer.into_body().collect().await.unwrap();
    (before.elapsed(), collected)
}

#[tokio::test(start_paused = true)]
async fn a_grpc_web_stream_ends_with_a_frame_that_browsers_can_read() {
    let (took, stream) = web_stream("application/grpc-web+proto").await;
    assert_eq!(took, 90 * MS);
    assert!(stream.trailers().is_none());
    let bytes = stream.to_bytes();
    let lines = "grpc-status:4\r\n\
                 grpc-message:the deadline passed before the handler had answered\r\n";
    let mut want = b"a\x80\0\0\0".to_vec();
    want.push(lines.len().try_into().unwrap());
    want.extend(lines.as_bytes());
    assert_eq!(bytes, want);
}

#[tokio::test(start_paused = true)]
async fn a_grpc_web_stream_in_base64_is_left_alone() {
    let (took, stream) = web_stream("application/grpc-web-text+proto").await;
    assert_eq!((took, &*stream.to_bytes()), (500 * MS, &b"ab"[..]));
}
