//! gRPC's status comes last.

use steadfast_core::Hints;
use steadfast_kit::Piece;

use super::*;

fn trailers(status: &'static str) -> Piece {
    Piece::trailer("grpc-status", status)
}

async fn after_four(pieces: fn() -> Vec<Piece>) -> CircuitState {
    let stack = Stack::new(config());
    for _ in 0..4 {
        stack.call(Does::Grpc(pieces())).await;
    }
    stack.state()
}

/// O-22, the breaker's half: the failure after the data is recorded when the stream ends.
#[tokio::test(start_paused = true)]
async fn a_status_in_the_trailers_is_what_counts() {
    let open = CircuitState::Open;
    assert_eq!(after_four(|| vec![trailers("14")]).await, open);
    let after_data = || vec![Piece::data("message"), trailers("14")];
    assert_eq!(after_four(after_data).await, open);
    for callers_own in ["3", "5", "8", "12", "16"] {
        let stack = Stack::new(config());
        for _ in 0..4 {
            stack.call(Does::Grpc(vec![trailers(callers_own)])).await;
        }
        assert_eq!(stack.state(), CircuitState::Closed, "{callers_own}");
    }
    let well = || vec![Piece::data("message"), trailers("0")];
    assert_eq!(after_four(well).await, CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_without_a_status_was_cut_off() {
    assert_eq!(
        after_four(|| vec![Piece::data("message")]).await,
        CircuitState::Open
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_its_reader_left_says_nothing() {
    let stack = Stack::new(config());
    for _ in 0..50 {
        let does = Does::Grpc(vec![Piece::data("message"), trailers("14")]);
        let answer = stack.service().oneshot(to(HOST, does)).await.unwrap();
        drop(answer);
    }
    assert_eq!(stack.state(), CircuitState::Closed);
    for _ in 0..3 {
        stack.call(Does::Status(500)).await;
    }
    assert_eq!(
        stack.state(),
        CircuitState::Closed,
        "none of the fifty counts"
    );
}

#[tokio::test(start_paused = true)]
async fn a_pushback_keeps_it_open_as_long_where_hints_are_heard() {
    let pushed = || {
        let trailers = [("grpc-status", "14"), ("grpc-retry-pushback-ms", "20000")];
        let map = trailers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        Does::Grpc(vec![Piece::Trailers(map.into_iter().collect())])
    };
    for (config, open_for) in [
        (config(), 5),
        (config().with_hints(Hints::default()), 20),
        (config().with_hints(Hints::nothing()), 5),
    ] {
        let stack = Stack::new(config);
        for _ in 0..4 {
            stack.call(pushed()).await;
        }
        let refused = Called::Refused(Some(open_for * SECOND));
        assert_eq!(stack.call(Does::Status(200)).await, refused);
    }
}
