use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use steadfast_kit::drop_at_every_await;

#[tokio::test(start_paused = true)]
async fn drops_after_every_number_of_polls() {
    let mut dropped = Vec::new();
    let driven = drop_at_every_await(
        || {
            let held = Arc::new(());
            let mine = Arc::clone(&held);
            let future = async move {
                tokio::time::sleep(Duration::from_secs(60)).await;
                tokio::task::yield_now().await;
                tokio::time::sleep(Duration::from_secs(3600)).await;
                drop(mine);
                "done"
            };
            (future, held)
        },
        |held, polls| {
            assert_eq!(Arc::strong_count(&held), 1, "after {polls} polls");
            dropped.push(polls);
        },
    )
    .await;
    assert_eq!(driven.output, "done");
    assert_eq!(driven.polls, 4);
    assert_eq!(dropped, [0, 1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "nothing woke the future after poll 1")]
async fn a_future_that_registers_no_waker_is_found() {
    drop_at_every_await(
        || {
            let mut polls = 0;
            let future = poll_fn(move |_| {
                polls += 1;
                if polls == 3 {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            });
            (future, ())
        },
        |(), _| {},
    )
    .await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "leaked")]
async fn a_check_that_fails_fails_the_test() {
    let make = || (pending::<()>(), ());
    drop_at_every_await(make, |(), _| panic!("leaked")).await;
}
