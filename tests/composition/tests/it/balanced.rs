//! Retry over tower's balancer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use steadfast::admission::BreakerLayer;
use steadfast::deadline::AttemptTimeoutLayer;
use steadfast::retry::{RetryConfig, RetryLayer};
use steadfast::{BoxError, CircuitState, Report};
use tower::balance::p2c::Balance;
use tower::buffer::BufferLayer;
use tower::discover::ServiceList;
use tower::load::{CompleteOnResponse, PeakEwma};
use tower::util::BoxService;
use tower::{Layer, ServiceBuilder, ServiceExt, service_fn};

const SECOND: Duration = Duration::from_secs(1);

type Endpoint<B> = BoxService<Request<B>, Response<Full<Bytes>>, BoxError>;

/// Answers, or hangs; counts what arrives.
fn endpoint<B: Send + 'static>(hangs: bool, arrived: &Arc<AtomicUsize>) -> Endpoint<B> {
    let arrived = arrived.clone();
    let answer = service_fn(move |_: Request<B>| {
        arrived.fetch_add(1, Ordering::Relaxed);
        async move {
            if hangs {
                std::future::pending::<()>().await;
            }
            Ok::<_, BoxError>(Response::new(Full::default()))
        }
    });
    // Inside the balancer, so that it sees how long the attempt took.
    let timeout = AttemptTimeoutLayer::new(SECOND);
    timeout.layer(answer).boxed()
}

/// A call that meets the endpoint that hangs is repeated at the one that answers.
#[tokio::test(start_paused = true)]
async fn a_retry_reaches_another_endpoint_after_a_failure() {
    let arrived = [Arc::default(), Arc::default()];
    let load =
        |endpoint| PeakEwma::new(endpoint, SECOND / 100, 1e10, CompleteOnResponse::default());
    let endpoints = [
        load(endpoint(true, &arrived[0])),
        load(endpoint(false, &arrived[1])),
    ];
    let breaker = BreakerLayer::default();
    let client = ServiceBuilder::new()
        .layer(RetryLayer::new(RetryConfig::new()))
        .layer(breaker.clone())
        .layer(BufferLayer::new(16))
        .service(Balance::new(ServiceList::new(endpoints)));
    let mut repeated = 0;
    for _ in 0..50 {
        let request = Request::get("http://a.example/").body(Full::<Bytes>::default());
        let answer = client.clone().oneshot(request.unwrap()).await.unwrap();
        let report = answer.extensions().get::<Report>();
        repeated += report.map_or(0, |report| report.attempts - 1);
    }
    let [hung, answered] = arrived.map(|count: Arc<AtomicUsize>| count.load(Ordering::Relaxed));
    assert_eq!(answered, 50);
    assert_eq!(
        hung, repeated as usize,
        "each that hung was followed by one that did not"
    );
    assert!((1..=25).contains(&hung), "{hung}: the balancer has learnt");
    assert_eq!(breaker.handle().state("a.example"), CircuitState::Closed);
}
