//! What one destination does to another.

use std::num::NonZeroU32;
use std::time::Duration;

use steadfast_admission::{BulkheadLayer, Scope};
use steadfast_core::Reason;
use steadfast_kit::Step;
use tokio_test::{assert_pending, assert_ready};
use tower::Layer;

use super::{Inner, answers, call, empty, get, limit, never, refused};
use crate::MS;

#[test]
fn a_hanging_dependency_leaves_another_destination_untouched() {
    let layer = BulkheadLayer::new(limit(3).with_max_wait(Duration::MAX).with_max_queue(2));
    let hangs = (0..3).map(|_| never());
    let service = layer.layer(Inner::script(hangs.chain(answers(10))));
    let mut stuck: Vec<_> = (0..5).map(|_| call(&service, get("hangs"))).collect();
    for call in &mut stuck {
        assert_pending!(call.poll());
    }
    assert_eq!(refused(call(&service, get("hangs"))), Reason::BulkheadFull);
    let handle = layer.handle();
    assert_eq!((handle.in_flight("hangs"), handle.waiting("hangs")), (3, 2));
    for _ in 0..10 {
        let mut other = call(&service, get("works"));
        assert!(assert_ready!(other.poll()).is_ok());
    }
    assert_eq!((handle.in_flight("works"), handle.waiting("works")), (0, 0));
}

#[test]
fn with_one_scope_for_all_a_destination_is_not_looked_at() {
    let layer = BulkheadLayer::new(limit(1).with_scope(Scope::Layer));
    let service = layer.layer(Inner::script([never()]));
    let _held = call(&service, get("one"));
    assert_eq!(refused(call(&service, get("other"))), Reason::BulkheadFull);
    assert_eq!(layer.handle().in_flight("whatever"), 1);
}

#[test]
fn hosts_are_the_same_in_any_case() {
    let layer = BulkheadLayer::new(limit(1));
    let service = layer.layer(Inner::script([never()]));
    let _held = call(&service, get("API.example"));
    assert_eq!(
        refused(call(&service, get("api.EXAMPLE"))),
        Reason::BulkheadFull
    );
    assert_eq!(layer.handle().in_flight("Api.Example"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_destination_that_was_forgotten_starts_empty_and_its_calls_end_as_before() {
    let keys = NonZeroU32::MIN;
    let layer = BulkheadLayer::new(limit(1).with_max_keys(keys).with_max_wait(Duration::MAX));
    let slow = || Step::answer(empty()).after(5 * MS);
    let steps = [slow(), Step::answer(empty()), slow()];
    let service = layer.layer(Inner::script(steps.into_iter().chain(answers(1))));
    let mut first = call(&service, get("a"));
    assert_pending!(first.poll());
    let mut waits = call(&service, get("a"));
    assert_pending!(waits.poll());
    // It takes the only place in memory.
    drop(call(&service, get("b")));
    let mut second = call(&service, get("a"));
    assert_pending!(second.poll());
    let handle = layer.handle();
    assert_eq!((handle.in_flight("a"), handle.waiting("a")), (1, 0));
    assert!(second.await.is_ok());
    assert!(first.await.is_ok());
    assert!(
        waits.await.is_ok(),
        "the old place was for who waited for it"
    );
    assert_eq!(handle.in_flight("a"), 0);
}

#[test]
fn to_ask_for_a_destination_makes_none_and_forgets_none() {
    let layer = BulkheadLayer::new(limit(1).with_max_keys(NonZeroU32::MIN));
    let service = layer.layer(Inner::script([never()]));
    let _held = call(&service, get("a"));
    let handle = layer.handle();
    for nth in 0..100 {
        let other = nth.to_string();
        assert_eq!((handle.in_flight(&other), handle.waiting(&other)), (0, 0));
    }
    assert_eq!(handle.in_flight("a"), 1);
}
