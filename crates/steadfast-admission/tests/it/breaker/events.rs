//! What observers are told of a circuit, and in which order.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};

use http::Request;
use steadfast_admission::Scope;
use steadfast_core::Event;

use super::*;

type Seen = Arc<Mutex<Vec<(Option<String>, CircuitState)>>>;

/// Notes a change when `during` is over.
fn observed(
    config: BreakerConfig,
    seen: &Seen,
    during: impl Fn(CircuitState) + Send + Sync + 'static,
) -> BreakerConfig {
    let seen = seen.clone();
    config.with_observer(move |event: &Event<'_>| {
        if let Event::CircuitChanged(changed) = event {
            during(changed.to);
            let destination = changed.destination.map(str::to_owned);
            seen.lock().unwrap().push((destination, changed.to));
        }
    })
}

fn states(seen: &Seen) -> Vec<CircuitState> {
    seen.lock().unwrap().iter().map(|it| it.1).collect()
}

/// One thread is in the middle of telling when another changes the circuit.
#[test]
fn changes_by_two_threads_are_told_in_their_order() {
    let seen = Seen::default();
    let (told, is_told): (Sender<()>, Receiver<()>) = channel();
    let (go_on, goes_on): (Sender<()>, Receiver<()>) = channel();
    let ends = Mutex::new((told, goes_on));
    let during = move |to| {
        if to == CircuitState::HeldOpen {
            let (told, goes_on) = &*ends.lock().unwrap();
            told.send(()).unwrap();
            goes_on.recv().unwrap();
        }
    };
    let layer = BreakerLayer::new(observed(config(), &seen, during));
    let handle = layer.handle();
    let first = std::thread::spawn(move || handle.hold_open(HOST));
    is_told.recv().unwrap();
    // It does not wait for the other's observer.
    layer.handle().disable(HOST);
    assert_eq!(layer.handle().state(HOST), CircuitState::Disabled);
    go_on.send(()).unwrap();
    first.join().unwrap();
    assert_eq!(
        states(&seen),
        [CircuitState::HeldOpen, CircuitState::Disabled]
    );
}

#[test]
fn an_observer_that_changes_the_circuit_is_told_of_that_afterwards() {
    let seen = Seen::default();
    let handle = Arc::new(OnceLock::<BreakerHandle>::new());
    let own = handle.clone();
    let during = move |to| {
        if to == CircuitState::HeldOpen {
            own.get().unwrap().reset(HOST);
        }
    };
    let layer = BreakerLayer::new(observed(config(), &seen, during));
    handle.set(layer.handle()).unwrap();
    layer.handle().hold_open(HOST);
    assert_eq!(
        states(&seen),
        [CircuitState::HeldOpen, CircuitState::Closed]
    );
}

#[test]
fn an_observer_that_panics_does_not_keep_later_changes_from_being_told() {
    let seen = Seen::default();
    let during = |to| assert_ne!(to, CircuitState::HeldOpen, "as it should");
    let layer = BreakerLayer::new(observed(config(), &seen, during));
    let handle = layer.handle();
    let panicked = std::thread::spawn(move || handle.hold_open(HOST)).join();
    assert!(panicked.is_err());
    layer.handle().disable(HOST);
    assert_eq!(states(&seen), [CircuitState::Disabled]);
}

#[tokio::test(start_paused = true)]
async fn the_circuit_of_calls_without_a_destination_has_none() {
    for scope in [Scope::Destination, Scope::Layer] {
        let seen = Seen::default();
        let config = observed(config().with_scope(scope), &seen, |_| {});
        let stack = Stack::new(config);
        for _ in 0..4 {
            let request = Request::new(Does::Status(500));
            let answer = stack.service().oneshot(request).await.unwrap();
            assert_eq!(answer.status(), 500);
        }
        assert_eq!(*seen.lock().unwrap(), [(None, CircuitState::Open)]);
    }
}
