use std::time::Duration;

use steadfast_idempotency::server::leased::{Claim, Fence, OnExpired, Terms};
use steadfast_idempotency::server::{Fingerprint, Operation, Record};

use crate::postgres::literal::{Bytea, Nullable, Text};
use crate::postgres::lock;

/// A simple query of several statements is a transaction. Each statement needs a look of its own at
/// what others committed, whatever the database's default.
const READ_COMMITTED: &str = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE";
const COLUMNS: &str = "version, phase, fence, attempt, fingerprint_algorithm, fingerprint, method, \
    path, status, headers, body, \
    greatest(0, ceil(extract(epoch FROM until - clock_timestamp()) * 1000))::bigint AS left_ms";
/// The layout of a row.
pub(super) const VERSION: i16 = 1;

/// Takes what can be taken, or else gives up what was lost; then tells what stands there.
///
/// Of what is done the row is not even locked, so that replays write nothing.
pub(super) fn claim(operation: &Operation, claim: &Claim) -> String {
    let whose = whose(operation);
    let owner = Bytea(claim.id.as_bytes());
    let (algorithm, digest) = fingerprint(&claim.fingerprint);
    let takes_over = claim.on_expired == OnExpired::TakeOver;
    let until = later(claim.terms.lease());
    let expires = later(claim.terms.lifetime());
    let same = format!("kept.phase = 'running' AND kept.owner = {owner}");
    let lost = "(kept.phase = 'unknown' OR kept.phase = 'running' \
        AND kept.until <= clock_timestamp())";
    let of_this =
        format!("kept.fingerprint_algorithm = {algorithm} AND kept.fingerprint = {digest}");
    format!(
        "{READ_COMMITTED}; \
         INSERT INTO steadfast_lease AS kept (namespace, scope, key, version, phase, fence, \
         attempt, owner, until, fingerprint_algorithm, fingerprint, expires_at) \
         SELECT {identity}, {VERSION}, 'running', nextval('steadfast_lease_fence'), 1, {owner}, \
         {until}, {algorithm}, {digest}, {expires} \
         WHERE NOT EXISTS (SELECT FROM steadfast_lease WHERE {whose} AND phase = 'done') \
         ON CONFLICT ON CONSTRAINT steadfast_lease_key DO UPDATE SET phase = 'running', \
         fence = CASE WHEN {same} THEN kept.fence \
         ELSE greatest(kept.fence + 1, nextval('steadfast_lease_fence')) END, \
         attempt = CASE WHEN {same} THEN kept.attempt ELSE kept.attempt + 1 END, \
         owner = excluded.owner, until = {until}, \
         fingerprint_algorithm = excluded.fingerprint_algorithm, \
         fingerprint = excluded.fingerprint, expires_at = {expires} \
         WHERE kept.version = {VERSION} \
         AND (kept.phase = 'free' OR {same} OR {takes_over} AND {of_this} AND {lost}); \
         UPDATE steadfast_lease AS kept SET phase = 'unknown', expires_at = {expires} \
         WHERE {whose} AND kept.version = {VERSION} AND NOT {takes_over} \
         AND kept.phase = 'running' AND kept.until <= clock_timestamp() AND {of_this}; \
         SELECT {COLUMNS}, owner = {owner} AS mine FROM steadfast_lease WHERE {whose}",
        identity = identity(operation),
    )
}

/// One word of the claim with this fence; then whether its row is in the phase that it asked for.
pub(super) struct Say<'a> {
    pub(super) operation: &'a Operation,
    pub(super) fence: Fence,
    pub(super) terms: Terms,
}

impl Say<'_> {
    pub(super) fn renew(&self) -> String {
        let until = later(self.terms.lease());
        self.sql("running", &format!(", until = {until}"), "'running'")
    }

    pub(super) fn complete(&self, record: &Record) -> String {
        let answer = &record.answer;
        let origin = answer.origin.as_ref();
        let (algorithm, digest) = fingerprint(&record.fingerprint);
        let kept = format!(
            ", fingerprint_algorithm = {algorithm}, fingerprint = {digest}, method = {}, \
             path = {}, status = {}, headers = {}, body = {}",
            Nullable(origin.map(|(method, _)| method.as_str())),
            Nullable(origin.map(|(_, path)| path.as_str())),
            answer.status.as_u16(),
            Bytea(&answer.encode_headers()),
            Bytea(&answer.body),
        );
        self.sql("done", &kept, "'running', 'unknown'")
    }

    pub(super) fn release(&self) -> String {
        self.sql("free", "", "'running', 'unknown'")
    }

    pub(super) fn abandon(&self) -> String {
        self.sql("unknown", "", "'running', 'unknown'")
    }

    fn sql(&self, phase: &str, set: &str, from: &str) -> String {
        let (whose, fence) = (whose(self.operation), self.fence);
        let expires = later(self.terms.lifetime());
        format!(
            "{READ_COMMITTED}; \
             UPDATE steadfast_lease SET phase = '{phase}', expires_at = {expires}{set} \
             WHERE {whose} AND version = {VERSION} AND fence = {fence} AND phase IN ({from}); \
             SELECT version FROM steadfast_lease \
             WHERE {whose} AND fence = {fence} AND phase = '{phase}'"
        )
    }
}

pub(super) fn find(operation: &Operation) -> String {
    format!(
        "SELECT {COLUMNS} FROM steadfast_lease WHERE {}",
        whose(operation)
    )
}

pub(super) fn sweep(limit: u32) -> String {
    // The lock is a subquery without a reference to the row, so it is asked for once.
    format!(
        "WITH swept AS (DELETE FROM steadfast_lease WHERE ctid = ANY (ARRAY( \
         SELECT ctid FROM steadfast_lease WHERE (SELECT pg_try_advisory_xact_lock({})) \
         AND expires_at < clock_timestamp() \
         ORDER BY expires_at LIMIT {limit} FOR UPDATE SKIP LOCKED)) RETURNING 1) \
         SELECT count(*) FROM swept",
        lock::of_lease_sweeper()
    )
}

fn identity(operation: &Operation) -> String {
    format!(
        "{}, {}, {}",
        Text(operation.namespace()),
        Text(operation.scope()),
        Text(operation.key().as_str()),
    )
}

fn whose(operation: &Operation) -> String {
    format!(
        "namespace = {} AND scope = {} AND key = {}",
        Text(operation.namespace()),
        Text(operation.scope()),
        Text(operation.key().as_str()),
    )
}

fn fingerprint(fingerprint: &Fingerprint) -> (u8, Bytea<'_>) {
    (fingerprint.algorithm(), Bytea(fingerprint.digest()))
}

/// Not by `now()`, which is when the transaction began: it may have waited for another.
fn later(duration: Duration) -> String {
    let millis = duration.as_millis();
    format!("clock_timestamp() + {millis} * interval '1 millisecond'")
}
