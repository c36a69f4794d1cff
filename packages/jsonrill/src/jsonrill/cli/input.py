"""Reads text, lines and provider events from a file or a pipe.

Text is yielded as it arrives, so that a pipe is followed live. It can be cut into pieces of some
characters with a delay after each, as a model would send it. An event stream is recognised by its
first bytes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from codecs import BOM_UTF8, getincrementaldecoder
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from ..eventstream import EVENT_STREAM, is_done, looks_like_events, may_become_events
from ..sources import Decoder, Opened, Reading
from ..sources.event_text import EventText

PIECE = 1 << 16
# Files larger than this get a progress bar.
LARGE = 4 << 20


class BadInput(Exception):
    """The input cannot be read: one line on standard error, exit code 1."""


@dataclass
class Source:
    """One file ("-" is standard input), and how to read it; `sse=None` recognises events.

    `reading` says what is read of a provider's events.
    """

    file: Path = Path("-")
    tokens: int = 0
    delay: float = 0.0
    sse: bool | None = None
    reading: Reading = field(default_factory=Reading)

    @property
    def piped(self) -> bool:
        """True for standard input."""
        return str(self.file) == "-"

    def pieces(self) -> Iterator[bytes | str]:
        """The text in pieces: as it comes, or of an event stream; cut and delayed if wanted."""
        events, raw = self._opened()
        decoder = self.reading.decoder(b"", Opened(raw, None, EVENT_STREAM if events else ""))
        texts: Iterable[bytes | str] = raw if decoder is None else _texts(decoder, raw)
        return self._paced(self._cut(texts)) if self.tokens or self.delay else iter(texts)

    def lines(self) -> Iterator[str]:
        """The lines, or the data of the events of an event stream, without empty ones."""
        events, raw = self._opened()
        return self._paced(self._data(raw) if events else self._lines(raw))

    def events(self) -> Iterator[Any]:
        """The JSON value of each line, or of the data of each event."""
        for number, line in enumerate(self.lines(), start=1):
            if is_done(line):
                continue
            try:
                yield json.loads(line)
            except ValueError as error:
                raise BadInput(f"item {number}: {error}") from error
            except RecursionError as error:
                raise BadInput(f"item {number}: nested too deeply") from error

    def _opened(self) -> tuple[bool, Iterator[bytes]]:
        """Whether this is an event stream, and its bytes; reads no more than it needs for that."""
        raw = self._raw()
        if self.sse is not None:
            return self.sse, raw
        beginning = b""
        while may_become_events(beginning) and (piece := next(raw, b"")):
            beginning += piece
        return looks_like_events(beginning), chain([beginning], raw)

    def _raw(self) -> Iterator[bytes]:
        """The bytes as they come. `BadInput` if there are none but white space."""
        empty = True
        for piece in self._read():
            empty = empty and not piece.strip(b" \t\r\n\xef\xbb\xbf")
            yield piece
        if empty:
            raise BadInput("the input is empty")

    def _read(self) -> Iterator[bytes]:
        with _opened(self.file) as file, _progress(file, self.file) as bar:
            try:
                # read1 gives what a pipe holds now, instead of waiting for a whole piece.
                while piece := file.read1(PIECE):  # type: ignore[attr-defined]
                    bar(len(piece))
                    yield piece
            except OSError as error:
                raise BadInput(error.strerror) from error

    def _data(self, raw: Iterable[bytes]) -> Iterator[str]:
        """The data of the events. A last one without its blank line counts if it is JSON."""
        text, empty = EventText(sse=True), True
        for piece in chain(raw, [None]):
            for data in text.flush() if piece is None else text.feed(piece):
                empty = False
                yield data
        if empty:
            raise BadInput("the event stream has no data")

    def _lines(self, raw: Iterable[bytes]) -> Iterator[str]:
        """The lines as text. A line may come in many pieces; they are joined once."""
        rest: list[bytes] = []
        for piece in chain(_without_mark(iter(raw)), [b"\n"]):
            first, *others = piece.split(b"\n")
            rest.append(first)
            if others:
                whole = [b"".join(rest), *others]
                rest = [whole.pop()]
                yield from (_text(line) for line in whole if line.strip())

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


def _without_mark(raw: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes without the mark of UTF-8 that editors on Windows put before a text."""
    beginning = b""
    while len(beginning) < len(BOM_UTF8) and (piece := next(raw, b"")):
        beginning += piece
    return chain([beginning.removeprefix(BOM_UTF8)], raw)


def _texts(decoder: Decoder, raw: Iterable[bytes]) -> Iterator[str]:
    """The text that is wanted of a provider's events."""
    for piece in raw:
        yield from decoder.feed(piece)
        if decoder.done:
            return
    yield from decoder.flush()


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
        if sys.stdin is None:
            raise BadInput("standard input is closed")
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise BadInput(error.strerror) from error
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
