//! What an answer, an error or a body says about the peer.

use steadfast_core::Cut;
use steadfast_kit::Piece;

use super::*;

/// O-32: a client's mistakes take nothing from the others.
#[tokio::test(start_paused = true)]
async fn a_hundred_mistakes_of_clients_leave_the_circuit_closed() {
    for (status, state) in [
        (400, CircuitState::Closed),
        (404, CircuitState::Closed),
        (429, CircuitState::Closed),
        (304, CircuitState::Closed),
        (408, CircuitState::Open),
        (500, CircuitState::Open),
        (503, CircuitState::Open),
    ] {
        let stack = Stack::new(config());
        for _ in 0..100 {
            stack.call(Does::Status(status)).await;
        }
        assert_eq!(stack.state(), state, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn mistakes_do_not_thin_out_failures() {
    let stack = Stack::new(config());
    for _ in 0..100 {
        stack.call(Does::Status(404)).await;
    }
    stack.open().await;
}

#[tokio::test(start_paused = true)]
async fn errors_open_it_and_a_deadline_of_the_callers_does_not() {
    let stack = Stack::new(config());
    for _ in 0..50 {
        assert_eq!(
            stack.call(Does::TimesOut(Cut::Deadline)).await,
            Called::Failed
        );
    }
    assert_eq!(stack.state(), CircuitState::Closed);
    for _ in 0..4 {
        assert_eq!(stack.call(Does::Reset).await, Called::Failed);
    }
    assert_eq!(stack.state(), CircuitState::Open);
}

#[tokio::test(start_paused = true)]
async fn a_200_whose_body_breaks_is_a_failure() {
    let stack = Stack::new(config());
    for _ in 0..4 {
        let pieces = vec![Piece::data("half"), Piece::fail("reset")];
        assert_eq!(stack.call(Does::Body(pieces)).await, Called::Broke);
    }
    assert_eq!(stack.state(), CircuitState::Open);
}

/// A 200 says nothing yet; dropped, its reader has seen enough.
#[tokio::test(start_paused = true)]
async fn a_success_counts_when_its_body_has_ended_or_was_dropped() {
    let eight = Window::default().with_minimum(count(8)).unwrap();
    let stack = Stack::new(config().with_window(eight));
    let mut unread = Vec::new();
    for _ in 0..4 {
        let does = Does::Body(vec![Piece::data("more")]);
        unread.push(stack.service().oneshot(to(HOST, does)).await.unwrap());
    }
    for _ in 0..4 {
        stack.call(Does::Status(500)).await;
    }
    unread.truncate(1);
    assert_eq!(stack.state(), CircuitState::Closed, "seven calls are known");
    drop(unread);
    assert_eq!(stack.state(), CircuitState::Open, "four of eight failed");
}

#[tokio::test(start_paused = true)]
async fn answers_that_nobody_reads_neither_open_nor_block() {
    let stack = Stack::new(config());
    let mut kept = Vec::new();
    for _ in 0..200 {
        let does = Does::Body(vec![Piece::data("more")]);
        kept.push(stack.service().oneshot(to(HOST, does)).await.unwrap());
    }
    assert_eq!(stack.state(), CircuitState::Closed);
    assert_eq!(stack.call(Does::Status(200)).await, Called::Answered(200));
}

/// O-31: what comes late belongs to a state that is over.
#[tokio::test(start_paused = true)]
async fn a_late_success_closes_nothing() {
    for at in [10, 40] {
        let stack = Stack::new(config().with_open(exactly(30 * SECOND)));
        let late = Does::Late(at * SECOND, Box::new(Does::Status(200)));
        let late = tokio::spawn(stack.service().oneshot(to(HOST, late)));
        tokio::time::sleep(5 * SECOND).await;
        stack.open().await;
        let expected = match at {
            10 => CircuitState::Open,
            _ => {
                tokio::time::sleep(31 * SECOND).await;
                // A probe of its own is on its way.
                let probe = Does::Late(9 * SECOND, Box::new(Does::Status(200)));
                tokio::spawn(stack.service().oneshot(to(HOST, probe)));
                tokio::task::yield_now().await;
                CircuitState::HalfOpen
            }
        };
        late.await.unwrap().unwrap();
        assert_eq!(stack.state(), expected);
        tokio::time::sleep(40 * SECOND).await;
        stack.call(Does::Status(200)).await;
        assert_eq!(
            stack.state(),
            CircuitState::Closed,
            "a real probe closes it"
        );
    }
}

/// O-33, the breaker's half: a refusal from below is no failure of the peer's.
#[tokio::test(start_paused = true)]
async fn refusals_from_below_count_for_nothing() {
    let stack = Stack::new(config());
    stack.handle().hold_open(HOST);
    let outer = BreakerLayer::new(config());
    for _ in 0..100 {
        let service = outer.layer(stack.service());
        let error = service
            .oneshot(to(HOST, Does::Status(200)))
            .await
            .unwrap_err();
        assert!(Rejected::find(&*error).is_some());
    }
    assert_eq!(outer.handle().state(HOST), CircuitState::Closed);
    assert_eq!(stack.peer.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_can_stay_open_as_long_as_the_peer_asked() {
    use steadfast_core::Hints;
    for (with_hints, left) in [(false, 5), (true, 20)] {
        let mut config = config();
        if with_hints {
            config = config.with_hints(Hints::default());
        }
        let layer = BreakerLayer::new(config);
        let answer = |_: http::Request<()>| async {
            let answer = http::Response::builder()
                .status(503)
                .header("retry-after", "20");
            Ok::<_, steadfast_core::BoxError>(answer.body(String::new())?)
        };
        let service = layer.layer(tower::service_fn(answer));
        let request = || http::Request::get("http://a.example/").body(()).unwrap();
        for _ in 0..4 {
            service.clone().oneshot(request()).await.unwrap();
        }
        let error = service.oneshot(request()).await.unwrap_err();
        let rejected = Rejected::find(&*error).unwrap();
        assert_eq!(rejected.retry_in(), Some(left * SECOND));
    }
}
