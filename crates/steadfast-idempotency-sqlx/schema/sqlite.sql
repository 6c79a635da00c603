-- What steadfast-idempotency keeps. Namespace, scope and key stay three columns, so that no two
-- triples can meet. Times are whole seconds since 1970 by this database's own clock.
CREATE TABLE IF NOT EXISTS steadfast_idempotency (
    namespace             TEXT    NOT NULL,
    scope                 TEXT    NOT NULL,
    key                   TEXT    NOT NULL,
    version               INTEGER NOT NULL,
    fingerprint_algorithm INTEGER NOT NULL,
    fingerprint           BLOB    NOT NULL,
    method                TEXT,
    path                  TEXT,
    status                INTEGER NOT NULL,
    headers               BLOB    NOT NULL,
    body                  BLOB    NOT NULL,
    created_at            INTEGER NOT NULL,
    expires_at            INTEGER NOT NULL,
    PRIMARY KEY (namespace, scope, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS steadfast_idempotency_expires_at
    ON steadfast_idempotency (expires_at);
