use std::num::NonZeroU32;
use std::time::Duration;

use http::Method;
use steadfast_admission::Mode;
use steadfast_core::grpc::Code;
use steadfast_core::{HintSource, Jitter, Ratio};
use steadfast_retry::Commit;

use super::*;
use crate::client::{BudgetKind, Budgets, Conflict, InvalidPolicy};

fn error(text: &str) -> PolicyFileError {
    Policy::from_toml(text).unwrap_err()
}

/// Every field that there is, with a value that is not its default.
const EVERYTHING: &str = include_str!("everything.toml");

#[test]
fn a_file_that_says_nothing_is_the_default_profile() {
    let policy = Policy::from_toml("").unwrap();
    let draft = policy.as_draft();
    assert_eq!(draft.profile(), Profile::Default);
    assert_eq!(draft.call_limit(), Duration::from_secs(30));
    assert_eq!(draft.budgets(), &Budgets::default());
    assert_eq!(draft.breaker().scope(), Scope::Destination);
    assert!(draft.keys().routes().is_empty());
}

#[test]
fn what_a_file_does_not_say_is_its_profiles() {
    for profile in Profile::ALL {
        let route = "[[keys.routes]]\ndestination = \"payments.example\"";
        let text = format!("profile = \"{profile}\"\n{route}");
        let (said, known) = (Policy::from_toml(&text).unwrap(), Draft::of(profile));
        let draft = said.as_draft();
        assert_eq!(draft.profile(), profile);
        assert_eq!(draft.call_limit(), known.call_limit());
        assert_eq!(draft.attempt_timeout(), known.attempt_timeout());
        assert_eq!(draft.retry().max_attempts(), known.retry().max_attempts());
        assert_eq!(draft.retry().backoff(), known.retry().backoff());
        assert_eq!(draft.retry().hint_rule(), known.retry().hint_rule());
        assert_eq!(draft.keys().source(), known.keys().source());
        assert_eq!(draft.budgets(), known.budgets());
        assert_eq!(draft.breaker().window(), known.breaker().window());
    }
}

