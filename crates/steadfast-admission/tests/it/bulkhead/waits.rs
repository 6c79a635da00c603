//! How long a call waits.

use std::time::Duration;

use steadfast_admission::BulkheadLayer;
use steadfast_core::{CallContext, CallState, Deadline, Reason};
use steadfast_kit::{Probe, Readiness, Step};
use tokio::time::Instant;
use tokio_test::{assert_pending, assert_ready};
use tower::Layer;

use super::{Inner, answers, call, empty, get, limit, never, reason};
use crate::MS;

fn in_time(left: Duration) -> Deadline {
    Deadline::after(Instant::now().into_std(), left)
}

/// How long a call waits behind one that does not end, and why it ends.
async fn waits(max_wait: Duration, stated: Option<Duration>, served: Option<Duration>) -> Duration {
    let layer = BulkheadLayer::new(limit(1).with_max_wait(max_wait));
    let service = layer.layer(Inner::script([never()]));
    let _holds = call(&service, get("a"));
    let mut request = get("a");
    if let Some(left) = stated {
        CallState::edit(request.extensions_mut(), |state| {
            state.tighten_deadline(in_time(left))
        });
    }
    let context = CallContext::new().with_deadline(served.map_or(Deadline::NONE, in_time));
    let start = Instant::now();
    let call = context.run(|| call(&service, request));
    assert_eq!(reason(call.await), Reason::BulkheadFull);
    let handle = layer.handle();
    assert_eq!((handle.in_flight("a"), handle.waiting("a")), (1, 0));
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_as_long_as_configured_or_up_to_its_deadline() {
    let no_wait = Duration::ZERO;
    for (max_wait, stated, served, waited) in [
        (20 * MS, None, None, 20 * MS),
        (20 * MS, Some(5 * MS), None, 5 * MS),
        (20 * MS, None, Some(7 * MS), 7 * MS),
        (20 * MS, Some(9 * MS), Some(7 * MS), 7 * MS),
        (20 * MS, Some(50 * MS), None, 20 * MS),
        (Duration::MAX, Some(50 * MS), None, 50 * MS),
        (20 * MS, Some(Duration::ZERO), None, no_wait),
        (no_wait, Some(50 * MS), None, no_wait),
    ] {
        let got = waits(max_wait, stated, served).await;
        assert_eq!(got, waited, "{max_wait:?} {stated:?} {served:?}");
    }
}

// No runtime is here: a timer would panic.
#[test]
fn a_wait_of_zero_takes_no_timer_and_neither_does_one_without_an_end() {
    let layer = BulkheadLayer::new(limit(1));
    let service = layer.layer(Inner::script([never()]));
    let _holds = call(&service, get("a"));
    assert_eq!(
        super::refused(call(&service, get("a"))),
        Reason::BulkheadFull
    );

    let layer = BulkheadLayer::new(limit(1).with_max_wait(Duration::MAX));
    let service = layer.layer(Inner::script([never()].into_iter().chain(answers(1))));
    let holds = call(&service, get("a"));
    let mut waits = call(&service, get("a"));
    assert_pending!(waits.poll());
    drop(holds);
    assert!(assert_ready!(waits.poll()).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_place_that_comes_with_the_last_tick_is_taken() {
    let layer = BulkheadLayer::new(limit(1).with_max_wait(5 * MS));
    let steps = [Step::answer(empty()).after(5 * MS), Step::answer(empty())];
    let service = layer.layer(Inner::script(steps));
    let first = call(&service, get("a"));
    let mut second = call(&service, get("a"));
    assert_pending!(second.poll());
    assert!(first.await.is_ok());
    assert!(second.await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn after_its_wait_a_call_gets_a_fresh_instance_ready_while_it_holds_its_place() {
    let layer = BulkheadLayer::new(limit(1).with_max_wait(5 * MS));
    let slowly = [Readiness::Now, Readiness::Now, Readiness::After(50 * MS)];
    let inner = Inner::script([never()].into_iter().chain(answers(1))).with_readiness(slowly);
    let service = layer.layer(inner.clone());
    let holds = call(&service, get("a"));
    let mut waits = call(&service, get("a"));
    assert_pending!(waits.poll());
    assert_eq!(inner.reserved(), 0);
    drop(holds);
    assert_pending!(waits.poll());
    assert_eq!(layer.handle().in_flight("a"), 1);
    // Readiness is no wait for a place: only a deadline ends it.
    let start = Instant::now();
    assert!(waits.await.is_ok());
    assert_eq!(start.elapsed(), 50 * MS);
}

#[tokio::test(start_paused = true)]
async fn readiness_after_the_wait_is_cut_by_the_deadline() {
    for after in [Readiness::Never, Readiness::After(30 * MS)] {
        let layer = BulkheadLayer::new(limit(1).with_max_wait(5 * MS));
        let script = [Readiness::Now, Readiness::Now, after];
        let inner: Inner = Probe::script([never()]).with_readiness(script);
        let service = layer.layer(inner.clone());
        let holds = call(&service, get("a"));
        let context = CallContext::new().with_deadline(in_time(30 * MS));
        let mut waits = context.run(|| call(&service, get("a")));
        assert_pending!(waits.poll());
        drop(holds);
        let start = Instant::now();
        assert_eq!(reason(waits.await), Reason::Deadline);
        assert_eq!(start.elapsed(), 30 * MS);
        assert_eq!((inner.calls(), inner.reserved()), (1, 0));
        assert_eq!(layer.handle().in_flight("a"), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn readiness_that_fails_after_the_wait_gives_the_place_back_with_its_error() {
    let layer = BulkheadLayer::new(limit(1).with_max_wait(5 * MS));
    let script = [Readiness::Now, Readiness::Now, Readiness::fail("closed")];
    let inner: Inner = Probe::script([never()]).with_readiness(script);
    let service = layer.layer(inner);
    let holds = call(&service, get("a"));
    let waits = call(&service, get("a"));
    drop(holds);
    assert_eq!(waits.await.unwrap_err().to_string(), "closed");
    assert_eq!(layer.handle().in_flight("a"), 0);
}
