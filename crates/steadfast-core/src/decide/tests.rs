#![allow(
    clippy::disallowed_methods,
    reason = "an arbitrary instant to count from"
)]

use proptest::prelude::*;

use super::*;
use crate::Backoff;
use crate::Jitter;
use std::num::NonZeroU32;

fn situation(verdict: Verdict, safety: Safety) -> Situation {
    Situation {
        verdict,
        safety,
        body: BodyState::Replayable,
        attempts: 1,
        retries: 0,
        refusals_repeated: 0,
        admissions_awaited: 0,
        admitted_in: None,
        hint: Hint::None,
        throttled: false,
        last_wait: Duration::ZERO,
        now: Instant::now(),
        deadline: Deadline::NONE,
        key_lives_until: Deadline::NONE,
    }
}

fn transient() -> Situation {
    situation(Verdict::Transient(Delivery::Unknown), Safety::Safe)
}

fn run(terms: &Terms, situation: &Situation) -> Decision<()> {
    decide(terms, situation, || 0.5, || Some(()))
}

fn wait(terms: &Terms, situation: &Situation) -> Duration {
    match run(terms, situation) {
        Decision::Retry(next) => next.wait,
        other => panic!("no retry but {other:?}"),
    }
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn every_cell_of_the_table() {
    use Delivery::*;
    use Safety::*;
    let strict = Terms {
        strictness: Strictness::Strict,
        ..Terms::default()
    };
    for safety in [Safe, Idempotent, Keyed, Conditional, Unprotected] {
        for delivery in [Unsent, Unprocessed, Unknown, Answered] {
            let stop = |reason| Some(Decision::Stop(reason));
            let (standard, by_strict) = match (delivery, safety) {
                (Answered, _) => (stop(Reason::NotRetryable), stop(Reason::NotRetryable)),
                (Unknown, Unprotected) => (stop(Reason::Unprotected), stop(Reason::Unprotected)),
                (_, Unprotected) => (None, stop(Reason::Unprotected)),
                _ => (None, None),
            };
            let situation = situation(Verdict::Transient(delivery), safety);
            for (terms, want) in [(Terms::default(), standard), (strict, by_strict)] {
                match (run(&terms, &situation), want) {
                    (Decision::Retry(next), None) => assert!(next.counted),
                    (got, Some(want)) => assert_eq!(got, want, "{safety:?} {delivery:?}"),
                    (got, None) => panic!("{safety:?} {delivery:?}: {got:?}"),
                }
            }
        }
    }
}

#[test]
fn each_question_has_its_reason_and_its_place() {
    let now = Instant::now();
    let terms = Terms {
        max_hint: Some(Duration::from_secs(60)),
        ..Terms::default()
    };
    // Everything is wrong at once; each step puts the first thing right.
    let mut s = Situation {
        verdict: Verdict::Permanent(Delivery::Answered),
        safety: Safety::Unprotected,
        body: BodyState::NotReplayable,
        attempts: 3,
        hint: Hint::Wait(Duration::from_secs(3600)),
        now,
        deadline: Deadline::after(now, Duration::from_secs(10)),
        key_lives_until: Deadline::at(now),
        ..transient()
    };
    let no_budget = |s: &Situation| decide(&terms, s, || 0.99, || None::<()>);
    assert_eq!(no_budget(&s), Decision::Stop(Reason::NotRetryable));
    s.verdict = Verdict::Transient(Delivery::Unknown);
    assert_eq!(no_budget(&s), Decision::Stop(Reason::Unprotected));
    s.safety = Safety::Keyed;
    assert_eq!(no_budget(&s), Decision::Stop(Reason::BodyNotReplayable));
    s.body = BodyState::Committed;
    assert_eq!(no_budget(&s), Decision::Stop(Reason::Committed));
    s.body = BodyState::Replayable;
    assert_eq!(no_budget(&s), Decision::Stop(Reason::AttemptsExhausted));
    s.attempts = 2;
    assert_eq!(no_budget(&s), Decision::Stop(Reason::HintOverLimit));
    s.hint = Hint::Wait(Duration::from_secs(30));
    assert_eq!(no_budget(&s), Decision::Stop(Reason::Deadline));
    // The hint alone would be in time; with the draw it is not.
    s.hint = Hint::Wait(Duration::from_millis(9_990));
    assert_eq!(no_budget(&s), Decision::Stop(Reason::Deadline));
    s.hint = Hint::None;
    assert_eq!(no_budget(&s), Decision::Stop(Reason::KeyExpired));
    s.key_lives_until = Deadline::NONE;
    assert_eq!(no_budget(&s), Decision::Stop(Reason::BudgetExhausted));
    assert!(matches!(run(&terms, &s), Decision::Retry(_)));
}

#[test]
fn the_budget_is_asked_last_and_randomness_only_for_a_wait() {
    let exhausted = Situation {
        attempts: 3,
        ..transient()
    };
    let never = || -> f64 { panic!("drawn") };
    let decision = decide(&Terms::default(), &exhausted, never, || -> Option<()> {
        panic!("the budget was asked")
    });
    assert_eq!(decision, Decision::Stop(Reason::AttemptsExhausted));
}

#[test]
fn success_and_refusals_of_ours_end_the_call() {
    let done = situation(Verdict::Success, Safety::Unprotected);
    assert_eq!(run(&Terms::default(), &done), Decision::Done);
    for reason in [
        Reason::CircuitOpen,
        Reason::Cooldown,
        Reason::BulkheadFull,
        Reason::Deadline,
    ] {
        let refused = situation(Verdict::Rejected(reason), Safety::Safe);
        assert_eq!(run(&Terms::default(), &refused), Decision::Stop(reason));
    }
}

#[test]
fn the_peers_word_wins_over_the_table_never_over_safety() {
    let terms = Terms::default();
    let no = situation(Verdict::PeerSaidNo(Delivery::Unknown), Safety::Safe);
    assert_eq!(run(&terms, &no), Decision::Stop(Reason::PeerSaidNo));
    let stop = Situation {
        hint: Hint::Stop,
        ..transient()
    };
    assert_eq!(run(&terms, &stop), Decision::Stop(Reason::PeerSaidNo));
    let yes = situation(Verdict::Transient(Delivery::Unknown), Safety::Unprotected);
    assert_eq!(run(&terms, &yes), Decision::Stop(Reason::Unprotected));
}

#[test]
fn a_protocol_refusal_is_repeated_once_at_once_and_never_where_attempts_is_one() {
    let terms = Terms::default();
    let mut refused = situation(Verdict::Refused, Safety::Unprotected);
    refused.attempts = terms.max_attempts.get();
    let at_once = Next {
        wait: Duration::ZERO,
        permit: Some(()),
        counted: false,
    };
    assert_eq!(run(&terms, &refused), Decision::Retry(at_once));
    let no_budget = decide(&terms, &refused, || 0.5, || None::<()>);
    assert_eq!(no_budget, Decision::Stop(Reason::BudgetExhausted));
    refused.refusals_repeated = 1;
    assert_eq!(
        run(&terms, &refused),
        Decision::Stop(Reason::AttemptsExhausted)
    );
    refused.attempts = 1;
    assert!(matches!(
        run(&terms, &refused),
        Decision::Retry(Next { counted: true, .. })
    ));
    let once = Terms {
        max_attempts: NonZeroU32::MIN,
        ..terms
    };
    refused.refusals_repeated = 0;
    assert_eq!(
        run(&once, &refused),
        Decision::Stop(Reason::AttemptsExhausted)
    );
}

#[test]
fn hint_and_draw_make_one_wait() {
    let backoff = Backoff::default().with_base(ms(1000));
    let add = Terms {
        backoff,
        ..Terms::default()
    };
    let max = Terms {
        hint_rule: HintRule::Max,
        ..add
    };
    for (hint, by_add, by_max) in [
        (Hint::None, 500, 500),
        (Hint::Unreadable, 500, 500),
        (Hint::Wait(ms(0)), 500, 500),
        (Hint::Wait(ms(200)), 700, 500),
        (Hint::Wait(ms(9000)), 9500, 9000),
    ] {
        let s = Situation {
            hint,
            ..transient()
        };
        assert_eq!(wait(&add, &s), ms(by_add), "{hint:?} added");
        assert_eq!(wait(&max, &s), ms(by_max), "{hint:?} as a minimum");
    }
}

#[test]
fn a_refusal_of_ours_is_waited_out_once_where_that_is_asked_for() {
    let backoff = Backoff::default().with_base(ms(1000));
    let terms = Terms {
        backoff,
        admission: Admission::WaitOnce,
        ..Terms::default()
    };
    let never = || -> Option<()> { panic!("the budget was asked") };
    let mut s = situation(Verdict::Rejected(Reason::CircuitOpen), Safety::Unprotected);
    s.attempts = 0;
    s.admitted_in = Some(ms(3000));
    let waits = Next {
        wait: ms(3500),
        permit: None,
        counted: true,
    };
    assert_eq!(decide(&terms, &s, || 0.5, never), Decision::Retry(waits));
    s.deadline = Deadline::after(s.now, ms(3500));
    assert_eq!(
        decide(&terms, &s, || 0.5, never),
        Decision::Stop(Reason::Deadline)
    );
    s.deadline = Deadline::NONE;
    s.body = BodyState::NotReplayable;
    assert_eq!(
        decide(&terms, &s, || 0.5, never),
        Decision::Stop(Reason::BodyNotReplayable)
    );
    s.body = BodyState::Replayable;
    s.admissions_awaited = 1;
    assert_eq!(
        decide(&terms, &s, || 0.5, never),
        Decision::Stop(Reason::CircuitOpen)
    );
    s.admissions_awaited = 0;
    s.verdict = Verdict::Rejected(Reason::KeyRequired);
    assert_eq!(
        decide(&terms, &s, || 0.5, never),
        Decision::Stop(Reason::KeyRequired)
    );
}

/// gRFC A6: no draw, and the limits hold for it as for any other hint.
#[test]
fn pushback_replaces_the_wait_and_makes_nothing_retryable() {
    let never = || -> f64 { panic!("drawn") };
    let mut s = Situation {
        hint: Hint::Exactly(ms(1500)),
        ..transient()
    };
    for (hint_rule, hint) in [
        (HintRule::Add, Duration::ZERO),
        (HintRule::Max, Duration::ZERO),
        (HintRule::Add, ms(1500)),
        (HintRule::Max, ms(1500)),
    ] {
        s.hint = Hint::Exactly(hint);
        let terms = Terms {
            hint_rule,
            ..Terms::default()
        };
        match decide(&terms, &s, never, || Some(())) {
            Decision::Retry(next) => assert_eq!(next.wait, hint),
            other => panic!("{other:?}"),
        }
    }
    let limited = Terms {
        max_hint: Some(ms(1499)),
        ..Terms::default()
    };
    assert_eq!(run(&limited, &s), Decision::Stop(Reason::HintOverLimit));
    s.deadline = Deadline::after(s.now, ms(1500));
    assert_eq!(run(&Terms::default(), &s), Decision::Stop(Reason::Deadline));
    s.deadline = Deadline::NONE;
    s.verdict = Verdict::Permanent(Delivery::Answered);
    assert_eq!(
        run(&Terms::default(), &s),
        Decision::Stop(Reason::NotRetryable)
    );
}

/// O-04: at the deadline exactly is too late.
#[test]
fn a_wait_that_reaches_the_deadline_is_not_begun() {
    let backoff = Backoff::default()
        .with_jitter(Jitter::None)
        .with_base(ms(100));
    let terms = Terms {
        backoff,
        ..Terms::default()
    };
    let mut s = transient();
    s.deadline = Deadline::after(s.now, ms(100));
    assert_eq!(run(&terms, &s), Decision::Stop(Reason::Deadline));
    s.deadline = Deadline::after(s.now, ms(101));
    assert_eq!(wait(&terms, &s), ms(100));
    s.deadline = Deadline::at(s.now);
    assert_eq!(run(&terms, &s), Decision::Stop(Reason::Deadline));
}

#[test]
fn a_key_that_the_peer_may_have_forgotten_is_not_repeated() {
    let terms = Terms::default();
    let mut s = situation(Verdict::Transient(Delivery::Unknown), Safety::Keyed);
    s.key_lives_until = Deadline::at(s.now);
    assert_eq!(run(&terms, &s), Decision::Stop(Reason::KeyExpired));
    s.safety = Safety::Idempotent;
    assert!(matches!(run(&terms, &s), Decision::Retry(_)));
}

/// Just below the limit from which on there is none.
const LONGEST_NS: u64 = Deadline::NO_LIMIT.as_nanos() as u64;

proptest! {
    #[test]
    fn hints_are_never_undercut_and_deadlines_never_reached(
        hint_ns in any::<u64>(), left_ns in 0..LONGEST_NS, u in 0.0..1.0_f64,
        max_rule in any::<bool>(), attempts in 1..3u32,
    ) {
        let hint = Duration::from_nanos(hint_ns);
        let hint_rule = if max_rule { HintRule::Max } else { HintRule::Add };
        let terms = Terms { hint_rule, ..Terms::default() };
        let mut s = Situation { hint: Hint::Wait(hint), attempts, ..transient() };
        s.deadline = Deadline::after(s.now, Duration::from_nanos(left_ns));
        match decide(&terms, &s, || u, || Some(())) {
            Decision::Retry(next) => {
                prop_assert!(next.wait >= hint);
                prop_assert!(next.wait < Duration::from_nanos(left_ns));
            }
            other => prop_assert_eq!(other, Decision::Stop(Reason::Deadline)),
        }
    }
}
