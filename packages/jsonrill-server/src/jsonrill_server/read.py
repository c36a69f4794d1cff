"""Read a log as server-sent events, from any position.

A replay renders the log from its start, and skips the events that the client already has. It
advances when a reader has read all its events, and keeps the last ones. So readers with nearly the
same position share a replay, and a reader that falls behind gets its own.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, nullcontext
from functools import partial
from typing import Final, NamedTuple

from jsonrill.eventstream import DONE, encode_event

from .formats import VERSION, Rendering, rendering
from .log import Head, Lost, Row, Store, StoreError, StoreUnavailable, cancel, retry, wait_for
from .options import Options
from .records import GONE, LOG_LOST, SLICE, End, Record, from_bytes

log = logging.getLogger("jsonrill_server")
# The size of the blocks that are sent, in bytes.
CHUNK_BYTES: Final = 64 << 10
# Bytes of events that a replay keeps for readers behind it.
TAIL_BYTES: Final = 256 << 10
# The number of replays of a process that may catch up at the same time.
SLOTS: Final = 8
# Seconds that a reader waits for an unavailable store, after the lease.
PATIENCE: Final = 5.0
# The number of the last event of a log.
LAST: Final = 999_999_999
BROKEN: Final = End("error", "INTERNAL", "the stream cannot be shown in this format")
_ID: Final = re.compile(r"([0-9a-f]{1,32})-([0-9]{1,15})-([0-9]{1,9})\.([0-9]{1,9})-([0-9]{1,4})")

# Called with a log that has no new records.
Idle = Callable[[str, Head], None]


class Position(NamedTuple):
    """The id of an event, `log-epoch-seq.sub-version`. Any process can continue after it."""

    log: str = ""
    epoch: int = 0
    seq: int = 0
    sub: int = -1
    version: int = VERSION

    @classmethod
    def parse(cls, text: str) -> Position:
        """Parse an id; `0` is the beginning. Anything else is a ValueError."""
        if text == "0":
            return cls()
        match = _ID.fullmatch(text)
        if match is None:
            raise ValueError("Last-Event-ID and after must be the id of an event, or 0")
        return cls(match[1], *map(int, match.groups()[1:]))

    def __str__(self) -> str:
        return f"{self.log}-{self.epoch}-{self.seq}.{self.sub}-{self.version}"

    def check(self, head: Head, rows: list[Row]) -> None:
        """Raise `Lost` unless the log has this position; `rows` begin with its record."""
        if not self.log:
            return
        is_there = self.log == head.log and self.seq <= head.last
        if not is_there or (self.seq and (not rows or rows[0].epoch != self.epoch)):
            raise Lost("the log has another content than the one that was read")

    @property
    def place(self) -> tuple[int, int]:
        return self.seq, self.sub

    def is_end(self, head: Head) -> bool:
        return head.closed and self.seq == head.last and self.sub == LAST


class Event(NamedTuple):
    """The bytes of one event, and its position."""

    position: Position
    data: bytes


def render(work: Rendering, record: Position, item: Record | End) -> Iterator[list[Event]]:
    """Yield the events of the record at a position, in steps that take a bounded time."""
    number, texts = 0, list[str]()
    for following in work.end(item) if isinstance(item, End) else work.feed(item):
        yield [_event(record, sub, text) for sub, text in enumerate(texts, number)]
        number += len(texts)
        texts = following
    if isinstance(item, End):
        last = add_close(work, texts)
        numbers = [*range(number, number + len(last) - 1), LAST]
        yield [_event(record, sub, *event) for sub, event in zip(numbers, last, strict=False)]
    else:
        yield [_event(record, sub, text) for sub, text in enumerate(texts, number)]


def add_close(work: Rendering, texts: list[str]) -> list[tuple[str, str | None]]:
    """Return the data and the names of the last events."""
    events: list[tuple[str, str | None]] = [(text, None) for text in texts]
    return [*events, (DONE, "CLOSE")] if work.closes else events


def _event(record: Position, sub: int, text: str, name: str | None = None) -> Event:
    position = record._replace(sub=sub)
    return Event(position, encode_event(text, event=name, id=str(position)))


async def follow(
    store: Store, key: str, log: str, start: Position, lease: float, idle: Idle
) -> AsyncGenerator[list[Row]]:
    """Yield the records of a log as they arrive, and an empty list before each wait.

    It ends when the log is gone. `Lost` is raised if records that were read here, or elsewhere up
    to `start`, have been replaced.
    """
    last = Position(log)
    with store.signals.listen(key) as signal:
        while True:
            signal.clear()
            # The last record is read again to check that it still exists.
            after = max(last.seq - 1, 0)
            head, rows = await retry(partial(store.read, key, after), lease + PATIENCE)
            if head is None:
                return
            last.check(head, rows)
            rows = rows[1:] if last.seq else rows
            is_other = any(row.seq == start.seq and row.epoch != start.epoch for row in rows)
            if is_other or head.last < start.seq:
                raise Lost(LOG_LOST.message)
            yield rows
            if rows:
                last = last._replace(epoch=rows[-1].epoch, seq=rows[-1].seq)
                continue
            idle(key, head)
            await wait_for(signal, lease / 3)


class Replay:
    """A rendering of a log from its start, as events after a position, for one reader or more."""

    def __init__(
        self,
        rows: AsyncGenerator[list[Row]],
        work: Rendering,
        log: str,
        start: Position,
        slots: asyncio.Semaphore,
    ) -> None:
        self.readers = 0
        self.is_over = False
        self.is_broken = False
        self.error: StoreError | None = None
        # The last event of the first reader and the kept events after it, their size in bytes, and
        # the number of events before them.
        self._events = [Event(start, b"")]
        self._size = 0
        self.base = 0
        self._steps = self._render(rows, work, Position(log), start)
        self._slots = slots
        self._is_behind = True
        self._step: asyncio.Task[None] | None = None
        self._has_moved = asyncio.Event()

    @property
    def position(self) -> Position:
        """The position after all events so far."""
        return self._events[-1].position

    def find(self, position: Position) -> int | None:
        """Return the number of the event after a position; None if it is no longer kept."""
        for number, event in enumerate(self._events, self.base + 1):
            if event.position == position and not self.is_broken:
                return number
        return None

    def after(self, number: int) -> list[Event]:
        """Return the next events from a number on, about `CHUNK_BYTES` of them."""
        size, events = 0, []
        for event in self._events[number - self.base :]:
            events.append(event)
            size += len(event.data)
            if size > CHUNK_BYTES:
                break
        return events

    async def advance(self, seconds: float) -> None:
        """Wait until there may be more events, or until the seconds are over."""
        if self._step is None:  # a separate task, because the reader that starts it may stop
            self._step = asyncio.create_task(self._advance())
        await wait_for(self._has_moved, seconds)

    async def _advance(self) -> None:
        while self._size > TAIL_BYTES and len(self._events) > 1:
            self._size -= len(self._events.pop(0).data)
            self.base += 1
        last = self.position
        while self.position == last and not self.is_over:
            async with self._slots if self._is_behind else nullcontext():
                await anext(self._steps, None)
            if self._is_behind:
                await asyncio.sleep(0)
        self._step = None
        self._has_moved.set()
        self._has_moved = asyncio.Event()

    async def close(self) -> None:
        await cancel(self._step)
        await self._steps.aclose()

    async def _render(
        self, rows: AsyncGenerator[list[Row]], work: Rendering, record: Position, start: Position
    ) -> AsyncGenerator[None]:
        """Add the events of the records; yield after each batch and every few milliseconds."""
        clock = asyncio.get_running_loop().time
        try:
            async with aclosing(rows):
                async for batch in rows:
                    self._is_behind = bool(batch)
                    due, most = clock() + SLICE, self._size + CHUNK_BYTES
                    for row in batch:
                        item = from_bytes(row.data)
                        record = record._replace(epoch=row.epoch, seq=row.seq)
                        for events in render(work, record, item):
                            self._add(
                                [event for event in events if event.position.place > start.place]
                            )
                            if clock() > due or self._size > most:
                                yield
                                due, most = clock() + SLICE, self._size + CHUNK_BYTES
                        if isinstance(item, End):
                            self.is_over = True
                            return
                    yield
            self._fail(work, GONE)
        except StoreUnavailable as error:
            self.error, self.is_over, self.is_broken = error, True, True
        except Lost:
            self._fail(work, LOG_LOST)
        except Exception:
            log.exception("a stream cannot be rendered")
            self._fail(work, BROKEN)

    def _add(self, events: list[Event]) -> None:
        self._events += events
        self._size += sum([len(event.data) for event in events])

    def _fail(self, work: Rendering, end: End) -> None:
        """Add an error that is not in the log, without an id."""
        last = add_close(work, work.fail(end.error or {}))
        data = b"".join([encode_event(text, event=name) for text, name in last])
        self._add([Event(self.position, data)])
        self.is_over = self.is_broken = True


class Replays:
    """The replays of a process. Readers of one log and format share the most advanced one."""

    def __init__(self, store: Store, idle: Idle, tick: float) -> None:
        self._store = store
        self._idle = idle
        self._tick = tick
        self._shared: dict[tuple[str, str, str], Replay] = {}
        self._slots = asyncio.Semaphore(SLOTS)

    async def read(
        self,
        key: str,
        head: Head,
        position: Position,
        options: Options,
        lease: float,
    ) -> AsyncGenerator[bytes]:
        """Yield the events after a position, to the end; StoreUnavailable if the store is down.

        While there are no events, yield empty bytes every `tick` seconds.
        """
        if position.version != VERSION:
            yield encode_event("[RESTART]", event="RESTART")
            position = Position()
        name = (key, head.log, repr(options.given))
        while True:
            replay = self._shared.get(name)
            number = None if replay is None else replay.find(position)
            if replay is None or number is None:
                rows = follow(self._store, key, head.log, position, lease, self._idle)
                work = rendering(options)
                replay, number = Replay(rows, work, head.log, position, self._slots), 1
            replay.readers += 1
            try:
                while number >= replay.base:
                    if events := replay.after(number):
                        number += len(events)
                        position = events[-1].position
                        yield b"".join([event.data for event in events])
                    elif replay.error is not None:
                        raise replay.error
                    elif replay.is_over:
                        return
                    elif self._share(name, replay) is not replay:
                        break
                    else:
                        await replay.advance(self._tick)
                        yield b""
            finally:
                replay.readers -= 1
                if not replay.readers:
                    if self._shared.get(name) is replay:
                        del self._shared[name]
                    await replay.close()

    def _share(self, name: tuple[str, str, str], replay: Replay) -> Replay:
        """Return the replay from which a reader of this one continues."""
        shared = self._shared.get(name)
        if shared is None or shared.is_broken or shared.position.place < replay.position.place:
            self._shared[name] = shared = replay
        return replay if shared.find(replay.position) is None else shared
