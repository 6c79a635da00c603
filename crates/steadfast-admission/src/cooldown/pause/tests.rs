use std::sync::Barrier;
use std::thread;

use proptest::prelude::*;

use super::*;
use crate::clock;

const SECOND: Duration = Duration::from_secs(1);

fn rest(pause: &Pause, now: Instant) -> Option<Duration> {
    pause.rest(|| now)
}

#[test]
fn a_pause_lasts_exactly_as_long_as_it_was_asked_for() {
    let (pause, now) = (Pause::default(), clock::now());
    assert_eq!(rest(&pause, now), None);
    assert!(pause.extend(now, SECOND));
    assert_eq!(rest(&pause, now), Some(SECOND));
    let tick = Duration::from_nanos(1);
    assert_eq!(rest(&pause, now + SECOND - tick), Some(tick));
    assert_eq!(rest(&pause, now + SECOND), None);
}

#[test]
fn a_longer_wait_extends_and_a_shorter_one_changes_nothing() {
    let (pause, now) = (Pause::default(), clock::now());
    assert!(pause.extend(now, 2 * SECOND));
    assert!(!pause.extend(now, SECOND));
    assert!(!pause.extend(now, 2 * SECOND));
    assert!(!pause.extend(now + SECOND, SECOND));
    assert_eq!(rest(&pause, now), Some(2 * SECOND));
    assert!(pause.extend(now + SECOND, 2 * SECOND));
    assert_eq!(rest(&pause, now), Some(3 * SECOND));
}

#[test]
fn no_wait_is_no_pause() {
    let (pause, now) = (Pause::default(), clock::now());
    assert!(!pause.extend(now, Duration::ZERO));
    assert_eq!(rest(&pause, now), None);
}

#[test]
fn the_clock_is_read_only_while_a_pause_may_be_on() {
    let never = || -> Instant { panic!("the clock was read") };
    let (pause, now) = (Pause::default(), clock::now());
    assert_eq!(pause.rest(never), None);
    pause.extend(now, SECOND);
    assert_eq!(rest(&pause, now + SECOND), None);
    assert_eq!(pause.rest(never), None, "it was found over");
    pause.extend(now, SECOND);
    pause.clear();
    assert_eq!(pause.rest(never), None);
}

#[test]
fn who_finds_a_pause_over_does_not_end_the_next_one() {
    let (pause, now) = (Pause::default(), clock::now());
    pause.extend(now, SECOND);
    let old = pause.until.load(Ordering::Relaxed);
    pause.extend(now + SECOND, SECOND);
    assert_eq!(pause.rest_of(old, now + SECOND), None);
    assert_eq!(rest(&pause, now + SECOND), Some(SECOND));
}

#[test]
fn an_endless_wait_lasts_for_centuries() {
    let (pause, now) = (Pause::default(), clock::now());
    assert!(pause.extend(now, Duration::MAX));
    assert!(!pause.extend(now + SECOND, Duration::MAX));
    let century = 100 * 365 * 24 * 3600 * SECOND;
    assert!(rest(&pause, now + century) > Some(3 * century));
}

#[test]
fn of_ten_threads_the_longest_wait_holds() {
    let (pause, now, start) = (Pause::default(), clock::now(), Barrier::new(10));
    thread::scope(|scope| {
        for nth in 1..=10 {
            let (pause, start) = (&pause, &start);
            scope.spawn(move || {
                start.wait();
                for step in 0..1000 {
                    pause.extend(now, nth * SECOND + Duration::from_nanos(step));
                    assert!(rest(pause, now) >= Some(nth * SECOND));
                }
            });
        }
    });
    let longest = 10 * SECOND + Duration::from_nanos(999);
    assert_eq!(rest(&pause, now), Some(longest));
}

/// Instants around one, and waits up to the longest that there is.
fn asked() -> impl Strategy<Value = Vec<(u64, Duration)>> {
    let short = (0..5_000_000_000_u64).prop_map(Duration::from_nanos);
    let any = (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(s, n)| Duration::new(s, n));
    let wait = prop_oneof![8 => short, 1 => any, 1 => Just(Duration::MAX)];
    proptest::collection::vec((0..10_000_000_000_u64, wait), 1..40)
}

proptest! {
    #[test]
    fn the_end_is_the_latest_of_all_that_were_asked_for(
        asked in asked(),
        looked in 0..20_000_000_000_u64,
    ) {
        let (pause, start) = (Pause::default(), clock::now());
        let at = |nanos| start + Duration::from_nanos(nanos);
        let mut end = 0_u128;
        for (now, wait) in asked {
            let before = end;
            // Later than any instant that the scale can tell counts as the last of them.
            if !wait.is_zero() {
                end = end.max(u128::from(now) + wait.as_nanos());
            }
            let longer = pause.extend(at(now), wait);
            let far = u128::from(u64::MAX - ORIGIN) / 2;
            prop_assert!(longer == (end > before) || end > far);
            prop_assert!(pause.until.load(Ordering::Relaxed) >= ORIGIN / 2 || end == 0);
        }
        let left = end.saturating_sub(u128::from(looked));
        match rest(&pause, at(looked)) {
            None => prop_assert_eq!(left, 0),
            Some(rest) => {
                prop_assert!(rest.as_nanos() <= left, "longer than asked: {:?}", rest);
                let told = left.min(u128::from(u64::MAX - ORIGIN) - 20_000_000_000);
                prop_assert!(rest.as_nanos() >= told, "shorter than asked: {:?}", rest);
            }
        }
    }

    #[test]
    fn the_end_never_comes_nearer(asked in asked()) {
        let (pause, now) = (Pause::default(), clock::now());
        let mut last = None;
        for (later, wait) in asked {
            let before = pause.until.load(Ordering::Relaxed);
            pause.extend(now + Duration::from_nanos(later), wait);
            prop_assert!(pause.until.load(Ordering::Relaxed) >= before);
            let rest = rest(&pause, now);
            prop_assert!(rest >= last);
            last = rest;
        }
    }
}
