use std::collections::HashSet;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use steadfast_core::{Attempt, BoxError, CallKey, CallState, Deadline, Reason, Rejected};
use steadfast_idempotency::client::{
    KeyClash, KeyConfig, KeyLayer, KeySource, ResponseFuture, Route, Routes,
};
use steadfast_idempotency::{IDEMPOTENCY_KEY, KeyFormat, OperationKey};
use tokio::time::Instant;
use tower::{Layer, Service, ServiceExt};

type Call = Request<&'static str>;
type Seen = Arc<Mutex<Vec<Call>>>;

/// A peer that keeps what reaches it.
#[derive(Clone, Default)]
struct Peer(Seen);

impl Service<Call> for Peer {
    type Response = Response<()>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Response<()>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Call) -> Self::Future {
        self.0.lock().unwrap().push(request);
        std::future::ready(Ok(Response::new(())))
    }
}

impl Peer {
    fn seen(&self) -> Vec<Call> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn keys(&self) -> Vec<String> {
        self.seen().iter().map(key).collect()
    }
}

fn key(request: &Call) -> String {
    request.headers()[IDEMPOTENCY_KEY]
        .to_str()
        .unwrap()
        .trim_matches('"')
        .to_owned()
}

fn mark(request: &Call) -> Option<&CallKey> {
    CallState::of(request.extensions()).and_then(CallState::key)
}

fn payments() -> KeyConfig {
    KeyConfig::new(Routes::new().post("payments.example", "/charges").unwrap())
}

fn charge() -> Call {
    Request::post("https://payments.example/charges")
        .body("amount=1")
        .unwrap()
}

fn with_header(mut request: Call, value: &'static str) -> Call {
    request
        .headers_mut()
        .append(IDEMPOTENCY_KEY, HeaderValue::from_static(value));
    request
}

fn with_operation(mut request: Call, key: &str) -> Call {
    request
        .extensions_mut()
        .insert(OperationKey::parse(key).unwrap());
    request
}

/// What reaches the peer when `request` is sent through a layer of `config`.
async fn sent(config: KeyConfig, request: Call) -> Call {
    let peer = Peer::default();
    KeyLayer::new(config)
        .layer(peer.clone())
        .oneshot(request)
        .await
        .unwrap();
    peer.seen().remove(0)
}

/// Sends three times what it is given, as a retry layer does after a 429 and a reset.
#[derive(Clone)]
struct ThreeAttempts<S>(S);

impl<S> Service<Call> for ThreeAttempts<S>
where
    S: Service<Call, Response = Response<()>, Error: Into<BoxError>> + Clone + 'static,
{
    type Response = Response<()>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<()>, BoxError>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Call) -> Self::Future {
        let inner = self.0.clone();
        Box::pin(async move {
            let max = 3;
            for number in 1..=max {
                let mut copy = request.clone();
                let attempt = Attempt { number, max };
                CallState::edit(copy.extensions_mut(), |state| state.set_attempt(attempt));
                inner.clone().oneshot(copy).await.map_err(Into::into)?;
            }
            Ok(Response::new(()))
        })
    }
}

/// O-35.
#[tokio::test]
async fn all_attempts_of_a_call_carry_one_key() {
    let peer = Peer::default();
    let client = KeyLayer::new(payments()).layer(ThreeAttempts(peer.clone()));
    for request in [
        charge(),
        with_header(charge(), "mine"),
        with_operation(charge(), "order-7"),
    ] {
        let clone = client.clone();
        clone.oneshot(request).await.unwrap();
        let keys = peer.keys();
        assert_eq!(keys.len(), 3);
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 1, "{keys:?}");
    }
}

/// O-35: the wrong order, key layer below the loop, does not send a second key.
#[tokio::test]
async fn a_key_layer_inside_the_retry_loop_makes_no_second_key() {
    let peer = Peer::default();
    let client = ThreeAttempts(KeyLayer::new(payments()).layer(peer.clone()));
    let error = client.clone().oneshot(charge()).await.unwrap_err();
    assert_eq!(
        Rejected::find(&*error).unwrap().reason(),
        Reason::KeyRequired
    );
    assert_eq!(peer.keys().len(), 1);

    for request in [
        with_header(charge(), "mine"),
        with_operation(charge(), "mine"),
    ] {
        client.clone().oneshot(request).await.unwrap();
        assert_eq!(peer.keys(), ["mine"; 3]);
    }
}

