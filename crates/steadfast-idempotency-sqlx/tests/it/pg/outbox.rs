use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use http::StatusCode;
use steadfast_idempotency::OperationKey;
use steadfast_idempotency::server::outbox::{
    Dispatch, Message, Outbox, Relay, RelayConfig, Relayed, Sending,
};
use steadfast_idempotency::server::{Answer, Executed, TransactionSlot, Worked};
use steadfast_idempotency_sqlx::{PgOutbox, PgTx};

use super::PgLedger;
use super::ledger::insert;
use crate::ledger::{operation, payload};

#[derive(Clone, Default)]
struct Peer(Arc<Mutex<Vec<String>>>);

impl Peer {
    fn arrive(&self, dispatch: &Dispatch) {
        let message = &dispatch.message;
        let body = String::from_utf8_lossy(&message.body);
        self.0
            .lock()
            .unwrap()
            .push(format!("{} {body}", message.key));
    }

    fn arrived(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

async fn with_outbox() -> Option<(PgLedger, PgOutbox)> {
    let ledger = PgLedger::new().await?;
    let outbox = PgOutbox::beside(&ledger.pool);
    outbox.migrate().await.unwrap();
    Some((ledger, outbox))
}

async fn push(ledger: &PgLedger, key: &str) {
    let mut tx = ledger.pool.begin().await.unwrap();
    let key = OperationKey::parse(key).unwrap();
    let message = Message::new("warehouse", key, "ship it");
    PgOutbox::push(&mut tx, &message).await.unwrap();
    tx.commit().await.unwrap();
}

/// Every lease is over.
async fn pass(ledger: &PgLedger) {
    let all = sqlx::query("UPDATE steadfast_outbox SET due_at = now() - interval '1 day'");
    all.execute(&ledger.pool).await.unwrap();
}

async fn charge(ledger: &PgLedger, fails: bool) -> bool {
    let operation = operation("k");
    let message = Message::new("warehouse", operation.child("ship"), "it's ; a \\ body");
    let engine = ledger.engine();
    let work = move |slot: TransactionSlot<PgTx>| async move {
        let mut tx = slot.take().unwrap();
        insert(&mut tx, "k", 42).await.unwrap();
        PgOutbox::push(&mut tx, &message).await.unwrap();
        match fails {
            true => Worked::discard(()),
            false => Worked::commit((), Answer::new(StatusCode::OK, "charged")),
        }
    };
    let executed = engine.execute(operation, payload(), work).await.unwrap();
    matches!(executed, Executed::Ran(()))
}

#[tokio::test]
async fn a_message_is_sent_if_its_effect_committed_and_not_otherwise() {
    let Some((ledger, outbox)) = with_outbox().await else {
        return;
    };
    let peer = Peer::default();
    let sender = peer.clone();
    let send = move |dispatch: Dispatch| {
        sender.arrive(&dispatch);
        std::future::ready(Sending::Sent)
    };
    let relay = Relay::new(outbox.clone(), send, RelayConfig::default());
    assert!(charge(&ledger, true).await);
    assert_eq!(relay.step().await.unwrap(), Relayed::Idle);
    assert!(charge(&ledger, false).await);
    assert!(!charge(&ledger, false).await, "a repeat says nothing again");
    assert_eq!(relay.step().await.unwrap(), Relayed::Sent);
    pass(&ledger).await;
    assert_eq!(relay.step().await.unwrap(), Relayed::Idle);
    let child = operation("k").child("ship");
    assert_eq!(peer.arrived(), [format!("{child} it's ; a \\ body")]);
    assert_eq!(ledger.charges().await, 1);
    assert_eq!(outbox.sweep(Duration::ZERO, 10).await.unwrap(), 1);
}

#[tokio::test]
async fn a_relay_that_dies_at_any_await_sends_the_same_key_and_bytes_again_or_nothing() {
    let Some((ledger, outbox)) = with_outbox().await else {
        return;
    };
    for polls in 1..20 {
        push(&ledger, &format!("order-{polls}")).await;
        let peer = Peer::default();
        let sender = peer.clone();
        let send = move |dispatch: Dispatch| {
            let sender = sender.clone();
            async move {
                sender.arrive(&dispatch);
                tokio::task::yield_now().await;
                Sending::Sent
            }
        };
        let relay = Relay::new(outbox.clone(), send, RelayConfig::default());
        {
            let mut step = Box::pin(relay.step());
            for _ in 0..polls {
                let polled =
                    std::future::poll_fn(|cx| Poll::Ready(step.as_mut().poll(cx).is_ready()));
                if polled.await {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        pass(&ledger).await;
        while relay.step().await.unwrap() != Relayed::Idle {
            pass(&ledger).await;
        }
        let arrived = peer.arrived();
        let distinct: HashSet<_> = arrived.iter().collect();
        assert_eq!(distinct.len(), 1, "one key and one body, {polls}");
        assert!(arrived.len() <= 2, "{polls}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_relays_that_share_a_table_one_sends_each_message() {
    let Some((ledger, outbox)) = with_outbox().await else {
        return;
    };
    for at in 0..40 {
        push(&ledger, &format!("order-{at}")).await;
    }
    let peer = Peer::default();
    let relays = (0..4).map(|_| {
        let (outbox, peer) = (outbox.clone(), peer.clone());
        tokio::spawn(async move {
            let send = move |dispatch: Dispatch| {
                peer.arrive(&dispatch);
                std::future::ready(Sending::Sent)
            };
            let relay = Relay::new(outbox, send, RelayConfig::default());
            while relay.step().await.unwrap() != Relayed::Idle {}
        })
    });
    let relays: Vec<_> = relays.collect();
    for relay in relays {
        relay.await.unwrap();
    }
    let arrived = peer.arrived();
    let distinct: HashSet<_> = arrived.iter().collect();
    assert_eq!((arrived.len(), distinct.len()), (40, 40));
}

#[tokio::test]
async fn what_is_buried_keeps_its_history_and_only_its_last_taker_has_a_say() {
    let Some((ledger, outbox)) = with_outbox().await else {
        return;
    };
    push(&ledger, "order-7").await;
    let minute = Duration::from_secs(60);
    let first = outbox.take(minute).await.unwrap().unwrap();
    assert_eq!(outbox.take(minute).await.unwrap(), None);
    outbox.bury(&first).await.unwrap();
    let buried = outbox.buried(10).await.unwrap();
    assert_eq!(buried, std::slice::from_ref(&first));
    assert!(outbox.redrive(first.id).await.unwrap());
    assert!(!outbox.redrive(first.id).await.unwrap());
    let second = outbox.take(minute).await.unwrap().unwrap();
    assert_eq!((second.attempt, &second.message), (2, &first.message));
    outbox.bury(&first).await.unwrap();
    outbox.postpone(&first, Duration::ZERO).await.unwrap();
    assert!(outbox.buried(10).await.unwrap().is_empty());
    assert_eq!(outbox.take(minute).await.unwrap(), None);
    outbox.postpone(&second, Duration::ZERO).await.unwrap();
    let third = outbox.take(minute).await.unwrap().unwrap();
    assert_eq!(third.attempt, 3);
    // That it arrived is true whoever says so.
    outbox.sent(&first).await.unwrap();
    pass(&ledger).await;
    assert_eq!(outbox.take(minute).await.unwrap(), None);
}
