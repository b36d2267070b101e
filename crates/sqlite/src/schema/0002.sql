-- Everything that is kept has a checksum, so that a changed byte is found and not believed. See docs/adr/0014.

-- `chain` is over the batch and the chain of the batch before it; the first one begins with the run itself.
-- It comes before the body: reading it must not read a large body.
ALTER TABLE events RENAME TO events_1;
DROP INDEX events_by_run;
CREATE TABLE events (
    no    INTEGER PRIMARY KEY,
    run   INTEGER NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    body  BLOB NOT NULL
) STRICT;

-- `last` and `tip`: the last event and its batch's chain when the row was last written by a commit. A run that nobody
-- owns has no event after it; one that is owned may have.
ALTER TABLE runs ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN tip INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;

ALTER TABLE snapshots ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE snapshots SET sum = row_sum(run, seq, fold, plan, body);
ALTER TABLE plans ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE plans SET sum = row_sum(hash, json);
ALTER TABLE logs ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE logs SET sum = row_sum(run, node, attempt, call, at, level, message, fields);

-- One row. `store` is this store's own id. `commits` counts batches, whose numbers are from it, and the transactions that
-- wrote anything else; `digest` is over all batches in their order. The row is written with the latter only: batches whose
-- numbers follow on `commits` came after it. How far the store has come is also in the mark beside the file. The numbers of
-- runs, messages and engines are never given again, also not after what had them is gone.
CREATE TABLE meta_2 (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    store        TEXT NOT NULL,
    commits      INTEGER NOT NULL,
    digest       INTEGER NOT NULL,
    last_run     INTEGER NOT NULL,
    last_message INTEGER NOT NULL,
    last_engine  INTEGER NOT NULL,
    sum          INTEGER NOT NULL
) STRICT;
INSERT INTO meta_2
SELECT 1, '', (SELECT coalesce(max(no), 0) FROM events_1), 0,
    max(last_run, (SELECT coalesce(max(no), 0) FROM runs)),
    max((SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'messages'),
        (SELECT coalesce(max(no), 0) FROM messages)),
    max((SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'engines'),
        (SELECT coalesce(max(owner), 0) FROM runs)),
    0
FROM meta;
DROP TABLE meta;
ALTER TABLE meta_2 RENAME TO meta;

-- Which engines are alive is known to the process that has the file, and to nobody else.
DROP TABLE engines;

-- A consumed message with an id stays without its body, so that it is not taken twice.
ALTER TABLE messages RENAME TO messages_1;
DROP INDEX messages_waiting;
DROP INDEX messages_by_id;
CREATE TABLE messages (
    no      INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL,
    id      TEXT,
    body    TEXT,
    sent_at INTEGER NOT NULL,
    sum     INTEGER NOT NULL
) STRICT;
INSERT INTO messages
SELECT no, run, id, body, sent_at, row_sum(no, run, id, body, sent_at) FROM messages_1;
DROP TABLE messages_1;
CREATE INDEX messages_waiting ON messages (run, no) WHERE body IS NOT NULL;
CREATE UNIQUE INDEX messages_by_id ON messages (run, id) WHERE id IS NOT NULL;

-- Before this version a run could be left waiting with a signal or an answer in its history that it was not told of:
-- each one that waits is looked at once.
UPDATE runs SET wake_at = 0 WHERE status = 'waiting' AND wake_at IS NULL AND owner IS NULL;
