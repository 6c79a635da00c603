use proptest::prelude::*;

use super::*;
use crate::Random;

const ATTEMPTS: [u32; 11] = [0, 1, 31, 32, 33, 63, 64, 65, 1024, 1025, u32::MAX];

fn jitters() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::Full),
        Just(Jitter::Equal),
        Just(Jitter::Decorrelated),
        any::<u32>().prop_map(|m| Jitter::Proportional(Ratio::from_millionths(m))),
        durations().prop_map(Jitter::Additive),
        Just(Jitter::None),
    ]
}

fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::from_nanos(1)),
        Just(Duration::from_secs(1)),
        Just(Duration::MAX),
        any::<u64>().prop_map(Duration::from_nanos),
        any::<u64>().prop_map(Duration::from_secs),
    ]
}

fn multipliers() -> impl Strategy<Value = Multiplier> {
    prop_oneof![Just(1.0), Just(2.0), Just(1e300), Just(f64::MAX), 1.0..10.0]
        .prop_map(|factor| Multiplier::try_from(factor).unwrap())
}

fn attempts() -> impl Strategy<Value = u32> {
    prop_oneof![proptest::sample::select(ATTEMPTS.to_vec()), any::<u32>()]
}

/// The longest wait that a jitter may give, as its documentation says.
fn stated_bound(backoff: &Backoff) -> Duration {
    match backoff.jitter {
        Jitter::Proportional(r) => backoff
            .cap
            .saturating_add(scaled(backoff.cap, r.min(Ratio::ONE).as_f64())),
        Jitter::Additive(max) => backoff.cap.saturating_add(max),
        _ => backoff.cap,
    }
}

proptest! {
    /// O-07: saturating for every input.
    #[test]
    fn a_wait_lies_within_its_stated_bound_for_every_input(
        (base, throttled_base, cap, last) in (durations(), durations(), durations(), durations()),
        (multiplier, jitter, n) in (multipliers(), jitters(), attempts()),
        (throttled, u) in (any::<bool>(), prop_oneof![0.0..1.0, Just(f64::NAN), Just(9.0)]),
    ) {
        let backoff = Backoff { base, throttled_base, cap, multiplier, jitter };
        prop_assert!(backoff.wait(n, last, throttled, u) <= stated_bound(&backoff));
    }

    #[test]
    fn bounds_never_shrink_with_attempts(base in durations(), n in 0..4000u32) {
        let backoff = Backoff::default().with_base(base).with_jitter(Jitter::None);
        let wait = |n| backoff.wait(n, Duration::ZERO, false, 0.5);
        prop_assert!(wait(n) <= wait(n + 1));
    }
}

/// O-07: the very numbers that overflowed elsewhere.
#[test]
fn high_attempt_numbers_stay_at_the_cap() {
    for cap in [Duration::from_millis(10), Duration::from_secs(60)] {
        let backoff = Backoff::default()
            .with_base(Duration::from_secs(1))
            .with_cap(cap)
            .with_jitter(Jitter::None);
        for n in (7..5000).chain(ATTEMPTS.into_iter().filter(|n| *n > 7)) {
            assert_eq!(
                backoff.wait(n, Duration::ZERO, false, 0.0),
                cap,
                "attempt {n}"
            );
        }
    }
    let growth = Multiplier::try_from(1e300).unwrap();
    let endless = Backoff::default()
        .with_base(Duration::MAX)
        .with_multiplier(growth);
    assert!(endless.wait(u32::MAX, Duration::MAX, true, 0.99) <= DEFAULT_CAP);
}

#[test]
fn each_jitter_draws_from_its_own_range() {
    let s = Duration::from_secs;
    let ratio = Ratio::percent(20).unwrap();
    for (jitter, low, high) in [
        (Jitter::Full, s(0), s(8)),
        (Jitter::Equal, s(4), s(8)),
        (Jitter::Decorrelated, s(1), s(15)),
        (
            Jitter::Proportional(ratio),
            Duration::from_millis(6400),
            Duration::from_millis(9600),
        ),
        (Jitter::Additive(s(2)), s(8), s(10)),
        (Jitter::None, s(8), s(8)),
    ] {
        let backoff = Backoff::default()
            .with_base(s(1))
            .with_cap(s(20))
            .with_jitter(jitter);
        let wait = |u| backoff.wait(3, s(5), false, u).as_secs_f64();
        assert!(
            (wait(0.0) - low.as_secs_f64()).abs() < 1e-6,
            "{jitter:?} from {}",
            wait(0.0)
        );
        let middle = (low + high).as_secs_f64() / 2.0;
        assert!(
            (wait(0.5) - middle).abs() < 1e-6,
            "{jitter:?} around {}",
            wait(0.5)
        );
        let top = wait(1.0 - f64::EPSILON);
        assert!(
            (top - high.as_secs_f64()).abs() < 1e-6,
            "{jitter:?} up to {top}"
        );
    }
}

#[test]
fn no_mass_gathers_at_the_cap() {
    for jitter in [Jitter::Full, Jitter::Equal, Jitter::Decorrelated] {
        let backoff = Backoff::default().with_jitter(jitter);
        let mut draws = Random::seeded(11).draws();
        let waits: Vec<_> = (0..10_000)
            .map(|_| backoff.wait(20, DEFAULT_CAP, false, draws.draw()))
            .collect();
        let near_cap = waits
            .iter()
            .filter(|w| **w > DEFAULT_CAP.mul_f64(0.99))
            .count();
        assert!(
            near_cap < 300,
            "{jitter:?}: {near_cap} of 10,000 within 1% of the cap"
        );
        let at_cap = waits.iter().filter(|w| **w == DEFAULT_CAP).count();
        assert_eq!(at_cap, 0, "{jitter:?}");
    }
}

#[test]
fn throttling_starts_from_its_own_base() {
    let backoff = Backoff::default().with_jitter(Jitter::None);
    assert_eq!(backoff.wait(0, Duration::ZERO, false, 0.0), DEFAULT_BASE);
    assert_eq!(
        backoff.wait(0, Duration::ZERO, true, 0.0),
        DEFAULT_THROTTLED_BASE
    );
}

#[test]
fn a_multiplier_that_cannot_work_is_refused_by_name() {
    for bad in [0.0, 0.5, -2.0, f64::NAN, f64::INFINITY] {
        let error = Multiplier::try_from(bad).unwrap_err().to_string();
        assert!(
            error.contains(&bad.to_string()) && error.contains("at least 1"),
            "{error}"
        );
    }
}
