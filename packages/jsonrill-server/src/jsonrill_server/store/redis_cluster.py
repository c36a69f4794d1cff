"""A store in a Redis or Valkey cluster, for more than one Redis can take. Needs the extra `redis`.

The keys of a stream are in one slot, so that each step is atomic as in a single Redis; streams are
spread over `PARTS` slots, each with a pulse of its own. What all streams take is in books in slots
of their own: a stream reserves room there before it takes it (see `redis_scripts`).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable
from hashlib import sha1
from typing import Any
from zlib import crc32

import redis.asyncio
from redis.asyncio.connection import parse_url
from redis.exceptions import NoScriptError

from .base import Bounds, New, Status, StoreFull, StreamTaken, UnknownStream, check_fits
from .redis import CONNECTING, CONNECTIONS, RedisStore, milliseconds
from .redis_scripts import EVICT, FIRST_BYTES, REPORT, RESERVE, for_cluster

PARTS = 16
# Seconds that the books may take to hear of a change; they learn of it later, too.
REPORT_IN = 1.0


class RedisClusterStore(RedisStore):
    """Logs as Redis streams, as in `RedisStore`, on the nodes of a cluster."""

    def __init__(self, url: str, bounds: Bounds | None = None, **options: Any) -> None:
        super().__init__(url.replace("+cluster", "", 1), bounds, **options)
        self._evict = self._script(EVICT)
        self._reserve_in = _Script(self._client, RESERVE)
        self._report_to = _Script(self._client, REPORT)

    def _new_client(self, url: str) -> Any:
        return redis.asyncio.RedisCluster.from_url(
            url, socket_timeout=5, max_connections=CONNECTIONS, **CONNECTING
        )

    def _new_listener(self, url: str) -> Any:
        return _AnyNode(self._client, url)

    def _script(self, text: str) -> Any:
        return _Script(self._client, for_cluster(text))

    def _keys(self, stream: str) -> list[str]:
        part = f"{self._prefix}:{{{crc32(stream.encode()) % PARTS}}}"
        return [f"{part}:{stream}:meta", f"{part}:{stream}:log", f"{part}:pulse"]

    async def open(self) -> None:
        await self._call(self._client.initialize)
        await self._check_version()
        names: dict[str, str] = {}
        number = 0
        while len(names) < PARTS:  # a name for each pulse
            names.setdefault(self._keys(str(number))[2], str(number))
            number += 1
        self._ticking = [asyncio.create_task(self._tick(name)) for name in names.values()]

    async def _take(self, stream: str, producer: str, lease: float, new: New | None) -> Status:
        if new is not None:
            try:
                old = await self.status(stream)
            except UnknownStream:
                pass
            else:
                if not (new.replace and old.closed):
                    raise StreamTaken(f"stream {stream} exists")
                if old.owner != new.owner:
                    await self._tell(stream, old.owner, "gone")
            check_fits(self.bounds, 0, 0, new.records)
            cost = self.stream_cost + len(new.meta) + self._cost(new.written)
            cost += FIRST_BYTES if new.written else 0
            term = milliseconds(lease)
            try:
                await self._reserve(stream, new.owner, cost, cost, term)
            except StoreFull:
                # The other book may have it. If another process made the stream meanwhile, they
                # learn of it when its lease is renewed.
                await self._tell(stream, new.owner, "gone")
                raise
        try:
            return await super()._take(stream, producer, lease, new)
        except UnknownStream:
            if new is not None:  # it expired at once
                await self._tell(stream, new.owner, "gone")
            raise

    async def _answer(
        self, script: Any, stream: str, arguments: list[Any], patience: float | None
    ) -> list[Any]:
        room = 0
        while True:
            report, whose, size, life, answer = await super()._answer(
                script, stream, [*arguments, room], patience
            )
            if answer[0] != b"ROOM":
                break
            owner, needs = answer[1].decode(), int(answer[2])
            more = min(needs // 4, self.bounds.owner_bytes // 64, self.bounds.total_bytes // 64)
            room = await self._reserve(stream, owner, needs, needs + int(more))
        if report and script is not self._evict:
            await self._tell(stream, whose.decode(), report, size, life)
        return list(answer)

    def _books(self, owner: str) -> tuple[list[str], list[str]]:
        """The keys of the owner's book, and of that of all."""
        mine, every = f"{self._prefix}:{{owner:{owner}}}", f"{self._prefix}:{{all}}"
        return [f"{mine}:ends", f"{mine}:sizes"], [f"{every}:ends", f"{every}:sizes"]

    async def _reserve(
        self, stream: str, owner: str, needs: int, wish: int, lease: int | None = None
    ) -> int:
        """Reserve room in both books and return how much; with `lease`, for a new stream."""
        bounds, (mine, every) = self.bounds, self._books(owner)
        about = [stream, self._book_life(0), needs, wish]
        of_owner: list[Any] = [*about, bounds.owner_bytes]
        of_all: list[Any] = [*about, bounds.total_bytes]
        if lease is not None:
            of_owner += [lease, bounds.owner_streams]
            of_all += [lease, "", bounds.total_streams]
        return min(
            await asyncio.gather(
                self._reserve_one(mine, stream, owner, of_owner, "owner"),
                self._reserve_one(every, stream, None, of_all, "total"),
            )
        )

    async def _reserve_one(
        self, book: list[str], stream: str, owner: str | None, arguments: list[Any], whose: str
    ) -> int:
        while True:
            word, *rest = await self._call(lambda: self._reserve_in(keys=book, args=arguments))
            if word == b"OK":
                return int(rest[0])
            bound = {b"open": "owner_streams"}.get(word) or f"{whose}_{word.decode()}"
            others = [name.decode() for name in rest if name.decode() != stream]
            if not await self._make_room(book, owner, others):
                raise StoreFull(bound, f"the bound {bound} is reached")

    async def _make_room(self, book: list[str], owner: str | None, names: list[str]) -> bool:
        """Ask streams, the oldest first, whether they can go; False if the book stays as it is."""
        corrected = False
        for name in names:
            ends, whose = await self._run(self._evict, name, [])
            if ends == b"gone":
                await self._tell(name, whose.decode() or owner, "gone", book=book)
                return True
            await self._tell(name, None, ends, book=book)
            corrected = True
        return corrected

    def _book_life(self, life: int) -> int:
        """How long a book is kept in which there is a stream with such a life of its own."""
        return 2 * max(self._longest, life) + 60_000

    async def _tell(
        self,
        stream: str,
        owner: str | None,
        report: Any,
        size: int = 0,
        life: int = 0,
        book: list[str] | None = None,
    ) -> None:
        """Tell the books when a stream's lease ends, or that it is gone.

        An error is only reported: the stream has changed, and the books ask it before they act.
        """
        books = [] if owner is None else [*self._books(owner)]
        if book is not None and book not in books:
            books.append(book)
        arguments = [stream, self._book_life(life), report, size]

        async def one(keys: list[str]) -> None:
            try:
                async with asyncio.timeout(REPORT_IN):
                    await self._call(lambda: self._report_to(keys=keys, args=arguments))
            except Exception as error:
                self.on_error("books", error)

        await asyncio.gather(*map(one, books))


class _Script:
    """A script that is sent where it is missing. The client of a cluster has none of its own."""

    def __init__(self, client: Any, text: str) -> None:
        self._client = client
        self._text = text
        self._sha = sha1(text.encode()).hexdigest()

    async def __call__(self, keys: list[str], args: list[Any]) -> Any:
        try:
            return await self._client.evalsha(self._sha, len(keys), *keys, *args)
        except NoScriptError:
            return await self._client.eval(self._text, len(keys), *keys, *args)


class _AnyNode:
    """Connections to any node for messages: each passes on what is published at another."""

    def __init__(self, cluster: Any, url: str) -> None:
        self._cluster = cluster
        self._given: dict[str, Any] = {**parse_url(url), **CONNECTING}

    def pubsub(self) -> Any:
        nodes = self._cluster.get_primaries()
        where = {}
        if nodes:
            node = random.choice(nodes)
            where = {"host": node.host, "port": node.port}
        pool = redis.asyncio.ConnectionPool(**{**self._given, **where})
        return redis.asyncio.Redis(connection_pool=pool).pubsub()

    def aclose(self) -> Awaitable[None]:
        return asyncio.sleep(0)
