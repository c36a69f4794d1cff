"""Where values go: one JSON a line, or server-sent events; coloured and safe on a terminal.

A terminal obeys control characters, and a model's text may hold any: there they are written as
JSON escapes. Every line is flushed, so that the next program in a pipe sees it at once.
"""

from __future__ import annotations

import json
import os
import re
import sys
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
    """JSON text with the colours of a terminal."""
    return _TOKEN.sub(lambda found: f"\x1b[{_colour(found)}m{found.group()}\x1b[0m", text)


def _colour(found: re.Match[str]) -> str:
    return _COLOURS[found.lastgroup or "word"]


class Sink:
    """Writes values; `close` writes what must come last."""

    def __init__(
        self, *, pretty: bool = False, color: bool | None = None, sse: bool = False
    ) -> None:
        self._out: TextIO = sys.stdout
        self._sse = sse
        self._pretty = pretty and not sse
        self._terminal = self._out.isatty()
        wanted = self._terminal and not sse and "NO_COLOR" not in os.environ
        self._color = wanted if color is None else color

    def write(self, value: Any) -> None:
        """One value, as compact JSON on its own line (or indented, or as an event)."""
        self.line(dumps(value))

    def line(self, text: str) -> None:
        """One value that is JSON text already."""
        if self._sse:
            self.raw(encode_event(text).decode())
            return
        if self._pretty:
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
        if self._terminal:
            text = safe(text)
        self.raw((coloured(text) if self._color else text) + "\n")

    def raw(self, text: str) -> None:
        """Text as it is."""
        self._out.write(text)
        self._out.flush()

    def close(self) -> None:
        """The end: an event stream says so."""
        if self._sse:
            self.raw(encode_event(DONE, event="CLOSE").decode())
