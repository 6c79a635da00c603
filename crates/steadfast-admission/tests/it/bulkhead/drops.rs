//! What is left of a call that was dropped anywhere.

use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt;
use steadfast_admission::BulkheadLayer;
use steadfast_kit::{Chunks, Piece, Readiness, Step, drop_at_every_await};
use tower::{Layer, ServiceExt};

use super::{Inner, call, get, limit};
use crate::MS;

/// After some time, an answer whose body pauses.
fn answer(delay: Duration) -> Step<Request<()>, Response<Chunks>> {
    let body = [
        Piece::data("one"),
        Piece::Pending,
        Piece::trailer("x-sum", "1"),
    ];
    Step::answer(Response::new(Chunks::new(body))).after(delay)
}

fn patient() -> BulkheadLayer {
    BulkheadLayer::new(limit(1).with_max_wait(Duration::from_secs(1)))
}

fn assert_nothing_is_left(layer: &BulkheadLayer, inner: &Inner, polls: usize) {
    let handle = layer.handle();
    let left = (handle.in_flight("a"), handle.waiting("a"));
    assert_eq!(left, (0, 0), "{polls} polls");
    let inner_left = (inner.in_flight(), inner.reserved());
    assert_eq!(inner_left, (0, 0), "{polls} polls");
}

#[tokio::test(start_paused = true)]
async fn a_call_with_a_place_gives_it_back_wherever_it_is_dropped() {
    let driven = drop_at_every_await(
        || {
            let (layer, inner) = (patient(), Inner::script([answer(5 * MS)]));
            let inner = inner.with_readiness([Readiness::After(MS)]);
            let service = layer.layer(inner.clone());
            let whole = async move {
                let answer = service.oneshot(get("a")).await.unwrap();
                answer.into_body().collect().await.unwrap();
            };
            (whole, (layer, inner))
        },
        |(layer, inner), polls| assert_nothing_is_left(&layer, &inner, polls),
    )
    .await;
    assert_eq!(driven.polls, 4);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_gives_everything_back_wherever_it_is_dropped() {
    let driven = drop_at_every_await(
        || {
            let (layer, inner) = (patient(), Inner::script([answer(9 * MS), answer(5 * MS)]));
            let readiness = [Readiness::Now, Readiness::After(MS), Readiness::After(MS)];
            let inner = inner.with_readiness(readiness);
            let service = layer.layer(inner.clone());
            let first = call(&service, get("a"));
            let whole = async move {
                let first = async move { drop(first.await.unwrap().into_body().collect().await) };
                let second = async move {
                    let answer = service.oneshot(get("a")).await.unwrap();
                    answer.into_body().collect().await.unwrap();
                };
                tokio::join!(second, first);
            };
            (whole, (layer, inner))
        },
        |(layer, inner), polls| assert_nothing_is_left(&layer, &inner, polls),
    )
    .await;
    assert!(driven.polls >= 6, "{}", driven.polls);
}
