//! What an operator sets, and what is only told.

use std::sync::{Arc, Mutex};

use steadfast_admission::{Mode, Scope};
use steadfast_core::Event;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_circuit_is_set_by_hand() {
    let stack = Stack::new(config());
    let handle = stack.handle();
    handle.hold_open(HOST);
    tokio::time::sleep(3600 * SECOND).await;
    assert_eq!(stack.call(Does::Status(200)).await, Called::Refused(None));
    handle.disable(HOST);
    for _ in 0..100 {
        assert_eq!(stack.call(Does::Status(500)).await, Called::Answered(500));
    }
    assert_eq!(stack.state(), CircuitState::Disabled);
    handle.close(HOST);
    assert_eq!(stack.state(), CircuitState::Closed);
    stack.open().await;
    handle.close(HOST);
    stack.open().await;
    let as_before = stack.call(Does::Status(200)).await;
    assert_eq!(
        as_before,
        Called::Refused(Some(10 * SECOND)),
        "the second time in a row"
    );
    handle.reset(HOST);
    stack.open().await;
    let anew = stack.call(Does::Status(200)).await;
    assert_eq!(anew, Called::Refused(Some(5 * SECOND)));
}

#[tokio::test(start_paused = true)]
async fn what_is_held_by_hand_outlives_its_destination_being_idle() {
    let config = config().with_idle(SECOND).with_max_keys(NonZeroU32::MIN);
    let stack = Stack::new(config);
    stack.handle().hold_open("A.example");
    tokio::time::sleep(10 * SECOND).await;
    stack
        .service()
        .oneshot(to("b.example", Does::Status(200)))
        .await
        .unwrap();
    assert_eq!(stack.call(Does::Status(200)).await, Called::Refused(None));
    stack.handle().reset(HOST);
    assert_eq!(stack.call(Does::Status(200)).await, Called::Answered(200));
}

#[tokio::test(start_paused = true)]
async fn every_state_is_seen_by_those_who_watch() {
    for scope in [Scope::Destination, Scope::Layer] {
        let stack = Stack::new(config().with_scope(scope));
        let mut watch = stack.handle().watch(HOST);
        assert_eq!(*watch.borrow_and_update(), CircuitState::Closed);
        stack.open().await;
        watch.changed().await.unwrap();
        assert_eq!(*watch.borrow_and_update(), CircuitState::Open);
        tokio::time::sleep(5 * SECOND).await;
        let probe = stack.service().oneshot(to(HOST, Does::Never));
        let mut probe = tokio_test::task::spawn(probe);
        assert!(probe.poll().is_pending());
        assert_eq!(*watch.borrow_and_update(), CircuitState::HalfOpen);
        drop(probe);
        stack.call(Does::Status(200)).await;
        assert_eq!(*watch.borrow_and_update(), CircuitState::Closed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_shadow_refuses_nothing_and_tells_what_it_would() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = told.clone();
    let config = config().with_mode(Mode::Shadow);
    let stack = Stack::new(config.with_observer(move |event: &Event<'_>| {
        let mut seen = seen.lock().unwrap();
        match event {
            Event::CircuitChanged(changed) => seen.push(changed.to.to_string()),
            Event::AdmissionRefused(refused) => {
                assert_eq!(refused.subject.destination, Some(HOST));
                let left = refused.retry_in.unwrap().as_secs();
                seen.push(format!("{} {} {left}", refused.reason, refused.enforced));
            }
            _ => {}
        }
    }));
    stack.open().await;
    tokio::time::sleep(SECOND).await;
    assert_eq!(stack.call(Does::Status(200)).await, Called::Answered(200));
    tokio::time::sleep(4 * SECOND).await;
    assert_eq!(stack.call(Does::Status(200)).await, Called::Answered(200));
    let expected = ["open", "circuit_open false 4", "half_open", "closed"];
    assert_eq!(*told.lock().unwrap(), expected);
}
