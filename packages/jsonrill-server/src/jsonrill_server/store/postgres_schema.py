"""What the PostgreSQL store keeps in a database: a schema `jsonrill` with tables and functions.

`python -m jsonrill_server.store.postgres_schema` prints it, for administrators who let no program
create tables. A function does what a call of the store does, so that each is one statement: one
journey, one transaction, also through a pooler. Time is the database's own, in seconds.

No column that an append changes has an index: then PostgreSQL rewrites the row of a stream in its
page and leaves nothing in indexes behind. What looks for old streams reads all rows, which happens
when a bound is reached and at intervals.

A row of `books` has what the streams of one owner take, and one has the sum. A transaction that
changes them holds a lock until it ends. So a stream books room before it takes it, in a transaction
that does not wait for the disk (what is written after it does), and books up to a quarter more than
it needs while the books are less than three quarters full: most appends touch no book. The lock is
taken after that of the stream's row, and a stream makes room only if no transaction holds its row:
there is no deadlock.

`pulse` is written by every process again and again. A gap in it means that the database was down
or could not be written to, so that no lease could be renewed: then leases count from its return.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 2
TICK_EVERY: Final = 0.5
CHANNEL: Final = "jsonrill"

_GAP: Final = 1.5
_LOCK: Final = "pg_advisory_xact_lock(1785950060, {})"
BOOKS_LOCK: Final = _LOCK.format(1)
SETUP_LOCK: Final = _LOCK.format(2)
_CLOCK: Final = "extract(epoch FROM clock_timestamp())::float8"

# What each function that the store calls takes, in this order.
_IN: Final = {
    "acquire": "name bytea, by bytea, for_seconds float8, keep float8",
    "make": "name bytea, by bytea, for_seconds float8, whose bytea, owner bytea, about bytea,"
    " start bigint, call text, replace boolean, life float8, until float8, checksums bigint[],"
    " records bytea[], is_end boolean,"
    " keep_open float8, keep_closed float8, stream_cost bigint, each bigint, most_entries bigint,"
    " most_bytes bigint, most_streams bigint, of_owner bigint, most_of_all bigint, of_all bigint",
    "append": "name bytea, by bytea, call text, kept_calls integer,"
    " for_seconds float8, turn_of bytea, turn_epoch bigint, turn_seq bigint, most_turns integer,"
    " turn_cost bigint, place bytea, checksums bigint[], records bytea[], is_end boolean,"
    " keep_open float8, keep_closed float8, most_entries bigint, most_bytes bigint, each bigint",
    "reserve": "name bytea, needs bigint, of_owner bigint, of_all bigint",
    "finalize": "name bytea, checksum bigint, record bytea, only_if_lost boolean, keep float8,"
    " each bigint",
    "status": "name bytea",
    "touch": "name bytea, for_seconds float8, keep_open float8, keep_closed float8",
    "use_once": "name bytea, by text, seconds float8",
    "settle": "name bytea",
    "tell": "notice text",
    "beat": "",
    "sweep": "",
}
# A call of each, with the types of its arguments: Python's own do not say enough.
CALLS: Final = {
    name: f"SELECT * FROM jsonrill.{name}("
    + ", ".join(f"%b::{argument.split()[1]}" for argument in takes.split(", ") if argument)
    + ")"
    for name, takes in _IN.items()
}
# This transaction does not wait until it is on the disk.
_NOT_YET: Final = "set_config('synchronous_commit', 'off', true)"
_STATUS: Final = """
    OUT word text, OUT its_owner bytea, OUT its_meta bytea, OUT its_last integer,
    OUT its_size bigint, OUT its_mark bigint, OUT its_closed boolean, OUT its_producer bytea,
    OUT its_lease float8, OUT its_lost boolean, OUT its_expires float8"""
# When a stream that is used now expires.
_USED: Final = (
    "CASE WHEN it.fixed THEN it.expires ELSE now + CASE it.ttl WHEN 0 THEN {} ELSE it.ttl END END"
)

SCHEMA: Final = f"""
CREATE SCHEMA IF NOT EXISTS jsonrill;

