"""Read a log as server-sent events, from any position.

A format is a rendering that is replayed from the start of the log; a reader skips the events that
it has. Readers who want the same of one log share a `View`: it is advanced when one of them has
read everything it has, and keeps the last events. A reader that falls behind gets a view of its
own and reads the log at its own pace.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from jsonrill.eventstream import DONE, encode_event

from .formats import VERSION, Rendering, rendering
from .log import Head, Lost, Row, Store, StoreError, StoreUnavailable, cancel
from .options import Options, ViewOptions
from .records import GONE, LOG_LOST, SLICE, End, Record, from_bytes

log = logging.getLogger("jsonrill_server")
# Bytes that are sent together.
CHUNK_BYTES: Final = 64 << 10
# Bytes of events that a view keeps for readers that are behind it.
VIEW_BYTES: Final = 1 << 20
# Replays of a process that catch up at the same time.
REPLAYS: Final = 8
# The number of the last event of a log.
LAST: Final = 999_999
BROKEN: Final = End("error", "INTERNAL", "the stream cannot be shown in this format")
_ID: Final = re.compile(r"([0-9a-f]{1,32})-([0-9]{1,15})-([0-9]{1,9})\.([0-9]{1,6})-([0-9]{1,4})")

Place = tuple[int, int]


class Position(NamedTuple):
    """The id of an event, `log-epoch-seq.sub-version`: any process can read on after it."""

    log: str = ""
    epoch: int = 0
    seq: int = 0
    sub: int = -1
    version: int = VERSION

    @classmethod
    def parse(cls, text: str) -> Position:
        """Read an id; `0` is the beginning. ValueError if it is not one."""
        if text == "0":
            return cls()
        match = _ID.fullmatch(text)
        if match is None:
            raise ValueError("Last-Event-ID and after are the id of an event, or 0")
        return cls(match[1], *map(int, match.groups()[1:]))

    def __str__(self) -> str:
        return f"{self.log}-{self.epoch}-{self.seq}.{self.sub}-{self.version}"

    def check(self, head: Head, rows: list[Row]) -> None:
        """Raise Lost unless this is a position in the log; `rows` begin with its record."""
        if not self.log:
            return
        is_there = self.log == head.log and self.seq <= head.last
        if not is_there or (self.seq and (not rows or rows[0].epoch != self.epoch)):
            raise Lost("the log has another content than the one that was read")

    def is_end(self, head: Head) -> bool:
        return head.closed and self.seq == head.last and self.sub == LAST


@dataclass(slots=True)
class _Chunk:
    """Events of one record that are sent together, and the number of the first."""

    seq: int
    epoch: int
    first: int
    events: list[bytes]
    data: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.data = b"".join(self.events)

    @property
    def place(self) -> Place:
        return self.seq, self.first + len(self.events) - 1

    def has(self, place: Place, epoch: int) -> bool:
        is_inside = (self.seq, self.first) <= place <= self.place
        return is_inside and self.epoch == epoch

    def after(self, place: Place) -> bytes:
        if (self.seq, self.first) > place:
            return self.data
        return b"" if self.place <= place else b"".join(self.events[place[1] - self.first + 1 :])


class View:
    """One rendering of one log, as events, for one reader or more."""

    def __init__(
        self,
        store: Store,
        key: str,
        head: Head,
        work: Rendering,
        idle: Callable[[str, Head], asyncio.Task[None] | None],
        lease: float,
    ) -> None:
        self.readers = 0
        self.is_behind = True
        self.is_over = False
        self.is_broken = False
        self.error: StoreError | None = None
        self._store = store
        self._key = key
        self._log = head.log
        self._target = head.last
        self._work = work
        self._idle = idle
        self._lease = lease
        self._seq = self._epoch = 0
        # The events that are kept, the number of chunks before them, and the last one of these.
        self._chunks: list[_Chunk] = []
        self._size = 0
        self.base = 0
        self._trimmed: _Chunk | None = None
        self._steps = self._render()
        self._advancing: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()

    def covers(self, place: Place, epoch: int) -> bool:
        """Return whether a reader at a place can continue with this view."""
        if self.is_broken:
            return False
        if self._trimmed is not None:
            if place == self._trimmed.place:
                return epoch == self._trimmed.epoch
        elif place[0] == 0:
            return True
        return any(chunk.has(place, epoch) for chunk in reversed(self._chunks))

    def find(self, place: Place) -> int:
        """Return the number of the first chunk with events after a place."""
        for number, chunk in enumerate(self._chunks, self.base):
            if chunk.place > place:
                return number
        return self.base + len(self._chunks)

    def chunks(self, number: int) -> list[_Chunk]:
        """Return chunks from a number on, as many as are sent together."""
        size, chunks = 0, []
        for chunk in self._chunks[number - self.base :]:
            chunks.append(chunk)
            size += len(chunk.data)
            if size > CHUNK_BYTES:
                break
        return chunks

    async def advance(self, replays: asyncio.Semaphore) -> None:
        """Wait until there may be more events."""
        if self._advancing is None:
            self._advancing = asyncio.create_task(self._advance(replays))
        await self._moved.wait()

    async def _advance(self, replays: asyncio.Semaphore) -> None:
        try:
            if self.is_behind:
                async with replays:
                    await anext(self._steps, None)
            else:
                await anext(self._steps, None)
        finally:
            moved, self._moved, self._advancing = self._moved, asyncio.Event(), None
            moved.set()

    async def close(self) -> None:
        await cancel(self._advancing)
        await self._steps.aclose()

    async def _render(self) -> AsyncGenerator[None]:
        """Render the log; yield when there is something new, and every few milliseconds."""
        try:
            with self._store.signals.listen(self._key) as signal:
                while not self.is_over:
                    signal.clear()
                    head, rows = await self._read()
                    for row in rows:
                        async for _ in self._render_row(row):
                            yield
                    self.is_behind = self.is_behind and self._seq < self._target
                    if not rows:
                        if (working := self._idle(self._key, head)) is not None:
                            await asyncio.wait({working})
                        await signal.wait(self._lease / 3)
                    yield
        except StoreUnavailable as error:
            self.error, self.is_over, self.is_broken = error, True, True
        except Lost as error:
            self._fail(GONE if str(error) == GONE.message else LOG_LOST)
        except Exception:
            log.exception("a stream cannot be rendered")
            self._fail(BROKEN)

    async def _read(self) -> tuple[Head, list[Row]]:
        """Read the next records, and the last one again to check that it still exists."""
        clock = asyncio.get_running_loop().time
        until = clock() + self._lease + 5
        while True:
            try:
                head, rows = await self._store.read(self._key, max(self._seq - 1, 0))
                break
            except StoreUnavailable:
                if clock() > until:
                    raise
                await asyncio.sleep(0.2)
        if head is None:
            raise Lost(GONE.message)
        Position(self._log, self._epoch, self._seq).check(head, rows)
        return head, rows[1:] if self._seq else rows

    async def _render_row(self, row: Row) -> AsyncGenerator[None]:
        clock = asyncio.get_running_loop().time
        due, size = clock() + SLICE, 0
        for first, events in self._events(row):
            if events:
                chunk = _Chunk(row.seq, row.epoch, first, events)
                self._add(chunk)
                size += len(chunk.data)
            if clock() > due or size > CHUNK_BYTES:
                yield
                due, size = clock() + SLICE, 0
        self._seq, self._epoch = row.seq, row.epoch

    def _events(self, row: Row) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the events of a record in steps, each with the number of its first event."""
        item = from_bytes(row.data)
        at = f"{self._log}-{row.epoch}-{row.seq}"
        if isinstance(item, Record):
            first = 0
            for texts in self._work.feed(item):
                events = [
                    encode_event(text, id=f"{at}.{sub}-{VERSION}")
                    for sub, text in enumerate(texts, first)
                ]
                yield first, events
                first += len(events)
            return
        texts = [text for step in self._work.end(item) for text in step]
        names: list[str | None] = [None] * len(texts)
        if self._work.closes:
            texts.append(DONE)
            names.append("CLOSE")
        last = len(texts) - 1
        for sub, (text, name) in enumerate(zip(texts, names, strict=True)):
            number = LAST if sub == last else sub
            yield number, [encode_event(text, event=name, id=f"{at}.{number}-{VERSION}")]
        self.is_over = True

    def _fail(self, end: End) -> None:
        """Add an error that is not in the log, without ids."""
        self._add(_Chunk(self._seq + 1, 0, 0, self.failure(end)))
        self.is_over = self.is_broken = True

    def failure(self, end: End) -> list[bytes]:
        events = [encode_event(text) for text in self._work.fail(end.error or {})]
        return [*events, encode_event(DONE, event="CLOSE")] if self._work.closes else events

    def _add(self, chunk: _Chunk) -> None:
        self._chunks.append(chunk)
        self._size += len(chunk.data)
        while self._size > VIEW_BYTES and len(self._chunks) > 1:
            old = self._chunks.pop(0)
            self._size -= len(old.data)
            self._trimmed = old
            self.base += 1


