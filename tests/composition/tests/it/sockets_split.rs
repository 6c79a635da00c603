//! What a call's attempts become at the bottom of three levels that divide them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use steadfast::budget::{Ask, Budget, Ending, Permit, RatioBudget, Sending};
use steadfast::deadline::server::{InboundConfig, InboundDeadlineLayer, InboundTrust};
use steadfast::retry::{RetryConfig, UpstreamOwner};
use steadfast::{Allowance, Backoff, OwnerMark, Ratio};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::{Layer, service_fn};

use crate::stack::*;

/// Which call of the top's a request belongs to.
const CALL: &str = "x-call";

/// Answers each call's status, whose caller is believed that far.
async fn serve<F>(
    tasks: &mut JoinSet<()>,
    trust: InboundTrust,
    handle: impl Fn(HeaderValue) -> F + Clone + Send + 'static,
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
            let service = service_fn(move |request: Request<hyper::body::Incoming>| {
                let status = handle(request.headers()[CALL].clone());
                async move {
                    let mut answer = Response::new(Full::<Bytes>::default());
                    *answer.status_mut() = status.await;
                    Ok::<_, Infallible>(answer)
                }
            });
            let config = InboundConfig::new().with_trust(trust);
            let service = InboundDeadlineLayer::new(config).layer(service);
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

/// Sends a call on to the level below.
async fn ask(stack: Stack<Full<Bytes>>, below: SocketAddr, call: HeaderValue) -> StatusCode {
    let mut request = get(&format!("http://{below}/"));
    request.headers_mut().insert(CALL, call);
    let answered = send(&stack, request).await;
    answered.map_or(StatusCode::BAD_GATEWAY, |answer| answer.status())
}

const CALLS: usize = 1_000;

/// How often each of a thousand calls arrives at the bottom, which fails them all: of levels with
/// these configs, the top's first, each of which believes the one above so far.
async fn arrivals(trust: InboundTrust, levels: [RetryConfig; 3]) -> BTreeMap<Vec<u8>, usize> {
    let mut tasks = JoinSet::new();
    let arrived = Arc::new(Mutex::new(BTreeMap::new()));
    let counter = Arc::clone(&arrived);
    let mut below = serve(&mut tasks, trust, move |call| {
        let mut counter = counter.lock().unwrap();
        *counter.entry(call.as_bytes().to_owned()).or_default() += 1;
        std::future::ready(StatusCode::SERVICE_UNAVAILABLE)
    })
    .await;
    let [top, middle, last] = levels.map(plain);
    for stack in [last, middle] {
        let handle = move |call| ask(stack.clone(), below, call);
        below = serve(&mut tasks, trust, handle).await;
    }
    for call in 0..CALLS {
        let status = ask(top.clone(), below, call.into()).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    }
    let arrived = arrived.lock().unwrap().clone();
    assert_eq!(arrived.len(), CALLS, "each arrives");
    arrived
}

/// So many attempts without waits.
fn eager(max: u32, budget: impl Budget) -> RetryConfig {
    let none = Backoff::default()
        .with_base(Duration::ZERO)
        .with_cap(Duration::ZERO);
    config()
        .with_max_attempts(NonZeroU32::new(max).unwrap())
        .with_backoff(none)
        .with_budget(budget)
        .with_owner_mark(OwnerMark::default())
        .with_upstream_owner(UpstreamOwner::Split)
}

/// Eight attempts at the top, four of each left to the middle, and two of those to the last; of
/// the budget two thirds, and half of those.
fn thirds<B: Budget>(budget: impl Fn() -> B) -> [RetryConfig; 3] {
    let leave = |n, percent| {
        let share = Ratio::percent(percent).unwrap();
        Allowance::new(NonZeroU32::new(n).unwrap(), share)
    };
    [
        eager(8, budget()).with_next_hop(leave(4, 66)),
        eager(8, budget()).with_next_hop(leave(2, 50)),
        eager(8, budget()),
    ]
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

/// One in ten, over longer than the run.
fn a_tenth() -> RatioBudget {
    RatioBudget::new(Ratio::percent(10).unwrap()).with_window(Duration::from_secs(600))
}

/// 2 × 2 × 2 = 8 for each.
#[tokio::test]
async fn three_levels_that_split_send_each_call_as_often_as_the_top_may() {
    let arrived = arrivals(InboundTrust::Everything, thirds(|| Unlimited)).await;
    assert!(arrived.values().all(|times| *times == 8), "{arrived:?}");
}

/// ⌈0.1 × 1,000⌉ = 100 retries, and one more for each further level, as each rounds up.
#[tokio::test]
async fn three_levels_that_split_share_one_budgets_worth_of_retries() {
    let arrived = arrivals(InboundTrust::Everything, thirds(a_tenth)).await;
    let total: usize = arrived.values().sum();
    assert!(total > 1_090 && total <= 1_102, "{total}");
    assert!(arrived.values().all(|times| *times <= 8), "{arrived:?}");
}

/// Then each level divides its own: 2 × 4 × 8 = 64.
#[tokio::test]
async fn a_part_that_nobody_believes_is_none() {
    let arrived = arrivals(InboundTrust::Deadline, thirds(a_tenth)).await;
    let total: usize = arrived.values().sum();
    assert!(total > 1_102 && total <= 1_331, "{total}");
    assert!(arrived.values().all(|times| *times <= 64), "{arrived:?}");
}