/// O-35.
#[tokio::test]
async fn a_new_call_gets_a_new_key_even_with_an_equal_body() {
    let peer = Peer::default();
    let mut client = KeyLayer::new(payments()).layer(peer.clone());
    for _ in 0..50 {
        client.ready().await.unwrap().call(charge()).await.unwrap();
        client.clone().oneshot(charge()).await.unwrap();
    }
    let keys = peer.keys();
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 100);
    for key in keys {
        assert_eq!(uuid::Uuid::parse_str(&key).unwrap().get_version_num(), 4);
    }
}

#[tokio::test]
async fn the_call_is_marked_with_the_key_that_goes_out() {
    for request in [
        charge(),
        with_header(charge(), "mine"),
        with_operation(charge(), "order-7"),
    ] {
        let sent = sent(payments(), request).await;
        assert_eq!(mark(&sent).unwrap().as_str(), key(&sent));
        assert_eq!(mark(&sent).unwrap().lives_until(), Deadline::NONE);
    }
}

#[tokio::test]
async fn a_callers_header_is_kept_byte_for_byte() {
    for (line, marked) in [("\"k\";v=1", "k"), ("k", "k"), ("\"a\\\"b\"", "a\"b")] {
        let raw = payments().with_format(KeyFormat::Raw);
        for config in [payments(), raw.with_source(KeySource::RequireExplicit)] {
            let sent = sent(config, with_header(charge(), line)).await;
            assert_eq!(sent.headers()[IDEMPOTENCY_KEY], line);
            assert_eq!(mark(&sent).unwrap().as_str(), marked);
        }
    }
}

#[tokio::test]
async fn an_operation_key_and_a_header_that_say_the_same_agree() {
    let request = with_operation(with_header(charge(), "order-7"), "order-7");
    let sent = sent(payments(), request).await;
    assert_eq!(sent.headers()[IDEMPOTENCY_KEY], "order-7");
}

#[tokio::test]
async fn an_operation_key_and_another_header_are_a_clash_and_nothing_is_sent() {
    let peer = Peer::default();
    let client = KeyLayer::new(payments()).layer(peer.clone());
    let request = with_operation(with_header(charge(), "order-8"), "order-7");
    let error = client.oneshot(request).await.unwrap_err();
    assert!(error.is::<KeyClash>());
    assert_eq!(
        Rejected::find(&*error).unwrap().reason(),
        Reason::KeyRequired
    );
    assert!(peer.seen().is_empty());
}

#[tokio::test]
async fn a_header_that_holds_no_key_is_kept_and_does_not_protect_the_call() {
    let twice = with_header(with_header(charge(), "a"), "b");
    for request in [
        with_header(charge(), ""),
        with_header(charge(), "\"a"),
        twice,
    ] {
        let headers = request.headers().clone();
        let sent = sent(payments(), request).await;
        assert_eq!(sent.headers(), &headers);
        assert_eq!(mark(&sent), None);
    }
}

#[tokio::test]
async fn a_payment_without_a_key_of_its_own_is_refused_and_not_sent() {
    let peer = Peer::default();
    let config = payments().with_source(KeySource::RequireExplicit);
    let client = KeyLayer::new(config).layer(peer.clone());
    for request in [charge(), with_header(charge(), "")] {
        let error = client.clone().oneshot(request).await.unwrap_err();
        assert_eq!(
            *Rejected::find(&*error).unwrap(),
            Rejected::new(Reason::KeyRequired)
        );
    }
    assert!(peer.seen().is_empty());
    client
        .oneshot(with_operation(charge(), "order-7"))
        .await
        .unwrap();
    assert_eq!(peer.keys(), ["order-7"]);
}