-- `payer` stands for the owner in the books. `lease` is when the producer's time runs out, or when
-- the stream ended; `term` is how long it was given for. `expires` moves with each use by `ttl`
-- seconds (0: as the bounds say), unless it is fixed. `cost` is what the stream takes, `booked`
-- what it has in the books.
CREATE TABLE jsonrill.streams (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id bytea NOT NULL UNIQUE,
    payer bytea NOT NULL, owner bytea NOT NULL, meta bytea NOT NULL, producer bytea NOT NULL,
    lease float8 NOT NULL, term float8 NOT NULL, last integer NOT NULL, size bigint NOT NULL,
    mark bigint NOT NULL, calls text NOT NULL, closed boolean NOT NULL, expires float8 NOT NULL,
    ttl float8 NOT NULL, fixed boolean NOT NULL, placed bytea NOT NULL, cost bigint NOT NULL,
    booked bigint NOT NULL
) WITH (fillfactor = 60);
CREATE INDEX streams_by_payer ON jsonrill.streams (payer);
CREATE TABLE jsonrill.entries (
    stream bigint NOT NULL, seq integer NOT NULL, mark bigint NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (stream, seq)
);
-- Not compressed, so that it takes what was booked for it.
ALTER TABLE jsonrill.entries ALTER data SET STORAGE EXTERNAL;
-- Epoch and number of the last append of each producer that numbers them.
CREATE TABLE jsonrill.turns (
    stream bigint NOT NULL, producer bytea NOT NULL, epoch bigint NOT NULL, seq bigint NOT NULL,
    PRIMARY KEY (stream, producer)
) WITH (fillfactor = 60);
CREATE TABLE jsonrill.books (
    everything boolean NOT NULL, payer bytea NOT NULL, streams bigint NOT NULL,
    cost bigint NOT NULL, PRIMARY KEY (everything, payer)
) WITH (fillfactor = 50);
CREATE TABLE jsonrill.used (
    token bytea PRIMARY KEY, mark text NOT NULL, until float8 NOT NULL
);
CREATE TABLE jsonrill.pulse (at float8 NOT NULL, back float8 NOT NULL) WITH (fillfactor = 50);
INSERT INTO jsonrill.pulse VALUES ({_CLOCK}, {_CLOCK});
CREATE TABLE jsonrill.version (number integer NOT NULL);
INSERT INTO jsonrill.version VALUES ({VERSION});

CREATE FUNCTION jsonrill.keep_books() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    count bigint := 0; room bigint := 0; whose bytea;
BEGIN
    PERFORM {BOOKS_LOCK};
    IF TG_OP <> 'INSERT' THEN
        count := -1; room := -OLD.booked; whose := OLD.payer;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        count := count + 1; room := room + NEW.booked; whose := NEW.payer;
    END IF;
    INSERT INTO jsonrill.books AS book VALUES (true, '', count, room), (false, whose, count, room)
        ON CONFLICT (everything, payer) DO UPDATE
        SET streams = book.streams + excluded.streams, cost = book.cost + excluded.cost;
    IF TG_OP = 'DELETE' THEN
        DELETE FROM jsonrill.books WHERE NOT everything AND payer = whose AND streams = 0;
        DELETE FROM jsonrill.entries WHERE stream = OLD.key;
        DELETE FROM jsonrill.turns WHERE stream = OLD.key;
        PERFORM pg_notify('{CHANNEL}', '/' || encode(OLD.id, 'hex'));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER stream_booked AFTER INSERT OR UPDATE OF booked OR DELETE ON jsonrill.streams
    FOR EACH ROW EXECUTE FUNCTION jsonrill.keep_books();

CREATE FUNCTION jsonrill.held(lease float8, term float8, now float8) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT lease > now OR coalesce(
        (SELECT CASE WHEN now - at > {_GAP} THEN now ELSE back END FROM jsonrill.pulse), now
    ) + term > now
