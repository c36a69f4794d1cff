"""Comments: `//`, `/* */`, and inside the value `#`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...errors import InvalidJSON
from ..states import BEFORE, BLOCK_COMMENT, LINE_COMMENT
from . import lookahead

if TYPE_CHECKING:
    from .core import Leniency

# There are two quotes in a row in a comment: they may belong around it.
_TWO_QUOTES: Final = -(10**9)


class Comments:
    """Passes over comments."""

    __slots__ = ("comment_closes", "comment_quoted", "comment_quotes", "resume")

    def __init__(self) -> None:
        # The state that the comment interrupted.
        self.resume = BEFORE
        # How many quotes it has, if its text so far ends in one, and if it has a closing bracket.
        self.comment_quotes = 0
        self.comment_closes = self.comment_quoted = False

    def begin_mark(self, m: Leniency, text: str, pos: int) -> int:
        end = m._fix_mark("comments", lookahead.COMMENT, text, pos)
        if end >= 0 and not m._held:
            self.begin(m, BLOCK_COMMENT if text[end - 1] == "*" else LINE_COMMENT)
        return end

    def begin(self, m: Leniency, state: int) -> None:
        self.resume = m._state
        m._state = state
        m._passes = True
        self.comment_quotes = 0
        self.comment_closes = self.comment_quoted = False

    def line(self, m: Leniency, text: str, pos: int) -> int:
        end = text.find("\n", pos)
        stop = len(text) if end < 0 else end
        part = text[pos:stop]
        self.comment_quotes += part.count('"')
        if '""' in part or (self.comment_quoted and part[:1] == '"'):
            self.comment_quotes = _TWO_QUOTES
        self.comment_quoted = part[-1:] == '"'
        self.comment_closes = self.comment_closes or "]" in part or "}" in part
        if end < 0:
            return stop
        m._end_repair(m._offset + end)
        self.refuse(m, text, end)
        m._state = self.resume
        return end

    def refuse(
        self,
        m: Leniency,
        text: str,
        pos: int,
        kind: type[InvalidJSON] = InvalidJSON,
        last: bool = False,
    ) -> None:
        """`[// no"]`: a comment, or a string without its first quote."""
        odd = self.comment_quotes % 2 or self.comment_quotes < 0
        if m._frames and (odd or (last and self.comment_closes)):
            raise m._two_readings("this is a comment", "a quote is missing", text, pos, kind)

    def block(self, m: Leniency, text: str, pos: int) -> int:
        end = text.find("*/", pos)
        if end < 0:
            part = text[pos:]
            self.comment_closes = self.comment_closes or "]" in part or "}" in part
            return m._hold(text, len(text) - 1) if text.endswith("*") else len(text)
        m._end_repair(m._offset + end + 2)
        m._state = self.resume
        return end + 2
