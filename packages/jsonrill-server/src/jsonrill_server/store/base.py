"""What stores talk about: one append-only log of opaque records per stream, one producer each.

Records of a stream are numbered from 1 without a gap, and the record that ends it is one of them:
a closed log never grows again. A producer holds a lease; when it runs out, any process may close
the stream in its place. A producer that may have to repeat an append numbers it (`Turn`): the log
keeps the last number of each producer, and takes none twice. Each record carries a checksum of the
log up to it, its mark: a reader notices when records are missing or are others than before, also
when it comes back later. This file knows nothing of JSON, HTTP or of where a log is kept.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from zlib import crc32

from jsonrill.errors import JsonrillError

from ..bounds import Bounds as Bounds

# A change whose answer was lost is sent again. A stream remembers the names of the last ones that
# wrote without a number.
CALLS: Final = 60
# How many producers of one stream may number their appends.
TURNS: Final = 1000
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


class LogPage(NamedTuple):
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


class New(NamedTuple):
    """A stream to be created, as `Store.acquire` describes it."""

    owner: str
    meta: bytes
    replace: bool


class Append(NamedTuple):
    """What is to be appended, as `Store.write` describes it."""

    records: Sequence[bytes]
    lease: float | None
    turn: Turn | None
    end: bytes | None


def new_mark() -> int:
    """Return a random mark for an empty log; it differs if an id is used again."""
    return secrets.randbits(32)


def next_mark(mark: int, data: bytes) -> int:
    """The mark after one more record.

    Two logs that differ in one record have different marks from there on (31 is odd, so that no
    step forgets anything).
    """
    return (mark * 31 + crc32(data)) & 0xFFFFFFFF


def follow(
    page: LogPage, after: int, mark: int | None, *, waited: bool = False
) -> tuple[int, int | None]:
    """Return the position and mark after what was found at a position.

    LogGap if the log does not reach it, and nothing else is known of it; LogLost if it did before
    (`waited`), or if what was found does not follow it.
    """
    if after > page.last and mark is None and not waited:
        raise LogGap(page.last)
    if not page.entries and (after != page.last or mark not in (None, page.mark)):
        raise LogLost("the store lost records of this stream")
    for entry in page.entries:
        if entry.seq != after + 1 or (
            mark is not None and entry.mark != next_mark(mark, entry.data)
        ):
            raise LogLost(f"record {after + 1} of this stream is lost, or another one than before")
        after, mark = entry.seq, entry.mark
    return after, mark


def check_turn(turn: Turn, last: tuple[int, int], count: int, tail: Tail, closed: bool) -> None:
    """Raise unless the turn is the next one of its producer.

    `last` are epoch and number of its last append, `count` producers have had turns.
    """
    if not turn.follows(*last):
        raise TurnRefused(*last, tail, closed)
    if last == NO_TURN and count >= TURNS:
        raise StoreFull("stream_producers", f"a stream has at most {TURNS} numbered producers")


def check_fits(bounds: Bounds, entries: int, size: int, new: Sequence[bytes]) -> None:
    """Raise StoreFull if records do not fit into a stream of `entries` records and `size` bytes."""
    if entries + len(new) > bounds.stream_entries:
        raise StoreFull("stream_entries", f"a stream has at most {bounds.stream_entries} records")
    if size + sum(map(len, new)) > bounds.stream_bytes:
        raise StoreFull("stream_bytes", f"a stream has at most {bounds.stream_bytes} bytes")
