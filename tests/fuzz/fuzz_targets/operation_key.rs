//! Operation keys: stored, read back, and the keys derived from them.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use steadfast_idempotency::{Key, OperationKey};

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(text) = std::str::from_utf8(data) else {
        return Corpus::Reject;
    };
    let (text, step) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(key) = OperationKey::parse(text) else {
        assert!(Key::parse(text).is_err(), "one grammar");
        return Corpus::Keep;
    };
    assert_eq!(key.to_string(), text);
    assert_eq!(text.parse().as_ref(), Ok(&key));
    let child = key.child(step);
    assert_eq!(child, key.child(step));
    let others = [
        key.clone(),
        child.child(step),
        key.child(&format!("{step}/")),
        OperationKey::scoped(step, key.as_key()),
    ];
    for other in &others {
        assert_ne!(&child, other);
    }
    assert_eq!(OperationKey::parse(child.as_str()).as_ref(), Ok(&child));
    Corpus::Keep
});