#[test]
fn every_field_is_heard() {
    let policy = Policy::from_toml(EVERYTHING).unwrap();
    let draft = policy.as_draft();
    assert_eq!(draft.profile(), Profile::Payment);
    assert_eq!(draft.call_limit(), Duration::from_secs(90));
    assert_eq!(draft.attempt_timeout(), Duration::from_millis(2_500));

    let keys = draft.keys();
    assert!(!keys.routes().is_empty());
    assert_eq!(keys.header(), "x-key");
    assert_eq!(keys.lifetime(), Some(Duration::from_secs(86_400)));
    assert_eq!(keys.shortest_lifetime(), Some(Duration::from_secs(3_600)));

    let retry = draft.retry();
    assert_eq!(retry.max_attempts().get(), 5);
    assert_eq!(retry.backoff().base(), Duration::from_millis(200));
    assert_eq!(retry.backoff().cap(), Duration::from_secs(3));
    assert_eq!(retry.backoff().multiplier().as_f64(), 1.5);
    assert_eq!(retry.backoff().throttled_base(), Duration::from_secs(2));
    assert_eq!(
        retry.backoff().jitter(),
        Jitter::Proportional(Ratio::percent(25).unwrap())
    );
    assert_eq!(retry.max_hint(), Some(Duration::from_secs(10)));
    assert_eq!(retry.hint_rule(), steadfast_core::decide::HintRule::Max);
    assert_eq!(
        retry.strictness(),
        steadfast_core::decide::Strictness::Strict
    );
    assert_eq!(
        retry.admission(),
        steadfast_core::decide::Admission::WaitOnce
    );
    let sources = [HintSource::RetryAfter, HintSource::RateLimit];
    assert!(sources.iter().all(|source| retry.hints().reads(*source)));
    assert!(!retry.hints().reads(HintSource::Pushback));
    assert!(retry.retryable_codes().contains(Code::ResourceExhausted));
    assert!(!retry.retryable_codes().contains(Code::Aborted));
    assert_eq!(retry.commit(), Commit::WholeBody { limit: 65_536 });
    assert_eq!(retry.replay_limit(), 1_000);
    assert_eq!((retry.keep_limit(), retry.drain_limit()), (2_000, 3_000));
    assert_eq!(retry.owner_mark().unwrap().name(), "x-attempt");
    assert_eq!(
        retry.upstream_owner(),
        steadfast_retry::UpstreamOwner::Split
    );
    let left = retry.next_hop().unwrap();
    assert_eq!(
        (left.attempts().get(), left.share()),
        (2, Ratio::percent(50).unwrap())
    );
    let [rule] = retry.rules() else {
        panic!("one rule")
    };
    let about = |method| {
        let uri = http::Uri::from_static("http://search.example/query");
        rule.matches(&method, &uri, &Default::default(), &Default::default())
    };
    assert!(about(Method::POST) && !about(Method::PUT));
    assert_eq!(rule.safety(), Some(steadfast_core::Safety::Safe));
    assert!(rule.is_unprocessed(http::StatusCode::NOT_FOUND));
    assert!(rule.is_unprocessed(http::StatusCode::SERVICE_UNAVAILABLE));
    assert!(rule.put_needs_precondition());

    assert_eq!(
        draft.budgets(),
        &Budgets::Shared(BudgetKind::Ratio {
            ratio: Ratio::percent(20).unwrap(),
            minimum_per_second: Ratio::try_from(0.5).unwrap(),
            window: Duration::from_secs(20),
            reserve: Ratio::percent(10).unwrap(),
        })
    );

    let cooldown = draft.cooldown();
    assert_eq!(cooldown.mode(), Mode::Shadow);
    assert_eq!(cooldown.statuses(), [http::StatusCode::TOO_MANY_REQUESTS]);
    assert_eq!(cooldown.max(), Duration::from_secs(30));
    assert_eq!(cooldown.max_keys().get(), 11);

    let bulkhead = draft.bulkhead();
    assert_eq!(bulkhead.mode(), Mode::Off);
    assert_eq!(bulkhead.limit().get(), 7);
    assert_eq!(bulkhead.max_wait(), Duration::from_millis(100));
    assert_eq!(bulkhead.max_queue(), 3);
    assert_eq!(bulkhead.reserve(), Ratio::percent(20).unwrap());
    assert_eq!(bulkhead.max_keys().get(), 12);
    assert_eq!(bulkhead.idle(), Duration::from_secs(600));

    let breaker = draft.breaker();
    assert_eq!(breaker.mode(), Mode::Shadow);
    assert_eq!(breaker.window().as_time(), Some(Duration::from_secs(45)));
    assert_eq!(breaker.window().minimum().get(), 50);
    assert_eq!(breaker.failure_rate(), Some(Ratio::percent(40).unwrap()));
    assert_eq!(breaker.consecutive_failures(), NonZeroU32::new(9));
    let slow = (Duration::from_secs(2), Ratio::percent(80).unwrap());
    assert_eq!(breaker.slow_calls(), Some(slow));
    assert_eq!(breaker.open().base(), Duration::from_secs(1));
    assert_eq!(breaker.open().cap(), Duration::from_secs(30));
    assert_eq!(breaker.probes().get(), 2);
    assert_eq!(breaker.probe_lease(), Duration::from_secs(20));
    assert_eq!(breaker.max_keys().get(), 13);
    assert_eq!(breaker.idle(), Duration::from_secs(900));
    assert_eq!(breaker.scope(), Scope::Layer);
    assert_eq!(
        (bulkhead.scope(), cooldown.scope()),
        (Scope::Layer, Scope::Layer)
    );

    assert_eq!(draft.body_timeout().idle(), Duration::from_secs(5));
    assert_eq!(draft.body_timeout().total(), Duration::from_secs(300));
    let told = draft.propagation();
    assert_eq!(told.headers().len(), 1);
    assert_eq!(told.headers()[0].name(), "x-time-left");
    assert_eq!(told.margin(), Duration::from_millis(5));
    assert_eq!(told.operation_header().unwrap(), "x-operation");
    assert_eq!(told.attempt_header().unwrap(), "x-attempt-number");
    assert_eq!(told.age_header().unwrap(), "x-age");
}

