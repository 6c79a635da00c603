//! What is in force around the handler.

use http::HeaderName;
use steadfast_core::{in_current_context, without_context};
use steadfast_deadline::server::InboundTrust;
use steadfast_deadline::{AttemptTimeoutLayer, PropagateLayer};
use tower::{ServiceBuilder, service_fn};

use super::*;

fn config() -> InboundConfig {
    InboundConfig::new()
        .with_trust(InboundTrust::Everything)
        .with_operation_header(HeaderName::from_static("x-request-id"))
}

fn seen(work: impl FnOnce() -> CallContext + Send + 'static) -> (Handler, Arc<Mutex<CallContext>>) {
    let seen = Arc::new(Mutex::new(CallContext::new()));
    let sink = Arc::clone(&seen);
    let handler = Probe::script([Step::call(move |_| async move {
        *sink.lock().unwrap() = work();
        Ok(ok())
    })]);
    (handler, seen)
}

#[tokio::test(start_paused = true)]
async fn the_trusted_say_which_attempt_and_operation_it_is() {
    let mut request = waiting(300);
    request
        .headers_mut()
        .insert("x-request-id", "op-7".parse().unwrap());
    request
        .headers_mut()
        .insert("x-envoy-attempt-count", 2.into());
    for (config, attempt, operation) in [
        (config(), Some(2), Some("op-7")),
        (config().with_trust(InboundTrust::Deadline), None, None),
        (InboundConfig::new(), None, None),
    ] {
        let (handler, seen) = seen(CallContext::current);
        send(&served(config, handler), request.clone()).await;
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen.attempt().map(|attempt| attempt.number), attempt);
        assert_eq!(seen.operation(), operation);
        let end = Deadline::after(Instant::now().into_std(), 290 * MS);
        assert_eq!(seen.deadline(), end);
    }
    assert_eq!(CallContext::current(), CallContext::new());
}

#[tokio::test(start_paused = true)]
async fn only_the_trusted_say_that_somebody_else_repeats_the_call() {
    use steadfast_core::{Allowance, Attempt, Owner, OwnerMark, Ratio};
    let request = |mark: &str| {
        let mut request = waiting(300);
        let mark = mark.parse().unwrap();
        request.headers_mut().insert("steadfast-attempt", mark);
        request
    };
    let second = Some(Owner::from(Attempt { number: 2, max: 3 }));
    let two = std::num::NonZeroU32::new(2).unwrap();
    let half = Allowance::new(two, Ratio::percent(50).unwrap());
    let leaving = second.map(|owner| owner.with_allowance(half));
    let other = OwnerMark::new(http::HeaderName::from_static("x-attempt"));
    for (config, mark, owner) in [
        (config(), "2/3", second),
        (config(), "2/3;left=2;share=50", leaving),
        (config(), "2/3;left=2;share=500", second),
        (config(), "3/2", None),
        (config(), "3/2;left=2;share=50", None),
        (config(), "mine", None),
        (config().with_owner_mark(other), "2/3", None),
        (config().with_trust(InboundTrust::Deadline), "2/3", None),
        (config().with_trust(InboundTrust::Nothing), "2/3", None),
        (InboundConfig::new(), "2/3", None),
        (InboundConfig::new(), "2/3;left=2;share=50", None),
    ] {
        let (handler, seen) = seen(CallContext::current);
        send(&served(config, handler), request(mark)).await;
        assert_eq!(seen.lock().unwrap().owner(), owner, "{mark}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_without_a_deadline_is_in_force_too() {
    let mut request = grpc("1S");
    request.headers_mut().remove("grpc-timeout");
    request
        .headers_mut()
        .insert("grpc-previous-rpc-attempts", 1.into());
    let (handler, seen) = seen(CallContext::current);
    send(&served(config(), handler), request).await;
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.attempt().map(|attempt| attempt.number), Some(2));
    assert_eq!(seen.deadline(), Deadline::NONE);
}

#[tokio::test(start_paused = true)]
async fn what_a_service_does_in_its_call_is_inside_too() {
    let probe = Arc::new(Mutex::new(None));
    let sink = Arc::clone(&probe);
    let handler = service_fn(move |request: Request<()>| {
        let carried = request
            .extensions()
            .get::<CallContext>()
            .map(CallContext::deadline);
        *sink.lock().unwrap() = Some((left(), carried));
        async { Ok::<_, Infallible>(ok()) }
    });
    served(config(), handler)
        .oneshot(waiting(300))
        .await
        .unwrap();
    let end = Deadline::after(Instant::now().into_std(), 290 * MS);
    assert_eq!(*probe.lock().unwrap(), Some((Some(290 * MS), Some(end))));
}

#[tokio::test(start_paused = true)]
async fn spawned_work_keeps_it_by_name_and_background_work_leaves_it() {
    let handler: Handler = Probe::script([Step::call(|_| async {
        let kept = tokio::spawn(in_current_context(async { left() }))
            .await
            .unwrap();
        let plain = tokio::spawn(async { left() }).await.unwrap();
        let background = without_context(async { left() }).await;
        assert_eq!((kept, plain, background), (Some(290 * MS), None, None));
        Ok(ok())
    })]);
    assert_eq!(
        send(&served(config(), handler), waiting(300)).await.status,
        200
    );
}

#[tokio::test(start_paused = true)]
async fn an_outbound_client_passes_on_what_is_left_with_no_code_of_the_handlers() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let next = service_fn(move |request: Request<()>| {
        let value = request
            .headers()
            .get(ENVOY)
            .map(|it| it.to_str().unwrap().to_owned());
        sink.lock().unwrap().push(value);
        async { Ok::<_, tower::BoxError>(ok()) }
    });
    let client = ServiceBuilder::new()
        .layer(AttemptTimeoutLayer::default())
        .layer(PropagateLayer::default())
        .service(next);
    let handler = service_fn(move |_: Request<()>| {
        let client = client.clone();
        async move {
            tokio::time::sleep(40 * MS).await;
            client.oneshot(waiting(99_999)).await
        }
    });
    let service = served(config(), handler);
    service.clone().oneshot(waiting(300)).await.unwrap();
    // Without a caller's deadline the handler's own header is not passed on: it was another hop's.
    service.oneshot(Request::new(())).await.unwrap();
    assert_eq!(*told.lock().unwrap(), [Some("250".to_owned()), None]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_learns_of_the_end_may_say_so_itself() {
    let hangs = service_fn(|_: Request<()>| std::future::pending::<Result<(), tower::BoxError>>());
    let client = AttemptTimeoutLayer::default().layer(hangs);
    let handler = service_fn(move |_: Request<()>| async move {
        client.oneshot(Request::new(())).await.unwrap_err();
        let stale = Response::builder().header("age", 60);
        Ok::<_, Infallible>(stale.body(Body::from("from the cache")).unwrap())
    });
    let before = Instant::now();
    let answer = served(config(), handler)
        .oneshot(waiting(300))
        .await
        .unwrap();
    assert_eq!(
        (answer.status().as_u16(), before.elapsed()),
        (200, 290 * MS)
    );
}
