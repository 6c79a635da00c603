//! Arrivals around each other layer of a server, and inside it. With the deadline: `deadline`.

use std::time::Duration;

use tokio::time::Instant;
use tower::limit::GlobalConcurrencyLimitLayer;

use super::*;

#[tokio::test]
async fn arrivals_outside_idempotency_send_away_a_retry_whose_answer_is_there() {
    for outside in [true, false] {
        let ledger = Ledger::open().await;
        let stack = Ledger::known(match outside {
            true => around!(arrivals(), ledger.layer(); ledger.app()),
            false => around!(ledger.layer(), arrivals(); ledger.app()),
        });
        assert_eq!(ask(&stack, charge("k-1")).await.status(), 201);
        let replay = ask(&stack, again(charge("k-1"))).await;
        assert!(is_replay(&replay), "half is not too much");
        let repeat = ask(&stack, again(charge("k-1"))).await;
        assert_eq!(is_sent_away(&repeat), outside);
        assert_eq!(is_replay(&repeat), !outside);
        // What is sent away is not kept under its key.
        assert_eq!(
            ask(&stack, again(charge("k-2"))).await.status(),
            if outside { 503 } else { 201 }
        );
        assert_eq!(ask(&stack, charge("k-2")).await.status(), 201);
        assert_eq!(ledger.charges().await, 2);
    }
}

#[tokio::test(start_paused = true)]
async fn arrivals_outside_authentication_count_the_retries_of_strangers() {
    let known_only = |app: Router| {
        let asked = Count::default();
        app.layer(axum::middleware::from_fn(
            async |request: Request, next: axum::middleware::Next| match request
                .extensions()
                .get::<Account>()
            {
                Some(_) => next.run(request).await,
                None => axum::response::IntoResponse::into_response(StatusCode::UNAUTHORIZED),
            },
        ))
        .layer(authentication!(asked))
    };
    let ours = || with("account", "a", again(get()));
    let (app, _) = app(Duration::ZERO);
    for outside in [true, false] {
        let stack = match outside {
            true => known_only(app.clone()).layer(arrivals()),
            false => known_only(app.clone().layer(arrivals())),
        };
        assert_eq!(ask(&stack, again(get())).await.status(), 401);
        assert_eq!(is_sent_away(&ask(&stack, ours()).await), outside);
    }
}

#[tokio::test(start_paused = true)]
async fn a_trace_inside_arrivals_does_not_see_who_was_sent_away() {
    let (app, _) = app(Duration::ZERO);
    for (traced, seen) in [(true, 2), (false, 1)] {
        let saw = Count::default();
        let stack = match traced {
            true => around!(trace!(saw), arrivals(); app.clone()),
            false => around!(arrivals(), trace!(saw); app.clone()),
        };
        assert_eq!(ask(&stack, again(get())).await.status(), 200);
        assert!(is_sent_away(&ask(&stack, again(get())).await));
        assert_eq!(saw.get(), seen);
    }
}

#[tokio::test(start_paused = true)]
async fn arrivals_and_compression_do_not_meet() {
    for outside in [true, false] {
        let (app, _) = app(Duration::ZERO);
        let stack = match outside {
            true => around!(arrivals(), compression(); app),
            false => around!(compression(), arrivals(); app),
        };
        let gzip = || with("accept-encoding", "gzip", again(get()));
        assert!(is_compressed(&ask(&stack, gzip()).await));
        assert!(is_sent_away(&ask(&stack, gzip()).await));
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_sent_away_before_a_timeout_begins_in_either_order() {
    for outside in [true, false] {
        let (app, _) = app(9 * SECOND);
        let stack = match outside {
            true => around!(arrivals(), timeout(SECOND); app),
            false => around!(timeout(SECOND), arrivals(); app),
        };
        assert_eq!(ask(&stack, again(get())).await.status(), 408);
        let start = Instant::now();
        assert!(is_sent_away(&ask(&stack, again(get())).await));
        assert!(start.elapsed().is_zero());
    }
}

#[tokio::test(start_paused = true)]
async fn arrivals_inside_a_concurrency_limit_let_a_retry_queue_to_be_sent_away() {
    let one = || GlobalConcurrencyLimitLayer::new(1);
    for (outside, took) in [(true, 0), (false, 2)] {
        let (app, _) = app(2 * SECOND);
        let stack = match outside {
            true => around!(arrivals(), one(); app),
            false => around!(one(), arrivals(); app),
        };
        let start = Instant::now();
        let first = stack.clone();
        let first = tokio::spawn(async move { ask(&first, again(get())).await.status() });
        tokio::task::yield_now().await;
        assert!(is_sent_away(&ask(&stack, again(get())).await));
        assert_eq!(start.elapsed(), took * SECOND);
        assert_eq!(first.await.unwrap(), 200);
    }
}
