"""What is published: the bodies of records, the outbox in which they wait, and their sender."""

from __future__ import annotations

import threading
from codecs import getincrementaldecoder
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from jsonrill.errors import JsonrillError
from jsonrill.jsontext import dumps
from jsonrill.options import Input, SourceOptions
from jsonrill.sources import Reading
from jsonrill.streams.driving import END, drive

from ..runs.elements import records
from ..runs.failures import end_of
from .carriers import Carrier

# What one request carries, and what may wait for the next one before the source waits, too.
BATCH_RECORDS: Final = 500
BATCH_BYTES: Final = 1 << 18
WAITING_BYTES: Final = 1 << 20
# Seconds after which a producer whose source is silent renews its lease, if that is not short.
RENEW: Final = 20.0
# Characters of one record of text; a record has at most a megabyte, unless the server is told so.
LONGEST_TEXT: Final = 1 << 16


@dataclass(slots=True)
class Known:
    """What is known of a stream: what it takes, and the number of its last record.

    `epoch` and `seq` number the next request that appends to it. `renew` is how often a producer
    whose source is silent renews its lease, in seconds.
    """

    input: Input
    last: int
    epoch: int
    renew: float = RENEW
    seq: int = 0


class Outbox:
    """Lines of records that wait to be sent. One thread may add lines while another takes them."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.input = known.input
        self.renew = known.renew
        self.size = 0
        self._lines: list[bytes] = []
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._lines)

    @property
    def full(self) -> bool:
        return self.size >= WAITING_BYTES

    def add(self, body: str) -> None:
        line = _line(self.input, body)
        with self._lock:
            self._lines.append(line)
            self.size += len(line)

    def take(self) -> list[bytes]:
        """The lines of one request."""
        with self._lock:
            count, size = 0, 0
            for line in self._lines[:BATCH_RECORDS]:
                if count and size + len(line) > BATCH_BYTES:
                    break
                count, size = count + 1, size + len(line)
            taken, self._lines = self._lines[:count], self._lines[count:]
            self.size -= size
        return taken


class Sender:
    """Sends what is added beside its source, which need not wait for each answer.

    What arrives while a request is under way goes into the next one.
    """

    def __init__(
        self, carrier: Carrier, outbox: Outbox, send: Callable[[], Awaitable[None]]
    ) -> None:
        self._carrier = carrier
        self._outbox = outbox
        self._send = send
        self._wanted, self._sent = carrier.event(), carrier.event()
        # Whether the source has ended, whether nothing more is sent, and why.
        self._ended = self._over = False
        self._failure: Exception | None = None
        self._job: Any = carrier.spawn(self._run())

    async def add(self, body: str) -> None:
        """Send a record soon; raises what sending an earlier one has failed with."""
        self._outbox.add(body)
        self._wanted.set()
        self._sent.clear()
        while self._outbox.full and not self._over:
            await self._sent.wait_for(None)
            self._sent.clear()
        self._check()

    async def finish(self) -> None:
        """Return when everything is sent; raises what sending has failed with."""
        self._ended = True
        self._wanted.set()
        await self._carrier.join(self._job)
        self._check()

    async def stop(self) -> None:
        """Return when nothing is sent any more."""
        self._ended = True
        self._wanted.set()
        await self._carrier.stop(self._job)

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    async def _run(self) -> None:
        try:
            while True:
                self._wanted.clear()
                if not self._outbox and not self._ended:
                    await self._wanted.wait_for(self._outbox.renew)
                if self._ended and not self._outbox:
                    return
                await self._send()
                self._sent.set()
        except Exception as error:
            self._failure = error
        finally:
            self._over = True
            self._sent.set()


def _line(input: Input, body: str) -> bytes:
    """A record as a line of NDJSON."""
    return (dumps(body) if input == "text" else body.replace("\n", " ").replace("\r", " ")).encode()


def bodies(source: Any, input: Input, options: SourceOptions) -> Any:
    """The bodies of the records of a source, sync or async as it is."""
    if input == "text":
        return drive(_TextBodies(), source, reading=Reading(**options))
    if named := options.keys() - {"sse"}:
        raise TypeError(f"{named.pop()} is for a stream of text: this one has {input}")
    return drive(_bodies, records(source, input, sse=options.get("sse", False)))


def _bodies(record: Any) -> Iterator[str]:
    if record is not END:
        yield record.body


class _TextBodies:
    """Pieces of text or bytes → texts that are not too large for one record."""

    def __init__(self) -> None:
        self._utf8: Any = getincrementaldecoder("utf-8")("replace")

    def __call__(self, piece: Any) -> Iterator[str]:
        if piece is END:
            piece = self._utf8.decode(b"", True)
        elif not isinstance(piece, str):
            piece = self._utf8.decode(bytes(piece))
        for at in range(0, len(piece), LONGEST_TEXT):
            yield piece[at : at + LONGEST_TEXT]


def code_of(error: BaseException) -> tuple[str, str]:
    """What readers are told when a source has failed: details only if they are about the data."""
    if isinstance(error, JsonrillError):
        return error.code, error.message
    end = end_of(error)
    return end.code, end.message
