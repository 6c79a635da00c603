use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Option<Owner> {
    let mut headers = HeaderMap::new();
    headers.insert(STEADFAST_ATTEMPT, HeaderValue::try_from(text).ok()?);
    OwnerMark::default().read(&headers)
}

/// Number, max, and attempts and percent that are left.
fn parts(owner: Owner) -> (u32, u32, Option<(u32, u32)>) {
    let Attempt { number, max } = owner.attempt();
    let left = owner.allowance();
    let left = left.map(|left| (left.attempts().get(), left.share().as_millionths() / 10_000));
    (number, max, left)
}

#[test]
fn what_an_owner_leaves_is_read_by_one_strict_grammar() {
    for (text, said) in [
        ("1/2", Some((1, 2, None))),
        ("1/4;left=2;share=50", Some((1, 4, Some((2, 50))))),
        ("1/4;share=50;left=2", Some((1, 4, Some((2, 50))))),
        ("3/4;left=2;share=100", Some((3, 4, Some((2, 100))))),
        // Parameters of a later version change nothing.
        ("1/4;left=2;share=50;hop=1", Some((1, 4, Some((2, 50))))),
        ("1/4;hop=1", Some((1, 4, None))),
        // Never more than the call has.
        ("1/4;left=4294967295;share=50", Some((1, 4, Some((4, 50))))),
        ("3/4;left=4;share=50", Some((3, 4, Some((2, 50))))),
        ("4/4;left=4;share=50", Some((4, 4, None))),
        // Nothing beyond the request itself.
        ("1/4;left=1;share=50", Some((1, 4, None))),
        ("1/4;left=2;share=0", Some((1, 4, None))),
        // Who owns the call is said; what is left to others is not.
        ("1/4;", Some((1, 4, None))),
        ("1/4;left=2", Some((1, 4, None))),
        ("1/4;share=50", Some((1, 4, None))),
        ("1/4;left=0;share=50", Some((1, 4, None))),
        ("1/4;left=2;share=101", Some((1, 4, None))),
        ("1/4;left=2;share=-1", Some((1, 4, None))),
        ("1/4;left=2;share=0.5", Some((1, 4, None))),
        ("1/4;left=+2;share=50", Some((1, 4, None))),
        ("1/4;left=99999999999;share=50", Some((1, 4, None))),
        ("1/4;left=2;left=2;share=50", Some((1, 4, None))),
        ("1/4; left=2; share=50", Some((1, 4, None))),
        ("1/4;left=2;share=50;", Some((1, 4, None))),
        ("1/4;left=2;share=50;mine", Some((1, 4, None))),
        // Nobody's.
        ("left=2;share=50", None),
        ("5/4;left=2;share=50", None),
        ("1/4,left=2", None),
        (";left=2;share=50", None),
        ("1/4 ;left=2;share=50", None),
        ("", None),
        ("/", None),
    ] {
        assert_eq!(read(text).map(parts), said, "{text}");
    }
}

#[test]
fn of_several_marks_none_is_believed() {
    let mut headers = HeaderMap::new();
    for _ in 0..2 {
        headers.append(
            STEADFAST_ATTEMPT,
            HeaderValue::from_static("1/4;left=2;share=50"),
        );
    }
    assert_eq!(OwnerMark::default().read(&headers), None);
}

#[test]
fn without_the_rest_a_mark_says_what_it_always_said() {
    let mut headers = HeaderMap::new();
    let owner = read("3/4;left=2;share=50").unwrap();
    OwnerMark::default().write(&mut headers, owner.without_allowance());
    assert_eq!(headers[STEADFAST_ATTEMPT], "3/4");
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        number: u32, max: u32, attempts in 1..u32::MAX, millionths: u32,
    ) {
        let (number, max) = (number.min(max).max(1), max.max(1));
        let share = Ratio::from_millionths(millionths);
        let allowance = Allowance::new(NonZeroU32::new(attempts).unwrap(), share);
        prop_assert!(allowance.share() <= Ratio::ONE.min(share));
        let owner = Owner::from(Attempt { number, max }).with_allowance(allowance);
        let mut headers = HeaderMap::new();
        OwnerMark::default().write(&mut headers, owner);
        prop_assert_eq!(OwnerMark::default().read(&headers), Some(owner));
        if let Some(left) = owner.allowance() {
            prop_assert!(u64::from(number) - 1 + u64::from(left.attempts().get()) <= max.into());
        }
    }

    #[test]
    fn no_text_leaves_more_than_the_call_has(text in "[0-9/;=a-z ]{0,40}") {
        if let Some(owner) = read(&text) {
            let Attempt { number, max } = owner.attempt();
            prop_assert!((1..=max).contains(&number));
            let left = owner.allowance().map_or(1, |left| left.attempts().get());
            prop_assert!(left - 1 <= max - number, "{text}");
        }
    }
}
