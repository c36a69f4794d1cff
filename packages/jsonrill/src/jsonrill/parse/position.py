"""The position of a machine: offset, line, path, what could come next, and errors with these.

Nothing is read here: the strict machine and the repairing one read, and keep these fields up to
date. What both offer is declared here, too.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from ..errors import CutShort, InvalidJSON, LimitExceeded
from ..paths import Path, short_path
from .grammar import LITERALS, START, ZERO
from .sink import Repair, Sink
from .states import (
    AFTER,
    CLOSED,
    COLON,
    DIGITS,
    END,
    EXPECTED,
    FIRST_ELEMENT,
    HELD,
    KEY,
    READY,
    STRING,
    VALUE,
)


class Position:
    """The part of a machine that says where it is and builds errors."""

    __slots__ = (
        "_begun",
        "_count",
        "_entry",
        "_frames",
        "_held",
        "_key",
        "_line",
        "_line_start",
        "_line_starts",
        "_lined",
        "_number_state",
        "_object",
        "_offset",
        "_sink",
        "_state",
        "_stop",
        "_token",
    )

    def _start(self) -> None:
        # What a compiled class cannot do in an `__init__` without a slow call to it.
        self._entry = READY
        self._state = VALUE
        # The open container: whether it is an object, its last key, and how many keys or elements
        # it has before this value. The containers around it are in `_frames`.
        self._object = False
        self._key = ""
        self._count = 0
        self._frames: list[tuple[bool, str, int]] = []
        # The token being read: its offset and its text so far.
        self._token = 0
        self._begun = ""
        self._number_state = START
        # A cut escape or literal, which waits for the next piece.
        self._held = ""
        # The offset at which the limit of the open string is reached.
        self._stop = 0
        # The offset of the first character that is not yet read.
        self._offset = 0
        # The line and where it begins, for all newlines before `_lined`.
        self._line = 1
        self._line_start = 0
        self._line_starts: list[int] | None = None
        self._lined = 0

    def feed(self, data: str | bytes) -> None:
        """Read one piece, whatever it contains."""
        raise NotImplementedError

    def flush(self, cut: CutShort | None = None) -> None:
        """End the text."""
        raise NotImplementedError

    def tell(self, sink: Sink) -> None:
        """Emit to `sink` from the next event on."""
        self._sink = sink

    def put_before(self, prefix: str) -> None:
        """Read `prefix` before the first piece; it does not count for offsets."""
        self._held = prefix
        self._offset = -len(prefix)
        self._entry = HELD

    def limit_text(self, offset: int, size: int) -> None:
        """Allow `size` characters from the one at `offset` on; no piece may be longer than that."""
        raise NotImplementedError

    @property
    def document(self) -> int:
        """The number of the document, from 0."""
        return 0

    @property
    def errors(self) -> list[InvalidJSON | LimitExceeded]:
        """The errors that ended some of many documents early, in order."""
        return []

    @property
    def repairs(self) -> list[Repair]:
        """The repairs, in order."""
        return []

    def _close_stream(self) -> None:
        self._entry = CLOSED

    def _count_lines(self, text: str, end: int) -> None:
        """Count the lines up to the character at `end` of this piece; each newline once."""
        start = max(0, self._lined - self._offset)
        if end > start:
            self._line += text.count("\n", start, end)
            last = text.rfind("\n", start, end)
            if last >= 0:
                self._line_start = self._offset + last + 1
            if self._line_starts is not None:
                at = text.find("\n", start, end)
                while at >= 0:
                    self._line_starts.append(self._offset + at + 1)
                    at = text.find("\n", at + 1, end)
            self._lined = self._offset + end

    def keep_lines(self, keep: bool) -> None:
        """Remember where lines begin, from this one on, for `line_and_column`; or no longer."""
        self._line_starts = [self._line_start] if keep else None

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Line and column of a character that was read after `keep_lines`."""
        starts = self._line_starts
        assert starts is not None
        after = bisect_right(starts, offset)
        return self._line - len(starts) + after, offset - starts[after - 1] + 1

    @property
    def pending(self) -> tuple[Path, str] | None:
        """Path and text of the number or literal that is being read, else None."""
        text = self.pending_text
        return None if text is None else (self.pending_path, text)

    def is_pending(self) -> bool:
        """False if no number, literal or key is being read: then nothing else need be asked."""
        state = self._state
        return state in (DIGITS, KEY) or (state <= FIRST_ELEMENT and self._held != "")

    @property
    def pending_path(self) -> Path:
        """The path of the value that is being read, or comes next."""
        path: Path = self._path(value=True)
        return path

    @property
    def pending_text(self) -> str | None:
        """Text of the number or literal that is being read, else None."""
        if self._state == DIGITS:
            return self._begun
        if self._state <= FIRST_ELEMENT and self._held[:1].isalpha():
            return self._held
        return None

    @property
    def pending_key(self) -> tuple[str, int] | None:
        """Text so far and offset of the key that is being read, else None."""
        return (self._begun, self._token) if self._state == KEY else None

    @property
    def last_key(self) -> str | None:
        """The last complete key of the open object, else None."""
        return self._key if self._object and self._count else None

    @property
    def pending_offset(self) -> int:
        """The offset at which what is pending begins, or of the next character if nothing is."""
        return self._offset if self.pending_text is None else self._token

    def _expected(self) -> str:
        ended = self._state == DIGITS and self._number_state >= ZERO
        if ended and not self._frames:
            return EXPECTED[END]
        if ended or self._state == AFTER:
            return f"',' or {'}' if self._object else ']'!r}"
        if self._held[:1] in LITERALS and self._state <= FIRST_ELEMENT:
            return repr(LITERALS[self._held[0]][0])
        return EXPECTED[self._state]

    def _path(self, *, value: bool) -> Path:
        """The path of the open container, or of the value in it that is being read."""
        path = [key if in_object else count for in_object, key, count in self._frames[1:]]
        if value and self._frames:
            path.append(self._key if self._object else self._count)
        return tuple(path)

    def _error(
        self, kind: type[InvalidJSON], expected: str, got: str, text: str, pos: int
    ) -> InvalidJSON:
        place = self._fail_at(text, pos)
        where = f"at character {place['offset']}, in {short_path(place['path'])}"
        return kind(f"expected {expected} {got} {where}", expected=expected, **place)

    def _error_here(self, kind: type[InvalidJSON], expected: str, got: str) -> InvalidJSON:
        """An error between two pieces: right after all that was read or held."""
        return self._error(kind, expected, got, self._held, len(self._held))

    def _over(self, limit: str, bound: int, text: str, pos: int) -> LimitExceeded:
        place = self._fail_at(text, pos)
        where = f"at character {place['offset']}, in {short_path(place['path'])}"
        # Python itself bounds the digits of a number.
        remedy = "" if limit == "number" else f": pass limits=Limits({limit}=...) to allow more"
        return LimitExceeded(f"more than {bound} ({limit}) {where}{remedy}", limit=limit, **place)

    def _fail_at(self, text: str, pos: int) -> dict[str, Any]:
        """Offset, line, column and path of `text[pos]` for an error. Side effect: closes the
        stream."""
        self._close_stream()
        offset, line, column = self._position(text, pos)
        in_value = self._state in (VALUE, FIRST_ELEMENT, COLON, STRING, DIGITS)
        path = self._path(value=in_value)
        return {"offset": offset, "line": line, "column": column, "path": path}

    def _position(self, text: str, pos: int) -> tuple[int, int, int]:
        """Offset, line and column of the character at `pos` of this piece."""
        self._count_lines(text, pos)
        offset = self._offset + pos
        return offset, self._line, offset - self._line_start + 1
