"""A stage over a source, sync or async, lazily; the source is closed when the loop is left.

A stage is a generator function of one piece (or `END`), so that it can yield what was good and
then raise; a `Loop` is one for many pieces. With a `Reading` the first element decides what the
pieces are: text goes to the stage as it is, and anything else through a decoder (`sources/`).

A generator costs as much as a piece. So there is none between a loop and a source that is not
async: `pulled` is a context, and its pieces pass nothing but iterators of C.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import isawaitable
from itertools import chain
from typing import Any, Final, Generic

from ..errors import JsonrillError
from ..opening import inner_streams, open_source
from ..sources import Decoder, EventReading, Opened, Reading
from .types import T, U

# What `drive` runs: a stage, and a function that tells if it needs no more pieces.
StageOf = Callable[[T], Iterator[U]]
Over = Callable[[], bool]

END: Final[Any] = object()

# What a loop runs in: the pieces of a source.
Pulled = AbstractContextManager[Iterable[T]]


class Loop(Generic[T, U]):
    """A stage written as a loop over pieces: a generator for each piece costs more than the piece.

    `run` returns early when it needs no more pieces; the last one is `END`.
    """

    __slots__ = ("run",)

    def __init__(self, run: Callable[[Pulled[T]], Iterator[U]]) -> None:
        self.run = run

    def __call__(self, piece: T) -> Iterator[U]:
        return self.run(nullcontext((piece,)))


def never() -> bool:
    return False


def drive(
    stage: StageOf[Any, Any],
    source: Any,
    over: Over = never,
    *,
    reading: Reading | EventReading | None = None,
) -> Any:
    """Run a stage over a source until it ends or the stage is `over`.

    With a `Reading` the stage gets text, with an `EventReading` events; else it gets the elements
    as they are.
    """
    opened = open_source(source, in_blocks=reading is not None)
    is_async = isinstance(opened.elements, AsyncIterable)
    return (drive_async if is_async else drive_sync)(stage, opened, over, reading)


def drive_sync(
    stage: StageOf[Any, U], source: Opened, over: Over, reading: Reading | EventReading | None
) -> Iterator[U]:
    loop = stage if isinstance(stage, Loop) else _looped(stage, over)
    return loop.run(pulled(source, reading))


def _looped(stage: StageOf[Any, U], over: Over) -> Loop[Any, U]:
    def run(source: Pulled[Any]) -> Iterator[U]:
        with source as pieces:
            for piece in pieces:
                yield from stage(piece)
                if over():
                    return

    return Loop(run)


@contextmanager
def pulled(source: Opened, reading: Reading | EventReading | None) -> Iterator[Iterator[Any]]:
    """The pieces of a source that is not async; it is closed when its loop is left early."""
    elements = iter(source.elements)
    # Its first element, and what is left of it.
    begun: tuple[Any, ...] = ()
    rest: Iterable[Any] = elements
    decoder: Decoder | None = None
    ended = False

    def parts() -> Iterator[Iterable[Any]]:
        """The pieces in parts, each of which is read without coming back here."""
        nonlocal ended
        if decoder is None:
            yield begun
            yield rest
        else:
            for element in chain(begun, rest):
                yield decoder.feed(element)
                if decoder.done:
                    yield (END,)
                    return
        ended = True
        if decoder is not None:
            yield decoder.flush()
        yield (END,)

    try:
        if reading is not None:
            # One look at the first element, so that text costs no more than without.
            first = next((it for it in elements if it is not None), END)
            ended = first is END
            begun, rest = ((), ()) if ended else ((first,), elements)
            decoder = reading.decoder(None if ended else first, source)
        pieces: Iterator[Any] = chain.from_iterable(parts())
        if decoder is None and isinstance(reading, Reading):
            pieces = reading.transcript.noted(pieces)
        yield pieces
    except JsonrillError as error:
        if isinstance(reading, Reading):
            raise reading.explained(error) from error.__cause__
        raise
    finally:
        if not ended:
            close_source(source.owner, elements)


def _decoded(stage: StageOf[Any, U], over: Over, decoder: Decoder) -> tuple[StageOf[Any, U], Over]:
    """The stage with a decoder before it, and a function that tells if either needs no more."""

    def run(element: Any) -> Iterator[U]:
        for piece in decoder.flush() if element is END else decoder.feed(element):
            yield from stage(piece)
            if over():
                return
        if element is END or decoder.done:
            yield from stage(END)

    def is_over() -> bool:
        return over() or decoder.done

    return run, is_over


async def drive_async(
    stage: StageOf[Any, U], source: Opened, over: Over, reading: Reading | EventReading | None
) -> AsyncGenerator[U]:
    pieces = aiter(source.elements)
    ended, begun = False, reading is None
    keep = _keep_nothing
    try:
        async for piece in pieces:
            if piece is None and reading is not None:
                continue
            if not begun and reading is not None:
                begun = True
                if (decoder := reading.decoder(piece, source)) is not None:
                    stage, over = _decoded(stage, over, decoder)
                elif isinstance(reading, Reading):
                    keep = reading.transcript.add
            keep(piece)
            for out in stage(piece):
                yield out
            if over():
                return
        ended = True
        if not begun and reading is not None:
            if (decoder := reading.decoder(None, source)) is not None:
                stage, over = _decoded(stage, over, decoder)
        for out in stage(END):
            yield out
    except JsonrillError as error:
        if isinstance(reading, Reading):
            raise reading.explained(error) from error.__cause__
        raise
    finally:
        if not ended:
            await close_async_source(source.owner, pieces)


def _keep_nothing(piece: Any) -> None:
    pass


def close_source(source: Any, elements: Any = None) -> None:
    """Close a source, or what is iterated of it, so that `break` stops a generation."""
    close = _closer((source, elements), "close")
    if close is not None:
        close()


async def close_async_source(source: Any, elements: Any = None) -> None:
    """The same for one that is async."""
    close = _closer((source, elements), "aclose", "close")
    if close is not None:
        inner = inner_streams(source)
        closing = close()
        if isawaitable(closing):
            await closing
        for stream in inner:
            await stream.aclose()


def _closer(owners: tuple[Any, ...], *names: str) -> Callable[[], Any] | None:
    """The first method that closes, or None."""
    closers = (getattr(owner, name, None) for owner in owners for name in names)
    return next(filter(callable, closers), None)
