"""Append-only logs with one writer at a time. `(epoch, after)` is the whole concurrency control.

Every claim gives a log another epoch. A write names the head that its writer knows, so a writer
that was replaced is refused (`Fenced`), a write that is repeated is recognised, and records that
the store had confirmed and then lost, for example in a failover, are noticed (`Lost`). An epoch is
the former one plus a random number: one that was lost with its claim does not come again.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import IntEnum
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeVar

T = TypeVar("T")
log = logging.getLogger("jsonrill_server")
# The version of the stored format. A store with another version is refused.
FORMAT: Final = 8
# Seconds between two attempts.
PAUSE: Final = 0.2


class StoreError(Exception):
    """A store failed."""


class Fenced(StoreError):
    """Another writer has claimed the log, or it is closed."""


class Lost(StoreError):
    """The store has lost records, or the whole log."""


class StoreFull(StoreError):
    """The store has no room for more."""


class TooManyLogs(StoreFull):
    """An owner has reached its number of logs, and none of them has ended."""


class StoreUnavailable(StoreError):
    """The store does not answer, or accepts no writes."""


class State(IntEnum):
    """OPEN: it may grow. ENDING: it has its last record, but `on_end` has not returned yet."""

    OPEN = 0
    ENDING = 1
    ENDED = 2


@dataclass(frozen=True, slots=True)
class Head:
    """The state of a log in a store, without its records."""

    log: str  # random, so that it differs from other logs under the same key
    epoch: int
    last: int  # the number of the last record
    state: int
    left: float  # seconds until the writer's lease expires
    size: int  # in bytes
    meta: str

    @property
    def closed(self) -> bool:
        return self.state != State.OPEN

    def next_epoch(self) -> int:
        return self.epoch + random.randrange(1, 1 << 20)


class Row(NamedTuple):
    """One record: its number from 1, the epoch of its writer, and its bytes."""

    seq: int
    epoch: int
    data: bytes


@dataclass(frozen=True, slots=True)
class NewLog:
    """A log to create, perhaps in place of one that has ENDED, named by its `Head.log`.

    Its owner has at most `most` logs; above that, the oldest ENDED ones are deleted.
    """

    meta: str
    owner: str = ""
    keep: float = 3600.0
    most: int = 10_000
    replaces: str = ""
    log: str = field(default_factory=lambda: secrets.token_hex(6))
    epoch: int = field(default_factory=lambda: random.randrange(1, 1 << 20))


@dataclass(frozen=True, slots=True)
class Write:
    """Records to add after the head that a writer knows. The lease is renewed.

    A claim changes the epoch. Without records it may follow a later record.
    """

    head: Head
    lease: float
    records: Sequence[bytes]
    state: int
    epoch: int

    def fields(self) -> dict[str, Any]:
        """Return the fields for a statement of a database, without the records."""
        return {
            "epoch": self.head.epoch,
            "last": self.head.last,
            "state": self.head.state,
            "lease": self.lease,
            "count": len(self.records),
            "size": sum(map(len, self.records)),
            "next_epoch": self.epoch,
            "next_state": self.state,
        }


class Store(ABC):
    """Logs by key. Keys are ASCII, at most 200 characters. Times are the store's own clock."""

    # Seconds between two writes of a run: cheap stores need not wait.
    write_every = 0.025
    # The remedy for a store in another format, for its error message.
    remedy = ""

    def __init__(self) -> None:
        self.signals = Signals()
        self._listening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        version = await self.connect()
        if version != FORMAT:
            raise StoreError(f"the store has format {version} and not {FORMAT}: {self.remedy}")
        self._listening = asyncio.create_task(self._listen())

    async def close(self) -> None:
        await cancel(self._listening)
        await self.disconnect()

    async def _listen(self) -> None:
        """Wake the listeners in this process when any process changes a log."""
        while True:
            try:
                await self.watch_changes()
            except Exception as error:
                log.warning("changes in the store are not announced: %s", error)
            self.signals.wake_all()
            await asyncio.sleep(1.0)

    async def create(self, key: str, new: NewLog, lease: float) -> Head | None:
        """Create a log and become its writer; None if it exists. Repeating it changes nothing."""
        head = await self.try_create(key, new, lease)
        if head is None:
            head, _ = await self.read(key, 0, 0)
            if head is None:
                raise TooManyLogs(f"there are {new.most} streams that have not ended")
        return head if head.log == new.log else None

    async def claim(
        self, key: str, lease: float, *, state: State = State.OPEN, epoch: int | None = None
    ) -> Head | None:
        """Become the writer of a log in a state: by force, or in place of the writer of `epoch`."""
        while True:
            head, _ = await self.read(key, 0, 0)
            if head is None or head.state != state or epoch not in (None, head.epoch):
                return None
            write = Write(head, lease, (), state, head.next_epoch())
            if (claimed := await self.try_write(key, write)) is not None:
                return claimed

    async def append(
        self,
        key: str,
        head: Head,
        lease: float,
        records: Sequence[bytes] = (),
        state: State | None = None,
    ) -> Head:
        """Add records after a head, and change the state; Fenced or Lost if that is not possible.

        The same write again changes nothing.
        """
        state = State(head.state) if state is None else state
        changed = await self.try_write(key, Write(head, lease, records, state, head.epoch))
        if changed is not None:
            return changed
        found, _ = await self.read(key, 0, 0)
        if found is None:
            raise Lost("the store has lost this log")
        if found.epoch == head.epoch:
            if (found.last, found.state) == (head.last + len(records), state):
                return found
            if found.last != head.last:
                raise Lost("the store has lost records of this log")
        raise Fenced("another writer has claimed the log, or it is closed")

    @abstractmethod
    async def connect(self) -> int:
        """Connect, set up a new store, and return the version of its format."""

    @abstractmethod
    async def disconnect(self) -> None: ...

    @abstractmethod
    async def watch_changes(self) -> None:
        """Wake listeners when another process changes a log, until the connection fails."""

    @abstractmethod
    async def try_create(self, key: str, new: NewLog, lease: float) -> Head | None:
        """Create a log; None if there is another one, or no room."""

    @abstractmethod
    async def try_write(self, key: str, write: Write) -> Head | None:
        """Return the head after a write; None if the log has another head than its writer knows."""

    @abstractmethod
    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        """Return the head, and the records after `after`."""

    @abstractmethod
    async def delete(self, key: str) -> None: ...

    @abstractmethod
    async def expire(self) -> list[str]:
        """Delete expired logs; return some keys with an expired lease that are not ENDED."""

    @abstractmethod
    async def probe(self) -> None:
        """Raise StoreError unless the store takes writes."""


