use std::time::Duration;

use steadfast_core::{CallKey, CallState, Deadline, Reason, Rejected};
use steadfast_idempotency::client::{KeyClash, KeyLayer, KeySource};
use steadfast_idempotency::{IDEMPOTENCY_KEY, KeyFormat};
use tokio::time::Instant;
use tower::{Layer, ServiceExt};

use super::{Peer, charge, mark, payments, sent, with_header, with_operation};

#[tokio::test]
async fn a_callers_header_is_kept_byte_for_byte() {
    for (line, marked) in [("\"k\";v=1", "k"), ("k", "k"), ("\"a\\\"b\"", "a\"b")] {
        let raw = payments().with_format(KeyFormat::Raw);
        for config in [payments(), raw.with_source(KeySource::RequireExplicit)] {
            let sent = sent(config, with_header(charge(), line)).await;
            assert_eq!(sent.headers()[IDEMPOTENCY_KEY], line);
            assert_eq!(mark(&sent).unwrap().as_str(), marked);
        }
    }
}

#[tokio::test]
async fn an_operation_key_and_a_header_that_say_the_same_agree() {
    let request = with_operation(with_header(charge(), "order-7"), "order-7");
    let sent = sent(payments(), request).await;
    assert_eq!(sent.headers()[IDEMPOTENCY_KEY], "order-7");
}

#[tokio::test]
async fn an_operation_key_and_another_header_are_a_clash_and_nothing_is_sent() {
    let peer = Peer::default();
    let client = KeyLayer::new(payments()).layer(peer.clone());
    let request = with_operation(with_header(charge(), "order-8"), "order-7");
    let error = client.oneshot(request).await.unwrap_err();
    assert!(error.is::<KeyClash>());
    assert_eq!(
        Rejected::find(&*error).unwrap().reason(),
        Reason::KeyRequired
    );
    assert!(peer.seen().is_empty());
}

#[tokio::test]
async fn a_header_that_holds_no_key_is_kept_and_does_not_protect_the_call() {
    let twice = with_header(with_header(charge(), "a"), "b");
    for request in [
        with_header(charge(), ""),
        with_header(charge(), "\"a"),
        twice,
    ] {
        let headers = request.headers().clone();
        let sent = sent(payments(), request).await;
        assert_eq!(sent.headers(), &headers);
        assert_eq!(mark(&sent), None);
    }
}

#[tokio::test]
async fn a_payment_without_a_key_of_its_own_is_refused_and_not_sent() {
    let peer = Peer::default();
    let config = payments().with_source(KeySource::RequireExplicit);
    let client = KeyLayer::new(config).layer(peer.clone());
    for request in [charge(), with_header(charge(), "")] {
        let error = client.clone().oneshot(request).await.unwrap_err();
        assert_eq!(
            *Rejected::find(&*error).unwrap(),
            Rejected::new(Reason::KeyRequired)
        );
    }
    assert!(peer.seen().is_empty());
    client
        .oneshot(with_operation(charge(), "order-7"))
        .await
        .unwrap();
    assert_eq!(peer.keys(), ["order-7"]);
}

#[tokio::test(start_paused = true)]
async fn a_key_lives_from_the_calls_start_and_no_longer_than_its_owner_says() {
    let day = Duration::from_secs(24 * 60 * 60);
    tokio::time::advance(Duration::from_secs(7)).await;
    let now = Instant::now().into_std();
    let config = payments().with_lifetime(day);
    let want = Deadline::after(now, day);
    assert_eq!(
        mark(&sent(config.clone(), charge()).await)
            .unwrap()
            .lives_until(),
        want
    );

    let soon = Deadline::after(now, Duration::from_secs(60));
    let late = Deadline::after(now, 2 * day);
    for (stored, end, want) in [
        ("order-7", soon, soon),
        ("order-7", late, want),
        ("order-7", Deadline::NONE, want),
        ("order-8", soon, want),
    ] {
        let mut request = with_operation(charge(), "order-7");
        let known = CallKey::new(stored).with_lives_until(end);
        CallState::edit(request.extensions_mut(), |state| state.set_key(known));
        let sent = sent(config.clone(), request).await;
        assert_eq!(mark(&sent).unwrap().as_str(), "order-7");
        assert_eq!(mark(&sent).unwrap().lives_until(), want, "{stored} {end:?}");
    }
}
