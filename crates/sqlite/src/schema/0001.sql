-- A run as lists show it. `no` is given by the writer, in the order of creation.
CREATE TABLE runs (
    no          INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    workflow    INTEGER NOT NULL,            -- names.no
    plan        INTEGER NOT NULL,            -- names.no
    status      TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER,                     -- set if and only if the run has ended
    wake_at     INTEGER,                     -- only while nobody owns the run
    owner       INTEGER,                     -- engines.id
    epoch       INTEGER NOT NULL,
    parent      TEXT,                        -- an id, not a number: the parent may be purged first
    source      TEXT,
    tags        TEXT,                        -- a JSON array, or NULL for none
    note        TEXT,
    dropped     INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX runs_by_wake ON runs (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX runs_by_owner ON runs (owner) WHERE owner IS NOT NULL;
-- Without completed runs, which are nearly all: the index stays small, and a list of completed runs finds
-- its page by walking the table.
CREATE INDEX runs_by_status ON runs (status, no) WHERE status <> 'completed';
CREATE INDEX runs_by_workflow ON runs (workflow, no);
CREATE INDEX runs_by_parent ON runs (parent, no) WHERE parent IS NOT NULL;
CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL;

-- Texts that many runs share: names of workflows, hashes of plans.
CREATE TABLE names (
    no   INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE tags (
    tag TEXT NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (tag, run)
) STRICT, WITHOUT ROWID;

-- Batches in the order of writing: appending to one page at a time is what makes commits cheap.
CREATE TABLE events (
    no    INTEGER PRIMARY KEY,
    run   INTEGER NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    body  BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_by_run ON events (run, first);

CREATE TABLE snapshots (
    run  INTEGER PRIMARY KEY,
    seq  INTEGER NOT NULL,
    fold INTEGER NOT NULL,
    plan TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- A consumed message with an id stays without its body, so that it is not taken twice.
-- AUTOINCREMENT: a number is never given again, also not after its message is gone.
CREATE TABLE messages (
    no      INTEGER PRIMARY KEY AUTOINCREMENT,
    run     INTEGER NOT NULL,
    id      TEXT,
    body    TEXT,
    sent_at INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_waiting ON messages (run, no) WHERE body IS NOT NULL;
CREATE UNIQUE INDEX messages_by_id ON messages (run, id) WHERE id IS NOT NULL;

CREATE TABLE plans (
    hash TEXT PRIMARY KEY,
    json TEXT NOT NULL
) STRICT;

CREATE TABLE logs (
    no      INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL,
    node    TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    call    INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    level   INTEGER NOT NULL,                -- 0 debug, 1 info, 2 warn, 3 error
    message TEXT NOT NULL,
    fields  TEXT
) STRICT;
CREATE INDEX logs_by_run ON logs (run, no);

-- AUTOINCREMENT: an engine's id is never given again, so a run's owner cannot be mistaken for somebody alive.
CREATE TABLE engines (
    id INTEGER PRIMARY KEY AUTOINCREMENT
) STRICT;

-- One row. `probes` is what the check for writability writes; `last_run` keeps the numbers of purged runs from being given again.
CREATE TABLE meta (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    probes   INTEGER NOT NULL,
    last_run INTEGER NOT NULL
) STRICT;
INSERT INTO meta VALUES (1, 0, 0);
