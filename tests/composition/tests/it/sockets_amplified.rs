//! What retries at every level of three do to the one at the bottom.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use steadfast::budget::{Ask, Budget, Ending, Permit, RatioBudget, Sending};
use steadfast::retry::RetryConfig;
use steadfast::{Backoff, Ratio};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::service_fn;

use crate::stack::*;

/// Serves one status, found out anew for each request.
async fn serve<F>(
    tasks: &mut JoinSet<()>,
    handle: impl Fn() -> F + Clone + Send + 'static,
) -> SocketAddr
where
    F: Future<Output = StatusCode> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let addr = listener.local_addr().unwrap();
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let handle = handle.clone();
            let service = service_fn(move |_: Request<hyper::body::Incoming>| {
                let status = handle();
                async move {
                    let mut answer = Response::new(Full::<Bytes>::default());
                    *answer.status_mut() = status.await;
                    Ok::<_, Infallible>(answer)
                }
            });
            let service = TowerToHyperService::new(service);
            connections.spawn(async move {
                // A client that went away ends its connection.
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    addr
}

/// Asks the level below through a retry layer of its own.
async fn ask(stack: Stack<Full<Bytes>>, below: SocketAddr) -> StatusCode {
    let answered = send(&stack, get(&format!("http://{below}/"))).await;
    answered.map_or(StatusCode::BAD_GATEWAY, |answer| answer.status())
}

/// Calls at the bottom, which fails them all, for so many at the top: three levels of retries.
async fn at_the_bottom(calls: usize, config: impl Fn() -> RetryConfig) -> usize {
    let mut tasks = JoinSet::new();
    let arrived = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&arrived);
    let mut below = serve(&mut tasks, move || {
        counter.fetch_add(1, Ordering::Relaxed);
        std::future::ready(StatusCode::SERVICE_UNAVAILABLE)
    })
    .await;
    for _ in 0..2 {
        let stack = plain(config());
        below = serve(&mut tasks, move || ask(stack.clone(), below)).await;
    }
    let top = plain(config());
    for _ in 0..calls {
        assert_eq!(
            ask(top.clone(), below).await,
            StatusCode::SERVICE_UNAVAILABLE
        );
    }
    arrived.load(Ordering::Relaxed)
}

/// Four attempts without waits.
fn eager(budget: impl Budget) -> RetryConfig {
    let none = Backoff::default()
        .with_base(Duration::ZERO)
        .with_cap(Duration::ZERO);
    config()
        .with_max_attempts(NonZeroU32::new(4).unwrap())
        .with_backoff(none)
        .with_budget(budget)
}

/// 1,000 × 1.1³ = 1,331.
#[tokio::test]
async fn three_levels_with_a_budget_of_ten_percent_send_a_third_more_to_the_bottom() {
    let budget = || {
        let longer_than_the_run = Duration::from_secs(600);
        RatioBudget::new(Ratio::percent(10).unwrap()).with_window(longer_than_the_run)
    };
    let arrived = at_the_bottom(1_000, || eager(budget())).await;
    assert!(arrived > 1_200 && arrived <= 1_331, "{arrived}");
}

/// A budget that never says no.
#[derive(Debug)]
struct Unlimited;

impl Budget for Unlimited {
    fn on_call(&self, _: std::time::Instant) {}

    fn on_outcome(&self, _: Sending, _: Ending, _: std::time::Instant) {}

    fn reserve(&self, _: Ask) -> Option<Permit> {
        Some(Permit::free())
    }
}

/// 4³ = 64.
#[tokio::test]
async fn three_levels_without_a_budget_send_64_calls_for_one() {
    assert_eq!(at_the_bottom(10, || eager(Unlimited)).await, 640);
}
