use super::*;

#[tokio::test(start_paused = true)]
async fn the_peers_own_answer_passes_by_default_whatever_is_reported_of_it() {
    for reason in Reason::ALL {
        let answered = answers(&layer(Reason::ALL), last_answer(reason)).await;
        let answer = answered.as_ref().unwrap();
        assert_eq!(answer.status(), 503);
        assert_eq!(answer.extensions().get(), Some(&report(reason)));
        assert_eq!(answer.extensions().get::<FellBackFrom>(), None);
        assert_eq!(text(answered).await, "the peer's");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_a_chosen_reason_is_replaced_where_that_is_asked_for() {
    let chosen = Reason::BudgetExhausted;
    let layer = layer([chosen]).with_answers();
    let last = last_answer(chosen);
    let watch = last.body().watch();
    let answered = answers(&layer, last).await;
    assert_eq!((watch.polled(), watch.dropped()), (0, 1));
    let answer = answered.as_ref().unwrap();
    assert_eq!(answer.status(), 203);
    assert_eq!(answer.extensions().get(), Some(&report(chosen)));
    assert_eq!(answer.extensions().get(), Some(&FellBackFrom(chosen)));
    assert_eq!(text(answered).await, "instead of budget_exhausted");
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_a_chosen_reason_passes_also_then() {
    let layer = layer([Reason::BudgetExhausted]).with_answers();
    let mut unreported = last_answer(None);
    unreported.extensions_mut().clear();
    for answer in [
        last_answer(Reason::AttemptsExhausted),
        last_answer(None),
        unreported,
    ] {
        assert_eq!(text(answers(&layer, answer).await).await, "the peer's");
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_fallbacks_the_inner_ones_answer_stays() {
    let failure = || Failure::new(report(Reason::Deadline), reset());
    let inner = layer([Reason::Deadline]);
    let outer = FallbackLayer::new(Reason::ALL, |_| Response::new(Bytes::from("outer")));
    let outer = outer.with_answers();
    let peer = Peer::script([Step::fail(failure())]);
    let both = outer.layer(inner.layer(peer));
    let answer = both.oneshot(Request::new(())).await.unwrap();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(bytes, "instead of deadline");
}

#[test]
fn a_layer_says_what_it_is_for() {
    let layer = layer([Reason::Deadline, Reason::Cooldown]);
    for reason in Reason::ALL {
        let chosen = matches!(reason, Reason::Deadline | Reason::Cooldown);
        assert_eq!(layer.is_for(reason), chosen);
    }
    assert!(!layer.replaces_answers());
    assert!(layer.with_answers().replaces_answers());
}
