"""Leniency: the strict machine with an answer where it refuses.

Each rule looks at the refused character, says where reading goes on and in which state, and is
reported. What cannot be told yet is held until it can (the shapes of `lookahead.py`). So valid JSON
never meets a rule, nothing is read twice, and nothing that was shown is taken back.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..grammar import (
    CUT_ESCAPE,
    ESCAPE,
    GOOD_ESCAPE,
    LITERALS,
    LONE_HIGH,
    MINUS,
    RECORD_END,
    unescape,
)
from ..machine import Machine
from ..sink import Sink
from ..states import (
    AFTER,
    BARE_KEY,
    BEFORE,
    BLOCK_COMMENT,
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
from . import lookahead
from .around import ProseMachine
from .rules import QUOTES

# Words that are no JSON, what they are read as, and by which rule.
_WORDS: Final[dict[str, tuple[bool | None, str]]] = {
    "True": (True, "python-literals"),
    "False": (False, "python-literals"),
    "None": (None, "python-literals"),
    "NaN": (None, "nan"),
    "Infinity": (None, "nan"),
    "undefined": (None, "nan"),
}
_ALL_WORDS: Final = (*LITERALS.values(), *((word, value) for word, (value, _) in _WORDS.items()))
_BEGINS_VALUE: Final = frozenset('"{[-0123456789tfn') | {word[0] for word in _WORDS}

_BARE: Final = re.compile(r"[\w$-]*")
_BARE_START: Final = re.compile(r"[\w$]")
# The quote that ends what an odd quote opens, and the plain text between them.
_CLOSERS: Final = {"'": "'", "“": "”", "‘": "’"}
_PLAIN: Final = {
    quote: re.compile(rf"[^{closer}\\\x00-\x1f]*") for quote, closer in _CLOSERS.items()
}

# What the states of leniency are to the strict machine; a comment is what it interrupted.
_STRICT: Final = {
    **dict.fromkeys((BEFORE, PROSE, THOUGHTS, FENCE), VALUE),
    IGNORED: END,
    BARE_KEY: KEY,
    ODD_KEY: KEY,
    ODD_STRING: STRING,
}


class LenientMachine(ProseMachine):
    """The machine with an answer where the strict one refuses."""

    __slots__ = ("_inner", "_opened")

    def __init__(self, sink: Sink, **options: Any) -> None:
        super().__init__(sink, **options)
        self._inner = "inner-quotes" in self._rules
        # The quote that opened an odd string.
        self._opened = ""

    def _unexpected(self, text: str, pos: int, expected: str = "") -> int:
        state, end = self._state, -1
        if state == DIGITS:
            end = self._mend_infinity(text, pos)
        elif state == END:
            end = self._mend_after(text, pos)
        elif state < STRING:
            end = self._mend(text, pos, text[pos])
        return end if end >= 0 else Machine._unexpected(self, text, pos, expected)

    def _skip(self, text: str, pos: int) -> int:
        if self._state == BARE_KEY:
            return self._bare_key(text, pos)
        if self._state == ODD_STRING or self._state == ODD_KEY:
            return self._odd_string(text, pos)
        return ProseMachine._skip(self, text, pos)

    def _outside(self) -> bool:
        return self._state != ODD_STRING and ProseMachine._outside(self)

    # ---- between tokens ----------------------------------------------------------------------

    def _mend(self, text: str, pos: int, char: str) -> int:
        if char in QUOTES:
            return self._mend_quote(text, pos, char)
        if not self._frames:
            return self._mend_word(text, pos)
        if char == "/":
            return self._mend_comment(text, pos)
        if char == "#":
            return self._mend_hash(text, pos)
        if char == "`":
            return self._mend_closing_fence(text, pos)
        if char == ":" or self._state == COLON:
            return -1
        if self._state == VALUE and self._object:  # after a colon: no value is invented
            return self._mend_word(text, pos)
        if char == ",":
            return pos + 1 if self._note("trailing-commas", text, pos) else -1
        if char in "]}":
            return self._mend_closer(text, pos, char)
        if char in ".…":
            return self._mend_ellipsis(text, pos)
        if self._state == AFTER:
            return self._mend_missing_comma(text, pos, char)
        return self._mend_bare_key(text, pos) if self._object else self._mend_word(text, pos)

    def _mend_hash(self, text: str, pos: int) -> int:
        if not self._note("comments", text, pos):
            return -1
        self._resume = self._state
        self._state = LINE_COMMENT
        return pos + 1

    def _mend_closing_fence(self, text: str, pos: int) -> int:
        """A fence between tokens: the value was cut off before it."""
        if "cut-off" not in self._rules or "fences" not in self._rules:
            return -1
        if lookahead.FENCE.whole.match(text, pos):
            self._note("cut-off", text, pos)
            self._close_all(pos)
            return pos
        return self._hold(text, pos) if lookahead.FENCE.cut.match(text, pos) else -1

    def _mend_closer(self, text: str, pos: int, char: str) -> int:
        """A bracket after a comma, or of the wrong kind: one is missing, or this is too many."""
        if self._state == NEXT_KEY or self._state == VALUE:
            if not self._note("trailing-commas", text, pos):
                return -1
            self._take_comma_back()
        if char == _closer(self._object):
            return pos
        if not self._note("brackets", text, pos):
            return -1
        if len(self._frames) > 1 and char == _closer(self._frames[-1][0]):
            self._close(pos)
            return pos
        return pos + 1

    def _mend_ellipsis(self, text: str, pos: int) -> int:
        end = self._mend_mark("ellipses", lookahead.ELLIPSIS, text, pos)
        if end >= 0 and not self._held and (self._state == NEXT_KEY or self._state == VALUE):
            self._take_comma_back()
        return end

    def _mend_missing_comma(self, text: str, pos: int, char: str) -> int:
        if self._object:
            fits = char == '"' or ("bare-keys" in self._rules and _BARE_START.match(char))
        else:
            # 2024-01-01 and 007 are no numbers with forgotten commas.
            fits = char in _BEGINS_VALUE and self._number_end != self._offset + pos
        if not fits or not self._note("missing-commas", text, pos):
            return -1
        self._add_comma()
        return pos

    def _add_comma(self) -> None:
        self._state = NEXT_KEY if self._object else VALUE
        self._count += not self._object

    def _take_comma_back(self) -> None:
        self._state = AFTER
        self._count -= not self._object

    # ---- keys and words ----------------------------------------------------------------------

    def _mend_bare_key(self, text: str, pos: int) -> int:
        if not _BARE_START.match(text, pos) or not self._note("bare-keys", text, pos):
            return -1
        self._open_string(BARE_KEY, text, pos)
        return pos

    def _bare_key(self, text: str, pos: int) -> int:
        end = _BARE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if self._offset + end > self._stop:
            raise self._over("string", self._string_limit, text, self._stop - self._offset)
        self._add(text[pos:end])
        if end < len(text):
            self._state = KEY
            self._end_key(text, end)
        return end

    def _mend_word(self, text: str, pos: int) -> int:
        """True, None, NaN and their like."""
        for word, (value, rule) in _WORDS.items():
            end = self._mend_mark(rule, lookahead.WORD[word], text, pos)
            if end >= 0:
                self._token = self._offset + pos
                if not self._held:
                    self._sink.scalar(value, None, self._token)
                    self._ended(end)
                return end
        return -1

    def _mend_infinity(self, text: str, pos: int) -> int:
        """-Infinity: the minus was read as that of a number."""
        if self._number_state != MINUS:
            return -1
        end = self._mend_mark("nan", lookahead.WORD["Infinity"], text, pos)
        if end >= 0 and not self._held:
            self._begun = ""
            self._sink.scalar(None, None, self._token)
            self._ended(end)
        return end

    # ---- strings -----------------------------------------------------------------------------

    def _mend_quote(self, text: str, pos: int, char: str) -> int:
        """A string or key in quotes that are not JSON's, perhaps after a missing comma."""
        if QUOTES[char] not in self._rules or self._state == COLON:
            return -1
        if self._state == AFTER:
            if not self._note("missing-commas", text, pos):
                return -1
            self._add_comma()
        self._note(QUOTES[char], text, pos)
        self._opened = char
        if self._state == FIRST_KEY or self._state == NEXT_KEY:
            return self._open_string(ODD_KEY, text, pos)
        self._sink.start_string(self._offset + pos)
        return self._open_string(ODD_STRING, text, pos)

    def _odd_string(self, text: str, pos: int) -> int:
        """In a string or key with odd quotes: take its characters, up to the one that ends it."""
        end = _PLAIN[self._opened].match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        end = max(pos, min(end, self._stop - self._offset))
        if end > pos:
            self._take(text[pos:end])
        if end == len(text):
            return end
        if text[end] == _CLOSERS[self._opened]:
            return self._end_odd_string(text, end)
        if self._offset + end >= self._stop:
            raise self._over("string", self._string_limit, text, end)
        return self._odd_text(text, end)

    def _odd_text(self, text: str, pos: int) -> int:
        """Between odd quotes: an escape of JSON's or of the quote, or a control character."""
        if text[pos] != "\\":
            return self._control(text, pos)
        closer = _CLOSERS[self._opened]
        if text.startswith(closer, pos + 1):
            self._take(closer)
            return pos + 2
        found = ESCAPE.match(text, pos)
        if found:
            self._take(unescape(found.group()))
            return found.end()
        return self._hold(text, pos) if CUT_ESCAPE.match(text, pos) else self._odd_escape(text, pos)

    def _end_odd_string(self, text: str, quote: int) -> int:
        if self._state == ODD_KEY:
            return self._end_key(text, quote)
        self._state = STRING
        end = self._end_string(text, quote)
        if self._state == STRING:  # a quote in the text, or one that cannot be told yet
            self._state = ODD_STRING
        return end

    def _take(self, run: str) -> None:
        if self._state == ODD_STRING:
            self._sink.text(run)
        else:
            Machine._take(self, run)

    def _escaped(self, text: str, pos: int) -> int:
        """Stay here until the string ends: its end would be sought anew after each repair."""
        while True:
            pos = Machine._escaped(self, text, pos)
            if pos == len(text) or (self._state != STRING and self._state != KEY):
                return pos

    def _end_string(self, text: str, quote: int) -> int:
        """A quote in a string: its end, or part of its text?"""
        if not self._inner or not self._frames:
            return Machine._end_string(self, text, quote)
        # Nearly every string ends in one of these ways, told without a pattern.
        pos, end = quote + 1, len(text)
        if pos < end and text[pos] == ",":
            pos += 1
            if pos < end and text[pos] == " ":
                pos += 1
            plain = pos < end and text[pos] in '"\n'
        else:
            plain = pos < end and text[pos] in "}]\n"
        if plain:
            self._sink.end_string()
            self._state = AFTER
            return quote + 1
        if pos == end and not self._last:
            return self._hold(text, quote)
        return self._doubtful_quote(text, quote)

    def _doubtful_quote(self, text: str, quote: int) -> int:
        ends = lookahead.STRING_ENDS_IN_OBJECT if self._object else lookahead.STRING_ENDS_IN_ARRAY
        seen = self._sees(ends, text, quote + 1)
        if seen is None:
            return self._hold(text, quote)
        if seen:
            return Machine._end_string(self, text, quote)
        self._note("inner-quotes", text, quote)
        self._take(text[quote])
        return quote + 1

    def _odd_escape(self, text: str, pos: int) -> int:
        """What follows a backslash and is no escape stays as it is, but for an apostrophe."""
        if LONE_HIGH.match(text, pos) or not self._note("bad-escapes", text, pos):
            return Machine._odd_escape(self, text, pos)
        if text[pos + 1] == "'":
            self._take("'")
            return pos + 2
        end = GOOD_ESCAPE.match(text, pos).end()  # type: ignore[union-attr]  # of any backslash
        self._take(text[pos:end])
        return end

    def _control(self, text: str, pos: int) -> int:
        """A control character in a string; with many documents a newline tells of a lost end."""
        if (self._many and RECORD_END.match(text, pos)) or not self._note(
            "raw-newlines", text, pos
        ):
            return Machine._control(self, text, pos)
        self._take(text[pos])
        return pos + 1

    # ---- the end -----------------------------------------------------------------------------

    def _finish(self) -> None:
        self._last = True
        held, self._held = self._held, ""
        self._run(held)
        if self._state >= LENIENT:
            self._tail = b""  # half a character of text that nobody reads
        self._strictly()
        is_open = self._frames or self._state == STRING
        if is_open and self._note("cut-off", self._held, len(self._held)):
            self._cut_off()
        else:
            Machine._finish(self)

    def _cut_off(self) -> None:
        """Close what is open. Half a key, escape or number is dropped, half a word has one end."""
        end = len(self._held)
        if self._state == STRING:
            self._sink.end_string()
            self._ended(end)
        elif self._held and self._state <= FIRST_ELEMENT:
            for word, value in _ALL_WORDS:
                if word.startswith(self._held):
                    self._sink.scalar(value, None, self._offset)
                    break
        self._close_all(end)

    def _close_all(self, pos: int) -> None:
        while self._frames:
            self._close(pos)

    def _strictly(self) -> None:
        """Be in the state of the strict machine that comes nearest to this one."""
        if self._state == LINE_COMMENT or self._state == BLOCK_COMMENT:
            self._state = self._resume
        self._state = _STRICT.get(self._state, self._state)

    def _place(self, text: str, pos: int) -> dict[str, Any]:
        self._strictly()
        return Machine._place(self, text, pos)


def _closer(is_object: bool) -> str:
    return "}" if is_object else "]"
