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
use steadfast::deadline::server::{InboundConfig, InboundDeadlineLayer, InboundTrust};
use steadfast::retry::RetryConfig;
use steadfast::{Backoff, OwnerMark, Ratio};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::{Layer, service_fn};

use crate::stack::*;

/// Serves one status, found out anew for each request, in the context that a caller who is
/// believed so far asks for.
async fn serve<F>(
    tasks: &mut JoinSet<()>,
    trust: InboundTrust,
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
            let context = InboundConfig::new().with_trust(trust);
            let service = InboundDeadlineLayer::new(context).layer(service);
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
    below_a_top(calls, InboundTrust::Deadline, config(), config).await
}

/// The same with a top of its own, whose callees believe it so far.
async fn below_a_top(
    calls: usize,
    trust: InboundTrust,
    top: RetryConfig,
    config: impl Fn() -> RetryConfig,
) -> usize {
    let mut tasks = JoinSet::new();
    let arrived = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&arrived);
    let mut below = serve(&mut tasks, trust, move || {
        counter.fetch_add(1, Ordering::Relaxed);
        std::future::ready(StatusCode::SERVICE_UNAVAILABLE)
    })
    .await;
    for _ in 0..2 {
        let stack = plain(config());
        below = serve(&mut tasks, trust, move || ask(stack.clone(), below)).await;
    }
    let top = plain(top);
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

/// One in ten, over longer than the run.
fn a_tenth() -> RetryConfig {
    let longer_than_the_run = Duration::from_secs(600);
    eager(RatioBudget::new(Ratio::percent(10).unwrap()).with_window(longer_than_the_run))
}

fn marked() -> RetryConfig {
    a_tenth().with_owner_mark(OwnerMark::default())
}

/// 1,000 × 1.1³ = 1,331.
#[tokio::test]
async fn three_levels_with_a_budget_of_ten_percent_send_a_third_more_to_the_bottom() {
    let arrived = at_the_bottom(1_000, a_tenth).await;
    assert!(arrived > 1_200 && arrived <= 1_331, "{arrived}");
}

/// 1,000 × 1.1 = 1,100: the levels below leave the repeats to the one that said it owns them.
#[tokio::test]
async fn three_levels_with_one_owner_send_a_tenth_more_to_the_bottom() {
    let everything = InboundTrust::Everything;
    let arrived = below_a_top(1_000, everything, marked(), marked).await;
    assert!(arrived > 1_000 && arrived <= 1_100, "{arrived}");
}

#[tokio::test]
async fn a_mark_of_somebody_who_is_not_believed_changes_nothing() {
    let arrived = below_a_top(1_000, InboundTrust::Deadline, marked(), marked).await;
    assert!(arrived > 1_200 && arrived <= 1_331, "{arrived}");
}

/// The top sends each call once and does not claim it, so the next level may repeat it.
#[tokio::test]
async fn a_hop_whose_caller_cannot_repeat_repeats_itself() {
    let once = marked().with_max_attempts(NonZeroU32::MIN);
    let everything = InboundTrust::Everything;
    let arrived = below_a_top(1_000, everything, once, marked).await;
    assert!(arrived > 1_050 && arrived <= 1_100, "{arrived}");
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
