use http::{Method, StatusCode};
use sqlx::Row;
use sqlx::postgres::PgRow;
use std::time::Duration;
use steadfast_idempotency::server::{Answer, Fingerprint, Operation, Record};

use super::literal::{Bytea, Nullable, Text};
use super::mark::Mark;

/// Selects a record, whether it has expired or not: what is still there is honoured.
pub(super) fn select(operation: &Operation) -> String {
    format!(
        "SELECT version, fingerprint_algorithm, fingerprint, method, path, status, headers, body {}",
        of(operation)
    )
}

/// A row without columns where there is a record: cheaper to plan, and mostly there is none.
pub(super) fn exists(operation: &Operation) -> String {
    format!("SELECT {}", of(operation))
}

fn of(operation: &Operation) -> String {
    format!(
        "FROM steadfast_idempotency WHERE namespace = {} AND scope = {} AND key = {}",
        Text(operation.namespace()),
        Text(operation.scope()),
        Text(operation.key().as_str()),
    )
}

/// Times by the database's clock: processes need not agree on theirs. Not by `now()`, which is when
/// the transaction began.
///
/// Outside of the transaction that `mark` belongs to the version is NULL, which the table refuses.
pub(super) fn insert(
    operation: &Operation,
    record: &Record,
    retention: Duration,
    mark: Mark,
) -> String {
    let answer = &record.answer;
    let origin = answer.origin.as_ref();
    // Ten thousand years are inside of PostgreSQL's calendar. Up, since retention is a minimum.
    let more = u64::from(retention.subsec_nanos() > 0);
    let retention = retention.as_secs().saturating_add(more);
    let retention = retention.min(10_000 * 366 * 24 * 60 * 60);
    format!(
        "INSERT INTO steadfast_idempotency (namespace, scope, key, version, \
         fingerprint_algorithm, fingerprint, method, path, status, headers, body, \
         created_at, expires_at) \
         VALUES ({}, {}, {}, CASE WHEN {mark} THEN {} END, {}, {}, {}, {}, {}, {}, {}, \
         clock_timestamp(), clock_timestamp() + interval '{retention} s')",
        Text(operation.namespace()),
        Text(operation.scope()),
        Text(operation.key().as_str()),
        record.version,
        record.fingerprint.algorithm(),
        Bytea(record.fingerprint.digest()),
        Nullable(origin.map(|(method, _)| method.as_str())),
        Nullable(origin.map(|(_, path)| path.as_str())),
        answer.status.as_u16(),
        Bytea(&answer.encode_headers()),
        Bytea(&answer.body),
    )
}

pub(super) fn decode(row: &PgRow) -> Result<Record, sqlx::Error> {
    let version: i16 = row.try_get("version")?;
    if u16::try_from(version) != Ok(Record::VERSION) {
        let rule = format!("record version {version} is not {}", Record::VERSION);
        return Err(sqlx::Error::Decode(rule.into()));
    }
    let digest: Vec<u8> = row.try_get("fingerprint")?;
    let digest: [u8; 32] = digest
        .try_into()
        .map_err(|_| sqlx::Error::Decode("a stored fingerprint is not 32 bytes".into()))?;
    let algorithm: i16 = row.try_get("fingerprint_algorithm")?;
    let algorithm = u8::try_from(algorithm).map_err(|e| sqlx::Error::Decode(e.into()))?;
    let status: i16 = row.try_get("status")?;
    let status = u16::try_from(status).map_err(|e| sqlx::Error::Decode(e.into()))?;
    let status = StatusCode::from_u16(status).map_err(|e| sqlx::Error::Decode(e.into()))?;
    let headers: Vec<u8> = row.try_get("headers")?;
    let headers = Answer::decode_headers(&headers).map_err(|e| sqlx::Error::Decode(e.into()))?;
    let body: Vec<u8> = row.try_get("body")?;
    let mut answer = Answer::new(status, body).with_headers(headers);
    let method: Option<String> = row.try_get("method")?;
    let path: Option<String> = row.try_get("path")?;
    if let (Some(method), Some(path)) = (method, path) {
        let method = Method::try_from(method.as_str());
        let method = method.map_err(|e| sqlx::Error::Decode(e.into()))?;
        answer = answer.with_origin(method, path);
    }
    Ok(Record::new(Fingerprint::new(algorithm, digest), answer))
}
