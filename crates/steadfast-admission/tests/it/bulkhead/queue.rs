//! Who waits, who is next, and what becomes of a place whose waiter has left.

use std::time::Duration;

use steadfast_admission::BulkheadLayer;
use steadfast_admission::bulkhead::{Bulkhead, BulkheadConfig};
use steadfast_core::Criticality::{Critical, Normal, Sheddable};
use steadfast_core::{Ratio, Reason};
use tokio_test::{assert_pending, assert_ready, assert_ready_ok};
use tower::Layer;

use super::{BulkheadCall, Inner, answers, call, call_that_matters, get, limit, never, refused};

/// One place, and as long a wait as it takes.
fn patient() -> BulkheadConfig {
    limit(1).with_max_wait(Duration::MAX)
}

/// A service whose only place is taken; its other calls are answered at once.
fn taken(layer: &BulkheadLayer) -> (Bulkhead<Inner>, Inner, BulkheadCall) {
    let inner = Inner::script([never()].into_iter().chain(answers(20)));
    let service = layer.layer(inner.clone());
    let holds = call(&service, get("a"));
    (service, inner, holds)
}

#[test]
fn so_many_wait_and_the_next_one_is_refused() {
    let layer = BulkheadLayer::new(patient().with_max_queue(2));
    let (service, inner, holds) = taken(&layer);
    let mut waiting = [call(&service, get("a")), call(&service, get("a"))];
    for call in &mut waiting {
        assert_pending!(call.poll());
    }
    assert_eq!(layer.handle().waiting("a"), 2);
    assert_eq!(refused(call(&service, get("a"))), Reason::BulkheadFull);
    assert_eq!((inner.calls(), inner.reserved()), (1, 0));
    let [mut first, mut second] = waiting;
    drop(holds);
    assert!(first.is_woken() && !second.is_woken());
    assert_ready_ok!(first.poll());
    assert!(second.is_woken());
    assert_ready_ok!(second.poll());
    let handle = layer.handle();
    assert_eq!((handle.in_flight("a"), handle.waiting("a")), (0, 0));
}

#[test]
fn without_a_queue_nobody_waits() {
    let layer = BulkheadLayer::new(patient().with_max_queue(0));
    let (service, _, _holds) = taken(&layer);
    assert_eq!(refused(call(&service, get("a"))), Reason::BulkheadFull);
}

#[test]
fn critical_calls_come_first_then_normal_ones_and_by_arrival_among_these() {
    let layer = BulkheadLayer::new(patient());
    let (service, inner, holds) = taken(&layer);
    let order = [Sheddable, Normal, Critical, Sheddable, Critical, Normal];
    let mut waiting: Vec<_> = (0..)
        .zip(order)
        .map(|(nth, it)| (nth, call_that_matters(&service, it, get("a"))))
        .collect();
    for (_, call) in &mut waiting {
        assert_pending!(call.poll());
    }
    drop(holds);
    let mut came = Vec::new();
    while let Some(next) = waiting.iter().position(|(_, call)| call.is_woken()) {
        let (nth, mut call) = waiting.remove(next);
        assert!(waiting.iter().all(|(_, other)| !other.is_woken()));
        assert_ready_ok!(call.poll());
        came.push(nth);
    }
    assert_eq!(came, [2, 4, 1, 5, 0, 3]);
    assert_eq!(inner.calls(), 7);
}

#[test]
fn a_reserve_is_left_to_critical_calls_and_sheddable_ones_have_half_of_the_rest() {
    let config = limit(10).with_reserve(Ratio::percent(20).unwrap());
    let layer = BulkheadLayer::new(config);
    let service = layer.layer(Inner::script((0..10).map(|_| never())));
    let mut held = Vec::new();
    for (criticality, up_to) in [(Sheddable, 4), (Normal, 8), (Critical, 10)] {
        while held.len() < up_to {
            let mut call = call_that_matters(&service, criticality, get("a"));
            assert_pending!(call.poll());
            held.push(call);
        }
        let one_more = call_that_matters(&service, criticality, get("a"));
        assert_eq!(refused(one_more), Reason::BulkheadFull);
    }
}

#[test]
fn a_waiter_that_leaves_after_it_was_given_its_place_passes_it_on() {
    let layer = BulkheadLayer::new(patient());
    let (service, inner, holds) = taken(&layer);
    let mut first = call(&service, get("a"));
    let mut second = call(&service, get("a"));
    assert_pending!(first.poll());
    assert_pending!(second.poll());
    drop(holds);
    assert!(first.is_woken() && !second.is_woken());
    assert_eq!(refused_without_waiting(&layer), Reason::BulkheadFull);
    drop(first);
    assert!(second.is_woken());
    assert_ready_ok!(second.poll());
    assert_eq!(inner.calls(), 2);
    assert_eq!(layer.handle().in_flight("a"), 0);
}

/// A call that finds no place may find a queue: this one has its deadline behind it.
fn refused_without_waiting(layer: &BulkheadLayer) -> Reason {
    let mut request = get("a");
    let past = steadfast_core::Deadline::at(tokio::time::Instant::now().into_std());
    steadfast_core::CallState::edit(request.extensions_mut(), |state| {
        state.tighten_deadline(past)
    });
    refused(call(&layer.layer(Inner::script([])), request))
}

#[test]
fn a_waiter_that_leaves_before_its_turn_is_passed_over() {
    let layer = BulkheadLayer::new(patient());
    let (service, _, holds) = taken(&layer);
    let mut first = call(&service, get("a"));
    let mut second = call(&service, get("a"));
    assert_pending!(first.poll());
    assert_pending!(second.poll());
    drop(first);
    assert!(!second.is_woken());
    drop(holds);
    assert_ready_ok!(second.poll());
}

#[test]
fn a_waiter_that_was_not_polled_yet_keeps_its_place_in_the_queue() {
    let layer = BulkheadLayer::new(patient());
    let (service, _, holds) = taken(&layer);
    let mut unpolled = call(&service, get("a"));
    let mut second = call(&service, get("a"));
    assert_pending!(second.poll());
    drop(holds);
    assert!(!second.is_woken());
    assert!(assert_ready!(unpolled.poll()).is_ok());
    assert_ready_ok!(second.poll());
}
