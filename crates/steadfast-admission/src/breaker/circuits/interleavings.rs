//! Operators, reloads and calls at the same time, by loom; see those of one circuit.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail by panicking, and counts from an arbitrary instant"
)]

use std::num::NonZeroU32;

use http::Request;
use loom::thread;
use steadfast_core::CircuitState;

use super::*;

const HOST: &str = "a.example";

fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

fn config() -> Arc<BreakerConfig> {
    // One shard, since which one it is must not change from run to run.
    let config = BreakerConfig::default().with_max_keys(NonZeroU32::MIN);
    Arc::new(config)
}

#[test]
fn of_two_operators_the_last_word_is_what_is_held() {
    model(|| {
        let circuits = Arc::new(Circuits::new(config()));
        let other = circuits.clone();
        let thread = thread::spawn(move || other.set(HOST, true, Circuit::hold_open));
        circuits.set(HOST, false, |circuit| circuit.close(false));
        thread.join().unwrap();
        let state = circuits.peek(HOST).unwrap().state();
        let Ways::Many(registry) = &circuits.ways else {
            panic!("one for each destination");
        };
        let held = registry.rules().held.contains_key(HOST);
        assert_eq!(held, state == CircuitState::HeldOpen);
    });
}

#[test]
fn a_circuit_that_is_made_during_a_reload_follows_the_new_config() {
    model(|| {
        let before = Arc::new(Circuits::new(config()));
        let other = before.clone();
        let thread = thread::spawn(move || {
            let request = Request::get("http://a.example/").body(()).unwrap();
            drop(other.of(&request));
        });
        let after = before.reconfigured(config());
        thread.join().unwrap();
        let door = match &after.ways {
            Ways::Many(registry) => registry.doors.peek(HOST, clock::now()).unwrap(),
            Ways::One(_) => panic!("one for each destination"),
        };
        assert!(Arc::ptr_eq(&door.config, &after.config));
        assert!(door.circuit.follows(&after.config));
    });
}
