"""Text → updates."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Generator,
    Iterator,
)
from typing import Any, Unpack, overload

from ..options import Modes, ReadUpdateOptions
from ..partial_stream import PartialStream, Update
from .driving import END, Loop, Pulled, drive
from .pacing import Pace, drive_paced
from .settings import take_options
from .types import Adapter, JsonSchema, Source, T, Text


@overload
def updates(
    source: Source,
    mode: Modes = "REALTIME",
    *,
    schema: type[T] | Adapter[T],
    every: float | None = None,
    **options: Unpack[ReadUpdateOptions],
) -> Generator[Update[T]]: ...
@overload
def updates(
    source: AsyncIterable[Any],
    mode: Modes = "REALTIME",
    *,
    schema: type[T] | Adapter[T],
    every: float | None = None,
    **options: Unpack[ReadUpdateOptions],
) -> AsyncGenerator[Update[T]]: ...
@overload
def updates(
    source: Source,
    mode: Modes = "REALTIME",
    *,
    schema: JsonSchema | None = None,
    every: float | None = None,
    **options: Unpack[ReadUpdateOptions],
) -> Generator[Update[Any]]: ...
@overload
def updates(
    source: AsyncIterable[Any],
    mode: Modes = "REALTIME",
    *,
    schema: JsonSchema | None = None,
    every: float | None = None,
    **options: Unpack[ReadUpdateOptions],
) -> AsyncGenerator[Update[Any]]: ...
def updates(
    source: Any,
    mode: Modes = "REALTIME",
    *,
    schema: Any = None,
    every: float | None = None,
    **options: Unpack[ReadUpdateOptions],
) -> Any:
    """Yield updates of the entities in a text, in one of five modes.

    Options are those of `PartialStream`. After an ERROR of the stream the source is closed.

    With `every`, a PARTIAL is emitted at most once in that many seconds. Those held back become
    one, which is always emitted: when it is due, before the next COMPLETED or ERROR, or at the end.
    A sync source blocks while it waits, so there it is emitted with the next piece after it is due.
    An async source is read in a task of its own, by asyncio.
    """
    reading, settings = take_options("updates", options, "every")
    if isinstance(mode, type):
        raise TypeError(f"the second argument is the mode: pass schema={mode.__name__}")
    stream = PartialStream(mode, schema=schema, **settings)
    # With entities the schema is that of each of them.

    def run(source: Pulled[Text]) -> Iterator[Update]:
        with source as pieces:
            for piece in pieces:
                if piece is END:
                    yield from stream.flush(reading.cut)
                else:
                    yield from stream.feed(piece)
                if stream.ended:
                    return

    def over() -> bool:
        return stream.ended

    if every is None:
        return drive(Loop(run), source, over, reading=reading)
    return drive_paced(Loop(run), source, over, Pace(every), reading)
