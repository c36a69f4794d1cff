"""What only PostgreSQL can do to us: restart, fail over, refuse, lose notices, forget rows."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from jsonrill_server.store import (
    LogLost,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    Turn,
    TurnRefused,
    UnknownStream,
    open_store,
)
from jsonrill_server.store import postgres as module
from jsonrill_server.store.postgres import PostgresStore
from support import SLACK
from support.postgres_server import PostgresServer
from support.stores import StoreServers

from .conftest import opened


@pytest.fixture
def server(store_servers: StoreServers) -> PostgresServer:
    running: PostgresServer = store_servers["postgresql"]
    running.empty()
    return running


@pytest.fixture
def url(server: PostgresServer) -> str:
    return server.url


@pytest.fixture(scope="module")
def victim() -> Iterator[PostgresServer]:
    """A server that is stopped and killed."""
    with PostgresServer() as running:
        yield running


async def entries(store: Store, after: int = 0) -> list[bytes]:
    return [entry.data async for batch in store.read("s", after) for entry in batch]


class LosesAnswers:
    """Runs each query, and loses the first answers on the way back."""

    def __init__(self, store: PostgresStore, word: str, times: int) -> None:
        self.real, self.word, self.left = store._work, word, times
        store._work = self  # type: ignore[assignment, method-assign]

    async def __call__(self, work: Any) -> Any:
        asked = ""

        class Link:
            def __init__(self, link: Any) -> None:
                self.link = link

            async def execute(self, query: str, *more: Any, **named: Any) -> Any:
                nonlocal asked
                asked = query
                return await self.link.execute(query, *more, **named)

        answer = await self.real(lambda link: work(Link(link)))
        if self.left and self.word in asked:
            self.left -= 1
            raise psycopg.OperationalError("lost")
        return answer


def test_a_lost_answer_makes_and_adds_nothing_twice(url: str) -> None:
    async def main() -> None:
        async with opened(url, owner_streams=1) as store:
            assert isinstance(store, PostgresStore)
            LosesAnswers(store, "swap", 1)
            assert (await store.acquire("s", "p", lease=60, meta=b"m")).meta == b"m"
            with pytest.raises(StreamTaken):
                await store.acquire("s", "p", lease=60, meta=b"m")
            LosesAnswers(store, "swap", 2)
            assert await store.append("s", "p", [b"1", b"2"]) == 2
            LosesAnswers(store, "swap", 10)
            names = [b"%d" % at for at in range(10)]
            await asyncio.gather(*(store.append("s", "p", [name]) for name in names))
            LosesAnswers(store, "swap", 1)
            await store.finalize("s", b"end")
            assert sorted((await entries(store))[2:-1]) == sorted(names)
            LosesAnswers(store, "used", 1)
            assert await store.once("token", 5) is True
            assert await store.once("token", 5) is False

    asyncio.run(main())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_restart_is_unavailable_for_a_while_and_loses_nothing(
    victim: PostgresServer, how: int
) -> None:
    async def main() -> None:
        store = PostgresStore(victim.url, retry_for=0.3)
        await store.open()
        await store.acquire("s", "p", lease=60, meta=b"")
        await store.append("s", "p", [b"1"])
        reading = store.read("s")
        assert [entry.data for entry in await anext(reading)] == [b"1"]
        waiting = asyncio.ensure_future(anext(reading))
        await asyncio.to_thread(victim.end, how)
        with pytest.raises(StoreUnavailable):
            await store.append("s", "p", [b"2"], turn=Turn("p", 0, 0))
        assert not waiting.done()
        await asyncio.to_thread(victim.start)
        await store.append("s", "p", [b"2"], turn=Turn("p", 0, 0))
        async with asyncio.timeout(5 * SLACK):
            assert [entry.data for entry in await waiting] == [b"2"]
        await store.close()

    victim.empty()
    asyncio.run(main())


def test_calls_wait_for_a_server_that_is_halted(victim: PostgresServer) -> None:
    """Also those that are under way; when it goes on, each record is there once."""

    async def main() -> None:
        async with opened(victim.url) as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            victim.send(signal.SIGSTOP)
            adding = [asyncio.create_task(store.append("s", "p", [b"%d" % at])) for at in range(30)]
            await asyncio.sleep(1)
            assert not any(task.done() for task in adding)
            victim.send(signal.SIGCONT)
            await asyncio.gather(*adding)
            await store.finalize("s", b"end")
            assert sorted(int(data) for data in (await entries(store))[:-1]) == list(range(30))

    victim.empty()
    asyncio.run(main())


def test_a_halted_server_is_unavailable_in_time_and_blocks_nothing_else(
    victim: PostgresServer,
) -> None:
    async def main() -> None:
        store = PostgresStore(victim.url, retry_for=0.5)
        await store.open()
        await store.acquire("s", "p", lease=60, meta=b"")
        victim.send(signal.SIGSTOP)
        try:
            start = time.monotonic()
            late = 0.0
            adding = asyncio.create_task(store.append("s", "p", [b"1"], turn=Turn("p", 0, 0)))
            while not adding.done():
                before = time.monotonic()
                await asyncio.sleep(0.01)
                late = max(late, time.monotonic() - before)
            with pytest.raises(StoreUnavailable):
                await adding
            assert time.monotonic() - start < 1.5 * SLACK
            assert late < 0.3 * SLACK
        finally:
            victim.send(signal.SIGCONT)
        with suppress(TurnRefused):  # the server may have read the first one before it went on
            await store.append("s", "p", [b"1"], turn=Turn("p", 0, 0))
        assert (await store.status("s")).last == 1
        await store.close()

    victim.empty()
    asyncio.run(main())


def test_leases_count_from_the_return_of_the_server(victim: PostgresServer) -> None:
    """A producer that could not renew its lease for 3 s is not lost when it can again."""

    async def main() -> None:
        store, other = PostgresStore(victim.url), PostgresStore(victim.url)
        await store.open()
        await other.open()
        await store.acquire("s", "p", lease=1.5, meta=b"")
        await asyncio.sleep(0.7)
        victim.send(signal.SIGSTOP)
        ending = asyncio.ensure_future(_end_if_lost(other))
        await asyncio.sleep(3)
        victim.send(signal.SIGCONT)
        assert await ending is False
        with pytest.raises(StreamTaken):
            await other.acquire("s", "q", lease=1)
        await store.acquire("s", "p", lease=1.0)
        assert not (await other.status("s")).lost
        # Without a pause a lease runs out as ever.
        await asyncio.sleep(2.5)
        assert await other.finalize("s", b"lost", only_if_lost=True)
        await store.close()
        await other.close()

    victim.empty()
    asyncio.run(main())


async def _end_if_lost(store: Store) -> bool:
    while True:
        try:
            return await store.finalize("s", b"lost", only_if_lost=True)
        except StoreUnavailable:
            continue


def test_connections_that_an_administrator_ends_are_replaced(
    url: str, server: PostgresServer
) -> None:
    end_all = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE application_name = 'jsonrill'"
    )

    async def main() -> None:
        async with opened(url) as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            waiting = asyncio.create_task(entries(store))
            for at in range(30):
                if at % 10 == 5:
                    assert await asyncio.to_thread(server.ask, end_all) > 0
                await store.append("s", "p", [b"%d" % at])
            await store.finalize("s", b"end")
            assert await waiting == [*(b"%d" % at for at in range(30)), b"end"]

    asyncio.run(main())


@pytest.mark.parametrize(
    "state, expected",
    [
        ("deadlock_detected", None),
        ("serialization_failure", None),
        ("admin_shutdown", None),
        ("cannot_connect_now", None),
        ("read_only_sql_transaction", None),
        ("lock_not_available", None),
        ("query_canceled", None),
        ("internal_error", None),
        ("disk_full", StoreFull),
    ],
)
def test_an_error_of_the_server_is_tried_again_or_says_that_it_is_full(
    url: str, server: PostgresServer, state: str, expected: type[StoreError] | None
) -> None:
    """A trigger raises it; then it goes away, and what was asked for happens once."""
    trouble = f"""
    CREATE FUNCTION jsonrill.trouble() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE '{state}' USING ERRCODE = '{state}'; END $$;
    CREATE TRIGGER trouble BEFORE INSERT ON jsonrill.entries
        FOR EACH ROW EXECUTE FUNCTION jsonrill.trouble();
    """

    async def main() -> None:
        async with opened(url) as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            await asyncio.to_thread(server.ask, trouble)
            adding = asyncio.create_task(store.append("s", "p", [b"1"]))
            await asyncio.sleep(0.3)
            if expected is not None:
                with pytest.raises(expected):
                    await adding
            await asyncio.to_thread(server.ask, "DROP TRIGGER trouble ON jsonrill.entries")
            if expected is None:
                assert await adding == 1
            assert await store.append("s", "p", [b"2"]) == 2 - (expected is not None)

    asyncio.run(main())


def test_trouble_that_lasts_is_unavailable_and_says_why(server: PostgresServer) -> None:
    async def main() -> None:
        store = PostgresStore(server.url, retry_for=0.5)
        await store.open()
        server.empty()
        with pytest.raises(StoreUnavailable, match="jsonrill"):
            await store.append("s", "p", [b"1"])
        await store.close()

    asyncio.run(main())


def test_another_process_is_notified(url: str) -> None:
    async def main() -> None:
        async with opened(url) as here, opened(url) as there:
            await _wakes_in_time(here, there, 1.0)
            assert isinstance(here, PostgresStore) and here._hears

    asyncio.run(main())


def test_readers_are_woken_without_notices(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind a pooler, which takes LISTEN and passes no notice on."""
    monkeypatch.setattr(module, "PROBE_EVERY", 0.5)
    monkeypatch.setattr(module, "_LISTEN", "LISTEN nothing")

    async def main() -> None:
        async with opened(url) as here, opened(url) as there:
            await _wakes_in_time(here, there, 1.0)
            assert isinstance(here, PostgresStore) and not here._hears
            await asyncio.sleep(1.0)
            await _wakes_in_time(here, there, 1.0, "again")
            waiting = asyncio.ensure_future(anext(here.read("again", 5)))
            await asyncio.sleep(0.3)
            await there.delete("again")
            with pytest.raises(UnknownStream):
                await asyncio.wait_for(waiting, 1.0 * SLACK)

    asyncio.run(main())


