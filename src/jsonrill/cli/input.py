"""Reads text, lines and provider events from files and pipes.

Text is yielded as it arrives, so that a pipe is followed live. It can be cut into pieces of some
characters with a delay after each, as a model would send it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from ..eventstream import DONE, SSEDecoder, SSEEvent, looks_like_events
from ..sources import AnswerText

PIECE = 1 << 16
# Files larger than this get a progress bar.
LARGE = 4 << 20


class BadInput(Exception):
    """The input cannot be read: one line on standard error, exit code 1."""


@dataclass(frozen=True)
class Source:
    """The input files ("-" is standard input), and how to read them."""

    files: list[Path] = field(default_factory=list)
    tokens: int = 0
    delay: float = 0.0
    sse: bool = False

    def pieces(self) -> Iterator[bytes | str]:
        """The text in pieces: as it comes, or of an event stream; cut and delayed if wanted."""
        raw: Iterable[bytes | str] = self._texts() if self.sse else self._raw()
        return self._paced(self._cut(raw)) if self.tokens or self.delay else iter(raw)

    def lines(self) -> Iterator[str]:
        """The lines, or the data of the events of an event stream, without empty ones."""
        return self._paced(self._lines())

    def events(self) -> Iterator[Any]:
        """The JSON value of each line, or of the data of each event."""
        for number, line in enumerate(self.lines(), start=1):
            if line.strip() == DONE:
                continue
            try:
                yield json.loads(line)
            except ValueError as error:
                raise BadInput(f"item {number}: {error}") from error
            except RecursionError as error:
                raise BadInput(f"item {number}: nested too deeply") from error

    def _raw(self) -> Iterator[bytes]:
        for path in self.files or [Path("-")]:
            with _opened(path) as file, _progress(file, path) as bar:
                # read1 gives what a pipe holds now, instead of waiting for a whole piece.
                while piece := file.read1(PIECE):  # type: ignore[attr-defined]
                    bar(len(piece))
                    yield piece

    def _data(self, raw: Iterable[bytes]) -> Iterator[str]:
        """The data of the events. A last one without its blank line counts if it is JSON."""
        decoder = SSEDecoder()
        for piece in raw:
            yield from _contents(decoder.feed(piece))
        yield from filter(_is_json, _contents(decoder.feed("\n\n")))

    def _texts(self) -> Iterator[str]:
        """The text of the answer in a provider's event stream; the data of any other."""
        answer = AnswerText()
        for data in self._data(self._raw()):
            text = answer.feed(data)
            yield text if answer.recognised else data
        if answer.has_only_calls:
            raise BadInput("the answer has tool calls and no text: use jsonrill calls")

    def _lines(self) -> Iterator[str]:
        raw, rest = self._raw(), b""
        # Enough of the input to recognise an event stream.
        while len(begun := rest.lstrip()) < 8 and b"\n" not in begun:
            if not (piece := next(raw, b"")):
                break
            rest += piece
        if self.sse or looks_like_events(rest):
            yield from self._data(chain([rest], raw))
            return
        beginning, rest = rest, b""
        for piece in chain([beginning], raw):
            *whole, rest = (rest + piece).split(b"\n")
            yield from (_text(line) for line in whole if line.strip())
        if rest.strip():
            yield _text(rest)

    def _cut(self, pieces: Iterable[bytes | str]) -> Iterator[str]:
        """Pieces of `tokens` characters (4, if there is only a delay)."""
        size = self.tokens or 4
        text = ""
        for piece in decoded(pieces):
            text += piece
            whole = len(text) - len(text) % size
            yield from (text[at : at + size] for at in range(0, whole, size))
            text = text[whole:]
        if text:
            yield text

    def _paced(self, items: Iterator[str]) -> Iterator[str]:
        for item in items:
            yield item
            if self.delay:
                time.sleep(self.delay / 1000)


def _contents(events: Iterable[SSEEvent]) -> Iterator[str]:
    return (event.data for event in events if event.type != "CLOSE" and event.data != DONE)


def _is_json(data: str) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def decoded(pieces: Iterable[bytes | str]) -> Iterator[str]:
    """The pieces as text; bytes are UTF-8."""
    decoder = getincrementaldecoder("utf-8")("strict")
    try:
        for piece in pieces:
            yield piece if isinstance(piece, str) else decoder.decode(piece)
        yield decoder.decode(b"", True)
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8: {error.reason}") from error


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8: {error.reason} in {line[:40]!r}") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    with file:
        yield file


def _progress(file: BinaryIO, path: Path) -> AbstractContextManager[Any]:
    """A progress bar for a large file, if standard error is a terminal."""
    size = os.fstat(file.fileno()).st_size if str(path) != "-" else 0
    if size < LARGE or not sys.stderr.isatty():
        return nullcontext(lambda read: None)
    return _bar(size, path)


@contextmanager
def _bar(size: int, path: Path) -> Iterator[Any]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(path.name, total=size)
        yield lambda read: progress.advance(task, read)
