use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use steadfast_kit::Readiness;
use tower::Service;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_fallback_for_circuit_open_answers() {
    let refusal = Rejected::new(Reason::CircuitOpen);
    let answered = fails(&layer([Reason::CircuitOpen]), refusal).await;
    let answer = answered.as_ref().unwrap();
    assert_eq!(answer.status(), 203);
    assert_eq!(answer.headers()["x-own"], "1");
    let marker = answer.extensions().get();
    assert_eq!(marker, Some(&FellBackFrom(Reason::CircuitOpen)));
    assert_eq!(answer.extensions().get::<Report>(), None);
    assert_eq!(text(answered).await, "instead of circuit_open");
}

#[tokio::test(start_paused = true)]
async fn an_error_of_another_reason_passes_untouched_by_type() {
    for chosen in Reason::ALL {
        for other in Reason::ALL.into_iter().filter(|other| *other != chosen) {
            let refusal = Rejected::new(other).with_retry_in(Duration::from_secs(1));
            let error = fails(&layer([chosen]), refusal).await.unwrap_err();
            assert_eq!(error.downcast_ref::<Rejected>(), Some(&refusal));
        }
        assert!(fails(&layer([chosen]), Rejected::new(chosen)).await.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_without_a_reason_passes_untouched_by_type() {
    let error = fails(&layer(Reason::ALL), reset()).await.unwrap_err();
    let io: &io::Error = error.downcast_ref().unwrap();
    assert_eq!(io.kind(), io::ErrorKind::ConnectionReset);
    let unreasoned = Failure::new(report(None), reset());
    let error = fails(&layer(Reason::ALL), unreasoned).await.unwrap_err();
    assert!(error.is::<Failure>());
}

#[tokio::test(start_paused = true)]
async fn the_reports_reason_rules_over_that_of_the_refusal_in_it() {
    let refused_at_last = || {
        let refusal = Rejected::new(Reason::CircuitOpen);
        Failure::new(report(Reason::Deadline), refusal)
    };
    let by_report = fails(&layer([Reason::Deadline]), refused_at_last()).await;
    assert_eq!(text(by_report).await, "instead of deadline");
    let by_refusal = fails(&layer([Reason::CircuitOpen]), refused_at_last()).await;
    assert!(by_refusal.unwrap_err().is::<Failure>());

    let silent = Failure::new(report(None), Rejected::new(Reason::CircuitOpen));
    let answered = fails(&layer([Reason::CircuitOpen]), silent).await;
    assert_eq!(text(answered).await, "instead of circuit_open");
}

#[tokio::test(start_paused = true)]
async fn the_report_stays_beside_the_answer() {
    let failure = Failure::new(report(Reason::BudgetExhausted), reset());
    let answered = fails(&layer([Reason::BudgetExhausted]), failure).await;
    let extensions = answered.unwrap().into_parts().0.extensions;
    let want = FellBackFrom(Reason::BudgetExhausted);
    assert_eq!(extensions.get(), Some(&want));
    assert_eq!(extensions.get(), Some(&report(Reason::BudgetExhausted)));
}

#[tokio::test(start_paused = true)]
async fn an_inner_service_that_does_not_get_ready_fails_as_before() {
    let peer = Peer::script([]);
    let refusal = Rejected::new(Reason::CircuitOpen);
    let peer = peer.with_readiness([Readiness::fail(refusal)]);
    let mut service = layer(Reason::ALL).layer(peer);
    let error = service.ready().await.err().unwrap();
    assert_eq!(error.downcast_ref::<Rejected>(), Some(&refusal));
}

#[tokio::test(start_paused = true)]
async fn the_function_and_what_it_holds_are_shared() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    let layer = FallbackLayer::new([Reason::Cooldown], move |_| {
        seen.fetch_add(1, Ordering::Relaxed);
        Response::default()
    });
    let refusal = || Step::fail(Rejected::new(Reason::Cooldown));
    let peer = Peer::script([refusal(), refusal(), refusal()]);
    let service = layer.layer(peer.clone());
    for service in [service.clone(), service, layer.clone().layer(peer)] {
        service.oneshot(Request::new(())).await.unwrap();
    }
    assert_eq!(count.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "no stand-in")]
async fn a_function_that_panics_panics_the_call() {
    let layer = FallbackLayer::new([Reason::Cooldown], |_| panic!("no stand-in"));
    let peer = Peer::script([Step::fail(Rejected::new(Reason::Cooldown))]);
    let mut service = layer.layer(peer);
    let _ = service.ready().await.unwrap().call(Request::new(())).await;
}
