//! The server stack.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use steadfast::server::{Draft, Standard, StandardLayer};
use steadfast::{CallContext, deadline::server::InboundTrust};
use tower::{Layer, Service, ServiceExt, service_fn};

type Answer = Result<Response<Full<Bytes>>, Infallible>;

pub(crate) fn says(
    text: impl Fn() -> String + Clone + Send + Sync + 'static,
) -> impl Service<Request<()>, Response = Response<Full<Bytes>>, Error = Infallible, Future: Send>
+ Clone
+ Send {
    service_fn(move |_: Request<()>| {
        let text = text.clone();
        async move { Answer::Ok(Response::new(Full::from(text()))) }
    })
}

pub(crate) fn attempt(mark: &str) -> Request<()> {
    let request = Request::get("/").header("steadfast-attempt", mark);
    request.body(()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn nobody_works_for_a_caller_whose_time_is_over() {
    let hangs = service_fn(async |_: Request<()>| {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Answer::Ok(Response::new(Full::default()))
    });
    let server = StandardLayer::default().layer(hangs);
    let request = Request::get("/").header("x-envoy-expected-rq-timeout-ms", "500");
    let started = tokio::time::Instant::now();
    let answer = server.oneshot(request.body(()).unwrap()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(started.elapsed(), Duration::from_millis(490));
}

#[tokio::test(start_paused = true)]
async fn retries_that_are_too_many_are_told_to_stop_and_the_dead_are_not_counted() {
    let server = StandardLayer::default().layer(says(String::new));
    for _ in 0..15 {
        server.clone().oneshot(attempt("1/3")).await.unwrap();
    }
    let expired = || {
        let mut retry = attempt("2/3");
        let none = http::HeaderValue::from_static("0");
        retry
            .headers_mut()
            .insert("x-envoy-expected-rq-timeout-ms", none);
        retry
    };
    for _ in 0..5 {
        let answer = server.clone().oneshot(expired()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::GATEWAY_TIMEOUT);
    }
    let mut last = None;
    for nth in 1..=5 {
        let answer = server.clone().oneshot(attempt("2/3")).await.unwrap();
        assert_eq!(
            answer.status().is_success(),
            nth < 5,
            "the {nth}. of 20 at most"
        );
        last = Some(answer);
    }
    let last = last.unwrap();
    assert_eq!(last.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(last.headers()["x-should-retry"], "false");
    assert!(
        !last
            .into_body()
            .collect()
            .await
            .unwrap()
            .to_bytes()
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn the_context_is_in_force_as_far_as_callers_are_believed() {
    let owner = || {
        format!(
            "{:?}",
            CallContext::current_owner().map(|it| it.attempt().max)
        )
    };
    for (trust, said) in [
        (InboundTrust::Deadline, "None"),
        (InboundTrust::Everything, "Some(4)"),
    ] {
        let policy = Draft::new().with_trust(trust).check().unwrap();
        let server = StandardLayer::new(policy).layer(says(owner));
        let answer = server.oneshot(attempt("1/4")).await.unwrap();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, said, "{trust:?}");
    }
}

#[test]
fn its_type_can_be_named_and_kept() {
    #[derive(Clone)]
    struct App<S> {
        service: Standard<S>,
    }
    fn kept<T: Clone + Send + Sync + Unpin + 'static>(_: &T) {}
    let app = App {
        service: StandardLayer::default().layer(std::sync::Arc::new(7)),
    };
    assert_eq!(**app.service.get_ref(), 7);
    kept(&app.service);
    kept(&StandardLayer::default().handle());
}
