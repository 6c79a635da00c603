//! tower's refusals, of which our layers know only what they are told.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use steadfast::admission::BreakerLayer;
use steadfast::retry::tower_compat::TowerClassify;
use steadfast::retry::{ReplayBody, RetryLayer};
use steadfast::{CircuitState, DefaultClassify, Failure, Outcome, Reason};
use tower::balance::p2c::Balance;
use tower::buffer::BufferLayer;
use tower::discover::ServiceList;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::load::{CompleteOnResponse, PendingRequests};
use tower::load_shed::LoadShedLayer;
use tower::load_shed::error::Overloaded;

use crate::pairs::asked::*;
use crate::pairs::layers::*;
use crate::pairs::peer::{Does, Peer};
use crate::pairs::stack;

fn one() -> GlobalConcurrencyLimitLayer {
    GlobalConcurrencyLimitLayer::new(1)
}

/// Nobody else could know: it is an error as any other, until it is said what it means.
#[tokio::test(start_paused = true)]
async fn what_load_shed_refuses_is_an_unknown_outcome_unless_retry_is_told_better() {
    let told =
        || RetryLayer::new(retry_config().with_classify(TowerClassify::new(DefaultClassify)));
    for (layer, reason, outcome) in [
        (retry(), Reason::Unprotected, Outcome::Unknown),
        (told(), Reason::BulkheadFull, Outcome::NotApplied),
    ] {
        let peer = Peer::new([Does::Hangs]);
        let stack = stack!(layer, LoadShedLayer::new(), one(); peer);
        let _holds = stack.begin(get()).await;
        let error = stack.ask(post()).await.unwrap_err();
        let report = Failure::find(&*error).unwrap().report();
        assert_eq!((report.reason, report.outcome), (Some(reason), outcome));
        assert!(is_caused_by::<Overloaded>(&error));
        assert_eq!(peer.calls(), 1);
    }
}

/// Inside the breaker one's own shedding would be the peer's failure.
#[tokio::test(start_paused = true)]
async fn load_shed_inside_a_breaker_opens_it_unless_it_is_told_better() {
    let told =
        || BreakerLayer::new(breaker_config().with_classify(TowerClassify::new(DefaultClassify)));
    for (circuit, opened) in [
        (breaker(), CircuitState::Open),
        (told(), CircuitState::Closed),
    ] {
        let peer = Peer::new([Does::Hangs]);
        let stack = stack!(circuit.clone(), LoadShedLayer::new(), one(); peer);
        let _holds = stack.begin(get()).await;
        assert!(stack.ask(get()).await.is_err());
        assert_eq!(state(&circuit), opened);
    }
    // Outside it sheds what the breaker never sees.
    let (peer, circuit) = (Peer::new([Does::Hangs]), breaker());
    let stack = stack!(LoadShedLayer::new(), circuit.clone(), one(); peer);
    let _holds = stack.begin(get()).await;
    let error = stack.ask(get()).await.unwrap_err();
    assert!(is_caused_by::<Overloaded>(&error));
    assert_eq!(state(&circuit), CircuitState::Closed);
}

/// A breaker is ready whatever its circuit: the balancer goes on choosing an endpoint that refuses.
#[tokio::test(start_paused = true)]
async fn a_breaker_inside_a_balancers_endpoint_does_not_send_calls_elsewhere() {
    let circuits = [breaker(), breaker()];
    circuits[0].handle().hold_open("a.example");
    let peer = Peer::new([Does::Says(200)]);
    let endpoints = circuits
        .map(|circuit| PendingRequests::new(stack!(circuit; peer), CompleteOnResponse::default()));
    let balance = Balance::new(ServiceList::new::<Request<ReplayBody<Full<Bytes>>>>(
        endpoints,
    ));
    let client = tower::ServiceBuilder::new()
        .layer(retry())
        .layer(BufferLayer::new(16))
        .service(balance);
    let mut refused = 0;
    for _ in 0..64 {
        match client.ask(get()).await {
            Ok(head) => assert_eq!(head.status, 200),
            refusal => {
                assert_eq!(reason(&refusal), Some(Reason::CircuitOpen));
                refused += 1;
            }
        }
    }
    assert!((1..64).contains(&refused), "{refused}");
    assert_eq!(peer.calls(), 64 - refused);
}
