//! What the function and the observer are told.

use std::sync::{Arc, Mutex};

use http::Method;
use steadfast_core::{Event, Safety};

use super::*;

type Notes<T> = Arc<Mutex<Vec<T>>>;

/// A function that notes what it sees.
fn noting<T: Send + 'static>(
    look: impl Fn(&Fell<'_>) -> T,
) -> (
    FallbackLayer<impl Fn(&Fell<'_>) -> Response<Bytes>>,
    Notes<T>,
) {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let kept = notes.clone();
    let layer = FallbackLayer::new(Reason::ALL, move |fell| {
        kept.lock().unwrap().push(look(fell));
        Response::default()
    });
    (layer, notes)
}

#[tokio::test(start_paused = true)]
async fn the_function_sees_the_error_and_the_last_head_before_it() {
    let (layer, notes) = noting(|fell| {
        let error = fell.error().unwrap();
        let failure = Failure::find(error).unwrap();
        assert_eq!(failure.report().reason, Some(fell.reason()));
        (fell.head().unwrap().status, fell.report().copied())
    });
    let (head, ()) = Response::builder()
        .status(502)
        .body(())
        .unwrap()
        .into_parts();
    let failure = Failure::new(report(Reason::AttemptsExhausted), reset());
    fails(&layer, failure.with_last_head(head)).await.unwrap();
    let want = (
        StatusCode::BAD_GATEWAY,
        Some(report(Reason::AttemptsExhausted)),
    );
    assert_eq!(*notes.lock().unwrap(), [want]);
}

#[tokio::test(start_paused = true)]
async fn the_function_sees_that_a_refusal_has_neither_head_nor_report() {
    let (layer, notes) = noting(|fell| {
        let refusal = Rejected::find(fell.error().unwrap()).copied();
        assert!(fell.head().is_none() && fell.report().is_none());
        refusal
    });
    let refusal = Rejected::new(Reason::Cooldown).with_retry_in(Duration::from_secs(2));
    fails(&layer, refusal).await.unwrap();
    assert_eq!(*notes.lock().unwrap(), [Some(refusal)]);
}

#[tokio::test(start_paused = true)]
async fn the_function_sees_the_head_of_the_answer_that_it_replaces() {
    let (layer, notes) = noting(|fell| {
        assert!(fell.error().is_none());
        (fell.head().unwrap().status, fell.report().copied())
    });
    let layer = layer.with_answers();
    answers(&layer, last_answer(Reason::HintOverLimit))
        .await
        .unwrap();
    let want = (
        StatusCode::SERVICE_UNAVAILABLE,
        Some(report(Reason::HintOverLimit)),
    );
    assert_eq!(*notes.lock().unwrap(), [want]);
}

#[tokio::test(start_paused = true)]
async fn the_function_can_tell_a_write_from_a_read() {
    let (layer, notes) = noting(|fell| fell.method().clone());
    for method in [Method::GET, Method::POST] {
        let peer = Peer::script([Step::fail(Rejected::new(Reason::Cooldown))]);
        let mut request = Request::new(());
        *request.method_mut() = method;
        layer.layer(peer).oneshot(request).await.unwrap();
    }
    assert_eq!(*notes.lock().unwrap(), [Method::GET, Method::POST]);
}

#[tokio::test(start_paused = true)]
async fn an_observer_is_told_of_each_answer_that_stood_in_and_of_no_other_call() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let log = told.clone();
    let observed = layer([Reason::Cooldown, Reason::Deadline])
        .with_answers()
        .with_observer(move |event: &Event<'_>| {
            let Event::FellBack(fell) = event else {
                panic!("{event:?} is not an event of this layer");
            };
            let subject = fell.subject;
            assert_eq!(subject.method, Some(&Method::PUT));
            assert_eq!(subject.safety, Safety::Idempotent);
            let destination = subject.destination.unwrap().to_owned();
            log.lock().unwrap().push((destination, fell.reason));
        });
    let peer = Peer::script([
        Step::fail(Rejected::new(Reason::Cooldown)),
        Step::fail(Rejected::new(Reason::BulkheadFull)),
        Step::answer(last_answer(Reason::NotRetryable)),
        Step::answer(last_answer(Reason::Deadline)),
    ]);
    let service = observed.layer(peer);
    for _ in 0..4 {
        let request = Request::put("http://user:pw@a.example/x?secret");
        let request = request.body(()).unwrap();
        let _ = service.clone().oneshot(request).await;
    }
    let want = [Reason::Cooldown, Reason::Deadline].map(|it| ("a.example".to_owned(), it));
    assert_eq!(*told.lock().unwrap(), want);
}
