"""What only PostgreSQL can do to us: restart, fail over, refuse, lose notices, forget rows."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest

from jsonrill_server.store import (
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    UnknownStream,
)
from jsonrill_server.store import postgres as module
from jsonrill_server.store.postgres import PostgresStore
from support import SLACK, few
from support.databases import PostgresServer
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


async def entries(store: Store, after: int = 0) -> list[bytes]:
    return [entry.data async for batch in store.read("s", after) for entry in batch]


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


@few(3)
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


def test_another_process_is_notified(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "check_every", 1000.0)

    async def main() -> None:
        async with opened(url) as here, opened(url) as there:
            await _expect_wake_up(here, there)
            assert isinstance(here, PostgresStore) and here._hears

    asyncio.run(main())


def test_readers_are_woken_without_notices(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind a pooler, which takes LISTEN and passes no notice on."""
    monkeypatch.setattr(module, "PROBE_EVERY", 0.5)
    monkeypatch.setattr(module, "_LISTEN", "LISTEN nothing")
    monkeypatch.setattr(Store, "check_every", 1000.0)

    async def main() -> None:
        async with opened(url) as here, opened(url) as there:
            await _expect_wake_up(here, there)
            assert isinstance(here, PostgresStore) and not here._hears
            await asyncio.sleep(1.0)
            await _expect_wake_up(here, there, "again")
            waiting = asyncio.ensure_future(anext(here.read("again", 5)))
            await asyncio.sleep(0.3)
            await there.delete("again")
            with pytest.raises(UnknownStream):
                await asyncio.wait_for(waiting, 20 * SLACK)

    asyncio.run(main())


async def _expect_wake_up(here: Store, there: Store, stream: str = "s") -> None:
    await there.acquire(stream, "p", lease=60, meta=b"")
    reading = here.read(stream)
    for at in range(5):
        waiting = asyncio.ensure_future(anext(reading))
        await asyncio.sleep(0.2)
        await there.append(stream, "p", [b"%d" % at])
        async with asyncio.timeout(20 * SLACK):
            assert [entry.data for entry in await waiting] == [b"%d" % at]


def test_names_that_are_long_and_begin_alike_differ(url: str) -> None:
    async def main() -> None:
        async with opened(url) as store:
            for end in "ab":
                await store.acquire("x" * 3000 + end, "p", lease=60, meta=end.encode())
            assert (await store.status("x" * 3000 + "a")).meta == b"a"

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


def test_old_streams_are_swept(
    url: str, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SWEEP_EVERY", 0.3)

    async def main() -> None:
        async with opened(url, keep_closed=0.2) as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            await store.finalize("s", b"")
            async with asyncio.timeout(5 * SLACK):
                count = "SELECT count(*) FROM jsonrill.streams"
                while await asyncio.to_thread(server.ask, count):
                    await asyncio.sleep(0.1)

    asyncio.run(main())
