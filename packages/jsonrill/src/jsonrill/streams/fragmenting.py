"""Text → fragments."""

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

from ..errors import CutShort, InvalidJSON, LimitExceeded
from ..options import ReadOptions
from ..wire.fragment import Fragment
from ..wire.parser import Parser
from .driving import END, Loop, Pulled, drive
from .many import ManyDocuments
from .settings import take_options
from .types import Source, Text


@overload
def fragments(source: Source, **options: Unpack[ReadOptions]) -> Generator[Fragment]: ...
@overload
def fragments(
    source: AsyncIterable[Any], **options: Unpack[ReadOptions]
) -> AsyncGenerator[Fragment]: ...
def fragments(source: Any, **options: Unpack[ReadOptions]) -> Any:
    """Yield the fragments of a text, each as soon as it is certain. Options: those of `Parser`."""
    reading, parsing = take_options("fragments", options)
    parser = FragmentStage(parsing)
    if reading.reads_calls:
        stage = ManyDocuments(FragmentStage, parsing, splits=False).loop(reading)
        return drive(stage, source, reading=reading)

    def run(source: Pulled[Text]) -> Iterator[Fragment]:
        with source as pieces:
            for piece in pieces:
                yield from parser.flush(reading.cut) if piece is END else parser.feed(piece)

    return drive(Loop(run), source, reading=reading)


class FragmentStage:
    """A parser that yields the fragments before an error, and then raises it."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._parser = Parser(**options)

    def feed(self, text: Text) -> Iterator[Fragment]:
        return self._read(self._parser.feed, text)

    def flush(self, cut: CutShort | None = None) -> Iterator[Fragment]:
        return self._read(self._parser.flush, cut)

    def _read(self, read: Callable[[Any], list[Fragment]], data: Any) -> Iterator[Fragment]:
        try:
            yield from read(data)
        except (InvalidJSON, LimitExceeded) as error:
            yield from error.fragments
            raise
