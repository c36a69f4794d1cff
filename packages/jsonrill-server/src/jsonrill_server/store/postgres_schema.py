"""What the PostgreSQL store keeps in a database: a schema `jsonrill` with tables and functions.

`python -m jsonrill_server.store.postgres_schema` prints it, for administrators who let no program
create tables. Time is the database's own, in seconds.

No column that an append changes has an index: then PostgreSQL rewrites the row of a stream in its
page and leaves nothing in indexes behind. What counts streams or looks for old ones reads all
rows; that happens when a stream is created.

`ticks` is written by every process again and again. A gap in it means that the database was down
or could not be written to, so that no lease could be renewed: then leases count from its return.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 4
TICK_EVERY: Final = 0.5
CHANNEL: Final = "jsonrill"
CLOCK: Final = "extract(epoch FROM clock_timestamp())::float8"
SETUP_LOCK: Final = "pg_advisory_xact_lock(1785950060, 2)"

_GAP: Final = 1.5
# This transaction does not wait until it is on the disk.
_NOT_YET: Final = "set_config('synchronous_commit', 'off', true)"

SCHEMA: Final = f"""
CREATE SCHEMA IF NOT EXISTS jsonrill;

-- `id` and `payer` stand for stream and owner, `whole` is the stream's own name; `name`, `listed`
-- and `expires` are those of the head.
CREATE TABLE jsonrill.streams (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id bytea NOT NULL UNIQUE,
    whole bytea NOT NULL, name text NOT NULL, head text NOT NULL, payer bytea NOT NULL,
    listed float8 NOT NULL, expires float8 NOT NULL
) WITH (fillfactor = 60);
CREATE TABLE jsonrill.entries (
    stream bigint NOT NULL, seq integer NOT NULL, mark bigint NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (stream, seq)
);
CREATE TABLE jsonrill.ticks (at float8 NOT NULL, back float8 NOT NULL) WITH (fillfactor = 50);
INSERT INTO jsonrill.ticks VALUES ({CLOCK}, {CLOCK});
CREATE TABLE jsonrill.version (number integer NOT NULL);
INSERT INTO jsonrill.version VALUES ({VERSION});

CREATE FUNCTION jsonrill.clear() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM jsonrill.entries WHERE stream = OLD.key;
    PERFORM pg_notify('{CHANNEL}', '/' || encode(OLD.id, 'hex'));
    RETURN NULL;
END $$;
CREATE TRIGGER stream_gone AFTER DELETE ON jsonrill.streams
    FOR EACH ROW EXECUTE FUNCTION jsonrill.clear();

-- The time, and since when the database takes writes without a gap.
CREATE FUNCTION jsonrill.clock(OUT now float8, OUT back float8) LANGUAGE plpgsql AS $$
BEGIN
    now := {CLOCK};
    SELECT CASE WHEN now - ticks.at > {_GAP} THEN now ELSE ticks.back END INTO back
        FROM jsonrill.ticks;
END $$;

-- Exchanges the head called `before` and adds records. Answers with no head if that was done, else
-- with the one that is there, or an empty one.
CREATE FUNCTION jsonrill.swap(
    this bytea, its_whole bytea, before text, its_name text, its_head text, whose bytea,
    ends float8, until float8, is_new boolean, seqs integer[], marks bigint[],
    records bytea[], OUT now float8, OUT back float8, OUT there text
) LANGUAGE plpgsql AS $$
DECLARE
    it record; this_key bigint;
BEGIN
    SELECT streams.key, name, head INTO it FROM jsonrill.streams WHERE id = this FOR UPDATE;
    SELECT * INTO now, back FROM jsonrill.clock();
    there := coalesce(it.head, '');
    IF coalesce(it.name, '') <> before THEN RETURN; END IF;
    IF is_new THEN
        DELETE FROM jsonrill.streams WHERE streams.key = it.key;
        INSERT INTO jsonrill.streams (id, whole, name, head, payer, listed, expires)
            VALUES (this, its_whole, its_name, its_head, whose, ends, until)
            ON CONFLICT (id) DO NOTHING RETURNING streams.key INTO this_key;
        IF this_key IS NULL THEN RETURN; END IF;
    ELSE
        this_key := it.key;
        UPDATE jsonrill.streams SET name = its_name, head = its_head, listed = ends,
            expires = until WHERE streams.key = this_key;
    END IF;
    INSERT INTO jsonrill.entries SELECT this_key, seq, mark, data
        FROM unnest(seqs, marks, records) AS given (seq, mark, data);
    there := NULL;
END $$;

CREATE FUNCTION jsonrill.tell(notice text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM {_NOT_YET};
    PERFORM pg_notify('{CHANNEL}', notice);
END $$;

CREATE FUNCTION jsonrill.tick() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    now float8 := {CLOCK};
BEGIN
    PERFORM {_NOT_YET};
    UPDATE jsonrill.ticks SET at = now, back = CASE WHEN now - at > {_GAP} THEN now ELSE back END;
END $$;

CREATE FUNCTION jsonrill.sweep() RETURNS void LANGUAGE sql AS $$
    DELETE FROM jsonrill.streams WHERE key IN (
        SELECT key FROM jsonrill.streams WHERE expires <= {CLOCK} LIMIT 1000
        FOR UPDATE SKIP LOCKED
    );
$$;
"""

GRANTS: Final = """
GRANT USAGE ON SCHEMA jsonrill TO {0};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA jsonrill TO {0};
"""

if __name__ == "__main__":
    import sys

    print(SCHEMA + "".join(GRANTS.format(f'"{user}"') for user in sys.argv[1:]))
