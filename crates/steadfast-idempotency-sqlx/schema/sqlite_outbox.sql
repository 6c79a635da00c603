-- Messages that commit with the effects they belong to. Times are milliseconds since 1970 by this
-- database's own clock.
CREATE TABLE IF NOT EXISTS steadfast_outbox (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    topic      TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    body       BLOB    NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    due_at     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    sent_at    INTEGER,
    buried_at  INTEGER,
    UNIQUE (topic, key)
) STRICT;

CREATE INDEX IF NOT EXISTS steadfast_outbox_due
    ON steadfast_outbox (due_at) WHERE sent_at IS NULL AND buried_at IS NULL;