#[tokio::test]
async fn safe_methods_are_untouched() {
    let everything = || KeyConfig::new(Routes::new().any_write("*").unwrap());
    for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE] {
        let mut request = with_operation(charge(), "order-7");
        *request.method_mut() = method;
        let sent = sent(
            everything().with_source(KeySource::RequireExplicit),
            request,
        )
        .await;
        assert!(sent.headers().is_empty());
        assert_eq!(mark(&sent), None);
    }
}

#[tokio::test]
async fn undeclared_routes_are_untouched_and_unmarked_even_with_a_key() {
    for (method, uri) in [
        (Method::POST, "https://payments.example/refunds"),
        (Method::POST, "https://other.example/charges"),
        (Method::PATCH, "https://payments.example/charges"),
        (Method::POST, "/charges"),
    ] {
        let mut request = with_operation(with_header(charge(), "mine"), "order-7");
        (*request.method_mut(), *request.uri_mut()) = (method, uri.parse().unwrap());
        let headers = request.headers().clone();
        let sent = sent(payments(), request).await;
        assert_eq!(sent.headers(), &headers);
        assert_eq!(CallState::of(sent.extensions()), None, "{uri}");
    }
}

#[tokio::test]
async fn the_destination_is_authority_then_host_then_the_adapters_name() {
    let mut by_host = charge();
    *by_host.uri_mut() = "/charges".parse().unwrap();
    let mut by_name = by_host.clone();
    by_host
        .headers_mut()
        .insert("host", HeaderValue::from_static("Payments.Example"));
    CallState::edit(by_name.extensions_mut(), |state| {
        state.set_destination("payments.example")
    });
    for request in [by_host, by_name] {
        assert!(mark(&sent(payments(), request).await).is_some());
    }
}

#[tokio::test]
async fn a_route_wins_over_the_configuration_and_the_first_route_over_the_next() {
    const OWN: HeaderName = HeaderName::from_static("x-request-id");
    let special = Route::post("payments.example", "/charges")
        .unwrap()
        .with_header(OWN)
        .with_format(KeyFormat::Raw)
        .with_source(KeySource::Generate)
        .with_lifetime(Duration::MAX);
    let routes = Routes::new()
        .with(special)
        .any_write("payments.example")
        .unwrap();
    let config = KeyConfig::new(routes)
        .with_lifetime(Duration::from_secs(1))
        .with_source(KeySource::RequireExplicit);

    let special = sent(config.clone(), charge()).await;
    assert_eq!(special.headers()[OWN], mark(&special).unwrap().as_str());
    assert_eq!(special.headers().len(), 1);
    assert_eq!(mark(&special).unwrap().lives_until(), Deadline::NONE);

    let mut other = with_operation(charge(), "order-7");
    *other.uri_mut() = "https://payments.example/refunds".parse().unwrap();
    let other = sent(config, other).await;
    assert_eq!(other.headers()[IDEMPOTENCY_KEY], "\"order-7\"");
    assert_ne!(mark(&other).unwrap().lives_until(), Deadline::NONE);
}

#[tokio::test(start_paused = true)]
async fn a_key_lives_from_the_calls_start_and_no_longer_than_its_owner_says() {
    let day = Duration::from_secs(24 * 60 * 60);
    tokio::time::advance(Duration::from_secs(7)).await;
    let now = Instant::now().into_std();
    let config = payments().with_lifetime(day);
    let want = Deadline::after(now, day);
    assert_eq!(
        mark(&sent(config.clone(), charge()).await)
            .unwrap()
            .lives_until(),
        want
    );

    let soon = Deadline::after(now, Duration::from_secs(60));
    let late = Deadline::after(now, 2 * day);
    for (stored, end, want) in [
        ("order-7", soon, soon),
        ("order-7", late, want),
        ("order-7", Deadline::NONE, want),
        ("order-8", soon, want),
    ] {
        let mut request = with_operation(charge(), "order-7");
        let known = CallKey::new(stored).with_lives_until(end);
        CallState::edit(request.extensions_mut(), |state| state.set_key(known));
        let sent = sent(config.clone(), request).await;
        assert_eq!(mark(&sent).unwrap().as_str(), "order-7");
        assert_eq!(mark(&sent).unwrap().lives_until(), want, "{stored} {end:?}");
    }
}

