"""Between tokens: the rule for a character that fits nowhere, commas, fences, ellipses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...errors import InvalidJSON
from ..grammar import REMEMBERED, SPACE
from ..states import (
    AFTER,
    COLON,
    FIRST_ELEMENT,
    FIRST_KEY,
    LINE_COMMENT,
    NEXT_KEY,
    VALUE,
)
from . import lookahead, patterns
from .rules import QUOTES
from .words import WORDS

if TYPE_CHECKING:
    from .core import Leniency

_BEGINS_VALUE: Final = frozenset('"{[-0123456789tfn') | {word[0] for word in WORDS}
_PREFIXED: Final = "but got '{}' (if the answer begins before this text, pass prefix=\"{{\")"


class Tokens:
    """Chooses the rule for a character between tokens."""

    __slots__ = ()

    def fix(self, m: Leniency, text: str, pos: int, char: str) -> int:
        """Ask the reader for a character that fits nowhere; -1 if it has no answer."""
        if char in lookahead.ODD_SPACES:
            return pos + 1 if m._may_repair("odd-spaces", text, pos) else -1
        if char == "：" and m._state == COLON and m._may_repair("fullwidth", text, pos):
            m._state = VALUE
            return pos + 1
        if char == "，" and m._state == AFTER and m._may_repair("fullwidth", text, pos):
            m._add_comma()
            return pos + 1
        if char in QUOTES:
            return m.text.fix_quote(m, text, pos, char)
        if char in "+." and m._state <= FIRST_ELEMENT:
            end = m.words.fix_number(m, text, pos)
            if end >= 0:
                return end
        if not m._frames:
            return self.fix_odd_value(m, text, pos, char)
        # `""// no`, `""...`: an empty string and something else, or a string after its quotes.
        outside = m._string_at == m._token and m._offset + pos == m._token + 2
        if outside and char in "/#.…`":
            raise m._two_readings("this is no text", "a quote is misplaced", text, pos)
        if char == "/":
            return m.comments.begin_mark(m, text, pos)
        if char == "#" and m._may_repair("comments", text, pos):
            m.comments.begin(m, LINE_COMMENT)
            return pos + 1
        if char == "`":
            return self.fix_ticks(m, text, pos)
        if char == ":" or m._state == COLON:
            return -1
        if m._state == VALUE and m._object:  # after a colon: no value is invented
            return self.fix_odd_value(m, text, pos, char)
        if char == ",":
            return self.fix_comma(m, text, pos)
        if char in "]})":
            return m.brackets.fix_closer(m, text, pos, char)
        if char in ".…":
            return self.fix_ellipsis(m, text, pos)
        if m._state == AFTER:
            return self.fix_missing_comma(m, text, pos, char)
        if m._object:
            if char == "{" and m._state == NEXT_KEY:
                return m.brackets.fix_unclosed(m, text, pos)
            return m.words.fix_bare_key(m, text, pos)
        return self.fix_odd_value(m, text, pos, char)

    def fix_odd_value(self, m: Leniency, text: str, pos: int, char: str) -> int:
        if char == "(":
            return m.brackets.fix_tuple(m, text, pos)
        end = m.words.fix_word(m, text, pos)
        return end if end >= 0 else m.words.fix_bare_value(m, text, pos)

    def fix_ticks(self, m: Leniency, text: str, pos: int) -> int:
        """A fence that ends a value that was cut off, or begins one; or a string between ticks."""
        ticks = text[pos : pos + 3]
        if ticks != "```":
            if "```".startswith(ticks) and pos + len(ticks) == len(text):
                return m._hold(text, pos)
            return m.text.fix_quote(m, text, pos, "`") if m._state <= FIRST_ELEMENT else -1
        if m._state == VALUE and m._object:
            return m.text.open_block(m, "```", text, pos)
        return self.fix_closing_fence(m, text, pos)

    def fix_closing_fence(self, m: Leniency, text: str, pos: int) -> int:
        """A fence between tokens: the value was cut off before it."""
        if "cut-off" not in m._rules or "fences" not in m._rules:
            return -1
        if m._state == FIRST_KEY or m._state == FIRST_ELEMENT:
            raise m._two_readings("the text stopped here", "a quote is missing", text, pos)
        m.brackets.refuse_open(m, text, pos)
        m._may_repair("cut-off", text, pos, 0)
        while m._frames:
            m._leave(pos)
        return pos

    def fix_after(self, m: Leniency, text: str, pos: int) -> int:
        """Text after the value. A scalar that something of JSON follows is none."""
        if not m._many and m.brackets.root_end < 0:
            if text[pos] in ":：":
                raise m._error(
                    InvalidJSON, "the end of the text", _PREFIXED.format(text[pos]), text, pos
                )
            mark = m._sees(lookahead.MARK, text, pos)
            if mark is None:
                return m._hold(text, pos)
            adjacent = m._number_end == m._offset + pos and not mark
            sentence = m._position(text, pos)[1] == m.text.string_line
            sentence = sentence and not mark and text[pos] not in lookahead.ODD_SPACES
            if adjacent or sentence or text[pos] in ",:}]\"'{[，：":
                raise m._two_readings(
                    "this ends the value", "it is a part of something else", text, pos
                )
        return m.prose.after(m, text, pos)

    def fix_comma(self, m: Leniency, text: str, pos: int) -> int:
        """A comma too many. In a list a value may be missing before it."""
        if not m._object or (m._state == FIRST_KEY and len(m._frames) > 1):
            missing = "a bracket" if m._object else "a value"
            raise m._two_readings(
                "the comma is one too many", f"{missing} is missing before it", text, pos
            )
        return pos + 1 if m._may_repair("trailing-commas", text, pos) else -1

    def fix_missing_comma(self, m: Leniency, text: str, pos: int, char: str) -> int:
        """Go on as if a comma were here, unless a character beside it may be the wrong one."""
        quote = char == '"' or char in QUOTES
        if m._object:
            fits = quote or ("bare-keys" in m._rules and patterns.BARE_START.match(char))
        else:
            fits = quote or char in _BEGINS_VALUE
        if not fits or "missing-commas" not in m._rules:
            return -1
        after = SPACE.match(text, pos + 1).end() if quote else pos  # type: ignore[union-attr]
        in_reach = after - pos < REMEMBERED
        if quote and in_reach and after == len(text) and not m._last:
            return m._hold(text, pos)
        ended = m._closed_at >= m._token
        # [12"a"] may be a string without its quote, 12"" one after its quotes.
        doubt = m._number_end == m._offset + pos and (
            char not in "\"'" or not m._object or text[pos + 1 : pos + 2] == char
        )
        # The comma is in a string beside it, or meant by a point.
        doubt = doubt or (in_reach and text.startswith(",", after)) or m.words.point_at >= m._token
        string = m.text.last(m) if m._string_at == m._token and not ended else "-"
        doubt = doubt or string == ","
        # The bracket before it belongs after it, or elsewhere.
        doubt = doubt or (ended and m.brackets.trailing == m._closed_at)
        if not m._object:  # of two quotes one may be too many
            brackets = char in "{["
            doubt = doubt or brackets != ended or (ended and not m._closed[1]) or not string
        # In a tuple strings are joined, as in a program.
        if doubt or len(m._frames) in m._parens:
            raise m._two_readings(
                "a comma is missing here", "a character beside it is wrong", text, pos
            )
        m._may_repair("missing-commas", text, pos, 0)
        if m._object:
            m._seen = m._seen and {*m._seen}
        m._add_comma()
        m.brackets.comma_at = m._offset + pos
        return pos

    def fix_ellipsis(self, m: Leniency, text: str, pos: int) -> int:
        match = lookahead.ELLIPSIS.whole.match(text, pos)
        if match and "ellipses" in m._rules:
            first = m._state == FIRST_KEY or m._state == FIRST_ELEMENT
            seen = lookahead.after_brackets(text, match.end(), m._last, ellipsis=True)
            if seen is None and not first:
                return m._hold(text, pos)
            if seen is None or first or seen.then != "end":
                raise m._two_readings("there is nothing here", "values were left out", text, pos)
        end = m._fix_mark("ellipses", lookahead.ELLIPSIS, text, pos)
        if end >= 0 and not m._held and (m._state == NEXT_KEY or m._state == VALUE):
            m._take_comma_back()
        return end
