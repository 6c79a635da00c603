//! The client stack.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use steadfast::admission::Mode;
use steadfast::client::{Draft, Policy, Profile, Standard, StandardLayer};
use steadfast::idempotency::OperationKey;
use steadfast::idempotency::client::Routes;
use steadfast::retry::ReplayBody;
use steadfast::{BoxError, CircuitState, Failure, Outcome, Reason, Rejected, Report};
use tower::{Layer, Service, ServiceExt, service_fn};

type Sent = Request<ReplayBody<Full<Bytes>>>;
type Answer = Result<Response<Full<Bytes>>, BoxError>;

/// A service whose answers are a function of how often it was called, from 1.
pub(crate) fn scripted<F>(
    answer: F,
) -> impl Service<Sent, Response = Response<Full<Bytes>>, Error = BoxError, Future: Send> + Clone + Send
where
    F: Fn(u32, Sent) -> Answer + Clone + Send + Sync + 'static,
{
    let calls = Arc::new(AtomicU32::new(0));
    service_fn(move |request: Sent| {
        let answer = answer(calls.fetch_add(1, Ordering::Relaxed) + 1, request);
        async move { answer }
    })
}

pub(crate) fn status(status: u16) -> Answer {
    let answer = Response::builder().status(status);
    Ok(answer.body(Full::from("said")).unwrap())
}

pub(crate) fn get(uri: &str) -> Request<Full<Bytes>> {
    Request::get(uri).body(Full::default()).unwrap()
}

fn post(uri: &str) -> Request<Full<Bytes>> {
    Request::post(uri).body(Full::from("{}")).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_failed_read_is_repeated_and_tells_the_time_left() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = heard.clone();
    let client = StandardLayer::default().layer(scripted(move |nth, request| {
        let told = request.headers()["x-envoy-expected-rq-timeout-ms"].to_str();
        hear.lock()
            .unwrap()
            .push(told.unwrap().parse::<u64>().unwrap());
        status(if nth == 1 { 503 } else { 200 })
    }));
    let answer = client.oneshot(get("http://a.example/")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.extensions().get::<Report>().unwrap().attempts, 2);
    assert_eq!(
        answer.into_body().collect().await.unwrap().to_bytes(),
        "said"
    );
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 2);
    assert!(
        heard.iter().all(|told| *told <= 10_000),
        "an attempt's time: {heard:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_write_is_repeated_where_keys_are_honoured_and_nowhere_else() {
    let routes = Routes::new().post("payments.example", "/charges").unwrap();
    let policy = Draft::of(Profile::InteractiveWrite).with_key_routes(routes);
    let layer = StandardLayer::new(policy.check().unwrap());
    let keys = Arc::new(Mutex::new(Vec::new()));
    let seen = keys.clone();
    let client = layer.layer(scripted(move |nth, request| {
        seen.lock()
            .unwrap()
            .push(request.headers().get("idempotency-key").cloned());
        status(if nth % 2 == 1 { 502 } else { 201 })
    }));
    let charge = client
        .clone()
        .oneshot(post("http://payments.example/charges"));
    assert_eq!(charge.await.unwrap().status(), StatusCode::CREATED);
    let sent = std::mem::take(&mut *keys.lock().unwrap());
    assert_eq!(sent.len(), 2);
    assert!(sent[0].is_some() && sent[0] == sent[1], "one key for both");

    let refund = client
        .oneshot(post("http://payments.example/refunds"))
        .await
        .unwrap();
    assert_eq!(refund.status(), StatusCode::BAD_GATEWAY);
    let report = refund.extensions().get::<Report>().unwrap();
    assert_eq!(
        (report.attempts, report.reason),
        (1, Some(Reason::Unprotected))
    );
    assert_eq!(report.outcome, Outcome::Unknown);
    assert_eq!(*keys.lock().unwrap(), [None]);
}

#[tokio::test(start_paused = true)]
async fn a_payment_without_its_own_key_is_not_sent() {
    let routes = Routes::new().any_write("payments.example").unwrap();
    let policy = Draft::of(Profile::Payment).with_key_routes(routes).check();
    let client = StandardLayer::new(policy.unwrap()).layer(scripted(|_, _| status(201)));
    let refused = client
        .clone()
        .oneshot(post("http://payments.example/charges"));
    let error = refused.await.unwrap_err();
    assert_eq!(
        Rejected::find(&*error).unwrap().reason(),
        Reason::KeyRequired
    );
    let mut charge = post("http://payments.example/charges");
    charge
        .extensions_mut()
        .insert(OperationKey::parse("order-7").unwrap());
    assert_eq!(
        client.oneshot(charge).await.unwrap().status(),
        StatusCode::CREATED
    );
}

