//! The ledger: the table that says what really happened.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};

/// One account an order, so an account with two rows was charged twice. `key` is NULL where the
/// server knows no keys.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS charge (
        receipt_id INTEGER PRIMARY KEY,
        account    TEXT    NOT NULL,
        key        TEXT,
        cents      INTEGER NOT NULL
    ) STRICT";

/// Several server processes write to one file and take turns. On a slow machine a turn may be
/// long, and a server that gave up would be a fault that the plan does not know.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Charge {
    pub(crate) account: String,
    pub(crate) cents: i64,
}

/// What it gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    pub(crate) receipt: String,
}

impl Receipt {
    pub(crate) fn of_id(id: i64) -> Self {
        Self {
            receipt: format!("ch_{id:04}"),
        }
    }
}

/// The ledger's own count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) charges: u32,
    /// Charges of an account beyond its first.
    pub(crate) duplicates: u32,
    /// What those cost.
    pub(crate) overcharged_cents: i64,
}

/// How the file is opened: `FULL`, since a charge that was confirmed must survive a power cut.
pub(crate) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(PATIENCE)
}

/// One connection to the ledger, which is made where it is missing.
pub(crate) async fn open(path: &Path) -> Result<SqlitePool, sqlx::Error> {
    let pool = SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options(path))
        .await?;
    sqlx::query(SCHEMA).execute(&pool).await?;
    Ok(pool)
}

/// Writes a charge: the effect that must happen once an order. It commits with the transaction
/// that the connection is in, at once if it is in none. Answers the receipt's id.
pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    key: Option<&str>,
    charge: &Charge,
) -> Result<i64, sqlx::Error> {
    let done = sqlx::query("INSERT INTO charge (account, key, cents) VALUES (?1, ?2, ?3)")
        .bind(&charge.account)
        .bind(key)
        .bind(charge.cents)
        .execute(connection)
        .await?;
    Ok(done.last_insert_rowid())
}

/// Counts, in the table itself and nowhere else.
pub(crate) async fn count(ledger: &SqlitePool) -> Result<Count, sqlx::Error> {
    let (charges, duplicates, overcharged_cents) = sqlx::query_as(
        "WITH account AS (
             SELECT count(*) AS charges, sum(cents) AS paid, min(cents) AS owed
             FROM charge GROUP BY account)
         SELECT coalesce(sum(charges), 0), coalesce(sum(charges - 1), 0),
                coalesce(sum(paid - owed), 0)
         FROM account",
    )
    .fetch_one(ledger)
    .await?;
    Ok(Count {
        charges,
        duplicates,
        overcharged_cents,
    })
}
