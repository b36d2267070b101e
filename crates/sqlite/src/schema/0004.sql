-- Small durable things with versions that are no runs: documents, connections. All versions stay. See docs/adr/0020.
CREATE TABLE records (
    no      INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,
    key     TEXT NOT NULL,
    version INTEGER NOT NULL,                -- 1, 2, 3 and so on within kind and key
    body    TEXT,                            -- NULL if this version deletes it
    at      INTEGER NOT NULL,
    by      TEXT,
    sum     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX records_by_key ON records (kind, key, version);
