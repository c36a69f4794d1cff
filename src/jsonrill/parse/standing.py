"""Where the machine stands: position, path, what could come next, and the errors that say so.

It reads and judges nothing; `machine.py` does, and goes on from here.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from ..errors import InvalidJSON, LimitExceeded
from ..paths import Path, to_text
from .grammar import LITERALS, ZERO
from .states import AFTER, CLOSED, COLON, DIGITS, EXPECTED, FIRST_ELEMENT, STRING, VALUE


class Standing:
    """What one can say of a machine without reading on. Its fields are explained where they are
    made, in `Machine`."""

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
        "_state",
        "_token",
    )
    _begun: str
    _count: int
    _entry: int
    _frames: list[tuple[bool, str, int, set[str] | None]]
    _held: str
    _key: str
    _line: int
    _line_start: int
    _line_starts: list[int] | None
    _lined: int
    _number_state: int
    _object: bool
    _offset: int
    _state: int
    _token: int

    def _close_stream(self) -> None:
        self._entry = CLOSED

    def _count_lines(self, text: str, end: int) -> None:
        """Know the line of the character at `end` of this piece; each newline is counted once."""
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
    def pending_offset(self) -> int:
        """Where what is pending began: the character at the end of the text, if nothing is."""
        return self._offset if self.pending_text is None else self._token

    def _expected(self) -> str:
        if self._state == AFTER or (
            self._state == DIGITS and self._number_state >= ZERO and self._frames
        ):
            return f"',' or {'}' if self._object else ']'!r}"
        if self._held[:1] in LITERALS and self._state <= FIRST_ELEMENT:
            return repr(LITERALS[self._held[0]][0])
        return EXPECTED[self._state]

    def _path(self, *, value: bool) -> Path:
        """The path of the open container, or of the value in it that is being read."""
        path = [key if in_object else count for in_object, key, count, _ in self._frames[1:]]
        if value and self._frames:
            path.append(self._key if self._object else self._count)
        return tuple(path)

    def _error(
        self, kind: type[InvalidJSON], expected: str, got: str, text: str, pos: int
    ) -> InvalidJSON:
        place = self._place(text, pos)
        where = f"at character {place['offset']}, in {to_text(place['path'])}"
        return kind(f"expected {expected} {got} {where}", expected=expected, **place)

    def _error_here(self, kind: type[InvalidJSON], expected: str, got: str) -> InvalidJSON:
        """An error between two pieces: right after all that was read or held."""
        return self._error(kind, expected, got, self._held, len(self._held))

    def _over(self, limit: str, bound: int, text: str, pos: int) -> LimitExceeded:
        place = self._place(text, pos)
        where = f"at character {place['offset']}, in {to_text(place['path'])}"
        return LimitExceeded(f"more than {bound} ({limit}) {where}", limit=limit, **place)

    def _place(self, text: str, pos: int) -> dict[str, Any]:
        """Where the character at `pos` of this piece stands; whoever asks ends the stream."""
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