#[tokio::test(start_paused = true)]
async fn a_destination_that_fails_is_left_alone_and_the_others_are_not() {
    let layer = StandardLayer::default();
    let client = layer.layer(scripted(|_, request| {
        status(if request.uri().host() == Some("b.example") {
            200
        } else {
            500
        })
    }));
    for _ in 0..20 {
        let _ = client.clone().oneshot(get("http://a.example/")).await;
    }
    assert_eq!(
        layer.handle().breaker().state("a.example"),
        CircuitState::Open
    );
    let error = client
        .clone()
        .oneshot(get("http://a.example/"))
        .await
        .unwrap_err();
    assert_eq!(
        Rejected::find(&*error).unwrap().reason(),
        Reason::CircuitOpen
    );
    assert_eq!(
        Failure::find(&*error).unwrap().report().outcome,
        Outcome::NotApplied
    );
    assert!(
        client
            .oneshot(get("http://b.example/"))
            .await
            .unwrap()
            .status()
            .is_success()
    );
}

#[tokio::test(start_paused = true)]
async fn attempts_that_hang_end_with_their_own_time_and_the_call_with_its() {
    let policy = Policy::try_from(Profile::InteractiveRead).unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let seen = calls.clone();
    let hangs = service_fn(move |_: Sent| {
        seen.fetch_add(1, Ordering::Relaxed);
        std::future::pending::<Answer>()
    });
    let client = StandardLayer::new(policy).layer(hangs);
    let started = tokio::time::Instant::now();
    let error = client.oneshot(get("http://a.example/")).await.unwrap_err();
    assert!(
        started.elapsed() <= Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(
        Failure::find(&*error).unwrap().report().outcome,
        Outcome::Unknown
    );
    // The budget of one call is one retry.
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn places_are_held_to_the_end_of_the_body() {
    let one = NonZeroU32::MIN;
    let draft = Draft::of(Profile::Default);
    let bulkhead = draft.bulkhead().clone().with_limit(one);
    let layer = StandardLayer::new(draft.with_bulkhead(bulkhead).check().unwrap());
    let client = layer.layer(scripted(|_, _| status(200)));
    let first = client
        .clone()
        .oneshot(get("http://a.example/"))
        .await
        .unwrap();
    assert_eq!(layer.handle().bulkhead().in_flight("a.example"), 1);
    let error = client
        .clone()
        .oneshot(get("http://a.example/"))
        .await
        .unwrap_err();
    assert_eq!(
        Rejected::find(&*error).unwrap().reason(),
        Reason::BulkheadFull
    );
    first.into_body().collect().await.unwrap();
    assert!(client.oneshot(get("http://a.example/")).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn everything_off_is_the_service_itself() {
    let draft = Draft::of(Profile::Default);
    let bulkhead = draft.bulkhead().clone().with_mode(Mode::Off);
    let breaker = draft.breaker().clone().with_mode(Mode::Off);
    let cooldown = draft.cooldown().clone().with_mode(Mode::Off);
    let propagation = draft.propagation().clone().with_headers([]);
    let off = draft
        .with_call_limit(Duration::MAX)
        .with_attempt_timeout(Duration::MAX)
        .with_max_attempts(NonZeroU32::MIN)
        .with_bulkhead(bulkhead)
        .with_breaker(breaker)
        .with_cooldown(cooldown)
        .with_propagation(propagation);
    let layer = StandardLayer::new(off.check().unwrap());
    let client = layer.layer(scripted(|_, request| {
        assert!(request.headers().is_empty());
        status(503)
    }));
    for _ in 0..100 {
        let answer = client
            .clone()
            .oneshot(get("http://a.example/"))
            .await
            .unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(
        layer.handle().breaker().circuits(),
        0,
        "no destination was looked up"
    );
}

#[tokio::test(start_paused = true)]
async fn layers_clones_and_services_share_one_state() {
    let layer = StandardLayer::default();
    let (one, other) = (layer.clone(), layer.clone());
    layer.handle().breaker().hold_open("a.example");
    for layer in [one, other, layer] {
        let client = layer.layer(scripted(|_, _| status(200)));
        let error = client.oneshot(get("http://a.example/")).await.unwrap_err();
        assert_eq!(
            Rejected::find(&*error).unwrap().reason(),
            Reason::CircuitOpen
        );
    }
    let apart = StandardLayer::default().layer(scripted(|_, _| status(200)));
    assert!(apart.oneshot(get("http://a.example/")).await.is_ok());
}

/// What a user does with a client: names its type, keeps it in a struct, clones it, boxes it.
#[tokio::test(start_paused = true)]
async fn its_type_can_be_named_kept_and_boxed() {
    #[derive(Clone)]
    struct Api<S> {
        client: Standard<S>,
    }
    fn kept<T: Clone + Send + Sync + Unpin + 'static>(_: &T) {}
    let client = StandardLayer::default().layer(scripted(|_, _| status(200)));
    let boxed = tower::util::BoxCloneSyncService::new(
        StandardLayer::default().layer(service_fn(async |_: Sent| status(204))),
    );
    let api = Api { client };
    let answer = api
        .clone()
        .client
        .oneshot(get("http://a.example/"))
        .await
        .unwrap();
    assert!(answer.status().is_success());
    assert_eq!(
        boxed
            .oneshot(get("http://a.example/"))
            .await
            .unwrap()
            .status(),
        204
    );
    kept(&StandardLayer::default().layer(std::sync::Arc::new(())));
    kept(&StandardLayer::default());
    kept(&StandardLayer::default().handle());
}
