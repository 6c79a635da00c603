use proptest::prelude::*;

use super::*;

fn attempts(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

fn leave(n: u32, percent: u32) -> Option<Allowance> {
    Some(Allowance::new(
        attempts(n),
        Ratio::percent(percent).unwrap(),
    ))
}

/// The mark's text, without the header around it.
fn marks(split: &Split) -> Vec<String> {
    let of = |number| {
        let owner = split.owner(number);
        let Attempt { number, max } = owner.attempt();
        let left = owner.allowance().map(|left| left.attempts().get());
        format!("{number}/{max} {}", left.unwrap_or(1))
    };
    (1..=split.attempts.get().min(9)).map(of).collect()
}

#[test]
fn each_of_an_owners_attempts_stands_for_those_that_it_leaves() {
    for (max, next, told) in [
        (4, None, &["1/4 1", "2/4 1", "3/4 1", "4/4 1"][..]),
        (4, leave(2, 50), &["1/4 2", "3/4 2"]),
        (5, leave(2, 50), &["1/5 2", "3/5 2"]),
        (6, leave(2, 50), &["1/6 2", "3/6 2", "5/6 2"]),
        (3, leave(2, 50), &["1/3 2"]),
        (3, leave(9, 50), &["1/3 3"]),
        // Nothing is left: all is its own.
        (3, leave(1, 50), &["1/3 1", "2/3 1", "3/3 1"]),
        (3, leave(2, 0), &["1/3 1", "2/3 1", "3/3 1"]),
        // All of the budget is left: without one it cannot repeat.
        (4, leave(2, 100), &["1/4 2"]),
    ] {
        assert_eq!(marks(&Split::of(attempts(max), None, next)), told, "{max}");
    }
}

#[test]
fn a_part_is_divided_as_the_whole_was() {
    let owner = Owner::from(Attempt { number: 5, max: 8 });
    let left = |n, percent| Some(owner.with_allowance(leave(n, percent).unwrap()));
    let split = Split::of(attempts(9), left(4, 60), leave(2, 50));
    assert_eq!(marks(&split), ["5/8 2", "7/8 2"]);
    assert_eq!(split.share, Ratio::percent(30).unwrap());
    assert!(split.is_repeat());
    let own = Split::of(attempts(2), left(4, 60), None);
    assert_eq!(marks(&own), ["5/8 1", "6/8 1"], "fewer than it is left");
    assert_eq!(own.share, Ratio::percent(60).unwrap());
}

proptest! {
    /// Whatever the hops are configured to, and whatever was said to the first.
    #[test]
    fn hops_never_multiply_to_more_than_the_first_one_has(
        max in 1..2_000u32,
        hops in proptest::collection::vec((1..2_000u32, 1..50u32, 0..150u32), 1..5),
    ) {
        let (mut product, mut shares, mut upstream) = (1u64, 0, None);
        for (own, left, percent) in hops {
            let own = if upstream.is_none() { max } else { own };
            let split = Split::of(attempts(own), upstream, leave(left, percent));
            prop_assert!(split.attempts.get() <= own);
            product *= u64::from(split.attempts.get());
            shares += split.share.as_millionths();
            for number in [1, split.attempts.get(), u32::MAX] {
                let owner = split.owner(number);
                let Attempt { number, max: of } = owner.attempt();
                prop_assert!(number >= 1 && number <= of && of == max);
            }
            // A repeat of this hop's, at most: those that follow it must fit too.
            let last = split.owner(split.attempts.get());
            prop_assert_eq!(last.allowance(), split.leaves, "none is cut short");
            upstream = Some(last);
            if split.leaves.is_none() {
                break;
            }
        }
        prop_assert!(product <= max.into(), "{product}");
        prop_assert!(shares <= 1_000_000);
    }
}
