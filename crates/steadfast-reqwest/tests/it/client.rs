//! The small client.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use serde::{Deserialize, Serialize};
use steadfast_core::{CallState, Outcome, Reason, Rejected, Safety};
use steadfast_deadline::{CallLimitLayer, LimitOverride};
use steadfast_hyper::LeafBody;
use steadfast_idempotency::OperationKey;
use steadfast_kit::{Chunks, Probe, Script, ScriptedServer, Step};
use steadfast_reqwest::{Client, ReqwestClassify, Stack};
use steadfast_retry::{RetryConfig, RetryLayer};
use tower::{Layer, service_fn};

use crate::wrapped::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Charge {
    cents: u32,
}

/// A stack that answers with the body that it was sent, and what it saw.
type Seen = Arc<Mutex<Vec<http::request::Parts>>>;

fn echo() -> (impl Stack<Answer = Full<Bytes>>, Seen) {
    let seen = Seen::default();
    let stack = service_fn({
        let seen = seen.clone();
        move |request: Request<LeafBody>| {
            let seen = seen.clone();
            async move {
                let (head, body) = request.into_parts();
                seen.lock().unwrap().push(head);
                let body = body.collect().await.unwrap().to_bytes();
                Ok::<_, Infallible>(Response::new(Full::new(body)))
            }
        }
    });
    (stack, seen)
}

#[tokio::test]
async fn json_goes_out_and_comes_back() {
    let (stack, seen) = echo();
    let answer = Client::new(stack)
        .post("http://pay.example/charges")
        .header("x-request-id", "1")
        .bearer_auth("secret")
        .query([("expand", "customer & card")])
        .json(&Charge { cents: 4200 })
        .send()
        .await
        .unwrap();
    let charge: Charge = answer.error_for_status().unwrap().json().await.unwrap();
    assert_eq!(charge, Charge { cents: 4200 });
    let head = &seen.lock().unwrap()[0];
    assert_eq!(head.method, Method::POST);
    assert_eq!(
        head.uri,
        "http://pay.example/charges?expand=customer+%26+card"
    );
    assert_eq!(head.headers["content-type"], "application/json");
    assert_eq!(head.headers["x-request-id"], "1");
    assert_eq!(head.headers["authorization"], "Bearer secret");
    assert!(head.headers["authorization"].is_sensitive());
}

#[tokio::test]
async fn forms_bytes_and_streams_are_bodies_too() {
    let (stack, seen) = echo();
    let client = Client::new(stack);
    let post = || client.post("http://pay.example/");
    let form = post()
        .form([("amount", "20"), ("currency", "€ur")])
        .send()
        .await;
    let form = form.unwrap().text().await.unwrap();
    assert_eq!(form, "amount=20&currency=%E2%82%ACur");
    let bytes = post().body("abc").send().await.unwrap();
    assert_eq!(bytes.bytes().await.unwrap(), "abc");
    let stream = post().stream(Chunks::of(["ab", "cd"])).send().await;
    let long = stream.unwrap().bytes_up_to(3).await.unwrap_err();
    assert!(long.is_body() && !long.is_timeout());
    let own = HeaderMap::from_iter([(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static("application/problem+json"),
    )]);
    post().headers(own).json(&1).send().await.unwrap();
    let kinds = seen.lock().unwrap();
    let kind = |n: usize| {
        kinds[n]
            .headers
            .get("content-type")
            .map(|it| it.to_str().unwrap())
    };
    assert_eq!(kind(0), Some("application/x-www-form-urlencoded"));
    assert_eq!((kind(1), kind(2)), (None, None));
    assert_eq!(kind(3), Some("application/problem+json"));
}

#[tokio::test]
async fn what_a_call_wants_of_the_layers_travels_on_its_request() {
    let (stack, _) = echo();
    let key = OperationKey::random();
    let request = Client::new(stack)
        .post("http://pay.example/")
        .timeout(Duration::from_secs(3))
        .operation_key(key.clone())
        .safety(Safety::Idempotent)
        .build()
        .unwrap();
    let on = request.extensions();
    let limit = on.get::<LimitOverride>().unwrap().limit();
    assert_eq!(limit, Duration::from_secs(3));
    assert_eq!(on.get::<OperationKey>(), Some(&key));
    assert_eq!(
        CallState::of(on).unwrap().safety(),
        Some(Safety::Idempotent)
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_the_error_of_its_send() {
    let (stack, seen) = echo();
    let client = Client::new(stack);
    let wrong = [
        client.get("no url"),
        client.get("data:text/plain,1"),
        client.get("http://a.example/").header("no name", "1"),
        client
            .get("http://a.example/")
            .bearer_auth("line\nfeed")
            .header("x", "1"),
    ];
    for request in wrong {
        let error = request.send().await.unwrap_err();
        assert!(error.is_builder(), "{error:?}");
        assert!(std::error::Error::source(&error).is_some());
    }
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_status_is_an_error_only_where_it_is_asked_to_be() {
    let answer = Response::builder()
        .status(404)
        .body(Chunks::of(["no"]))
        .unwrap();
    let stack = Probe::<Request<LeafBody>, _>::script([Step::answer(answer)]);
    let answer = Client::new(stack)
        .get("http://a.example/")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    let error = answer.error_for_status().unwrap_err();
    assert_eq!(error.status(), Some(StatusCode::NOT_FOUND));
    assert_eq!(error.to_string(), "the answer is 404 Not Found");
}

#[tokio::test]
async fn bodies_that_are_no_json_or_break_off_say_so() {
    let script = Script::new()
        .read()
        .answer("200 OK", &[], "{")
        .read()
        .answer_cut("200 OK", &[], "Hello World", 5);
    let server = ScriptedServer::start([script]).await.unwrap();
    let client = Client::new(leaf());
    let get = || client.get(server.url("/")).send();
    let no_json = get().await.unwrap().json::<Charge>().await.unwrap_err();
    assert!(no_json.is_decode());
    let cut = get().await.unwrap().text().await.unwrap_err();
    assert!(cut.is_body() && cut.report().is_none());
}

#[tokio::test]
async fn a_refusal_of_a_layer_and_the_report_of_a_call_are_there_to_ask() {
    let refused = Probe::<Request<LeafBody>, Response<Chunks>>::script([Step::fail(
        Rejected::new(Reason::CircuitOpen),
    )]);
    let error = Client::new(refused)
        .get("http://a.example/")
        .send()
        .await
        .unwrap_err();
    assert!(error.is_call());
    assert_eq!(
        error.rejected().map(Rejected::reason),
        Some(Reason::CircuitOpen)
    );

    let config = RetryConfig::default().with_classify(ReqwestClassify);
    let client = Client::new(RetryLayer::new(config).layer(leaf()));
    let nowhere = format!("http://{}/", closed_port().await);
    let error = client.post(nowhere).body("1").send().await.unwrap_err();
    let report = error.report().unwrap();
    assert_eq!(report.outcome, Outcome::NotApplied);
    assert!(!error.to_string().contains("127.0.0.1"), "no URL in a text");
}

#[tokio::test(start_paused = true)]
async fn its_timeout_takes_the_place_of_the_call_limit() {
    let never = service_fn(|_: Request<LeafBody>| {
        std::future::pending::<Result<Response<Chunks>, Infallible>>()
    });
    let client = Client::new(CallLimitLayer::new(Duration::from_secs(30)).layer(never));
    let started = tokio::time::Instant::now();
    let call = client
        .get("http://a.example/")
        .timeout(Duration::from_secs(90));
    let error = call.send().await.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(started.elapsed(), Duration::from_secs(90));
}
