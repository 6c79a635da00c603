//! tower's queue and limit, which hold calls back by their readiness.

use std::time::Duration;

use http_body_util::BodyExt;
use steadfast::deadline::server::{InboundConfig, InboundDeadlineLayer};
use steadfast::{Cut, Reason};
use tokio::time::{Instant, sleep};
use tower::buffer::BufferLayer;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::{Layer, ServiceExt, service_fn};

use crate::pairs::asked::*;
use crate::pairs::layers::*;
use crate::pairs::peer::{Does, Peer};
use crate::pairs::stack;

fn one() -> GlobalConcurrencyLimitLayer {
    GlobalConcurrencyLimitLayer::new(1)
}

#[tokio::test(start_paused = true)]
async fn the_time_in_a_buffers_queue_is_the_calls_and_is_not_told_to_the_peer() {
    let peer = Peer::new([Does::Late(2 * SECOND)]);
    let stack = stack!(call_limit(3 * SECOND), BufferLayer::new(8), one(), propagate(); peer);
    let start = Instant::now();
    let first = stack.begin(get()).await;
    let second = stack.ask(get()).await;
    assert_eq!(cut(&second), Some(Cut::Deadline));
    assert_eq!(start.elapsed(), 3 * SECOND);
    assert_eq!(status(first.await.unwrap()), 200);
    assert_eq!(peer.told(TIME), ["3000", "1000"]);
}

/// The queue's task does not know whose request is served; the call limit has written it down.
#[tokio::test(start_paused = true)]
async fn a_served_requests_deadline_gets_past_a_buffer_only_with_a_call_limit_above() {
    for (limited, told) in [(true, "4990"), (false, "")] {
        let peer = Peer::new([Does::Says(200)]);
        let seen = peer.clone();
        let handler = service_fn(move |_: http::Request<()>| {
            let peer = seen.clone();
            async move {
                let ended = match limited {
                    true => {
                        stack!(call_limit(60 * SECOND), BufferLayer::new(8), propagate(); peer)
                            .ask(get())
                            .await
                    }
                    false => {
                        stack!(BufferLayer::new(8), propagate(); peer)
                            .ask(get())
                            .await
                    }
                };
                ended.map(|head| http::Response::from_parts(head, String::new()))
            }
        });
        let server = InboundDeadlineLayer::new(InboundConfig::new()).layer(handler);
        let request = http::Request::get("/").header(TIME, "5000").body(());
        assert_eq!(
            server.oneshot(request.unwrap()).await.unwrap().status(),
            200
        );
        assert_eq!(peer.told(TIME), [told]);
    }
}

#[tokio::test(start_paused = true)]
async fn retries_pass_through_a_buffer_one_behind_the_other() {
    let peer = Peer::new([Does::Says(503), Does::Says(503), Does::Says(200)]);
    let stack = stack!(retry(), BufferLayer::new(1), one(); peer);
    let (a, b) = tokio::join!(stack.ask(get()), stack.ask(get()));
    assert_eq!((status(a), status(b)), (200, 200));
    assert_eq!(peer.calls(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_timed_out_in_a_buffers_queue_is_not_sent_afterwards() {
    let peer = Peer::new([Does::Late(5 * SECOND / 2), Does::Says(200)]);
    let patience = 3 * SECOND / 2;
    let place = one();
    let holds = stack!(place.clone(); peer).begin(get()).await;
    let start = Instant::now();
    let stack = stack!(retry(), attempt_timeout(patience), BufferLayer::new(8), place; peer);
    let ended = stack.ask(get());
    // The first attempt leaves the queue at 1.5 s; the second comes at 2.5 s.
    assert_eq!(status(ended.await), 200);
    assert_eq!(start.elapsed(), 5 * SECOND / 2);
    assert_eq!(status(holds.await.unwrap()), 200);
    assert_eq!(peer.calls(), 2, "the call beside it, and one attempt");
}

#[tokio::test(start_paused = true)]
async fn a_concurrency_limit_outside_retry_is_taken_through_all_waits() {
    for outside in [true, false] {
        let peer = Peer::new([Does::Says(503), Does::Says(200)]);
        let start = Instant::now();
        let (first, second) = match outside {
            true => {
                let stack = stack!(BufferLayer::new(8), one(), retry(); peer);
                let first = stack.begin(get()).await;
                sleep(Duration::from_millis(1)).await;
                (first, stack.ask(get()).await)
            }
            false => {
                let stack = stack!(retry(), BufferLayer::new(8), one(); peer);
                let first = stack.begin(get()).await;
                sleep(Duration::from_millis(1)).await;
                (first, stack.ask(get()).await)
            }
        };
        // One that finds no place waits for the other's second attempt.
        let early = start.elapsed() < SECOND;
        assert_eq!(early, !outside);
        assert_eq!((status(second), status(first.await.unwrap())), (200, 200));
    }
}

/// What a body still holds open at the peer: the bulkhead counts it, the limit does not.
#[tokio::test(start_paused = true)]
async fn a_concurrency_limit_ends_with_the_head_and_a_bulkhead_with_the_body() {
    let peer = Peer::new([Does::Says(200)]);
    let limited = stack!(one(); peer);
    let unread = limited.clone().oneshot(get()).await.unwrap();
    assert_eq!(status(limited.ask(get()).await), 200);
    drop(unread);

    let held = stack!(bulkhead(); peer);
    let unread = held.clone().oneshot(get()).await.unwrap();
    assert_eq!(reason(&held.ask(get()).await), Some(Reason::BulkheadFull));
    unread.into_body().collect().await.unwrap();
    assert_eq!(status(held.ask(get()).await), 200);
}