class Views:
    """The views of a process; equal ones are shared."""

    def __init__(
        self, store: Store, idle: Callable[[str, Head], asyncio.Task[None] | None]
    ) -> None:
        self._store = store
        self._idle = idle
        self._shared: dict[tuple[str, str, ViewOptions], View] = {}
        self._replays = asyncio.Semaphore(REPLAYS)

    async def read(
        self,
        key: str,
        head: Head,
        position: Position,
        options: Options,
        wanted: ViewOptions,
        lease: float,
    ) -> AsyncGenerator[bytes]:
        """Yield the events after a position, to the end; StoreUnavailable if the store is down."""
        if position.version != VERSION:
            yield encode_event("[RESTART]", event="RESTART")
            position = Position()
        place: Place = (position.seq, position.sub)
        epoch = position.epoch
        name = (key, head.log, wanted)
        while True:
            view = self._shared.get(name)
            is_found = view is not None and view.covers(place, epoch)
            if view is None or not is_found:
                is_shared = view is None or view.is_broken
                work = rendering(options, wanted)
                view = View(self._store, key, head, work, self._idle, lease)
                if is_shared:
                    self._shared[name] = view
                # A replay passes the place again, and shows whether the log is still the same.
                is_found = place[0] == 0
            view.readers += 1
            try:
                number = view.find(place)
                while number >= view.base:
                    if chunks := view.chunks(number):
                        number += len(chunks)
                        for chunk in chunks:
                            if not is_found and chunk.place >= place:
                                is_found = chunk.has(place, epoch)
                                if not is_found:
                                    yield b"".join(view.failure(LOG_LOST))
                                    return
                        data = b"".join([chunk.after(place) for chunk in chunks])
                        if chunks[-1].place > place:
                            place, epoch = chunks[-1].place, chunks[-1].epoch
                        if data:
                            yield data
                    elif view.error is not None:
                        raise view.error
                    elif view.is_over:
                        if not is_found:
                            yield b"".join(view.failure(LOG_LOST))
                        return
                    elif is_found and self._is_better(name, view, place, epoch):
                        break
                    else:
                        await view.advance(self._replays)
            finally:
                view.readers -= 1
                if not view.readers:
                    if self._shared.get(name) is view:
                        del self._shared[name]
                    await view.close()

    def _is_better(
        self, name: tuple[str, str, ViewOptions], view: View, place: Place, epoch: int
    ) -> bool:
        shared = self._shared.get(name, view)
        return shared is not view and shared.covers(place, epoch)