#[tokio::test]
async fn the_rest_of_the_call_state_is_kept() {
    let mut request = charge();
    let deadline = Deadline::after(Instant::now().into_std(), Duration::from_secs(1));
    CallState::edit(request.extensions_mut(), |state| {
        state.tighten_deadline(deadline)
    });
    let sent = sent(payments(), request).await;
    assert_eq!(
        CallState::of(sent.extensions()).unwrap().deadline(),
        deadline
    );
    assert_eq!(*sent.body(), "amount=1");
}

#[tokio::test]
async fn answers_and_errors_of_the_inner_service_pass_on() {
    let ok = tower::service_fn(async |_: Call| {
        Ok::<_, Infallible>(
            Response::builder()
                .status(StatusCode::CONFLICT)
                .body("x")
                .unwrap(),
        )
    });
    let answer = KeyLayer::new(payments())
        .layer(ok)
        .oneshot(charge())
        .await
        .unwrap();
    assert_eq!(
        (answer.status(), *answer.body()),
        (StatusCode::CONFLICT, "x")
    );

    let broken = tower::service_fn(async |_: Call| {
        Err::<Response<()>, _>(std::io::Error::from(std::io::ErrorKind::ConnectionReset))
    });
    let error = KeyLayer::new(payments())
        .layer(broken)
        .oneshot(charge())
        .await
        .unwrap_err();
    let error = error.downcast_ref::<std::io::Error>().unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

/// A service that is never ready, as tower's contract lets it be.
#[derive(Clone)]
struct NeverReady;

impl Service<Call> for NeverReady {
    type Response = ();
    type Error = Infallible;
    type Future = std::future::Pending<Result<(), Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Pending
    }

    fn call(&mut self, _: Call) -> Self::Future {
        panic!("called unready")
    }
}

#[test]
fn readiness_is_the_inner_services() {
    let mut client = KeyLayer::new(payments()).layer(NeverReady);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(client.poll_ready(&mut cx).is_pending());
}

#[test]
fn an_undeclared_route_costs_no_allocation() {
    let inner =
        tower::service_fn(|request: Request<()>| std::future::ready(Ok::<_, Infallible>(request)));
    let routes = Routes::new()
        .post("payments.example", "/charges/{id}/capture")
        .unwrap()
        .any_write("ledger.example:8443")
        .unwrap();
    let mut client = KeyLayer::new(KeyConfig::new(routes)).layer(inner);
    for uri in [
        "https://payments.example/charges/1/refund",
        "https://ledger.example/",
    ] {
        let request = Request::post(uri).body(()).unwrap();
        let mut answer = None;
        let count = allocation_counter::measure(|| {
            let mut future = std::pin::pin!(client.call(request));
            let mut cx = Context::from_waker(Waker::noop());
            answer = Some(future.as_mut().poll(&mut cx));
        });
        assert!(matches!(answer, Some(Poll::Ready(Ok(_)))));
        assert_eq!(count.count_total, 0, "{uri}");
    }
}

#[test]
fn a_full_header_map_is_an_error_and_no_panic() {
    let mut headers = HeaderMap::new();
    let names = (0..).map(|n| HeaderName::try_from(format!("x-{n}")).unwrap());
    for name in names {
        let value = HeaderValue::from_static("");
        if headers.try_insert(name, value).is_err() {
            break;
        }
    }
    let mut request = charge();
    *request.headers_mut() = headers;
    let peer = Peer::default();
    let mut client = KeyLayer::new(payments()).layer(peer.clone());
    let mut future = std::pin::pin!(client.call(request));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(future.as_mut().poll(&mut cx), Poll::Ready(Err(_))));
    assert!(peer.seen().is_empty());
}

#[test]
fn layer_service_and_future_are_send_sync_and_clone_where_their_parts_are() {
    fn all<T: Send + Sync>(_: &T) {}
    let layer = KeyLayer::new(payments());
    let mut service = layer.clone().layer(Peer::default());
    all(&layer);
    all(&service.clone());
    let future: ResponseFuture<_> = service.call(charge());
    all(&future);
}
