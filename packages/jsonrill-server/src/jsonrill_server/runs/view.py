"""Renderings of one stream, each made once for many readers in this process.

A view follows the log from its beginning (or, where any record can be the first, from the position
of the reader that it is made for), renders each group of records once and keeps the last
frames, ready to be sent, in a ring. Readers have places in it and no queues: one that is too slow
loses its place and continues from the log (`reader.py`).

A view that has caught up with the log does not wait for readers. Until then it is read by those
who came back after a restart, or who begin at the beginning: it lets them keep up, for a moment.
Readers that need what the ring no longer has get a second view, from the beginning, together with
all others who need it (`Views`), and move to the first one when it has caught up.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from array import array
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from jsonrill.eventstream import DONE, encode_event
from jsonrill.ext.tasks import stop

from ..store import Entry, LogLost, Store, StoreError
from .options import ViewOptions
from .positions import Position
from .records import End, Record, from_entry
from .render import Rendering
from .steps import QUICK, Steps

T = TypeVar("T")
log = logging.getLogger("jsonrill_server")
# With a size alone, an event that waits for more is sent after this many seconds.
FLUSH_AFTER = 1.0
RING_FRAMES = 1024
RING_BYTES = 1 << 20
# While a reader needs the oldest frame, and in the first seconds of a view, when others come back,
# the ring holds up to this number of times the frames.
PATIENT = 8
YOUNG = 2.0
# Readers are woken after this number of bytes or frames while there is more to render.
WAKE_BYTES = 1 << 17
WAKE_FRAMES = 512
# How long readers who could go on wait for slower ones, while a view catches up; and how long a
# reader waits for another view to catch up before it gets one of its own.
WAIT_FOR_SLOW = 0.5
PAUSE = 0.01
WAIT_FOR_VIEW = 2.0
# The place of a reader that waits for a record which is not rendered yet: it needs no frame before.
LATER = sys.maxsize
OTHER_LOG = "this is not the log that was read before: it was replaced, or the store lost records"


class Frame(NamedTuple):
    """The bytes of one event, and which records, (start, position.seq], it comes from."""

    start: int
    position: Position
    data: bytes
    # Whether nothing of its group comes after it; and how the log ended, if it is the last of all.
    last: bool
    end: End | None


def frames(work: Rendering, entries: Sequence[Entry]) -> Iterator[list[Frame]]:
    """Yield the frames of one group of entries, part by part.

    A final entry may only be the last of its group. The id of the last frame says that the group
    is complete, so each frame is made when the next event is known.
    """
    end: End | None = None
    start, seq, mark = entries[0].seq - 1, entries[-1].seq, entries[-1].mark
    held: tuple[str, str | None] | None = None
    sub = 0

    def frame(last: bool) -> Frame:
        assert held is not None
        position = Position(seq, None if last else sub, 1 if last else seq - start, mark)
        block = encode_event(held[0], event=held[1], id=str(position))
        return Frame(start, position, block, last, end if last else None)

    records: list[Record] = []
    for entry in entries:
        element = from_entry(entry)
        if isinstance(element, End):
            end = element
        else:
            records.append(element)
    if (made_of_log := work.block(entries)) is not None:
        yield [Frame(start, Position(seq, mark=mark), made_of_log, True, end)]
        return
    for part in _parts(work, records, end):
        batch = []
        for event in part:
            if held is not None:
                batch.append(frame(last=False))
                sub += 1
            held = event
        yield batch
    if held is not None:
        yield [frame(last=True)]


def _parts(
    work: Rendering, records: list[Record], end: End | None
) -> Iterator[list[tuple[str, str | None]]]:
    """The data and types of events."""
    if records:
        for part in work.feed_in_parts(records):
            yield [(data, getattr(data, "name", None)) for data in part]
    if end is not None:
        for part in work.end_in_parts(end):
            yield [(data, getattr(data, "name", None)) for data in part]
        if work.closes:
            yield [(DONE, "CLOSE")]


def closing_bytes(work: Rendering, end: End) -> bytes:
    """The events, without ids, for a reader whose response ends before its stream does."""
    blocks = [encode_event(data, event=getattr(data, "name", None)) for data in work.failure(end)]
    if work.closes:
        blocks.append(encode_event(DONE, event="CLOSE"))
    return b"".join(blocks)


class View:
    """Follows one log. `seq` is the last record rendered, `ended` is set after the final one.

    `target` is the last record that the log is known to have: with it the view has caught up.
    """

    def __init__(
        self,
        store: Store,
        stream: str,
        work: Rendering,
        options: ViewOptions,
        moved: Callable[[], None],
        retry_for: float,
        target: int = 0,
        start: int = 0,
    ) -> None:
        self.stream = stream
        self.options = options
        # The last record that is not rendered here: 0, unless any may be the first.
        self._start = start
        self.seq = start
        self.ended = False
        self.failed: StoreError | None = None
        # False while it waits for the store.
        self.busy = False
        # The place of each of its readers: the number of the frame that it needs next, or LATER.
        self.places: dict[object, int] = {}
        # Frames are numbered without end; `first` is the number of the first in the ring.
        self.ring: list[Frame] = []
        self.first = 0
        # How many bytes were made up to the end of each frame in the ring.
        self._ends: list[int] = []
        # Up to this record frames have been dropped from the ring.
        self.dropped = start + 1 if start else 0
        self.target = target
        # The marks of all records rendered, to tell whether a reader read this log.
        self._marks = array("I")
        self._made = 0
        self._dropped_bytes = 0
        # Bytes and frames since readers were woken.
        self._new_bytes = 0
        self._new_frames = 0
        self._retry_for = retry_for
        self._limits: set[asyncio.Timeout] = set()
        self._store = store
        self._work = work
        self._steps = Steps(work.heavy is not None)
        self._moved = moved
        self._rendering = asyncio.Lock()
        self._pending: list[Entry] = []
        self._pending_size = 0
        self._every = options.every / 1000 or (FLUSH_AFTER if options.size else 0.0)
        self._begun = self._emitted = asyncio.get_running_loop().time()
        self._timer: asyncio.TimerHandle | None = None
        self._emitting: asyncio.Task[None] | None = None
        self._waiters: set[asyncio.Future[None]] = set()
        # Records that readers wait for: a group of records ends there.
        self._awaited: dict[int, asyncio.Event] = {}
        self._task = asyncio.create_task(self._follow())

    @property
    def next(self) -> int:
        """The number of the next frame."""
        return self.first + len(self.ring)

    @property
    def caught_up(self) -> bool:
        return self.seq >= self.target or self.ended or self.failed is not None

    def has(self, position: Position) -> bool:
        """Return True if a reader at this position finds its next frame here, now or later."""
        if self.failed is not None:
            return False
        if position.seq > self.seq:
            return not self.ended
        return self.place_after(position) is not None

    def place_after(self, position: Position) -> int | None:
        """Return the number of the next frame for a reader that has everything up to a position.

        None if it is not in the ring (yet, or any more), or inside a group rendered together.
        LogLost if the position is one of another log.
        """
        if position.seq > self.seq or position.done < self.dropped:
            return None
        if position.seq and position.mark not in (
            None,
            self._marks[position.seq - 1 - self._start],
        ):
            raise LogLost(OTHER_LOG)
        place = self.next
        for frame in reversed(self.ring):
            if frame.start >= position.seq:
                place -= 1
            elif frame.position.seq > position.seq:
                return None
            elif position.sub is None or frame.position.seq < position.seq:
                break
            elif frame.start != position.done:
                return None
            elif frame.last or (frame.position.sub or 0) > position.sub:
                place -= 1
            else:
                break
        return place

    def frames_from(self, place: int, size: int) -> list[Frame]:
        """Frames from a place, as many as are needed for this number of bytes."""
        at = place - self.first
        before = self._ends[at - 1] if at else self._dropped_bytes
        return self.ring[at : bisect_left(self._ends, before + size, at) + 1]

    async def reach(self, seq: int) -> None:
        """Wait until a record is rendered, or the view can go no further."""
        while self.seq < seq and not self.ended:
            if self.failed is not None:
                raise self.failed
            await self._awaited.setdefault(seq, asyncio.Event()).wait()

    async def wait(self) -> None:
        """Wait until there may be new frames."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)

    def wake(self) -> None:
        self._new_bytes = self._new_frames = 0
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        if self._awaited:
            over = self.ended or self.failed is not None
            for seq in [seq for seq in self._awaited if seq <= self.seq or over]:
                self._awaited.pop(seq).set()

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
        await stop(self._task, self._emitting)

    async def _follow(self) -> None:
        await self._safely(self._take_all())
        self.wake()

    async def _safely(self, work: Awaitable[None]) -> None:
        try:
            await work
        except StoreError as error:
            self.fail(error)
        except Exception as error:  # readers must learn of it, whatever it was
            log.exception("a view of a stream failed")
            self.fail(StoreError(f"the stream cannot be shown: {type(error).__name__}"))

    async def _take_all(self) -> None:
        async for batch in self._store.read(self.stream, self._start, retry_for=self._retry_for):
            self._moved()
            self.busy = True
            await self._take(batch)
            self.wake()
            # Others run between two batches, even if there is always another one.
            await asyncio.sleep(0)
            self._moved()
            self.busy = False

    async def _take(self, batch: list[Entry]) -> None:
        loop = asyncio.get_running_loop()
        if not self._every and not self.options.size:
            begun = loop.time()
            for entry in batch:
                self._work.more = entry is not batch[-1]
                await self._render([entry])
                if loop.time() - begun > QUICK:
                    await asyncio.sleep(0)
                    begun = loop.time()
            return
        for entry in batch:
            self._pending.append(entry)
            self._pending_size += len(entry.data)
            if entry.final or entry.seq in self._awaited or self._is_due():
                await self._emit()
        if self._pending and self._timer is None:
            at = max(self._emitted + self._every, loop.time())
            self._timer = loop.call_at(at, self._emit_later)

    def _is_due(self) -> bool:
        if self.options.size and self._pending_size >= self.options.size:
            return True
        return asyncio.get_running_loop().time() >= self._emitted + self._every

    def _emit_later(self) -> None:
        self._timer = None
        self._emitting = asyncio.create_task(self._safely(self._emit()))

    async def _emit(self) -> None:
        """Render what waits, as one group. Two tasks do that, so one at a time."""
        async with self._rendering:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            entries, self._pending, self._pending_size = self._pending, [], 0
            if entries:
                await self._render(entries)
                self._emitted = asyncio.get_running_loop().time()
            self.wake()

    async def _render(self, entries: list[Entry]) -> None:
        size = sum([len(entry.data) for entry in entries])
        async for batch in self._steps.of(frames(self._work, entries), size):
            made_before = self._made
            for frame in batch:
                self._made += len(frame.data)
                self._ends.append(self._made)
            self.ring += batch
            self._new_bytes += self._made - made_before
            self._new_frames += len(batch)
            if self._new_bytes > WAKE_BYTES or self._new_frames > WAKE_FRAMES:
                self.wake()
                await asyncio.sleep(0)
            if len(self.ring) > RING_FRAMES or self._made - self._dropped_bytes > RING_BYTES:
                await self._trim()
        self._marks.extend([entry.mark for entry in entries])
        self.seq = entries[-1].seq
        self.ended = entries[-1].final
        if self.seq in self._awaited:
            self.wake()
            await asyncio.sleep(0)  # who waited for it takes its place before the ring moves on

    async def _trim(self) -> None:
        """Drop the oldest frames; before the view has caught up, not before they were read."""
        waited, was_awake = 0.0, False
        while excess := self._excess():
            unneeded = min(self.places.values(), default=self.next) - self.first
            if self.caught_up or waited >= WAIT_FOR_SLOW:
                self._drop(excess)
            elif unneeded > 0:
                self._drop(min(excess, unneeded))
            else:
                if not was_awake:
                    self.wake()
                    was_awake = True
                await asyncio.sleep(PAUSE)
                if any(place >= self.next for place in self.places.values()):
                    waited += PAUSE

    def _excess(self) -> int:
        """How many frames are too many. The last one stays, whatever its size."""
        young = asyncio.get_running_loop().time() < self._begun + YOUNG
        patient = young or min(self.places.values(), default=self.next) <= self.first
        frames = len(self.ring) - RING_FRAMES * (PATIENT if patient else 1)
        size = bisect_left(self._ends, self._made - RING_BYTES)
        return max(frames, min(size, len(self.ring) - 1), 0)

    def _drop(self, count: int) -> None:
        self.dropped = self.ring[count - 1].position.seq
        self._dropped_bytes = self._ends[count - 1]
        self.first += count
        del self.ring[:count], self._ends[:count]


class Views:
    """The views of one stream with the same options; the first is the one that is kept."""

    def __init__(self, make: Callable[[Position], View], position: Position) -> None:
        self._make = make
        self.all: list[View] = [make(position)]
        self.readers = 0

    @property
    def main(self) -> View:
        return self.all[0]

    async def with_next(self, position: Position) -> View | None:
        """Return a view from which a reader at this position goes on; None if it goes on alone.

        Those who need older frames than any view has wait until all views have caught up, and
        get a new one together.
        """
        coalesced = self.main.options.every or self.main.options.size
        if position.sub is not None and (coalesced or position.records > 1):
            return None  # only the same group gives the same ids
        loop = asyncio.get_running_loop()
        until = loop.time() + WAIT_FOR_VIEW
        while True:
            for view in self.all:
                if view.has(position):
                    return view
            if self.main.failed is not None:
                raise self.main.failed
            late = [view for view in self.all if not view.caught_up]
            if not late or loop.time() >= until:
                self.all.append(self._make(position))
                return self.all[-1] if self.all[-1].has(position) else None
            try:
                async with asyncio.timeout_at(until):
                    await late[-1].reach(late[-1].target)
            except TimeoutError:
                pass
