"""Where text, lines and provider events come from: files and pipes, as they are or cut and paced.

Text is handed on as it arrives, so that a pipe is followed live. A file that is read whole can be
cut into tokens of some characters and paced, like a model would send it.
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
from pathlib import Path
from typing import Any, BinaryIO

from ..eventstream import DONE, SSEDecoder
from ..sources import AnswerText

PIECE = 1 << 16
# Files larger than this get a progress bar.
LARGE = 4 << 20


class BadInput(Exception):
    """What was given cannot be read: one line on standard error, exit 1."""


@dataclass(frozen=True)
class Source:
    """The files named on the command line ("-" is standard input), and how to read them."""

    files: list[Path] = field(default_factory=list)
    tokens: int = 0
    delay: float = 0.0
    sse: bool = False

    def pieces(self) -> Iterator[bytes | str]:
        """The text: as it comes, or as the text of provider events, cut and paced."""
        raw: Iterable[bytes | str] = self._texts() if self.sse else self._raw()
        return self._paced(self._cut(raw)) if self.tokens or self.delay else iter(raw)

    def lines(self) -> Iterator[str]:
        """One item a line; in an event stream, one an event. Empty ones are left out."""
        return self._paced(self._lines())

    def events(self) -> Iterator[Any]:
        """Each line, or the data of each event, as decoded JSON."""
        for number, line in enumerate(self.lines(), start=1):
            if line.strip() == DONE:
                continue
            try:
                yield json.loads(line)
            except ValueError as error:
                raise BadInput(f"item {number}: {error}") from error

    def _raw(self) -> Iterator[bytes]:
        for path in self.files or [Path("-")]:
            with _opened(path) as file, _progress(file, path) as bar:
                # read1 gives what a pipe holds now, instead of waiting for a whole piece.
                while piece := file.read1(PIECE):  # type: ignore[attr-defined]
                    bar(len(piece))
                    yield piece

    def _data(self) -> Iterator[str]:
        decoder = SSEDecoder()
        for piece in self._raw():
            for event in decoder.feed(piece):
                if event.type != "CLOSE" and event.data != DONE:
                    yield event.data

    def _texts(self) -> Iterator[str]:
        """The answer of a provider's event stream; of any other event stream, its data."""
        answer = AnswerText()
        for data in self._data():
            text = answer.feed(data)
            yield text if answer.recognised else data
        if answer.has_only_calls:
            raise BadInput("the answer has tool calls and no text: read it with jsonrill calls")

    def _lines(self) -> Iterator[str]:
        if self.sse:
            yield from self._data()
            return
        rest = b""
        for piece in self._raw():
            *whole, rest = (rest + piece).split(b"\n")
            yield from (_text(line) for line in whole if line.strip())
        if rest.strip():
            yield _text(rest)

    def _cut(self, pieces: Iterable[bytes | str]) -> Iterator[str]:
        """Tokens of so many characters (4, if only a delay is wanted)."""
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


def decoded(pieces: Iterable[bytes | str]) -> Iterator[str]:
    """Text, whatever it came as."""
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
    """A bar on standard error for a large file, when somebody is there to see it."""
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
