"""Append-only logs with one writer at a time. `(epoch, after)` is the whole concurrency control.

Every claim gives a log another epoch. An append names the epoch of its writer and the number of the
record that it follows, so a writer that was replaced is refused (`Fenced`), and records that the
store had confirmed and then lost, for example in a failover, are noticed (`Lost`). An epoch is the
former one plus a random number: one that was lost with its claim does not come again.
"""

from __future__ import annotations

import asyncio
import random
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from importlib import import_module
from typing import Any, Final, NamedTuple, NoReturn

# The version of the stored format. A store with another version is refused.
FORMAT: Final = 7


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
    """The store does not answer, or takes no writes."""


class State(IntEnum):
    """OPEN: it is being written. ENDING: it has its last record, and `on_end` is to be called."""

    OPEN = 0
    ENDING = 1
    ENDED = 2


@dataclass(frozen=True, slots=True)
class Head:
    """What a store knows about a log besides its records."""

    log: str  # random: another log under the same key has another one
    epoch: int
    last: int  # the number of the last record
    state: int
    left: float  # the seconds that the writer's lease has left
    meta: str
    size: int  # in bytes

    @property
    def closed(self) -> bool:
        return self.state != State.OPEN


class Row(NamedTuple):
    """One record: its number from 1, the epoch of its writer, and its bytes."""

    seq: int
    epoch: int
    data: bytes


@dataclass(frozen=True, slots=True)
class NewLog:
    """A log to create, in place of one that has ended if `replaces`.

    Its owner has at most `most` logs: old ones that have ended make room.
    """

    meta: str
    owner: str = ""
    keep: float = 3600.0
    most: int = 10_000
    replaces: bool = False
    log: str = field(default_factory=lambda: secrets.token_hex(6))


@dataclass(frozen=True, slots=True)
class Write:
    """Records that follow record `after`, from the writer of an epoch; the lease is renewed.

    With `again` the same may have been written before; then nothing is added twice.
    """

    epoch: int
    after: int
    records: Sequence[bytes]
    lease: float
    state: State = State.OPEN
    again: bool = False


def next_epoch(epoch: int = 0) -> int:
    return epoch + random.randrange(1, 1 << 20)


class Store(ABC):
    """Logs by key. Keys are ASCII, at most 200 characters. Times are the store's own clock."""

    # Seconds between two writes of a run: cheap stores need not wait.
    write_every = 0.025

    def __init__(self) -> None:
        self.signals = Signals()

    @abstractmethod
    async def open(self) -> None:
        """Connect; StoreError if the store was written in another format."""

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    async def create(self, key: str, new: NewLog, lease: float) -> Head | None:
        """Create a log and become its writer; None if there is one. Repeated, return the same."""

    @abstractmethod
    async def claim(self, key: str, lease: float, *, force: bool = False) -> Head | None:
        """Become the writer of a log that has not ENDED, if its lease expired or with `force`."""

    @abstractmethod
    async def append(self, key: str, write: Write) -> None:
        """Add records, renew the lease, raise the state; Fenced or Lost if that is not possible."""

    @abstractmethod
    async def read(self, key: str, after: int, limit: int = 200) -> tuple[Head | None, list[Row]]:
        """Return the head, and the records after `after`."""

    @abstractmethod
    async def delete(self, key: str) -> None: ...

    @abstractmethod
    async def expire(self, limit: int = 20) -> list[str]:
        """Delete expired logs; return the keys with an expired lease that are not ENDED."""

    @abstractmethod
    async def probe(self) -> None:
        """Raise StoreError unless the store takes writes."""


def check(head: Head | None, write: Write) -> str:
    """Return why a write is refused, DONE if it was done before, or nothing."""
    count = len(write.records)
    if head is None:
        return "LOST"
    if head.epoch != write.epoch:
        return "FENCED"
    if write.again and count and head.last == write.after + count:
        return "DONE"
    if head.last != write.after:
        return "LOST"
    is_closed = head.state == State.ENDED or (head.state == State.ENDING and count)
    return "FENCED" if is_closed else ""


def refuse(answer: str) -> None:
    """Raise the error for a write that was refused."""
    if answer == "FENCED":
        raise Fenced("another writer has claimed the log, or it is closed")
    if answer == "LOST":
        raise Lost("the store has lost records of this log, or all of it")


def refuse_more(new: NewLog) -> NoReturn:
    raise TooManyLogs(f"there are {new.most} streams that have not ended")


class Signal:
    """Set when a log may have changed. Clear it, read, then wait."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.clear = self._event.clear
        self.set = self._event.set

    async def wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            pass


class Signals:
    """Wake the listeners of a log in this process."""

    def __init__(self) -> None:
        self.listening: dict[str, set[Signal]] = {}
        # Set when a listener is added, for stores that poll only if there are listeners.
        self.wanted = asyncio.Event()

    @contextmanager
    def listen(self, key: str) -> Iterator[Signal]:
        signal = Signal()
        signals = self.listening.setdefault(key, set())
        signals.add(signal)
        self.wanted.set()
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
        for key in tuple(self.listening):
            self.wake(key)


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


class _Kind(NamedTuple):
    module: str
    name: str
    form: str
    extra: str = ""


KINDS: Final = {
    "memory": _Kind("memory", "MemoryStore", "memory:"),
    "sqlite": _Kind("sqlite", "SqliteStore", "sqlite:///file"),
    "redis": _Kind("redis", "RedisStore", "redis://host", "redis"),
    "postgresql": _Kind("postgres", "PostgresStore", "postgresql://host/database", "postgres"),
}
_ALIASES: Final = {"rediss": "redis", "unix": "redis", "postgres": "postgresql"}
# Drivers quote what they cannot parse, which may be part of a password. So a URL must be
# unambiguous: user and password are escaped, and ports are numbers.
_USER: Final = r"(?:[^/?#@%\s]|%[0-9A-Fa-f]{2})*@"
_HOST: Final = r"(?:\[[^\]/?#@]*\]|[^/?#@:,\[\]]*)(?::\d*)?"
_NETWORK: Final = re.compile(rf"//(?:{_USER})?{_HOST}(?:,{_HOST})*(?:/[^?#@]*)?(?:\?[^#]*)?")


def open_store(url: str) -> Store:
    """Return the store of a URL, not yet opened; ValueError if there is none."""
    scheme, _, rest = url.partition(":")
    kind = KINDS.get(_ALIASES.get(scheme, scheme))
    if kind is None:
        forms = ", ".join(kind.form for kind in KINDS.values())
        raise ValueError(f"unknown kind of store: write one of {forms}")
    is_right = {"memory": rest == "", "sqlite": rest.startswith("///") and len(rest) > 3}
    if not is_right.get(kind.module, _NETWORK.fullmatch(rest) is not None):
        raise ValueError(
            f"write the URL of this store as {kind.form}; in a password write %40 for @, %2F for /,"
            " %3A for :, %23 for #, %3F for ?, %25 for %"
        )
    try:
        module = import_module(f".{kind.module}", __package__)
    except ModuleNotFoundError as error:
        install = f"pip install 'jsonrill-server[{kind.extra}]'"
        raise ValueError(f"the store {kind.form} needs: {install}") from error
    store: Store = getattr(module, kind.name)(url)
    return store


def shown_url(url: str) -> str:
    """Return a store's URL without user, password and parameters."""
    scheme, _, rest = url.partition(":")
    place, parameters, _ = rest.rpartition("@")[2].partition("?")
    return f"{scheme}:{'//…@' if '@' in rest else ''}{place}{'?…' if parameters else ''}"