async def _wakes_in_time(here: Store, there: Store, seconds: float, stream: str = "s") -> None:
    await there.acquire(stream, "p", lease=60, meta=b"")
    reading = here.read(stream)
    for at in range(5):
        waiting = asyncio.ensure_future(anext(reading))
        await asyncio.sleep(0.2)
        start = time.monotonic()
        await there.append(stream, "p", [b"%d" % at])
        assert [entry.data for entry in await waiting] == [b"%d" % at]
        assert time.monotonic() - start < seconds * SLACK


def test_bounds_hold_when_many_create_and_append_at_once(url: str) -> None:
    async def main() -> None:
        bounds = {"owner_streams": 7, "total_streams": 10, "total_bytes": 60_000}
        async with opened(url, **bounds) as one, opened(url, **bounds) as two:

            async def create(at: int) -> str:
                store = (one, two)[at % 2]
                try:
                    await store.acquire(f"s{at}", "p", lease=60, owner=f"o{at % 3}", meta=b"")
                    for _ in range(5):
                        await store.append(f"s{at}", "p", [b"x" * 1000])
                except StoreFull as full:
                    return full.bound
                return ""

            outcomes = await asyncio.gather(*(create(at) for at in range(40)))
            # One that is refused has held a place for a moment.
            assert 30 <= outcomes.count("total_streams") <= 33
            assert set(outcomes) <= {"", "total_streams", "total_bytes"}

    asyncio.run(main())


