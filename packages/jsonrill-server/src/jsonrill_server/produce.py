"""Write the records of a source, and its end, to a log.

The first record after a pause is written at once; what comes within the next 25 ms goes into one
write. An empty write renews the lease. A writer that was replaced while it was halted is fenced: it
stops, and what became of the run is for the next writer to say.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from jsonrill.errors import LimitExceeded

from .failures import FAILED, end_of_error
from .log import Head, Lost, State, Store, StoreError, StoreFull, StoreUnavailable, cancel, wait_for
from .records import LOG_LOST, End, Record, to_bytes

log = logging.getLogger("jsonrill_server")
# Seconds that records are held while the store is unavailable, and seconds between two attempts.
HOLD: Final = 60.0
PAUSE: Final = 0.2
# Bytes that may wait for a write; then the source waits, too.
MOST_WAITING: Final = 1 << 20


@dataclass
class Writer:
    """The claim of this process to a log: the head after its last write."""

    store: Store
    key: str
    head: Head
    lease: float
    hold: float = HOLD
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def append(self, data: Sequence[bytes] = (), state: State | None = None) -> None:
        """Append records. Retry for `hold` seconds while the store is unavailable."""
        clock = asyncio.get_running_loop().time
        until = clock() + self.hold
        async with self._lock:
            while True:
                try:
                    self.head = await self.store.append(
                        self.key, self.head, self.lease, data, state
                    )
                    return
                except (StoreUnavailable, StoreFull) as error:
                    if clock() > until:
                        raise
                    log.warning("a write is tried again: %s", error)
                await asyncio.sleep(PAUSE)

    async def finish(self, end: End, state: State) -> None:
        """Write the end. Where records were lost, only a new epoch may follow what is left."""
        try:
            await self.append([to_bytes(end)], state)
        except Lost:
            head = await self.store.claim(self.key, self.lease, epoch=self.head.epoch)
            if head is None:
                raise
            self.head = head
            await self.append([to_bytes(LOG_LOST)], state)

    @asynccontextmanager
    async def renewing(self) -> AsyncIterator[None]:
        """Renew the lease while something else is done."""
        task = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            await cancel(task)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self.lease / 3)
            try:
                await self.append()
            except StoreError:
                return


class Production:
    """A source that is written to a log by this process."""

    def __init__(
        self,
        writer: Writer,
        source: AsyncGenerator[list[Record]],
        most_bytes: int,
        most_records: int,
    ) -> None:
        self.writer = writer
        self._source = source
        self._most_bytes = most_bytes
        self._most_records = most_records
        self._waiting: list[bytes] = []
        self._size = 0
        self._arrived = asyncio.Event()
        self._written = asyncio.Event()
        self._stopped: End | None = None
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(lambda _: self._arrived.set())

    async def run(self) -> End | None:
        """Write the records of the source. Return how it ended; None if its reader says that.

        Raises Fenced if another writer has the log, and StoreError if the store takes no more.
        """
        try:
            while not self._reading.done() or self._waiting:
                await self._write()
        except Lost:
            return LOG_LOST
        finally:
            await cancel(self._reading)
        if self._stopped is not None:
            return self._stopped
        # Something that the source waited for may have been cancelled.
        return FAILED if self._reading.cancelled() else self._reading.result()

    def stop(self, end: End) -> None:
        """Close the source; what came is still written, and then this end."""
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
                    self._check_bounds()
            return None
        except (Exception, SystemExit) as error:  # SystemExit would end the event loop
            return end_of_error(error)

    def _check_bounds(self) -> None:
        size = self.writer.head.size + self._size
        count = self.writer.head.last + len(self._waiting)
        if size > self._most_bytes or count > self._most_records:
            bounds = f"{self._most_bytes} bytes and {self._most_records} records"
            raise LimitExceeded(f"a stream has at most {bounds}")

    async def _write(self) -> None:
        """Wait for records and write them, or renew the lease in time."""
        await wait_for(self._arrived, self.writer.lease / 3)
        self._arrived.clear()
        data, self._waiting, self._size = self._waiting, [], 0
        self._written.set()
        await self.writer.append(data)
        if data and self.writer.store.write_every:
            await asyncio.sleep(self.writer.store.write_every)
