"""What a store is: an append-only log of opaque records per stream, with one producer at a time.

Records of a stream are numbered from 1 without a gap, and the record that ends it is one of them:
a log with an end never grows again. A producer holds a lease; when it runs out, anybody may end
the stream in its place. This file knows nothing of JSON, HTTP or of where a log is kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import JsonrillError


class StoreError(JsonrillError):
    """The root of what a store raises."""


class UnknownStream(StoreError):
    """There is no such stream: never made, deleted, or too old."""


class StreamTaken(StoreError):
    """Another producer holds the lease, or the id is in use."""


class LogClosed(StoreError):
    """The log has its end; nothing can be added."""


class LogGap(StoreError):
    """A position past the end of the log; `last` is the last record there is."""

    def __init__(self, last: int) -> None:
        super().__init__(f"the log ends at {last}")
        self.last = last


class StoreFull(StoreError):
    """A bound of the store was reached; `bound` names it."""

    def __init__(self, bound: str, message: str) -> None:
        super().__init__(message)
        self.bound = bound


class StoreUnavailable(StoreError):
    """The store cannot be reached now; the same call may work later."""


class Entry(NamedTuple):
    """One record of a log and its number; `final` is set on the last one a log will have."""

    seq: int
    data: bytes
    final: bool = False


@dataclass(frozen=True, slots=True)
class Status:
    """A stream as it is now. `lease` is what is left of the producer's time, in seconds."""

    owner: str
    meta: bytes
    last: int
    size: int
    closed: bool
    producer: str
    lease: float

    @property
    def lost(self) -> bool:
        """Whether the stream is open and nobody produces it any more."""
        return not self.closed and self.lease <= 0


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a store takes, and how many seconds it keeps a stream that nobody touches."""

    stream_bytes: int = 16 << 20
    stream_entries: int = 100_000
    owner_streams: int = 100
    total_streams: int = 10_000
    total_bytes: int = 512 << 20
    keep_open: float = 3600.0
    keep_closed: float = 3600.0


class Store(ABC):
    """An append-only log per stream. Ids and owners are text; data is bytes, read by nobody."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()

    async def open(self) -> None:  # noqa: B027 - most need nothing
        """Get ready; called before anything else, in the event loop that will use the store."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of files and connections; every `read` that waits ends."""

    @abstractmethod
    async def acquire(
        self,
        stream: str,
        producer: str,
        *,
        lease: float,
        owner: str = "",
        meta: bytes | None = None,
    ) -> Status:
        """Take or renew the lease for `lease` seconds. With `meta` the stream is made.

        Raises StreamTaken when somebody else holds it (or the id exists, with `meta`),
        LogClosed when it has ended, UnknownStream, or StoreFull when nothing more can be made.
        """

    @abstractmethod
    async def append(
        self,
        stream: str,
        producer: str,
        records: Sequence[bytes],
        *,
        first: int | None = None,
        lease: float | None = None,
    ) -> int:
        """Add records, all or none; the number of the last record in the log.

        `lease` takes or renews the lease, as `acquire` does. `first` is the number that the first
        of them must have: what is there already is skipped, so that a repeated call changes
        nothing. A position past the end raises LogGap.
        """

    @abstractmethod
    async def finalize(self, stream: str, data: bytes, *, only_if_lost: bool = False) -> bool:
        """Write the record that ends the stream; False if that was not to be done.

        A stream has one end: a second one is refused, whoever asks. Under `only_if_lost` it is
        written only if the lease has run out.
        """

    @abstractmethod
    def read(self, stream: str, after: int = 0) -> AsyncIterator[list[Entry]]:
        """Batches of entries after a position, waiting for more until the final one was given.

        Raises UnknownStream (also when the stream vanishes) and LogGap when `after` is past the
        end. An empty batch means that the wait goes on.
        """

    @abstractmethod
    async def status(self, stream: str) -> Status:
        """How the stream is now; raises UnknownStream."""

    @abstractmethod
    async def delete(self, stream: str) -> None:
        """Forget the stream; to do so twice is no error."""

    @abstractmethod
    async def once(self, token: str, seconds: float) -> bool:
        """Whether this token is used for the first time; it is remembered for `seconds`."""


def check_fits(bounds: Bounds, entries: int, size: int, new: Sequence[bytes]) -> None:
    """Refuse records that a stream of so many entries and bytes cannot take."""
    if entries + len(new) > bounds.stream_entries:
        raise StoreFull("stream_entries", f"a stream has at most {bounds.stream_entries} records")
    if size + sum(map(len, new)) > bounds.stream_bytes:
        raise StoreFull("stream_bytes", f"a stream has at most {bounds.stream_bytes} bytes")


def unwritten(
    last: int, closed: bool, records: Sequence[bytes], first: int | None
) -> Sequence[bytes]:
    """The records that are not in a log of `last` entries yet, when they begin at `first`."""
    if first is not None:
        written = last - closed  # the end of a log is nobody's repeated record
        if first > written + 1:
            raise LogGap(last)
        records = records[written + 1 - first :]
        if not records:
            return records
    if closed:
        raise LogClosed("the stream has ended")
    return records
