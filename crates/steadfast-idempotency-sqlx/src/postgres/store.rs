use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::PgRow;
use steadfast_idempotency::server::{Began, Operation, Record, StoreError, TxStore};

use super::PgStore;
use super::lock;
use super::row;
use super::tx::PgTx;

/// Where the handler's writes begin. It is also how a handler that ended the transaction is found
/// out: then the savepoint is gone.
const SAVEPOINT: &str = "SAVEPOINT steadfast_effect";
const UNDO: &str = "ROLLBACK TO SAVEPOINT steadfast_effect";
const RELEASE: &str = "RELEASE SAVEPOINT steadfast_effect";

/// How long `resolve` waits for the end of the transaction whose COMMIT got lost; below the engine's
/// store timeout.
const RESOLVE_PATIENCE: Duration = Duration::from_secs(4);
/// How often the server looks, during a statement, whether its client is still there.
const CLIENT_CHECK: Duration = Duration::from_secs(1);

impl TxStore for PgStore {
    type Tx = PgTx;

    async fn find(&self, operation: &Operation) -> Result<Option<Record>, StoreError> {
        let (held, rows) = self
            .first_batch(row::select(operation))
            .await
            .map_err(unavailable)?;
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
        let begun = self.first_batch(self.begin_sql(operation)).await;
        let (held, rows) = begun.map_err(unavailable)?;
        let locked = rows.first().map(|row| row.try_get::<bool, _>("locked"));
        let locked = locked
            .unwrap_or(Err(sqlx::Error::RowNotFound))
            .map_err(unavailable)?;
        let mut tx = PgTx { held, insert: None };
        // Whoever holds the lock: what is recorded is done.
        let is_done = rows.len() > 1;
        if locked && !is_done {
            return Ok(Began::Fresh(tx));
        }
        let look = match is_done {
            true => format!("{}; ROLLBACK", row::select(operation)),
            false => "ROLLBACK".to_owned(),
        };
        let rows = tx.held.batch(&Arc::from(look)).await.map_err(unavailable)?;
        tx.held.give_back();
        match decode(rows.first())? {
            Some(record) => Ok(Began::Done(record)),
            // If it was done it was swept between the two looks: the next one finds a new key.
            None => Ok(Began::Busy),
        }
    }

    async fn rollback_effect(&self, tx: &mut PgTx) -> Result<(), StoreError> {
        let undone = tx.held.batch(&Arc::from(UNDO)).await;
        undone.map_err(ended_or_unavailable)?;
        Ok(())
    }

    /// Keeps the record for the commit, which writes it.
    async fn record(
        &self,
        tx: &mut PgTx,
        operation: &Operation,
        record: &Record,
        retention: Duration,
    ) -> Result<(), StoreError> {
        tx.insert = Some(row::insert(operation, record, retention));
        Ok(())
    }

    /// One round trip. The first statement that fails keeps those behind it from running.
    async fn commit(&self, mut tx: PgTx) -> Result<(), StoreError> {
        let mut sql = String::from(RELEASE);
        if let Some(insert) = tx.insert.take() {
            let _ = write!(sql, "; {insert}");
        }
        sql.push_str("; COMMIT");
        match tx.held.batch(&Arc::from(sql)).await {
            Ok(_) => {
                tx.held.give_back();
                Ok(())
            }
            Err(error) => {
                // Where the server answered, its lock is freed before anybody resolves.
                if error.as_database_error().is_some()
                    && tx.held.batch(&Arc::from("ROLLBACK")).await.is_ok()
                {
                    tx.held.give_back();
                }
                Err(ended_or_unavailable(error))
            }
        }
    }

    /// To the savepoint first: without it a handler that committed and began anew would pass.
    async fn rollback(&self, mut tx: PgTx) -> Result<(), StoreError> {
        let sql = format!("{UNDO}; ROLLBACK");
        let undone = tx.held.batch(&Arc::from(sql)).await;
        undone.map_err(ended_or_unavailable)?;
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
        let (held, rows) = self.first_batch(sql).await.map_err(unavailable)?;
        held.give_back();
        decode(rows.get(1))
    }
}

impl PgStore {
    fn begin_sql(&self, operation: &Operation) -> String {
        // READ COMMITTED, because a snapshot of the whole transaction would be as old as its lock.
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
             SELECT set_config('statement_timeout', '{}', true), \
             set_config('idle_in_transaction_session_timeout', '{}', true), \
             set_config('client_connection_check_interval', '{}', true), \
             pg_try_advisory_xact_lock({}) AS locked; \
             {}; {SAVEPOINT}",
            self.statement_limit.as_millis(),
            self.idle_limit.as_millis(),
            CLIENT_CHECK.as_millis(),
            lock::of_operation(operation),
            row::exists(operation),
        )
    }
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

/// The savepoint or the transaction is not there, or it can only be rolled back: a statement of the
/// handler failed, and it went on as if not.
fn ended_or_unavailable(error: sqlx::Error) -> StoreError {
    // no_active_sql_transaction, in_failed_sql_transaction, S_E_invalid_specification
    const ENDED: [&str; 3] = ["25P01", "25P02", "3B001"];
    match error.as_database_error() {
        Some(database) if database.code().is_some_and(|code| ENDED.contains(&&*code)) => {
            StoreError::transaction_ended(told(database))
        }
        _ => unavailable(error),
    }
}
