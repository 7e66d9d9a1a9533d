-- A CHECK can't be changed in place, so the table is made anew.
CREATE TABLE tasks_2 (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    title          TEXT    NOT NULL,
    body           TEXT    NOT NULL DEFAULT '',
    queue          TEXT    NOT NULL,
    project        TEXT,
    priority       INTEGER NOT NULL DEFAULT 0,
    status         TEXT    NOT NULL CHECK (status IN
                   ('open', 'assigned', 'accepted', 'in_progress', 'completed', 'failed', 'dead')),
    assignee       TEXT    CHECK ((status = 'open') = (assignee IS NULL)),
    created_ms     INTEGER NOT NULL,
    claimed_ms     INTEGER,
    updated_ms     INTEGER NOT NULL,
    note           TEXT,
    attempts       INTEGER NOT NULL DEFAULT 0,
    lease_ms       INTEGER,
    lease_until_ms INTEGER,
    waits          INTEGER NOT NULL DEFAULT 0,
    retries        INTEGER
) STRICT;
-- Leases were counted from the worker's last sign of life, and half an hour where nobody said otherwise.
INSERT INTO tasks_2 (id, title, body, queue, project, priority, status, assignee, created_ms, claimed_ms, updated_ms,
                     note, attempts, lease_ms, lease_until_ms)
    SELECT id, title, body, tasks.queue, tasks.project, priority, status, assignee, created_ms, claimed_ms, updated_ms,
           note, attempts,
           CASE WHEN status IN ('accepted', 'in_progress') THEN 1800000 END,
           CASE WHEN status IN ('accepted', 'in_progress')
                THEN coalesce(workers.heartbeat_ms, claimed_ms, updated_ms) + 1800000 END
    FROM tasks LEFT JOIN workers ON workers.name = tasks.assignee;
UPDATE sqlite_sequence SET seq = (SELECT seq FROM sqlite_sequence WHERE name = 'tasks') WHERE name = 'tasks_2';
DROP TABLE tasks;
ALTER TABLE tasks_2 RENAME TO tasks;
CREATE INDEX tasks_by_queue ON tasks (status, queue, priority DESC, id);
CREATE INDEX tasks_by_assignee ON tasks (assignee, status);

ALTER TABLE workers ADD COLUMN machine TEXT;

CREATE TABLE prerequisites (
    task    INTEGER NOT NULL REFERENCES tasks (id),
    earlier INTEGER NOT NULL REFERENCES tasks (id),
    PRIMARY KEY (task, earlier)
) STRICT;
CREATE INDEX prerequisites_by_earlier ON prerequisites (earlier);
