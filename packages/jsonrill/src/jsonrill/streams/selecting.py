"""Text → the values and string at a path: `select`, `text`."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Generator,
    Iterator,
    Mapping,
)
from typing import Any, Unpack, overload

from ..errors import InvalidJSON, LimitExceeded
from ..options import ReadOptions, ReadTextOptions
from ..paths import Path, parse_path
from ..selection import Selection, TextSelection
from .documents import cut_of
from .driving import END, Loop, Pulled, drive
from .many import ManyDocuments
from .settings import take_options
from .types import AnySchema, Ended, Source, Text, V


@overload
def select(
    source: Source, field: str | Path, schema: AnySchema[V] = None, **options: Unpack[ReadOptions]
) -> Generator[V]: ...
@overload
def select(
    source: AsyncIterable[Any],
    field: str | Path,
    schema: AnySchema[V] = None,
    **options: Unpack[ReadOptions],
) -> AsyncGenerator[V]: ...
def select(
    source: Any, field: str | Path, schema: Any = None, **options: Unpack[ReadOptions]
) -> Any:
    """Yield each value at a path when it is complete, and keep nothing else of the document.

    `field` is a path or a pattern: `"results[*]"`, `"days[*].activities[*].title"`. An array at its
    end stands for its elements (`"results"`), a null for nothing. With a `schema` each value is of
    its type. `limits.text` counts for each value. `FieldNotFound` at the end if nothing was there.
    """
    reading, parsing = take_options("select", options, "schema")
    stage = selection_stage(Selection(field, schema=schema, **parsing), reading)
    if reading.reads_calls:

        def begin(parsing: Mapping[str, Any]) -> Selection:
            return Selection(field, schema=schema, **parsing)

        stage = ManyDocuments(begin, parsing, splits=False).loop(reading)
    return drive(stage, source, reading=reading)


def selection_stage(selection: Selection, reading: Ended | None = None) -> Loop[Text, Any]:
    """The stage of `select`, for a selection that the caller keeps."""

    def run(source: Pulled[Text]) -> Iterator[Any]:
        with source as pieces:
            for piece in pieces:
                if piece is END:
                    yield from selection.flush(cut_of(reading))
                else:
                    yield from selection.feed(piece)

    return Loop(run)


@overload
def text(
    source: Source,
    field: str | Path,
    *,
    read_all: bool = False,
    **options: Unpack[ReadTextOptions],
) -> Generator[str]: ...
@overload
def text(
    source: AsyncIterable[Any],
    field: str | Path,
    *,
    read_all: bool = False,
    **options: Unpack[ReadTextOptions],
) -> AsyncGenerator[str]: ...
def text(
    source: Any,
    field: str | Path,
    *,
    read_all: bool = False,
    **options: Unpack[ReadTextOptions],
) -> Any:
    """Yield the text of one string as it grows; joined, the pieces are the string.

    `field` is a path (`"answer"`, `"steps[0].title"`). `FieldNotFound` at the end if it never came,
    or is no string. When it is complete, the source is closed; with `read_all` it is read to its
    end, and errors in the rest are raised. Nothing of the rest is kept.
    """
    reading, parsing = take_options("text", options, "read_all", first=True)
    if isinstance(field, str):
        parse_path(field)
    selection = TextSelection(field, **parsing)

    def over() -> bool:
        return selection.ended and not read_all

    def run(source: Pulled[Text]) -> Iterator[str]:
        with source as pieces:
            for piece in pieces:
                fresh = selection.flush(reading.cut) if piece is END else selection.feed(piece)
                while True:
                    try:
                        new = next(fresh)
                    except StopIteration:
                        break
                    except (InvalidJSON, LimitExceeded):
                        if over():
                            return
                        raise
                    yield new
                if over():
                    return

    return drive(Loop(run), source, over, reading=reading)
