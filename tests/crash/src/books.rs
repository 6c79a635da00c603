//! The application's tables: what really happened.

use std::future::Future;

use sqlx::{PgConnection, PgPool, SqliteConnection, SqlitePool};
use steadfast_idempotency::server::Answer;

/// How many accounts share the orders.
pub(crate) const ACCOUNTS: i32 = 8;

/// One row to write. No constraint on its key: duplicates are to be seen.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) key: &'a str,
    pub(crate) account: i32,
    pub(crate) cents: i64,
    pub(crate) run: &'a str,
    pub(crate) fate: &'static str,
}

/// A connection on which an effect is written: a row, and the balance of its account.
pub(crate) trait Books: Send {
    /// Answers the row's number.
    fn charge(
        &mut self,
        entry: &Entry<'_>,
    ) -> impl Future<Output = Result<i64, sqlx::Error>> + Send;
}

const INSERT: &str = "INSERT INTO charge (key, account, cents, run, fate)
    VALUES ($1, $2, $3, $4, $5) RETURNING receipt";
const UPDATE: &str = "UPDATE account SET cents = cents - $1 WHERE id = $2";
const TABLES: &str = "
    CREATE TABLE charge (receipt ID PRIMARY KEY, key TEXT NOT NULL, account INTEGER NOT NULL,
        cents BIGINT NOT NULL, run TEXT NOT NULL, fate TEXT NOT NULL);
    CREATE TABLE account (id INTEGER PRIMARY KEY, cents BIGINT NOT NULL);";

macro_rules! books {
    ($connection:ty) => {
        impl Books for $connection {
            async fn charge(&mut self, entry: &Entry<'_>) -> Result<i64, sqlx::Error> {
                let receipt = sqlx::query_scalar(INSERT)
                    .bind(entry.key)
                    .bind(entry.account)
                    .bind(entry.cents)
                    .bind(entry.run)
                    .bind(entry.fate)
                    .fetch_one(&mut *self)
                    .await?;
                sqlx::query(UPDATE)
                    .bind(entry.cents)
                    .bind(entry.account)
                    .execute(&mut *self)
                    .await?;
                Ok(receipt)
            }
        }
    };
}

books!(SqliteConnection);
books!(PgConnection);

/// All that is in the database after a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) charges: Vec<Charge>,
    pub(crate) records: Vec<Stored>,
    /// Each account's balance, which began at nothing.
    pub(crate) balances: Vec<(i32, i64)>,
}

/// A row of the ledger.
#[derive(Clone, Debug)]
pub(crate) struct Charge {
    pub(crate) receipt: i64,
    pub(crate) key: String,
    pub(crate) account: i32,
    pub(crate) cents: i64,
    pub(crate) run: String,
    pub(crate) fate: String,
}

/// A stored answer.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) key: String,
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) body: String,
}

const CHARGES: &str = "SELECT receipt, key, account, cents, run, fate FROM charge";
const BALANCES: &str = "SELECT id, cents FROM account";
const RECORDS: &str = "SELECT key, CAST(status AS INTEGER), headers, body
    FROM steadfast_idempotency WHERE namespace = 'default'";

type ChargeRow = (i64, String, i32, i64, String, String);
type StoredRow = (String, i32, Vec<u8>, Vec<u8>);

fn charge((receipt, key, account, cents, run, fate): ChargeRow) -> Charge {
    Charge {
        receipt,
        key,
        account,
        cents,
        run,
        fate,
    }
}

fn stored((key, status, headers, body): StoredRow) -> Stored {
    let headers = Answer::decode_headers(&headers).unwrap_or_default();
    let location = headers.get("location");
    Stored {
        key,
        status: u16::try_from(status).unwrap_or_default(),
        location: location.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
        body: String::from_utf8_lossy(&body).into_owned(),
    }
}

/// Where the books are.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    /// The ledger's file, and that of the keys, which is another one in one flawed design.
    Sqlite {
        ledger: SqlitePool,
        keys: SqlitePool,
    },
    Postgres(PgPool),
}

impl Database {
    /// Creates the application's tables.
    pub(crate) async fn create(&self) -> Result<(), sqlx::Error> {
        let accounts: String = (0..ACCOUNTS)
            .map(|id| format!("INSERT INTO account VALUES ({id}, 0);"))
            .collect();
        let sql = |id: &str| {
            let sql = format!("{TABLES}{accounts}").replace("ID PRIMARY", id);
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        };
        match self {
            Self::Sqlite { ledger, .. } => {
                sql("INTEGER PRIMARY").execute(ledger).await?;
            }
            Self::Postgres(pool) => {
                sql("BIGSERIAL PRIMARY").execute(pool).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn snapshot(&self) -> Result<Snapshot, sqlx::Error> {
        let (charges, balances, records): (Vec<ChargeRow>, _, Vec<StoredRow>) = match self {
            Self::Sqlite { ledger, keys } => (
                sqlx::query_as(CHARGES).fetch_all(ledger).await?,
                sqlx::query_as(BALANCES).fetch_all(ledger).await?,
                sqlx::query_as(RECORDS).fetch_all(keys).await?,
            ),
            Self::Postgres(pool) => (
                sqlx::query_as(CHARGES).fetch_all(pool).await?,
                sqlx::query_as(BALANCES).fetch_all(pool).await?,
                sqlx::query_as(RECORDS).fetch_all(pool).await?,
            ),
        };
        Ok(Snapshot {
            charges: charges.into_iter().map(charge).collect(),
            records: records.into_iter().map(stored).collect(),
            balances,
        })
    }
}
