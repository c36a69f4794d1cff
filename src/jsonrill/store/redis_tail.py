"""One blocking connection per process that waits for new entries of all streams read here.

A reader that has caught up names the position it waits from. The waiting command cannot be given
another key while it blocks, so a newcomer unblocks it; the next one asks for all keys again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from redis.exceptions import RedisError

from .base import Entry
from .tasks import stop

BLOCK_MS = 2000
# A waiting reader looks at the log itself now and then: nothing depends on a message arriving.
LOOK = 3.0
BATCH = 200
BOUND = 2000


def entries(raw: Sequence[Any]) -> list[Entry]:
    """Entries from Redis's answer to XRANGE, or from one stream's part of that to XREAD."""
    return [
        Entry(int(name.split(b"-")[0]), data, field == b"e")
        for name, fields in raw
        for field, data in fields.items()
    ]


class Following:
    """One reader's place in the tailer: what came since it last asked, within a bound."""

    def __init__(self, tailer: Tailer) -> None:
        self._tailer = tailer
        self._news = asyncio.Event()
        self._batch: list[Entry] = []
        self.after: int | None = None
        self.closed = False

    @property
    def waits(self) -> bool:
        """Whether it has started and has not missed anything since."""
        return self.after is not None or bool(self._batch)

    def start(self, after: int) -> None:
        self.after = after
        self._tailer.poke()

    def stop(self) -> None:
        self.after = None
        self._batch = []
        self._news.clear()

    async def wait(self) -> list[Entry]:
        """What came, or nothing after a while: then it is time to look at the log."""
        try:
            async with asyncio.timeout(LOOK):
                await self._news.wait()
        except TimeoutError:
            pass
        batch, self._batch = self._batch, []
        self._news.clear()
        return batch

    def give(self, batch: list[Entry]) -> None:
        if self.after is None:
            return
        new = [entry for entry in batch if entry.seq > self.after]
        if new:
            self._batch += new
            # Too far behind: it stops here and finds the rest in the log.
            self.after = new[-1].seq if len(self._batch) < BOUND else None
            self._news.set()

    def close(self) -> None:
        self.closed = True
        self._news.set()


class Tailer:
    """Hands each batch to every reader that waits for that stream."""

    def __init__(self, blocking: Any, commands: Any) -> None:
        self._blocking = blocking
        self._commands = commands
        self._following: dict[str, set[Following]] = {}
        self._task: asyncio.Task[None] | None = None
        self._poking: asyncio.Task[None] | None = None
        self._asked = asyncio.Event()
        self._round = 0
        self._connection_id: int | None = None

    @contextmanager
    def follow(self, key: str) -> Iterator[Following]:
        following = Following(self)
        mine = self._following.setdefault(key, set())
        mine.add(following)
        try:
            yield following
        finally:
            mine.discard(following)
            if not mine and self._following.get(key) is mine:
                del self._following[key]

    def poke(self) -> None:
        """Somebody new waits: ask Redis for all keys again."""
        self._asked.set()
        loop = asyncio.get_running_loop()
        if self._task is None:
            self._task = loop.create_task(self._run())
        elif self._poking is None or self._poking.done():
            self._poking = loop.create_task(self._unblock(self._round))

    async def close(self) -> None:
        for readers in self._following.values():
            for following in readers:
                following.close()
        await stop(self._task, self._poking)
        await self._blocking.aclose()

    async def _run(self) -> None:
        while True:
            wanted = self._wanted()
            if not wanted:
                self._asked.clear()
                await self._asked.wait()
                continue
            try:
                if self._connection_id is None:
                    self._connection_id = await self._blocking.client_id()
                async with asyncio.timeout(BLOCK_MS / 1000 + 5):
                    raw = await self._blocking.xread(wanted, count=BATCH, block=BLOCK_MS)
            except (RedisError, OSError, TimeoutError):
                self._connection_id = None
                await self._blocking.connection_pool.disconnect()
                await asyncio.sleep(0.1)
                continue
            finally:
                self._round += 1
            for key, found in raw or ():
                self._deliver(key.decode(), entries(found))

    def _wanted(self) -> dict[str, str]:
        wanted = {}
        for key, readers in self._following.items():
            after = [following.after for following in readers if following.after is not None]
            if after:
                wanted[key] = f"{min(after)}-0"
        return wanted

    def _deliver(self, key: str, batch: list[Entry]) -> None:
        for following in tuple(self._following.get(key, ())):
            following.give(batch)

    async def _unblock(self, waiting_round: int) -> None:
        """Until the command that was waiting has come back; it may not have reached Redis yet."""
        while self._round == waiting_round and self._connection_id is not None:
            with suppress(RedisError, OSError):
                await self._commands.client_unblock(self._connection_id)
            await asyncio.sleep(0.005)