def test_bookings_are_within_the_bounds_and_enough(url: str, server: PostgresServer) -> None:
    """After creating, appending, closing, deleting and evicting at once."""

    async def main() -> None:
        bounds = {"owner_streams": 1000, "total_streams": 25, "total_bytes": 150_000}
        async with opened(url, **bounds) as one, opened(url, **bounds) as two:

            async def live(at: int) -> None:
                store, name = (one, two)[at % 2], f"s{at}"
                try:
                    await store.acquire(name, "p", lease=0.2, owner=f"o{at % 3}", meta=b"")
                    for _ in range(at % 7):
                        await store.append(name, "p", [b"x" * 700])
                    if at % 4 == 0:
                        await store.delete(name)
                    elif at % 4 < 3:
                        await store.finalize(name, b"end")
                except (StoreFull, UnknownStream):
                    pass

            for round in range(3):
                await asyncio.gather(*(live(at) for at in range(round * 40, round * 40 + 40)))

    asyncio.run(main())
    assert server.ask("SELECT count(*) FROM jsonrill.streams") <= 25
    assert server.ask("SELECT sum(booked) FROM jsonrill.streams") <= 150_000
    cost = "(head::json->>12)::bigint"
    assert server.ask(f"SELECT count(*) FROM jsonrill.streams WHERE {cost} > booked") == 0
    assert (
        server.ask(
            "SELECT count(*) FROM jsonrill.entries WHERE stream NOT IN"
            " (SELECT key FROM jsonrill.streams)"
        )
        == 0
    )


