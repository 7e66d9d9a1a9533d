-- An id is short enough to be typed: where two machines made the same one, both decisions are kept. Parted by month,
-- the key has the time in it already.
DO $$
BEGIN
    IF (SELECT relkind FROM pg_class WHERE oid = 'punchlist.decisions'::regclass) = 'r' THEN
        ALTER TABLE punchlist.decisions DROP CONSTRAINT decisions_pkey, ADD PRIMARY KEY (id, at);
    END IF;
END $$;
ALTER TABLE punchlist.notes DROP CONSTRAINT notes_pkey, ADD PRIMARY KEY (id, of);
