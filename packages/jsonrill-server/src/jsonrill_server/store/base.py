"""The interface of stores: one append-only log of opaque records per stream, one producer each.

Records of a stream are numbered from 1 without a gap, and the record that ends it is one of them:
a closed log never grows again. A producer holds a lease; when it runs out, any process may close
the stream in its place. A producer that may have to repeat an append numbers it (`Turn`): the log
keeps the last number of each producer, and takes none twice. Each record carries a checksum of the
log up to it, its mark: a reader notices when records are missing or are others than before, also
when it comes back later. This file knows nothing of JSON, HTTP or of where a log is kept.
"""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple
from zlib import crc32

from jsonrill.errors import JsonrillError

from ..bounds import Bounds as Bounds
from .signals import Signals

log = logging.getLogger("jsonrill_server.store")
BATCH = 500
# How long a call waits for a store that does not answer, and between its tries.
PATIENCE: Final = 5.0
PAUSE: Final = 0.2
# A store that is reached over a network repeats a call whose answer was lost. One without a number
# gets a name of this size, and a stream remembers the last ones.
CALLS: Final = 60
CALL_SIZE: Final = 17
# How many producers of one stream may number their appends, and what each takes beside its name.
TURNS: Final = 1000
TURN_COST: Final = 100
# Epoch and number of the last append of a producer that has made none.
NO_TURN: Final = (-1, -1)


class StoreError(JsonrillError):
    """Base class of the errors that a store raises."""


class UnknownStream(StoreError):
    """There is no such stream: it was never created, was deleted, or has expired."""


class StreamTaken(StoreError):
    """Another producer holds the lease, or the id is in use."""


class LogClosed(StoreError):
    """The log is closed; nothing can be appended."""


class LogGap(StoreError):
    """A position past the end of the log; `last` is the number of its last record."""

    def __init__(self, last: int) -> None:
        super().__init__(f"the log ends at {last}")
        self.last = last


class TurnRefused(StoreError):
    """It is not the turn of this append.

    `epoch` and `seq` are those of the last append that was accepted from this producer, -1 if
    there was none; `tail` is the end of the log, `closed` says whether it is closed.
    """

    def __init__(self, epoch: int, seq: int, tail: Tail, closed: bool) -> None:
        super().__init__(f"the last append of this producer was {seq} of epoch {epoch}")
        self.epoch = epoch
        self.seq = seq
        self.tail = tail
        self.closed = closed


class OutOfOrder(StoreError):
    """An append whose `order` is not greater than that of an append before it."""


class LogLost(StoreError):
    """The store lost records that it had confirmed, or has others in their place."""


class StoreFull(StoreError):
    """A size limit of the store was reached; `bound` names it."""

    def __init__(self, bound: str, message: str) -> None:
        super().__init__(message)
        self.bound = bound


class StoreUnavailable(StoreError):
    """The store cannot be reached now; the same call may work later."""


class Entry(NamedTuple):
    """One record of a log and its number; `final` is set on the last one a log will have.

    `mark` is a checksum of the log up to and with this record (see `next_mark`).
    """

    seq: int
    data: bytes
    final: bool = False
    mark: int = 0


class Tail(NamedTuple):
    """The end of a log: the number of its last record, and its mark."""

    last: int
    mark: int


class Turn(NamedTuple):
    """The place of one append among those of a producer.

    Appends of an epoch are numbered from 0 without a gap. A higher epoch shuts out the lower ones:
    a producer that was restarted begins one, so that a predecessor that still runs is refused.
    """

    producer: str
    epoch: int
    seq: int

    def follows(self, epoch: int, seq: int) -> bool:
        """Return True if this is the next append after that one (-1, -1: after none)."""
        return self.seq == (seq + 1 if self.epoch == epoch else 0) and self.epoch >= epoch


class Look(NamedTuple):
    """The state of a log at one moment: its end, and entries after the requested position."""

    last: int
    mark: int
    closed: bool
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class Status:
    """The current state of a stream.

    `lease` is the remaining time of the producer's lease, in seconds; `lost` is True if the stream
    is open and has no producer any more. `mark` is the checksum of the complete log. After
    `expires` seconds the stream is deleted, unless it is used before.
    """

    owner: str
    meta: bytes
    last: int
    size: int
    mark: int
    closed: bool
    producer: str
    lease: float
    lost: bool
    expires: float


def _with_end(records: Sequence[bytes], end: bytes | None) -> Sequence[bytes]:
    return records if end is None else [*records, end]


class New(NamedTuple):
    """A stream to be created, as `Store.acquire` describes it."""

    owner: str
    meta: bytes
    replace: bool
    ttl: float
    until: float
    records: Sequence[bytes]
    end: bytes | None

    @property
    def written(self) -> Sequence[bytes]:
        """All records, the end too."""
        return _with_end(self.records, self.end)


