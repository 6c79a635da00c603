//! Readiness and wakers of calls that go well in the end.

use tower_service::Service;

use super::Subject;
use super::rig::{POLLS, call, frames, later, ready, script, service, upload};
use crate::drive::drive;

/// The probe panics where an instance is called that was not ready.
pub(super) async fn only_the_readied_is_called<S: Subject>(subject: &S) {
    let (inner, _) = script(subject, 3);
    let attempts = subject.failures().len() + 3;
    let _ = inner.clone().with_readiness(later(attempts));
    let mut service = service(subject, &inner);
    for successes in 1..=3 {
        let answer = call(subject, &mut service).await;
        assert!(
            answer.is_ok(),
            "call {successes} failed: {:?}",
            answer.err()
        );
    }
    assert_eq!(
        inner.calls(),
        attempts,
        "the layer has not made the inner calls that it was said to make"
    );
}

pub(super) async fn no_readiness_is_held<S: Subject>(subject: &S) {
    let (inner, _) = script(subject, 1);
    let mut service = service(subject, &inner);
    assert!(
        ready(&mut service).await.is_ok(),
        "the layer did not get ready"
    );
    let call = service.call(subject.request(upload()));
    let held = || {
        let calls = inner.calls();
        assert_eq!(
            inner.reserved(),
            0,
            "it waits with an instance reserved, after {calls} calls"
        );
    };
    let (answer, _) = drive(call, POLLS, held).await;
    assert!(answer.is_ok(), "the call failed");
    assert_eq!(
        inner.reserved(),
        0,
        "after the call an instance is reserved"
    );
}

/// The driver polls only what was woken.
pub(super) async fn pending_wakes<S: Subject>(subject: &S) {
    let (inner, _) = script(subject, 1);
    let _ = inner
        .clone()
        .with_readiness(later(subject.failures().len() + 2).skip(1));
    let mut service = service(subject, &inner);
    let answer = call(subject, &mut service).await;
    let answer = answer.unwrap_or_else(|error| panic!("the call failed: {error:?}"));
    let (_, error) = frames(answer.into_body()).await;
    assert!(error.is_none(), "the answer's body failed: {error:?}");
}