#[test]
fn an_unknown_field_is_named_with_its_line() {
    let error = error("call_limit = \"5s\"\n\n[retry]\natempts = 3\n");
    assert_eq!(error.line(), Some(4));
    let text = error.to_string();
    assert!(
        text.starts_with("line 4: unknown field `atempts`, expected one of"),
        "{text}"
    );
    assert!(!text.contains('\n'));
}

#[test]
fn a_value_that_cannot_be_one_is_named_with_its_rule() {
    for (text, rule) in [
        (
            "profile = \"fast\"",
            "line 1: 'fast' is not a profile: default, interactive_read",
        ),
        (
            "call_limit = \"soon\"",
            "line 1: 'soon' is not a time such as \"250ms\"",
        ),
        (
            "call_limit = 5",
            "line 1: invalid type: integer `5`, expected a time such as",
        ),
        (
            "[retry]\nattempts = 0",
            "line 2: attempts must be a number from 1 on",
        ),
        (
            "[retry]\nbackoff_multiplier = 0.5",
            "retry.backoff_multiplier: 0.5 is not a backoff",
        ),
        (
            "[breaker]\nfailure_rate = \"40\"",
            "line 2: a share such as \"50%\", or \"off\"",
        ),
        (
            "[budget]\nkind = \"ratio\"\nratio = \"-3%\"",
            "'-3%' is not a share",
        ),
        ("[budget]\nkind = \"hope\"", "unknown variant `hope`"),
        ("[budget]\nratio = \"5%\"", "missing field `kind`"),
        (
            "[bulkhead]\nlimit = 0",
            "line 2: invalid value: integer `0`",
        ),
        (
            "[cooldown]\nstatuses = [99]",
            "cooldown.statuses: 99 is not a status",
        ),
        (
            "[[keys.routes]]\ndestination = \"https://a.example\"",
            "keys.routes, the 1. one: 'https://a.example' is not a destination",
        ),
        (
            "[[keys.routes]]\ndestination = \"a.example\"\nmethod = \"GET\"",
            "keys.routes, the 1. one: 'GET' is not a method for a key: it is safe",
        ),
        (
            "[[retry.rules]]\ndestination = \"*\"\npath = \"x\"",
            "retry.rules, the 1. one: 'x' is not a path",
        ),
        (
            "[retry]\ngrpc_codes = [\"BUSY\"]",
            "line 2: 'BUSY' is not a gRPC code such as",
        ),
        (
            "[breaker]\nwindow = \"30s\"\nwindow_calls = 10",
            "breaker.window and breaker.window_calls exclude each other",
        ),
        (
            "[breaker]\nwindow_calls = 10\nminimum = 20",
            "breaker.minimum: a minimum of 20 calls is never met by a window of 10 calls",
        ),
        (
            "[breaker]\nslow_call = \"1s\"",
            "breaker.slow_call needs breaker.slow_rate",
        ),
    ] {
        let said = error(text).to_string();
        assert!(said.contains(rule), "{text}: {said}");
        assert!(!said.contains('\n'), "{said}");
    }
}

#[test]
fn parts_that_do_not_fit_together_are_found_by_type() {
    let error = error("[retry]\nbackoff_cap = \"10ms\"\n[breaker]\nwindow = \"19s\"");
    let source = std::error::Error::source(&error).unwrap();
    let invalid = source.downcast_ref::<InvalidPolicy>().unwrap();
    let (base, cap) = (Duration::from_millis(50), Duration::from_millis(10));
    let (window, attempt) = (Duration::from_secs(19), Duration::from_secs(10));
    assert_eq!(
        invalid.conflicts(),
        [
            Conflict::CapBelowBase { base, cap },
            Conflict::WindowTooShort { window, attempt },
        ]
    );
}

#[test]
fn other_formats_are_read_through_serde() {
    let json = r#"{"profile": "background", "retry": {"attempts": "unlimited"}}"#;
    let policy: Policy = serde_json::from_str(json).unwrap();
    assert_eq!(policy.as_draft().retry().max_attempts(), NonZeroU32::MAX);
    let error = serde_json::from_str::<Policy>(r#"{"attempt_timeout": "1h"}"#).unwrap_err();
    assert!(
        error.to_string().contains("longer than call_limit"),
        "{error}"
    );
}
