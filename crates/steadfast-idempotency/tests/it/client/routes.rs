use std::convert::Infallible;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::header::HeaderName;
use http::{HeaderValue, Method, Request};
use steadfast_core::{CallState, Deadline};
use steadfast_idempotency::client::{KeyConfig, KeyLayer, KeySource, Route, Routes};
use steadfast_idempotency::{IDEMPOTENCY_KEY, KeyFormat};
use tower::{Layer, Service};

use super::{charge, mark, payments, sent, with_header, with_operation};

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
