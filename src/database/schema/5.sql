-- Claims the next task of the worker `me`: what was assigned to it comes first, then the open task with the highest
-- priority, then the oldest; what others have locked at this moment is passed over. One call, and planned once for each
-- connection of the server, whoever uses it.
--
-- `tables` is their version: where it is not `known`, nothing is claimed. `are_due` is NULL where there is no such
-- worker, and true where leases of others have ended: these have to be swept first, and nothing is claimed.
--
-- Whoever was heard of a moment ago (a sixteenth of its lease, and at most a second) is not written down again, and
-- ended leases are looked for only where there is nothing else. The worker's row is locked before any task, as
-- everywhere.
CREATE FUNCTION punchlist.claim(
    me text, in_queue text, in_project text, lease bigint, at_ms bigint, known bigint,
    OUT tables bigint, OUT now_ms bigint, OUT are_due boolean, OUT taken punchlist.tasks)
LANGUAGE plpgsql AS $$
DECLARE
    worker record;
    moment bigint := least(lease, 16000) / 16;
    is_stale boolean;
    is_told boolean;
BEGIN
    now_ms := coalesce(at_ms, (date_part('epoch', clock_timestamp()) * 1000)::bigint);
    SELECT version, name, queue, activity, heartbeat_ms, activity_ms INTO worker
    FROM punchlist.schema LEFT JOIN punchlist.workers ON name = me;
    tables := worker.version;
    IF tables <> known OR worker.name IS NULL THEN
        RETURN;
    END IF;
    is_stale := NOT now_ms - worker.heartbeat_ms BETWEEN 0 AND moment;
    is_told := worker.activity = 'claimed' AND now_ms - worker.activity_ms BETWEEN 0 AND moment;
    are_due := false;
    IF is_stale OR NOT is_told THEN
        PERFORM FROM punchlist.workers WHERE name = me FOR UPDATE;
        IF NOT FOUND THEN
            are_due := NULL;
            RETURN;
        END IF;
    END IF;
    LOOP
        IF is_stale THEN
            UPDATE punchlist.workers SET heartbeat_ms = now_ms, activity_ms = least(activity_ms, now_ms)
            WHERE name = me;
            -- But those that are nearly whole: a write for each would make claims dear for who has much in hand.
            UPDATE punchlist.tasks SET lease_until_ms = now_ms + lease_ms
            WHERE assignee = me AND status IN ('accepted', 'in_progress')
            AND lease_until_ms < now_ms + lease_ms - lease_ms / 16;
            -- The order keeps the planner at the index of leases.
            are_due := coalesce((
                SELECT lease_until_ms <= now_ms FROM punchlist.tasks
                WHERE status IN ('accepted', 'in_progress') AND assignee <> me
                ORDER BY lease_until_ms LIMIT 1), false);
            EXIT WHEN are_due;
        END IF;
        UPDATE punchlist.tasks AS task SET status = 'accepted', assignee = me, claimed_ms = now_ms,
            updated_ms = now_ms, note = NULL, attempts = attempts + 1, lease_ms = lease, lease_until_ms = now_ms + lease
        WHERE id = coalesce(
            (SELECT id FROM punchlist.tasks
             WHERE status = 'assigned' AND assignee = me AND waits = 0
             ORDER BY priority DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED),
            (SELECT id FROM punchlist.tasks
             WHERE status = 'open' AND waits = 0 AND queue = coalesce(in_queue, worker.queue)
             AND (in_project IS NULL OR project IS NULL OR project = in_project)
             ORDER BY priority DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED))
        RETURNING task.* INTO taken;
        EXIT WHEN FOUND OR is_stale;
        -- Where there is nothing, a lease that ended a moment ago may be what there is.
        is_stale := true;
    END LOOP;
    IF taken.id IS NOT NULL THEN
        INSERT INTO punchlist.events (task, at_ms, worker, what) VALUES (taken.id, now_ms, me, 'claimed');
        IF NOT is_told THEN
            UPDATE punchlist.workers SET activity = 'claimed', activity_ms = now_ms WHERE name = me;
        END IF;
    END IF;
END $$;
