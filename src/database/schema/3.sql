ALTER TABLE punchlist.events
    DROP CONSTRAINT events_task_fkey,
    DROP CONSTRAINT events_pkey,
    ADD PRIMARY KEY (task, id);
DROP INDEX punchlist.events_of_task;
