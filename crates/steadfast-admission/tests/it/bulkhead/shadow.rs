//! What observers are told, in earnest and in shadow mode.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Request;
use steadfast_admission::bulkhead::BulkheadConfig;
use steadfast_admission::{BulkheadLayer, Mode};
use steadfast_core::{CallState, Event, Reason, Safety};
use tokio_test::{assert_pending, assert_ready_ok};
use tower::Layer;

use super::{Inner, answers, call, get, limit, never, reason, refused};
use crate::MS;

/// Destination, method, safety, reason, enforced.
type Told = (String, String, Safety, Reason, bool);

fn watched(config: BulkheadConfig) -> (BulkheadConfig, Arc<Mutex<Vec<Told>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let ledger = told.clone();
    let config = config.with_observer(move |event: &Event<'_>| {
        let Event::AdmissionRefused(it) = event else {
            panic!("{event:?}");
        };
        assert_eq!(it.retry_in, None);
        ledger.lock().unwrap().push((
            it.subject.destination.unwrap().to_owned(),
            it.subject.method.unwrap().to_string(),
            it.subject.safety,
            it.reason,
            it.enforced,
        ));
    });
    (config, told)
}

fn told(destination: &str, method: &str, safety: Safety, enforced: bool) -> Told {
    let (destination, method) = (destination.to_owned(), method.to_owned());
    (destination, method, safety, Reason::BulkheadFull, enforced)
}

#[tokio::test(start_paused = true)]
async fn each_refusal_is_told_once_at_once_or_after_its_wait() {
    let (config, events) = watched(limit(1).with_max_wait(5 * MS).with_max_queue(1));
    let layer = BulkheadLayer::new(config);
    let service = layer.layer(Inner::script([never()]));
    let _holds = call(&service, get("a:8443"));
    let mut waits = Request::post("http://user:secret@a:8443/x")
        .body(())
        .unwrap();
    CallState::edit(waits.extensions_mut(), |state| {
        state.set_safety(Safety::Keyed)
    });
    let waits = call(&service, waits);
    let full = Request::delete("http://a:8443/").body(()).unwrap();
    assert_eq!(refused(call(&service, full)), Reason::BulkheadFull);
    assert_eq!(reason(waits.await), Reason::BulkheadFull);
    assert_eq!(
        *events.lock().unwrap(),
        [
            told("a:8443", "DELETE", Safety::Idempotent, true),
            told("a:8443", "POST", Safety::Keyed, true),
        ]
    );
}

#[test]
fn in_shadow_mode_all_calls_pass_at_once_and_what_would_be_refused_is_told() {
    for (max_wait, most) in [(Duration::ZERO, 2), (MS, 5)] {
        let config = limit(2).with_max_wait(max_wait).with_max_queue(3);
        let (config, events) = watched(config.with_mode(Mode::Shadow));
        let layer = BulkheadLayer::new(config);
        let inner = Inner::script((0..most + 1).map(|_| never()).chain(answers(2)));
        let service = layer.layer(inner.clone());
        let mut held = Vec::new();
        for _ in 0..most {
            let mut fits = call(&service, get("a"));
            assert_pending!(fits.poll());
            held.push(fits);
        }
        assert_eq!(*events.lock().unwrap(), []);
        let mut beyond = call(&service, get("a"));
        assert_pending!(beyond.poll());
        assert_ready_ok!(call(&service, get("a")).poll());
        let event = told("a", "GET", Safety::Safe, false);
        assert_eq!(*events.lock().unwrap(), [event.clone(), event]);
        assert_eq!(inner.calls(), most + 2);
        // It would not have been there, so it takes nobody's place.
        assert_eq!(layer.handle().in_flight("a"), most);
        held.pop();
        assert_ready_ok!(call(&service, get("a")).poll());
        assert_eq!(events.lock().unwrap().len(), 2);
    }
}
