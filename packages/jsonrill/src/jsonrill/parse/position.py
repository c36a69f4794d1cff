"""Where a machine is in its text and in the document, and the errors that say so.

The strict machine and the repairing one are both a `Position`. They read, and keep these fields up
to date; nothing is read here.
"""

from __future__ import annotations

from typing import Any

from ..errors import InvalidJSON, LimitExceeded
from ..paths import Path, short_path
from .sink import Frame, path_of


class Position:
    """The stack of open containers, the offset, and the lines of a text."""

    __slots__ = ("_frame", "_line", "_line_start", "_lined", "_offset", "frames")

    def _start(self) -> None:
        # Not __init__: calling that of a base class is slow when compiled.
        self.frames: list[Frame] = []
        # The last of them, None outside the root.
        self._frame: Frame | None = None
        # The offset of the first character that is not yet read.
        self._offset = 0
        # The line and where it begins, for all newlines before `_lined`.
        self._line = 1
        self._line_start = 0
        self._lined = 0

    def _push(self, is_object: bool) -> None:
        frame = self._frame = Frame(is_object)
        self.frames.append(frame)

    def _pop(self) -> None:
        self.frames.pop()
        self._frame = self.frames[-1] if self.frames else None

    def _count_lines(self, text: str, end: int) -> None:
        """Count the lines up to the character at `end` of this piece; each newline once."""
        start = max(0, self._lined - self._offset)
        if end <= start:
            return
        self._line += text.count("\n", start, end)
        last = text.rfind("\n", start, end)
        if last >= 0:
            self._line_start = self._offset + last + 1
        self._lined = self._offset + end

    @property
    def path(self) -> Path:
        """The path of the value that is being read, or comes next."""
        return path_of(self.frames, 0, len(self.frames))

    def _error(
        self, kind: type[InvalidJSON], expected: str, got: str, text: str, pos: int
    ) -> InvalidJSON:
        place = self._place(text, pos)
        where = f"at character {place['offset']}, in {short_path(place['path'])}"
        return kind(f"expected {expected} {got} {where}", expected=expected, **place)

    def _over(self, limit: str, bound: int, text: str, pos: int) -> LimitExceeded:
        place = self._place(text, pos)
        where = f"at character {place['offset']}, in {short_path(place['path'])}"
        # Python itself bounds the digits of a number.
        remedy = "" if limit == "number" else f": pass limits=Limits({limit}=...) to allow more"
        return LimitExceeded(f"more than {bound} ({limit}) {where}{remedy}", limit=limit, **place)

    def _place(self, text: str, pos: int) -> dict[str, Any]:
        """Return offset, line, column and path of `text[pos]`, and refuse what follows."""
        self._count_lines(text, pos)
        offset = self._offset + pos
        in_value = self._fail()
        path = path_of(self.frames, 0, len(self.frames) if in_value else len(self.frames) - 1)
        column = offset - self._line_start + 1
        return {"offset": offset, "line": self._line, "column": column, "path": path}

    def _fail(self) -> bool:
        """Refuse what follows. Return whether a value, not a container, is being read."""
        raise NotImplementedError
