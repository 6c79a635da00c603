//! Another config over circuits that are in use.

use std::sync::{Arc, Mutex};

use steadfast_admission::{Mode, Scope};
use steadfast_core::{Event, Ratio};

use super::*;

impl Stack {
    /// The same circuits and the same peer.
    fn reconfigured(&self, config: BreakerConfig) -> Self {
        Self {
            layer: self.layer.reconfigured(config),
            peer: self.peer.clone(),
        }
    }
}

fn both_scopes() -> [Stack; 2] {
    [Scope::Destination, Scope::Layer].map(|scope| Stack::new(config().with_scope(scope)))
}

/// The config of a stack with more patience.
fn patient(stack: &Stack) -> BreakerConfig {
    let config = config().with_scope(stack.layer.config().scope());
    config.with_failure_rate(Ratio::ONE)
}

#[tokio::test(start_paused = true)]
async fn an_open_circuit_stays_open_until_its_time() {
    for stack in both_scopes() {
        stack.open().await;
        tokio::time::sleep(SECOND).await;
        let next = stack.reconfigured(patient(&stack).with_open(exactly(SECOND)));
        assert_eq!(next.state(), CircuitState::Open);
        let left = Called::Refused(Some(4 * SECOND));
        assert_eq!(next.call(Does::Status(200)).await, left);
        tokio::time::sleep(4 * SECOND).await;
        assert_eq!(next.call(Does::Status(500)).await, Called::Answered(500));
        let by_the_new = Called::Refused(Some(2 * SECOND));
        assert_eq!(
            next.call(Does::Status(200)).await,
            by_the_new,
            "the second in a row"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_circuit_goes_on_counting_where_the_window_is_the_same() {
    for stack in both_scopes() {
        for does in [200, 500, 500] {
            stack.call(Does::Status(does)).await;
        }
        let next =
            stack.reconfigured(patient(&stack).with_failure_rate(Ratio::percent(75).unwrap()));
        assert_eq!(next.state(), CircuitState::Closed);
        next.call(Does::Status(500)).await;
        assert_eq!(next.state(), CircuitState::Open, "3 of 4");
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_circuit_counts_anew_where_the_window_is_another() {
    for stack in both_scopes() {
        for _ in 0..3 {
            stack.call(Does::Status(500)).await;
        }
        let window = Window::time(SECOND).with_minimum(count(4)).unwrap();
        let next = stack.reconfigured(patient(&stack).with_window(window));
        for nth in 0..4 {
            assert_eq!(next.state(), CircuitState::Closed, "after {nth}");
            next.call(Does::Status(500)).await;
        }
        assert_eq!(next.state(), CircuitState::Open);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_after_the_reload_still_counts() {
    for stack in both_scopes() {
        for _ in 0..3 {
            stack.call(Does::Status(500)).await;
        }
        let late = Does::Late(SECOND, Does::Status(500).into());
        let late = stack.service().oneshot(to(HOST, late));
        let mut late = tokio_test::task::spawn(late);
        assert!(late.poll().is_pending());
        let next = stack.reconfigured(patient(&stack));
        assert_eq!(next.state(), CircuitState::Closed);
        assert_eq!(late.await.unwrap().status(), 500);
        assert_eq!(next.state(), CircuitState::Open);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_of_another_window_says_nothing_after_the_reload() {
    for stack in both_scopes() {
        let late = Does::Late(SECOND, Does::Status(500).into());
        let late = stack.service().oneshot(to(HOST, late));
        let mut late = tokio_test::task::spawn(late);
        assert!(late.poll().is_pending());
        let one = Window::calls(count(1)).unwrap();
        let next = stack.reconfigured(patient(&stack).with_window(one));
        assert_eq!(late.await.unwrap().status(), 500);
        assert_eq!(next.state(), CircuitState::Closed);
        next.call(Does::Status(500)).await;
        assert_eq!(next.state(), CircuitState::Open);
    }
}

#[tokio::test(start_paused = true)]
async fn a_half_open_circuit_is_open_and_the_next_call_probes() {
    for stack in both_scopes() {
        stack.open().await;
        tokio::time::sleep(5 * SECOND).await;
        let late = Does::Late(SECOND, Does::Status(500).into());
        let probe = stack.service().oneshot(to(HOST, late));
        let mut probe = tokio_test::task::spawn(probe);
        assert!(probe.poll().is_pending());
        assert_eq!(stack.state(), CircuitState::HalfOpen);

        let next = stack.reconfigured(patient(&stack));
        assert_eq!(next.state(), CircuitState::Open);
        assert_eq!(next.call(Does::Status(200)).await, Called::Answered(200));
        assert_eq!(next.state(), CircuitState::Closed);
        assert_eq!(probe.await.unwrap().status(), 500);
        assert_eq!(next.state(), CircuitState::Closed, "its state was over");
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_operator_has_set_stays_as_it_is() {
    for stack in both_scopes() {
        stack.handle().hold_open(HOST);
        let next = stack.reconfigured(patient(&stack).with_idle(SECOND));
        tokio::time::sleep(3600 * SECOND).await;
        assert_eq!(next.call(Does::Status(200)).await, Called::Refused(None));
        // By the handle of the layer before.
        stack.handle().disable(HOST);
        let next = next.reconfigured(patient(&stack));
        for _ in 0..100 {
            assert_eq!(next.call(Does::Status(500)).await, Called::Answered(500));
        }
        assert_eq!(next.state(), CircuitState::Disabled);
        next.handle().reset(HOST);
        assert_eq!(stack.state(), CircuitState::Closed);
    }
}

#[tokio::test(start_paused = true)]
async fn who_watched_before_sees_what_comes_after() {
    for stack in both_scopes() {
        let mut watch = stack.handle().watch(HOST);
        let next = stack.reconfigured(patient(&stack));
        next.open().await;
        watch.changed().await.unwrap();
        assert_eq!(*watch.borrow_and_update(), CircuitState::Open);
        drop(stack);
        next.handle().reset(HOST);
        watch.changed().await.unwrap();
        assert_eq!(*watch.borrow_and_update(), CircuitState::Closed);
    }
}

#[tokio::test(start_paused = true)]
async fn services_of_both_layers_share_one_probe_and_every_destination() {
    for stack in both_scopes() {
        let next = stack.reconfigured(patient(&stack));
        // Nobody had called it when the config came.
        stack.open().await;
        assert_eq!(next.state(), CircuitState::Open);
        tokio::time::sleep(5 * SECOND).await;
        let probe = stack.service().oneshot(to(HOST, Does::Never));
        let mut probe = tokio_test::task::spawn(probe);
        assert!(probe.poll().is_pending());
        assert_eq!(next.call(Does::Status(200)).await, Called::Refused(None));
        drop(probe);
        assert_eq!(next.call(Does::Status(200)).await, Called::Answered(200));
        assert_eq!(stack.call(Does::Status(200)).await, Called::Answered(200));
        assert_eq!(stack.handle().circuits(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_keeps_its_mode_and_its_words_where_its_layer_is_reconfigured() {
    for stack in both_scopes() {
        let next = stack.reconfigured(patient(&stack).with_mode(Mode::Shadow));
        stack.open().await;
        assert_eq!(next.call(Does::Status(200)).await, Called::Answered(200));
        let refused = Called::Refused(Some(5 * SECOND));
        assert_eq!(stack.call(Does::Status(200)).await, refused);
    }
}

#[tokio::test(start_paused = true)]
async fn the_observer_of_the_config_given_last_is_told_of_changes() {
    let told = [(), ()].map(|()| Arc::new(Mutex::new(Vec::new())));
    let observed = |config: BreakerConfig, nth: usize| {
        let told = told[nth].clone();
        config.with_observer(move |event: &Event<'_>| {
            if let Event::CircuitChanged(changed) = event {
                told.lock().unwrap().push((changed.from, changed.to));
            }
        })
    };
    for scope in [Scope::Destination, Scope::Layer] {
        let stack = Stack::new(observed(config().with_scope(scope), 0));
        stack.open().await;
        tokio::time::sleep(5 * SECOND).await;
        let probe = stack.service().oneshot(to(HOST, Does::Never));
        let mut probe = tokio_test::task::spawn(probe);
        assert!(probe.poll().is_pending());
        let next = stack.reconfigured(observed(patient(&stack), 1));
        stack.call(Does::Status(200)).await;
        assert_eq!(next.state(), CircuitState::Closed);
        use CircuitState::{Closed, HalfOpen, Open};
        let [before, after] =
            [&told[0], &told[1]].map(|it| std::mem::take(&mut *it.lock().unwrap()));
        assert_eq!(before, [(Closed, Open), (Open, HalfOpen)]);
        assert_eq!(
            after,
            [(HalfOpen, Open), (Open, HalfOpen), (HalfOpen, Closed)]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_config_of_another_scope_starts_anew() {
    let stack = Stack::new(config());
    stack.open().await;
    let next = stack.reconfigured(config().with_scope(Scope::Layer));
    assert_eq!(next.state(), CircuitState::Closed);
    assert_eq!(next.call(Does::Status(200)).await, Called::Answered(200));
    assert_eq!(stack.state(), CircuitState::Open);
}

#[tokio::test(start_paused = true)]
async fn a_lower_bound_of_destinations_forgets_those_called_least_recently() {
    let stack = Stack::new(config());
    stack.open().await;
    for nth in 0..1000 {
        let host = format!("{nth}.example");
        let called = stack.service().oneshot(to(&host, Does::Status(200)));
        assert_eq!(called.await.unwrap().status(), 200);
    }
    let next = stack.reconfigured(config().with_max_keys(count(16)));
    assert_eq!(next.handle().circuits(), 16);
    assert_eq!(next.state(), CircuitState::Closed, "forgotten");
    assert_eq!(next.call(Does::Status(200)).await, Called::Answered(200));
    assert_eq!(stack.handle().circuits(), 16);
}
