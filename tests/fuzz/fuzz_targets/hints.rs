//! Every source of hints together: one precedence, and no answer that breaks it.
#![no_main]

use std::time::{Duration, SystemTime};

use http::{HeaderName, header};
use libfuzzer_sys::{Corpus, fuzz_target};
use steadfast_core::grpc::RETRY_PUSHBACK;
use steadfast_core::hint::{MILLISECOND_HEADERS, RATE_LIMIT};
use steadfast_core::{Hint, HintSource, Hints, ResetUnit};
use steadfast_fuzz::{fields, map};

const NOW: Duration = Duration::from_secs(1_795_996_800);

fuzz_target!(|data: &[u8]| -> Corpus {
    let reset = HeaderName::from_static("x-ratelimit-reset");
    let epoch = HeaderName::from_static("x-rate-limit-reset-ms");
    let [ms, ..] = MILLISECOND_HEADERS;
    let names = [
        RETRY_PUSHBACK,
        ms,
        header::RETRY_AFTER,
        RATE_LIMIT,
        reset.clone(),
        epoch.clone(),
        header::DATE,
        header::AGE,
    ];
    let Some(fields) = fields(data, &names) else {
        return Corpus::Reject;
    };
    let headers = map(&fields);
    let all = Hints::default()
        .with(HintSource::RateLimit)
        .with_reset(reset, ResetUnit::DeltaSeconds)
        .with_reset(epoch, ResetUnit::EpochMilliseconds);
    let read = |hints: &Hints| hints.read(&headers, || SystemTime::UNIX_EPOCH + NOW);

    let hint = read(&all);
    let pushback = Hint::of_pushback(&headers);
    if pushback != Hint::None {
        // The server's word to a gRPC client goes first, readable or not.
        assert_eq!(hint, pushback);
    } else {
        assert!(
            !matches!(hint, Hint::Stop | Hint::Exactly(_)),
            "only pushback says that"
        );
    }
    assert_eq!(read(&Hints::nothing()), Hint::None);
    let without = all.without(HintSource::Pushback);
    assert!(!matches!(read(&without), Hint::Stop | Hint::Exactly(_)));
    Corpus::Keep
});
