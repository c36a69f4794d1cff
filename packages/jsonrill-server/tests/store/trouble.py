"""What goes wrong with the data and the answers of a store, done to each kind in its own way."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
from redis.exceptions import ConnectionError

from jsonrill_server.store import Store
from jsonrill_server.store.postgres import PostgresStore
from jsonrill_server.store.redis import RedisStore
from support.databases import PostgresServer, RedisServer


class LosesAnswers:
    """A call that is carried out, and whose first answers never arrive."""

    def __init__(self, real: Any, times: int = 1, error: type[Exception] = ConnectionError) -> None:
        # Asked for again, it begins to count again.
        self.real: Any = real.real if isinstance(real, LosesAnswers) else real
        self.left = times
        self.error = error

    async def __call__(self, *arguments: Any, **named: Any) -> Any:
        answer = await self.real(*arguments, **named)
        if self.left:
            self.left -= 1
            raise self.error("lost")
        return answer


class OfRedis:
    """The data are those of the stream `s`."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    def lose_answers(self, store: Store, times: int) -> None:
        assert isinstance(store, RedisStore)
        for name in ("_run_find", "_run_swap", "_run_drop"):
            setattr(store, name, LosesAnswers(getattr(store, name), times))

    def lose_a_record(self, store: Store, number: int) -> None:
        """The first `number` of three records: Redis trims a log at its beginning."""
        assert isinstance(store, RedisStore)
        key = store._keys("s", "")[1]
        assert self._server.ask(f"XTRIM {key} MAXLEN {3 - number}")[:1] == b":"

    def keep(self, store: Store) -> None:
        assert isinstance(store, RedisStore)
        for key in store._keys("s", "")[:2]:
            self._server.ask(f"COPY {key} {key}:kept")

    def roll_back(self, store: Store) -> None:
        assert isinstance(store, RedisStore)
        for key in store._keys("s", "")[:2]:
            self._server.ask(f"COPY {key}:kept {key} REPLACE")

    async def make_older(self, store: Store) -> None:
        assert isinstance(store, RedisStore)
        assert await store._client.get("jsonrill:version") == b"3"
        await store._client.set("jsonrill:version", 2)

    async def check_list(self, store: Store, names: list[str]) -> None:
        """Every stream is in the list, and the list has an owner for each."""
        assert isinstance(store, RedisStore)
        owners = await store._client.hgetall("jsonrill:owners")
        assert set(await store._client.zrange("jsonrill:ends", 0, -1)) == set(owners)
        for name in names:
            if (await store._find(name, 0, 0)).head is not None:
                assert name.encode() in owners


class OfPostgres:
    def __init__(self, server: PostgresServer) -> None:
        self._server = server

    def lose_answers(self, store: Store, times: int) -> None:
        assert isinstance(store, PostgresStore)
        lost = LosesAnswers(store._work, times, psycopg.OperationalError)
        store._work = lost  # type: ignore[assignment, method-assign]

    def lose_a_record(self, store: Store, number: int) -> None:
        self._server.ask(f"DELETE FROM jsonrill.entries WHERE seq = {number}")

    def keep(self, store: Store) -> None:
        ask = self._server.ask
        ask("CREATE TABLE jsonrill.kept AS SELECT name, head FROM jsonrill.streams")
        ask("CREATE TABLE jsonrill.kept_entries AS SELECT * FROM jsonrill.entries")

    def roll_back(self, store: Store) -> None:
        ask = self._server.ask
        ask("UPDATE jsonrill.streams SET name = kept.name, head = kept.head FROM jsonrill.kept")
        ask("DELETE FROM jsonrill.entries")
        ask("INSERT INTO jsonrill.entries SELECT * FROM jsonrill.kept_entries")

    async def make_older(self, store: Store) -> None:
        self._server.ask("UPDATE jsonrill.version SET number = 0")

    async def check_list(self, store: Store, names: list[str]) -> None:
        ask = self._server.ask
        assert ask("SELECT count(*) FROM jsonrill.streams") <= store.bounds.total_streams
        kept = "SELECT key FROM jsonrill.streams"
        assert ask(f"SELECT count(*) FROM jsonrill.entries WHERE stream NOT IN ({kept})") == 0


class OfSqlite:
    def __init__(self, path: Path) -> None:
        self._path = path

    def _ask(self, *query: Any) -> None:
        with sqlite3.connect(self._path) as db:
            db.execute(*query)
        db.close()

    def lose_a_record(self, store: Store, number: int) -> None:
        self._ask("DELETE FROM entries WHERE seq = ?", (number,))

    async def make_older(self, store: Store) -> None:
        self._ask("PRAGMA user_version = 1")


def trouble_of(kind: str, server: Any, folder: Path) -> Any:
    if kind == "sqlite":
        return OfSqlite(folder / "log.db")
    return OfPostgres(server) if kind == "postgresql" else OfRedis(server)
