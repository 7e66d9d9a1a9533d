CREATE TABLE tasks (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    title       TEXT    NOT NULL,
    body        TEXT    NOT NULL DEFAULT '',
    queue       TEXT    NOT NULL,
    project     TEXT,
    priority    INTEGER NOT NULL DEFAULT 0,
    status      TEXT    NOT NULL CHECK (status IN
                ('open', 'assigned', 'accepted', 'in_progress', 'completed', 'failed')),
    assignee    TEXT    CHECK ((status = 'open') = (assignee IS NULL)),
    created_ms  INTEGER NOT NULL,
    claimed_ms  INTEGER,
    updated_ms  INTEGER NOT NULL,
    note        TEXT,
    attempts    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX tasks_by_queue ON tasks (status, queue, priority DESC, id);
CREATE INDEX tasks_by_assignee ON tasks (assignee, status);

CREATE TABLE workers (
    name          TEXT    PRIMARY KEY,
    kind          TEXT    NOT NULL,
    queue         TEXT    NOT NULL,
    session       TEXT    UNIQUE,
    project       TEXT,
    registered_ms INTEGER NOT NULL,
    heartbeat_ms  INTEGER NOT NULL,
    activity_ms   INTEGER NOT NULL,
    activity      TEXT    NOT NULL CHECK (activity IN ('registered', 'claimed', 'completed', 'failed'))
) STRICT;

CREATE TABLE events (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    task   INTEGER NOT NULL REFERENCES tasks (id),
    at_ms  INTEGER NOT NULL,
    worker TEXT,
    what   TEXT    NOT NULL,
    note   TEXT
) STRICT;
CREATE INDEX events_by_task ON events (task);
