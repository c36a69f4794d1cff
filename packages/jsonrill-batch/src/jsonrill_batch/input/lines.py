"""Files → lines. A recorded event stream becomes one line of JSON for each stream in it.

A byte range owns the lines that start in it: it skips the line that it starts inside, and reads its
last line to the end. So the ranges of a file yield each line exactly once. At most one line is in
memory, and only the start of a line that is too long.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from jsonrill.errors import LimitExceeded
from jsonrill.eventstream import SSEDecoder, SSEEvent, ends_stream, looks_like_events
from jsonrill.jsontext import dumps
from jsonrill.providers import Reader
from jsonrill.providers.statements import Finish

from ..errors import BadRecord, InputError
from ..files import is_remote, remote, remote_version, version_of
from .line import Line, too_long

PIECE: Final = 1 << 16


class Segment(NamedTuple):
    """The part of a file that a shard reads: all of it, or a range of its bytes.

    `size` and `version` are the file's when the run was planned; `input_format` is jsonl, sse or
    auto.
    """

    path: str
    name: str
    size: int
    version: str
    start: int
    end: int
    input_format: str = "auto"
    compression: str = ""


def read_segment(segment: Segment, max_line: int, keep: int) -> Iterator[tuple[int, Line]]:
    """The lines of a segment, each with the number of the segment's bytes before it.

    If the file is damaged, the last line has that as its fault.
    """
    number, after = 0, 0
    with _opened(segment) as raw:
        file: Any = gzip.open(raw) if segment.compression else raw
        chosen = segment.input_format
        try:
            is_sse = _begins_as_events(file) if chosen == "auto" else chosen == "sse"
            reader = _event_lines if is_sse else _lines
            for line in reader(file, segment, max_line, keep):
                offset = line.offset or 0
                yield raw.tell() if segment.compression else offset - segment.start, line
                number, after = line.number, offset + line.size
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            message = f"{segment.name} is damaged after {after} bytes of its content: {error}"
            fault = BadRecord("DAMAGED_FILE", message)
            yield raw.tell(), Line(b"", number + 1, after, 0, segment.name, None, fault)


@contextmanager
def _opened(segment: Segment) -> Iterator[Any]:
    """The open file; `InputError` if it has changed since the run was planned."""
    try:
        if is_remote(segment.path):
            store = remote(segment.path)
            _same(segment, remote_version(store, segment.path))
            with store.open(segment.path, "rb") as far, io.BufferedReader(far, PIECE) as file:
                yield file
            return
        with open(segment.path, "rb", buffering=PIECE) as file:
            _same(segment, version_of(os.fstat(file.fileno())))
            yield file
    except OSError as error:
        raise InputError(f"{segment.path}: {error.strerror or error}") from error


def _same(segment: Segment, version: str) -> None:
    if version != segment.version:
        raise InputError(f"{segment.path} has changed since the run was planned")


def _begins_as_events(file: Any) -> bool:
    try:
        return looks_like_events(file.peek(256)[:256])
    except EOFError:
        return False  # reading the lines will fail in the same way, and report it


def _lines(file: Any, segment: Segment, max_line: int, keep: int) -> Iterator[Line]:
    end = None if segment.compression else segment.end
    offset = 0
    if segment.start:
        file.seek(segment.start - 1)
        offset = segment.start - 1
        while offset < segment.end:
            skipped = file.readline(PIECE)
            offset += len(skipped)
            if not skipped or skipped.endswith(b"\n"):
                break
    number = 0
    while end is None or offset < end:
        text = file.readline(max_line + 2)
        if not text:
            return
        number += 1
        size, fault = len(text), None
        line = text.rstrip(b"\r\n")
        if len(line) > max_line:
            size += _skip(file, text)
            fault = too_long(size, max_line)
            line = line[:keep]
        name = f"{segment.name}@{offset}"
        yield Line(line, number, offset, size, segment.name, name, fault)
        offset += size


def _skip(file: Any, text: bytes) -> int:
    """Skip the rest of a line and return its size."""
    size = 0
    while not text.endswith(b"\n"):
        text = file.readline(PIECE)
        if not text:
            break
        size += len(text)
    return size


def _event_lines(file: Any, segment: Segment, max_line: int, keep: int) -> Iterator[Line]:
    """One line of JSON, with its events, for each stream in a recorded event stream."""
    decoder = SSEDecoder(limit=max_line)
    streams = _Events(segment.name, max_line, keep)
    try:
        # Line by line, to know the offset of each stream.
        while piece := file.readline(PIECE):
            streams.position += len(piece)
            for event in decoder.feed(piece):
                yield from streams.add(event)
        # A recording may lack the blank line after its last event.
        for event in decoder.feed("\n\n"):
            yield from streams.add(event)
    except LimitExceeded:
        # The start of the next event cannot be found any more.
        message = f"an event of more than {max_line} bytes; the rest of the file is not read"
        yield from streams.end(BadRecord("TOO_LONG", message))
        return
    yield from streams.end()


class _Events:
    """Collects events, and makes a line of each stream when it ends."""

    def __init__(self, name: str, max_line: int, keep: int) -> None:
        self.position = 0
        self._name = name
        self._max = max_line
        self._keep = keep
        self._number = 0
        self._begin = 0
        self._events: list[str] = []
        self._size = 0
        self._reader = Reader()

    def add(self, event: SSEEvent) -> Iterator[Line]:
        ends = ends_stream(event)
        if not ends:
            self._size += len(event.data)
            if self._size <= self._max:
                self._events.append(dumps(event.data))
            statements = self._reader.feed(event.data)
            # Some providers send no [DONE].
            ends = any(type(one) is Finish and one.last for one in statements)
        if ends:
            yield from self.end()

    def end(self, fault: BadRecord | None = None) -> Iterator[Line]:
        """The line of the stream that ends here, if it has events."""
        begin, size = self._begin, self._size
        if size > self._max:
            fault = fault or too_long(size, self._max)
        if self._events or fault is not None:
            self._number += 1
            text = '{"events":[' + ",".join(self._events) + "]}"
            text = text if fault is None else text[: self._keep]
            length, name = self.position - begin, f"{self._name}#{self._number}"
            yield Line(text, self._number, begin, length, self._name, name, fault)
        self._begin = self.position
        self._events, self._size = [], 0
        self._reader = Reader()
