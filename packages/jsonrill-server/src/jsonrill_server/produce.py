"""Write the records of a source, and its end, to a log.

The first record after a pause is written at once; what comes within the next 25 ms goes into one
write. An empty write renews the lease. A writer that was replaced while it was halted is fenced: it
stops, and the next writer decides how the run ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from jsonrill.errors import LimitExceeded

from .failures import FAILED, end_of_error
from .log import Head, Lost, State, Store, StoreError, cancel, retry, wait_for
from .records import LOG_LOST, End, Record, to_bytes

# Seconds that records are held while the store is unavailable.
HOLD: Final = 60.0
# Bytes that may wait for a write; then the source waits, too.
MOST_WAITING: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds and times of a process; times are in seconds, `retry` in milliseconds."""

    heartbeat: float = 15.0
    send_timeout: float = 30.0
    retry: int = 1000
    readers: int = 5000
    stream_bytes: int = 16 << 20
    stream_records: int = 100_000
    streams: int = 10_000
    keep: float = 3600.0
    grace: float = 10.0


@dataclass
class Writer:
    """The claim of this process to a log: the head after its last write."""

    store: Store
    key: str
    head: Head
    lease: float
    limits: Limits
    hold: float
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def add(self, data: Sequence[bytes]) -> None:
        """Append records of the source; LimitExceeded if the stream becomes too large."""
        limits = self.limits
        size, count = self.head.size + sum(map(len, data)), self.head.last + len(data)
        if size > limits.stream_bytes or count > limits.stream_records:
            bounds = f"{limits.stream_bytes} bytes and {limits.stream_records} records"
            raise LimitExceeded(f"a stream has at most {bounds}")
        await self.append(data)

    async def append(self, data: Sequence[bytes] = (), state: State | None = None) -> None:
        """Append records. Retry for `hold` seconds while the store is unavailable."""
        async with self._lock:
            write = partial(self.store.append, self.key, self.head, self.lease, data, state)
            self.head = await retry(write, self.hold)

    async def finish(self, end: End, state: State) -> None:
        """Write the end. If records were lost, a new epoch has to follow the remaining ones."""
        try:
            await self.append([to_bytes(end)], state)
        except Lost:
            head = await self.store.claim(self.key, self.lease, epoch=self.head.epoch)
            if head is None:
                raise
            self.head = head
            await self.append([to_bytes(LOG_LOST)], state)

    async def renew(self) -> None:
        """Renew the lease until that fails."""
        while True:
            await asyncio.sleep(self.lease / 3)
            try:
                await self.append()
            except StoreError:
                return


class Production:
    """A source that is written to a log by this process."""

    def __init__(self, writer: Writer, source: AsyncGenerator[list[Record]]) -> None:
        self.writer = writer
        self._source = source
        self._waiting: list[bytes] = []
        self._size = 0
        self._arrived = asyncio.Event()
        self._written = asyncio.Event()
        self._stopped: End | None = None
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(lambda _: self._arrived.set())

    async def run(self) -> End | None:
        """Write the records of the source. Return how it ended; None if its records say that.

        Raises Fenced if another writer has the log, and StoreError if the store takes no more.
        """
        try:
            while not self._reading.done() or self._waiting:
                await self._write()
        except Lost:
            return LOG_LOST
        except LimitExceeded as error:
            return end_of_error(error)
        finally:
            await cancel(self._reading)
        if self._stopped is not None:
            return self._stopped
        # Someone may have cancelled an awaitable of the source.
        return FAILED if self._reading.cancelled() else self._reading.result()

    def stop(self, end: End) -> None:
        """Close the source. Its records so far are still written, and then this end."""
        if not self._reading.done():
            self._stopped = end
            self._reading.cancel()

    async def _read(self) -> End | None:
        try:
            async with aclosing(self._source):
                async for records in self._source:
                    data = [to_bytes(record) for record in records]
                    self._waiting += data
                    self._size += sum(map(len, data))
                    self._arrived.set()
                    while self._size > MOST_WAITING:
                        self._written.clear()
                        await self._written.wait()
            return None
        except (Exception, SystemExit) as error:  # SystemExit would end the event loop
            return end_of_error(error)

    async def _write(self) -> None:
        """Wait for records and write them, or renew the lease in time."""
        await wait_for(self._arrived, self.writer.lease / 3)
        self._arrived.clear()
        data, self._waiting, self._size = self._waiting, [], 0
        self._written.set()
        await self.writer.add(data)
        if data and self.writer.store.write_every:
            await asyncio.sleep(self.writer.store.write_every)
