//! The way back.

use steadfast_kit::{Piece, drop_at_every_await};

use super::*;

#[tokio::test(start_paused = true)]
async fn an_open_circuit_says_how_long_and_lets_one_probe_through_then() {
    let stack = Stack::new(config());
    stack.open().await;
    tokio::time::sleep(2 * SECOND).await;
    assert_eq!(
        stack.call(Does::Status(200)).await,
        Called::Refused(Some(3 * SECOND))
    );
    tokio::time::sleep(3 * SECOND).await;
    assert_eq!(stack.call(Does::Status(200)).await, Called::Answered(200));
    assert_eq!(stack.state(), CircuitState::Closed);
    assert_eq!(stack.peer.calls(), 5);
}

#[tokio::test(start_paused = true)]
async fn each_failed_probe_doubles_the_open_time_and_a_success_begins_anew() {
    let stack = Stack::new(config());
    stack.open().await;
    for left in [5, 10, 20, 40, 60, 60] {
        let refused = stack.call(Does::Status(200)).await;
        assert_eq!(refused, Called::Refused(Some(left * SECOND)));
        tokio::time::sleep(left * SECOND).await;
        assert_eq!(stack.call(Does::Status(503)).await, Called::Answered(503));
    }
    tokio::time::sleep(60 * SECOND).await;
    stack.call(Does::Status(200)).await;
    stack.open().await;
    assert_eq!(
        stack.call(Does::Status(200)).await,
        Called::Refused(Some(5 * SECOND))
    );
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_told_of_a_mistake_shows_a_peer_that_lives() {
    for (status, state) in [
        (404, CircuitState::Closed),
        (429, CircuitState::HalfOpen),
        (408, CircuitState::Open),
    ] {
        let stack = Stack::new(config());
        stack.open().await;
        tokio::time::sleep(5 * SECOND).await;
        stack.call(Does::Status(status)).await;
        assert_eq!(stack.state(), state, "{status}");
    }
}

/// O-28: a dropped probe's place is free again, wherever it was dropped.
#[tokio::test(start_paused = true)]
async fn a_probe_that_is_dropped_leaves_its_place_to_the_next_call() {
    let driven = drop_at_every_await(
        || {
            let stack = Stack::new(config().with_open(exactly(Duration::ZERO)));
            stack.handle().hold_open(HOST);
            stack.handle().close(HOST);
            let service = stack.service();
            let call = async move {
                let mut opened = Vec::new();
                for _ in 0..4 {
                    let service = service.clone();
                    opened.push(service.oneshot(to(HOST, Does::Status(500))).await);
                }
                let pieces = vec![
                    Piece::Pending,
                    Piece::data("1"),
                    Piece::Pending,
                    Piece::data("2"),
                ];
                let body = Box::new(Does::Body(pieces));
                let does = Does::Late(Duration::from_millis(1), body);
                let answer = service.oneshot(to(HOST, does)).await.unwrap();
                answer.into_body().collect().await.unwrap();
            };
            (call, stack)
        },
        |stack, polls| {
            let call = stack.call(Does::Status(200));
            let mut call = tokio_test::task::spawn(call);
            let called = tokio_test::assert_ready!(call.poll(), "after {polls} polls");
            assert_eq!(called, Called::Answered(200), "after {polls} polls");
            assert_eq!(stack.state(), CircuitState::Closed, "after {polls} polls");
        },
    )
    .await;
    assert!(driven.polls >= 4, "{} polls", driven.polls);
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_never_ends_keeps_others_out_for_its_lease_only() {
    let stack = Stack::new(config());
    stack.open().await;
    tokio::time::sleep(5 * SECOND).await;
    let hangs = tokio::spawn(stack.service().oneshot(to(HOST, Does::Never)));
    tokio::task::yield_now().await;
    assert_eq!(stack.call(Does::Status(200)).await, Called::Refused(None));
    tokio::time::sleep(30 * SECOND).await;
    assert_eq!(stack.call(Does::Status(200)).await, Called::Answered(200));
    assert_eq!(stack.state(), CircuitState::Closed);
    hangs.abort();
}

#[tokio::test(start_paused = true)]
async fn more_probes_must_all_succeed() {
    let stack = Stack::new(config().with_probes(count(3)));
    stack.open().await;
    tokio::time::sleep(5 * SECOND).await;
    for _ in 0..2 {
        stack.call(Does::Status(200)).await;
        assert_eq!(stack.state(), CircuitState::HalfOpen);
    }
    stack.call(Does::Status(200)).await;
    assert_eq!(stack.state(), CircuitState::Closed);
}
