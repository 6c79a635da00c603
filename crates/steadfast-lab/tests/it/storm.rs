//! Seed A's first table, and its variations.

use std::num::NonZeroU32;

use proptest::prelude::*;
use steadfast_lab::storm::{Draws, Policy, Rejections, Storm};

fn table(storm: Storm) -> [(u64, u64); 5] {
    Policy::ALL.map(|policy| {
        let outcome = storm.run(policy, 3);
        (outcome.calls, outcome.millis)
    })
}

#[test]
fn the_table_is_the_seeds_to_the_digit() {
    let expected = [
        (6500, 25),
        (6500, 28072),
        (2499, 45),
        (2685, 61),
        (2025, 48),
    ];
    assert_eq!(table(Storm::default()), expected);
}

/// The seed's program with one line more: `capacity = max(5, 20 - rejected)`.
#[test]
fn rejections_that_cost_capacity_punish_those_who_come_back_at_once() {
    let floor = NonZeroU32::new(5).unwrap();
    let storm = Storm {
        rejections: Rejections::Costly(floor),
        ..Storm::default()
    };
    let expected = [
        (23775, 96),
        (6500, 28072),
        (3287, 156),
        (3059, 110),
        (3189, 113),
    ];
    assert_eq!(table(storm), expected);
}

#[test]
fn same_seeded_clients_stay_in_lockstep_under_every_jitter() {
    let storm = Storm {
        draws: Draws::SameSeed,
        ..Storm::default()
    };
    assert_eq!(table(storm).map(|(calls, _)| calls), [6500; 5]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_jitter_needs_fewer_than_half_of_the_unjittered_calls(seed: u64) {
        let storm = Storm::default();
        let unjittered = storm.run(Policy::Exponential, seed).calls;
        prop_assert_eq!(unjittered, 6500);
        for policy in [Policy::FullJitter, Policy::EqualJitter, Policy::Decorrelated] {
            let calls = storm.run(policy, seed).calls;
            prop_assert!(calls * 2 < unjittered, "{:?}: {}", policy, calls);
        }
    }
}
