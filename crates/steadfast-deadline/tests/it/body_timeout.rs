use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::BodyExt;
use steadfast_core::{Cut, Elapsed};
use steadfast_deadline::{BodyTimeoutError, BodyTimeoutLayer, CallLimitLayer};
use steadfast_kit::{BodyWatch, Chunks, Piece, Probe, Step};
use tokio::sync::Notify;
use tokio::time::Instant;
use tower::{ServiceBuilder, ServiceExt};

use crate::{MS, due, in_time};

const GRPC: &str = "application/grpc";

/// A body that gives a byte every `pause` milliseconds, `frames` times, then stays silent or ends.
fn dripping(pause: u32, frames: usize, ends: bool) -> Chunks {
    let mut pieces = Vec::new();
    for _ in 0..frames {
        let notify = Arc::new(Notify::new());
        pieces.extend([Piece::Wait(Arc::clone(&notify)), Piece::data("x")]);
        let at = (pieces.len() / 2) as u32 * pause * MS;
        tokio::spawn(async move {
            tokio::time::sleep(at).await;
            notify.notify_one();
        });
    }
    pieces.extend((!ends).then_some(Piece::Never));
    Chunks::new(pieces)
}

/// How many frames came, when it ended, and by which limit.
struct Read {
    frames: usize,
    after: Duration,
    ended: Option<(Cut, Duration)>,
}

async fn read<B>(body: B) -> Read
where
    B: Body<Data = Bytes, Error = tower::BoxError>,
{
    let start = Instant::now();
    let mut body = std::pin::pin!(body);
    let (mut frames, mut ended) = (0, None);
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(_) => frames += 1,
            Err(error) => {
                let typed = error.downcast_ref::<BodyTimeoutError>().unwrap().elapsed();
                assert_eq!(Elapsed::find(&*error), Some(&typed));
                ended = Some((typed.cut(), typed.limit()));
            }
        }
    }
    assert!(body.is_end_stream() || ended.is_none());
    Read {
        frames,
        after: start.elapsed(),
        ended,
    }
}

async fn through(
    layer: BodyTimeoutLayer,
    request: Request<()>,
    answer: Response<Chunks>,
) -> (Read, BodyWatch) {
    let watch = answer.body().watch();
    let probe = Probe::script([Step::answer(answer)]);
    let client = ServiceBuilder::new()
        .layer(CallLimitLayer::new(100 * MS))
        .layer(layer)
        .service(probe);
    let answer = client.oneshot(request).await.unwrap();
    (read(answer.into_body()).await, watch)
}

fn grpc() -> Request<()> {
    let mut request = Request::new(());
    request
        .headers_mut()
        .insert(header::CONTENT_TYPE, GRPC.parse().unwrap());
    request
}

#[tokio::test(start_paused = true)]
async fn a_download_outlives_the_call_limit_while_bytes_flow() {
    let layer = BodyTimeoutLayer::default().with_idle(50 * MS);
    let answer = Response::new(dripping(40, 10, true));
    let (read, _) = through(layer, Request::new(()), answer).await;
    assert_eq!((read.frames, read.after, read.ended), (10, 400 * MS, None));
}

