"""Write the records of a source, and its end, to a log.

The first record after a pause is written at once; what comes within the next 25 ms goes into one
write. An empty write renews the lease. A writer that was replaced while it was halted is fenced: it
stops, and what became of the run is for the next writer to say.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from jsonrill.errors import JsonrillError, LimitExceeded, stream_error

from .log import Head, Lost, State, Store, StoreError, StoreFull, StoreUnavailable, Write, cancel
from .records import LOG_LOST, PRODUCER_STOPPED, End, Record, to_bytes

log = logging.getLogger("jsonrill_server")
# Seconds that records are held while the store is unavailable, and seconds between two attempts.
HOLD: Final = 60.0
PAUSE: Final = 0.2
# Records and bytes that may wait for a write; then the source waits, too.
MOST_RECORDS: Final = 2000
MOST_BYTES: Final = 1 << 20
# A lease that is given back, so that another process can go on at once.
RELEASED: Final = -1e6


class Writer:
    """The claim of this process to a log: its epoch, and the last record."""

    def __init__(
        self, store: Store, key: str, head: Head, lease: float, hold: float = HOLD
    ) -> None:
        self.store = store
        self.key = key
        self.log = head.log
        self.epoch = head.epoch
        self.last = head.last
        self.size = head.size
        self.lease = lease
        self.hold = hold

    async def append(
        self, data: list[bytes], *, state: State = State.OPEN, lease: float | None = None
    ) -> None:
        """Append records. Retry for `hold` seconds while the store is unavailable."""
        clock = asyncio.get_running_loop().time
        until, again = clock() + self.hold, False
        lease = self.lease if lease is None else lease
        while True:
            try:
                write = Write(self.epoch, self.last, data, lease, state, again)
                await self.store.append(self.key, write)
                break
            except (StoreUnavailable, StoreFull) as error:
                again = True
                if clock() > until:
                    raise
                log.warning("a write is tried again: %s", error)
                await asyncio.sleep(PAUSE)
        self.last += len(data)
        self.size += sum(map(len, data))

    async def reclaim(self) -> bool:
        """Claim the log again after a write that was cancelled, and may have been done or not.

        Return False if it is another writer's now, or closed.
        """
        head, _ = await self.store.read(self.key, 0, 1)
        if head is None or head.epoch != self.epoch or head.closed:
            return False
        head = await self.store.claim(self.key, self.lease, force=True)
        if head is None or head.log != self.log:
            return False
        self.epoch, self.last = head.epoch, head.last
        return True


class Production:
    """A source that is written to a log by this process."""

    def __init__(self, writer: Writer, most_bytes: int, most_records: int) -> None:
        self._writer = writer
        self._most_bytes = most_bytes
        self._most_records = most_records
        self._waiting: list[bytes] = []
        self._size = 0
        self._arrived = asyncio.Event()
        self._written = asyncio.Event()

    async def run(self, source: AsyncGenerator[list[Record]]) -> End | None:
        """Write the records of a source. Return how it ended; None if its reader says that.

        Raises Fenced if another writer has the log, and StoreError if the store takes no more.
        """
        reading = asyncio.create_task(self._read(source))
        reading.add_done_callback(lambda _: self._arrived.set())
        try:
            while not reading.done() or self._waiting:
                await self._write()
            return reading.result()
        except Lost:
            return LOG_LOST
        finally:
            await cancel(reading)

    async def _read(self, source: AsyncGenerator[list[Record]]) -> End | None:
        try:
            async with aclosing(source):
                async for records in source:
                    self._waiting += map(to_bytes, records)
                    self._size += sum([len(record.body) for record in records])
                    self._arrived.set()
                    while len(self._waiting) > MOST_RECORDS or self._size > MOST_BYTES:
                        self._written.clear()
                        await self._written.wait()
                    self._check_bounds()
            return None
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return end_of_error(error)  # something that the source waited for was cancelled
        except (KeyboardInterrupt, GeneratorExit):
            raise
        # Whatever a source raises ends the run. SystemExit would end the event loop.
        except BaseException as error:
            return end_of_error(error)

    def _check_bounds(self) -> None:
        size = self._writer.size + self._size
        count = self._writer.last + len(self._waiting)
        if size > self._most_bytes or count > self._most_records:
            bounds = f"{self._most_bytes} bytes and {self._most_records} records"
            raise LimitExceeded(f"a stream has at most {bounds}")

    async def _write(self) -> None:
        """Wait for records and write them, or renew the lease in time."""
        try:
            async with asyncio.timeout(self._writer.lease / 3):
                await self._arrived.wait()
        except TimeoutError:
            pass
        self._arrived.clear()
        data, self._waiting, self._size = self._waiting, [], 0
        self._written.set()
        await self._writer.append(data)
        if data and self._writer.store.write_every:
            await asyncio.sleep(self._writer.store.write_every)


async def finish(writer: Writer, end: End, *, has_on_end: bool) -> End:
    """Write the end. Where records were lost, only a new epoch may follow what is left."""
    state = State.ENDING if has_on_end else State.ENDED
    if end is not LOG_LOST:
        try:
            await writer.append([to_bytes(end)], state=state)
            return end
        except Lost:
            end = LOG_LOST
    if not await writer.reclaim():
        raise Lost("the log is gone")
    await writer.append([to_bytes(end)], state=state)
    return end


async def release(writer: Writer, *, resumes: bool, has_on_end: bool) -> End | None:
    """Leave a run because this process stops: to another process, or with an error."""
    try:
        if not await writer.reclaim():
            return None
        if resumes:
            await writer.append([], lease=RELEASED)
            return None
        return await finish(writer, PRODUCER_STOPPED, has_on_end=has_on_end)
    except StoreError as error:
        log.warning("a run could not be ended: %s", error)
        return None


# ---- why a source failed; readers never see the text of the exception ----

RATE_LIMITED: Final = End(
    "error", "RATE_LIMITED", "the provider has had too many requests: ask again in a while"
)
UNAUTHORIZED: Final = End(
    "error", "UNAUTHORIZED", "the provider refused the server's key: asking again does not help"
)
TIMED_OUT: Final = End("error", "SOURCE_TIMEOUT", "the provider did not answer in time: ask again")
REFUSED: Final = End(
    "error", "SOURCE_REFUSED", "the provider refused the request: asking again does not help"
)
FAILED: Final = End("error", "SOURCE_FAILED", "the source failed: asking again may help")
_BY_STATUS: Final = {
    **dict.fromkeys(range(400, 500), REFUSED),
    **dict.fromkeys((401, 403), UNAUTHORIZED),
    **dict.fromkeys((408, 504), TIMED_OUT),
    **dict.fromkeys((409, 425), FAILED),
    429: RATE_LIMITED,
}
# Parts of the providers' names for failures, without underscores.
_BY_NAME: Final = {
    **dict.fromkeys(("ratelimit", "throttl", "toomanyrequests", "exhausted"), RATE_LIMITED),
    **dict.fromkeys(("authentication", "permission", "apikey", "accessdenied"), UNAUTHORIZED),
    **dict.fromkeys(("timeout", "timedout", "deadline"), TIMED_OUT),
    **dict.fromkeys(("invalidrequest", "validation"), REFUSED),
}


def end_of_error(error: BaseException) -> End:
    """Return the end of a run whose source raised this; the exception itself is only logged."""
    if isinstance(error, JsonrillError):
        problem = stream_error(error)
        return End("error", problem["code"], problem["message"])
    log.error("the source of a run failed", exc_info=error)
    for cause in _causes(error):
        for name in _names(cause):
            for part, end in _BY_NAME.items():
                if part in name:
                    return end
        if (status := _status(cause)) is not None:
            return _BY_STATUS.get(status, FAILED)
        if any("Timeout" in kind.__name__ for kind in type(cause).__mro__):
            return TIMED_OUT
    return FAILED


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception, the members of a group, and the causes of each."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        cause = waiting.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting.append(cause.__cause__)
        if isinstance(cause, BaseExceptionGroup):
            waiting += reversed(cause.exceptions)


def _names(error: BaseException) -> Iterator[str]:
    """Yield the provider's names for the failure: attributes, the body (anthropic), the response
    (boto3)."""
    found = [getattr(error, "body", None), getattr(error, "response", None)]
    bodies = [body for body in found if isinstance(body, Mapping)]
    inner = [body.get(name) for body in bodies for name in ("error", "Error")]
    names = [getattr(error, name, None) for name in ("code", "type", "status")]
    names += [it.get(name) for it in inner if isinstance(it, Mapping) for name in ("type", "Code")]
    for name in names:
        if isinstance(name, str):
            yield name.replace("_", "").lower()


def _status(error: BaseException) -> int | None:
    """Return the status of the response that an exception is about."""
    response: Any = getattr(error, "response", None)
    if isinstance(response, Mapping):  # boto3
        response, error = response.get("ResponseMetadata") or {}, Exception()
        return _http(response.get("HTTPStatusCode"))
    names = ("status_code", "status", "code", "http_status")
    found = [_http(getattr(item, name, None)) for item in (error, response) for name in names]
    return next((status for status in found if status is not None), None)


def _http(value: Any) -> int | None:
    return value if isinstance(value, int) and 400 <= value < 600 else None
