//! What a trigger leaves behind, through the whole stacks.

use steadfast::Ratio;
use steadfast_lab::metastable::{Expired, Metastable, Outcome, Retries};

/// With a shorter end than the table's: what is down 20 seconds after the trigger stays down.
fn run(retries: Retries, expired: Expired, percent: u32) -> Outcome {
    let setting = Metastable {
        before: 3,
        after: 40,
        ..Metastable::new(retries, expired, Ratio::percent(percent).unwrap())
    };
    setting.run().unwrap()
}

#[test]
fn naive_retries_keep_a_server_down_that_works_for_nobody() {
    let outcome = run(Retries::Naive, Expired::WorkedOn, 60);
    assert!(outcome.before > 0.99, "{outcome:?}");
    assert!(outcome.after < 0.05, "{outcome:?}");
    assert_eq!(outcome.recovered_after, None);
    assert!(outcome.worst_attempts_per_call > 2.5, "{outcome:?}");
}

#[test]
fn a_server_that_drops_expired_work_recovers_from_the_same() {
    let outcome = run(Retries::Naive, Expired::Dropped, 60);
    assert!(outcome.after > 0.99, "{outcome:?}");
    assert!(outcome.recovered_after.is_some(), "{outcome:?}");
}

#[test]
fn a_seed_repeats_its_outcome_second_by_second() {
    let [one, again] = [(); 2].map(|()| run(Retries::Standard, Expired::Dropped, 75));
    assert_eq!(one, again);
}

/// Without a retry, client and network are no more than the calls that arrive.
#[test]
fn who_never_repeats_sends_one_attempt_a_call() {
    let outcome = run(Retries::None, Expired::WorkedOn, 60);
    let calls: u64 = outcome.seconds.iter().map(|second| second.calls).sum();
    let attempts: u64 = outcome.seconds.iter().map(|second| second.attempts).sum();
    assert_eq!(calls, attempts);
}

/// The row of the README's table on which the budgets part.
#[test]
fn at_85_percent_the_refund_budget_recovers_within_a_minute_and_the_ratio_does_not() {
    let [refund, ratio] = [Retries::Refund, Retries::Ratio].map(|retries| {
        let setting = Metastable {
            before: 3,
            after: 60,
            ..Metastable::new(retries, Expired::WorkedOn, Ratio::percent(85).unwrap())
        };
        setting.run().unwrap()
    });
    assert!(
        refund.recovered_after.is_some_and(|after| after < 50),
        "{:?}",
        refund.recovered_after
    );
    assert_eq!(ratio.recovered_after, None);
    assert!(ratio.after < 0.05, "{}", ratio.after);
}
