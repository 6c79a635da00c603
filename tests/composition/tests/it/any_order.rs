//! A wrong order can be unwise, but it must not be unsafe: in any order of any of the layers
//! nothing hangs, nothing leaks, no call has two keys, and all is well again once the peer is.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use proptest::prelude::*;
use proptest::sample::subsequence;
use steadfast::admission::BulkheadLayer;
use steadfast::{BoxError, Reason};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};
use tower::util::BoxCloneService;
use tower::{Layer, Service, ServiceExt};

use crate::pairs::asked::*;
use crate::pairs::layers::*;
use crate::pairs::peer::{Does, Peer};
use crate::pairs::till::Till;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Fallback,
    CallLimit,
    Key,
    Retry,
    Budget,
    Cooldown,
    Bulkhead,
    Breaker,
    Hint,
    AttemptTimeout,
    BodyTimeout,
    Propagation,
}

const ALL: [Kind; 12] = [
    Kind::Fallback,
    Kind::CallLimit,
    Kind::Key,
    Kind::Retry,
    Kind::Budget,
    Kind::Cooldown,
    Kind::Bulkhead,
    Kind::Breaker,
    Kind::Hint,
    Kind::AttemptTimeout,
    Kind::BodyTimeout,
    Kind::Propagation,
];

type AnyBody = UnsyncBoxBody<Bytes, BoxError>;
/// A stack that has forgotten what it is made of.
type Any = BoxCloneService<Request<AnyBody>, Response<AnyBody>, BoxError>;

fn forget<B>(body: B) -> AnyBody
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    body.map_err(Into::into).boxed_unsync()
}

fn any<S, R>(service: S) -> Any
where
    S: Service<Request<AnyBody>, Response = Response<R>, Error: Into<BoxError>, Future: Send>
        + Clone
        + Send
        + 'static,
    R: Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let service = service.map_response(|answer: Response<R>| answer.map(forget));
    BoxCloneService::new(service.map_err(Into::into))
}

/// Has one layer more around it.
fn around(kind: Kind, inner: Any, places: &BulkheadLayer) -> Any {
    match kind {
        Kind::Fallback => any(fallback(Reason::Cooldown).layer(inner)),
        Kind::CallLimit => any(call_limit(20 * SECOND).layer(inner)),
        Kind::Key => any(key().layer(inner)),
        Kind::Retry => {
            any(retry().layer(inner.map_request(|request: Request<_>| request.map(forget))))
        }
        Kind::Budget => any(budget(&Till::open()).layer(inner)),
        Kind::Cooldown => any(cooldown().layer(inner)),
        Kind::Bulkhead => any(places.layer(inner)),
        Kind::Breaker => any(breaker().layer(inner)),
        Kind::Hint => any(hint_layer().layer(inner)),
        Kind::AttemptTimeout => any(attempt_timeout(3 * SECOND).layer(inner)),
        Kind::BodyTimeout => any(body_timeout(2 * SECOND).layer(inner)),
        Kind::Propagation => any(propagate().layer(inner)),
    }
}

/// A call: when it begins, whether it is a POST, and when its caller leaves.
#[derive(Clone, Copy, Debug)]
struct Call {
    begins: Duration,
    is_post: bool,
    leaves: Duration,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let leaves = prop_oneof![0..9_000_u64, Just(100_000)];
    let call = (0..6_000_u64, prop::bool::ANY, leaves).prop_map(|(begins, is_post, leaves)| Call {
        begins: Duration::from_millis(begins),
        is_post,
        leaves: Duration::from_millis(leaves),
    });
    prop::collection::vec(call, 1..6)
}

fn deeds() -> impl Strategy<Value = Vec<Does>> {
    let does = prop_oneof![
        3 => Just(Does::Says(503)),
        1 => Just(Does::Says(404)),
        1 => Just(Does::Tells(429, "retry-after", "4")),
        1 => Just(Does::Tells(503, "retry-after", "0.5")),
        2 => (0..5_000_u64).prop_map(|millis| Does::Late(Duration::from_millis(millis))),
        1 => Just(Does::Hangs),
        1 => Just(Does::FallsSilent),
        1 => Just(Does::FailsSilently),
        1 => Just(Does::Breaks),
        1 => Just(Does::Refused(Reason::CircuitOpen)),
    ];
    prop::collection::vec(does, 0..9)
}

fn request(number: usize, is_post: bool) -> Request<AnyBody> {
    let request: Request<Full<Bytes>> = if is_post { post() } else { get() };
    let mut request = due(60 * SECOND, request).map(forget);
    let number = HeaderValue::from(number);
    request.headers_mut().insert("call", number);
    request
}

/// A call, its answer read, until its caller leaves.
async fn make(stack: Any, number: usize, call: Call) {
    sleep(call.begins).await;
    let answered = async {
        let answer = stack.oneshot(request(number, call.is_post)).await?;
        answer.into_body().collect().await.map(drop)
    };
    // Any end is one.
    let _ = timeout(call.leaves, answered).await;
}

async fn holds_in_this_order(order: Vec<Kind>, deeds: Vec<Does>, calls: Vec<Call>) {
    let peer = Peer::new(deeds.into_iter().chain([Does::Says(200)]));
    let places = queue(SECOND);
    let mut stack = any(peer.clone());
    for kind in order.iter().rev() {
        stack = around(*kind, stack, &places);
    }
    let made = calls.iter().enumerate();
    let made = made.map(|(number, call)| spawn_local(make(stack.clone(), number, *call)));
    for call in made.collect::<Vec<_>>() {
        call.await.unwrap();
    }

    // Nothing is left of calls that have ended.
    let handle = places.handle();
    assert_eq!((in_flight(&places), handle.waiting("a.example")), (0, 0));
    // Retries are retry's, and no layer makes a call of its own.
    let attempts = if order.contains(&Kind::Retry) { 3 } else { 1 };
    assert!(peer.calls() <= calls.len() * attempts);
    let mut keys = BTreeMap::new();
    let sent = peer.told("call").into_iter().zip(peer.told(KEY));
    for (call, key) in sent.filter(|(_, key)| !key.is_empty()) {
        assert_eq!(keys.entry(call).or_insert_with(|| key.clone()), &key);
    }
    for told in peer.told(TIME).iter().filter(|told| !told.is_empty()) {
        assert!(
            (1..=60_000).contains(&told.parse::<u64>().unwrap()),
            "{told}"
        );
    }

    // The longest pause and the longest open time are over, and the peer is well.
    peer.recover();
    sleep(100 * SECOND).await;
    for number in 100..103 {
        let answer = stack.clone().oneshot(request(number, false)).await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.into_body().collect().await.unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn in_any_order_nothing_hangs_or_leaks_and_all_is_well_again(
        order in subsequence(ALL.to_vec(), 0..=12).prop_shuffle(),
        deeds in deeds(),
        calls in calls(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        LocalSet::new().block_on(&runtime, holds_in_this_order(order, deeds, calls));
    }
}
