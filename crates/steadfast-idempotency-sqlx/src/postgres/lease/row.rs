use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::PgRow;
use steadfast_idempotency::server::leased::{Claimed, Fence, Seen};
use steadfast_idempotency::server::{Fingerprint, Record};

use super::sql::VERSION;
use crate::postgres::row;

/// What stands in a row after a claim.
pub(super) fn claimed(row: &PgRow, asked: &Fingerprint) -> Result<Claimed, sqlx::Error> {
    check(row)?;
    let mine: bool = row.try_get("mine")?;
    let phase: String = row.try_get("phase")?;
    let (fence, attempt) = (fence(row)?, attempt(row)?);
    if phase == "running" && mine {
        return Ok(Claimed::Held { fence, attempt });
    }
    if fingerprint(row)? != *asked {
        return Ok(Claimed::Reused);
    }
    match phase.as_str() {
        "running" => Ok(Claimed::Running { left: left(row)? }),
        "unknown" => Ok(Claimed::Unknown { fence, attempt }),
        "done" => record(row).map(Claimed::Done),
        _ => Err(unreadable("a free row was not taken")),
    }
}

/// What a look sees of a row.
pub(super) fn seen(row: &PgRow) -> Result<Option<Seen>, sqlx::Error> {
    check(row)?;
    let phase: String = row.try_get("phase")?;
    Ok(match phase.as_str() {
        "running" => Some(Seen::Running {
            fingerprint: fingerprint(row)?,
            fence: fence(row)?,
            attempt: attempt(row)?,
            left: left(row)?,
        }),
        "unknown" => Some(Seen::Unknown {
            fingerprint: fingerprint(row)?,
            fence: fence(row)?,
            attempt: attempt(row)?,
        }),
        "done" => Some(Seen::Done(record(row)?)),
        _ => None,
    })
}

/// A row of a later layout is neither run nor read.
pub(super) fn check(row: &PgRow) -> Result<(), sqlx::Error> {
    let version: i16 = row.try_get("version")?;
    match version {
        VERSION => Ok(()),
        _ => Err(unreadable("its layout is another version's")),
    }
}

fn record(row: &PgRow) -> Result<Record, sqlx::Error> {
    row::decode(row)
}

fn fingerprint(row: &PgRow) -> Result<Fingerprint, sqlx::Error> {
    let digest: Vec<u8> = row.try_get("fingerprint")?;
    let digest: Result<[u8; 32], _> = digest.try_into();
    let algorithm: i16 = row.try_get("fingerprint_algorithm")?;
    match (u8::try_from(algorithm), digest) {
        (Ok(algorithm), Ok(digest)) => Ok(Fingerprint::new(algorithm, digest)),
        _ => Err(unreadable("its fingerprint is none")),
    }
}

fn fence(row: &PgRow) -> Result<Fence, sqlx::Error> {
    let fence: i64 = row.try_get("fence")?;
    let fence = u64::try_from(fence).map_err(|_| unreadable("its fence is negative"))?;
    Ok(Fence::new(fence))
}

fn attempt(row: &PgRow) -> Result<u32, sqlx::Error> {
    let attempt: i32 = row.try_get("attempt")?;
    u32::try_from(attempt).map_err(|_| unreadable("its attempt is negative"))
}

fn left(row: &PgRow) -> Result<Duration, sqlx::Error> {
    let left: i64 = row.try_get("left_ms")?;
    Ok(Duration::from_millis(u64::try_from(left).unwrap_or(0)))
}

fn unreadable(what: &'static str) -> sqlx::Error {
    sqlx::Error::Decode(format!("a stored lease cannot be read: {what}").into())
}
