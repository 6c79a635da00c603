//! tower's layers that ask whether the one below is ready, and its queue: in one stack with ours.

use std::time::Duration;

use axum::error_handling::HandleErrorLayer;
use steadfast::{CallContext, Deadline};
use tokio::time::Instant;
use tower::buffer::BufferLayer;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::{BoxError, ServiceBuilder};

use super::*;

/// These layers in one stack around an app; their errors are answered with 429.
macro_rules! one_stack {
    ($($layer:expr),+; $app:expr) => {
        ServiceBuilder::new()
            .layer(HandleErrorLayer::new(async |_: BoxError| {
                StatusCode::TOO_MANY_REQUESTS
            }))
            $(.layer($layer))+
            .service($app)
    };
}

fn one() -> GlobalConcurrencyLimitLayer {
    GlobalConcurrencyLimitLayer::new(1)
}

fn in_a_router<S>(stack: S) -> Router
where
    S: tower::Service<Request, Error = std::convert::Infallible> + Clone + Send + Sync + 'static,
    S::Response: axum::response::IntoResponse,
    S::Future: Send + 'static,
{
    Router::new().fallback_service(stack)
}

/// Begins a request that runs for as long as its handler takes.
async fn occupied(app: &Router, request: Request) -> tokio::task::JoinHandle<StatusCode> {
    let app = app.clone();
    let call = tokio::spawn(async move { ask(&app, request).await.status() });
    for _ in 0..9 {
        tokio::task::yield_now().await;
    }
    call
}

#[tokio::test(start_paused = true)]
async fn a_full_server_sheds_before_a_deadline_begins_in_either_order() {
    for outside in [true, false] {
        let (app, runs) = app(2 * SECOND);
        let stack = match outside {
            true => in_a_router(one_stack!(deadline(), LoadShedLayer::new(), one(); app)),
            false => in_a_router(one_stack!(LoadShedLayer::new(), deadline(), one(); app)),
        };
        let first = occupied(&stack, get()).await;
        let start = Instant::now();
        assert_eq!(ask(&stack, waiting(5_000)).await.status(), 429);
        assert!(start.elapsed().is_zero());
        assert_eq!(first.await.unwrap(), 200);
        assert_eq!(runs.get(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_inside_a_buffer_begins_after_the_queue() {
    for (outside, status, took) in [(true, 504, 990), (false, 200, 4_000)] {
        let (app, _) = app(2 * SECOND);
        let stack = match outside {
            true => in_a_router(one_stack!(deadline(), BufferLayer::new(8), one(); app)),
            false => in_a_router(one_stack!(BufferLayer::new(8), deadline(), one(); app)),
        };
        let start = Instant::now();
        let first = occupied(&stack, get()).await;
        let waits = if outside { 1_000 } else { 3_000 };
        assert_eq!(ask(&stack, waiting(waits)).await.status(), status);
        assert_eq!(start.elapsed(), Duration::from_millis(took));
        assert_eq!(first.await.unwrap(), 200);
    }
}

/// In one stack the limit makes the deadline itself unready; only a queue between them is inside.
#[tokio::test(start_paused = true)]
async fn a_deadline_directly_on_a_concurrency_limit_in_one_stack_begins_after_the_queue() {
    let (app, _) = app(2 * SECOND);
    let stack = in_a_router(stack!(deadline(), one(); app));
    let start = Instant::now();
    let first = occupied(&stack, get()).await;
    assert_eq!(ask(&stack, waiting(3_000)).await.status(), 200);
    assert_eq!(start.elapsed(), 4 * SECOND);
    assert_eq!(first.await.unwrap(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_handler_behind_a_buffer_knows_its_deadline() {
    let knows = async || match CallContext::current_deadline() {
        Deadline::NONE => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    };
    let app = Router::new().fallback(knows);
    let stack = in_a_router(one_stack!(deadline(), BufferLayer::new(8); app));
    assert_eq!(ask(&stack, waiting(5_000)).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_full_server_counts_the_retries_that_it_sheds_only_if_arrivals_stand_outside() {
    for outside in [true, false] {
        let (app, _) = app(2 * SECOND);
        let stack = match outside {
            true => in_a_router(one_stack!(arrivals(), LoadShedLayer::new(), one(); app)),
            false => in_a_router(one_stack!(LoadShedLayer::new(), arrivals(), one(); app)),
        };
        let first = occupied(&stack, get()).await;
        assert_eq!(ask(&stack, again(get())).await.status(), 429);
        let answer = ask(&stack, again(get())).await;
        assert_eq!(is_sent_away(&answer), outside);
        assert_eq!(answer.status(), if outside { 503 } else { 429 });
        assert_eq!(first.await.unwrap(), 200);
        // Those two, which were shed, are forgotten or count.
        assert_eq!(is_sent_away(&ask(&stack, again(get())).await), outside);
    }
}

#[tokio::test(start_paused = true)]
async fn arrivals_inside_a_buffer_let_a_retry_queue_to_be_sent_away() {
    for (outside, took) in [(true, 0), (false, 2)] {
        let (app, _) = app(2 * SECOND);
        let stack = match outside {
            true => in_a_router(one_stack!(arrivals(), BufferLayer::new(8), one(); app)),
            false => in_a_router(one_stack!(BufferLayer::new(8), arrivals(), one(); app)),
        };
        let start = Instant::now();
        let first = occupied(&stack, again(get())).await;
        assert!(is_sent_away(&ask(&stack, again(get())).await));
        assert_eq!(start.elapsed(), took * SECOND);
        assert_eq!(first.await.unwrap(), 200);
    }
}

#[tokio::test]
async fn load_shed_outside_idempotency_sheds_replays_too() {
    for outside in [true, false] {
        let ledger = Ledger::whose_charges_wait().await;
        let app = ledger.app();
        let stack = Ledger::known(match outside {
            true => in_a_router(one_stack!(LoadShedLayer::new(), ledger.layer(), one(); app)),
            false => in_a_router(one_stack!(ledger.layer(), LoadShedLayer::new(), one(); app)),
        });
        ledger.may_answer.add_permits(1);
        assert_eq!(ask(&stack, charge("k-1")).await.status(), 201);
        let other = occupied(&stack, charge("k-2")).await;
        ledger.has_charged(2).await;
        let replay = ask(&stack, charge("k-1")).await;
        assert_eq!(replay.status(), if outside { 429 } else { 201 });
        assert_eq!(is_replay(&replay), !outside);
        ledger.may_answer.add_permits(1);
        assert_eq!(other.await.unwrap(), 201);
        assert_eq!(ledger.charges().await, 2);
    }
}

#[tokio::test]
async fn an_effect_behind_a_buffer_happens_once_in_either_order() {
    for outside in [true, false] {
        let ledger = Ledger::open().await;
        let app = ledger.app();
        let stack = Ledger::known(match outside {
            true => in_a_router(one_stack!(BufferLayer::new(8), ledger.layer(); app)),
            false => in_a_router(one_stack!(ledger.layer(), BufferLayer::new(8); app)),
        });
        assert_eq!(ask(&stack, charge("k-1")).await.status(), 201);
        assert!(is_replay(&ask(&stack, charge("k-1")).await));
        assert_eq!((ledger.charges().await, ledger.runs.get()), (1, 1));
    }
}
