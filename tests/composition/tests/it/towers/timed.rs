//! tower's timeout in the place of ours.

use steadfast::{CircuitState, Cut, Reason};
use tokio::time::Instant;
use tower::timeout::TimeoutLayer;
use tower::timeout::error::Elapsed;

use crate::pairs::asked::*;
use crate::pairs::layers::*;
use crate::pairs::peer::{Does, Peer};
use crate::pairs::stack;

#[tokio::test(start_paused = true)]
async fn an_attempt_that_towers_timeout_ended_is_repeated_where_that_is_safe() {
    let peer = Peer::new([Does::Hangs, Does::Says(200)]);
    let stack = stack!(retry(), TimeoutLayer::new(SECOND); peer);
    assert_eq!(status(stack.ask(get()).await), 200);
    assert_eq!(peer.calls(), 2);

    let peer = Peer::new([Does::Hangs, Does::Says(200)]);
    let stack = stack!(retry(), TimeoutLayer::new(SECOND); peer);
    let ended = stack.ask(post()).await;
    assert_eq!(reason(&ended), Some(Reason::Unprotected));
    assert!(is_caused_by::<Elapsed>(&ended.unwrap_err()));
    assert_eq!(peer.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn towers_timeout_around_retry_ends_it_in_the_middle_of_a_wait() {
    let peer = Peer::new([Does::Says(503)]);
    let stack = stack!(TimeoutLayer::new(SECOND / 2), retry(); peer);
    let start = Instant::now();
    let error = stack.ask(get()).await.unwrap_err();
    assert!(is_caused_by::<Elapsed>(&error));
    assert_eq!((start.elapsed(), peer.calls()), (SECOND / 2, 1));
    // Ours leaves the answer that there is: the wait would not end in time.
    let peer = Peer::new([Does::Says(503)]);
    let stack = stack!(call_limit(SECOND / 2), retry(); peer);
    let start = Instant::now();
    let ended = stack.ask(get()).await;
    assert_eq!(reason(&ended), Some(Reason::Deadline));
    assert_eq!((status(ended), start.elapsed().is_zero()), (503, true));
}

/// tower's knows nothing of the call's deadline, so that a caller in a hurry opens the circuit.
#[tokio::test(start_paused = true)]
async fn towers_timeout_inside_a_breaker_is_the_peers_failure() {
    let (peer, circuit) = (Peer::new([Does::Hangs]), breaker());
    let stack = stack!(circuit.clone(), TimeoutLayer::new(SECOND); peer);
    assert!(stack.ask(get()).await.is_err());
    assert_eq!(state(&circuit), CircuitState::Open);

    let (peer, circuit) = (Peer::new([Does::Hangs]), breaker());
    let stack = stack!(circuit.clone(), attempt_timeout(SECOND); peer);
    let hurried = stack.ask(due(SECOND / 2, get())).await;
    assert_eq!(cut(&hurried), Some(Cut::Deadline));
    assert_eq!(state(&circuit), CircuitState::Closed);
}
