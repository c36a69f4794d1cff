"""Leniency: the strict machine with an answer where it refuses.

Each rule looks at the refused character, says where reading goes on and in which state, and is
reported. What cannot be told yet is held until it can (the shapes of `lookahead.py`). So valid JSON
never meets a rule, nothing is read twice, and nothing that was shown is taken back.

A reading is taken only if it is the only sensible one. Brackets and quotes can look like two; each
has a module of its own. Here is what chooses the rule for a character between tokens, what is done
about commas, and the end of the text.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ...errors import InvalidJSON, LimitExceeded, Truncated
from ..expected import Expected
from ..grammar import SPACE
from ..machine import Machine
from ..states import (
    AFTER,
    ASIDE,
    BARE_KEY,
    BARE_VALUE,
    BEFORE,
    BLOCK_COMMENT,
    BLOCK_STRING,
    CLOSING,
    CODE,
    COLON,
    DIGITS,
    END,
    FENCE,
    FIRST_ELEMENT,
    FIRST_KEY,
    IGNORED,
    KEY,
    LENIENT,
    LINE_COMMENT,
    NEXT_KEY,
    ODD_KEY,
    ODD_STRING,
    PROSE,
    STRING,
    THOUGHTS,
    VALUE,
)
from . import lookahead, patterns
from .around import ProseMachine
from .brackets import ANY_CLOSER, BracketMachine
from .by_schema import ValueSink, fits
from .rules import QUOTES
from .words import ALL_WORDS, WORDS

_BEGINS_VALUE: Final = frozenset('"{[-0123456789tfn') | {word[0] for word in WORDS}
_PREFIXED: Final = "but got '{}' (if the answer begins before this text, pass prefix=\"{{\")"
_REMEMBERED: Final = 64
# What is not tried on a string that a schema asks for as something else: it is complete.
_NOT_IN_STRINGS: Final = frozenset(
    ("leading-text", "trailing-text", "cut-off", "by-schema", "bare-values", "ellipses")
)

# What the states of leniency are to the strict machine; a comment is what it interrupted.
_STRICT: Final = {
    **dict.fromkeys((BEFORE, PROSE, THOUGHTS, FENCE, ASIDE, CODE), VALUE),
    IGNORED: END,
    CLOSING: END,
    BARE_KEY: KEY,
    ODD_KEY: KEY,
    ODD_STRING: STRING,
    BLOCK_STRING: STRING,
    BARE_VALUE: VALUE,
}


class LenientMachine(BracketMachine):
    """The machine with an answer where the strict one refuses."""

    __slots__ = ()

    def _unexpected(self, text: str, pos: int, expected: str = "") -> int:
        state, end = self._state, -1
        if state == DIGITS:
            end = self._mend_number(text, pos)
        elif state == END:
            end = self._mend_after(text, pos)
        elif state < STRING:
            end = self._mend(text, pos, text[pos])
        return end if end >= 0 else Machine._unexpected(self, text, pos, expected)

    def _skip(self, text: str, pos: int) -> int:
        state = self._state
        if state == BARE_KEY:
            return self._bare_key(text, pos)
        if state == ODD_STRING or state == ODD_KEY:
            return self._odd_string(text, pos)
        if state == CLOSING:
            return self._closing(text, pos)
        if state == BLOCK_STRING:
            return self._block_string(text, pos)
        if state == BARE_VALUE:
            return self._bare_value(text, pos)
        return ProseMachine._skip(self, text, pos)

    def _outside(self) -> bool:
        strings = (ODD_STRING, BLOCK_STRING, BARE_VALUE)
        return self._state not in strings and ProseMachine._outside(self)

    # ---- between tokens --------------------------------------------------------------------

    def _mend(self, text: str, pos: int, char: str) -> int:
        if char in lookahead.ODD_SPACES:
            return pos + 1 if self._may_repair("odd-spaces", text, pos) else -1
        if char in "：，" and self._frames:
            return self._mend_fullwidth(text, pos, char)
        if char in QUOTES:
            return self._mend_quote(text, pos, char)
        if char in "+." and self._state <= FIRST_ELEMENT:
            end = self._mend_sign(text, pos, char)
            if end >= 0:
                return end
        if not self._frames:
            return self._mend_tuple(text, pos) if char == "(" else self._mend_word(text, pos)
        if char == "/":
            end = self._mend_comment(text, pos)
            if end >= 0 and not self._held:
                self._refuse_outside(text, pos)
            return end
        if char == "#":
            return self._mend_hash(text, pos)
        if char == "`":
            return self._mend_ticks(text, pos)
        if char == ":" or self._state == COLON:
            return -1
        if self._state == VALUE and self._object:  # after a colon: no value is invented
            return self._mend_odd_value(text, pos, char)
        if char == ",":
            return self._mend_comma(text, pos)
        if char in "]})":
            return self._mend_closer(text, pos, char)
        if char in ".…":
            return self._mend_ellipsis(text, pos)
        if self._state == AFTER:
            return self._mend_missing_comma(text, pos, char)
        if self._object:
            if char == "{" and self._state == NEXT_KEY:
                return self._mend_missing_brace(text, pos)
            return self._mend_bare_key(text, pos)
        return self._mend_odd_value(text, pos, char)

    def _mend_odd_value(self, text: str, pos: int, char: str) -> int:
        if char == "(":
            return self._mend_tuple(text, pos)
        end = self._mend_word(text, pos)
        return end if end >= 0 else self._mend_bare_value(text, pos)

    def _mend_fullwidth(self, text: str, pos: int, char: str) -> int:
        fits = self._state == COLON if char == "：" else self._state == AFTER
        if not fits or not self._may_repair("fullwidth", text, pos):
            return -1
        if char == "：":
            self._state = VALUE
        else:
            self._add_comma()
        return pos + 1

    def _mend_hash(self, text: str, pos: int) -> int:
        if not self._may_repair("comments", text, pos):
            return -1
        self._refuse_outside(text, pos)
        self._begin_comment(LINE_COMMENT)
        return pos + 1

    def _refuse_outside(self, text: str, pos: int) -> None:
        """`""// no`, `""...`: an empty string and something else, or a string after its quotes."""
        if self._string_at == self._token and self._offset + pos == self._token + 2:
            raise self._two_readings("this is no text", "a quote is misplaced", text, pos)

    def _mend_ticks(self, text: str, pos: int) -> int:
        """A fence that ends a value that was cut off; or a string between ticks."""
        fence = lookahead.FENCE
        if not fence.whole.match(text, pos) and fence.cut.match(text, pos):
            return self._hold(text, pos)
        is_fence = fence.whole.match(text, pos) is not None
        if self._state == VALUE and self._object:
            if is_fence:
                return self._open_block("```", text, pos)
            return self._mend_quote(text, pos, "`")
        if is_fence:
            return self._mend_closing_fence(text, pos)
        return self._mend_quote(text, pos, "`") if self._state <= FIRST_ELEMENT else -1

    def _mend_closing_fence(self, text: str, pos: int) -> int:
        """A fence between tokens: the value was cut off before it."""
        if "cut-off" not in self._rules or "fences" not in self._rules:
            return -1
        if self._state == FIRST_KEY or self._state == FIRST_ELEMENT:
            raise self._two_readings("the text stopped here", "a quote is missing", text, pos)
        if self._last_string()[-1:] in ANY_CLOSER:
            raise self._bracket_in_string(text, pos)
        if self._shallower:
            raise self._two_readings(
                "the text stopped here", "a bracket before was wrong", text, pos
            )
        if self._has_repeats():
            raise self._key_twice(text, pos)
        self._may_repair("cut-off", text, pos, 0)
        self._close_all(text, pos)
        return pos

    def _mend_after(self, text: str, pos: int) -> int:
        """Text after the value. A scalar that something of JSON follows is none."""
        if not self._many and self._root_end < 0:
            if text[pos] in ":：":
                raise self._error(
                    InvalidJSON, "the end of the text", _PREFIXED.format(text[pos]), text, pos
                )
            mark = self._sees(lookahead.MARK, text, pos)
            if mark is None:
                return self._hold(text, pos)
            adjacent = self._number_end == self._offset + pos and not mark
            sentence = self._position(text, pos)[1] == self._string_line
            sentence = sentence and not mark and text[pos] not in lookahead.ODD_SPACES
            if adjacent or sentence or text[pos] in ",:}]\"'{[，：":
                raise self._two_readings(
                    "this ends the value", "it is a part of something else", text, pos
                )
        return ProseMachine._mend_after(self, text, pos)

    # ---- commas ----------------------------------------------------------------------------

    def _mend_comma(self, text: str, pos: int) -> int:
        """A comma too many. In a list a value may be missing before it."""
        if not self._object or (self._state == FIRST_KEY and len(self._frames) > 1):
            missing = "a bracket" if self._object else "a value"
            raise self._two_readings(
                "the comma is one too many", f"{missing} is missing before it", text, pos
            )
        return pos + 1 if self._may_repair("trailing-commas", text, pos) else -1

    def _mend_missing_comma(self, text: str, pos: int, char: str) -> int:
        quote = char == '"' or char in QUOTES
        if self._object:
            fits = quote or ("bare-keys" in self._rules and patterns.BARE_START.match(char))
        else:
            fits = quote or char in _BEGINS_VALUE
        if not fits or "missing-commas" not in self._rules:
            return -1
        if self._number_end == self._offset + pos:
            if char not in "\"'" or not self._object:  # [12"a"] may be a string without its quote
                return -1
            if pos + 1 == len(text) and not self._last:
                return self._hold(text, pos)
            if text[pos + 1 : pos + 2] == char:  # 12"" may be a string after its quotes, too
                return -1
        if quote:
            after = SPACE.match(text, pos + 1).end()  # type: ignore[union-attr]  # may be empty
            if after == len(text) and after - pos < _REMEMBERED and not self._last:
                return self._hold(text, pos)
            char = "," if text.startswith(",", after) and after - pos < _REMEMBERED else char
        if char == "," or self._ends_in_comma():
            raise self._two_readings(
                "a comma is missing here", "it is in a string beside it", text, pos
            )
        if self._trailing == self._last_closed >= self._token:
            raise self._two_readings(
                "a comma is missing here", "the bracket before it belongs after it", text, pos
            )
        scalar = self._last_closed < self._token
        mixed = not self._object and scalar == (char in "{[")
        if mixed or (not scalar and not self._last_size and not self._object):
            raise self._two_readings(
                "a comma is missing here", "a bracket is in the wrong place", text, pos
            )
        self._mend_no_comma(text, pos)
        return pos

    def _ends_in_comma(self) -> bool:
        """True if the last token is a string that ends in a comma: a quote may be misplaced."""
        is_last = self._string_at == self._token > self._last_closed
        return is_last and self._shown.rstrip().endswith(",")

    def _mend_ellipsis(self, text: str, pos: int) -> int:
        found = lookahead.ELLIPSIS.whole.match(text, pos)
        if found and "ellipses" in self._rules:
            first = self._state == FIRST_KEY or self._state == FIRST_ELEMENT
            closes = None if first else lookahead.closes_next(text, found.end(), self._last)
            if closes is None and not first:
                return self._hold(text, pos)
            if not closes:
                raise self._two_readings("there is nothing here", "values were left out", text, pos)
        end = self._mend_mark("ellipses", lookahead.ELLIPSIS, text, pos)
        if end >= 0 and not self._held:
            self._refuse_outside(text, pos)
        if end >= 0 and not self._held and (self._state == NEXT_KEY or self._state == VALUE):
            self._take_comma_back()
        return end

    # ---- the end ---------------------------------------------------------------------------

    def _finish(self) -> None:
        self._last = True
        held, self._held = self._held, ""
        self._run(held)
        if self._state == IGNORED:
            self._ends_repair("trailing-text", self._offset)
        if self._state >= LENIENT:
            self._tail = b""  # half a character of text that is not read
        if self._plain_at == self._token != self._string_at:
            self._begin_text()  # of a string that had nothing unusual
        if self._state == STRING and self._tail_text[:1] in ("”", "’") and self._frames:
            self._end_curly()
        if self._state == CLOSING:
            self._end_root()
        if self._state == IGNORED and self._root_end < 0:
            self._refuse_second_number()
        if self._state == LINE_COMMENT:
            self._refuse_comment(self._held, len(self._held), Truncated, last=True)
        in_string = self._state in (STRING, ODD_STRING, BLOCK_STRING)
        quoted = in_string and self._string_at == self._token
        apostrophe = self._state == ODD_STRING and self._opened == "'" and not self._frames
        in_prose = self._state in (PROSE, ASIDE, CODE)
        self._strictly()
        if apostrophe:
            raise self._two_readings(
                "the text stopped in a string",
                "it begins with an apostrophe",
                self._held,
                len(self._held),
                Truncated,
            )
        is_open = self._frames or self._state == STRING
        if in_prose and not self._many:
            raise self._error_here(InvalidJSON, "a value", "but the text has none")
        if is_open and "cut-off" in self._rules and not self._cut:
            self._refuse_swallowed(quoted)
            self._may_repair("cut-off", self._held, len(self._held), 0)
            self._cut_off()
        else:
            Machine._finish(self)

    def _refuse_second_number(self) -> None:
        """`1`, a line of dashes, `2`: two values."""
        if self._trailing_digits and not self._trailing_letters and not self._many:
            raise self._two_readings(
                "the value is before this", "it is in this text", self._held, len(self._held)
            )

    def _end_curly(self) -> None:
        """The text ends after a curly quote and brackets: `{"a": "b”}`."""
        tail, end = self._tail_text, len(self._held)
        closers = re.sub(r"\s", "", tail[1:])
        meant = closers == self._brackets()[::-1] and not self._curly
        if closers and meant and "curly-quotes" in self._rules:
            self._may_repair("curly-quotes", self._held, end)
            self._tail_text = ""
            self._finish_string(self._held, end - 1)
            self._replay(tail[1:], self._held, end)

    def _refuse_swallowed(self, in_string: bool) -> None:
        """A string that only the end of the text ends may have swallowed what came after it."""
        text, end = self._held, len(self._held)
        if self._state == KEY:
            swallowed = re.search(r"[:{}\[\],]", self._begun) is not None
        elif self._state == STRING:
            closer = (self._shown + self._tail_text).rstrip()[-1:] in ANY_CLOSER
            # What a schema asks something else of is dropped.
            closer = closer and self._expected_here is None
            curly = self._tail_text[:1] == "”" and not self._curly
            unsure = self._quoted or self._after_value or self._closed_in_text or closer or curly
            swallowed = in_string and unsure
        else:
            swallowed = self._last_string()[-1:] in ANY_CLOSER
        if swallowed:
            raise self._two_readings(
                "the text stopped in a string", "a quote is missing", text, end, Truncated
            )
        if self._shallower:
            raise self._two_readings(
                "the text stopped early", "a bracket before was wrong", text, end, Truncated
            )
        if self._has_repeats():
            raise self._key_twice(text, end, Truncated)
        self._refuse_doubled(text, end, Truncated)
        if len(self._frames) == 1:
            self._refuse_shifted(text, end, Truncated)

    def _cut_off(self) -> None:
        """Close what is open. Half a key, escape or number is dropped, half a word has one end."""
        end = len(self._held)
        if self._expected_here is not None:  # half of what a schema asks for may be another value
            self._expected_here = None
            self._begun = ""
        elif self._state == STRING:
            self._finish_string(self._held, end - 1)
            if self._state == STRING:
                self._ended(end)
        elif self._held and self._state <= FIRST_ELEMENT:
            for word, value in ALL_WORDS:
                if word.startswith(self._held):
                    self._sink.scalar(value, None, self._offset)
                    break
        while self._frames:
            self._leave(end)

    def _read_again(self, string: str, asked: Expected) -> tuple[bool, Any]:
        """True and the value that a string is nearly the JSON of, if a schema asks for it."""
        value = ValueSink()
        machine = LenientMachine(value, rules=self._rules - _NOT_IN_STRINGS, limits=self._limits)
        try:
            machine.feed(string)
            machine.flush()
        except (InvalidJSON, LimitExceeded):
            return False, None
        return fits(value.root, asked, string, self._limits.depth - len(self._frames))

    def _strictly(self) -> None:
        """Be in the state of the strict machine that comes nearest to this one."""
        if self._state == LINE_COMMENT or self._state == BLOCK_COMMENT:
            self._state = self._resume
        self._state = _STRICT.get(self._state, self._state)

    def _fail_at(self, text: str, pos: int) -> dict[str, Any]:
        self._strictly()
        return Machine._fail_at(self, text, pos)
