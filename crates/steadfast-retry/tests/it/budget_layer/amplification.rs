use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, Response};
use steadfast_core::budget::RatioBudget;
use steadfast_core::{BoxError, Ratio, Rejected};
use steadfast_retry::{AttemptMark, BudgetLayer, Budgeted, CountAttemptsLayer};
use tower::retry::{Policy, RetryLayer};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

use super::{answer, get, refusal};

/// Four attempts at every failure, and no budget of its own.
#[derive(Clone)]
struct Stubborn {
    left: u32,
}

impl Policy<Request<()>, Response<()>, BoxError> for Stubborn {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut Request<()>,
        result: &mut Result<Response<()>, BoxError>,
    ) -> Option<Ready<()>> {
        let again = match result {
            Ok(response) => response.status().is_server_error(),
            Err(error) => Rejected::find(&**error).is_none(),
        };
        self.left = self.left.checked_sub(1)?;
        again.then(|| ready(()))
    }

    fn clone_request(&mut self, request: &Request<()>) -> Option<Request<()>> {
        Some(request.clone())
    }
}

/// A peer that fails every call and counts them.
fn down(
    calls: &Arc<AtomicUsize>,
) -> impl Service<Request<()>, Response = Response<()>, Error = Infallible, Future: Send> + Clone {
    let calls = calls.clone();
    service_fn(move |_: Request<()>| {
        calls.fetch_add(1, Ordering::Relaxed);
        ready(Ok(answer(503)))
    })
}

fn ten_percent() -> BudgetLayer {
    BudgetLayer::new(RatioBudget::default().with_window(Duration::from_secs(3600)))
}

#[tokio::test(start_paused = true)]
async fn towers_retry_loop_is_held_to_the_budget() {
    for (budgeted, want) in [(false, 4000), (true, 1100)] {
        let calls = Arc::new(AtomicUsize::new(0));
        let loops = RetryLayer::new(Stubborn { left: 3 });
        let stack = ServiceBuilder::new()
            .layer(CountAttemptsLayer::new())
            .layer(loops)
            .option_layer(budgeted.then(ten_percent))
            .map_err(BoxError::from)
            .service(down(&calls));
        for _ in 0..1000 {
            let _ = stack.clone().oneshot(get()).await;
        }
        assert_eq!(calls.load(Ordering::Relaxed), want, "budgeted: {budgeted}");
    }
}

/// Goes on after refusals too, as a loop does that has never heard of them.
async fn by_hand<S>(service: &Budgeted<S>, request: Request<()>) -> Result<Response<()>, BoxError>
where
    S: Service<Request<()>, Response = Response<()>, Error = Infallible> + Clone,
{
    let mut last = service.clone().oneshot(request.clone()).await;
    for _ in 0..9 {
        match last {
            Ok(response) if response.status().is_success() => return Ok(response),
            _ => last = service.clone().oneshot(request.clone()).await,
        }
    }
    last
}

#[tokio::test(start_paused = true)]
async fn a_hand_written_loop_is_held_to_the_budget_whatever_it_does_with_refusals() {
    let calls = Arc::new(AtomicUsize::new(0));
    let budget = RatioBudget::new(Ratio::percent(35).unwrap());
    let service = BudgetLayer::new(budget).layer(down(&calls));
    let looped = CountAttemptsLayer::new().layer(service_fn(|request| {
        let service = service.clone();
        async move { by_hand(&service, request).await }
    }));
    for _ in 0..100 {
        let answered = looped.clone().oneshot(get()).await;
        assert_eq!(
            refusal(answered),
            Some(steadfast_core::Reason::BudgetExhausted)
        );
    }
    assert_eq!(calls.load(Ordering::Relaxed), 135);
}

#[tokio::test(start_paused = true)]
async fn attempts_of_a_gateway_in_front_are_held_to_the_budget_by_their_header() {
    let calls = Arc::new(AtomicUsize::new(0));
    let layer = ten_percent().with_mark(AttemptMark::EnvoyAttemptCount);
    let service = layer.layer(down(&calls));
    for _ in 0..1000 {
        for attempt in 1..=4 {
            let mut request = get();
            let headers = request.headers_mut();
            headers.insert("x-envoy-attempt-count", http::HeaderValue::from(attempt));
            let _ = service.clone().oneshot(request).await;
        }
    }
    assert_eq!(calls.load(Ordering::Relaxed), 1100);
}
