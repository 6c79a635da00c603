//! One key per call over all of its attempts (O-35): what the order of layers means.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use steadfast::budget::RatioBudget;
use steadfast::idempotency::OperationKey;
use steadfast::idempotency::client::{KeyConfig, KeyLayer, Routes};
use steadfast::retry::{RetryConfig, RetryLayer};
use steadfast::{Ratio, Reason, Report};
use steadfast_kit::{Script, ScriptedServer};
use tower::{ServiceBuilder, ServiceExt};

use crate::stack::*;

/// 429, reset, 200: twice.
async fn server() -> ScriptedServer {
    let call: [Script; 3] = [
        answer("429 Too Many Requests", &[], ""),
        reset(),
        answer("200 OK", &[], "charged"),
    ];
    ScriptedServer::start([call.clone(), call].concat())
        .await
        .unwrap()
}

fn roomy() -> RetryConfig {
    config().with_budget(RatioBudget::new(Ratio::percent(200).unwrap()))
}

fn routes(server: &ScriptedServer) -> Routes {
    Routes::new()
        .post(&server.addr().to_string(), "/charges")
        .unwrap()
}

fn charge(server: &ScriptedServer) -> Request<Full<Bytes>> {
    Request::post(server.url("/charges"))
        .body(Full::from("amount=4200"))
        .unwrap()
}

/// The keys of all requests, in order.
fn keys(server: &ScriptedServer) -> Vec<String> {
    let key = |request: &Bytes| {
        let text = String::from_utf8(request.to_vec()).unwrap();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("idempotency-key: "));
        line.unwrap_or("none").to_owned()
    };
    server.requests().iter().map(key).collect()
}

#[tokio::test]
async fn all_attempts_of_a_call_carry_one_key_and_another_call_another() {
    let server = server().await;
    let stack = stack(roomy(), routes(&server));
    for _ in 0..2 {
        assert_eq!(text(send(&stack, charge(&server)).await).await, "charged");
    }
    let keys = keys(&server);
    assert_eq!(keys.len(), 6);
    assert!(keys[..3].iter().all(|key| *key == keys[0]), "{keys:?}");
    assert!(keys[3..].iter().all(|key| *key == keys[3]), "{keys:?}");
    assert_ne!(keys[0], keys[3], "an equal body is not an equal call");
}

#[tokio::test]
async fn the_callers_own_key_is_never_replaced() {
    let server = server().await;
    let stack = stack(roomy(), routes(&server));
    let mut request = charge(&server);
    request
        .extensions_mut()
        .insert(OperationKey::parse("order-7").unwrap());
    assert_eq!(text(send(&stack, request).await).await, "charged");
    let mut request = charge(&server);
    request
        .headers_mut()
        .insert("idempotency-key", "\"mine\"".parse().unwrap());
    assert_eq!(text(send(&stack, request).await).await, "charged");
    let mine = "\"mine\"";
    let order = "\"order-7\"";
    assert_eq!(keys(&server), [order, order, order, mine, mine, mine]);
}

/// A key layer below retry: the first attempt gets a key, retry does not know of it, and the
/// repeat, which would get another one, is refused instead of sent. The caller gets the answer
/// that there was, and in its report why that was the end.
#[tokio::test]
async fn a_key_layer_inside_retry_never_sends_a_second_key() {
    let server = server().await;
    let wrong = ServiceBuilder::new()
        .layer(RetryLayer::new(roomy()))
        .layer(KeyLayer::new(KeyConfig::new(routes(&server))))
        .service(hyper());
    let answered = wrong.oneshot(charge(&server)).await;
    let head = answered.as_ref().unwrap();
    assert_eq!(head.status(), 429);
    let report = head.extensions().get::<Report>().unwrap();
    assert_eq!(
        (report.attempts, report.reason),
        (1, Some(Reason::KeyRequired))
    );
    assert_eq!(keys(&server).len(), 1);
}
