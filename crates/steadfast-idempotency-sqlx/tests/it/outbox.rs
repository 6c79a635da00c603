use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use http::StatusCode;
use steadfast_idempotency::OperationKey;
use steadfast_idempotency::server::outbox::{
    Dispatch, Message, Outbox, Relay, RelayConfig, Relayed, Sending,
};
use steadfast_idempotency::server::{Answer, Executed, TransactionSlot, Worked};
use steadfast_idempotency_sqlx::{SqliteOutbox, SqliteTx};

use crate::ledger::{Ledger, count, operation, payload};

/// The other side: what arrived, with which key and bytes.
#[derive(Clone, Default)]
struct Peer(Arc<Mutex<Vec<Arrived>>>);

/// A key and its bytes.
type Arrived = (String, Vec<u8>);

impl Peer {
    fn arrive(&self, dispatch: &Dispatch) {
        let message = &dispatch.message;
        let arrived = (message.key.to_string(), message.body.to_vec());
        self.0.lock().unwrap().push(arrived);
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.0.lock().unwrap().clone()
    }
}

async fn with_outbox() -> (Ledger, SqliteOutbox) {
    let ledger = Ledger::new().await;
    let outbox = SqliteOutbox::open(&ledger.store).await.unwrap();
    (ledger, outbox)
}

/// A protected charge that tells the warehouse, or fails after it did.
async fn charge(ledger: &Ledger, key: &str, fails: bool) -> bool {
    let operation = operation(key);
    let child = operation.child("ship");
    let engine = ledger.engine();
    let work = move |slot: TransactionSlot<SqliteTx>| async move {
        let mut tx = slot.take().unwrap();
        sqlx::query("INSERT INTO charge VALUES ('x', 42)")
            .execute(&mut **tx)
            .await
            .unwrap();
        let body = format!("ship for {child}");
        let message = Message::new("warehouse", child, body);
        SqliteOutbox::push(&mut tx, &message).await.unwrap();
        match fails {
            true => Worked::discard(()),
            false => Worked::commit((), Answer::new(StatusCode::OK, "charged")),
        }
    };
    let executed = engine.execute(operation, payload(), work).await.unwrap();
    matches!(executed, Executed::Ran(()))
}

async fn push(ledger: &Ledger, key: &str) {
    let mut tx = ledger.store.writer().begin().await.unwrap();
    let key = OperationKey::parse(key).unwrap();
    let message = Message::new("warehouse", key, "ship it");
    SqliteOutbox::push(&mut tx, &message).await.unwrap();
    tx.commit().await.unwrap();
}

/// Every lease is over.
async fn pass(ledger: &Ledger) {
    let all = sqlx::query("UPDATE steadfast_outbox SET due_at = 0");
    all.execute(ledger.store.writer()).await.unwrap();
}

#[tokio::test]
async fn a_message_is_sent_if_its_effect_committed_and_not_otherwise() {
    let (ledger, outbox) = with_outbox().await;
    let peer = Peer::default();
    let sender = peer.clone();
    let relay = Relay::new(
        outbox,
        move |dispatch: Dispatch| {
            sender.arrive(&dispatch);
            std::future::ready(Sending::Sent)
        },
        RelayConfig::default(),
    );
    assert!(charge(&ledger, "k", true).await);
    assert_eq!(relay.step().await.unwrap(), Relayed::Idle);
    assert!(charge(&ledger, "k", false).await);
    assert!(
        !charge(&ledger, "k", false).await,
        "a repeat says nothing again"
    );
    assert_eq!(relay.step().await.unwrap(), Relayed::Sent);
    pass(&ledger).await;
    assert_eq!(relay.step().await.unwrap(), Relayed::Idle);
    let child = operation("k").child("ship").to_string();
    let body = format!("ship for {child}").into_bytes();
    assert_eq!(peer.arrived(), [(child, body)]);
    assert_eq!(ledger.charges().await, 1);
}

