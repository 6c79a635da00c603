//! Cooldown, bulkhead, fallback and a server's limit on retries among the other layers, in both
//! orders, on a paused clock.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use steadfast::admission::arrivals::ArrivalsConfig;
use steadfast::admission::bulkhead::BulkheadConfig;
use steadfast::admission::fallback::{Fell, FellBackFrom};
use steadfast::admission::{
    ArrivalsLayer, BreakerLayer, BulkheadLayer, CooldownLayer, FallbackLayer,
};
use steadfast::backoff::Jitter;
use steadfast::budget::RateBudget;
use steadfast::retry::{RetryConfig, RetryLayer};
use steadfast::{Backoff, BoxError, Failure, OwnerMark, Ratio, Reason, Report};
use tokio::time::{Instant, sleep};
use tower::{ServiceBuilder, ServiceExt, service_fn};

const SECOND: Duration = Duration::from_secs(1);

/// Three attempts, a second apart.
fn retry() -> RetryConfig {
    let backoff = Backoff::default().with_base(SECOND).with_cap(SECOND);
    RetryConfig::new()
        .with_backoff(backoff.with_jitter(Jitter::None))
        .with_budget(RateBudget::new(1_000, SECOND))
}

fn get() -> Request<Full<Bytes>> {
    Request::get("http://a.example/")
        .body(Full::default())
        .unwrap()
}

fn answer(status: u16) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::from("said"));
    *answer.status_mut() = http::StatusCode::from_u16(status).unwrap();
    answer
}

fn reason(error: &BoxError) -> Option<Reason> {
    Failure::find(&**error).and_then(|failure| failure.report().reason)
}

/// Inside retry the one who was told waits and is let through; all others are kept away meanwhile.
#[tokio::test(start_paused = true)]
async fn a_host_that_says_when_is_left_alone_by_every_caller() {
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = calls.clone();
    let client = ServiceBuilder::new()
        .layer(RetryLayer::new(retry()))
        .layer(CooldownLayer::default())
        .service(service_fn(move |_| {
            let first = seen.fetch_add(1, Ordering::Relaxed) == 0;
            async move {
                let mut told = answer(if first { 503 } else { 200 });
                if first {
                    told.headers_mut().insert("retry-after", 4.into());
                }
                Ok::<_, BoxError>(told)
            }
        }));
    let started = Instant::now();
    let told = tokio::spawn(client.clone().oneshot(get()));
    sleep(SECOND).await;
    let other = client.oneshot(get()).await.unwrap_err();
    assert_eq!(reason(&other), Some(Reason::Cooldown));
    assert_eq!(started.elapsed(), SECOND, "at once");
    assert_eq!(told.await.unwrap().unwrap().status(), 200);
    assert_eq!(started.elapsed(), 5 * SECOND, "the hint and the own wait");
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

/// The place is free while the call waits only if the bulkhead stands inside retry.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_next_attempt_holds_a_place_only_outside() {
    let one = || BulkheadLayer::new(BulkheadConfig::default().with_limit(NonZeroU32::MIN));
    let first_fails = || {
        let calls = Arc::new(AtomicUsize::new(0));
        service_fn(move |_| {
            let status = if calls.fetch_add(1, Ordering::Relaxed) == 0 {
                503
            } else {
                200
            };
            async move { Ok::<_, BoxError>(answer(status)) }
        })
    };
    let inside = ServiceBuilder::new()
        .layer(RetryLayer::new(retry()))
        .layer(one())
        .service(first_fails());
    let waits = tokio::spawn(inside.clone().oneshot(get()));
    sleep(SECOND / 2).await;
    assert_eq!(inside.oneshot(get()).await.unwrap().status(), 200);
    assert_eq!(waits.await.unwrap().unwrap().status(), 200);

    let outside = ServiceBuilder::new()
        .layer(one())
        .layer(RetryLayer::new(retry()))
        .service(first_fails());
    let waits = tokio::spawn(outside.clone().oneshot(get()));
    sleep(SECOND / 2).await;
    let refused = outside.oneshot(get()).await.unwrap_err();
    let refused = steadfast::Rejected::find(&*refused).unwrap();
    assert_eq!(refused.reason(), Reason::BulkheadFull);
    assert_eq!(waits.await.unwrap().unwrap().status(), 200);
}

/// A server with too many retries says so, and our client believes it.
#[tokio::test(start_paused = true)]
async fn a_client_stops_where_a_server_says_do_not_retry() {
    let handled = Arc::new(AtomicUsize::new(0));
    let seen = handled.clone();
    let none = ArrivalsConfig::default()
        .with_share(Ratio::ZERO)
        .with_minimum(NonZeroU32::new(2).unwrap());
    let client = ServiceBuilder::new()
        .layer(RetryLayer::new(
            retry().with_owner_mark(OwnerMark::default()),
        ))
        .layer(ArrivalsLayer::new(none))
        .service(service_fn(move |_| {
            seen.fetch_add(1, Ordering::Relaxed);
            async { Ok::<_, BoxError>(answer(503)) }
        }));
    let refused = client.oneshot(get()).await.unwrap();
    assert_eq!(refused.headers()["x-should-retry"], "false");
    let report = refused.extensions().get::<Report>().unwrap();
    assert_eq!(
        (report.attempts, report.reason),
        (2, Some(Reason::PeerSaidNo))
    );
    assert_eq!(handled.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_answers_for_a_circuit_that_is_open_and_says_so() {
    let breaker = BreakerLayer::default();
    breaker.handle().hold_open("a.example");
    let nothing_new = |fell: &Fell<'_>| {
        assert_eq!(fell.report().map(|report| report.attempts), Some(0));
        Response::new(Bytes::from_static(b"[]"))
    };
    let client = ServiceBuilder::new()
        .layer(FallbackLayer::new([Reason::CircuitOpen], nothing_new))
        .layer(RetryLayer::new(retry()))
        .layer(breaker)
        .service(service_fn(|_| async { Ok::<_, BoxError>(answer(200)) }));
    let stands_in = client.oneshot(get()).await.unwrap();
    let from = stands_in.extensions().get();
    assert_eq!(from, Some(&FellBackFrom(Reason::CircuitOpen)));
    let body = stands_in.into_body().collect().await.unwrap();
    assert_eq!(body.to_bytes(), "[]");
}

/// All four around one another, in the order of the README.
#[tokio::test(start_paused = true)]
async fn an_answer_passes_all_of_them_unchanged() {
    let fallback = FallbackLayer::new([], |_: &Fell<'_>| Response::new(Bytes::new()));
    let client = ServiceBuilder::new()
        .layer(fallback)
        .layer(RetryLayer::new(retry()))
        .layer(CooldownLayer::default())
        .layer(BulkheadLayer::default())
        .layer(BreakerLayer::default())
        .service(service_fn(|_| async { Ok::<_, BoxError>(answer(200)) }));
    let said = client.oneshot(get()).await.unwrap();
    assert!(said.extensions().is_empty());
    assert_eq!(said.into_body().collect().await.unwrap().to_bytes(), "said");
}
