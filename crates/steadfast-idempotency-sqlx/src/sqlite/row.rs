use http::{Method, StatusCode};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};
use std::time::Duration;
use steadfast_idempotency::server::{Answer, Fingerprint, Operation, Record};

const SELECT: &str = "
    SELECT version, fingerprint_algorithm, fingerprint, method, path, status, headers, body
    FROM steadfast_idempotency WHERE namespace = ?1 AND scope = ?2 AND key = ?3";

// Times by the database's clock: processes need not agree on theirs. The savepoint goes in the same
// call: each one is a way to the connection's thread and back, while others wait for the writer.
const INSERT: &str = "
    RELEASE steadfast_effect;
    INSERT INTO steadfast_idempotency (
        namespace, scope, key, version, fingerprint_algorithm, fingerprint, method, path,
        status, headers, body, created_at, expires_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, unixepoch(), unixepoch() + ?12)";

/// Reads a record, whether it has expired or not: what is still there is honoured.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    operation: &Operation,
) -> Result<Option<Record>, sqlx::Error> {
    let row = sqlx::query(SELECT)
        .bind(operation.namespace())
        .bind(operation.scope())
        .bind(operation.key().as_str())
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(decode).transpose()
}

/// Releases the savepoint and writes the record.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    operation: &Operation,
    record: &Record,
    retention: Duration,
) -> Result<(), sqlx::Error> {
    let answer = &record.answer;
    let (method, path) = answer
        .origin
        .as_ref()
        .map_or((None, None), |(method, path)| {
            (Some(method.as_str()), Some(path.as_str()))
        });
    // Ten thousand years keep the sum inside SQLite's integers.
    // Up, since retention is a minimum; the sweep waits for the second after, since the start is cut.
    let more = u64::from(retention.subsec_nanos() > 0);
    let retention = retention
        .as_secs()
        .saturating_add(more)
        .min(10_000 * 366 * 24 * 60 * 60);
    sqlx::query(INSERT)
        .bind(operation.namespace())
        .bind(operation.scope())
        .bind(operation.key().as_str())
        .bind(i64::from(record.version))
        .bind(i64::from(record.fingerprint.algorithm()))
        .bind(&record.fingerprint.digest()[..])
        .bind(method)
        .bind(path)
        .bind(i64::from(answer.status.as_u16()))
        .bind(answer.encode_headers())
        .bind(&answer.body[..])
        .bind(i64::try_from(retention).unwrap_or(i64::MAX / 2))
        .execute(connection)
        .await?;
    Ok(())
}

fn decode(row: &SqliteRow) -> Result<Record, sqlx::Error> {
    let version: u16 = row.try_get("version")?;
    if version != Record::VERSION {
        let rule = format!("record version {version} is not {}", Record::VERSION);
        return Err(sqlx::Error::Decode(rule.into()));
    }
    let digest: Vec<u8> = row.try_get("fingerprint")?;
    let digest: [u8; 32] = digest
        .try_into()
        .map_err(|_| sqlx::Error::Decode("a stored fingerprint is not 32 bytes".into()))?;
    let status: u16 = row.try_get("status")?;
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
    let fingerprint = Fingerprint::new(row.try_get("fingerprint_algorithm")?, digest);
    Ok(Record::new(fingerprint, answer))
}