$$;

-- Deletes the oldest stream that has no producer, but not this one; false if there is none.
CREATE FUNCTION jsonrill.evict(this bigint, whose bytea, now float8) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM jsonrill.streams WHERE key = (
        SELECT key FROM jsonrill.streams
        WHERE lease <= now AND key <> this AND (whose IS NULL OR payer = whose)
            AND (closed OR NOT jsonrill.held(lease, term, now))
        ORDER BY lease LIMIT 1 FOR UPDATE SKIP LOCKED
    );
    RETURN FOUND;
END $$;

CREATE FUNCTION jsonrill.booked_by(whose bytea) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT coalesce((SELECT cost FROM jsonrill.books
                     WHERE everything = (whose IS NULL) AND payer = coalesce(whose, '')), 0)
$$;

-- Returns what a stream that has booked `has` may book to take `cost`, or the bound in its way.
CREATE FUNCTION jsonrill.room(
    this bigint, whose bytea, has bigint, cost bigint, of_owner bigint, of_all bigint, now float8,
    OUT bound text, OUT room bigint
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM {BOOKS_LOCK};
    room := cost + least(cost / 4, of_owner / 64, of_all / 64);
    IF jsonrill.booked_by(whose) + room - has > of_owner * 3 / 4
        OR jsonrill.booked_by(NULL) + room - has > of_all * 3 / 4 THEN room := cost; END IF;
    WHILE jsonrill.booked_by(whose) + room - has > of_owner LOOP
        IF NOT jsonrill.evict(this, whose, now) THEN bound := 'owner_bytes'; RETURN; END IF;
    END LOOP;
    WHILE jsonrill.booked_by(NULL) + room - has > of_all LOOP
        IF NOT jsonrill.evict(this, NULL, now) THEN bound := 'total_bytes'; RETURN; END IF;
    END LOOP;
END $$;

-- Writes records after the one that is number `last`, and returns the mark of the last of them.
CREATE FUNCTION jsonrill.put(
    this bigint, last integer, mark bigint, checksums bigint[], records bytea[]
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    marks bigint[] := '{{}}';
BEGIN
    FOR at IN 1 .. cardinality(records) LOOP
        mark := (mark * 31 + checksums[at]) % 4294967296;
        marks[at] := mark;
    END LOOP;
    INSERT INTO jsonrill.entries SELECT this, last + number, its_mark, data
        FROM unnest(marks, records) WITH ORDINALITY AS given (its_mark, data, number);
    RETURN mark;
END $$;

CREATE FUNCTION jsonrill.bytes_of(records bytea[]) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(sum(length(data)), 0) FROM unnest(records) AS given (data)
$$;

CREATE FUNCTION jsonrill.status({_IN["status"]},{_STATUS}) LANGUAGE plpgsql AS $$
DECLARE
    it jsonrill.streams; now float8 := {_CLOCK};
BEGIN
    SELECT * INTO it FROM jsonrill.streams WHERE id = name AND expires > now;
    word := CASE WHEN FOUND THEN 'OK' ELSE 'UNKNOWN' END;
    its_owner := it.owner; its_meta := it.meta; its_last := it.last; its_size := it.size;
    its_mark := it.mark; its_closed := it.closed; its_producer := it.producer;
    its_lease := it.lease - now; its_expires := it.expires - now;
    its_lost := NOT it.closed AND NOT jsonrill.held(it.lease, it.term, now);
END $$;

CREATE FUNCTION jsonrill.acquire({_IN["acquire"]},{_STATUS})
LANGUAGE plpgsql AS $$
DECLARE
    it jsonrill.streams; now float8 := {_CLOCK};
BEGIN
    SELECT * INTO it FROM jsonrill.streams WHERE id = name AND expires > now FOR UPDATE;
    IF NOT FOUND THEN word := 'UNKNOWN'; RETURN; END IF;
    now := {_CLOCK};
    IF it.closed THEN word := 'CLOSED'; RETURN; END IF;
    IF it.producer <> '' AND it.producer <> by AND jsonrill.held(it.lease, it.term, now)
        THEN word := 'TAKEN'; RETURN; END IF;
    it.expires := {_USED.format("keep")};
    UPDATE jsonrill.streams SET producer = by, lease = now + for_seconds, term = for_seconds,
        expires = it.expires WHERE key = it.key;
    word := 'OK'; its_owner := it.owner; its_meta := it.meta; its_last := it.last;
    its_size := it.size; its_mark := it.mark; its_closed := false; its_producer := by;
    its_lease := for_seconds; its_lost := false; its_expires := it.expires - now;
END $$;

-- A call whose answer was lost is sent again under the same name and must not make or add twice.
CREATE FUNCTION jsonrill.make({_IN["make"]},{_STATUS}) LANGUAGE plpgsql AS $$
DECLARE
    now float8 := {_CLOCK}; found_room record; bytes bigint := jsonrill.bytes_of(records);
    many integer := cardinality(records); needs bigint := stream_cost + bytes + each * many;
    checked integer := many - is_end::integer; this bigint; room bigint;
BEGIN
    PERFORM {_NOT_YET};
    DELETE FROM jsonrill.streams WHERE id = name
        AND (expires <= now OR closed AND replace AND strpos(calls, call) = 0);
    -- Of two that make the same stream at a time the second one waits here.
    PERFORM {BOOKS_LOCK};
    now := {_CLOCK};
    IF EXISTS (SELECT FROM jsonrill.streams WHERE id = name) THEN
        SELECT * INTO word, its_owner, its_meta, its_last, its_size, its_mark, its_closed,
            its_producer, its_lease, its_lost, its_expires FROM jsonrill.status(name);
        IF NOT EXISTS (SELECT FROM jsonrill.streams WHERE id = name AND strpos(calls, call) > 0)
            THEN word := 'TAKEN'; END IF;
        RETURN;
    END IF;
    IF (SELECT count(*) FROM jsonrill.streams
        WHERE payer = whose AND lease > now AND expires > now) >= most_streams
        THEN word := 'owner_streams'; RETURN; END IF;
    IF checked > most_entries THEN word := 'stream_entries'; RETURN; END IF;
    IF jsonrill.bytes_of(records[: checked]) > most_bytes
        THEN word := 'stream_bytes'; RETURN; END IF;
    SELECT * INTO found_room
        FROM jsonrill.room(0, whose, 0, needs, of_owner, of_all, now);
    IF found_room.bound IS NOT NULL THEN word := found_room.bound; RETURN; END IF;
    IF (SELECT streams FROM jsonrill.books WHERE everything) >= most_of_all
        AND NOT jsonrill.evict(0, NULL, now) THEN word := 'total_streams'; RETURN; END IF;
    room := CASE WHEN many = 0 THEN needs ELSE found_room.room END;
    INSERT INTO jsonrill.streams (id, payer, owner, meta, producer, lease, term, last, size, mark,
                                  calls, closed, expires, ttl, fixed, placed, cost, booked)
        VALUES (name, whose, owner, about, by, now + CASE WHEN is_end THEN 0 ELSE for_seconds END,
                for_seconds, many, bytes, start, call, is_end,
                CASE WHEN until > 0 THEN until WHEN life > 0 THEN now + life
                WHEN is_end THEN now + keep_closed ELSE now + keep_open END,
                life, until > 0, '', needs, room) RETURNING key INTO this;
    UPDATE jsonrill.streams SET mark = jsonrill.put(this, 0, start, checksums, records)
        WHERE key = this AND many > 0;
    SELECT * INTO word, its_owner, its_meta, its_last, its_size, its_mark, its_closed,
        its_producer, its_lease, its_lost, its_expires FROM jsonrill.status(name);
END $$;

-- Books room for a stream; without bounds, always.
CREATE FUNCTION jsonrill.reserve({_IN["reserve"]}) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    it jsonrill.streams; now float8 := {_CLOCK}; found_room record;
BEGIN
    PERFORM {_NOT_YET};
    SELECT * INTO it FROM jsonrill.streams WHERE id = name AND expires > now FOR UPDATE;
    IF NOT FOUND THEN RETURN 'UNKNOWN'; END IF;
    IF needs > it.booked THEN
        SELECT * INTO found_room FROM jsonrill.room(
            it.key, it.payer, it.booked, needs, of_owner, of_all, now);
        IF found_room.bound IS NOT NULL THEN RETURN found_room.bound; END IF;
        UPDATE jsonrill.streams SET booked = coalesce(found_room.room, needs) WHERE key = it.key;
    END IF;
    RETURN 'OK';
END $$;

-- Has been written to the disk when it returns, and so has what was committed before it.
CREATE FUNCTION jsonrill.settle({_IN["settle"]}) RETURNS void LANGUAGE sql AS $$
    UPDATE jsonrill.streams SET calls = calls WHERE id = name
$$;

CREATE FUNCTION jsonrill.tell({_IN["tell"]}) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM {_NOT_YET};
    PERFORM pg_notify('{CHANNEL}', notice);
END $$;

CREATE FUNCTION jsonrill.append(
    {_IN["append"]},
    OUT word text, OUT last integer, OUT mark bigint, OUT closed boolean, OUT epoch bigint,
    OUT seq bigint, OUT needs bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    it jsonrill.streams; now float8 := {_CLOCK}; bytes bigint;
    checked integer := cardinality(records) - is_end::integer; costs bigint := 0;
BEGIN
    SELECT * INTO it FROM jsonrill.streams WHERE id = name AND expires > now FOR UPDATE;
    IF NOT FOUND THEN word := 'UNKNOWN'; RETURN; END IF;
    now := {_CLOCK}; word := 'OK';
    last := it.last; mark := it.mark; closed := it.closed; epoch := -1; seq := -1;
    IF call <> '' AND strpos(it.calls, call) > 0 THEN RETURN; END IF;
    IF turn_of IS NOT NULL THEN
        SELECT turns.epoch, turns.seq INTO epoch, seq FROM jsonrill.turns
            WHERE stream = it.key AND producer = turn_of;
        epoch := coalesce(epoch, -1); seq := coalesce(seq, -1);
        IF turn_epoch < epoch
            OR turn_seq <> (CASE WHEN turn_epoch = epoch THEN seq + 1 ELSE 0 END)
            THEN word := 'TURN'; RETURN; END IF;
        IF epoch < 0 THEN
            IF (SELECT count(*) FROM jsonrill.turns WHERE stream = it.key) >= most_turns
                THEN word := 'stream_producers'; RETURN; END IF;
            costs := turn_cost;
        END IF;
    END IF;
    IF it.closed THEN word := 'CLOSED'; RETURN; END IF;
    IF place <> '' AND place <= it.placed THEN word := 'ORDER'; RETURN; END IF;
    IF it.producer <> '' AND it.producer <> by AND jsonrill.held(it.lease, it.term, now)
        THEN word := 'TAKEN'; RETURN; END IF;
    IF it.last + checked > most_entries THEN word := 'stream_entries'; RETURN; END IF;
    bytes := jsonrill.bytes_of(records[: checked]);
    IF it.size + bytes > most_bytes THEN word := 'stream_bytes'; RETURN; END IF;
    bytes := jsonrill.bytes_of(records);
    needs := it.cost + costs + bytes + each * cardinality(records);
    IF needs > it.booked THEN word := 'ROOM'; PERFORM {_NOT_YET}; RETURN; END IF;
    mark := jsonrill.put(it.key, it.last, it.mark, checksums, records);
    last := it.last + cardinality(records);
    IF turn_of IS NOT NULL THEN
        INSERT INTO jsonrill.turns AS old VALUES (it.key, turn_of, turn_epoch, turn_seq)
            ON CONFLICT (stream, producer) DO UPDATE
            SET epoch = excluded.epoch, seq = excluded.seq;
    END IF;
    IF call <> '' THEN it.calls := right(it.calls || call, kept_calls); END IF;
    IF for_seconds IS NOT NULL THEN
        it.producer := by; it.lease := now + for_seconds; it.term := for_seconds;
    END IF;
    IF is_end THEN it.lease := now; closed := true; END IF;
    UPDATE jsonrill.streams AS stream SET last = append.last, size = it.size + bytes,
        mark = append.mark, calls = it.calls, producer = it.producer, lease = it.lease,
        term = it.term, cost = append.needs, closed = append.closed,
        placed = CASE WHEN place = '' THEN it.placed ELSE place END,
        expires = {_USED.format("CASE WHEN is_end THEN keep_closed ELSE keep_open END")}
        WHERE stream.key = it.key;
END $$;

CREATE FUNCTION jsonrill.finalize(
    {_IN["finalize"]}, OUT word text, OUT done boolean, OUT needs bigint
)
LANGUAGE plpgsql AS $$
DECLARE
    it jsonrill.streams; now float8 := {_CLOCK};
BEGIN
    SELECT * INTO it FROM jsonrill.streams WHERE id = name AND expires > now FOR UPDATE;
    IF NOT FOUND THEN word := 'UNKNOWN'; RETURN; END IF;
    now := {_CLOCK}; word := 'OK';
    done := NOT it.closed AND NOT (only_if_lost AND jsonrill.held(it.lease, it.term, now));
    IF NOT done THEN RETURN; END IF;
    needs := it.cost + length(record) + each;
    IF needs > it.booked THEN word := 'ROOM'; PERFORM {_NOT_YET}; RETURN; END IF;
    it.mark := jsonrill.put(it.key, it.last, it.mark, ARRAY[checksum], ARRAY[record]);
    UPDATE jsonrill.streams SET last = it.last + 1, size = it.size + length(record),
        mark = it.mark, closed = true, lease = now, cost = needs,
        expires = {_USED.format("keep")} WHERE key = it.key;
END $$;

CREATE FUNCTION jsonrill.touch({_IN["touch"]}) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    now float8 := {_CLOCK};
BEGIN
    UPDATE jsonrill.streams AS it SET
        lease = CASE WHEN closed OR fixed THEN lease ELSE now + for_seconds END,
        term = CASE WHEN closed OR fixed THEN term ELSE for_seconds END,
        expires = {_USED.format("CASE WHEN closed THEN keep_closed ELSE keep_open END")}
        WHERE id = name AND expires > now;
    RETURN CASE WHEN FOUND THEN 'OK' ELSE 'UNKNOWN' END;
END $$;

CREATE FUNCTION jsonrill.use_once({_IN["use_once"]}) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO jsonrill.used VALUES (name, by, {_CLOCK} + seconds)
        ON CONFLICT (token) DO UPDATE SET mark = excluded.mark, until = excluded.until
        WHERE used.until <= {_CLOCK} OR used.mark = excluded.mark;
    RETURN FOUND;
END $$;

CREATE FUNCTION jsonrill.beat({_IN["beat"]}) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    now float8 := {_CLOCK};
BEGIN
    PERFORM {_NOT_YET};
    UPDATE jsonrill.pulse SET at = now, back = CASE WHEN now - at > {_GAP} THEN now ELSE back END;
END $$;

CREATE FUNCTION jsonrill.sweep({_IN["sweep"]}) RETURNS void LANGUAGE sql AS $$
    DELETE FROM jsonrill.used WHERE until <= {_CLOCK};
    DELETE FROM jsonrill.streams WHERE key IN (
        SELECT key FROM jsonrill.streams WHERE expires <= {_CLOCK} LIMIT 1000
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
