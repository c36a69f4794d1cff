"""Read a log as server-sent events, from any position.

A replay renders the log from its start, and skips the events that the client already has. It
advances when a reader has read all its events, and keeps the last ones. Readers with the same
position share a replay, and a reader that falls behind gets its own.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from functools import partial
from typing import Final, NamedTuple

from jsonrill.eventstream import encode_event

from .formats import VERSION, Rendering, rendering
from .log import Head, Lost, Row, Store, StoreError, StoreUnavailable, cancel, retry, wait_for
from .options import Options
from .records import GONE, LOG_LOST, SLICE, End, Record, from_bytes

log = logging.getLogger("jsonrill_server")
# The size of the blocks that are sent, in bytes.
CHUNK_BYTES: Final = 64 << 10
# Bytes of events that a replay keeps for readers behind it.
TAIL_BYTES: Final = 256 << 10
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


# The position of a replay that has failed: no reader has it.
NOWHERE: Final = Position(version=-1)


class Events(NamedTuple):
    """The bytes of one event or more, and the position after them."""

    position: Position
    data: bytes


def render(work: Rendering, record: Position, item: Record | End) -> Iterator[list[Events]]:
    """Yield the events of the record at a position, in steps that take a bounded time."""
    number = 0
    for texts in work.end(item) if isinstance(item, End) else work.feed(item):
        yield [_event(record, sub, text) for sub, text in enumerate(texts, number)]
        number += len(texts)
    if isinstance(item, End) and work.last is not None:
        yield [_event(record, LAST, *work.last)]


def _event(record: Position, sub: int, text: str, name: str | None = None) -> Events:
    position = record._replace(sub=sub)
    return Events(position, encode_event(text, event=name, id=str(position)))


async def follow(
    store: Store, key: str, log: str, start: Position, lease: float, tick: float, idle: Idle
) -> AsyncGenerator[list[Row]]:
    """Yield the records of a log as they arrive, and an empty list in each silent `tick`.

    It ends when the log is gone. `Lost` is raised if records that were read here, or elsewhere up
    to `start`, have been replaced.
    """
    last, clock = Position(log), asyncio.get_running_loop().time
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
            if rows:
                yield rows
                last = last._replace(epoch=rows[-1].epoch, seq=rows[-1].seq)
                continue
            idle(key, head)
            due = clock() + lease / 3
            while not signal.is_set() and clock() < due:
                await wait_for(signal, tick)
                if not signal.is_set():
                    yield []


class Replay:
    """A rendering of a log from its start, in blocks of events, for one reader or more.

    It advances when a reader has read all its blocks, and keeps the last ones.
    """

    def __init__(
        self,
        rows: AsyncGenerator[list[Row]],
        work: Rendering,
        head: Head,
        start: Position,
        turn: asyncio.Lock,
    ) -> None:
        # The position after all blocks.
        self.position = start
        self.blocks: list[Events] = []
        # How many blocks were dropped.
        self.base = 0
        self.readers = 0
        self.is_over = False
        self.error: StoreError | None = None
        self._work = work
        self._head = head
        self._start = start
        self._turn = turn
        self._clock = asyncio.get_running_loop().time
        self._size = 0
        self._is_wanted = asyncio.Event()
        self._has_moved = asyncio.Event()
        self._advancing = asyncio.create_task(self._advance(rows))

    @property
    def end(self) -> int:
        """The number of blocks so far."""
        return self.base + len(self.blocks)

    async def wait(self) -> None:
        """Wait for more blocks; return without any after a silent tick."""
        self._is_wanted.set()
        await self._has_moved.wait()

    async def close(self) -> None:
        await cancel(self._advancing)

    async def _advance(self, rows: AsyncGenerator[list[Row]]) -> None:
        """Add blocks, up to the end of the log."""
        try:
            async with aclosing(rows):
                await self._is_wanted.wait()
                async for batch in rows:
                    steps = self._render(batch)
                    # Replays that catch up take turns, so that they do not delay live ones.
                    is_behind = bool(batch) and batch[0].seq <= self._head.last
                    while await self._step(steps, self._turn if is_behind else nullcontext()):
                        await self._pause()
                    if self.is_over:
                        break
                    await self._pause()
                else:
                    self._fail(GONE)
        except StoreUnavailable as error:
            self.error = error
        except Lost:
            self._fail(LOG_LOST)
        except Exception:
            log.exception("a stream cannot be rendered")
            self._fail(BROKEN)
        self.is_over = True
        self._has_moved.set()

    def _render(self, batch: list[Row]) -> Iterator[list[Events]]:
        for row in batch:
            item = from_bytes(row.data)
            yield from render(self._work, Position(self._head.log, row.epoch, row.seq), item)
            self.is_over = isinstance(item, End)

    async def _step(
        self, steps: Iterator[list[Events]], turn: AbstractAsyncContextManager[None]
    ) -> bool:
        """Add a block of what is rendered in some milliseconds; return False after the last one."""
        if self._work.is_large:
            events, is_last = await asyncio.to_thread(self._take, steps)
        else:
            async with turn:
                events, is_last = self._take(steps)
        if events:
            self._add(Events(events[-1].position, b"".join([event.data for event in events])))
        return not is_last

    def _take(self, steps: Iterator[list[Events]]) -> tuple[list[Events], bool]:
        """Return the events of some steps, and whether these were the last steps."""
        due, size, events = self._clock() + SLICE, 0, list[Events]()
        for step in steps:
            new = [event for event in step if event.position.place > self._start.place]
            events += new
            size += sum([len(event.data) for event in new])
            if self._clock() > due or size > CHUNK_BYTES:
                return events, False
        return events, True

    async def _pause(self) -> None:
        """Wake the readers, and wait until one has read all blocks."""
        self._is_wanted.clear()
        self._has_moved.set()
        self._has_moved = asyncio.Event()
        await self._is_wanted.wait()

    def _add(self, block: Events) -> None:
        self.position = block.position
        self.blocks.append(block)
        self._size += len(block.data)
        while self._size > TAIL_BYTES and len(self.blocks) > 1:
            self._size -= len(self.blocks.pop(0).data)
            self.base += 1

    def _fail(self, end: End) -> None:
        """Add an error that is not in the log, without an id."""
        events = [*map(encode_event, self._work.fail(end.error or {}))]
        if self._work.last is not None:
            text, name = self._work.last
            events.append(encode_event(text, event=name))
        self._add(Events(self.position, b"".join(events)))
        self.position = NOWHERE


class Replays:
    """The replays of a process. Readers of one log and format share the most advanced one."""

    def __init__(self, store: Store, idle: Idle, tick: float) -> None:
        self._store = store
        self._idle = idle
        self._tick = tick
        self._shared: dict[tuple[str, str, str], Replay] = {}
        self._turn = asyncio.Lock()

    async def read(
        self, key: str, head: Head, position: Position, options: Options, lease: float
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
            if replay is None or replay.position != position:
                args = (self._store, key, head.log, position, lease, self._tick, self._idle)
                replay = Replay(follow(*args), rendering(options), head, position, self._turn)
            number = replay.end
            replay.readers += 1
            try:
                while number >= replay.base:
                    if number < replay.end:
                        position, data = replay.blocks[number - replay.base]
                        number += 1
                        yield data
                    elif replay.error is not None:
                        raise replay.error
                    elif replay.is_over:
                        return
                    elif self._share(name, replay) is not replay:
                        break
                    else:
                        await replay.wait()
                        if number == replay.end:
                            yield b""
            finally:
                replay.readers -= 1
                if not replay.readers:
                    if self._shared.get(name) is replay:
                        del self._shared[name]
                    await replay.close()

    def _share(self, name: tuple[str, str, str], replay: Replay) -> Replay:
        """Return the replay from which a reader of all blocks of this one continues."""
        shared = self._shared.get(name)
        if shared is None or shared.position.place < replay.position.place:
            self._shared[name] = shared = replay
        return shared if shared.position == replay.position else replay
