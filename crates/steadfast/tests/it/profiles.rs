//! The profiles are what the manual and the front page say.

use std::num::NonZeroU32;

use steadfast::client::{Draft, Profile};

const MANUAL: &str = include_str!("../../docs/defaults.md");
const README: &str = include_str!("../../README.md");

fn rows(page: &str) -> impl Iterator<Item = Vec<String>> {
    let start = page.find("| profile |").unwrap();
    let table = page[start..].lines().skip(2);
    table.take_while(|line| line.starts_with('|')).map(|line| {
        line.trim_matches('|')
            .split('|')
            .map(|it| it.trim().to_owned())
            .collect()
    })
}

#[test]
fn the_manual_lists_every_profile_as_it_is() {
    let mut known = Profile::ALL.iter();
    for row in rows(MANUAL) {
        let draft = Draft::of(*known.next().unwrap());
        let attempts = match draft.retry().max_attempts() {
            NonZeroU32::MAX => "unlimited".to_owned(),
            attempts => attempts.to_string(),
        };
        let backoff = draft.retry().backoff();
        assert_eq!(
            row[..6],
            [
                format!("`{}`", draft.profile()),
                format!("{:?}", draft.call_limit()),
                format!("{:?}", draft.attempt_timeout()),
                attempts,
                format!("{:?}", backoff.base()),
                format!("{:?}", backoff.cap()),
            ]
        );
    }
    assert_eq!(known.next(), None);
}

/// In the words of people: minutes, and a blank before the unit.
#[test]
fn the_front_page_lists_the_same() {
    let words = |text: &str| {
        text.replace(' ', "")
            .replace("5min", "300s")
            .replace("30min", "1800s")
    };
    for (short, long) in rows(README).zip(rows(MANUAL)) {
        let short: Vec<_> = short.iter().map(|cell| words(cell)).collect();
        assert!(short[0].starts_with(&long[0]), "{short:?}");
        assert_eq!((&short[1], &short[2]), (&long[1], &long[2]), "{}", long[0]);
        let attempts = long[3].replace("unlimited", "untilthedeadline");
        assert_eq!(short[3], attempts);
        assert!(
            short[4].starts_with(&format!("{}→{}", long[4], long[5])),
            "{short:?}"
        );
    }
    assert_eq!(rows(README).count(), Profile::ALL.len());
}
