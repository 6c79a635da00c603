//! Another config over places that are taken.

use std::time::Duration;

use steadfast_admission::{BulkheadLayer, Mode, Scope};
use steadfast_core::Reason;
use tokio_test::{assert_pending, assert_ready_ok};
use tower::Layer;

use super::{BulkheadCall, Inner, answers, call, get, limit, never, refused};
use crate::MS;

/// A layer of this scope and a service whose first calls never end.
fn with(scope: Scope, places: u32, hang: usize) -> (BulkheadLayer, Inner) {
    let config = limit(places).with_scope(scope).with_max_wait(Duration::MAX);
    let steps = (0..hang).map(|_| never()).chain(answers(20));
    (BulkheadLayer::new(config), Inner::script(steps))
}

fn pending(mut call: BulkheadCall) -> BulkheadCall {
    assert_pending!(call.poll());
    call
}

const BOTH: [Scope; 2] = [Scope::Destination, Scope::Layer];

#[test]
fn a_lower_limit_lets_nobody_in_until_enough_have_ended() {
    for scope in BOTH {
        let (layer, inner) = with(scope, 3, 3);
        let service = layer.layer(inner.clone());
        let mut held: Vec<_> = (0..3).map(|_| pending(call(&service, get("a")))).collect();
        let layer = layer.reconfigured(limit(2).with_scope(scope));
        let service = layer.layer(inner);
        assert_eq!(layer.handle().in_flight("a"), 3);
        assert_eq!(refused(call(&service, get("a"))), Reason::BulkheadFull);
        held.pop();
        assert_eq!(refused(call(&service, get("a"))), Reason::BulkheadFull);
        held.pop();
        assert_ready_ok!(call(&service, get("a")).poll());
        assert_eq!(layer.handle().in_flight("a"), 1);
    }
}

#[test]
fn a_higher_limit_wakes_those_who_wait_in_their_order() {
    for scope in BOTH {
        let (layer, inner) = with(scope, 1, 1);
        let service = layer.layer(inner);
        let _held = pending(call(&service, get("a")));
        let mut waiting: Vec<_> = (0..3).map(|_| pending(call(&service, get("a")))).collect();
        let layer = layer.reconfigured(limit(3).with_scope(scope));
        let woken: Vec<_> = waiting.iter().map(|call| call.is_woken()).collect();
        assert_eq!(woken, [true, true, false], "{scope:?}");
        let handle = layer.handle();
        assert_eq!((handle.in_flight("a"), handle.waiting("a")), (3, 1));
        for call in &mut waiting[..2] {
            assert_ready_ok!(call.poll());
        }
        assert!(waiting[2].is_woken());
        assert_ready_ok!(waiting[2].poll());
        assert_eq!(handle.limit().get(), 3);
    }
}

#[test]
fn who_waits_keeps_their_place_where_there_is_no_queue_any_longer() {
    for scope in BOTH {
        let (layer, inner) = with(scope, 1, 1);
        let before = layer.layer(inner.clone());
        let held = pending(call(&before, get("a")));
        let mut first = pending(call(&before, get("a")));
        let layer = layer.reconfigured(limit(1).with_scope(scope));
        let service = layer.layer(inner);
        assert_eq!(refused(call(&service, get("a"))), Reason::BulkheadFull);
        assert_eq!(refused(call(&before, get("a"))), Reason::BulkheadFull);
        drop(held);
        assert_ready_ok!(first.poll());
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_keeps_the_end_of_their_wait() {
    let (layer, inner) = with(Scope::Destination, 1, 1);
    let layer = layer.reconfigured(limit(1).with_max_wait(20 * MS));
    let service = layer.layer(inner);
    let _held = pending(call(&service, get("a")));
    let waits = pending(call(&service, get("a")));
    let _next = layer.reconfigured(limit(1).with_max_wait(Duration::MAX));
    let start = tokio::time::Instant::now();
    assert!(waits.await.is_err());
    assert_eq!(start.elapsed(), 20 * MS);
}

/// Its place is given back once, and where it was taken.
#[test]
fn a_call_that_ends_after_the_reload_gives_its_place_back() {
    for scope in BOTH {
        let (layer, inner) = with(scope, 1, 1);
        let before = layer.layer(inner.clone());
        let held = pending(call(&before, get("a")));
        let next = layer.reconfigured(limit(2).with_scope(scope));
        let _other = call(&next.layer(inner), get("a"));
        assert_eq!(layer.handle().in_flight("a"), 2);
        drop(held);
        assert_eq!(layer.handle().in_flight("a"), 1);
        assert_eq!(next.handle().in_flight("a"), 1);
    }
}

#[test]
fn services_of_both_layers_let_in_no_more_than_the_limit_together() {
    for scope in BOTH {
        let (layer, inner) = with(scope, 5, 5);
        let before = layer.layer(inner.clone());
        let next = layer.reconfigured(limit(2).with_scope(scope));
        let after = next.layer(inner.clone());
        // Nobody had called it when the config came.
        let _first = pending(call(&before, get("a")));
        let _second = pending(call(&after, get("a")));
        assert_eq!(refused(call(&before, get("a"))), Reason::BulkheadFull);
        assert_eq!(refused(call(&after, get("a"))), Reason::BulkheadFull);
        assert_eq!(inner.calls(), 2);
    }
}

#[test]
fn whoever_waits_goes_out_where_the_layer_is_switched_off() {
    let (layer, inner) = with(Scope::Destination, 1, 1);
    let service = layer.layer(inner);
    let _held = pending(call(&service, get("a")));
    let mut waits = pending(call(&service, get("a")));
    let off = layer.reconfigured(limit(1).with_mode(Mode::Off));
    assert_ready_ok!(waits.poll());
    assert_eq!(off.handle().in_flight("a"), 1);
    let on = off.reconfigured(limit(1));
    assert_eq!(refused(call(&service, get("a"))), Reason::BulkheadFull);
    assert_eq!(on.handle().in_flight("a"), 1);
}

#[test]
fn a_config_of_another_scope_starts_anew() {
    let (layer, inner) = with(Scope::Destination, 1, 1);
    let service = layer.layer(inner.clone());
    let _held = pending(call(&service, get("a")));
    let next = layer.reconfigured(limit(1).with_scope(Scope::Layer));
    assert_eq!(next.handle().in_flight("a"), 0);
    assert_ready_ok!(call(&next.layer(inner), get("a")).poll());
    assert_eq!(layer.handle().in_flight("a"), 1);
}
