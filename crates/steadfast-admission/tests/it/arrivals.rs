//! What a server does about retries that arrive.

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use steadfast_admission::arrivals::{Arrivals, ArrivalsBody, ArrivalsConfig};
use steadfast_admission::{ArrivalsLayer, Mode};
use steadfast_core::{AttemptHeader, Event, Ratio, Reason};
use steadfast_kit::contract::{Inner, Subject, assert_contract};
use steadfast_kit::{Chunks, Probe};
use tower::util::BoxCloneService;
use tower::{Layer, Service, ServiceExt, service_fn};

mod reload;

type Server = BoxCloneService<Request<()>, Response<ArrivalsBody<Full<Bytes>>>, Infallible>;

fn server(config: ArrivalsConfig) -> Server {
    let answer = async |_: Request<()>| Ok(Response::new(Full::from("done")));
    ArrivalsLayer::new(config)
        .layer(service_fn(answer))
        .boxed_clone()
}

fn with(name: &str, value: &str) -> Request<()> {
    Request::post("/charges")
        .header(name, value)
        .body(())
        .unwrap()
}

fn first() -> Request<()> {
    with("steadfast-attempt", "1/3")
}

async fn status(server: &Server, request: Request<()>) -> u16 {
    let answer = server.clone().oneshot(request).await;
    answer.unwrap().status().as_u16()
}

/// So many first attempts, and then retries until one is refused: how many passed.
async fn until_refused(server: &Server, firsts: u32) -> u32 {
    for _ in 0..firsts {
        assert_eq!(status(server, first()).await, 200);
    }
    let mut passed = 0;
    while status(server, with("steadfast-attempt", "2/3")).await == 200 {
        passed += 1;
        assert!(passed < 10_000, "none is refused");
    }
    passed
}

#[tokio::test(start_paused = true)]
async fn retries_above_their_share_are_refused_and_first_attempts_never() {
    let server = server(ArrivalsConfig::default());
    assert_eq!(until_refused(&server, 80).await, 20, "20 of 100");
    for _ in 0..100 {
        assert_eq!(status(&server, first()).await, 200);
    }
    assert_eq!(
        status(&server, with("steadfast-attempt", "3/3")).await,
        200,
        "22 of 202"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_refused_below_the_minimum_and_what_is_old_is_forgotten() {
    let server = server(ArrivalsConfig::default());
    assert_eq!(until_refused(&server, 0).await, 19);
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert_eq!(until_refused(&server, 0).await, 19);
}

#[tokio::test(start_paused = true)]
async fn every_mark_counts_that_is_declared() {
    for (name, value) in [
        ("steadfast-attempt", "2/3"),
        ("x-envoy-attempt-count", "2"),
        ("grpc-previous-rpc-attempts", "1"),
        ("amz-sdk-request", "attempt=2; max=3"),
    ] {
        for (marks, refused) in [(&AttemptHeader::ALL[..], 503), (&[], 200)] {
            let config = ArrivalsConfig::default().with_marks(marks.iter().copied());
            let server = server(config);
            let mut last = 0;
            for _ in 0..20 {
                last = status(&server, with(name, value)).await;
            }
            assert_eq!(last, refused, "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_mark_that_cannot_be_read_is_none() {
    let server = server(ArrivalsConfig::default());
    for value in [
        "",
        "9",
        "9/3",
        "-1/3",
        "99999999999999/99999999999999",
        "2/3, 2/3",
    ] {
        for _ in 0..50 {
            assert_eq!(
                status(&server, with("steadfast-attempt", value)).await,
                200,
                "{value}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_says_do_not_retry_in_the_callers_protocol() {
    let server = server(ArrivalsConfig::default().with_share(Ratio::ZERO));
    for _ in 0..20 {
        status(&server, first()).await;
    }
    let refused = server
        .clone()
        .oneshot(with("steadfast-attempt", "2/3"))
        .await
        .unwrap();
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["x-should-retry"], "false");
    assert_eq!(
        refused.headers()["content-type"],
        "application/problem+json"
    );
    let body = refused.into_body().collect().await.unwrap().to_bytes();
    assert!(body.starts_with(b"{\"title\""));

    let mut grpc = with("grpc-previous-rpc-attempts", "1");
    let kind = http::HeaderValue::from_static("application/grpc+proto");
    grpc.headers_mut().insert("content-type", kind);
    let refused = server.oneshot(grpc).await.unwrap();
    assert_eq!(refused.status(), 200);
    assert_eq!(refused.headers()["grpc-status"], "14");
    assert_eq!(refused.headers()["grpc-retry-pushback-ms"], "-1");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_keeps_no_instance_reserved() {
    let config = ArrivalsConfig::default().with_minimum(NonZeroU32::MIN);
    let inner = Probe::<Request<()>, Response<Full<Bytes>>>::script([]);
    let mut server = ArrivalsLayer::new(config).layer(inner.clone());
    let retry = with("steadfast-attempt", "2/3");
    let refused = server.ready().await.unwrap().call(retry).await.unwrap();
    assert_eq!(refused.status(), 503);
    assert_eq!((inner.calls(), inner.reserved()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_shadow_refuses_nothing_and_tells_what_it_would() {
    let told = Arc::new(Mutex::new(0));
    let seen = told.clone();
    let config = ArrivalsConfig::default().with_mode(Mode::Shadow);
    let server = server(config.with_observer(move |event: &Event<'_>| {
        if let Event::AdmissionRefused(refused) = event {
            assert_eq!(
                (refused.reason, refused.enforced),
                (Reason::BudgetExhausted, false)
            );
            *seen.lock().unwrap() += 1;
        }
    }));
    for _ in 0..25 {
        assert_eq!(status(&server, with("steadfast-attempt", "2/3")).await, 200);
    }
    assert_eq!(*told.lock().unwrap(), 6);
}

struct Counted;

impl Subject for Counted {
    type Sent = Chunks;
    type Answer = ArrivalsBody<Chunks>;
    type Service = Arrivals<Inner<Chunks>>;
    type Layer = ArrivalsLayer;

    fn layer(&self) -> ArrivalsLayer {
        ArrivalsLayer::default()
    }

    fn extremes(&self) -> Vec<ArrivalsLayer> {
        let config = ArrivalsConfig::default;
        [Duration::ZERO, Duration::MAX]
            .map(|window| ArrivalsLayer::new(config().with_window(window)))
            .into()
    }
}

#[tokio::test(start_paused = true)]
async fn the_layer_keeps_every_promise_of_a_layer() {
    assert_contract(&Counted).await;
}
