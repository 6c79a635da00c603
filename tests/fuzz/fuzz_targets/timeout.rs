//! The headers of time: nothing panics, and what is told again is never more than what was read.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use steadfast_core::{Announced, TimeoutFormat};

const FORMATS: [TimeoutFormat; 4] = [
    TimeoutFormat::Grpc,
    TimeoutFormat::Connect,
    TimeoutFormat::Millis,
    TimeoutFormat::Seconds,
];

fuzz_target!(|data: &[u8]| -> Corpus {
    let Some((first, text)) = data.split_first() else {
        return Corpus::Reject;
    };
    let format = FORMATS[usize::from(*first) % FORMATS.len()];
    let Ok(read) = format.decode(text) else {
        return Corpus::Keep;
    };
    assert!(read <= format.longest(), "{read:?} is longer than {format:?} can say");
    if let Announced::Left(value) = format.encode(read) {
        let again = format.decode(value.as_bytes());
        assert!(again.is_ok_and(|again| again <= read), "{read:?} told as {value:?}");
    }
    Corpus::Keep
});
