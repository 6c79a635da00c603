//! Work that has expired is not begun.

use steadfast_core::in_context;
use steadfast_deadline::server::Mode;
use steadfast_kit::{Chunks, Piece};
use tower::Service;

use super::*;

#[tokio::test(start_paused = true)]
async fn expired_work_never_reaches_the_handler() {
    let handler: Handler = Probe::script([]);
    let got = send(&served(InboundConfig::new(), handler.clone()), waiting(0)).await;
    assert_eq!((got.status.as_u16(), got.after), (504, Duration::ZERO));
    assert_eq!(got.code().as_deref(), Some("deadline-expired"));

    let got = send(&served(InboundConfig::new(), handler.clone()), grpc("0n")).await;
    assert_eq!(
        (got.status.as_u16(), &got.headers["grpc-status"]),
        (200, &"4".parse().unwrap())
    );
    assert_eq!(got.headers["content-type"], "application/grpc");

    let config = InboundConfig::new().with_maximum(Duration::ZERO);
    let got = send(&served(config, handler.clone()), Request::new(())).await;
    assert_eq!(got.code().as_deref(), Some("deadline-expired"));

    let past = Deadline::at(Instant::now().into_std());
    tokio::time::advance(MS).await;
    let service = served(InboundConfig::new(), handler.clone());
    let context = CallContext::new().with_deadline(past);
    let got = in_context(context, send(&service, waiting(1000))).await;
    assert_eq!(got.code().as_deref(), Some("deadline-expired"));
    assert_eq!(handler.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_has_no_byte_of_its_body_read() {
    let body = Chunks::new([Piece::data("upload")]);
    let watch = body.watch();
    let handler = Probe::<Request<Chunks>, Response<Body>>::script([]);
    let mut service = served(InboundConfig::new(), handler.clone());
    let request = Request::post("/").header(ENVOY, 0).body(body).unwrap();
    let answer = service.ready().await.unwrap().call(request).await.unwrap();
    assert_eq!(answer.status(), 504);
    assert_eq!((watch.polled(), watch.dropped()), (0, 1));
    // What was reserved for it is for others.
    assert_eq!((handler.calls(), handler.reserved()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn measuring_refuses_and_cuts_nothing() {
    let log = Log::default();
    let config = InboundConfig::new()
        .with_mode(Mode::Measure)
        .with_observer(log.observer());
    for (told, takes, want) in [
        (
            0,
            5,
            vec![
                ("received", Some(0), 0, 0, false),
                ("refused", Some(0), 0, 0, false),
            ],
        ),
        (
            100,
            200,
            vec![
                ("received", Some(100), 0, 90, false),
                ("expired", Some(100), 200, 0, false),
            ],
        ),
        (
            100,
            50,
            vec![
                ("received", Some(100), 0, 90, false),
                ("met", Some(100), 50, 40, false),
            ],
        ),
    ] {
        let handler: Handler = Probe::script([Step::call(move |_| async move {
            assert_eq!(left(), None, "outbound calls are not cut either");
            tokio::time::sleep(takes * MS).await;
            Ok(ok())
        })]);
        let got = send(&served(config.clone(), handler), waiting(told)).await;
        assert_eq!((got.status.as_u16(), got.after), (200, takes * MS));
        assert_eq!(log.take(), want);
    }
}