class Signals:
    """Wake the listeners of a log in this process."""

    def __init__(self) -> None:
        self.listening: dict[str, set[asyncio.Event]] = {}

    @contextmanager
    def listen(self, key: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set when a log may have changed. Clear it, read, then wait."""
        signal = asyncio.Event()
        signals = self.listening.setdefault(key, set())
        signals.add(signal)
        try:
            yield signal
        finally:
            signals.discard(signal)
            if not signals and self.listening.get(key) is signals:
                del self.listening[key]

    def wake(self, key: str) -> None:
        for signal in self.listening.get(key, ()):
            signal.set()

    def wake_all(self) -> None:
        for key in self.listening:
            self.wake(key)


async def retry(call: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Call a store, and retry for this many seconds while it is unavailable or full."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while True:
        try:
            return await call()
        except (StoreUnavailable, StoreFull):
            if clock() > until:
                raise
        await asyncio.sleep(PAUSE)


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait until an event is set, or until the seconds are over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def cancel(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks and wait until they have ended; what they raise is dropped.

    A cancellation can get lost: `asyncio.wait_for` of Python 3.11 forgets one that comes together
    with a result. So it is repeated.
    """
    running = [task for task in tasks if task is not None]
    while left := {task for task in running if not task.done()}:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=0.2)
    for task in running:
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it


# The store modules whose names are not the URL's scheme.
MODULES: Final = {"rediss": "redis", "unix": "redis", "postgresql": "postgres"}
# Drivers quote what they cannot parse, which may be part of a password. So a URL must be
# unambiguous: an @ ends the password, and is escaped elsewhere.
URL: Final = re.compile(
    "memory:|sqlite:///.+|(rediss?|unix|postgres|postgresql)://([^/?#@]*@)?[^#@]*"
)


def open_store(url: str) -> Store:
    """Return the store of a URL, not yet opened; ValueError if there is none."""
    scheme = url.partition(":")[0]
    name = MODULES.get(scheme, scheme)
    try:
        if not URL.fullmatch(url):
            raise ValueError
        module = import_module(f".{name}", __package__)
        store: Store = getattr(module, f"{name.capitalize()}Store")(url)
    except ModuleNotFoundError as error:
        raise ValueError(f"this store needs: pip install 'jsonrill-server[{name}]'") from error
    except ValueError:
        raise ValueError(
            "a store is memory:, sqlite:///file, redis://host or postgresql://host/database; in a"
            " password write %40 for @, %2F for /, %3A for :, %23 for #, %3F for ?, %25 for %"
        ) from None
    return store
