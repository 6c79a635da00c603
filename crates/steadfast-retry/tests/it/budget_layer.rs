//! `BudgetLayer`, below retry loops that are not ours.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use http::{Request, Response};
use steadfast_core::budget::{Ask, Budget, Ending, Permit, Sending};
use steadfast_core::{BoxError, Event, Reason, Rejected};
use steadfast_kit::{Probe, Step};
use steadfast_retry::BudgetLayer;

mod amplification;
mod endings;
mod marks;
mod readiness;

type Peer = Probe<Request<()>, Response<()>>;
type Script = Step<Request<()>, Response<()>>;

/// Keeps what it is told; a permit is always there.
#[derive(Clone, Debug, Default)]
struct Told {
    calls: Arc<AtomicUsize>,
    outcomes: Arc<Mutex<Vec<(Sending, Ending)>>>,
    asks: Arc<Mutex<Vec<Ask>>>,
}

impl Told {
    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn outcomes(&self) -> Vec<(Sending, Ending)> {
        self.outcomes.lock().unwrap().clone()
    }

    /// Whether each attempt was throttled that asked for a permit.
    fn throttled(&self) -> Vec<bool> {
        let asks = self.asks.lock().unwrap();
        asks.iter().map(|ask| ask.throttled).collect()
    }
}

impl Budget for Told {
    fn on_call(&self, _: Instant) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn on_outcome(&self, sending: Sending, ending: Ending, _: Instant) {
        self.outcomes.lock().unwrap().push((sending, ending));
    }

    fn reserve(&self, ask: Ask) -> Option<Permit> {
        self.asks.lock().unwrap().push(ask);
        Some(Permit::free())
    }
}

/// A layer over `budget` and the number of attempts that passed without a mark.
fn watched(budget: impl Budget) -> (BudgetLayer, Arc<AtomicUsize>) {
    let unmarked = Arc::new(AtomicUsize::new(0));
    let seen = unmarked.clone();
    let layer = BudgetLayer::new(budget).with_observer(move |event: &Event<'_>| {
        if let Event::PassedUnmarked(subject) = event {
            assert_eq!(subject.destination, Some("api.example"));
            seen.fetch_add(1, Ordering::Relaxed);
        }
    });
    (layer, unmarked)
}

fn get() -> Request<()> {
    Request::get("http://api.example/").body(()).unwrap()
}

fn answer(status: u16) -> Response<()> {
    Response::builder().status(status).body(()).unwrap()
}

fn status(status: u16) -> Script {
    Step::answer(answer(status))
}

fn refusal(answered: Result<Response<()>, BoxError>) -> Option<Reason> {
    let error = answered.err()?;
    Some(Rejected::find(&*error)?.reason())
}
