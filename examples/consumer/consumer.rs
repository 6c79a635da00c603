use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::StatusCode;
use steadfast::idempotency::Key;
use steadfast::idempotency::server::outbox::Message;
use steadfast::idempotency::server::{
    Answer, Engine, Executed, FingerprintHasher, Operation, TransactionSlot, Worked,
};
use steadfast::sqlx::{SqliteOutbox, SqliteStore, SqliteTx};
use steadfast::{BoxError, Draws};

use crate::queue::{Delivery, Queue};

/// How a message is worked on.
#[derive(Clone)]
pub(crate) enum Work {
    /// In a transaction of its own; the acknowledgement follows.
    Plain(SqliteStore),
    /// Under the message's key: charge, receipt and key commit together.
    Keyed(Engine<SqliteStore>),
}

/// So many consumers die between their work and its acknowledgement.
const DEATHS: f64 = 0.2;
/// A message that is not acknowledged in this time is delivered again.
const HIDDEN: Duration = Duration::from_millis(60);

/// Consumes until the queue is empty.
pub(crate) async fn consume(
    queue: Queue,
    work: Work,
    fate: Arc<Mutex<Draws>>,
) -> Result<(), BoxError> {
    while !queue.is_empty().await? {
        let Some(delivery) = queue.take(HIDDEN).await? else {
            tokio::time::sleep(HIDDEN / 6).await;
            continue;
        };
        match &work {
            Work::Plain(store) => plain(store, &delivery).await?,
            Work::Keyed(engine) => {
                if !keyed(engine, &delivery).await {
                    continue;
                }
            }
        }
        let draw = fate.lock().map_or(1.0, |mut fate| fate.draw());
        if draw < DEATHS {
            // Dead: the work is done, the queue does not know, and delivers it again.
            continue;
        }
        queue.acknowledge(delivery.id).await?;
    }
    Ok(())
}

const CHARGE: &str = "INSERT INTO charge VALUES (?1, 4200)";

async fn plain(store: &SqliteStore, delivery: &Delivery) -> Result<(), BoxError> {
    let mut tx = store.writer().begin().await?;
    sqlx::query(CHARGE)
        .bind(delivery.id)
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(())
}

/// Whether the message is done, now or by an earlier delivery.
async fn keyed(engine: &Engine<SqliteStore>, delivery: &Delivery) -> bool {
    let Ok(key) = Key::parse(&delivery.id.to_string()) else {
        return false;
    };
    let operation = Operation::new("charges", "queue", &key);
    let body = FingerprintHasher::new("order").field(&delivery.body);
    // The receipt's own key: the same at every delivery, and nobody else's.
    let receipt = Message::new(
        "receipts",
        operation.child("receipt"),
        delivery.body.clone(),
    );
    let id = delivery.id;
    let work = move |slot: TransactionSlot<SqliteTx>| async move {
        match charge(slot, id, receipt).await {
            Ok(()) => Worked::commit(true, Answer::new(StatusCode::OK, "charged")),
            Err(_) => Worked::discard(false),
        }
    };
    let executed = engine.execute(operation, body.finish(), work).await;
    match executed {
        Ok(Executed::Ran(done)) => done,
        Ok(_) => true,
        // Running at another consumer, or the file is busy: it is delivered again.
        Err(_) => false,
    }
}

async fn charge(
    slot: TransactionSlot<SqliteTx>,
    id: i64,
    receipt: Message,
) -> Result<(), BoxError> {
    let mut tx = slot.take()?;
    sqlx::query(CHARGE).bind(id).execute(&mut **tx).await?;
    SqliteOutbox::push(&mut tx, &receipt).await?;
    Ok(())
}
