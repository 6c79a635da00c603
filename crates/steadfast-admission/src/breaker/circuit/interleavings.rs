//! Every interleaving of a few threads on one circuit, by loom:
//! `RUSTFLAGS="--cfg loom" cargo test --release -p steadfast-admission --lib interleavings`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail by panicking, and counts from an arbitrary instant"
)]

use std::num::NonZeroU32;

use loom::thread;
use steadfast_core::backoff::Jitter;
use steadfast_core::{Backoff, Ratio};

use super::*;
use crate::breaker::Window;
use crate::shard::{shards, slot};

const FAILURE: Outcome = Outcome::Failure {
    hint: Duration::ZERO,
};

/// Interleavings with up to three preemptions: nearly every race known needs no more than two.
fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

/// Opens after two calls of which so many failed, for no time at all; one probe.
fn circuit_at(rate: u32, window: Window) -> Arc<Circuit> {
    Arc::new(Circuit::new(config(rate, window), None))
}

fn config(rate: u32, window: Window) -> Arc<BreakerConfig> {
    let open = Backoff::default()
        .with_base(Duration::ZERO)
        .with_jitter(Jitter::None);
    let two = NonZeroU32::new(2).unwrap();
    let config = BreakerConfig::default()
        .with_window(window.with_minimum(two).unwrap())
        .with_failure_rate(Ratio::percent(rate).unwrap())
        .with_open(open);
    Arc::new(config)
}

/// Of which one failed.
fn circuit(window: Window) -> Arc<Circuit> {
    circuit_at(50, window)
}

fn calls() -> Window {
    Window::calls(NonZeroU32::new(2).unwrap()).unwrap()
}

fn call(circuit: &Circuit, outcome: Outcome, now: Instant) -> bool {
    let admitted = circuit.admit(|| now);
    if let Ok(admitted) = admitted {
        circuit.record(admitted, outcome, None, || now);
    }
    admitted.is_ok()
}

fn opened(now: Instant) -> Arc<Circuit> {
    let circuit = circuit(calls());
    call(&circuit, FAILURE, now);
    call(&circuit, FAILURE, now);
    assert_eq!(circuit.state(), CircuitState::Open);
    circuit
}

/// Each of two threads ends a call, of which one may be the last that opens the circuit.
fn two_calls_open_it(rate: u32, mine: Outcome, theirs: Outcome) {
    for window in [calls(), Window::default()] {
        model(move || {
            let (circuit, now) = (circuit_at(rate, window), Instant::now());
            let other = circuit.clone();
            let thread = thread::spawn(move || {
                call(&other, theirs, now);
                slot()
            });
            call(&circuit, mine, now);
            let their_slot = thread.join().unwrap();
            assert_ne!(their_slot % shards(), slot() % shards());
            assert_eq!(circuit.state(), CircuitState::Open);
        });
    }
}

#[test]
fn failures_of_two_threads_are_both_counted() {
    two_calls_open_it(100, FAILURE, FAILURE);
}

#[test]
fn a_success_that_fills_the_minimum_meets_the_failure_of_another_thread() {
    two_calls_open_it(50, FAILURE, Outcome::Success);
    two_calls_open_it(50, Outcome::Success, FAILURE);
}

#[test]
fn two_threads_find_the_open_time_over_and_one_is_the_probe() {
    model(|| {
        let now = Instant::now();
        let circuit = opened(now);
        let other = circuit.clone();
        let thread = thread::spawn(move || other.admit(|| now).ok());
        let mine = circuit.admit(|| now).ok();
        let theirs = thread.join().unwrap();
        assert_eq!(mine.is_some() as u32 + theirs.is_some() as u32, 1);
        let probe = mine.or(theirs).unwrap();
        assert_eq!(circuit.admit(|| now).ok(), None);
        circuit.record(probe, Outcome::Nothing, None, || now);
        assert!(circuit.admit(|| now).is_ok(), "its place is free again");
    });
}

#[test]
fn a_late_failure_never_reaches_the_state_that_follows() {
    model(|| {
        let now = Instant::now();
        let circuit = circuit(calls());
        let late = circuit.admit(|| now).unwrap();
        let other = circuit.clone();
        let thread = thread::spawn(move || other.record(late, FAILURE, None, || now));
        circuit.close(true);
        thread.join().unwrap();
        // Alone in its window, whichever came first.
        call(&circuit, Outcome::Success, now);
        assert_eq!(circuit.state(), CircuitState::Closed);
    });
}

#[test]
fn a_probe_that_ends_while_an_operator_acts_leaves_the_operators_word() {
    model(|| {
        let now = Instant::now();
        let circuit = opened(now);
        let probe = circuit.admit(|| now).unwrap();
        let other = circuit.clone();
        let thread = thread::spawn(move || other.record(probe, Outcome::Success, None, || now));
        circuit.hold_open();
        thread.join().unwrap();
        assert_eq!(circuit.state(), CircuitState::HeldOpen);
        assert!(circuit.admit(|| now).is_err());
    });
}

#[test]
fn a_result_that_meets_a_reload_is_counted_once() {
    for window in [calls(), Window::default()] {
        model(move || {
            let (circuit, now) = (circuit_at(100, window), Instant::now());
            let first = circuit.admit(|| now).unwrap();
            let other = circuit.clone();
            let thread = thread::spawn(move || other.record(first, FAILURE, None, || now));
            circuit.follow(&config(100, window), now);
            thread.join().unwrap();
            assert_eq!(circuit.state(), CircuitState::Closed, "one of two");
            call(&circuit, FAILURE, now);
            assert_eq!(circuit.state(), CircuitState::Open, "two of two");
        });
    }
}

#[test]
fn a_probe_that_ends_while_a_reload_comes_leaves_one_state() {
    model(|| {
        let now = Instant::now();
        let circuit = opened(now);
        let probe = circuit.admit(|| now).unwrap();
        let other = circuit.clone();
        let thread = thread::spawn(move || other.record(probe, Outcome::Success, None, || now));
        circuit.follow(&config(50, calls()), now);
        thread.join().unwrap();
        let state = circuit.state();
        let admitted = circuit.admit(|| now).unwrap();
        match state {
            CircuitState::Closed => assert_eq!(admitted.probe, 0),
            CircuitState::Open => assert_eq!(admitted.probe, 1),
            other => panic!("{other}"),
        }
    });
}
