//! From when to when a call holds its place.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use http::{Request, Response};
use http_body_util::BodyExt;
use steadfast_admission::BulkheadLayer;
use steadfast_admission::bulkhead::BulkheadHandle;
use steadfast_core::Reason;
use steadfast_kit::{Chunks, Piece, Probe, Readiness, Step};
use tokio_test::task::spawn;
use tokio_test::{assert_pending, assert_ready, assert_ready_ok};
use tower::{Layer, Service, ServiceExt, service_fn};

use super::{BulkheadCall, Inner, answers, call, empty, get, limit, never, refused};

/// How many places are taken after a call that is answered with this body, and after each of the
/// body's frames.
async fn held_with(body: Chunks) -> Vec<usize> {
    let layer = BulkheadLayer::new(limit(5));
    let places = || layer.handle().in_flight("a");
    let service = layer.layer(Inner::script([Step::answer(Response::new(body))]));
    let mut body = service.oneshot(get("a")).await.unwrap().into_body();
    let mut held = vec![places()];
    while let Some(frame) = body.frame().await {
        held.push(places());
        if frame.is_err() {
            return held;
        }
    }
    held.push(places());
    held
}

#[tokio::test]
async fn a_place_is_held_until_the_body_has_ended_and_no_longer() {
    let data = || [Piece::data("one"), Piece::Pending, Piece::data("two")];
    for (body, held) in [
        (Chunks::new(data()), vec![1, 1, 1, 0]),
        (Chunks::new(data()).with_exact_size(), vec![1, 1, 0, 0]),
        (
            Chunks::new(data().into_iter().chain([Piece::trailer("x-sum", "1")])),
            vec![1, 1, 1, 0, 0],
        ),
        (
            Chunks::new([Piece::data("one"), Piece::fail("reset")]),
            vec![1, 1, 0],
        ),
        (Chunks::new([]), vec![1, 0]),
        (Chunks::new([]).with_exact_size(), vec![0, 0]),
    ] {
        assert_eq!(held_with(body).await, held);
    }
}

#[tokio::test]
async fn a_body_that_is_dropped_gives_its_place_back() {
    let layer = BulkheadLayer::new(limit(1));
    let endless = Response::new(Chunks::new([Piece::data("one"), Piece::Never]));
    let service = layer.layer(Inner::script(
        [Step::answer(endless)].into_iter().chain(answers(1)),
    ));
    let mut answer = service.clone().oneshot(get("a")).await.unwrap();
    assert!(answer.body_mut().frame().await.is_some());
    assert_eq!(refused(call(&service, get("a"))), Reason::BulkheadFull);
    drop(answer);
    assert!(service.oneshot(get("a")).await.is_ok());
}

#[tokio::test]
async fn a_failed_call_gives_its_place_back_and_its_error_passes_unchanged() {
    #[derive(Debug, PartialEq)]
    struct Reset;
    impl std::fmt::Display for Reset {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            Ok(())
        }
    }
    impl std::error::Error for Reset {}

    let layer = BulkheadLayer::new(limit(1));
    let service = layer.layer(Inner::script([Step::fail(Reset)]));
    let error = service.oneshot(get("a")).await.unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&Reset));
    assert_eq!(layer.handle().in_flight("a"), 0);
}

#[test]
fn a_call_holds_its_place_before_it_is_polled_and_until_it_is_dropped() {
    let layer = BulkheadLayer::new(limit(2));
    let service = layer.layer(Inner::script([never(), never()]));
    let unpolled = call(&service, get("a"));
    let mut polled = call(&service, get("a"));
    assert_pending!(polled.poll());
    assert_eq!(layer.handle().in_flight("a"), 2);
    drop(unpolled);
    assert_eq!(layer.handle().in_flight("a"), 1);
    drop(polled);
    assert_eq!(layer.handle().in_flight("a"), 0);
}

#[test]
fn a_refused_call_is_not_made_and_lets_readiness_go() {
    let layer = BulkheadLayer::new(limit(1));
    let inner = Inner::script([never()].into_iter().chain(answers(1)));
    let mut service = layer.layer(inner.clone());
    let first = call(&service, get("a"));
    for _ in 0..3 {
        assert_ready_ok!(spawn(()).enter(|cx, _| service.poll_ready(cx)));
        let call = spawn(service.call(get("a")));
        assert_eq!(inner.reserved(), 0, "nobody will use it");
        assert_eq!(refused(call), Reason::BulkheadFull);
    }
    assert_eq!(inner.calls(), 1);
    drop(first);
    let mut last = call(&service, get("a"));
    assert!(assert_ready!(last.poll()).is_ok());
}

#[tokio::test]
async fn an_inner_service_that_gets_not_ready_costs_no_place() {
    let layer = BulkheadLayer::new(limit(1));
    let inner: Inner = Probe::script([]).with_readiness([Readiness::fail("closed")]);
    let service = layer.layer(inner);
    assert!(service.oneshot(get("a")).await.is_err());
    assert_eq!(layer.handle().in_flight("a"), 0);
}

#[test]
fn clones_and_services_of_one_layer_share_places_and_layers_do_not() {
    let layer = BulkheadLayer::new(limit(1));
    let service = |layer: &BulkheadLayer| layer.layer(Inner::script([never()]));
    let (first, second) = (service(&layer), service(&layer.clone()));
    let _held: BulkheadCall = call(&first, get("a"));
    assert_eq!(refused(call(&second, get("a"))), Reason::BulkheadFull);
    let other = BulkheadLayer::new(layer.config().clone());
    assert_pending!(call(&service(&other), get("a")).poll());
    assert_eq!(layer.handle().limit().get(), 1);
}

/// Notes how many places are taken when it is dropped.
struct AtEnd(BulkheadHandle, Arc<Mutex<Vec<usize>>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0.in_flight("a"));
    }
}

#[test]
fn the_place_comes_free_after_what_the_inner_call_held() {
    let layer = BulkheadLayer::new(limit(1));
    for fails in [Some(false), Some(true), None] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (handle, notes) = (layer.handle(), seen.clone());
        let mut service = layer.layer(service_fn(move |_: Request<()>| {
            let held = AtEnd(handle.clone(), notes.clone());
            poll_fn(move |_| {
                let _ = &held;
                match fails {
                    None => Poll::Pending,
                    Some(true) => Poll::Ready(Err("reset")),
                    Some(false) => Poll::Ready(Ok(empty())),
                }
            })
        }));
        let mut call = spawn(service.call(get("a")));
        assert_eq!(call.poll().is_pending(), fails.is_none());
        drop(call);
        assert_eq!(*seen.lock().unwrap(), [1]);
        assert_eq!(layer.handle().in_flight("a"), 0);
    }
}
