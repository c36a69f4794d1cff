"""One rendering of one stream, made once for all its readers in this process.

A view follows the log, renders each group of records once and keeps the last frames, ready to be
sent, in a ring. Readers have places in it and no queues: one that is too slow loses its place and
continues from the log (`reader.py`). Nothing a reader does can delay the view.
"""

from __future__ import annotations

import asyncio
import logging
from array import array
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

from ..eventstream import DONE, encode_event
from ..store import Entry, Store, StoreError
from ..store.tasks import stop
from .options import ViewOptions
from .positions import Position
from .records import End, Record, from_entry
from .render import Rendering

T = TypeVar("T")
log = logging.getLogger("jsonrill.server")
# With a size alone, an event that waits for more is sent after this many seconds.
PATIENCE = 1.0
# How many records are rendered without letting others run.
BURST = 64
RING_FRAMES = 1024
RING_BYTES = 1 << 20


class Frame(NamedTuple):
    """The bytes of one event, and which records, (start, position.seq], it comes from."""

    start: int
    position: Position
    data: bytes
    # Whether nothing of its group comes after it, and whether nothing comes after it at all.
    last: bool
    final: bool


def render(work: Rendering, entries: Sequence[Entry]) -> list[Frame]:
    """The frames of one group of entries; a final entry may only be the last of its group."""
    records: list[Record] = []
    end: End | None = None
    for entry in entries:
        found = from_entry(entry)
        if isinstance(found, End):
            end = found
        else:
            records.append(found)
    blocks = [(data, None) for data in work.feed(records)] if records else []
    if end is not None:
        blocks += [(data, None) for data in work.end(end)]
        if work.closes:
            blocks.append((DONE, "CLOSE"))  # type: ignore[arg-type]
    start, (seq, mark) = entries[0].seq - 1, (entries[-1].seq, entries[-1].mark)
    frames = []
    for sub, (data, event) in enumerate(blocks):
        last = sub == len(blocks) - 1
        position = Position(seq, None if last else sub, 1 if last else seq - start, mark)
        block = encode_event(data, event=event, id=str(position) if work.ids else None)
        frames.append(Frame(start, position, block, last, last and end is not None))
    return frames


class View:
    """Follows one log. `seq` is the last record rendered, `ended` is set after the final one."""

    def __init__(
        self,
        store: Store,
        stream: str,
        work: Rendering,
        options: ViewOptions,
        moved: Callable[[], None],
        patience: float,
    ) -> None:
        self.stream = stream
        self.options = options
        self.seq = 0
        self.ended = False
        self.failed: StoreError | None = None
        self.readers = 0
        # Frames are numbered without end; `first` is the number of the first in the ring.
        self.ring: deque[Frame] = deque()
        self.first = 0
        # Up to this record frames have been dropped from the ring.
        self.dropped = 0
        # The marks of all records rendered, to tell whether a reader read this log.
        self._marks = array("I")
        self._bytes = 0
        self._patience = patience
        self._limits: set[asyncio.Timeout] = set()
        self._store = store
        self._work = work
        self._moved = moved
        self._pending: list[Entry] = []
        self._pending_size = 0
        self._every = options.every / 1000 or (PATIENCE if options.size else 0.0)
        self._emitted = asyncio.get_running_loop().time()
        self._timer: asyncio.TimerHandle | None = None
        self._waiters: set[asyncio.Future[None]] = set()
        self._task = asyncio.create_task(self._follow())

    @property
    def next(self) -> int:
        """The number of the next frame."""
        return self.first + len(self.ring)

    def place_after(self, position: Position) -> int | None:
        """Return the number of the next frame for a reader that has everything up to a position.

        None if it is not in the ring (yet, or any more), or inside a group rendered together.
        """
        if position.sub is not None or not self.dropped <= position.seq <= self.seq:
            return None
        if position.seq and position.mark not in (None, self._marks[position.seq - 1]):
            return None
        place = self.next
        for frame in reversed(self.ring):
            if frame.start >= position.seq:
                place -= 1
            elif frame.position.seq > position.seq:
                return None
            else:
                break
        return place

    async def wait(self) -> None:
        """Wait until there may be new frames."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)

    def wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def fail(self, error: StoreError) -> None:
        """Stop with an error, for readers of the view and for those that replay the log."""
        self.failed = error
        for limit in self._limits:
            limit.reschedule(0)
        self.wake()

    async def beside(self, work: Awaitable[T]) -> T:
        """Wait for something else than the view; raises what the view failed with, or does
        meanwhile."""
        try:
            async with asyncio.timeout(None) as limit:
                self._limits.add(limit)
                try:
                    return await work
                finally:
                    self._limits.discard(limit)
        except TimeoutError:
            if self.failed is None:
                raise
            raise self.failed from None

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await stop(self._task)

    async def _follow(self) -> None:
        try:
            async for batch in self._store.read(self.stream, patience=self._patience):
                self._moved()
                for at in range(0, len(batch), BURST):
                    self._take(batch[at : at + BURST])
                    await asyncio.sleep(0)
        except StoreError as error:
            self.fail(error)
        except Exception as error:  # readers must learn of it, whatever it was
            log.exception("a view of a stream failed")
            self.fail(StoreError(f"the stream cannot be shown: {type(error).__name__}"))
        finally:
            self.wake()

    def _take(self, batch: list[Entry]) -> None:
        if not self._every and not self.options.size:
            for entry in batch:
                self._keep(render(self._work, [entry]))
                self._marks.append(entry.mark)
                self.seq = entry.seq
            self.ended = batch[-1].final
            self._trim_and_wake()
            return
        for entry in batch:
            self._pending.append(entry)
            self._pending_size += len(entry.data)
            if entry.final or self._is_due():
                self._emit()
        if self._pending and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(self._emitted + self._every, loop.time()), self._emit)

    def _is_due(self) -> bool:
        if self.options.size and self._pending_size >= self.options.size:
            return True
        return asyncio.get_running_loop().time() >= self._emitted + self._every

    def _emit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        entries, self._pending, self._pending_size = self._pending, [], 0
        if entries:
            self._keep(render(self._work, entries))
            self._marks.extend(entry.mark for entry in entries)
            self.seq = entries[-1].seq
            self.ended = entries[-1].final
            self._emitted = asyncio.get_running_loop().time()
        self._trim_and_wake()

    def _keep(self, frames: list[Frame]) -> None:
        self.ring.extend(frames)
        self._bytes += sum(len(frame.data) for frame in frames)

    def _trim_and_wake(self) -> None:
        while len(self.ring) > RING_FRAMES or (self._bytes > RING_BYTES and len(self.ring) > 1):
            gone = self.ring.popleft()
            self.first += 1
            self.dropped = gone.position.seq
            self._bytes -= len(gone.data)
        self.wake()
