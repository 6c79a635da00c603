use http::Request;
use std::time::Duration;

use steadfast_core::{
    CallContext, Classify, Cut, Deadline, DefaultClassify, Delivery, Failure, Outcome, Reason,
    Verdict, in_context,
};
use steadfast_deadline::AttemptTimeout;
use steadfast_kit::{Probe, Step};
use tokio::time::Instant;
use tower::ServiceExt;

use crate::{MS, due, given, in_time};

type Hanging = Probe<Request<()>, ()>;

fn hanging(attempts: usize) -> Hanging {
    Probe::script((0..attempts).map(|_| Step::never()))
}

// O-10, first half.
#[tokio::test(start_paused = true)]
async fn three_attempts_of_100_ms_get_100_100_and_50_of_250() {
    let probe = hanging(3);
    let deadline = in_time(250 * MS);
    for want in [
        (100 * MS, Cut::AttemptTimeout),
        (100 * MS, Cut::AttemptTimeout),
        (50 * MS, Cut::Deadline),
    ] {
        let before = Instant::now();
        let service = AttemptTimeout::new(probe.clone(), 100 * MS);
        let error = service.oneshot(due(deadline)).await.unwrap_err();
        assert_eq!(given(&error), want);
        assert_eq!(before.elapsed(), want.0);
    }
    assert_eq!(probe.cancelled(), 3);
}

// O-09: the attempt's part of it.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_begins_late_ends_at_the_deadline() {
    for begins in (0..10_000).step_by(700).chain([9_900, 9_999]) {
        let start = Instant::now();
        let deadline = in_time(10_000 * MS);
        tokio::time::advance(begins * MS).await;
        let service = AttemptTimeout::new(hanging(1), 15_000 * MS);
        let error = service.oneshot(due(deadline)).await.unwrap_err();
        assert_eq!(given(&error), ((10_000 - begins) * MS, Cut::Deadline));
        assert_eq!(start.elapsed(), 10_000 * MS);
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_when_no_time_is_left() {
    let now = Deadline::at(Instant::now().into_std());
    for (limit, deadline) in [
        (100 * MS, now),
        (Duration::MAX, now),
        (Duration::ZERO, Deadline::NONE),
        (Duration::ZERO, in_time(100 * MS)),
    ] {
        let probe = hanging(0);
        let service = AttemptTimeout::new(probe.clone(), limit);
        let error = service.oneshot(due(deadline)).await.unwrap_err();
        let report = *Failure::find(&*error).unwrap().report();
        assert_eq!((report.attempts, report.elapsed), (0, Duration::ZERO));
        assert_eq!(report.reason, Some(Reason::Deadline));
        assert_eq!(report.outcome, Outcome::NotApplied);
        assert_eq!(
            DefaultClassify.error(&*error),
            Verdict::Rejected(Reason::Deadline)
        );
        assert_eq!(probe.calls(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_hang_may_have_had_an_effect() {
    let service = AttemptTimeout::new(hanging(1), 100 * MS);
    let error = service.oneshot(Request::new(())).await.unwrap_err();
    assert_eq!(given(&error), (100 * MS, Cut::AttemptTimeout));
    assert_eq!(
        DefaultClassify.error(&*error),
        Verdict::Transient(Delivery::Unknown)
    );
}

#[tokio::test(start_paused = true)]
async fn the_earlier_of_the_calls_and_the_servers_deadline_holds() {
    for (call, server, want) in [
        (Some(40), Some(70), 40),
        (Some(70), Some(40), 40),
        (Some(40), None, 40),
        (None, Some(40), 40),
    ] {
        let deadline = |time: Option<u32>| time.map_or(Deadline::NONE, |ms| in_time(ms * MS));
        let context = CallContext::new().with_deadline(deadline(server));
        let service = AttemptTimeout::new(hanging(1), 100 * MS);
        let attempt = service.oneshot(due(deadline(call)));
        let error = in_context(context, attempt).await.unwrap_err();
        assert_eq!(
            given(&error),
            (want * MS, Cut::Deadline),
            "{call:?} {server:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_passes_and_a_late_one_does_not() {
    // At the very end both are there, and the answer is asked first.
    for (after, answered) in [(0, true), (99, true), (100, true), (101, false)] {
        let probe = Probe::script([Step::answer(after).after(after * MS)]);
        let service = AttemptTimeout::new(probe.clone(), 100 * MS);
        let before = Instant::now();
        match service.oneshot(Request::new(())).await {
            Ok(answer) => assert_eq!((answer, answered), (after, true)),
            Err(error) => {
                assert_eq!(given(&error), (100 * MS, Cut::AttemptTimeout));
                assert!(!answered, "after {after} ms");
                assert_eq!(probe.cancelled(), 1);
            }
        }
        assert_eq!(before.elapsed(), after.min(100) * MS);
    }
}

// O-07.
#[tokio::test(start_paused = true)]
async fn extreme_durations_are_no_limit_and_no_panic() {
    let longest = [
        Duration::MAX,
        Duration::from_secs(u64::MAX),
        Duration::from_secs(i64::MAX as u64),
        // The last instants that can be represented, on which tokio's timer would overflow.
        last_representable(),
        last_representable() - Duration::from_nanos(1),
    ];
    for limit in longest {
        for left in longest {
            let probe = Probe::script([Step::answer("late").after(1_000_000 * MS)]);
            let service = AttemptTimeout::new(probe, limit);
            assert_eq!(service.oneshot(due(in_time(left))).await.unwrap(), "late");
        }
        let service = AttemptTimeout::new(hanging(1), limit);
        let error = service
            .oneshot(due(in_time(Duration::from_nanos(1))))
            .await
            .unwrap_err();
        assert_eq!(
            Failure::find(&*error).unwrap().report().outcome,
            Outcome::Unknown
        );
    }
    let service = AttemptTimeout::new(hanging(1), Duration::from_nanos(1));
    service.oneshot(Request::new(())).await.unwrap_err();
}

/// The longest time that can be added to the present instant.
fn last_representable() -> Duration {
    let now = Instant::now().into_std();
    let (mut fits, mut overflows) = (0, u64::MAX);
    while overflows - fits > 1 {
        let middle = fits + (overflows - fits) / 2;
        match now.checked_add(Duration::from_secs(middle)) {
            Some(_) => fits = middle,
            None => overflows = middle,
        }
    }
    Duration::from_secs(fits)
}
