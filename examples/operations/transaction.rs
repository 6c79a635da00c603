use std::error::Error;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool};
use steadfast::budget::RateBudget;
use steadfast::retry::{RetryConfig, operation};
use steadfast::{Delivery, Safety, Verdict};

/// Takes 30 from an account while somebody else holds the database's write lock.
pub(crate) async fn transfer() -> Result<(i64, u32), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let options = SqliteConnectOptions::new()
        .filename(directory.path().join("bank.sqlite"))
        .journal_mode(SqliteJournalMode::Wal)
        // Do not wait inside the database: the policy waits, with jitter and within its limits.
        .busy_timeout(Duration::ZERO)
        .create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await?;
    sqlx::raw_sql("CREATE TABLE account (balance INTEGER); INSERT INTO account VALUES (100);")
        .execute(&pool)
        .await?;

    let other = pool.begin_with("BEGIN IMMEDIATE").await?;
    let other = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(40)).await;
        other.rollback().await
    });

    let attempts = AtomicU32::new(0);
    // The whole transaction is the unit: what was read before the lock was lost is read again.
    // Unprotected, since a second transfer would be a second effect; a transaction that never
    // began has had none.
    let config = RetryConfig::default()
        .with_max_attempts(NonZeroU32::MAX)
        // A share of the traffic is no measure for one operation.
        .with_budget(RateBudget::default());
    let balance = operation(config, Safety::Unprotected, meaning, async |_| {
        attempts.fetch_add(1, Ordering::Relaxed);
        let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
        let take = "UPDATE account SET balance = balance - 30 RETURNING balance";
        let balance: i64 = sqlx::query_scalar(take).fetch_one(&mut *tx).await?;
        tx.commit().await?;
        Ok(balance)
    })
    .named("transfer")
    .await?;
    other.await??;
    Ok((balance, attempts.into_inner()))
}

/// SQLITE_BUSY (5) at `BEGIN IMMEDIATE`: nothing was done. Anything else may have been a commit.
fn meaning(result: &Result<i64, sqlx::Error>) -> Verdict {
    match result {
        Ok(_) => Verdict::Success,
        Err(error) => match error.as_database_error().and_then(|error| error.code()) {
            Some(code) if code == "5" => Verdict::Transient(Delivery::Unsent),
            _ => Verdict::Transient(Delivery::Unknown),
        },
    }
}
