use std::sync::{Arc, Mutex};

use http::Request;
use steadfast_core::{CallState, Event, Reason};
use steadfast_kit::{Chunks, Step};
use steadfast_retry::{ReplayBody, RetryLayer, operation};
use tower::{Layer, ServiceExt};

use crate::stack::*;

type Twice = Request<ReplayBody<ReplayBody<Chunks>>>;
type Probe = steadfast_kit::Probe<Twice, http::Response<Chunks>>;

fn too_many() -> Step<Twice, http::Response<Chunks>> {
    let mut response = ok("slow down");
    *response.status_mut() = http::StatusCode::TOO_MANY_REQUESTS;
    Step::answer(response)
}

/// Counts the calls that an inner layer passes through.
fn passed(config: steadfast_retry::RetryConfig) -> (RetryLayer, Arc<Mutex<u32>>) {
    let count = Arc::new(Mutex::new(0));
    let seen = count.clone();
    let layer = RetryLayer::new(config.with_observer(move |event: &Event<'_>| {
        if matches!(event, Event::PassedThrough(_)) {
            *seen.lock().unwrap() += 1;
        }
    }));
    (layer, count)
}

/// O-15: four attempts around three are four, and each that passes through is seen.
#[tokio::test(start_paused = true)]
async fn of_stacked_retry_layers_the_outermost_repeats() {
    for with_state in [false, true] {
        let probe = Probe::script((0..4).map(|_| too_many()).collect::<Vec<_>>());
        let (inner, passed) = passed(config());
        let outer = RetryLayer::new(config().with_max_attempts(attempts(4)));
        let mut request = get();
        if with_state {
            CallState::edit(request.extensions_mut(), |_| ());
        }
        let answered = outer
            .layer(inner.layer(probe.clone()))
            .oneshot(request)
            .await;
        let report = *answered
            .unwrap()
            .extensions()
            .get::<steadfast_core::Report>()
            .unwrap();
        assert_eq!(report.attempts, 4);
        assert_eq!(report.reason, Some(Reason::AttemptsExhausted));
        assert_eq!(probe.calls(), 4);
        assert_eq!(*passed.lock().unwrap(), 4);
    }
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_cannot_repeat_leaves_it_to_the_layer_below() {
    // One attempt only, and a body that it cannot keep.
    for outer in [
        config().with_max_attempts(attempts(1)),
        config().with_replay_limit(0),
    ] {
        let probe = Probe::script((0..3).map(|_| too_many()).collect::<Vec<_>>());
        let (inner, passed) = passed(config());
        let request = post(Chunks::of(["body"]).with_exact_size());
        let stack = RetryLayer::new(outer).layer(inner.layer(probe.clone()));
        stack.oneshot(request).await.unwrap();
        assert_eq!(probe.calls(), 3);
        assert_eq!(*passed.lock().unwrap(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_layer_inside_an_operation_passes_through() {
    let (retry, probe) = stack(config(), (0..3).map(|_| reset()).collect());
    let judge = |result: &Answered| match result {
        Ok(_) => steadfast_core::Verdict::Success,
        Err(_) => steadfast_core::Verdict::Transient(steadfast_core::Delivery::Unknown),
    };
    let safety = steadfast_core::Safety::Safe;
    let failure = operation(config(), safety, judge, async |_| run(&retry, get()).await)
        .await
        .unwrap_err();
    assert_eq!(failure.report().attempts, 3);
    assert_eq!(probe.calls(), 3, "not nine");
}

#[tokio::test(start_paused = true)]
async fn the_mark_ends_with_the_call() {
    let (retry, probe) = stack(config(), (0..6).map(|_| reset()).collect());
    for calls in [3, 6] {
        run(&retry, get()).await.unwrap_err();
        assert_eq!(probe.calls(), calls);
        assert!(!steadfast_core::is_owned());
    }
}
