"""Text → fragments."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Generator,
    Iterator,
)
from typing import Any, Unpack, overload

from ..errors import InvalidJSON, LimitExceeded
from ..options import ReadOptions
from ..wire.fragment import Fragment
from ..wire.parser import Parser
from .driving import END, Loop, Pulled, drive
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
    parser = Parser(**parsing)

    def run(source: Pulled[Text]) -> Iterator[Fragment]:
        with source as pieces:
            for piece in pieces:
                try:
                    yield from parser.flush(reading.cut) if piece is END else parser.feed(piece)
                except (InvalidJSON, LimitExceeded) as error:
                    yield from error.fragments
                    raise
                if piece is END and parser.errors:
                    raise parser.errors.pop(0)  # its traceback knows the parser

    return drive(Loop(run), source, reading=reading)
