//! Each layer of a server alone, and all of them in the order of the table.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use steadfast::admission::arrivals::ArrivalsConfig;
use steadfast::deadline::server::{InboundConfig, InboundDeadlineLayer};
use steadfast::idempotency::server::TransactionSlot;
use steadfast::server::{Draft, StandardLayer};
use steadfast::sqlx::SqliteTx;
use steadfast::{CallContext, Ratio};
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::{ServiceBuilder, service_fn};

use super::served::{Handler, Serves};
use super::served_by_each;
use crate::pairs::server::*;

served_by_each![
    a_deadline_refuses_expired_work_and_is_known_to_the_handler,
    arrivals_send_retries_away,
    idempotency_has_the_effect_once_and_replays,
    the_whole_stack_has_one_effect_in_time_for_a_known_caller,
    the_standard_stack_refuses_what_expired_and_retries_that_are_too_many,
];

/// A handler that says by its status whether it knows a deadline.
fn knows_its_deadline(runs: &Count) -> Handler {
    let runs = runs.clone();
    Handler::new(service_fn(move |_: Request| {
        runs.one();
        async {
            let known = CallContext::current_deadline().instant().is_some();
            Ok(match known {
                true => StatusCode::OK,
                false => StatusCode::NO_CONTENT,
            }
            .into_response())
        }
    }))
}

/// A handler whose effect is a row of the ledger.
fn charges(runs: &Count) -> Handler {
    let runs = runs.clone();
    Handler::new(service_fn(move |request: Request| {
        runs.one();
        let slot = request.extensions().get::<TransactionSlot<SqliteTx>>();
        let slot = slot.unwrap().clone();
        async move {
            let mut tx = slot.take().unwrap();
            sqlx::query("INSERT INTO charge (cents) VALUES (2000)")
                .execute(&mut **tx)
                .await
                .unwrap();
            let answer = (StatusCode::CREATED, "charged ".repeat(100));
            Ok::<Response, _>(answer.into_response())
        }
    }))
}

async fn a_deadline_refuses_expired_work_and_is_known_to_the_handler<W: Serves>() {
    let runs = Count::default();
    let app = W::start(deadline(), knows_its_deadline(&runs)).await;
    let expired = app.ask(with(TIME, "0", charge("k-1"))).await;
    assert_eq!((expired.status().as_u16(), runs.get()), (504, 0));
    let told = app.ask(with(TIME, "60000", charge("k-1"))).await;
    assert_eq!(told.status(), 200);
    let untold = app.ask(charge("k-1")).await;
    assert_eq!((untold.status().as_u16(), runs.get()), (204, 2));
}

async fn arrivals_send_retries_away<W: Serves>() {
    let runs = Count::default();
    let app = W::start(arrivals(), knows_its_deadline(&runs)).await;
    assert_eq!(app.ask(charge("k-1")).await.status(), 204);
    assert_eq!(app.ask(again(charge("k-1"))).await.status(), 204);
    assert!(is_sent_away(&app.ask(again(charge("k-1"))).await));
    assert_eq!(app.ask(charge("k-1")).await.status(), 204);
    assert_eq!(runs.get(), 3);
}

async fn idempotency_has_the_effect_once_and_replays<W: Serves>() {
    let (ledger, runs) = (Ledger::open().await, Count::default());
    let asked = Count::default();
    let known = ServiceBuilder::new().layer(authentication!(asked));
    let layers = known.layer(ledger.layer()).into_inner();
    let app = W::start(layers, charges(&runs)).await;
    let ours = |key| with("account", "a", charge(key));
    let first = app.ask(ours("k-1")).await;
    assert_eq!((first.status().as_u16(), is_replay(&first)), (201, false));
    let repeat = app.ask(ours("k-1")).await;
    assert_eq!((repeat.status().as_u16(), is_replay(&repeat)), (201, true));
    assert_eq!(repeat.body(), first.body());
    assert_eq!(app.ask(ours("k-2")).await.status(), 201);
    assert_eq!((ledger.charges().await, runs.get()), (2, 2));
}

async fn the_whole_stack_has_one_effect_in_time_for_a_known_caller<W: Serves>() {
    let (ledger, runs) = (Ledger::open().await, Count::default());
    let (seen, asked) = (Count::default(), Count::default());
    let maximum = InboundConfig::new().with_maximum(60 * SECOND);
    let layers = ServiceBuilder::new()
        .layer(trace!(seen))
        .layer(InboundDeadlineLayer::new(maximum))
        .layer(arrivals())
        .layer(GlobalConcurrencyLimitLayer::new(8))
        .layer(authentication!(asked))
        .layer(compression())
        .layer(ledger.layer());
    let app = W::start(layers.into_inner(), charges(&runs)).await;
    let ours = |key| with("account", "a", charge(key));

    let expired = app.ask(with(TIME, "0", ours("k-1"))).await;
    assert_eq!(expired.status(), 504);
    assert_eq!(app.ask(charge("k-1")).await.status(), 403);
    let first = app.ask(with("accept-encoding", "gzip", ours("k-1"))).await;
    assert_eq!(first.status(), 201);
    assert!(is_compressed(&first));
    for _ in 0..2 {
        let repeat = app.ask(again(ours("k-1"))).await;
        assert!(is_replay(&repeat) && !is_compressed(&repeat));
        assert!(repeat.body().starts_with(b"charged"));
    }
    let once_more = app.ask(again(ours("k-1"))).await;
    assert!(is_sent_away(&once_more), "more than half are retries");
    assert_eq!((ledger.charges().await, runs.get()), (1, 1));
    // Of six, the expired one and the last were not looked up.
    assert_eq!((seen.get(), asked.get()), (6, 4));
}

async fn the_standard_stack_refuses_what_expired_and_retries_that_are_too_many<W: Serves>() {
    let runs = Count::default();
    let one = 1.try_into().unwrap();
    let few = ArrivalsConfig::new()
        .with_share(Ratio::percent(50).unwrap())
        .with_minimum(one);
    let policy = Draft::new().with_maximum(60 * SECOND).with_arrivals(few);
    let layer = StandardLayer::new(policy.check().unwrap());
    let app = W::start(layer, knows_its_deadline(&runs)).await;
    let expired = app.ask(with(TIME, "0", charge("k-1"))).await;
    assert_eq!((expired.status().as_u16(), runs.get()), (504, 0));
    assert_eq!(
        app.ask(charge("k-1")).await.status(),
        200,
        "its own maximum"
    );
    assert_eq!(app.ask(again(charge("k-1"))).await.status(), 200);
    assert!(is_sent_away(&app.ask(again(charge("k-1"))).await));
    assert_eq!(app.ask(charge("k-1")).await.status(), 200);
    assert_eq!(runs.get(), 3);
}
