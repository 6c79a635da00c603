use std::time::Duration;

use http::{Method, Request, StatusCode};
use steadfast_core::decide::{Admission, Strictness};
use steadfast_core::{Endpoint, Outcome, Preconditions, Reason, Rejected, RouteRule, Safety};
use steadfast_kit::{Chunks, Step};
use steadfast_retry::RetryOverrides;

use crate::stack::*;

fn on_things() -> RouteRule {
    RouteRule::on(Endpoint::new("api.example", "/things").unwrap())
}

fn put(if_match: Option<&'static str>) -> Request<Chunks> {
    let mut request = post(Chunks::of(["new"]));
    *request.method_mut() = Method::PUT;
    if let Some(tag) = if_match {
        request
            .headers_mut()
            .insert("if-match", http::HeaderValue::from_static(tag));
    }
    request
}

#[tokio::test(start_paused = true)]
async fn a_rule_says_what_a_repeat_may_do_and_the_caller_overrules_it() {
    let search = on_things()
        .for_methods([Method::POST])
        .with_safety(Safety::Safe);
    let three = || (0..3).map(|_| reset()).collect();
    let (retry, probe) = stack(config().with_rule(search.clone()), three());
    let _ = run(&retry, post(Chunks::of(["query"]))).await;
    assert_eq!(probe.calls(), 3);

    let (retry, probe) = stack(config().with_rule(search), three());
    let request = with_safety(post(Chunks::of(["query"])), Safety::Unprotected);
    assert_eq!(
        reason(&run(&retry, request).await),
        Some(Reason::Unprotected)
    );
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_404_or_409_is_retried_by_a_rule_only() {
    for code in [404, 409] {
        let rule = on_things().with_retried_status(StatusCode::from_u16(code).unwrap());
        let script = || vec![status(code, "not yet"), status(200, "there")];
        let (retry, probe) = stack(config().with_rule(rule), script());
        assert_eq!(text(run(&retry, get()).await.unwrap()).await, "there");
        assert_eq!(probe.calls(), 2);
        let (retry, probe) = stack(config(), script());
        assert_eq!(text(run(&retry, get()).await.unwrap()).await, "not yet");
        assert_eq!(probe.calls(), 1);
    }
}

/// Seed A's diagram: a destination that refuses before it does anything.
#[tokio::test(start_paused = true)]
async fn a_503_is_unprocessed_where_that_is_declared() {
    let rule = on_things().with_overload_unprocessed();
    let (retry, probe) = stack(
        config().with_rule(rule),
        vec![status(503, ""), status(200, "")],
    );
    run(&retry, post(Chunks::of(["order"]))).await.unwrap();
    assert_eq!(probe.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_put_without_a_precondition_is_not_repeated_where_it_could_overwrite() {
    let rule = || config().with_rule(on_things().with_put_needing_precondition());
    let (retry, probe) = stack(rule(), vec![reset()]);
    let answered = run(&retry, put(None)).await;
    assert_eq!(reason(&answered), Some(Reason::Unprotected));
    assert_eq!(report(&answered).outcome, Outcome::Unknown);
    assert_eq!(probe.calls(), 1);

    let (retry, probe) = stack(rule(), vec![reset(), status(200, "")]);
    run(&retry, put(Some("\"v1\""))).await.unwrap();
    assert_eq!(probe.calls(), 2);
}

/// The first sending may have taken effect, and the 412 is then of its own making.
#[tokio::test(start_paused = true)]
async fn a_412_after_an_unknown_attempt_leaves_the_outcome_unknown() {
    let (retry, _) = stack(config(), vec![reset(), status(412, "")]);
    let answered = run(&retry, put(Some("\"v1\""))).await;
    assert_eq!(reason(&answered), Some(Reason::NotRetryable));
    assert_eq!(report(&answered).outcome, Outcome::Unknown);
    assert_eq!(answered.unwrap().status(), 412);

    let (retry, _) = stack(config(), vec![status(412, "")]);
    let answered = run(&retry, put(Some("\"v1\""))).await;
    assert_eq!(report(&answered).outcome, Outcome::NotApplied);
}

#[tokio::test(start_paused = true)]
async fn declared_preconditions_count() {
    let storage = on_things().with_preconditions(Preconditions::google_cloud_storage());
    let guarded = || {
        let mut request = post(Chunks::of(["object"]));
        *request.uri_mut() = "http://api.example/things?ifGenerationMatch=0"
            .parse()
            .unwrap();
        request
    };
    let (retry, probe) = stack(config().with_rule(storage), vec![reset(), status(200, "")]);
    run(&retry, guarded()).await.unwrap();
    assert_eq!(probe.calls(), 2);
    let (retry, probe) = stack(config(), vec![reset()]);
    assert_eq!(
        reason(&run(&retry, guarded()).await),
        Some(Reason::Unprotected)
    );
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn one_call_may_say_otherwise() {
    let mut request = get();
    let overrides = RetryOverrides::new()
        .with_max_attempts(attempts(5))
        .with_total_limit(Duration::from_secs(3600))
        .with_max_hint(Duration::from_secs(1));
    request.extensions_mut().insert(overrides);
    let (retry, probe) = stack(config(), (0..5).map(|_| reset()).collect());
    assert_eq!(report(&run(&retry, request).await).attempts, 5);
    assert_eq!(probe.calls(), 5);

    let mut request = get();
    request.extensions_mut().insert(overrides);
    let told = answer(503, &[("retry-after", "2")], Chunks::of([""]));
    let (retry, _) = stack(config(), vec![told]);
    assert_eq!(
        reason(&run(&retry, request).await),
        Some(Reason::HintOverLimit)
    );

    let mut strict = post(Chunks::of(["x"]));
    let overrides = RetryOverrides::new().with_strictness(Strictness::Strict);
    strict.extensions_mut().insert(overrides);
    let (retry, probe) = stack(config(), vec![status(429, "")]);
    assert_eq!(
        reason(&run(&retry, strict).await),
        Some(Reason::Unprotected)
    );
    assert_eq!(probe.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_ours_is_waited_out_once_and_costs_neither_attempt_nor_budget() {
    let refused =
        || Step::fail(Rejected::new(Reason::CircuitOpen).with_retry_in(Duration::from_secs(3)));
    let waiting = || {
        config()
            .with_admission(Admission::WaitOnce)
            .with_budget(crate::budgets::Never)
    };
    let started = tokio::time::Instant::now();
    let (retry, probe) = stack(waiting(), vec![refused(), status(200, "let in")]);
    let response = run(&retry, post(Chunks::of(["x"]))).await.unwrap();
    assert!(
        response.extensions().is_empty(),
        "one attempt, and it went well"
    );
    assert_eq!(text(response).await, "let in");
    assert_eq!(probe.calls(), 2);
    assert!(started.elapsed() >= Duration::from_secs(3));

    let (retry, probe) = stack(waiting(), vec![refused(), refused()]);
    let answered = run(&retry, get()).await;
    assert_eq!(reason(&answered), Some(Reason::CircuitOpen));
    assert_eq!(report(&answered).attempts, 0);
    assert_eq!(probe.calls(), 2);
}
