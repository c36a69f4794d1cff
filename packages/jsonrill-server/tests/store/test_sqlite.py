"""What only a file can do to us: be shared by processes, be old, lose rows."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from jsonrill_server.store import SqliteStore, Store, StoreError
from jsonrill_server.store.sqlite import _changes
from support import SLACK

from .conftest import opened


def test_what_another_process_writes_wakes_readers_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "check_every", 1000.0)

    async def main() -> None:
        url = f"sqlite:///{tmp_path}/log.db"
        async with opened(url) as here, opened(url) as there:
            for name in ("s", "t"):
                await there.acquire(name, "p", lease=60, meta=b"")
            reading, quiet = here.read("s"), asyncio.ensure_future(anext(here.read("t")))
            for at in range(5):
                waiting = asyncio.ensure_future(anext(reading))
                await asyncio.sleep(0.1)
                await there.append("s", "p", [b"%d" % at])
                async with asyncio.timeout(20 * SLACK):
                    assert [entry.data for entry in await waiting] == [b"%d" % at]
            assert not quiet.done()
            quiet.cancel()

    asyncio.run(main())


class Disturbed(sqlite3.Connection):
    """Another process writes to each stream after the first `SELECT`."""

    path = ""
    undisturbed = True

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        cursor = super().execute(*arguments)
        if not self.undisturbed or not arguments[0].startswith("SELECT"):
            return cursor
        self.undisturbed = False
        with sqlite3.connect(self.path) as db:
            db.execute("UPDATE changes SET number = number + 1")
            db.execute("UPDATE streams SET changed = (SELECT number FROM changes)")
        db.close()
        return cursor


def test_what_changes_while_changes_are_looked_for_is_found_later(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(f"sqlite:///{tmp_path}/log.db") as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            db = sqlite3.connect(tmp_path / "log.db", factory=Disturbed, isolation_level=None)
            db.path = str(tmp_path / "log.db")
            _, seen, first = _changes(0, 0, db)
            [last] = db.execute("SELECT changed FROM streams").fetchone()
            assert "s" in first or seen < last
            db.close()

    asyncio.run(main())


@pytest.mark.parametrize("jump", [400.0, 1e6, -400.0])
def test_a_wall_clock_that_is_set_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    """Neither for the process that writes, nor for one that comes later."""
    wall = time.time

    async def main() -> None:
        url = f"sqlite:///{tmp_path}/log.db"
        async with opened(url) as here:
            await here.acquire("s", "p", lease=300, meta=b"")
            monkeypatch.setattr(time, "time", lambda: wall() + jump)
            async with opened(url) as there:
                for store in (here, there):
                    status = await store.status("s")
                    assert not status.lost and 290 < status.lease <= 300
                    assert not await store.finalize("s", b"", only_if_lost=True)
                await here.append("s", "p", [b"x"], lease=300)
                assert (await there.status("s")).lease > 290

    asyncio.run(main())


def test_a_system_that_was_started_again_goes_on_with_its_wall_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        url = f"sqlite:///{tmp_path}/log.db"
        async with opened(url) as store:
            await store.acquire("s", "p", lease=300, meta=b"")
        clock, wall = time.monotonic, time.time
        monkeypatch.setattr(time, "monotonic", lambda: clock() + 1e6)
        monkeypatch.setattr(time, "time", lambda: wall() + 100)
        monkeypatch.setattr("jsonrill_server.store.sqlite._boot", lambda: "another")
        async with opened(url) as store:
            assert 190 < (await store.status("s")).lease <= 200

    asyncio.run(main())


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE streams (id TEXT PRIMARY KEY)")
    db.close()

    async def main() -> None:
        store = SqliteStore(str(path))
        with pytest.raises(StoreError, match="another version"):
            await store.open()
        await store.close()

    asyncio.run(main())
