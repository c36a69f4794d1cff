"""`every=`: updates that come too soon are held back and merged, and emitted when they are due."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import aclosing
from math import isfinite
from time import monotonic
from typing import Any

from ..opening import open_source
from ..partial_stream import Update, absorb
from ..sources import Opened, Reading
from .driving import Over, StageOf, drive_async, drive_sync, never
from .types import T


class Pace:
    """Holds a PARTIAL back until it is due, and merges those that are held.

    At most one is held: entities come one after the other, and a COMPLETED or ERROR, which is never
    held, contains what a PARTIAL held before it would have told.
    """

    def __init__(self, every: float) -> None:
        if isinstance(every, bool) or not isinstance(every, (int, float)):
            raise TypeError(f"every is a number of seconds, not {every!r}")
        if not (isfinite(every) and every > 0):
            raise ValueError(f"every is a number of seconds above 0, not {every!r}")
        self.held: Update | None = None
        self._every = every
        self._due = monotonic()

    def feed(self, fresh: Iterable[Update]) -> Iterator[Update]:
        """Yield the updates that are emitted now."""
        for update in fresh:
            if self.held is not None and not absorb(self.held, update):
                yield from self.flush()
            self.held = None
            if update.status == "PARTIAL":
                self.held = update
            else:
                yield update
        if self.held is not None and self.wait() <= 0:
            yield from self.flush()

    def flush(self) -> Iterator[Update]:
        """Yield the update that is held, due or not."""
        held, self.held = self.held, None
        if held is not None:
            self._due = monotonic() + self._every
            yield held

    def wait(self) -> float:
        """Seconds until the update that is held is due."""
        return self._due - monotonic()


def drive_paced(
    stage: StageOf[Any, Update], source: Any, over: Over, pace: Pace, reading: Reading
) -> Any:
    """As `drive`, but updates keep the pace."""
    opened = open_source(source, in_blocks=True)
    is_async = isinstance(opened.elements, AsyncIterable)
    return (_paced_async if is_async else _paced_sync)(stage, opened, over, reading, pace)


def _as_is(piece: T) -> Iterator[T]:
    yield piece


def _paced_sync(
    stage: StageOf[Any, Update],
    source: Opened,
    over: Over,
    reading: Reading,
    pace: Pace,
) -> Iterator[Update]:
    try:
        yield from drive_sync(lambda piece: pace.feed(stage(piece)), source, over, reading)
    except Exception:
        yield from pace.flush()
        raise


async def _paced_async(
    stage: StageOf[Any, Update],
    source: Opened,
    over: Over,
    reading: Reading,
    pace: Pace,
) -> AsyncIterator[Update]:
    """As `drive_async`, but a held update is emitted when it is due, even if the source stalls."""
    from asyncio import Event, create_task, timeout, wait

    slot: list[Any] = []
    arrived, wanted = Event(), Event()

    async def read() -> None:
        # All in one task, from its first piece to its closing: a source may have opened
        # something (a timeout, a cancel scope) that belongs to the task it was opened in.
        try:
            async with aclosing(drive_async(_as_is, source, never, reading)) as pieces:
                async for piece in pieces:
                    slot.append(piece)
                    arrived.set()
                    await wanted.wait()
                    wanted.clear()
        finally:
            arrived.set()

    reader = create_task(read())
    try:
        while not over():
            try:
                async with timeout(None if pace.held is None else max(pace.wait(), 0)):
                    await arrived.wait()
            except TimeoutError:
                for update in pace.flush():
                    yield update
                continue
            arrived.clear()
            if not slot:
                for update in pace.flush():
                    yield update
                await reader  # raises what the source raised
                return
            for update in pace.feed(stage(slot.pop())):
                yield update
            wanted.set()
    finally:
        reader.cancel()
        await wait((reader,))
        failure = None if reader.cancelled() else reader.exception()
    if failure is not None:
        raise failure
