use std::time::Duration;

use http::{HeaderName, Request, header};
use steadfast_core::{
    Attempt, CallContext, CallState, Classify, Deadline, DefaultClassify, Reason, TimeoutFormat,
    TimeoutHeader, Verdict, in_context, without_context,
};
use steadfast_deadline::{
    AttemptTimeoutLayer, CallLimitLayer, Propagate, PropagateConfig, PropagateLayer,
};
use steadfast_kit::{Probe, Step};
use tokio::time::Instant;
use tower::{Layer, ServiceBuilder, ServiceExt};

use crate::{MS, due, in_time};

const ENVOY: &str = "x-envoy-expected-rq-timeout-ms";

type Inner = Probe<Request<()>, ()>;

fn answering(attempts: usize) -> Inner {
    Probe::script((0..attempts).map(|_| Step::answer(())))
}

fn told(probe: &Inner, name: &str) -> Vec<Option<String>> {
    let line = |head: http::request::Parts| {
        let mut lines = head.headers.get_all(name).iter();
        let line = lines.next().map(|line| line.to_str().unwrap().to_owned());
        assert_eq!(lines.next(), None, "one line of {name}");
        line
    };
    probe.heads().into_iter().map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn each_attempt_is_told_less_than_the_one_before() {
    let probe = answering(3);
    let mut request = due(in_time(250 * MS));
    request.headers_mut().insert(ENVOY, 99_999.into());
    for _ in 0..3 {
        let service = PropagateLayer::default().layer(probe.clone());
        service.oneshot(request.clone()).await.unwrap();
        tokio::time::advance(100 * MS).await;
    }
    let want = ["250", "150", "50"].map(|left| Some(left.to_owned()));
    assert_eq!(told(&probe, ENVOY), want);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_with_less_than_one_unit_left_is_not_sent() {
    let seconds = TimeoutHeader::new(HeaderName::from_static("x-left"), TimeoutFormat::Seconds);
    for (header, left, sent) in [
        (TimeoutHeader::envoy(), Duration::from_micros(999), false),
        (TimeoutHeader::envoy(), MS, true),
        (seconds.clone(), 999 * MS, false),
        (seconds, 1_000 * MS, true),
        (TimeoutHeader::connect(), Duration::ZERO, false),
    ] {
        let probe = answering(1);
        let config = PropagateConfig::default().with_headers([header]);
        let answer = Propagate::new(probe.clone(), config)
            .oneshot(due(in_time(left)))
            .await;
        assert_eq!(probe.calls(), usize::from(sent));
        assert_eq!(answer.is_ok(), sent);
        if let Err(error) = answer {
            let refused = Verdict::Rejected(Reason::Deadline);
            assert_eq!(DefaultClassify.error(&*error), refused);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_served_requests_deadline_is_passed_on_and_background_work_has_none() {
    let probe = answering(2);
    let service = PropagateLayer::default().layer(probe.clone());
    let context = CallContext::new().with_deadline(in_time(80 * MS));
    in_context(context, async {
        tokio::time::advance(20 * MS).await;
        service
            .clone()
            .oneshot(due(in_time(90 * MS)))
            .await
            .unwrap();
        without_context(service.oneshot(Request::new(())))
            .await
            .unwrap();
    })
    .await;
    assert_eq!(told(&probe, ENVOY), [Some("60".to_owned()), None]);
}

#[tokio::test(start_paused = true)]
async fn operation_attempt_and_age_are_told_where_configured() {
    let name = HeaderName::from_static;
    let config = PropagateConfig::default()
        .with_operation_header(name("x-operation"))
        .with_attempt_header(name("x-attempt"))
        .with_age_header(name("x-age"));
    let probe = answering(3);
    let propagate = PropagateLayer::new(config).layer(probe.clone());
    let context = CallContext::new().with_operation("order-7");
    in_context(context, async {
        // Nobody numbered the first, and nobody around it said when it began.
        propagate.clone().oneshot(Request::new(())).await.unwrap();
        let later = tower::service_fn(move |mut request: Request<()>| {
            let propagate = propagate.clone();
            async move {
                tokio::time::sleep(40 * MS).await;
                CallState::edit(request.extensions_mut(), |state| {
                    state.set_attempt(Attempt { number: 2, max: 3 });
                });
                propagate.clone().oneshot(request.clone()).await?;
                CallState::edit(request.extensions_mut(), |state| {
                    *state = CallState::new();
                    state.set_attempt(Attempt { number: 3, max: 3 });
                });
                propagate.oneshot(request).await
            }
        });
        let stack = ServiceBuilder::new()
            .layer(CallLimitLayer::default())
            .service(later);
        stack.oneshot(Request::new(())).await.unwrap();
    })
    .await;
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(told(&probe, "x-attempt"), ["1", "2", "3"].map(some));
    assert_eq!(told(&probe, "x-age"), [some("0"), some("40"), None]);
    assert_eq!(
        told(&probe, "x-operation"),
        [(); 3].map(|()| some("order-7"))
    );
}

#[tokio::test(start_paused = true)]
async fn grpc_is_told_in_grpcs_words_and_endless_time_not_at_all() {
    let probe = answering(2);
    let service = PropagateLayer::default().layer(probe.clone());
    for deadline in [
        in_time(40_000 * MS),
        Deadline::after(Instant::now().into_std(), Duration::MAX),
    ] {
        let mut request = due(deadline);
        let kind = "application/grpc".parse().unwrap();
        request.headers_mut().insert(header::CONTENT_TYPE, kind);
        service.clone().oneshot(request).await.unwrap();
    }
    assert_eq!(
        told(&probe, "grpc-timeout"),
        [Some("40000000u".to_owned()), None]
    );
}

// On the real clock: a second reading would find 999.9 ms left, and tell 999.
#[tokio::test]
async fn one_reading_of_the_clock_serves_the_layers_that_a_call_passes_at_once() {
    let probe = answering(1);
    let stack = ServiceBuilder::new()
        .layer(CallLimitLayer::new(1_000 * MS))
        .layer(AttemptTimeoutLayer::default())
        .layer(PropagateLayer::default())
        .service(probe.clone());
    stack.oneshot(Request::new(())).await.unwrap();
    assert_eq!(told(&probe, ENVOY), [Some("1000".to_owned())]);
}

// O-10: what is told is what the attempt gets.
#[tokio::test(start_paused = true)]
async fn an_attempt_is_told_its_own_time_where_that_is_less_than_the_calls() {
    let probe = answering(3);
    let stack = ServiceBuilder::new()
        .layer(AttemptTimeoutLayer::new(100 * MS))
        .layer(PropagateLayer::default())
        .service(probe.clone());
    let request = due(in_time(250 * MS));
    for _ in 0..3 {
        stack.clone().oneshot(request.clone()).await.unwrap();
        tokio::time::advance(100 * MS).await;
    }
    let want = ["100", "100", "50"].map(|left| Some(left.to_owned()));
    assert_eq!(told(&probe, ENVOY), want);
}