#[tokio::test]
async fn a_relay_that_dies_at_any_await_sends_the_same_key_and_bytes_again_or_nothing() {
    let (mut died_before, mut died_between) = (0, 0);
    for polls in 0..40 {
        let (ledger, outbox) = with_outbox().await;
        push(&ledger, "order-7").await;
        let peer = Peer::default();
        let sender = peer.clone();
        let send = move |dispatch: Dispatch| {
            let sender = sender.clone();
            async move {
                tokio::task::yield_now().await;
                sender.arrive(&dispatch);
                tokio::task::yield_now().await;
                Sending::Sent
            }
        };
        let relay = Relay::new(outbox, send, RelayConfig::default());
        let finished = {
            let mut step = Box::pin(relay.step());
            let mut left = polls;
            poll_fn(|cx| {
                if left == 0 {
                    return Poll::Ready(false);
                }
                left -= 1;
                match step.as_mut().poll(cx) {
                    Poll::Ready(step) => {
                        assert_eq!(step.unwrap(), Relayed::Sent);
                        Poll::Ready(true)
                    }
                    Poll::Pending => Poll::Pending,
                }
            })
            .await
        };
        let before = peer.arrived().len();
        died_before += usize::from(!finished && before == 0);
        died_between += usize::from(!finished && before == 1);
        pass(&ledger).await;
        while relay.step().await.unwrap() != Relayed::Idle {
            pass(&ledger).await;
        }
        let arrived = peer.arrived();
        let distinct: HashSet<_> = arrived.iter().collect();
        assert_eq!(distinct.len(), 1, "one key and one body, {polls}");
        assert!(
            arrived.len() <= 2 && (!finished || arrived.len() == 1),
            "{polls}"
        );
    }
    assert!(died_before > 0 && died_between > 0, "both were tried");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_relays_that_share_a_table_one_sends_each_message() {
    let (ledger, outbox) = with_outbox().await;
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
    let mut sent = HashMap::new();
    for (key, _) in peer.arrived() {
        *sent.entry(key).or_insert(0) += 1;
    }
    assert_eq!(sent.len(), 40);
    assert!(sent.values().all(|times| *times == 1), "{sent:?}");
    assert_eq!(outbox.sweep(Duration::ZERO, 0).await.unwrap(), 0);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(outbox.sweep(Duration::ZERO, 30).await.unwrap(), 30);
    assert_eq!(outbox.sweep(Duration::ZERO, 30).await.unwrap(), 10);
}

#[tokio::test]
async fn what_kills_its_sender_is_counted_and_buried_and_its_history_survives() {
    let (ledger, outbox) = with_outbox().await;
    push(&ledger, "order-7").await;
    let config = RelayConfig::default().with_max_attempts(NonZeroU32::new(3).unwrap());
    let send = async |_: Dispatch| -> Sending { panic!("the sender's own") };
    let relay = Relay::new(outbox.clone(), send, config);
    for step in [
        Relayed::Postponed,
        Relayed::Postponed,
        Relayed::Buried,
        Relayed::Idle,
    ] {
        assert_eq!(relay.step().await.unwrap(), step);
        pass(&ledger).await;
    }
    let buried = outbox.buried(10).await.unwrap();
    assert_eq!((buried.len(), buried[0].attempt), (1, 3));
    assert_eq!(buried[0].message.body, "ship it");

    assert!(outbox.redrive(buried[0].id).await.unwrap());
    assert!(!outbox.redrive(buried[0].id).await.unwrap());
    let taken = outbox.take(Duration::from_secs(60)).await.unwrap().unwrap();
    assert_eq!((taken.attempt, &taken.message), (4, &buried[0].message));
    assert_eq!(outbox.take(Duration::from_secs(60)).await.unwrap(), None);

    // Whoever took it before has no say any more, but that it arrived is true whoever says so.
    outbox.bury(&buried[0]).await.unwrap();
    assert!(outbox.buried(10).await.unwrap().is_empty());
    outbox.sent(&buried[0]).await.unwrap();
    pass(&ledger).await;
    assert_eq!(outbox.take(Duration::from_secs(60)).await.unwrap(), None);
}

#[tokio::test]
async fn the_other_sides_hint_is_waited_for() {
    let (ledger, outbox) = with_outbox().await;
    push(&ledger, "order-7").await;
    let hint = Duration::from_secs(100);
    let send = move |_: Dispatch| std::future::ready(Sending::Again(hint));
    let relay = Relay::new(outbox, send, RelayConfig::default());
    assert_eq!(relay.step().await.unwrap(), Relayed::Postponed);
    const LEFT: &str = "SELECT (due_at - CAST(unixepoch('subsec') * 1000 AS INTEGER)) / 1000
        FROM steadfast_outbox";
    let left = count(&ledger.store, LEFT).await;
    assert!((95..=100).contains(&left), "{left}");
}

#[tokio::test]
async fn a_topic_has_a_key_once_and_debug_output_shows_neither_key_nor_body() {
    let (ledger, outbox) = with_outbox().await;
    push(&ledger, "secret-key").await;
    let mut tx = ledger.store.writer().begin().await.unwrap();
    let key = OperationKey::parse("secret-key").unwrap();
    let again = Message::new("warehouse", key, "secret body");
    assert!(SqliteOutbox::push(&mut tx, &again).await.is_err());
    tx.rollback().await.unwrap();
    let taken = outbox.take(Duration::from_secs(60)).await.unwrap().unwrap();
    let shown = format!("{taken:?} {again:?}");
    assert!(
        shown.contains("warehouse") && !shown.contains("secret"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_relay_runs_until_it_is_told_to_stop_and_survives_a_table_that_is_away() {
    let (ledger, outbox) = with_outbox().await;
    push(&ledger, "order-7").await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stop = Mutex::new(Some(stop));
    let peer = Peer::default();
    let sender = peer.clone();
    let send = move |dispatch: Dispatch| {
        sender.arrive(&dispatch);
        if let Some(stop) = stop.lock().unwrap().take() {
            stop.send(()).unwrap();
        }
        std::future::ready(Sending::Sent)
    };
    let config = RelayConfig::default().with_poll(Duration::from_millis(10));
    let away = sqlx::query("ALTER TABLE steadfast_outbox RENAME TO away");
    away.execute(ledger.store.writer()).await.unwrap();
    let relay = Relay::new(outbox, send, config);
    let running = async {
        relay
            .run(async {
                let _ = stopped.await;
            })
            .await;
    };
    let coming = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let back = sqlx::query("ALTER TABLE away RENAME TO steadfast_outbox");
        back.execute(ledger.store.writer()).await.unwrap();
    };
    let both = async { tokio::join!(running, coming) };
    tokio::time::timeout(Duration::from_secs(20), both)
        .await
        .unwrap();
    assert_eq!(peer.arrived().len(), 1);
}
