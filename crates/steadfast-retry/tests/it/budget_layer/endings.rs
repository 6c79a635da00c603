use std::time::{Duration, Instant};

use http::{Request, Response};
use steadfast_core::budget::{
    Ask, Budget, ConcurrencyBudget, Ending, Permit, RatioBudget, Sending,
};
use steadfast_core::{BoxError, Ratio, Reason, Rejected};
use steadfast_kit::{Probe, Step, drop_at_every_await};
use steadfast_retry::{BudgetLayer, CountAttemptsLayer};
use tower::{Layer, ServiceExt, service_fn};

use super::{Peer, Script, Told, get, refusal, status};

/// Sends one call as two attempts, whatever the first one brings.
async fn twice(
    budget: impl Budget + Clone,
    script: [Script; 2],
) -> [Result<Response<()>, BoxError>; 2] {
    let peer: Peer = Probe::script(script);
    let inner = BudgetLayer::new(budget).layer(peer);
    let first = std::sync::Mutex::new(None);
    let outer = CountAttemptsLayer::new().layer(service_fn(|request: Request<()>| async {
        let answered = inner.clone().oneshot(request.clone()).await;
        *first.lock().unwrap() = Some(answered);
        inner.clone().oneshot(request).await
    }));
    let second = outer.oneshot(get()).await;
    [first.into_inner().unwrap().unwrap(), second]
}

fn refused_below() -> Script {
    Step::fail(Rejected::new(Reason::CircuitOpen))
}

fn reset() -> Script {
    Step::fail(std::io::Error::from(std::io::ErrorKind::ConnectionReset))
}

#[tokio::test]
async fn each_attempt_is_told_to_the_budget_once_and_by_its_meaning() {
    let make: [(fn() -> Script, Ending); 5] = [
        (|| status(200), Ending::Success),
        (|| status(503), Ending::Failure),
        (|| status(404), Ending::Neither),
        (reset, Ending::Failure),
        (refused_below, Ending::NotSent),
    ];
    for (script, ending) in make {
        let told = Told::default();
        let _ = twice(told.clone(), [status(503), script()]).await;
        let want = [(Sending::First, Ending::Failure), (Sending::Retry, ending)];
        assert_eq!(told.outcomes(), want);
        assert_eq!(told.calls(), 1);

        let told = Told::default();
        let _ = twice(told.clone(), [script(), status(200)]).await;
        // An attempt that a layer of ours refused further below was none: the next is the first.
        let (second, calls) = match ending {
            Ending::NotSent => (Sending::First, 2),
            _ => (Sending::Retry, 1),
        };
        let want = [(Sending::First, ending), (second, Ending::Success)];
        assert_eq!(told.outcomes(), want);
        assert_eq!(told.calls(), calls);
    }
}

#[tokio::test]
async fn the_peers_answer_and_error_pass_unchanged() {
    let [first, second] = twice(Told::default(), [status(404), reset()]).await;
    assert_eq!(first.unwrap().status(), 404);
    let error = second.unwrap_err().downcast::<std::io::Error>().unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_retry_after_429_is_asked_for_as_throttled() {
    for (first, throttled) in [(status(429), true), (status(503), false), (reset(), false)] {
        let told = Told::default();
        let _ = twice(told.clone(), [first, status(200)]).await;
        assert_eq!(told.throttled(), [throttled]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_was_refused_below_gives_its_permit_back() {
    let budget = RatioBudget::new(Ratio::percent(10).unwrap());
    let [_, second] = twice(budget.clone(), [status(503), refused_below()]).await;
    assert_eq!(refusal(second), Some(Reason::CircuitOpen));
    assert!(
        budget.reserve(Ask::new(now())).is_some(),
        "one for one call"
    );

    let [_, second] = twice(budget.clone(), [status(503), status(503)]).await;
    assert_eq!(second.unwrap().status(), 503);
    let [_, second] = twice(budget.clone(), [status(503), status(200)]).await;
    assert_eq!(
        refusal(second),
        Some(Reason::BudgetExhausted),
        "⌈0.1 × 3⌉ = 1"
    );
}

#[tokio::test(start_paused = true)]
async fn dropped_at_every_await_an_attempt_is_told_and_settled_once() {
    let driven = drop_at_every_await(
        || {
            let slow = |code| status(code).after(Duration::from_millis(5));
            let counted = Counted::default();
            let budget = counted.clone();
            (twice(budget, [slow(503), slow(200)]), counted)
        },
        |counted, polls| {
            let sent = counted.told.calls() + counted.told.throttled().len();
            assert_eq!(counted.told.outcomes().len(), sent, "{polls} polls");
            let free = counted.free();
            assert_eq!(free, Counted::default().free(), "{polls} polls");
        },
    )
    .await;
    let [_, second] = driven.output;
    assert_eq!(second.unwrap().status(), 200);
    assert!(driven.polls > 2, "both attempts are waited for");
}

/// Keeps what it is told, and gives permits that are taken until they are settled.
#[derive(Clone, Debug, Default)]
struct Counted {
    told: Told,
    permits: ConcurrencyBudget,
}

impl Counted {
    fn free(&self) -> usize {
        let ask = || self.permits.reserve(Ask::new(now()));
        std::iter::from_fn(ask).take(100).collect::<Vec<_>>().len()
    }
}

impl Budget for Counted {
    fn on_call(&self, now: Instant) {
        self.told.on_call(now);
        self.permits.on_call(now);
    }

    fn on_outcome(&self, sending: Sending, ending: Ending, now: Instant) {
        self.told.on_outcome(sending, ending, now);
        self.permits.on_outcome(sending, ending, now);
    }

    fn reserve(&self, ask: Ask) -> Option<Permit> {
        self.told.reserve(ask);
        self.permits.reserve(ask)
    }
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
