//! O-30: who gave up?

use steadfast_core::Cut;
use tokio::time::timeout;

use super::*;
use crate::MS;

#[tokio::test(start_paused = true)]
async fn callers_without_patience_do_not_open_a_healthy_peer() {
    let stack = Stack::new(config());
    for _ in 0..50 {
        let healthy = Does::Late(20 * MS, Box::new(Does::Status(200)));
        assert!(timeout(5 * MS, stack.call(healthy)).await.is_err());
    }
    assert_eq!(stack.peer.calls(), 50);
    assert_eq!(stack.state(), CircuitState::Closed);
    // Nor did they count as successes.
    stack.open().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_misses_the_time_it_was_given_is_failing() {
    let stack = Stack::new(config());
    let mut refused = 0;
    for _ in 0..50 {
        let missed = Does::Late(20 * MS, Box::new(Does::TimesOut(Cut::AttemptTimeout)));
        refused += u32::from(matches!(stack.call(missed).await, Called::Refused(_)));
    }
    assert_eq!(stack.state(), CircuitState::Open);
    assert_eq!((stack.peer.calls(), refused), (4, 46));
}

/// The idle limit below makes an error of the silence.
#[tokio::test(start_paused = true)]
async fn a_200_and_then_silence_is_a_failure() {
    use steadfast_core::Elapsed;
    use steadfast_kit::Piece;
    let stack = Stack::new(config());
    for _ in 0..4 {
        let silence = Elapsed::new(30 * SECOND, Cut::BodyIdle);
        let pieces = vec![Piece::data("half"), Piece::fail(silence)];
        assert_eq!(stack.call(Does::Body(pieces)).await, Called::Broke);
    }
    assert_eq!(stack.state(), CircuitState::Open);
}
