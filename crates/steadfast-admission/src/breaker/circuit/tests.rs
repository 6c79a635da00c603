//! The machine against a model that remembers every call.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail by panicking, and counts from an arbitrary instant"
)]

use std::num::NonZeroU32;

use proptest::prelude::*;
use steadfast_core::backoff::Jitter;
use steadfast_core::{Backoff, Event, Ratio};

use super::*;
use crate::breaker::Window;

const SECOND: Duration = Duration::from_secs(1);
const FAILURE: Outcome = Outcome::Failure {
    hint: Duration::ZERO,
};

fn count(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

/// Ten seconds or eight calls, a minimum of four, open for 5 s, then 10, then 20; lease 30 s.
fn config(by_time: bool) -> BreakerConfig {
    let window = match by_time {
        true => Window::time(10 * SECOND),
        false => Window::calls(count(8)).unwrap(),
    };
    let open = Backoff::default()
        .with_base(5 * SECOND)
        .with_cap(20 * SECOND)
        .with_jitter(Jitter::None);
    BreakerConfig::default()
        .with_window(window.with_minimum(count(4)).unwrap())
        .with_open(open)
        .with_probes(count(2))
}

/// All calls that ended since the circuit closed, and the probes that are out.
struct Model {
    by_time: bool,
    consecutive: Option<u32>,
    state: Plain,
    generation: u64,
    openings: u32,
    last: Duration,
}

enum Plain {
    Closed(Vec<(Duration, bool)>),
    Open(Duration),
    HalfOpen {
        out: Vec<(u32, Duration)>,
        late: Vec<u32>,
        sent: u32,
        well: u32,
    },
    HeldOpen,
    Disabled,
}

impl Model {
    fn new(by_time: bool, consecutive: Option<u32>) -> Self {
        Self {
            by_time,
            consecutive,
            state: Plain::Closed(Vec::new()),
            generation: 0,
            openings: 0,
            last: Duration::ZERO,
        }
    }

    fn become_(&mut self, state: Plain) {
        self.state = state;
        self.generation += 1;
    }

    fn admit(&mut self, now: Duration) -> Option<(u64, u32)> {
        if matches!(&self.state, Plain::Open(until) if now >= *until) {
            self.become_(Plain::HalfOpen {
                out: Vec::new(),
                late: Vec::new(),
                sent: 0,
                well: 0,
            });
        }
        let generation = self.generation;
        match &mut self.state {
            Plain::Closed(_) | Plain::Disabled => Some((generation, 0)),
            Plain::Open(_) | Plain::HeldOpen => None,
            Plain::HalfOpen {
                out,
                late,
                sent,
                well,
            } => {
                late.extend(out.iter().filter(|(_, until)| now >= *until).map(|it| it.0));
                out.retain(|(_, until)| now < *until);
                while late.len() > 2 {
                    late.remove(0);
                }
                (out.len() as u32 + *well < 2).then(|| {
                    *sent += 1;
                    out.push((*sent, now + 30 * SECOND));
                    (generation, *sent)
                })
            }
        }
    }

    fn record(&mut self, call: (u64, u32), outcome: Outcome, now: Duration) {
        if call.0 != self.generation {
            return;
        }
        let failed = outcome == FAILURE;
        match &mut self.state {
            Plain::Closed(calls) if failed || outcome == Outcome::Success => {
                calls.push((now, failed));
                let in_a_row = calls.iter().rev().take_while(|(_, failed)| *failed).count();
                let window: Vec<_> = match self.by_time {
                    false => calls.iter().rev().take(8).collect(),
                    true => {
                        let step = |at: Duration| (at - calls[0].0).as_millis() / 1000;
                        let recent = |(at, _): &&(Duration, bool)| step(now) - step(*at) < 10;
                        calls.iter().filter(recent).collect()
                    }
                };
                let bad = window.iter().filter(|(_, failed)| *failed).count();
                let row = self.consecutive.is_some_and(|n| in_a_row >= n as usize);
                if row || (window.len() >= 4 && bad > 0 && 2 * bad >= window.len()) {
                    self.open(now);
                }
            }
            Plain::HalfOpen {
                out, late, well, ..
            } => {
                if let Some(place) = out.iter().position(|(number, _)| *number == call.1) {
                    out.remove(place);
                } else if let Some(place) = late.iter().position(|number| *number == call.1) {
                    late.remove(place);
                    if !matches!(outcome, Outcome::Success | Outcome::Alive) {
                        return;
                    }
                } else {
                    return;
                }
                match outcome {
                    Outcome::Nothing => {}
                    Outcome::Success | Outcome::Alive => {
                        *well += 1;
                        if *well == 2 {
                            self.openings = 0;
                            self.become_(Plain::Closed(Vec::new()));
                        }
                    }
                    Outcome::Failure { .. } => self.open(now),
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, now: Duration) {
        self.last = (5 * SECOND * 2u32.pow(self.openings)).min(20 * SECOND);
        self.openings = (self.openings + 1).min(10);
        self.become_(Plain::Open(now + self.last));
    }
}

#[derive(Clone, Debug)]
enum Move {
    Begin,
    End(usize, u8),
    Drop(usize),
    Advance(u16),
    Hand(u8),
    /// Another config, of the same window or of the other kind.
    Reload(bool),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        8 => Just(Move::Begin),
        8 => (any::<usize>(), 0..8u8).prop_map(|(nth, how)| Move::End(nth, how)),
        1 => any::<usize>().prop_map(Move::Drop),
        4 => (0..4000u16).prop_map(Move::Advance),
        1 => (4000..40_000u16).prop_map(Move::Advance),
        1 => (0..16u8).prop_map(Move::Hand),
        1 => prop::bool::weighted(0.2).prop_map(Move::Reload),
    ];
    proptest::collection::vec(one, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_schedule_is_admitted_as_by_a_model_that_remembers_every_call(
        moves in moves(),
        by_time: bool,
        consecutive in proptest::option::of(1..5u32),
    ) {
        let config = |by_time| Arc::new(match consecutive {
            Some(most) => config(by_time).with_consecutive_failures(count(most)),
            None => config(by_time),
        });
        let circuit = Circuit::new(config(by_time), None);
        let mut model = Model::new(by_time, consecutive);
        let origin = Instant::now();
        let mut now = Duration::ZERO;
        let mut calls = Vec::new();
        for next in moves {
            let at = || origin + now;
            match next {
                Move::Begin => {
                    let got = circuit.admit(at).ok().map(|it| (it.generation, it.probe));
                    prop_assert_eq!(got, model.admit(now));
                    calls.extend(got);
                }
                Move::End(nth, how) if !calls.is_empty() => {
                    let call = calls.swap_remove(nth % calls.len());
                    let outcome = match how {
                        0..=2 => Outcome::Success,
                        3..=5 => FAILURE,
                        6 => Outcome::Alive,
                        _ => Outcome::Nothing,
                    };
                    let admitted = Admitted { generation: call.0, probe: call.1 };
                    circuit.record(admitted, outcome, None, at);
                    model.record(call, outcome, now);
                }
                Move::Drop(nth) if !calls.is_empty() => {
                    let call = calls.swap_remove(nth % calls.len());
                    let admitted = Admitted { generation: call.0, probe: call.1 };
                    circuit.record(admitted, Outcome::Nothing, None, at);
                    model.record(call, Outcome::Nothing, now);
                }
                Move::End(..) | Move::Drop(_) => {}
                Move::Advance(ms) => now += Duration::from_millis(ms.into()),
                Move::Reload(other) => {
                    model.by_time ^= other;
                    circuit.follow(&config(model.by_time), at());
                    match model.state {
                        Plain::Closed(_) if other => model.become_(Plain::Closed(Vec::new())),
                        Plain::HalfOpen { .. } => model.become_(Plain::Open(now)),
                        _ => {}
                    }
                }
                Move::Hand(0) => { circuit.hold_open(); model.become_(Plain::HeldOpen); }
                Move::Hand(1) => { circuit.disable(); model.become_(Plain::Disabled); }
                Move::Hand(2) => { circuit.close(false); model.become_(Plain::Closed(Vec::new())); }
                Move::Hand(_) => {
                    circuit.close(true);
                    model.openings = 0;
                    model.become_(Plain::Closed(Vec::new()));
                }
            }
        }
    }
}

/// Ends `n` calls in a closed circuit.
fn end(circuit: &Circuit, n: u32, outcome: Outcome, now: Instant) {
    for _ in 0..n {
        let admitted = circuit.admit(|| now).unwrap();
        circuit.record(admitted, outcome, None, || now);
    }
}

#[test]
fn a_window_of_calls_slides_after_any_number_of_successes() {
    let window = Window::calls(count(100)).unwrap();
    let config = BreakerConfig::default().with_window(window);
    let circuit = Circuit::new(Arc::new(config), None);
    let now = Instant::now();
    end(&circuit, 10_000, Outcome::Success, now);
    end(&circuit, 49, FAILURE, now);
    assert_eq!(circuit.state(), CircuitState::Closed);
    end(&circuit, 1, FAILURE, now);
    assert_eq!(circuit.state(), CircuitState::Open);
}

/// O-34: nothing before the minimum, the whole answer at it.
#[test]
fn the_minimum_is_judged_when_it_is_met_and_not_before() {
    for by_time in [true, false] {
        let window = match by_time {
            true => Window::default(),
            false => Window::calls(count(100)).unwrap(),
        };
        let window = window.with_minimum(count(5)).unwrap();
        let config = BreakerConfig::default().with_window(window);
        let circuit = Circuit::new(Arc::new(config), None);
        let now = Instant::now();
        let mut states = Vec::new();
        for _ in 0..5 {
            end(&circuit, 1, FAILURE, now);
            states.push(circuit.state());
        }
        assert_eq!(states[..4], [CircuitState::Closed; 4]);
        assert_eq!(states[4], CircuitState::Open);
    }
}

#[test]
fn a_success_may_be_the_call_that_fills_the_minimum() {
    let window = Window::default().with_minimum(count(4)).unwrap();
    let config = BreakerConfig::default().with_window(window);
    let circuit = Circuit::new(Arc::new(config), None);
    let now = Instant::now();
    end(&circuit, 3, FAILURE, now);
    end(&circuit, 1, Outcome::Success, now);
    assert_eq!(circuit.state(), CircuitState::Open);
}

#[test]
fn it_tells_how_long_it_stays_open_and_what_opened_it() {
    use std::sync::Mutex as StdMutex;
    let seen = Arc::new(StdMutex::new(Vec::new()));
    let told = seen.clone();
    let config = config(true).with_observer(move |event: &Event<'_>| {
        if let Event::CircuitChanged(changed) = event {
            told.lock().unwrap().push((
                changed.destination.map(str::to_owned),
                changed.to,
                (changed.failures, changed.calls),
                changed.open_for,
            ));
        }
    });
    let circuit = Circuit::new(Arc::new(config), Some("a.example"));
    let now = Instant::now();
    end(&circuit, 2, Outcome::Success, now);
    end(&circuit, 2, FAILURE, now);
    let refused = circuit.admit(|| now + SECOND).unwrap_err();
    assert_eq!(refused.retry_in, Some(4 * SECOND));
    let name = Some("a.example".to_owned());
    let opened = (name, CircuitState::Open, (2, 4), Some(5 * SECOND));
    assert_eq!(*seen.lock().unwrap(), [opened]);
}

#[test]
fn slow_calls_open_it_and_a_slow_probe_opens_it_again() {
    let config = config(true).with_slow_calls(SECOND, Ratio::percent(75).unwrap());
    let circuit = Circuit::new(Arc::new(config), None);
    let now = Instant::now();
    for took in [2, 2, 0, 2] {
        let admitted = circuit.admit(|| now).unwrap();
        assert_eq!(circuit.state(), CircuitState::Closed);
        circuit.record(admitted, Outcome::Success, Some(took * SECOND), || now);
    }
    assert_eq!(circuit.state(), CircuitState::Open);
    let later = now + 6 * SECOND;
    let probe = circuit.admit(|| later).unwrap();
    circuit.record(probe, Outcome::Success, Some(2 * SECOND), || later);
    assert_eq!(circuit.state(), CircuitState::Open);
}
