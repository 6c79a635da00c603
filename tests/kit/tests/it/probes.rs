use std::time::Duration;

use http::Request;
use steadfast_kit::{Probe, Readiness, Step};
use tokio_test::{assert_pending, assert_ready_err, assert_ready_ok, task};
use tower::{Service, ServiceExt};

#[tokio::test]
#[should_panic(expected = "without having been ready")]
async fn a_call_without_readiness_panics() {
    let mut probe = Probe::script([Step::answer(())]);
    drop(probe.call(()));
}

#[tokio::test]
#[should_panic(expected = "without having been ready")]
async fn readiness_is_lost_on_clone() {
    let mut probe = Probe::script([Step::answer(())]);
    probe.ready().await.unwrap();
    drop(probe.clone().call(()));
}

#[tokio::test]
#[should_panic(expected = "without having been ready")]
async fn readiness_is_used_up_by_a_call() {
    let mut probe = Probe::script([Step::answer(()), Step::answer(())]);
    probe.ready().await.unwrap();
    probe.call(()).await.unwrap();
    drop(probe.call(()));
}

#[tokio::test]
#[should_panic(expected = "call 2 of the probe is not in its script")]
async fn a_call_too_many_panics() {
    let probe = Probe::script([Step::answer(())]);
    probe.clone().oneshot(()).await.unwrap();
    let _ = probe.clone().oneshot(()).await;
}

#[tokio::test]
async fn reservations_are_counted_until_used_or_dropped() {
    let probe = Probe::<(), ()>::script([Step::answer(())]);
    let (mut one, mut two) = (probe.clone(), probe.clone());
    one.ready().await.unwrap();
    one.ready().await.unwrap();
    two.ready().await.unwrap();
    assert_eq!(probe.reserved(), 2);
    drop(two);
    assert_eq!(probe.reserved(), 1);
    one.call(()).await.unwrap();
    assert_eq!(probe.reserved(), 0);
}

#[tokio::test(start_paused = true)]
async fn readiness_follows_its_script() {
    let script = [
        Readiness::Later,
        Readiness::fail("gone"),
        Readiness::After(Duration::from_secs(1)),
        Readiness::Never,
    ];
    let probe = Probe::<(), ()>::script([]).with_readiness(script);
    let mut later = task::spawn(probe.clone());
    assert_pending!(later.enter(|cx, mut probe| probe.poll_ready(cx)));
    assert!(later.is_woken());
    assert_ready_ok!(later.enter(|cx, mut probe| probe.poll_ready(cx)));
    let mut failing = task::spawn(probe.clone());
    assert_ready_err!(failing.enter(|cx, mut probe| probe.poll_ready(cx)));
    let before = tokio::time::Instant::now();
    probe.clone().ready().await.unwrap();
    assert_eq!(before.elapsed(), Duration::from_secs(1));
    let mut never = task::spawn(probe.clone());
    assert_pending!(never.enter(|cx, mut probe| probe.poll_ready(cx)));
    assert!(!never.is_woken());
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_once_whether_answered_or_dropped() {
    let second = Duration::from_secs(1);
    let probe = Probe::script([
        Step::answer("now"),
        Step::answer("late").after(second),
        Step::never(),
        Step::call(|request: Request<&str>| async move { Ok(request.into_body()) }),
    ]);
    let request = |body| Request::get("/").header("n", body).body(body).unwrap();
    assert_eq!(probe.clone().oneshot(request("1")).await.unwrap(), "now");
    let before = tokio::time::Instant::now();
    assert_eq!(probe.clone().oneshot(request("2")).await.unwrap(), "late");
    assert_eq!(before.elapsed(), second);
    let mut never = task::spawn(probe.clone().oneshot(request("3")));
    assert_pending!(never.poll());
    assert_eq!((probe.in_flight(), probe.cancelled()), (1, 0));
    drop(never);
    assert_eq!((probe.in_flight(), probe.cancelled()), (0, 1));
    assert_eq!(probe.clone().oneshot(request("4")).await.unwrap(), "4");
    assert_eq!(
        (probe.calls(), probe.steps_left(), probe.cancelled()),
        (4, 0, 1)
    );
    assert_eq!(probe.heads()[2].headers["n"], "3");
}