@pytest.mark.parametrize("name", ["", "\0", "é\n'\"%s {}", "x" * 5000, "x" * 4999 + "é"])
def test_any_text_is_a_name(url: str, name: str) -> None:
    async def main() -> None:
        async with opened(url) as here, opened(url) as there:
            await there.acquire(name, name, lease=60, owner=name, meta=b"\0")
            status = await here.status(name)
            assert (status.owner, status.producer, status.meta) == (name, name, b"\0")
            waiting = asyncio.ensure_future(anext(here.read(name)))
            await asyncio.sleep(0.2)
            await there.append(name, name, [b"1"], turn=Turn(name, 0, 0))
            async with asyncio.timeout(2 * SLACK):
                assert [entry.data for entry in await waiting] == [b"1"]
            assert await here.once(name, 5) and not await there.once(name, 5)
            await here.delete(name)
            with pytest.raises(UnknownStream):
                await there.status(name)

    asyncio.run(main())


def test_names_that_are_long_and_begin_alike_differ(url: str) -> None:
    async def main() -> None:
        async with opened(url) as store:
            for end in "ab":
                await store.acquire("x" * 3000 + end, "p", lease=60, meta=end.encode())
            assert (await store.status("x" * 3000 + "a")).meta == b"a"

    asyncio.run(main())


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_lost_row_is_noticed(url: str, server: PostgresServer, lost: int) -> None:
    async def main() -> None:
        async with opened(url) as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            await store.append("s", "p", [b"1", b"2", b"3"])
            server.ask(f"DELETE FROM jsonrill.entries WHERE seq = {lost}")
            with pytest.raises(LogLost):
                await entries(store)

    asyncio.run(main())


