//! Calls that are over before anybody had to wait for them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use steadfast_core::at_once;
use steadfast_core::budget::{Ask, Budget, Ending, Permit, Sending};
use steadfast_kit::Step;

use crate::stack::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    AtOnce,
    Call,
    Ended(Sending, Ending),
}

/// Keeps what it is told, and when that was.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<Heard>>>);

type Heard = (Told, Option<Instant>);

impl Log {
    fn add(&self, told: Told, at: Option<Instant>) {
        self.0.lock().unwrap().push((told, at));
    }

    fn told(&self) -> Vec<Told> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .map(|(told, _)| *told)
            .collect()
    }
}

impl Budget for Log {
    fn on_call(&self, now: Instant) {
        self.add(Told::Call, Some(now));
    }

    fn on_success_at_once(&self, _: &dyn Fn() -> Instant) {
        self.add(Told::AtOnce, None);
    }

    fn on_outcome(&self, sending: Sending, ending: Ending, now: Instant) {
        self.add(Told::Ended(sending, ending), Some(now));
    }

    fn reserve(&self, _: Ask) -> Option<Permit> {
        Some(Permit::free())
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_budget_hears_once_of_a_success_at_once_and_twice_of_any_other_call() {
    let (first, retry) = (Sending::First, Sending::Retry);
    let call_and = |ending| vec![Told::Call, Told::Ended(first, ending)];
    for (script, told) in [
        (vec![status(200, "")], vec![Told::AtOnce]),
        (
            vec![status(200, "").after(SECOND)],
            call_and(Ending::Success),
        ),
        (vec![status(404, "")], call_and(Ending::Neither)),
        (
            vec![status(503, ""), status(200, "")],
            [
                call_and(Ending::Failure),
                vec![Told::Ended(retry, Ending::Success)],
            ]
            .concat(),
        ),
    ] {
        let log = Log::default();
        let (stack, _) = stack(config().with_budget(log.clone()), script);
        run(&stack, get()).await.unwrap();
        assert_eq!(log.told(), told);
    }
}

#[tokio::test(start_paused = true)]
async fn of_a_call_that_nobody_polls_a_budget_hears_when_it_is_dropped() {
    let log = Log::default();
    let (mut stack, probe) = stack(config().with_budget(log.clone()), vec![status(200, "")]);
    let call = tower::Service::call(tower::ServiceExt::ready(&mut stack).await.unwrap(), get());
    assert_eq!((log.told(), probe.calls()), (vec![], 1));
    drop(call);
    assert_eq!(
        log.told(),
        [Told::Call, Told::Ended(Sending::First, Ending::Neither)]
    );
}

/// Whoever read the clock for the layers below has paid for it already.
#[tokio::test(start_paused = true)]
async fn a_reading_that_is_there_is_used() {
    let log = Log::default();
    let (mut stack, _) = stack(config().with_budget(log.clone()), vec![status(200, "")]);
    let stack = tower::ServiceExt::ready(&mut stack).await.unwrap();
    let now = tokio::time::Instant::now().into_std() - SECOND;
    at_once(now, || tower::Service::call(stack, get()))
        .await
        .unwrap();
    let told = log.0.lock().unwrap().clone();
    assert_eq!(told[0], (Told::Call, Some(now)));
}

/// The total limit runs from the first poll, and no observer is told of an earlier time.
#[tokio::test(start_paused = true)]
async fn a_call_starts_when_it_is_first_polled() {
    let config = config().with_total_limit(3 * SECOND);
    let slow = |seconds| Step::answer(ok("there")).after(SECOND * seconds);
    for (seconds, in_time) in [(2, true), (4, false)] {
        // The script counts from the call.
        let (mut stack, _) = stack(config.clone(), vec![slow(5 + seconds)]);
        let stack = tower::ServiceExt::ready(&mut stack).await.unwrap();
        let call = tower::Service::call(stack, get());
        tokio::time::sleep(5 * SECOND).await;
        let begun = tokio::time::Instant::now();
        assert_eq!(call.await.is_ok(), in_time);
        assert_eq!(begun.elapsed(), SECOND * seconds.min(3));
    }
}
