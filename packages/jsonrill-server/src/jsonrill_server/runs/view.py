"""Renderings of one stream, each made once for many readers in this process.

A view renders a log, from its beginning (or, where any record can be the first, from the position
of the reader that it is made for), and keeps the last frames, ready to be sent, in a ring. It
renders the next ones when a reader has all that are there and asks for more: so the fastest reader
sets the pace, and nothing is rendered before a reader waits for it. Readers have places in the ring
and no queues. One that is so slow that its next frame has left the ring looks for another view
(`Views`).
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_left
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Final, NamedTuple

from jsonrill.eventstream import DONE, encode_event
from jsonrill_server.tasks import stop

from ..store import Entry, LogLost, Store, StoreError
from .positions import Position
from .records import End, Record, from_entry
from .render import Named, Rendering
from .steps import Steps

log = logging.getLogger("jsonrill_server")
CLOSE: Final = Named(DONE, "CLOSE")
# What a ring holds, and what is added to it at once; each frame takes its bytes and this cost.
RING_BYTES = 2 << 20
STEP_BYTES = 1 << 17
FRAME_COST = 256
# How much is handed to the server at once.
CHUNK_BYTES = 1 << 16
# How long a reader waits for views that catch up before it gets one of its own.
WAIT_FOR_VIEW = 2.0
# The place of a reader whose next frame is not in the ring any more, or will not be there as it is.
GONE: Final = -1
OTHER_LOG = "this is not the log that was read before: it was replaced, or the store lost records"


class Frame(NamedTuple):
    """The bytes of one event, and its position.

    The last one of a record has no `sub` in its position; it may have no bytes. `end` is how the
    log ended, if it is the last of all.
    """

    position: Position
    data: bytes
    end: End | None = None


def frames(work: Rendering, entries: Sequence[Entry]) -> Iterator[list[Frame]]:
    """Yield the frames of entries, part by part.

    The id of the last frame of an entry says that it is complete, so each frame is made when the
    next event is known.
    """
    for entry in entries:
        element = from_entry(entry)
        last = Position(entry.seq, mark=entry.mark)
        held: str | None = None
        sub = 0
        for part in _events(work, element):
            batch = []
            for event in part:
                if held is not None:
                    position = last._replace(sub=sub)
                    batch.append(Frame(position, _encoded(held, position)))
                    sub += 1
                held = event
            yield batch
        data = b"" if held is None else _encoded(held, last)
        yield [Frame(last, data, element if isinstance(element, End) else None)]


def _events(work: Rendering, element: Record | End) -> Iterator[list[str]]:
    """Yield the data of the events of an entry."""
    if isinstance(element, Record):
        yield from work.feed_in_parts([element])
        return
    yield from work.end_in_parts(element)
    if work.closes:
        yield [CLOSE]


def _encoded(data: str, position: Position | None = None) -> bytes:
    id = None if position is None else str(position)
    return encode_event(data, event=getattr(data, "name", None), id=id)


def closing_bytes(work: Rendering, end: End) -> bytes:
    """The events, without ids, for a reader whose response ends before its stream does."""
    events = [*work.failure(end), *([CLOSE] if work.closes else [])]
    return b"".join([_encoded(data) for data in events])


def _cost(part: Sequence[Frame]) -> int:
    return sum([len(frame.data) + FRAME_COST for frame in part])


class View:
    """One rendering of a log, begun for a reader at a position.

    Frames are numbered without end; `first` is the number of the first one in the ring. `target` is
    the last record that the log is known to have: with it the view has caught up. One that is not
    `shared` has one reader, and keeps nothing for others.
    """

    def __init__(
        self,
        store: Store,
        stream: str,
        work: Rendering,
        begin: Position,
        *,
        target: int = 0,
        shared: bool = True,
        moved: Callable[[], object] = bool,
        retry_for: float = 5.0,
    ) -> None:
        self.shared = shared
        self.readers = 0
        self.ring: list[Frame] = []
        self.first = 0
        self.ended = False
        self.failed: StoreError | None = None
        # False while it waits for the store.
        self.busy = True
        # Set when it need not be waited for: it has caught up, or can go no further.
        self.caught_up = asyncio.Event()
        # Where the ring begins: the position of the last frame that is not in it.
        self._before = Position(work.start(begin))
        self._size = 0
        self._target = target
        self._chunk: tuple[int, int, bytes] = (GONE, 0, b"")
        self._store = store
        self._stream = stream
        self._work = work
        self._moved = moved
        self._retry_for = retry_for
        self._wanted = asyncio.Event()
        self._changed = asyncio.Event()
        self._task = asyncio.create_task(self._follow())

    @property
    def is_heavy(self) -> bool:
        return self._work.heavy is not None

    @property
    def next(self) -> int:
        """The number of the next frame."""
        return self.first + len(self.ring)

    @property
    def position(self) -> Position:
        """That of the last frame."""
        return self.ring[-1].position if self.ring else self._before

    def place_after(self, position: Position) -> int | None:
        """Return the number of the next frame for a reader that has everything up to a position.

        None if it is not rendered yet; GONE if it has left the ring. LogLost if the position is
        one of another log.
        """
        done = position.done
        at = bisect_left(self.ring, done, key=lambda frame: frame.position.seq - 1)
        before = self.ring[at - 1].position if at else self._before
        if before.done < done:
            if self.ended:
                raise LogLost(OTHER_LOG)
            return None
        if before.seq == done and position.sub is None:
            if not done or position.mark in (None, before.mark):
                return self.first + at
            if before.mark is None:  # that of the beginning is not known
                return GONE
            raise LogLost(OTHER_LOG)
        sub = -1 if position.sub is None else position.sub
        if before.seq > done and (before.done > done or (before.sub or 0) > sub):
            return GONE
        return self._place_inside(position, at)

    def _place_inside(self, position: Position, at: int) -> int | None:
        """The same for a reader that has some events of the record of which a frame is at `at`."""
        for number, frame in enumerate(self.ring[at:], self.first + at):
            if frame.position.seq != position.seq:
                return GONE
            if position.mark not in (None, frame.position.mark):
                raise LogLost(OTHER_LOG)
            if frame.position.sub is None or frame.position.sub > (position.sub or 0):
                return number
        return None

    def join(self, position: Position) -> bool:
        """Return True if a reader at this position finds its next frame here, now or later."""
        if not self.shared or self.failed is not None:
            return False
        return self.place_after(position) != GONE

    def chunk_from(self, place: int) -> tuple[bytes, int]:
        """The bytes of frames from a place on, and the place behind them.

        They are put together once for all readers who are there.
        """
        if self._chunk[0] != place:
            end, size = place - self.first, 0
            while end < len(self.ring) and size < CHUNK_BYTES:
                size += len(self.ring[end].data)
                end += 1
            data = b"".join([frame.data for frame in self.ring[place - self.first : end]])
            self._chunk = (place, self.first + end, data)
        return self._chunk[2], self._chunk[1]

    async def more(self) -> None:
        """Ask for more frames, and wait until there may be some; raises what it failed with."""
        if self.failed is not None:
            raise self.failed
        self._wanted.set()
        await self._changed.wait()

    def fail(self, error: StoreError) -> None:
        """Stop with an error for its readers."""
        self.failed = error
        self._wake()

    async def close(self) -> None:
        await stop(self._task)
        self.caught_up.set()

    def _wake(self) -> None:
        if self.ended or self.failed is not None or self.position.seq >= self._target:
            self.caught_up.set()
        self._changed.set()
        self._changed.clear()

    async def _follow(self) -> None:
        steps = Steps(self.is_heavy)
        try:
            async with aclosing(self._entries()) as log_entries:
                async for entries in log_entries:
                    size = max([len(entry.data) for entry in entries])
                    parts = frames(self._work, entries)
                    async for some in steps.of(parts, size, _cost, STEP_BYTES):
                        await self._add(some)
        except StoreError as error:
            self.fail(error)
        except Exception:  # readers must learn of it, whatever it was
            log.exception("a view of a stream failed")
            self.fail(StoreError("the stream cannot be shown"))

    async def _entries(self) -> AsyncGenerator[list[Entry]]:
        """Yield the entries of the log as they come."""
        reading = self._store.read(self._stream, self._before.seq, retry_for=self._retry_for)
        async with aclosing(reading):
            self._moved()
            self.busy = False
            async for entries in reading:
                self.busy = True
                yield entries
                self._moved()
                self.busy = False

    async def _add(self, some: list[Frame]) -> None:
        """Add frames to the ring, and return when a reader asks for more."""
        size, count = _cost(some), 0
        room = max(0, RING_BYTES - size) if self.shared else 0
        for frame in self.ring:
            if self._size <= room:
                break
            self._size -= len(frame.data) + FRAME_COST
            count += 1
        if count:
            self._before = self.ring[count - 1].position
            self.first += count
            del self.ring[:count]
        self.ring += some
        self._size += size
        self.ended = some[-1].end is not None
        self._wanted.clear()
        self._wake()
        if not self.ended:
            await self._wanted.wait()


class Views:
    """The views of one stream with the same options, among which readers choose.

    Most of the time there is one. Those who need older frames than it has get a second one, from
    the beginning, together, and go over to the first when that has their next frame. A reader that
    falls behind a second time gets a view of its own.
    """

    def __init__(
        self, make: Callable[[Position, bool], View], discard: Callable[[View], object]
    ) -> None:
        self._make = make
        self._discard = discard
        self.all: list[View] = []
        self.readers = 0

    async def find(self, position: Position, *, alone: bool) -> View:
        """Return a view from which a reader at this position goes on.

        Those who need older frames than any view has wait until all views have caught up, for a
        while, and get a new one together.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + WAIT_FOR_VIEW
        while not alone:
            joined = [view for view in self.all if view.join(position)]
            if joined:
                return max(joined, key=lambda view: view.position.seq)
            late = [view for view in self.all if view.shared and not view.caught_up.is_set()]
            if not late or clock() >= until:
                break
            try:
                async with asyncio.timeout_at(until):
                    await late[-1].caught_up.wait()
            except TimeoutError:
                pass
        view = self._make(position, not alone)
        self.all.append(view)
        return view

    def is_behind(self, view: View, position: Position) -> bool:
        """Return True if another view has been further, and has the next frame for a reader."""
        return len(self.all) > 1 and any(
            other.shared
            and other.failed is None
            and other.position.seq > view.position.seq
            and other.place_after(position) not in (None, GONE)
            for other in self.all
        )

    def left(self, view: View) -> None:
        """Close a view that has no reader, but not the one that has been furthest."""
        if view.readers or view not in self.all:
            return
        further = [it for it in self.all if it.shared and it.position.seq >= view.position.seq]
        if view.failed is not None or not view.shared or any(it is not view for it in further):
            self.all.remove(view)
            self._discard(view)