def test_a_log_that_was_rolled_back_and_written_again_is_lost(
    url: str, server: PostgresServer
) -> None:
    """As after a fail-over to a replica that lagged: those who read the old records are told."""

    async def main() -> None:
        async with opened(url) as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            await store.append("s", "p", [b"1", b"2", b"3"])
            old = await store.status("s")
            server.ask("CREATE TABLE jsonrill.kept AS SELECT name, head FROM jsonrill.streams")
            await store.append("s", "p", [b"4", b"5"])
            live = store.read("s")
            assert len(await anext(live)) == 5
            mark = (await store.status("s")).mark
            server.ask("DELETE FROM jsonrill.entries WHERE seq > 3")
            rolled_back = "UPDATE jsonrill.streams SET name = kept.name, head = kept.head"
            server.ask(f"{rolled_back} FROM jsonrill.kept")
            await store.append("s", "p", [b"other", b"5", b"6"])
            with pytest.raises(LogLost):
                await anext(live)
            with pytest.raises(LogLost):
                await anext(store.read("s", 5, mark))
            batch = await anext(store.read("s", 3, old.mark))
            assert [entry.data for entry in batch] == [b"other", b"5", b"6"]

    asyncio.run(main())


def test_many_open_an_empty_database_at_once(url: str) -> None:
    async def main() -> None:
        stores = [PostgresStore(url) for _ in range(8)]
        await asyncio.gather(*(store.open() for store in stores))
        await stores[0].acquire("s", "p", lease=60, meta=b"")
        assert (await stores[7].status("s")).producer == "p"
        for store in stores:
            await store.close()

    asyncio.run(main())


@pytest.fixture
def stranger(server: PostgresServer) -> Iterator[str]:
    """A user who may connect, and nothing else."""
    server.ask("DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN")
    yield "stranger"
    server.empty()
    server.ask("DROP ROLE stranger")


def test_who_may_not_create_the_tables_is_told_what_to_do(
    server: PostgresServer, stranger: str
) -> None:
    async def open_it() -> None:
        store = PostgresStore(server.url_of(stranger))
        try:
            await store.open()
            await store.acquire("s", "p", lease=60, meta=b"")
            await store.append("s", "p", [b"1"], lease=60)
            await store.delete("s")
        finally:
            await store.close()

    with pytest.raises(StoreError, match="user stranger may not.*postgres_schema stranger"):
        asyncio.run(open_it())
    command = [sys.executable, "-m", "jsonrill_server.store.postgres_schema"]
    server.ask(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    with pytest.raises(StoreError, match="user stranger may not"):
        asyncio.run(open_it())
    server.empty()
    printed = subprocess.run([*command, stranger], capture_output=True, text=True, check=True)
    server.ask(printed.stdout)
    asyncio.run(open_it())


def test_tables_of_another_version_are_refused(url: str, server: PostgresServer) -> None:
    async def open_it() -> None:
        store = PostgresStore(url)
        try:
            await store.open()
        finally:
            await store.close()

    asyncio.run(open_it())
    server.ask("UPDATE jsonrill.version SET number = 0")
    with pytest.raises(StoreError, match="another version.*DROP SCHEMA"):
        asyncio.run(open_it())


def test_what_cannot_be_connected_to_says_why() -> None:
    async def open_it(url: str) -> None:
        store = PostgresStore(url, retry_for=0.3)
        try:
            await store.open()
        finally:
            await store.close()

    with pytest.raises(StoreUnavailable, match="refused"):
        asyncio.run(open_it("postgresql://secret:password@127.0.0.1:1/x"))


@pytest.mark.parametrize("url", ["postgresql:x", "postgresql://h?no_such_option=1", "postgres:/h"])
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(ValueError):
        open_store(url)


def test_old_streams_and_tokens_are_swept(
    url: str, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SWEEP_EVERY", 0.3)

    async def main() -> None:
        async with opened(url, keep_closed=0.2) as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            await store.finalize("s", b"")
            await store.once("t", 0.2)
            async with asyncio.timeout(5 * SLACK):
                count = (
                    "SELECT (SELECT count(*) FROM jsonrill.{}) + (SELECT count(*) FROM jsonrill.{})"
                )
                while await asyncio.to_thread(server.ask, count.format("streams", "used")):
                    await asyncio.sleep(0.1)

    asyncio.run(main())