class Append(NamedTuple):
    """What is to be appended, as `Store.write` describes it."""

    records: Sequence[bytes]
    lease: float | None
    turn: Turn | None
    order: bytes
    end: bytes | None

    @property
    def written(self) -> Sequence[bytes]:
        """All records, the end too."""
        return _with_end(self.records, self.end)


class Store(ABC):
    """An append-only log per stream. Ids and owners are text; records are opaque bytes."""

    # What a record and a stream take in this store, beside the record's own bytes.
    record_cost: ClassVar[int]
    stream_cost: ClassVar[int]
    # Seconds after which a waiting reader looks at the log even if it was not woken.
    look_every: ClassVar[float] = 20.0
    # Seconds between two writes of a producer that coalesces what it appends; 0: it need not.
    write_every: ClassVar[float] = 0.025

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        # Called with the name of what failed; the caller of a method gets its exception besides.
        self.on_error: Callable[[str, Exception], None] = _log_error
        self._signals = Signals()

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
        ttl: float = 0.0,
        until: float = 0.0,
        records: Sequence[bytes] = (),
        end: bytes | None = None,
    ) -> Status:
        """Take or renew the lease for `lease` seconds; with `meta`, create the stream.

        With `replace` it may take the place of one that has ended, whose log is deleted.
        Any named producer may take over a lease without a name (`producer` is empty).
        A new stream may begin with `records`, and be closed by `end`, in the same step. It is
        deleted when it was not used for `ttl` seconds, or at the Unix time `until`; if neither is
        given, when the bounds of the store say so.
        Raises StreamTaken if another producer holds it (or, with `meta`, if the id exists),
        LogClosed if the stream is closed, UnknownStream, or StoreFull if no stream can be created.
        """
        new = None if meta is None else New(owner, meta, replace, ttl, until, records, end)
        return await self._take(stream, producer, lease, new)

    @abstractmethod
    async def _take(self, stream: str, producer: str, lease: float, new: New | None) -> Status:
        """`acquire`, with all that is said of a stream to be created."""

    async def append(
        self,
        stream: str,
        producer: str,
        records: Sequence[bytes],
        *,
        lease: float | None = None,
        turn: Turn | None = None,
    ) -> int:
        """Append all records or none, and return the number of the last record in the log."""
        return (await self.write(stream, producer, records, lease=lease, turn=turn)).last

    async def write(
        self,
        stream: str,
        producer: str,
        records: Sequence[bytes],
        *,
        lease: float | None = None,
        turn: Turn | None = None,
        order: bytes = b"",
        end: bytes | None = None,
    ) -> Tail:
        """Append all records or none, and return the end of the log.

        `lease` takes or renews the lease, as `acquire` does. `turn` is the place of this append
        among those of its producer, and is written in the same step; TurnRefused if it is not the
        next one, also of a closed log: so an append whose answer was lost can be repeated. `order`
        must be greater, byte by byte, than that of the last append that had one (OutOfOrder).
        `end` closes the stream with a last record, as `finalize` does.
        """
        append = Append(records, lease, turn, order, end)
        return await self._add(stream, producer, append)

    @abstractmethod
    async def _add(self, stream: str, producer: str, append: Append) -> Tail:
        """`write`, with all that is said of the append."""

    @abstractmethod
    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        """Close the stream with its last record; False if it was not written.

        A stream is closed once: every later call returns False. With `only_if_lost` the record is
        written only if the lease has run out.
        """

    async def read(
        self, stream: str, after: int = 0, mark: int | None = None, *, patience: float = PATIENCE
    ) -> AsyncGenerator[list[Entry]]:
        """Yield batches of entries after a position, waiting for more until the final one.

        `mark` is that of the record at the position, if the caller knows it. Raises UnknownStream
        (also when the stream vanishes), LogGap when `after` is past the end, LogLost when records
        do not follow each other, and StoreUnavailable after `patience` seconds without an answer.
        """
        waited = False
        with self._signals.listen(stream) as signal:
            while not signal.closed:
                signal.clear()
                found = await self._patiently(stream, after, patience)
                after, mark = follow(found, after, mark, waited=waited)
                if found.entries:
                    yield found.entries
                    if found.entries[-1].final:
                        return
                if after < found.last:
                    continue
                if found.closed:
                    return
                mark, waited = found.mark, True
                await signal.wait(self.look_every * random.uniform(0.75, 1.0))

    async def look(
        self, stream: str, after: int = 0, mark: int | None = None, *, patience: float = PATIENCE
    ) -> Look:
        """Return the state of the log and the next entries, without waiting for any.

        Raises as `read` does.
        """
        found = await self._patiently(stream, after, patience)
        follow(found, after, mark)
        return found

    async def _patiently(self, stream: str, after: int, patience: float) -> Look:
        """Return the result of one `_look`, repeated while the store cannot be reached."""
        clock = asyncio.get_running_loop().time
        until = clock() + patience
        while True:
            try:
                async with asyncio.timeout_at(until):
                    return await self._look(stream, after, BATCH)
            except TimeoutError:
                raise StoreUnavailable(f"no answer from the store for {patience:g} s") from None
            except StoreUnavailable as error:
                self.on_error("read", error)
                if clock() + PAUSE > until:
                    raise
            await asyncio.sleep(PAUSE)

    @abstractmethod
    async def _look(self, stream: str, after: int, count: int) -> Look:
        """Read the state of the log and up to `count` entries after a position, in one try."""

    @abstractmethod
    async def status(self, stream: str) -> Status:
        """Return the current state of a stream; raises UnknownStream."""

    @abstractmethod
    async def touch(self, stream: str, lease: float) -> None:
        """Begin the time until a stream is deleted again; so does the lease of an open one.

        A stream that is deleted at a fixed time (`until`) stays as it is. Raises UnknownStream.
        """

    @abstractmethod
    async def delete(self, stream: str) -> None:
        """Delete the stream; deleting it twice is no error."""

    @abstractmethod
    async def once(self, token: str, seconds: float) -> bool:
        """Return True if the token was not used before; it is remembered for `seconds`."""

    def _cost(self, records: Sequence[bytes]) -> int:
        return sum(map(len, records)) + self.record_cost * len(records)


