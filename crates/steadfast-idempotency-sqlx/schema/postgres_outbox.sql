-- Messages that commit with the effects they belong to. Times are by this database's own clock.
CREATE TABLE IF NOT EXISTS steadfast_outbox (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic      text        NOT NULL,
    key        text        NOT NULL,
    body       bytea       NOT NULL,
    attempts   integer     NOT NULL DEFAULT 0,
    due_at     timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    sent_at    timestamptz,
    buried_at  timestamptz,
    CONSTRAINT steadfast_outbox_key UNIQUE (topic, key)
);

CREATE INDEX IF NOT EXISTS steadfast_outbox_due
    ON steadfast_outbox (due_at) WHERE sent_at IS NULL AND buried_at IS NULL;
