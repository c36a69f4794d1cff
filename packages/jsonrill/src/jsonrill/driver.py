"""A stage over a source, sync or async, lazily. The only file that knows sync from async.

A stage has `feed(piece)` and `flush(cut)`, which return lists, and `ended`. A stage that fails
returns what it had, with `ended` true and the exception in `error`. A reader (`sources/`) turns
the elements of a source into pieces for the stage. The source is closed when the loop is left
early; a source that was read to its end closes itself.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Generator,
    Iterable,
    Sequence,
)
from contextlib import aclosing, closing
from inspect import isawaitable
from math import isfinite
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

from .errors import CutShort, JsonrillError
from .sources.opening import Opened, open_source

T = TypeVar("T")


class Stage:
    """Turns pieces into items. This one passes the pieces on.

    `ended`: no more pieces are needed. `error`: what ended it, to raise after its last items.
    """

    error: Exception | None = None
    ended = False

    def feed(self, piece: Any) -> Sequence[Any]:
        return (piece,)

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        """End the text; `cut` says how the provider cut the answer."""
        return ()

    def fail(self, error: Exception) -> None:
        self.error, self.ended = error, True


class Reader(Protocol):
    """What turns the elements of a source into pieces; `done`: it needs no more of them."""

    @property
    def cut(self) -> CutShort | None: ...
    @property
    def done(self) -> bool: ...
    def open(self, source: Opened) -> None: ...
    def feed(self, element: Any) -> Iterable[Any]: ...
    def flush(self) -> Iterable[Any]: ...
    def explain(self, error: JsonrillError) -> JsonrillError: ...


class ElementReader:
    """Passes the elements of a source on as they are."""

    cut: CutShort | None = None
    done = False

    def open(self, source: Opened) -> None: ...

    def feed(self, element: Any) -> Iterable[Any]:
        return (element,)

    def flush(self) -> Iterable[Any]:
        return ()

    def explain(self, error: JsonrillError) -> JsonrillError:
        return error


def drive(
    stage: Stage, source: Any, reader: Reader | None = None, pace: Pace[Any] | None = None
) -> Any:
    """Return a generator of what the stage makes of a source, async if the source is.

    Without a reader the stage gets the elements themselves, and a file is read by lines.
    """
    opened = open_source(source, in_blocks=reader is not None)
    reader = reader or ElementReader()
    reader.open(opened)
    if isinstance(opened.elements, AsyncIterable):
        items = _drive_async(stage, opened, reader)
        return items if pace is None else _pace_async(items, pace)
    found = _drive(stage, opened, reader)
    return found if pace is None else _pace(found, pace)


def _drive(stage: Stage, source: Opened, reader: Reader) -> Generator[Any]:
    elements = iter(source.elements)
    is_read = False
    try:
        for element in elements:
            for piece in reader.feed(element):
                yield from stage.feed(piece)
                if stage.ended:
                    break
            if stage.ended or reader.done:
                break
        else:
            is_read = True
            yield from _end(stage, reader)
        if reader.done and not stage.ended:
            yield from stage.flush(reader.cut)
        if stage.error is not None:
            raise stage.error
    except JsonrillError as error:
        raise reader.explain(error) from error.__cause__
    finally:
        if not is_read:
            close_source(source.owner, elements)


async def _drive_async(stage: Stage, source: Opened, reader: Reader) -> AsyncGenerator[Any]:
    elements = aiter(source.elements)
    is_read = False
    try:
        async for element in elements:
            for piece in reader.feed(element):
                for item in stage.feed(piece):
                    yield item
                if stage.ended:
                    break
            if stage.ended or reader.done:
                break
        else:
            is_read = True
            for item in _end(stage, reader):
                yield item
        if reader.done and not stage.ended:
            for item in stage.flush(reader.cut):
                yield item
        if stage.error is not None:
            raise stage.error
    except JsonrillError as error:
        raise reader.explain(error) from error.__cause__
    finally:
        if not is_read:
            await close_async_source(source.owner, elements)


def _end(stage: Stage, reader: Reader) -> Generator[Any]:
    """Yield what the end of the source brings."""
    for piece in reader.flush():
        yield from stage.feed(piece)
        if stage.ended:
            return
    yield from stage.flush(reader.cut)


def guard(items: Any, fail: Callable[[Exception], Iterable[Any]], name: str) -> Any:
    """Return the items and, if their source raises, what `fail` makes of the exception.

    An exception while the source is closed is logged; `name` is the source in the message.
    """
    is_async = isinstance(items, AsyncIterable)
    return (_guard_async if is_async else _guard)(items, fail, name)


def _guard(
    items: Generator[Any], fail: Callable[[Exception], Iterable[Any]], name: str
) -> Generator[Any]:
    try:
        # With `yield from`, an exception of closing would be taken for one of the source.
        for item in items:  # noqa: UP028
            yield item
    except Exception as error:
        yield from fail(error)
    finally:
        try:
            items.close()
        except Exception as error:
            log_error(f"{name} could not be closed", error)


async def _guard_async(
    items: AsyncGenerator[Any], fail: Callable[[Exception], Iterable[Any]], name: str
) -> AsyncGenerator[Any]:
    try:
        async for item in items:
            yield item
    except Exception as error:
        for item in fail(error):
            yield item
    finally:
        try:
            await items.aclose()
        except Exception as error:
            log_error(f"{name} could not be closed", error)


def last_item(items: Any) -> Any:
    """Return the last item, or of an async generator a coroutine that returns it."""
    if isinstance(items, AsyncIterable):
        return _last_async(items)
    item = None
    for item in items:  # noqa: B007
        pass
    return item


async def _last_async(items: AsyncIterable[Any]) -> Any:
    item = None
    async for item in items:  # noqa: B007
        pass
    return item


def log_error(message: str, error: Exception) -> None:
    import logging  # which takes a while

    logging.getLogger("jsonrill").error(message, exc_info=error)


# ---- closing ----


def close_source(source: Any, elements: Any = None) -> None:
    """Close a source, or the iterator over it, so that `break` stops a generation."""
    close = _closer((source, elements), "close")
    if close is not None:
        close()


async def close_async_source(source: Any, elements: Any = None) -> None:
    """Close an async source, or the iterator over it."""
    close = _closer((source, elements), "aclose", "close")
    if close is not None:
        closing = close()
        if isawaitable(closing):
            await closing


def _closer(owners: tuple[Any, ...], *names: str) -> Callable[[], Any] | None:
    closers = (getattr(owner, name, None) for owner in owners for name in names)
    return next(filter(callable, closers), None)


# ---- every= ----


class Pace(Generic[T]):
    """Emits items at most once in `every` seconds. Items that come sooner are held and merged.

    `merge(held, item)` returns one item for both, or None if they cannot be merged: then the held
    one is emitted first. An item for which `is_urgent` is true is emitted at once.
    """

    def __init__(
        self,
        every: float,
        merge: Callable[[T, T], T | None],
        is_urgent: Callable[[T], bool] = lambda item: False,
    ) -> None:
        if isinstance(every, bool) or not isinstance(every, (int, float)):
            raise TypeError(f"every is a number of seconds, not {every!r}")
        if not (isfinite(every) and every > 0):
            raise ValueError(f"every is a number of seconds above 0, not {every!r}")
        self._every = every
        self._merge = merge
        self._is_urgent = is_urgent
        self._due = monotonic()
        # At most one item.
        self._held: list[T] = []

    def feed(self, items: Iterable[T]) -> list[T]:
        """Return the items that are emitted now."""
        out: list[T] = []
        for item in items:
            if self._held:
                merged = self._merge(self._held[0], item)
                if merged is None:
                    out += self.flush()
                else:
                    item = merged
            self._held = [item]
            if self._is_urgent(item):
                out.append(self._held.pop())
        if self._held and self._due <= monotonic():
            out += self.flush()
        return out

    def flush(self) -> list[T]:
        """Return the item that is held, due or not."""
        held, self._held = self._held, []
        if held:
            self._due = monotonic() + self._every
        return held

    @property
    def timeout(self) -> float | None:
        """The seconds until the held item is due; None if there is none."""
        return max(self._due - monotonic(), 0) if self._held else None


def _pace(items: Generator[Any], pace: Pace[Any]) -> Generator[Any]:
    """Yield items in their pace. A sync source blocks, so a held item waits for the next one."""
    with closing(items):
        try:
            for item in items:
                yield from pace.feed([item])
        except Exception:
            yield from pace.flush()
            raise
        yield from pace.flush()


async def _pace_async(items: AsyncGenerator[Any], pace: Pace[Any]) -> AsyncGenerator[Any]:
    """Yield items in their pace; a held one when it is due, even if the source stalls."""
    from asyncio import Event, create_task, timeout, wait

    slot: list[Any] = []
    arrived, taken = Event(), Event()

    async def read() -> None:
        # All in one task, from the first item to the closing: a source may have opened
        # something (a timeout, a cancel scope) that belongs to the task it was opened in.
        try:
            async with aclosing(items):
                async for item in items:
                    slot.append(item)
                    arrived.set()
                    await taken.wait()
                    taken.clear()
        finally:
            arrived.set()

    reader = create_task(read())
    try:
        while True:
            try:
                async with timeout(pace.timeout):
                    await arrived.wait()
            except TimeoutError:
                for item in pace.flush():
                    yield item
                continue
            arrived.clear()
            if not slot:
                for item in pace.flush():
                    yield item
                await reader  # raises what the source raised
                return
            for item in pace.feed([slot.pop()]):
                yield item
            taken.set()
    finally:
        reader.cancel()
        await wait((reader,))
        error = None if reader.cancelled() else reader.exception()
    if error is not None:
        raise error
