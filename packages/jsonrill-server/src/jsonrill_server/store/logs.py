"""The interface of stores: what all do in the same way, and the little that each does in its own.

A change of a log is decided from its head (`heads.py`) and sent as one exchange: the next head and
the records that it adds take the place of the head that it was made from, or nothing happens. A
process remembers the heads of the logs that it writes to, so that an append is one journey; where
another process was faster, the store answers with the head that is there, and it is decided again.
A change whose answer was lost is recognized by its name and not made twice.

The store keeps a list of all streams and the end of each lease. A new stream is added to it first
and counted afterwards: of two processes that reach a bound at the same moment both may be refused.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from . import heads
from .base import (
    Append,
    Bounds,
    Entry,
    LogLost,
    LogPage,
    New,
    Status,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    Tail,
    Turn,
    UnknownStream,
    follow,
)
from .heads import Change, Clock, Head
from .signals import Signals

log = logging.getLogger("jsonrill_server.store")

T = TypeVar("T")
# How many records are read at once, and how many heads a process remembers.
BATCH: Final = 500
KNOWN: Final = 5000
# How long a call waits for a store that does not answer.
RETRY_FOR: Final = 5.0


class Found(NamedTuple):
    """What a store has of a log: no head if there is none; records that were asked for."""

    clock: Clock
    head: Head | None
    rows: Sequence[Entry] = ()


class Usage(NamedTuple):
    """The number of open streams of an owner, and of all streams."""

    open: int
    streams: int


class _Known:
    """What this process knows of a log, and who may change it."""

    __slots__ = ("_ahead", "_back", "head", "lock", "users")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0
        self.head: Head | None = None
        self._ahead = self._back = 0.0

    def learn(self, state: Found) -> None:
        self.head = state.head
        self._ahead, self._back = state.clock.now - time.monotonic(), state.clock.back

    @property
    def clock(self) -> Clock:
        return Clock(self._ahead + time.monotonic(), self._back)


class Store(ABC):
    """An append-only log per stream. Ids and owners are text; records are opaque bytes.

    A new store is a class with the six methods that come first, `open` and `close`.
    """

    # Seconds after which a waiting reader looks at the log even if it was not woken.
    check_every: ClassVar[float] = 20.0
    # Seconds between two writes of a producer that coalesces what it appends; 0: it need not.
    write_every: ClassVar[float] = 0.025

    # Seconds for which a call is repeated while the store cannot be reached; 0: not at all.
    retry_for: float = 0.0

    # ---- what a store does in its own way, each in one try ----

    @abstractmethod
    async def _find(self, stream: str, after: int, count: int) -> Found:
        """Read the head and up to `count` records after a position; record 0 is the meta."""

    @abstractmethod
    async def _swap(
        self, stream: str, before: str, head: Head, rows: Sequence[Entry], listed: bool
    ) -> Found:
        """Exchange the head named `before` ("": there is none) and add the rows, in one step.

        Return the head that is there afterwards. Rows that begin with record 0 are a new log, in
        the place of what was there. If `listed`, `head.listed` is new to the list of streams.
        Readers are woken, those in other processes too, if there are rows.
        """

    @abstractmethod
    async def _drop(self, stream: str, name: str | None) -> None:
        """Delete a log, also from the list, if its head has this name ("": if it has none)."""

    @abstractmethod
    async def _usage(self, owner: str, now: float) -> Usage:
        """Count the streams in the list."""

    @abstractmethod
    async def _oldest(self, now: float) -> Sequence[str]:
        """Return some streams of the list whose lease ended, oldest first."""

    @abstractmethod
    async def _probe(self) -> None:
        """Write something; raises StoreUnavailable or StoreFull if the store takes no writes."""

    # ---- what is built on it ----

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        # Called with the name of what failed; the caller of a method gets its exception besides.
        self.on_error: Callable[[str, Exception], None] = _log_error
        self._signals = Signals()
        self._known: dict[str, _Known] = {}
        self._making = asyncio.Lock()
        # Of changes: no two of any process are alike.
        self._names = map(f"{secrets.token_hex(8)}{{:x}}".format, count())

    @classmethod
    def takes(cls, rest: str) -> bool:
        """Return True if this can follow the scheme and its colon in a URL."""
        return rest.startswith("//")

    @classmethod
    def at(cls, url: str, bounds: Bounds | None) -> Store:
        """Return a store for a URL, not yet opened."""
        return cls(url, bounds)  # type: ignore[arg-type, call-arg]

    async def open(self) -> None:  # noqa: B027 - most need nothing
        """Open files and connections. Called first, in the event loop that will use the store."""

    def stop(self) -> None:  # noqa: B027 - most need nothing
        """Called when the process was told to end: it still reads and writes, but not for long."""

    @abstractmethod
    async def close(self) -> None:
        """Close files and connections; every waiting `read` ends."""

    async def acquire(
        self,
        stream: str,
        producer: str,
        *,
        lease: float,
        owner: str = "",
        meta: bytes | None = None,
        replace: bool = False,
    ) -> Status:
        """Take or renew the lease for `lease` seconds; with `meta`, create the stream.

        With `replace` it may take the place of one that has ended, whose log is deleted.
        Any named producer may take over a lease without a name (`producer` is empty).
        Raises StreamTaken if another producer holds it (or, with `meta`, if the id exists),
        LogClosed if the stream is closed, UnknownStream, or StoreFull if no stream can be created.
        """
        new = None if meta is None else New(owner, meta, replace)
        if new is not None:
            name = next(self._names)
            return await self._insist(lambda: self._make(stream, producer, lease, new, name))
        await self._change(
            stream, lambda head, clock: heads.taken(head, producer, lease, clock, self.bounds)
        )
        return await self.status(stream)

    async def append(self, stream: str, producer: str, records: Sequence[bytes], **how: Any) -> int:
        """Append as `write` does, and return the number of the last record in the log."""
        return (await self.write(stream, producer, records, **how)).last

    async def write(
        self,
        stream: str,
        producer: str,
        records: Sequence[bytes],
        *,
        lease: float | None = None,
        turn: Turn | None = None,
        end: bytes | None = None,
    ) -> Tail:
        """Append all records or none, and return the end of the log.

        `lease` takes or renews the lease, as `acquire` does. `turn` is the place of this append
        among those of its producer, and is written in the same step; TurnRefused if it is not the
        next one, also of a closed log: so an append whose answer was lost can be repeated. A named
        producer with a turn must have had the lease last: it does not take it by that. `end` closes
        the stream with a last record, as `finalize` does.
        """
        append = Append(records, lease, turn, end)

        def decide(head: Head, clock: Clock) -> Change:
            return heads.appended(head, producer, append, clock, self.bounds)

        head = await self._change(stream, decide)
        assert head is not None
        return head.tail

    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        """Close the stream with its last record; False if it was not written.

        A stream is closed once: every later call returns False. With `only_if_lost` the record is
        written only if the lease has run out.
        """

        def decide(head: Head, clock: Clock) -> Change | None:
            return heads.ended(head, data, only_if_lost, clock, self.bounds)

        return await self._change(stream, decide, ask=True) is not None

    async def read(
        self, stream: str, after: int = 0, mark: int | None = None, *, retry_for: float = RETRY_FOR
    ) -> AsyncGenerator[list[Entry]]:
        """Yield batches of entries after a position, waiting for more until the final one.

        `mark` is that of the record at the position, if the caller knows it. Raises UnknownStream
        (also when the stream vanishes), LogGap when `after` is past the end, LogLost when records
        do not follow each other, and StoreUnavailable after `retry_for` seconds without an answer.
        """
        waited = False
        with self._signals.listen(stream) as signal:
            while not signal.closed:
                signal.clear()
                page = await self._peek(stream, after, retry_for)
                after, mark = follow(page, after, mark, waited=waited)
                if page.entries:
                    yield page.entries
                    if page.entries[-1].final:
                        return
                if after < page.last:
                    continue
                if page.closed:
                    return
                mark, waited = page.mark, True
                await signal.wait(self.check_every * random.uniform(0.75, 1.0))

    async def peek(
        self, stream: str, after: int = 0, mark: int | None = None, *, retry_for: float = RETRY_FOR
    ) -> LogPage:
        """Return the state of the log and the next entries, without waiting for any.

        Raises as `read` does.
        """
        page = await self._peek(stream, after, retry_for)
        follow(page, after, mark)
        return page

    async def status(self, stream: str) -> Status:
        """Return the current state of a stream; raises UnknownStream."""

        async def work() -> Status:
            state = await self._find(stream, -1, 1)
            head = _live(state, stream)
            if not state.rows or state.rows[0].seq != 0:
                raise LogLost("the store lost what this stream is about")
            return head.status(state.rows[0].data, state.clock)

        return await self._insist(work)

    async def delete(self, stream: str) -> None:
        """Delete the stream; deleting it twice is no error."""
        await self._insist(lambda: self._drop(stream, None))
        self._signals.wake(stream)

    async def probe(self) -> None:
        """Write something; raises if the store takes no writes."""
        await self._insist(self._probe)

    # ---- how ----

    async def _peek(self, stream: str, after: int, retry_for: float) -> LogPage:
        async def work() -> LogPage:
            state = await self._find(stream, after, BATCH)
            head = _live(state, stream)
            return LogPage(head.last, head.mark, head.closed, list(state.rows))

        return await self._insist(work, "read", retry_for)

    async def _insist(
        self, work: Callable[[], Awaitable[T]], what: str = "call", retry_for: float | None = None
    ) -> T:
        """Repeat work while the store cannot be reached."""
        retry_for = self.retry_for if retry_for is None else retry_for
        until, pause, why = time.monotonic() + retry_for, 0.02, ""
        try:
            async with asyncio.timeout(retry_for or None):
                while True:
                    try:
                        return await work()
                    except StoreUnavailable as error:
                        self.on_error(what, error)
                        if time.monotonic() + pause > until:
                            raise
                        why = f": {error}"
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, 0.5)
        except TimeoutError:
            message = f"no answer from the store for {retry_for:g} s{why}"
            raise StoreUnavailable(message) from None

    async def _change(
        self,
        stream: str,
        decide: Callable[[Head, Clock], Change | None],
        *,
        ask: bool = False,
    ) -> Head | None:
        """Make the change that is decided from the head of a log, and return the head after it.

        None if nothing was decided. What is remembered of the log will do, unless `ask`.
        """
        name = next(self._names)
        return await self._insist(lambda: self._try_change(stream, decide, name, ask))

    async def _try_change(
        self,
        stream: str,
        decide: Callable[[Head, Clock], Change | None],
        name: str,
        ask: bool,
    ) -> Head | None:
        async with self._alone(stream) as known:
            # Refusals and takeovers are decided from what is there now.
            is_current = False
            while True:
                if ask or known.head is None:
                    known.learn(await self._find(stream, 0, 0))
                    ask, is_current = False, True
                clock = known.clock
                head = _live(Found(clock, known.head), stream)
                if name == head.name or name in head.calls:
                    return head
                try:
                    change = decide(head, clock)
                except StoreError:
                    if is_current:
                        raise
                    ask = True
                    continue
                if change is None:
                    return None
                if change.head.producer != head.producer and not is_current:
                    ask = True
                elif await self._put(stream, known, change, name):
                    return known.head
                else:
                    is_current = True

    async def _put(self, stream: str, known: _Known, change: Change, name: str) -> bool:
        """Exchange the head that is known; False if another one is there, which is known then."""
        before = known.head
        assert before is not None
        head = heads.named(change, before, name, known.clock.now)
        listed = head.listed != before.listed
        known.learn(await self._swap(stream, before.name, head, change.rows, listed))
        if change.rows:
            self._signals.wake(stream)
        return known.head is not None and known.head.name == name

    @asynccontextmanager
    async def _alone(self, stream: str) -> AsyncIterator[_Known]:
        """Let one task of this process after the other change a log."""
        known = self._known.get(stream)
        if known is None:
            if len(self._known) >= KNOWN:
                self._known = {name: it for name, it in self._known.items() if it.users}
            known = self._known[stream] = _Known()
        known.users += 1
        try:
            async with known.lock:
                try:
                    yield known
                except BaseException:
                    known.head = None  # it may have been changed
                    raise
        finally:
            known.users -= 1
            if not known.users and (known.head is None or known.head.closed):
                self._known.pop(stream, None)

    # ---- bounds ----

    async def _make(self, stream: str, producer: str, lease: float, new: New, name: str) -> Status:
        """Create a stream, and delete it again if it does not fit."""
        async with self._alone(stream) as known, self._making:
            state = await self._find(stream, 0, 0)
            while (head := state.head) is None or name not in head.calls:
                now = state.clock.now
                if head is not None and head.expires > now and not (new.replace and head.closed):
                    raise StreamTaken(f"stream {stream} exists")
                change = heads.begun(new, producer, lease, state.clock, self.bounds)
                named = heads.named(change, None, name, now)
                before = "" if head is None else head.name
                state = await self._swap(stream, before, named, change.rows, True)
            known.learn(state)
            try:
                await self._check_room(stream, new.owner, state.clock.now)
                return _live(state, stream).status(new.meta, state.clock)
            except (StoreFull, UnknownStream):
                await self._drop(stream, head.name)
                raise

    async def _check_room(self, stream: str, owner: str, now: float) -> None:
        """Delete old streams, but not this new one, until the store is within its bounds."""
        while True:
            usage = await self._usage(owner, now)
            if usage.open > self.bounds.owner_streams:
                raise StoreFull("owner_streams", "too many open streams of one owner")
            if usage.streams <= self.bounds.total_streams:
                return
            if not await self._evict(stream, now):
                raise StoreFull("total_streams", "the store holds no more streams")

    async def _evict(self, but: str, now: float) -> bool:
        """Delete the oldest stream that has no producer; False if there is none."""
        for stream in await self._oldest(now):
            if stream == but:
                continue
            clock, head, _ = await self._find(stream, 0, 0)
            if head is not None and not head.closed and head.expires > clock.now:
                if head.is_held(clock):
                    continue
            await self._drop(stream, "" if head is None else head.name)
            self._signals.wake(stream)
            return True
        return False


def _live(state: Found, stream: str) -> Head:
    """Return the head of a log that is there and has not expired."""
    if state.head is None or state.head.expires <= state.clock.now:
        raise UnknownStream(f"there is no stream {stream}")
    return state.head


def _log_error(what: str, error: Exception) -> None:
    log.warning("the store failed (%s): %s", what, type(error).__name__)
