ALTER TABLE punchlist.tasks
    ADD COLUMN waits   bigint NOT NULL DEFAULT 0,
    ADD COLUMN retries bigint,
    DROP CONSTRAINT known_status,
    ADD CONSTRAINT known_status CHECK (status IN
        ('open', 'assigned', 'accepted', 'in_progress', 'completed', 'failed', 'dead'));
DROP INDEX punchlist.tasks_in_queue;
CREATE INDEX tasks_in_queue ON punchlist.tasks (queue, priority DESC, id) WHERE status = 'open' AND waits = 0;

CREATE TABLE punchlist.prerequisites (
    task    bigint NOT NULL REFERENCES punchlist.tasks (id),
    earlier bigint NOT NULL REFERENCES punchlist.tasks (id),
    PRIMARY KEY (task, earlier)
);
CREATE INDEX prerequisites_by_earlier ON punchlist.prerequisites (earlier);
