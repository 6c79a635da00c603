#![allow(
    clippy::disallowed_methods,
    reason = "an arbitrary instant to count from"
)]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn registry(max_keys: u32) -> Keyed<u64, Arc<u64>> {
    Keyed::new().with_max_keys(NonZeroU32::new(max_keys).unwrap())
}

/// A registry whose values tell which making they come from.
fn use_key(keyed: &Keyed<u64, Arc<u64>>, key: u64, now: Instant, made: &mut u64) -> u64 {
    *keyed.get_or_insert_with(&key, now, || {
        *made += 1;
        Arc::new(*made)
    })
}

#[test]
fn a_full_registry_forgets_the_key_used_least_recently() {
    let (keyed, now, mut made) = (registry(3), Instant::now(), 0);
    for key in [1, 2, 3, 1, 4] {
        use_key(&keyed, key, now, &mut made);
    }
    assert_eq!(keyed.len(), 3);
    assert_eq!(use_key(&keyed, 1, now, &mut made), 1, "used again, so kept");
    assert_eq!(use_key(&keyed, 3, now, &mut made), 3);
    assert_eq!(use_key(&keyed, 4, now, &mut made), 4);
    assert_eq!(use_key(&keyed, 2, now, &mut made), 5, "starts anew");
}

#[test]
fn an_idle_key_starts_anew_exactly_at_its_time() {
    let (keyed, start, mut made) = (registry(9).with_idle(10 * SECOND), Instant::now(), 0);
    assert_eq!(use_key(&keyed, 1, start, &mut made), 1);
    let just_before = start + 10 * SECOND - Duration::from_nanos(1);
    assert_eq!(use_key(&keyed, 1, just_before, &mut made), 1);
    assert_eq!(use_key(&keyed, 1, just_before + 10 * SECOND, &mut made), 2);
    assert_eq!(keyed.len(), 1);
}

#[test]
fn idle_keys_are_dropped_while_others_are_used() {
    let (keyed, start, mut made) = (registry(100).with_idle(10 * SECOND), Instant::now(), 0);
    let held = keyed.get_or_insert_with(&0, start, || Arc::new(7));
    for key in 1..100 {
        use_key(&keyed, key, start, &mut made);
    }
    assert_eq!((keyed.len(), Arc::strong_count(&held)), (100, 2));
    for _ in 0..50 {
        use_key(&keyed, 1_000, start + 10 * SECOND, &mut made);
    }
    assert_eq!(keyed.len(), 1, "two for each use");
    assert_eq!(Arc::strong_count(&held), 1, "who holds a value keeps it");
}

#[test]
fn without_an_idle_time_nothing_is_forgotten() {
    let (keyed, start, mut made) = (registry(9).with_idle(Duration::MAX), Instant::now(), 0);
    use_key(&keyed, 1, start, &mut made);
    let much_later = start + Duration::from_secs(20 * 365 * 86_400);
    assert_eq!(use_key(&keyed, 1, much_later, &mut made), 1);
    assert_eq!(
        use_key(&keyed, 1, start, &mut made),
        1,
        "clocks may go back"
    );
}

#[test]
fn the_maker_may_use_the_registry() {
    let (keyed, now) = (registry(9), Instant::now());
    let outer = keyed.get_or_insert_with(&1, now, || {
        Arc::new(1 + *keyed.get_or_insert_with(&2, now, || Arc::new(10)))
    });
    assert_eq!((*outer, keyed.len()), (11, 2));
}

#[test]
fn a_key_whose_value_panicked_can_be_made_again() {
    let (keyed, now) = (registry(9), Instant::now());
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        keyed.get_or_insert_with(&1, now, || panic!("no value"))
    }));
    assert!(result.is_err() && keyed.is_empty());
    assert_eq!(*keyed.get_or_insert_with(&1, now, || Arc::new(3)), 3);
}

