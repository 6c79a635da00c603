-- Leases and answers of steadfast-idempotency's leased mode: one row for each operation, which lives
-- until expires_at whatever its phase. Times are by this database's own clock.
CREATE SEQUENCE IF NOT EXISTS steadfast_lease_fence;

CREATE TABLE IF NOT EXISTS steadfast_lease (
    namespace             text        COLLATE "C" NOT NULL,
    scope                 text        COLLATE "C" NOT NULL,
    key                   text        COLLATE "C" NOT NULL,
    version               smallint    NOT NULL,
    phase                 text        NOT NULL
        CHECK (phase IN ('free', 'running', 'unknown', 'done')),
    fence                 bigint      NOT NULL,
    attempt               integer     NOT NULL,
    owner                 bytea       NOT NULL,
    until                 timestamptz NOT NULL,
    fingerprint_algorithm smallint    NOT NULL,
    fingerprint           bytea       NOT NULL,
    method                text,
    path                  text,
    status                smallint,
    headers               bytea,
    body                  bytea,
    expires_at            timestamptz NOT NULL,
    CONSTRAINT steadfast_lease_key PRIMARY KEY (namespace, scope, key)
);

CREATE INDEX IF NOT EXISTS steadfast_lease_expires_at ON steadfast_lease (expires_at);
