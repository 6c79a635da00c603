use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::PgRow;
use steadfast_idempotency::server::{Began, Operation, Record, StoreError, TxStore};

use super::PgStore;
use super::lock;
use super::mark::Mark;
use super::row;
use super::tx::PgTx;

/// How long `resolve` waits for the end of the transaction whose COMMIT got lost; below the engine's
/// store timeout.
const RESOLVE_PATIENCE: Duration = Duration::from_secs(4);
/// How often the server looks, during a statement, whether its client is still there.
const CLIENT_CHECK: Duration = Duration::from_secs(1);

impl TxStore for PgStore {
    type Tx = PgTx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        let found = self.connections.first_batch(row::select(operation)).await;
        let (held, rows) = found.map_err(unavailable)?;
        held.give_back();
        decode(rows.first())
    }

    /// A round trip that `begin` makes as well.
    fn finds_first(&self) -> bool {
        false
    }

    /// One round trip. The lock answers at once; the second look is a statement of its own, since a
    /// statement sees what was committed before it began, and so before it had the lock.
    async fn begin(&self, operation: &Operation) -> Result<Began<PgTx>, StoreError> {
        let mark = Mark(lock::of_operation(operation));
        let sql = format!("{}; {}", self.begin_sql(mark), row::exists(operation));
        let begun = self.connections.first_batch(sql).await;
        let (held, rows) = begun.map_err(unavailable)?;
        let insert = None;
        let mut tx = PgTx { held, mark, insert };
        // Whoever holds the lock: what is recorded is done.
        let is_done = rows.len() > 1;
        if is_true(rows.first(), "locked")? && !is_done {
            return Ok(Began::Fresh(tx));
        }
        let look = match is_done {
            true => format!("{}; ROLLBACK", row::select(operation)),
            false => "ROLLBACK".to_owned(),
        };
        let rows = tx.batch(look).await.map_err(unavailable)?;
        tx.held.give_back();
        match decode(rows.first())? {
            Some(record) => Ok(Began::Done(record)),
            // If it was done it was swept between the two looks: the next one finds a new key.
            None => Ok(Began::Busy),
        }
    }

    /// By another transaction at the same operation. Whoever takes it in between wins: then this
    /// one's record is refused, and the winner's is found.
    async fn rollback_effect(&self, tx: &mut PgTx) -> Result<(), StoreError> {
        let rows = end(tx, &format!("; {}", self.begin_sql(tx.mark))).await?;
        match is_true(rows.last(), "locked")? {
            true => Ok(()),
            false => Err(StoreError::unavailable(
                "another process took the operation",
            )),
        }
    }

    /// Keeps the record for the commit, which writes it.
    async fn record(
        &self,
        tx: &mut PgTx,
        operation: &Operation,
        record: &Record,
        retention: Duration,
    ) -> Result<(), StoreError> {
        tx.insert = Some(row::insert(operation, record, retention, tx.mark));
        Ok(())
    }

    /// One round trip. The first statement that fails keeps those behind it from running.
    async fn commit(&self, mut tx: PgTx) -> Result<(), StoreError> {
        let sql = match tx.insert.take() {
            Some(insert) => format!("{insert}; COMMIT"),
            None => "COMMIT".to_owned(),
        };
        match tx.batch(sql).await {
            Ok(_) => {
                tx.held.give_back();
                Ok(())
            }
            Err(error) => {
                // Where the server answered, its lock is freed before anybody resolves.
                if error.as_database_error().is_some() && tx.batch("ROLLBACK").await.is_ok() {
                    tx.held.give_back();
                }
                Err(ended_or_unavailable(error))
            }
        }
    }

    async fn rollback(&self, mut tx: PgTx) -> Result<(), StoreError> {
        end(&mut tx, "").await?;
        tx.held.give_back();
        Ok(())
    }

    /// The operation's lock is taken first: having it shows that the lost commit has ended.
    async fn resolve(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        let sql = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
             SET LOCAL lock_timeout = {}; \
             SELECT pg_advisory_xact_lock({}); \
             {}; COMMIT",
            RESOLVE_PATIENCE.as_millis(),
            lock::of_operation(operation),
            row::select(operation),
        );
        let (held, rows) = self
            .connections
            .first_batch(sql)
            .await
            .map_err(unavailable)?;
        held.give_back();
        decode(rows.get(1))
    }
}

impl PgStore {
    /// READ COMMITTED, because a snapshot of the whole transaction would be as old as its lock.
    fn begin_sql(&self, mark: Mark) -> String {
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
             SELECT set_config('statement_timeout', '{}', true), \
             set_config('idle_in_transaction_session_timeout', '{}', true), \
             set_config('client_connection_check_interval', '{}', true), \
             {}, pg_try_advisory_xact_lock({}) AS locked",
            self.statement_limit.as_millis(),
            self.idle_limit.as_millis(),
            CLIENT_CHECK.as_millis(),
            mark.set(),
            mark.0,
        )
    }
}

/// Rolls back, and then what `next` says, in one round trip; finds out whether the transaction was
/// still there.
///
/// After a failed statement of the handler nothing can be asked, and nothing needs to be: what it
/// wrote is rolled back by then, unless it also ended the transaction by hand before.
async fn end(tx: &mut PgTx, next: &str) -> Result<Vec<PgRow>, StoreError> {
    let (mark, rollback) = (tx.mark, format!("ROLLBACK{next}"));
    let rows = tx.batch(format!("SELECT {mark} AS ours; {rollback}")).await;
    match rows {
        Ok(rows) if is_true(rows.first(), "ours")? => Ok(rows),
        Ok(_) => Err(StoreError::transaction_ended("its mark is gone")),
        Err(error) if is_code(&error, ABORTED) => tx.batch(rollback).await.map_err(unavailable),
        Err(error) => Err(unavailable(error)),
    }
}

/// What a handler could have written into a column of this name is no concern: the rows are ours.
fn is_true(row: Option<&PgRow>, column: &str) -> Result<bool, StoreError> {
    let value = row.map(|row| row.try_get::<Option<bool>, _>(column));
    let value = value.unwrap_or(Err(sqlx::Error::RowNotFound));
    value.map(|it| it == Some(true)).map_err(unavailable)
}

fn decode(row: Option<&PgRow>) -> Result<Option<Record>, StoreError> {
    row.map(row::decode).transpose().map_err(unavailable)
}

/// Without the server's detail, which tells the key.
fn unavailable(error: sqlx::Error) -> StoreError {
    match error.as_database_error() {
        Some(database) => StoreError::unavailable(told(database)),
        None => StoreError::unavailable(error),
    }
}

fn told(error: &dyn sqlx::error::DatabaseError) -> String {
    let code = error.code().unwrap_or_default();
    format!("{} (SQLSTATE {code})", error.message())
}

/// in_failed_sql_transaction: it can only be rolled back, because a statement of the handler failed.
const ABORTED: &str = "25P02";
const NOT_NULL_VIOLATION: &str = "23502";

fn is_code(error: &sqlx::Error, code: &str) -> bool {
    let database = error.as_database_error();
    database.is_some_and(|error| error.code().as_deref() == Some(code))
}

/// The mark was not there, or the handler went on as if none of its statements had failed.
fn ended_or_unavailable(error: sqlx::Error) -> StoreError {
    let table = error.as_database_error().and_then(|error| error.table());
    let unmarked = is_code(&error, NOT_NULL_VIOLATION) && table == Some("steadfast_idempotency");
    match error.as_database_error() {
        Some(database) if unmarked || is_code(&error, ABORTED) => {
            StoreError::transaction_ended(told(database))
        }
        _ => unavailable(error),
    }
}
