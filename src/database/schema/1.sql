CREATE TABLE punchlist.tasks (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title          text   NOT NULL,
    body           text   NOT NULL DEFAULT '',
    queue          text   NOT NULL,
    project        text,
    priority       bigint NOT NULL DEFAULT 0,
    status         text   NOT NULL CONSTRAINT known_status CHECK (status IN
                   ('open', 'assigned', 'accepted', 'in_progress', 'completed', 'failed')),
    assignee       text   CONSTRAINT open_is_nobodys CHECK ((status = 'open') = (assignee IS NULL)),
    created_ms     bigint NOT NULL,
    claimed_ms     bigint,
    updated_ms     bigint NOT NULL,
    note           text,
    attempts       bigint NOT NULL DEFAULT 0,
    lease_ms       bigint,
    lease_until_ms bigint
);
CREATE INDEX tasks_in_queue ON punchlist.tasks (queue, priority DESC, id) WHERE status = 'open';
CREATE INDEX tasks_of_worker ON punchlist.tasks (assignee, status) WHERE status IN ('assigned', 'accepted', 'in_progress');
CREATE INDEX tasks_by_lease ON punchlist.tasks (lease_until_ms) WHERE status IN ('accepted', 'in_progress');

CREATE TABLE punchlist.workers (
    name          text   PRIMARY KEY,
    kind          text   NOT NULL,
    queue         text   NOT NULL,
    session       text   UNIQUE,
    project       text,
    machine       text,
    registered_ms bigint NOT NULL,
    heartbeat_ms  bigint NOT NULL,
    activity_ms   bigint NOT NULL,
    activity      text   NOT NULL CHECK (activity IN ('registered', 'claimed', 'completed', 'failed'))
);

CREATE TABLE punchlist.events (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task   bigint NOT NULL REFERENCES punchlist.tasks (id),
    at_ms  bigint NOT NULL,
    worker text,
    what   text   NOT NULL,
    note   text
);
CREATE INDEX events_of_task ON punchlist.events (task, id);

CREATE TABLE punchlist.decisions (
    id       text        PRIMARY KEY,
    at       timestamptz NOT NULL,
    machine  text        NOT NULL,
    project  text,
    session  text,
    decision text        NOT NULL,
    cause    text        NOT NULL,
    record   jsonb       NOT NULL,
    stored   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX decisions_by_time ON punchlist.decisions (at);

CREATE TABLE punchlist.notes (
    id     text        PRIMARY KEY,
    of     text        NOT NULL,
    at     timestamptz NOT NULL,
    note   jsonb       NOT NULL,
    stored timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX notes_of_decision ON punchlist.notes (of, at);
