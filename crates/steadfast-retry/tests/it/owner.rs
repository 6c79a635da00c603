//! One retry owner, over several hops.

use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderName};
use steadfast_core::{
    Attempt, CallContext, CallState, Event, OwnerMark, Reason, Report, in_context, without_context,
};
use steadfast_kit::{Chunks, Step};
use steadfast_retry::{RetryConfig, RetryOverrides, UpstreamOwner};
use tower::ServiceExt;

use crate::stack::*;

fn marking() -> RetryConfig {
    config().with_owner_mark(OwnerMark::default())
}

fn marks(probe: &Inner) -> Vec<Option<String>> {
    let of = |headers: &HeaderMap| Some(headers.get("steadfast-attempt")?.to_str().unwrap().into());
    probe.heads().iter().map(|head| of(&head.headers)).collect()
}

fn some(marks: &[&str]) -> Vec<Option<String>> {
    marks.iter().map(|mark| Some((*mark).to_owned())).collect()
}

fn second() -> Attempt {
    Attempt { number: 2, max: 3 }
}

#[tokio::test(start_paused = true)]
async fn each_attempt_tells_the_next_hop_who_repeats_it() {
    let (retry, probe) = stack(marking(), (0..3).map(|_| reset()).collect());
    retry.oneshot(get()).await.unwrap_err();
    assert_eq!(marks(&probe), some(&["1/3", "2/3", "3/3"]));
}

#[tokio::test(start_paused = true)]
async fn nobody_is_told_unless_it_is_wanted() {
    let (retry, probe) = stack(config(), vec![Step::answer(ok("hi"))]);
    retry.oneshot(get()).await.unwrap();
    assert_eq!(marks(&probe), [None]);
}

/// Then the hop below is free to repeat, and no mark of somebody else's may keep it from that.
#[tokio::test(start_paused = true)]
async fn a_layer_that_cannot_repeat_a_call_does_not_claim_it() {
    let forwarded = |mut request: http::Request<Chunks>| {
        let mark = http::HeaderValue::from_static("1/9");
        request.headers_mut().insert("steadfast-attempt", mark);
        request
    };
    let body = || post(Chunks::of(["body"]).with_exact_size());
    for (config, request) in [
        (marking().with_max_attempts(attempts(1)), forwarded(get())),
        (marking().with_replay_limit(0), forwarded(body())),
    ] {
        let (retry, probe) = stack(config, vec![Step::answer(ok("hi"))]);
        retry.oneshot(request).await.unwrap();
        assert_eq!(marks(&probe), [None]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_mark_counts_by_the_calls_own_attempts() {
    let (retry, probe) = stack(marking(), vec![reset(), Step::answer(ok("hi"))]);
    let mut request = get();
    let overrides = RetryOverrides::new().with_max_attempts(attempts(2));
    request.extensions_mut().insert(overrides);
    retry.oneshot(request).await.unwrap();
    assert_eq!(marks(&probe), some(&["1/2", "2/2"]));
}

#[tokio::test(start_paused = true)]
async fn the_header_has_the_name_it_is_given() {
    let name = HeaderName::from_static("x-attempt");
    let config = config().with_owner_mark(OwnerMark::new(name.clone()));
    let (retry, probe) = stack(config, vec![Step::answer(ok("hi"))]);
    retry.oneshot(get()).await.unwrap();
    assert_eq!(probe.heads()[0].headers[&name], "1/3");
}

/// O-15 over hops: while a request is served whose caller repeats it, calls go out once.
#[tokio::test(start_paused = true)]
async fn a_call_made_for_a_request_that_its_caller_repeats_passes_through() {
    let passed = Arc::new(Mutex::new(0));
    let seen = passed.clone();
    let config = marking().with_observer(move |event: &Event<'_>| {
        *seen.lock().unwrap() += u32::from(matches!(event, Event::PassedThrough(_)));
    });
    let (retry, probe) = stack(config, vec![status(503, "busy")]);
    let context = CallContext::new().with_owner(second());
    let answer = in_context(context, retry.oneshot(get())).await.unwrap();
    let report = answer.extensions().get::<Report>().unwrap();
    assert_eq!(
        (report.attempts, report.reason),
        (1, Some(Reason::OwnedUpstream))
    );
    // Else the hop after this one would repeat it.
    assert_eq!(marks(&probe), some(&["2/3"]));
    assert_eq!(*passed.lock().unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn work_of_its_own_repeats_all_the_same() {
    let context = || CallContext::new().with_owner(second());
    let twice = || vec![status(503, "busy"), Step::answer(ok("hi"))];
    let (ignoring, probe) = stack(config().with_upstream_owner(UpstreamOwner::Ignore), twice());
    in_context(context(), ignoring.oneshot(get()))
        .await
        .unwrap();
    assert_eq!(probe.calls(), 2);
    let (retry, probe) = stack(config(), twice());
    let background = async { without_context(retry.oneshot(get())).await };
    in_context(context(), background).await.unwrap();
    assert_eq!(probe.calls(), 2);
}

/// A layer that passes a call through leaves what its owner said of it.
#[tokio::test(start_paused = true)]
async fn the_owners_word_on_the_attempt_stands() {
    let seen = Arc::new(Mutex::new(None));
    let sink = seen.clone();
    let step = Step::call(move |request: Sent| async move {
        *sink.lock().unwrap() = CallState::of(request.extensions()).and_then(CallState::attempt);
        Ok(ok("hi"))
    });
    let (retry, _) = stack(config(), vec![step]);
    let mut request = get();
    CallState::edit(request.extensions_mut(), |state| {
        state.set_attempt(second());
        state.set_owned();
    });
    retry.oneshot(request).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), Some(second()));
}
