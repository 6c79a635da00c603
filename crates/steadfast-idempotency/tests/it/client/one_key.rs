use std::collections::HashSet;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;
use steadfast_core::{Attempt, BoxError, CallState, Deadline, Reason, Rejected};
use steadfast_idempotency::client::KeyLayer;
use tower::{Layer, Service, ServiceExt};

use super::{Call, Peer, charge, key, mark, payments, sent, with_header, with_operation};

/// Sends three times what it is given, as a retry layer does after a 429 and a reset.
#[derive(Clone)]
struct ThreeAttempts<S>(S);

impl<S> Service<Call> for ThreeAttempts<S>
where
    S: Service<Call, Response = Response<()>, Error: Into<BoxError>> + Clone + 'static,
{
    type Response = Response<()>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<()>, BoxError>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Call) -> Self::Future {
        let inner = self.0.clone();
        Box::pin(async move {
            let max = 3;
            for number in 1..=max {
                let mut copy = request.clone();
                let attempt = Attempt { number, max };
                CallState::edit(copy.extensions_mut(), |state| state.set_attempt(attempt));
                inner.clone().oneshot(copy).await.map_err(Into::into)?;
            }
            Ok(Response::new(()))
        })
    }
}

/// O-35.
#[tokio::test]
async fn all_attempts_of_a_call_carry_one_key() {
    let peer = Peer::default();
    let client = KeyLayer::new(payments()).layer(ThreeAttempts(peer.clone()));
    for request in [
        charge(),
        with_header(charge(), "mine"),
        with_operation(charge(), "order-7"),
    ] {
        let clone = client.clone();
        clone.oneshot(request).await.unwrap();
        let keys = peer.keys();
        assert_eq!(keys.len(), 3);
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 1, "{keys:?}");
    }
}

/// O-35: the wrong order, key layer below the loop, does not send a second key.
#[tokio::test]
async fn a_key_layer_inside_the_retry_loop_makes_no_second_key() {
    let peer = Peer::default();
    let client = ThreeAttempts(KeyLayer::new(payments()).layer(peer.clone()));
    let error = client.clone().oneshot(charge()).await.unwrap_err();
    assert_eq!(
        Rejected::find(&*error).unwrap().reason(),
        Reason::KeyRequired
    );
    assert_eq!(peer.keys().len(), 1);

    for request in [
        with_header(charge(), "mine"),
        with_operation(charge(), "mine"),
    ] {
        client.clone().oneshot(request).await.unwrap();
        assert_eq!(peer.keys(), ["mine"; 3]);
    }
}

/// O-35.
#[tokio::test]
async fn a_new_call_gets_a_new_key_even_with_an_equal_body() {
    let peer = Peer::default();
    let mut client = KeyLayer::new(payments()).layer(peer.clone());
    for _ in 0..50 {
        client.ready().await.unwrap().call(charge()).await.unwrap();
        client.clone().oneshot(charge()).await.unwrap();
    }
    let keys = peer.keys();
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 100);
    for key in keys {
        assert_eq!(uuid::Uuid::parse_str(&key).unwrap().get_version_num(), 4);
    }
}

#[tokio::test]
async fn the_call_is_marked_with_the_key_that_goes_out() {
    for request in [
        charge(),
        with_header(charge(), "mine"),
        with_operation(charge(), "order-7"),
    ] {
        let sent = sent(payments(), request).await;
        assert_eq!(mark(&sent).unwrap().as_str(), key(&sent));
        assert_eq!(mark(&sent).unwrap().lives_until(), Deadline::NONE);
    }
}