#[test]
fn all_threads_get_one_value_for_one_key() {
    let (keyed, now): (Keyed<u64, Arc<AtomicU64>>, _) = (Keyed::new(), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..2_000 {
                    let value = keyed.get_or_insert_with(&(round % 500), now, Arc::default);
                    value.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    for key in 0..500 {
        let count = keyed.get_or_insert_with(&key, now, Arc::default);
        assert_eq!(count.load(Ordering::Relaxed), 16, "key {key}");
    }
}

#[test]
fn a_flood_of_keys_stays_within_the_places() {
    for max in [1, 7, 1_023, 1_024, 10_000, 12_345] {
        let (keyed, now) = (registry(max), Instant::now());
        for key in 0..u64::from(max) * 4 {
            keyed.get_or_insert_with(&key, now, || Arc::new(key));
            let newest = keyed.get_or_insert_with(&key, now, || panic!("{key} is known"));
            assert_eq!(*newest, key);
        }
        assert_eq!(keyed.len(), max as usize, "all places are used in the end");
    }
}

/// Issue 3: 10^6 keys within a stated number of bytes.
#[test]
fn a_million_keys_lie_within_the_stated_bytes() {
    let max = NonZeroU32::new(1_000_000).unwrap();
    let now = Instant::now();
    let mut keyed = None;
    let of = allocation_counter::measure(|| {
        let registry = keyed.insert(Keyed::<u64, ()>::new().with_max_keys(max));
        (0..1_000_000).for_each(|key| registry.get_or_insert_with(&key, now, || ()));
    });
    let keyed = keyed.unwrap();
    let stated = Keyed::<u64, ()>::BYTES_PER_ENTRY as i64;
    assert!(
        keyed.len() > 990_000,
        "shards are filled evenly: {}",
        keyed.len()
    );
    let bytes = of.bytes_current / keyed.len() as i64;
    assert!(bytes <= stated, "{bytes} > {stated}");
    assert_eq!(Keyed::<Box<str>, Arc<()>>::BYTES_PER_ENTRY, 104);
    // Others take their places, and not one byte more than stated.
    let more = allocation_counter::measure(|| {
        (1_000_000..1_500_000).for_each(|key| keyed.get_or_insert_with(&key, now, || ()));
    });
    let bytes = (of.bytes_current + more.bytes_current) / 1_000_000;
    assert!(bytes <= stated, "{bytes} > {stated}");
}

#[test]
fn a_known_key_allocates_nothing() {
    let (keyed, now) = (Keyed::<Box<str>, Arc<()>>::new(), Instant::now());
    let get = || drop(keyed.get_or_insert_with("a.example:443", now, Arc::default));
    get();
    assert_eq!(allocation_counter::measure(get).count_total, 0);
}

proptest! {
    /// Against a list that is searched from end to end.
    #[test]
    fn behaves_as_a_plain_list_would(
        max in 1..6u32, uses in proptest::collection::vec((0..9u64, 0..4u64), 1..200),
    ) {
        let (keyed, start, mut made) = (registry(max).with_idle(5 * SECOND), Instant::now(), 0);
        let (mut order, mut values, mut at, mut remade) = (Vec::new(), HashMap::new(), 0, 0);
        for (key, advance) in uses {
            at += advance;
            order.retain(|(_, used)| at - used < 5);
            if !order.iter().any(|(known, _)| *known == key) {
                remade += 1;
                values.insert(key, remade);
                if order.len() == max as usize {
                    order.remove(0);
                }
            }
            order.retain(|(known, _)| *known != key);
            order.push((key, at));
            let got = use_key(&keyed, key, start + at as u32 * SECOND, &mut made);
            prop_assert_eq!(got, values[&key], "key {}", key);
            prop_assert!(keyed.len() <= max as usize);
        }
    }
}

#[test]
fn to_peek_makes_nothing_and_keeps_nothing_from_being_forgotten() {
    let (keyed, start, mut made) = (registry(2).with_idle(10 * SECOND), Instant::now(), 0);
    assert_eq!(keyed.peek(&1, start), None);
    assert!(keyed.is_empty());
    use_key(&keyed, 1, start, &mut made);
    use_key(&keyed, 2, start, &mut made);
    let just_before = start + 10 * SECOND - Duration::from_nanos(1);
    assert_eq!(keyed.peek(&1, just_before).as_deref(), Some(&1));
    assert_eq!(keyed.peek(&1, start + 10 * SECOND), None, "idle");
    use_key(&keyed, 3, just_before, &mut made);
    assert_eq!(keyed.peek(&1, just_before), None, "the oldest still");
    assert_eq!(keyed.peek(&2, just_before).as_deref(), Some(&2));
}

#[test]
fn every_value_is_looked_at_and_can_be_replaced() {
    let (keyed, now, mut made) = (registry(10_000), Instant::now(), 0);
    for key in 0..1_000 {
        use_key(&keyed, key, now, &mut made);
    }
    let mut seen = Vec::new();
    keyed.for_each(|key, value| {
        seen.push(*key);
        *value = Arc::new(**value + 1_000);
    });
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..1_000));
    assert_eq!(keyed.peek(&7, now).as_deref(), Some(&1_008));
}

#[test]
fn bounds_change_under_what_is_remembered() {
    let (keyed, start, mut made) = (registry(3), Instant::now(), 0);
    for key in [1, 2, 3, 1] {
        use_key(&keyed, key, start, &mut made);
    }
    keyed.set_bounds(NonZeroU32::new(2).unwrap(), 10 * SECOND);
    assert_eq!((keyed.max_keys().get(), keyed.idle()), (2, 10 * SECOND));
    assert_eq!(keyed.peek(&2, start), None, "used least recently");
    assert_eq!(use_key(&keyed, 3, start, &mut made), 3);
    assert_eq!(use_key(&keyed, 4, start, &mut made), 4);
    assert_eq!((keyed.len(), keyed.peek(&1, start)), (2, None));
    assert_eq!(keyed.peek(&4, start + 10 * SECOND), None, "idle by now");
    keyed.set_bounds(NonZeroU32::new(100).unwrap(), Duration::MAX);
    for key in 0..100 {
        use_key(&keyed, key, start, &mut made);
    }
    assert_eq!(keyed.len(), 100);
    assert!(keyed.peek(&4, start + 100 * SECOND).is_some());
}

#[test]
fn each_shard_keeps_one_place_where_the_bound_is_below_their_number() {
    let (keyed, now, mut made) = (registry(10_000), Instant::now(), 0);
    for key in 0..1_000 {
        use_key(&keyed, key, now, &mut made);
    }
    keyed.set_bounds(NonZeroU32::MIN, 10 * SECOND);
    assert_eq!(keyed.len(), 16);
}
