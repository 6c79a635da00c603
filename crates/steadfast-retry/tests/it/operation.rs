use std::io;
use std::time::Duration;

use steadfast_core::budget::{Ask, Budget, RatioBudget};
use steadfast_core::{
    Attempt, CallContext, Deadline, Delivery, Elapsed, Failure, Hint, Outcome, Ratio, Reason,
    Safety, Verdict, chain, in_context,
};
use steadfast_retry::{Judgement, operation};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::stack::*;

fn judge(result: &io::Result<u32>) -> Verdict {
    match result {
        Ok(0) => Verdict::Transient(Delivery::Unprocessed),
        Ok(_) => Verdict::Success,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            Verdict::Transient(Delivery::Unsent)
        }
        Err(_) => Verdict::Transient(Delivery::Unknown),
    }
}

async fn always(kind: io::ErrorKind) -> io::Result<u32> {
    Err(kind.into())
}

fn report(failure: &Failure) -> (u32, Option<Reason>, Outcome) {
    let report = failure.report();
    (report.attempts, report.reason, report.outcome)
}

#[tokio::test(start_paused = true)]
async fn safety_decides_what_is_repeated() {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset};
    let exhausted = Some(Reason::AttemptsExhausted);
    for (safety, kind, want) in [
        (
            Safety::Idempotent,
            ConnectionReset,
            (3, exhausted, Outcome::Unknown),
        ),
        (
            Safety::Unprotected,
            ConnectionReset,
            (1, Some(Reason::Unprotected), Outcome::Unknown),
        ),
        (
            Safety::Unprotected,
            ConnectionRefused,
            (3, exhausted, Outcome::NotApplied),
        ),
    ] {
        let failure = operation(config(), safety, judge, |_| always(kind))
            .await
            .unwrap_err();
        assert_eq!(report(&failure), want, "{safety:?} {kind}");
        let last = chain(&failure)
            .find_map(|it| it.downcast_ref::<io::Error>())
            .unwrap();
        assert_eq!(last.kind(), kind);
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_that_was_judged_a_failure_is_returned_in_the_end() {
    let mut numbers = Vec::new();
    let value = operation(config(), Safety::Safe, judge, |Attempt { number, max }| {
        numbers.push((number, max));
        std::future::ready(Ok(0))
    })
    .await;
    assert_eq!(value.unwrap(), 0);
    assert_eq!(numbers, [(1, 3), (2, 3), (3, 3)]);
}

#[tokio::test(start_paused = true)]
async fn a_hint_is_waited_for() {
    let later = |result: &io::Result<u32>| Judgement {
        verdict: judge(result),
        hint: Hint::Wait(Duration::from_secs(7)),
    };
    let started = Instant::now();
    let mut left = 1;
    let value = operation(config(), Safety::Safe, later, |_| {
        left -= 1;
        std::future::ready(Ok(if left == 0 { 0 } else { 9 }))
    });
    assert_eq!(value.await.unwrap(), 9);
    assert!(started.elapsed() >= Duration::from_secs(7));
}

#[tokio::test(start_paused = true)]
async fn an_operation_made_for_a_served_request_ends_with_its_deadline() {
    let started = Instant::now();
    let deadline = Deadline::after(started.into_std(), Duration::from_secs(2));
    let context = CallContext::new().with_deadline(deadline);
    let failure = in_context(context, async {
        operation(config(), Safety::Safe, judge, |_| std::future::pending()).await
    })
    .await
    .unwrap_err();
    assert_eq!(
        report(&failure),
        (1, Some(Reason::Deadline), Outcome::Unknown)
    );
    assert!(Elapsed::find(&failure).is_some());
    assert_eq!(started.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn the_budget_is_shared_with_layers_and_dropping_gives_back() {
    let budget = RatioBudget::new(Ratio::ONE);
    let config = || config().with_budget(budget.clone());
    let refused = || {
        operation(config(), Safety::Safe, judge, |_| {
            always(io::ErrorKind::Other)
        })
    };
    let mut waiting = tokio_test::task::spawn(refused());
    assert!(waiting.poll().is_pending());
    let now = Instant::now().into_std();
    assert!(budget.reserve(Ask::new(now)).is_none());
    drop(waiting);
    assert!(budget.reserve(Ask::new(now)).is_some());
    let failure = refused().await.unwrap_err();
    assert_eq!(
        report(&failure),
        (3, Some(Reason::AttemptsExhausted), Outcome::Unknown)
    );
}

/// A message that is put on a channel: a full one is as if nothing was sent.
#[tokio::test(start_paused = true)]
async fn a_message_goes_on_a_channel_when_there_is_room() {
    let (sender, mut receiver) = mpsc::channel(1);
    sender.try_send("first").unwrap();
    let reader = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(60)).await;
        (receiver.recv().await, receiver.recv().await)
    });
    let judge = |result: &Result<(), mpsc::error::TrySendError<&str>>| match result {
        Ok(()) => Verdict::Success,
        Err(mpsc::error::TrySendError::Full(_)) => Verdict::Transient(Delivery::Unsent),
        Err(mpsc::error::TrySendError::Closed(_)) => Verdict::Permanent(Delivery::Unsent),
    };
    let patient = config().with_max_attempts(attempts(20));
    operation(patient, Safety::Unprotected, judge, async |_| {
        sender.try_send("second")
    })
    .named("notify")
    .await
    .unwrap();
    assert_eq!(reader.await.unwrap(), (Some("first"), Some("second")));
}
