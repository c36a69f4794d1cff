"""Writes what a source yields to the log of a run, and how it ended.

A model sends a hundred small events a second, and a store that is reached over a network has better
things to do than to write each by itself. So the first one after a pause is written at once, and
what comes within the next 25 ms goes into one write. Readers see what is written and nothing else.

A producer holds a lease. One that was halted for longer than that may have been replaced in the
meantime; then the log refuses its next write (`claim`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from typing import Final

from jsonrill.errors import JsonrillError, LimitExceeded
from jsonrill_server.tasks import stop

from ..store import (
    LogClosed,
    LogLost,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    UnknownStream,
)
from .claim import Claim
from .failures import end_of
from .hub import Hub
from .records import CLOSED, HANDED_OVER, LOG_LOST, REPLACED, STOPPED, UNWRITTEN, End, Record

log = logging.getLogger("jsonrill_server.runs")
# Seconds for which records are held while the store is unreachable.
HOLD: Final = 60.0
# Seconds between two tries of a call that is repeated meanwhile.
PAUSE: Final = 0.2
# Records and characters that may wait for a write; then the source waits, too.
MOST_RECORDS: Final = 2000
MOST_CHARACTERS: Final = 1 << 20


class Failed(JsonrillError):
    """Raised by a source of records that did not end well; `end` says how."""

    def __init__(self, end: End) -> None:
        super().__init__(end.message)
        self.end = end


async def produce(
    claim: Claim,
    source: AsyncGenerator[Sequence[Record]],
    *,
    stopped: End | None = STOPPED,
    keep: list[Record] | None = None,
) -> End | None:
    """Write the records of a source to a log that this process has a claim to, and close it.

    Returns how it ended, None if the log was closed elsewhere, REPLACED if another producer has
    gone on with it, or may have: what came of it is for that one to say. The source is closed in
    any case. It ends well when it is exhausted, and with an error if it raises (`Failed` says
    which; with HANDED_OVER the log stays open, for the next process). If this task is
    cancelled, the log is closed with `stopped`; if that is None, its lease is given back instead,
    so that another producer can go on at once. What was written is added to `keep`.
    """
    hub, stream, producer, lease = claim.hub, claim.stream, claim.producer, claim.lease
    writer = _Writer(claim, keep)
    working = asyncio.create_task(_write_all(source, writer))
    hub.producing[stream] = producer
    try:
        async with hub.renewing(stream, producer, lease, working.cancel, writer.renewed):
            await asyncio.wait({working})
            end = None if working.cancelled() else working.result()
            if end is HANDED_OVER:
                with suppress(StoreError):  # else it runs out
                    await hub.store.acquire(stream, producer, lease=0.0)
            elif end is not None:
                end = await _close_log(claim, end)
        return REPLACED if end is None and await _is_taken(hub, stream, producer, writer) else end
    except asyncio.CancelledError:
        await stop(working)
        with suppress(StoreError):
            if stopped is not None:
                await claim.end(stopped)
            else:
                await hub.store.acquire(stream, producer, lease=0.0)
        raise
    finally:
        if hub.producing.get(stream) == producer:
            del hub.producing[stream]


async def _close_log(claim: Claim, end: End) -> End | None:
    """Close the log, and return how; None if it was closed before, or the store did not take it.

    What could not be written is not said: a process that finds the run lost says how it ended.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + HOLD
    while True:
        try:
            return await claim.end(end)
        except StoreUnavailable:
            if clock() >= until:
                return None
            await asyncio.sleep(PAUSE)
        except StoreError:
            return None


async def _is_taken(hub: Hub, stream: str, producer: str, writer: _Writer) -> bool:
    """Return True unless the log was only closed: no other process takes a lease that is held."""
    if writer.holds_lease:
        return False
    try:
        return (await hub.store.status(stream)).producer != producer
    except StoreError:
        return True


async def _write_all(source: AsyncGenerator[Sequence[Record]], writer: _Writer) -> End | None:
    """Return how the source ended; None if the log was closed or taken over elsewhere."""
    try:
        end = await _read_all(source, writer)
        await writer.flush()
        return end
    except (LogClosed, UnknownStream, StreamTaken):
        return None
    except StoreFull as full:
        return End("error", "LIMIT_EXCEEDED", str(full))
    except LogLost:
        return LOG_LOST
    except StoreError as error:
        log.error("the store of a run failed", exc_info=error)
        return UNWRITTEN
    finally:
        await writer.close()


async def _read_all(source: AsyncGenerator[Sequence[Record]], writer: _Writer) -> End:
    try:
        async for records in source:
            await writer.add(records)
        return CLOSED
    except Failed as failed:
        return failed.end
    except StoreError:
        raise
    except LimitExceeded as error:
        return End("error", "LIMIT_EXCEEDED", str(error))
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # This task goes on: something that the source waited for was cancelled.
        return _source_failed(error)
    except KeyboardInterrupt:
        raise
    # Whatever a source raises ends the run, visibly; a task that raises SystemExit would end the
    # event loop, and with it the web server.
    except BaseException as error:
        return _source_failed(error)
    finally:
        await _close(source)


def _source_failed(error: BaseException) -> End:
    log.error("the source of a run failed", exc_info=error)
    return end_of(error)


async def _close(source: AsyncGenerator[Sequence[Record]]) -> None:
    try:
        await source.aclose()
    except (Exception, SystemExit) as error:
        log.error("the source of a run could not be closed", exc_info=error)


class _Writer:
    """Appends the records of one producer."""

    def __init__(self, claim: Claim, keep: list[Record] | None) -> None:
        self._claim = claim
        self._keep = keep
        self._every = claim.hub.store.write_every
        self._clock = asyncio.get_running_loop().time
        # When the next write may begin, and until when no other producer can have the lease.
        self._due = 0.0
        self._held_until = self._clock() + claim.lease
        self._waiting: list[Record] = []
        self._size = 0
        self._writing: asyncio.Task[None] | None = None

    async def add(self, records: Sequence[Record]) -> None:
        """Write records soon; raises what a write before it failed with."""
        if not records:
            return
        if not self._every:
            await self._append(records)
            return
        if self._writing is not None and self._writing.done():
            self._writing.result()
            self._writing = None
        self._waiting += records
        self._size += sum([len(record.body) for record in records])
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        if len(self._waiting) >= MOST_RECORDS or self._size >= MOST_CHARACTERS:
            await self.flush()

    async def flush(self) -> None:
        """Return when everything is written."""
        if self._writing is not None:
            await self._writing

    async def close(self) -> None:
        await stop(self._writing)

    @property
    def holds_lease(self) -> bool:
        return self._clock() <= self._held_until

    def renewed(self, began: float) -> None:
        """Note that the lease was renewed by a call that began at this time."""
        if began <= self._held_until:
            self._held_until = began + self._claim.lease

    async def _write(self) -> None:
        while self._waiting:
            if (wait := self._due - self._clock()) > 0:
                await asyncio.sleep(wait)
            records, self._waiting, self._size = self._waiting, [], 0
            self._due = self._clock() + self._every
            await self._append(records)

    async def _append(self, records: Sequence[Record]) -> None:
        began = self._clock()
        await self._claim.append(records, HOLD)
        if self._keep is not None:
            self._keep += records
        self._held_until = began + self._claim.lease