#[tokio::test(start_paused = true)]
async fn a_stalled_body_ends_by_the_idle_limit_and_is_let_go() {
    let layer = BodyTimeoutLayer::default().with_idle(50 * MS);
    let answer = Response::new(dripping(40, 3, false));
    let (read, watch) = through(layer, Request::new(()), answer).await;
    assert_eq!((read.frames, read.after), (3, 170 * MS));
    assert_eq!(read.ended, Some((Cut::BodyIdle, 50 * MS)));
    assert_eq!(watch.dropped(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_its_time_is_not_the_peers_silence() {
    let layer = BodyTimeoutLayer::default().with_idle(50 * MS);
    let answer = Response::new(dripping(40, 3, true));
    let probe = Probe::script([Step::answer(answer)]);
    let client = ServiceBuilder::new().layer(layer).service(probe);
    let mut body = client.oneshot(Request::new(())).await.unwrap().into_body();
    for _ in 0..3 {
        assert!(body.frame().await.unwrap().is_ok());
        tokio::time::sleep(1_000 * MS).await;
    }
    assert!(body.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_total_limit_ends_a_body_that_flows() {
    let layer = BodyTimeoutLayer::default().with_total(250 * MS);
    for pause in [40, 100] {
        let answer = Response::new(dripping(pause, 100, true));
        let (read, watch) = through(layer, Request::new(()), answer).await;
        assert_eq!(read.frames, (250 / pause) as usize);
        assert_eq!(read.after, 250 * MS);
        assert_eq!(read.ended, Some((Cut::BodyTotal, 250 * MS)));
        assert_eq!(watch.dropped(), 1);
    }
}

// Such a body never meets its timer: whoever floods would be read for ever.
#[tokio::test(start_paused = true)]
async fn a_total_limit_ends_a_body_that_never_pauses() {
    let layer = BodyTimeoutLayer::default().with_total(250 * MS);
    let answer = Response::new(Chunks::of(["x"; 1_000]));
    let probe = Probe::script([Step::answer(answer)]);
    let client = ServiceBuilder::new().layer(layer).service(probe);
    let mut body = client.oneshot(Request::new(())).await.unwrap().into_body();
    let mut frames = 0;
    while let Some(Ok(_)) = body.frame().await {
        frames += 1;
        tokio::time::advance(MS).await;
    }
    assert_eq!(frames, 251);
}

#[tokio::test(start_paused = true)]
async fn a_grpc_stream_ends_by_the_calls_deadline() {
    for by_answer in [false, true] {
        let mut answer = Response::new(dripping(40, 10, true));
        let request = if by_answer { Request::new(()) } else { grpc() };
        if by_answer {
            answer
                .headers_mut()
                .insert(header::CONTENT_TYPE, GRPC.parse().unwrap());
        }
        let (read, watch) = through(BodyTimeoutLayer::default(), request, answer).await;
        assert_eq!((read.frames, read.after), (2, 100 * MS));
        assert_eq!(read.ended, Some((Cut::Deadline, 100 * MS)));
        assert_eq!(watch.dropped(), 1);
    }
}

// The reader looks late: the end of the stream is news worth having, more of its middle is not.
#[tokio::test(start_paused = true)]
async fn past_the_deadline_trailers_that_are_there_pass_and_data_do_not() {
    for (last, passes) in [
        (Piece::trailer("grpc-status", "0"), true),
        (Piece::data("y"), false),
    ] {
        let body = Chunks::new([Piece::data("x"), last]);
        let probe = Probe::script([Step::answer(Response::new(body))]);
        let client = ServiceBuilder::new()
            .layer(CallLimitLayer::new(100 * MS))
            .layer(BodyTimeoutLayer::default())
            .service(probe);
        let mut body = client.oneshot(grpc()).await.unwrap().into_body();
        assert!(body.frame().await.unwrap().is_ok());
        tokio::time::advance(101 * MS).await;
        assert_eq!(body.frame().await.unwrap().is_ok(), passes);
    }
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_is_left_alone() {
    let layer = BodyTimeoutLayer::default()
        .with_idle(5 * MS)
        .with_total(10 * MS);
    for (method, status, exempt) in [
        (Method::GET, StatusCode::SWITCHING_PROTOCOLS, true),
        (Method::CONNECT, StatusCode::OK, true),
        (
            Method::CONNECT,
            StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            false,
        ),
        (Method::GET, StatusCode::OK, false),
    ] {
        let mut answer = Response::new(dripping(40, 10, true));
        *answer.status_mut() = status;
        let mut request = Request::new(());
        *request.method_mut() = method;
        let (read, _) = through(layer, request, answer).await;
        assert_eq!(read.ended.is_none(), exempt, "{status}");
        assert_eq!(read.frames, if exempt { 10 } else { 0 });
    }
}

// O-07, and a deadline that came while the head was on its way.
#[tokio::test(start_paused = true)]
async fn extreme_limits_neither_panic_nor_cut_what_is_there() {
    for limit in [
        Duration::MAX,
        Duration::from_secs(u64::MAX),
        Duration::from_nanos(1),
    ] {
        let layer = BodyTimeoutLayer::default()
            .with_idle(limit)
            .with_total(limit);
        let answer = Response::new(Chunks::of(["a", "b"]));
        let (read, _) = through(layer, Request::new(()), answer).await;
        assert_eq!((read.frames, read.ended), (2, None), "{limit:?}");
        let answer = Response::new(dripping(1_000_000, 1, true));
        let (read, _) = through(layer, Request::new(()), answer).await;
        assert_eq!(read.frames, usize::from(limit > MS), "{limit:?}");
    }
    let layer = BodyTimeoutLayer::default().with_idle(Duration::ZERO);
    let (read, _) = through(layer, Request::new(()), Response::new(dripping(1, 1, true))).await;
    assert_eq!(read.ended, Some((Cut::BodyIdle, Duration::ZERO)));
    let mut request = grpc();
    *request.extensions_mut() = due(in_time(Duration::ZERO)).into_parts().0.extensions;
    let probe = Probe::script([Step::answer(Response::new(dripping(1, 1, true)))]);
    let client = ServiceBuilder::new()
        .layer(BodyTimeoutLayer::default())
        .service(probe);
    let late = self::read(client.oneshot(request).await.unwrap().into_body()).await;
    assert_eq!(late.ended, Some((Cut::Deadline, Duration::ZERO)));
}
