//! The header by which the owner of a call's repeats says so, and what it leaves to others.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use steadfast_core::{Attempt, AttemptHeader, OwnerMark, Ratio, STEADFAST_ATTEMPT};
use steadfast_fuzz::{fields, map};

fuzz_target!(|data: &[u8]| -> Corpus {
    let Some(fields) = fields(data, &[STEADFAST_ATTEMPT]) else {
        return Corpus::Reject;
    };
    let (headers, mark) = (map(&fields), OwnerMark::default());
    let owner = mark.read(&headers);
    assert!(
        fields.len() == 1 || owner.is_none(),
        "of several marks none is believed"
    );
    let number = AttemptHeader::Steadfast.read(&headers);
    assert_eq!(owner.map(|owner| owner.attempt().number), number);
    let Some(owner) = owner else {
        return Corpus::Keep;
    };

    let Attempt { number, max } = owner.attempt();
    assert!((1..=max).contains(&number));
    // Who reads the place alone reads the same place.
    let text = fields[0].1.to_str().unwrap();
    let place = text.split(';').next().and_then(|place| place.split_once('/'));
    let (first, second) = place.unwrap();
    assert_eq!((first.parse(), second.parse()), (Ok(number), Ok(max)));
    if let Some(left) = owner.allowance() {
        let attempts = left.attempts().get();
        assert!(attempts > 1 && attempts - 1 <= max - number, "{owner:?}");
        assert!(left.share() > Ratio::ZERO && left.share() <= Ratio::ONE);
        assert!(text.contains("left=") && text.contains("share="));
    }

    let mut written = map(&[]);
    mark.write(&mut written, owner);
    assert_eq!(mark.read(&written), Some(owner), "{written:?}");
    Corpus::Keep
});
