"""The state that the strict and the repairing machine share: position, limits and errors.

A `Position` tracks the place in the text and in the document, and makes errors. `tokens.py` and the
machines decide what the characters mean.
"""

from __future__ import annotations

from typing import Any

from ..errors import (
    UNLIMITED,
    CutShort,
    InvalidJSON,
    LimitExceeded,
    Limits,
    truncated,
)
from ..paths import Path, short_path
from .grammar import LITERALS
from .sink import Frame, Repair, Sink, path_of
from .states import (
    AFTER,
    COLON,
    DIGITS,
    END,
    EXPECTED,
    FIRST_ELEMENT,
    KEY,
    STRING,
    VALUE,
)


class Position:
    """The state, the stack of open containers, the offset and the line of a machine."""

    __slots__ = (
        "_budget",
        "_closed",
        "_frame",
        "_has_begun",
        "_held",
        "_limits",
        "_line",
        "_line_start",
        "_lined",
        "_number_limit",
        "_offset",
        "_parse_float",
        "_sink",
        "_state",
        "_stop",
        "_string_limit",
        "_tail",
        "_text_limit",
        "_token",
        "_token_text",
        "frames",
    )

    def _start(self, sink: Sink, state: int, limits: Limits, parse_float: Any, prefix: str) -> None:
        # Not __init__: calling a base class's __init__ is slow when compiled.
        self.frames: list[Frame] = []
        # The last of them, None outside the root.
        self._frame: Frame = None  # type: ignore[assignment]
        self.redirect(sink)
        self._state = state
        self._closed = False
        self._limits = limits
        # The limits that are checked most often, as integers for the compiler.
        self._text_limit = min(limits.text, UNLIMITED)
        self._string_limit = min(limits.string, UNLIMITED)
        self._number_limit = min(limits.number, UNLIMITED)
        self._parse_float = parse_float
        # The token being read: its offset, its text so far unless it is a string value, and the
        # offset at which the limit of a string, or of the text, is reached.
        self._token = 0
        self._token_text = ""
        self._stop = 0
        # Text that waits for the next piece, at first `prefix`, which does not count for offsets.
        self._held = prefix
        # The offset of the first character that is not yet read.
        self._offset = -len(prefix)
        # How many characters of this piece the scanner may still read unsuccessfully.
        self._budget = 0
        # The line and where it begins, for all newlines before `_lined`.
        self._line = 1
        self._line_start = 0
        self._lined = self._offset
        # A cut UTF-8 sequence, and whether a byte order mark can no longer come.
        self._tail = b""
        self._has_begun = False

    def redirect(self, sink: Sink) -> None:
        """Emit to `sink` from the next event on."""
        self._sink = sink
        sink.frames = self.frames

    def limit_text(self, end: int) -> None:
        """Allow the text up to this offset, instead of `limits.text` characters.

        `select` uses this to limit each value instead of the document.
        """
        self._text_limit = end

    # ---- what a caller can read between two pieces ----

    @property
    def repairs(self) -> list[Repair]:
        """The repairs, in order."""
        return []

    @property
    def path(self) -> Path:
        """The path of the value that is being read, or comes next."""
        return path_of(self.frames, 0, len(self.frames))

    @property
    def pending_text(self) -> str | None:
        """The text of the number or literal that is being read, else None."""
        raise NotImplementedError

    @property
    def pending_key(self) -> str | None:
        """The text so far of the key that is being read, else None."""
        return self._token_text if self._state == KEY else None

    @property
    def pending_offset(self) -> int:
        """The offset of the pending key, number or literal, else of the next character."""
        is_pending = self.pending_text is not None or self._state == KEY
        return self._token if is_pending else self._offset

    # ---- pieces ----

    def feed(self, data: str | bytes) -> None:
        """Read one piece and emit its events."""
        raise NotImplementedError

    def flush(self, cut: CutShort | None = None) -> None:
        """End the text: complete what can be completed, or raise an error for what is missing.

        With `cut`, the provider says that the answer stopped early: nothing is completed.
        """
        raise NotImplementedError

    def _count_lines(self, text: str, end: int) -> None:
        """Count the lines up to the character at `end` of this piece, each newline only once."""
        start = max(0, self._lined - self._offset)
        if end > start:
            self._line += text.count("\n", start, end)
            last = text.rfind("\n", start, end)
            if last >= 0:
                self._line_start = self._offset + last + 1
            self._lined = self._offset + end

    # ---- errors ----

    def _position(self, text: str, pos: int) -> tuple[int, int, int]:
        """Return offset, line and column of the character at `pos` of this piece."""
        self._count_lines(text, pos)
        offset = self._offset + pos
        return offset, self._line, offset - self._line_start + 1

    def _error(
        self, kind: type[InvalidJSON], expected: str, got: str, text: str, pos: int
    ) -> InvalidJSON:
        place = self._fail_at(text, pos)
        where = f"at character {place['offset']}, in {short_path(place['path'])}"
        return kind(f"expected {expected} {got} {where}", expected=expected, **place)

    def _refuse(self, text: str, pos: int, expected: str = "") -> InvalidJSON:
        """Return the error for the character at `pos`."""
        got = f"but got {text[pos]!r}"
        return self._error(InvalidJSON, expected or self._expected(), got, text, pos)

    def _error_here(self, kind: type[InvalidJSON], expected: str, got: str) -> InvalidJSON:
        """Return an error between two pieces: right after all that was read or held."""
        return self._error(kind, expected, got, self._held, len(self._held))

    def _cut_error(
        self, kind: type[InvalidJSON], expected: str, cut: CutShort | None
    ) -> InvalidJSON:
        """Return the error of a text that ends here."""
        error = self._error_here(kind, expected, "but the text ended")
        return error if cut is None else truncated(cut, error)

    def _over(self, limit: str, bound: int, text: str, pos: int) -> LimitExceeded:
        place = self._fail_at(text, pos)
        where = f"at character {place['offset']}, in {short_path(place['path'])}"
        # Python itself bounds the digits of a number.
        hint = "" if limit == "number" else f": pass limits=Limits({limit}=...) to allow more"
        message = f"more than {bound} ({limit}) {where}"
        return LimitExceeded(message, hint=hint, limit=limit, **place)

    def _fail_at(self, text: str, pos: int) -> dict[str, Any]:
        """Close the stream; return offset, line, column and path of `text[pos]`."""
        self._closed = True
        offset, line, column = self._position(text, pos)
        in_value = self._state in (VALUE, FIRST_ELEMENT, COLON, STRING, DIGITS)
        path = path_of(self.frames, 0, len(self.frames) if in_value else len(self.frames) - 1)
        return {"offset": offset, "line": line, "column": column, "path": path}

    def _expected(self) -> str:
        """Return what could come next."""
        if self._state == AFTER:
            return self._expected_after()
        if self._held[:1] in LITERALS and self._state <= FIRST_ELEMENT:
            return repr(LITERALS[self._held[0]][0])
        return EXPECTED[self._state]

    def _expected_after(self) -> str:
        """Return what could come after a value."""
        if self._frame is None:
            return EXPECTED[END]
        return f"',' or {'}' if self._frame.is_object else ']'!r}"