def new_mark() -> int:
    """Return a random mark for an empty log; it differs if an id is used again."""
    return secrets.randbits(32)


def next_mark(mark: int, data: bytes) -> int:
    """The mark after one more record.

    Two logs that differ in one record have different marks from there on (31 is odd, so that no
    step forgets anything). Redis computes the same in a script, from `crc32` of each record.
    """
    return (mark * 31 + crc32(data)) & 0xFFFFFFFF


def follow(
    found: Look, after: int, mark: int | None, *, waited: bool = False
) -> tuple[int, int | None]:
    """Return the position and mark after what was found at a position.

    LogGap if the log does not reach it, and nothing else is known of it; LogLost if it did before
    (`waited`), or if what was found does not follow it.
    """
    if after > found.last and mark is None and not waited:
        raise LogGap(found.last)
    if not found.entries and (after != found.last or mark not in (None, found.mark)):
        raise LogLost("the store lost records of this stream")
    for entry in found.entries:
        if entry.seq != after + 1 or (
            mark is not None and entry.mark != next_mark(mark, entry.data)
        ):
            raise LogLost(f"record {after + 1} of this stream is lost, or another one than before")
        after, mark = entry.seq, entry.mark
    return after, mark


def next_turn(turn: Turn, last: tuple[int, int], count: int, tail: Tail, closed: bool) -> bool:
    """Return True if the turn is the first of its producer; raises unless it is the next one.

    `last` are epoch and number of its last append, `count` producers have had turns.
    """
    if not turn.follows(*last):
        raise TurnRefused(*last, tail, closed)
    is_new = last == NO_TURN
    if is_new and count >= TURNS:
        raise StoreFull("stream_producers", f"a stream has at most {TURNS} numbered producers")
    return is_new


def turn_cost(producer: str) -> int:
    """Return the bytes that the state of a producer takes."""
    return len(producer.encode()) + TURN_COST


def check_order(order: bytes, last: bytes) -> None:
    """Raise OutOfOrder unless `order` is missing or greater than the last one."""
    if order and order <= last:
        raise OutOfOrder(
            "an append before this one has the same place in the order, or a later one"
        )


def new_call() -> str:
    """Return the name of a call that may have to be repeated."""
    return f"{secrets.token_hex(8)} "


def check_free(holder: str, lease: float, producer: str) -> None:
    """Raise StreamTaken while another producer with a name has the lease."""
    if holder not in ("", producer) and lease > 0:
        raise StreamTaken("another producer holds this stream")


def _log_error(what: str, error: Exception) -> None:
    log.warning("the store failed (%s): %s", what, type(error).__name__)


def check_fits(bounds: Bounds, entries: int, size: int, new: Sequence[bytes]) -> None:
    """Raise StoreFull if records do not fit into a stream of `entries` records and `size` bytes."""
    if entries + len(new) > bounds.stream_entries:
        raise StoreFull("stream_entries", f"a stream has at most {bounds.stream_entries} records")
    if size + sum(map(len, new)) > bounds.stream_bytes:
        raise StoreFull("stream_bytes", f"a stream has at most {bounds.stream_bytes} bytes")
