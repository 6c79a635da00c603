use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use http::Response;
use tower_service::Service;

use super::rig::{WORK, call, ending, ready, service, upload};
use super::{Inner, Subject};
use crate::{Probe, Step};

pub(super) async fn are_independent<S: Subject>(subject: &S) {
    let success = || ending(Ok(Response::new(()))).0;
    let inner: Inner<S::Sent> = Probe::script([success(), success()]);
    let mut first = service(subject, &inner);
    // Readiness of one is not that of the other, whichever is called first.
    assert!(
        ready(&mut first).await.is_ok(),
        "the layer did not get ready"
    );
    let mut second = first.clone();
    assert!(
        call(subject, &mut second).await.is_ok(),
        "a clone's call failed"
    );
    drop(second);
    let late = first.call(subject.request(upload()));
    assert!(
        late.await.is_ok(),
        "a call failed whose service was ready before its clone"
    );

    let inner: Inner<S::Sent> = Probe::script([Step::never(), success()]);
    let mut first = service(subject, &inner);
    let mut second = first.clone();
    assert!(
        ready(&mut first).await.is_ok(),
        "the layer did not get ready"
    );
    let mut stuck = pin!(first.call(subject.request(upload())));
    for _ in 0..100 {
        // Until its inner call is on its way, which may take time.
        if inner.in_flight() == 1 {
            break;
        }
        let polled = stuck.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(
            polled.is_pending(),
            "a call ended whose inner call has no end"
        );
        tokio::time::sleep(WORK).await;
    }
    assert_eq!(inner.in_flight(), 1, "the inner call did not begin");
    assert!(
        call(subject, &mut second).await.is_ok(),
        "a clone's call failed beside one that is stuck"
    );
}
