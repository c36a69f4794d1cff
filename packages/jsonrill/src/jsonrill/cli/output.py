"""Writes values: one JSON a line, or server-sent events; coloured and safe on a terminal.

A terminal executes control characters, and the text of a model may contain any: there they are
written as JSON escapes. Every line is flushed, so that the next program in a pipe gets it at once.
"""

from __future__ import annotations

import json
import os
import re
import sys
from io import TextIOWrapper
from typing import Any, Final, TextIO

from ..eventstream import DONE, encode_event
from ..jsontext import dumps
from ..terminal import safe

_TOKEN: Final = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<text>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?[0-9][0-9.eE+-]*)|(?P<word>true|false|null)"
)
_COLOURS: Final = {"key": "36", "text": "32", "number": "33", "word": "35"}


def coloured(text: str) -> str:
    """JSON text with terminal colours."""
    return _TOKEN.sub(lambda match: f"\x1b[{_colour(match)}m{match.group()}\x1b[0m", text)


def _colour(match: re.Match[str]) -> str:
    return _COLOURS[match.lastgroup or "word"]


class BadOutput(Exception):
    """Nothing can be written: one line on standard error, exit code 1."""


def write_utf8() -> None:
    """Write UTF-8 to files and pipes, which JSON is, whatever the locale; to a terminal what it
    can show."""
    if isinstance(sys.stdout, TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")


class Output:
    """Writes values to standard output; `close` ends an event stream."""

    def __init__(
        self, *, pretty: bool = False, color: bool | None = None, sse: bool = False
    ) -> None:
        if sys.stdout is None:
            raise BadOutput("standard output is closed")
        self._out: TextIO = sys.stdout
        self._sse = sse
        self._pretty = pretty and not sse
        self._terminal = self._out.isatty()
        wanted = self._terminal and not sse and "NO_COLOR" not in os.environ
        self._color = wanted if color is None else color
        # A person or a page follows the value as it grows.
        self.live = self._terminal or sse

    def write(self, value: Any) -> None:
        """Write one value: as compact JSON on its own line, indented, or as an event."""
        self.line(dumps(value))

    def line(self, text: str) -> None:
        """Write one value that is JSON text already."""
        if self._sse:
            self.raw(encode_event(text).decode())
            return
        if self._pretty:
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
        if self._terminal:
            text = safe(text)
        self.raw((coloured(text) if self._color else text) + "\n")

    def raw(self, text: str) -> None:
        """Write text as it is."""
        self._out.write(text)
        self._out.flush()

    def close(self) -> None:
        """Write the last event of an event stream."""
        if self._sse:
            self.raw(encode_event(DONE, event="CLOSE").decode())
