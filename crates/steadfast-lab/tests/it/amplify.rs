//! Seed A's second table, and its variations.

use std::num::NonZeroU32;

use steadfast::Ratio;
use steadfast_lab::amplify::{Amplify, Cap};

fn bottom(layers: u32, cap: Cap) -> u64 {
    let amplify = Amplify {
        layers,
        ..Amplify::default()
    };
    *amplify.run(cap).last().unwrap()
}

#[test]
fn the_table_is_the_seeds_to_the_digit() {
    assert_eq!(bottom(3, Cap::Nothing), 64_000);
    assert_eq!(bottom(3, Cap::Ratio(Ratio::percent(10).unwrap())), 1_331);
}

#[test]
fn a_ratio_multiplies_by_one_and_itself_for_each_layer() {
    let cap = Cap::Ratio(Ratio::percent(10).unwrap());
    let calls = [1, 2, 3, 4, 5].map(|layers| bottom(layers, cap));
    assert_eq!(calls, [1100, 1210, 1331, 1465, 1612]);
    for percent in [5, 10, 20, 50] {
        let ratio = Ratio::percent(percent).unwrap();
        for layers in 1..=5 {
            let exact = 1000.0 * (1.0 + ratio.as_f64()).powi(layers as i32);
            let calls = bottom(layers, Cap::Ratio(ratio)) as f64;
            // Each layer rounds up once, and what is above multiplies it.
            let rounding = 2.0 * f64::from(layers) * 1.5_f64.powi(layers as i32);
            assert!(
                (exact - 1e-6..exact + rounding).contains(&calls),
                "{percent}% {layers}: {calls}"
            );
        }
    }
}

/// The seed's program with tokens in the place of the ratio.
#[test]
fn the_throttle_stops_after_three_retries_of_each_layer() {
    let calls = [1, 2, 3, 4, 5].map(|layers| bottom(layers, Cap::Throttle));
    assert_eq!(calls, [1003, 1006, 1009, 1012, 1015]);
}

#[test]
fn one_request_is_multiplied_by_each_layer() {
    let one = Amplify {
        requests: 1,
        ..Amplify::default()
    };
    assert_eq!(one.run(Cap::Nothing), [4, 16, 64]);
}

#[test]
fn a_thousand_requests_with_two_retries_each_are_three_thousand() {
    let amplify = Amplify {
        layers: 1,
        attempts: NonZeroU32::new(3).unwrap(),
        requests: 1_000,
    };
    assert_eq!(amplify.run(Cap::Nothing), [3_000]);
    assert_eq!(amplify.most(), Some(3_000));
}
