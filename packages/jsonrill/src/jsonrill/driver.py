"""Run a stage over a sync or async source, lazily. Only this file distinguishes sync and async.

The source is closed when the loop is left early; a source that was read to its end closes itself.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from contextlib import aclosing, closing
from inspect import isawaitable
from math import inf
from time import monotonic
from typing import Any, Final, Generic, TypeVar

from .errors import CutShort, SourceFailed
from .pipeline import Pipe, Stage
from .sources.opening import Opened, open_source

T = TypeVar("T")
# The most bytes of a failed response's body that its error quotes.
_MAX_BODY: Final = 500


class FailedResponse(Stage):
    """Reads the body of a response whose status is an error, and raises that."""

    def __init__(self, status: int, reason: str) -> None:
        self._status, self._reason = status, reason
        self._body = b""

    def feed(self, block: bytes) -> Iterable[Any]:
        self._body += block
        return self.flush() if len(self._body) > _MAX_BODY else ()

    def flush(self, cut: CutShort | None = None) -> Iterable[Any]:
        status = f"{self._status} {self._reason}".strip()
        body = " ".join(self._body.decode("utf-8", "replace").split())[:_MAX_BODY]
        message = f"the response has status {status}{f': {body}' if body else ''}"
        raise SourceFailed(message, status=self._status)


def drive(
    stage: Stage, source: Any, *, in_blocks: bool = True, pace: Pace[Any] | None = None
) -> Any:
    """Return a generator of the stage's output for a source, async if the source is async.

    With `in_blocks`, a file is read in blocks, and None is skipped: many SDKs write it for a delta
    without text. Otherwise a file is read by lines, and None is an element like others.
    """
    opened = open_source(source, in_blocks=in_blocks)
    stage.open(opened)
    if opened.failure is not None:
        stage = Pipe(FailedResponse(*opened.failure), stage)
    if isinstance(opened.elements, AsyncIterable):
        items = _drive_async(stage, opened, skips_none=in_blocks)
        return items if pace is None else _pace_async(items, pace)
    results = _drive(stage, opened, skips_none=in_blocks)
    return results if pace is None else _pace(results, pace)


def _drive(stage: Stage, source: Opened, skips_none: bool) -> Generator[Any]:
    elements = iter(source.elements)
    is_read = False
    try:
        for element in elements:
            if element is None and skips_none:
                continue
            yield from stage.feed(element)
            if stage.ended:
                break
            stage = stage.rest or stage
        else:
            is_read = True
            yield from stage.flush()
        if stage.error is not None:
            raise stage.error
    except Exception as error:
        yield from stage.rescue(error)
    finally:
        if not is_read:
            close_source(source.owner, elements)


async def _drive_async(stage: Stage, source: Opened, skips_none: bool) -> AsyncGenerator[Any]:
    elements = aiter(source.elements)
    is_read = False
    try:
        async for element in elements:
            if element is None and skips_none:
                continue
            for item in stage.feed(element):
                yield item
            if stage.ended:
                break
            stage = stage.rest or stage
        else:
            is_read = True
            for item in stage.flush():
                yield item
        if stage.error is not None:
            raise stage.error
    except Exception as error:
        for item in stage.rescue(error):
            yield item
    finally:
        if not is_read:
            await close_async_source(source.owner, elements)


class Items(Iterator[T]):
    """The items of a generator; subclasses add attributes."""

    _items: Generator[T]

    def __next__(self) -> T:
        return next(self._items)

    def close(self) -> None:
        """Close the source."""
        self._items.close()


class AsyncItems(AsyncIterator[T]):
    """The items of an async generator; subclasses add attributes."""

    _items: AsyncGenerator[T]

    async def __anext__(self) -> T:
        return await anext(self._items)

    async def aclose(self) -> None:
        """Close the source."""
        await self._items.aclose()


def last_item(items: Any) -> Any:
    """Return the last item, or of an async generator a coroutine that returns it."""
    return _last_async(items) if isinstance(items, AsyncIterable) else [*items][-1]


async def _last_async(items: AsyncIterable[Any]) -> Any:
    return [item async for item in items][-1]


def log_error(message: str, error: Exception) -> None:
    import logging  # slow to import

    logging.getLogger("jsonrill").error(message, exc_info=error)


# ---- closing ----


def close_source(source: Any, elements: Any = None) -> None:
    """Close a source, or the iterator over it, so that `break` stops a generation.

    An exception is logged, because raising it would hide the error for which the source is closed.
    """
    try:
        _call_first((source, elements), "close")
    except Exception as error:
        log_error("a source could not be closed", error)


async def close_async_source(source: Any, elements: Any = None) -> None:
    """Close an async source, or the iterator over it."""
    try:
        closing = _call_first((source, elements), "aclose", "close")
        if isawaitable(closing):
            await closing
    except Exception as error:
        log_error("a source could not be closed", error)


def _call_first(owners: tuple[Any, ...], *names: str) -> Any:
    """Call the first of these methods that one of the objects has."""
    methods = (getattr(owner, name, None) for owner in owners for name in names)
    method = next(filter(callable, methods), None)
    return None if method is None else method()


# ---- every= ----


class Pace(Generic[T]):
    """Emits at most one item in `every` seconds: items in between are merged into the held one.

    `merge(held, item)` returns one item for both, or None if they cannot be merged; then the held
    item is emitted first. An item for which `is_urgent` is true is emitted at once.
    """

    def __init__(
        self,
        every: float,
        merge: Callable[[T, T], T | None],
        is_urgent: Callable[[T], bool] = lambda item: False,
    ) -> None:
        if type(every) not in (int, float):
            raise TypeError(f"every must be a number of seconds, not {every!r}")
        if not 0 < every < inf:
            raise ValueError(f"every must be a number of seconds above 0, not {every!r}")
        self._every = every
        self._merge = merge
        self._is_urgent = is_urgent
        self._due = monotonic()
        # At most one item.
        self._held: list[T] = []

    def feed(self, item: T) -> list[T]:
        """Return the items to emit now."""
        out: list[T] = []
        if self._held:
            merged = self._merge(self._held[0], item)
            if merged is None:
                out = self.flush()
            else:
                item = merged
        self._held = [item]
        if self._is_urgent(item):
            out.append(self._held.pop())
        return out if self._due > monotonic() else out + self.flush()

    def flush(self) -> list[T]:
        """Return the held item, even if it is not due."""
        held, self._held = self._held, []
        if held:
            self._due = monotonic() + self._every
        return held

    @property
    def timeout(self) -> float | None:
        """The seconds until the held item is due; None if there is none."""
        return max(self._due - monotonic(), 0) if self._held else None


def _pace(items: Generator[Any], pace: Pace[Any]) -> Generator[Any]:
    """Yield items at their pace. A sync source blocks, so a held item waits for the next one."""
    with closing(items):
        try:
            for item in items:
                yield from pace.feed(item)
        except Exception:
            yield from pace.flush()
            raise
        yield from pace.flush()


async def _pace_async(items: AsyncGenerator[Any], pace: Pace[Any]) -> AsyncGenerator[Any]:
    """Yield items at their pace, and a held item when it is due, even if the source stalls."""
    from asyncio import Queue, create_task, timeout, wait

    # Lists of one item; an empty one is the end.
    queue: Queue[list[Any]] = Queue()

    async def read() -> None:
        # One task reads all items and closes the source: a timeout or a cancel scope that the
        # source has opened belongs to the task in which it was opened.
        try:
            async with aclosing(items):
                async for item in items:
                    queue.put_nowait([item])
                    await queue.join()
        finally:
            queue.put_nowait([])

    reader = create_task(read())
    try:
        while True:
            try:
                async with timeout(pace.timeout):
                    arrived = await queue.get()
            except TimeoutError:
                for item in pace.flush():
                    yield item
                continue
            for item in pace.feed(*arrived) if arrived else pace.flush():
                yield item
            if not arrived:
                await reader  # raises the source's exception
                return
            queue.task_done()
    finally:
        reader.cancel()
        await wait((reader,))
        if not reader.cancelled():
            reader.exception()  # mark it as retrieved
