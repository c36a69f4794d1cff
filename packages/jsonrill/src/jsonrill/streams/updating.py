"""Text → updates."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Generator,
    Iterator,
    Mapping,
)
from typing import Any, Unpack, overload

from ..options import Modes, ReadUpdateOptions
from ..partial_stream import PartialStream, Update
from ..sources import Reading
from .driving import END, Loop, Pulled, drive
from .many import ManyDocuments, check_many
from .pacing import Pace, drive_paced
from .settings import take_options
from .types import AnySchema, Source, Text, V


@overload
def updates(
    source: Source,
    mode: Modes = "REALTIME",
    *,
    schema: AnySchema[V] = None,
    every: float | None = None,
    many: bool = False,
    **options: Unpack[ReadUpdateOptions],
) -> Generator[Update[V]]: ...
@overload
def updates(
    source: AsyncIterable[Any],
    mode: Modes = "REALTIME",
    *,
    schema: AnySchema[V] = None,
    every: float | None = None,
    many: bool = False,
    **options: Unpack[ReadUpdateOptions],
) -> AsyncGenerator[Update[V]]: ...
def updates(
    source: Any,
    mode: Modes = "REALTIME",
    *,
    schema: Any = None,
    every: float | None = None,
    many: bool = False,
    **options: Unpack[ReadUpdateOptions],
) -> Any:
    """Yield updates of the entities in a text, in one of five modes.

    Options are those of `PartialStream`. After an ERROR of the stream the source is closed.

    With `every`, a PARTIAL is emitted at most once in that many seconds. Those held back become
    one, which is always emitted: when it is due, before the next COMPLETED or ERROR, or at the end.
    A sync source blocks while it waits, so there it is emitted with the next piece after it is due.
    An async source is read in a task of its own, by asyncio.
    """
    reading, settings = take_options("updates", options, "every", "many", many=check_many(many))
    if isinstance(mode, type):
        raise TypeError(f"the second argument is the mode: pass schema={mode.__name__}")
    stream = PartialStream(mode, schema=schema, **settings)
    if many or reading.reads_calls:
        begin = counted(lambda options: PartialStream(mode, schema=schema, **options))
        documents = ManyDocuments(begin, settings, splits=many)
        loop, over = documents.loop(reading), lambda: documents.failed
    else:
        loop, over = _loop(stream, reading), lambda: stream.ended
    if every is None:
        return drive(loop, source, over, reading=reading)
    return drive_paced(loop, source, over, Pace(every), reading)


def _loop(stream: PartialStream, reading: Reading) -> Loop[Text, Update]:
    def run(source: Pulled[Text]) -> Iterator[Update]:
        with source as pieces:
            for piece in pieces:
                if piece is END:
                    yield from stream.flush(reading.cut)
                else:
                    yield from stream.feed(piece)
                if stream.ended:
                    return

    return Loop(run)


def counted(
    make: Callable[[Mapping[str, Any]], PartialStream],
) -> Callable[[Mapping[str, Any]], PartialStream]:
    """Return what makes the stream of the next document; entities are counted over all of them."""
    last: PartialStream | None = None

    def begin(options: Mapping[str, Any]) -> PartialStream:
        nonlocal last
        last = make(options) if last is None else last.following()
        return last

    return begin
