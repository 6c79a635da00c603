use std::future::poll_fn;
use std::time::Duration;

use tower_service::Service;

use super::rig::{call, later, script, service, upload};
use super::{Inner, Subject};
use crate::drive::Caught;
use crate::{BodyWatch, BoxError, drop_at_every_await};

/// Longer than any inner call of the trials, for layers that work on.
const REST_OF_WORK: Duration = Duration::from_secs(60);

/// One call that was dropped, and what it used.
struct Left<S: Subject> {
    service: S::Service,
    inner: Inner<S::Sent>,
    answers: Vec<BodyWatch>,
    upload: BodyWatch,
    polls: usize,
}

pub(super) async fn everything_is_released<S: Subject>(subject: &S) {
    let attempts = subject.failures().len() + 1;
    let mut all = Vec::new();
    let make = || {
        // Enough of everything for the call after the one that is dropped.
        let (inner, answers) = script(subject, attempts + 1);
        let _ = inner.clone().with_readiness(later(attempts));
        let service = service(subject, &inner);
        let body = upload();
        let upload = body.watch();
        let request = subject.request(body);
        let mut called = service.clone();
        let one = async move {
            let ready = poll_fn(|cx| called.poll_ready(cx)).await;
            ready.map_err(Into::into)?;
            let answer = called.call(request);
            drop(called);
            answer.await.map_err(Into::into)
        };
        let left = Left::<S> {
            service,
            inner,
            answers,
            upload,
            polls: 0,
        };
        (one, left)
    };
    let driven = drop_at_every_await(make, |mut left, polls| {
        left.polls = polls;
        if !subject.works_on() {
            // Before anything else runs: dropping alone must do it.
            in_flight_no_more(&left);
            subject.released(&left.inner);
        }
        all.push(left);
    })
    .await;
    let answer: Result<_, BoxError> = driven.output;
    assert!(answer.is_ok(), "the call failed: {:?}", answer.err());
    drop(answer);
    for left in all {
        settled(subject, left).await;
    }
}

fn in_flight_no_more<S: Subject>(left: &Left<S>) {
    let Left { inner, polls, .. } = left;
    assert_eq!(
        inner.in_flight(),
        0,
        "dropped after {polls} polls, an inner call goes on"
    );
    assert_eq!(
        inner.reserved(),
        0,
        "dropped after {polls} polls, an instance stays reserved"
    );
}

async fn settled<S: Subject>(subject: &S, left: Left<S>) {
    if subject.works_on() {
        tokio::time::sleep(REST_OF_WORK).await;
    }
    in_flight_no_more(&left);
    let Left {
        mut service,
        inner,
        answers,
        upload,
        polls,
    } = left;
    assert_eq!(
        upload.dropped(),
        1,
        "dropped after {polls} polls, the request's body stays"
    );
    let calls = inner.calls();
    for answer in &answers[..calls] {
        assert_eq!(
            answer.dropped(),
            1,
            "dropped after {polls} polls, an answer's body stays"
        );
    }
    match Caught(Box::pin(call(subject, &mut service))).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => panic!("dropped after {polls} polls, the next call fails: {error:?}"),
        Err(seen) => panic!("dropped after {polls} polls, the next call ends so: {seen}"),
    }
}
