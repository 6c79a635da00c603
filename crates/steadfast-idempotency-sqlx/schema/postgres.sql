-- What steadfast-idempotency keeps. Namespace, scope and key stay three columns, so that no two
-- triples can meet; they are compared as bytes. Times are by this database's own clock.
CREATE TABLE IF NOT EXISTS steadfast_idempotency (
    namespace             text        COLLATE "C" NOT NULL,
    scope                 text        COLLATE "C" NOT NULL,
    key                   text        COLLATE "C" NOT NULL,
    version               smallint    NOT NULL,
    fingerprint_algorithm smallint    NOT NULL,
    fingerprint           bytea       NOT NULL,
    method                text,
    path                  text,
    status                smallint    NOT NULL,
    headers               bytea       NOT NULL,
    body                  bytea       NOT NULL,
    created_at            timestamptz NOT NULL,
    expires_at            timestamptz NOT NULL,
    CONSTRAINT steadfast_idempotency_key PRIMARY KEY (namespace, scope, key)
);

CREATE INDEX IF NOT EXISTS steadfast_idempotency_expires_at
    ON steadfast_idempotency (expires_at);
