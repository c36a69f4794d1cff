"""Snapshots → text."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Generator,
    Iterable,
    Iterator,
)
from typing import Any, Unpack, overload

from ..chunker import Chunker
from ..options import ChunkOptions
from .driving import END, Loop, Pulled, drive
from .settings import refuse_other


@overload
def chunks(
    source: str | bytes | Iterable[Any], **options: Unpack[ChunkOptions]
) -> Generator[str]: ...
@overload
def chunks(source: AsyncIterable[Any], **options: Unpack[ChunkOptions]) -> AsyncGenerator[str]: ...
def chunks(source: Any, **options: Unpack[ChunkOptions]) -> Any:
    """Yield the chunks of text that snapshots of a growing value make.

    Joined, they are the last snapshot. Options are those of `Chunker`; empty chunks are left out.
    """
    refuse_other("chunks", options)
    chunker = Chunker(**options)

    def run(source: Pulled[Any]) -> Iterator[str]:
        with source as snapshots:
            for snapshot in snapshots:
                text = chunker.flush() if snapshot is END else chunker.feed(snapshot)
                if text:
                    yield text

    return drive(Loop(run), source)
