"""Words without quotes, literals of other languages, and numbers: `+5`, `.5`, `5.`, `1_000`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..grammar import FRACTION, INTEGER, LITERALS, MINUS, POINT, ZERO
from ..machine import Machine
from ..states import AFTER, BARE_KEY, BARE_VALUE, DIGITS, KEY
from . import lookahead, patterns
from .by_schema import fitting

if TYPE_CHECKING:
    from .core import Leniency

# Words that are no JSON, what they are read as, and by which rule.
WORDS: Final[dict[str, tuple[bool | None, str]]] = {
    "True": (True, "python-literals"),
    "TRUE": (True, "python-literals"),
    "False": (False, "python-literals"),
    "FALSE": (False, "python-literals"),
    "None": (None, "python-literals"),
    "Null": (None, "python-literals"),
    "NULL": (None, "python-literals"),
    "NaN": (None, "nan"),
    "Infinity": (None, "nan"),
    "undefined": (None, "nan"),
}
ALL_WORDS: Final = (*LITERALS.values(), *((word, value) for word, (value, _) in WORDS.items()))
_END_OF_NUMBER: Final = "\"'“‘[{)#`，：…" + lookahead.ODD_SPACES


class Words:
    """Reads words and numbers where they have one meaning."""

    __slots__ = ("point_at",)

    def __init__(self) -> None:
        self.point_at = -2

    def start_document(self, m: Leniency) -> None:
        # Where the last number ended that ends in a point.
        self.point_at = -2

    def fix_word(self, m: Leniency, text: str, pos: int) -> int:
        """True, None, NaN and their like."""
        for word, (value, rule) in WORDS.items():
            if text[pos] != word[0]:
                continue
            end = m._fix_mark(rule, lookahead.WORD[word], text, pos)
            if end >= 0:
                m._token = m._offset + pos
                if not m._held:
                    m._sink.scalar(value, None, m._token)
                    m._ended(end)
                return end
        return -1

    def odd_literal(self, m: Leniency, text: str, pos: int, word: str) -> int:
        """A word that began as a literal: `truth`, `nullable`; for `True` see `fix_word`."""
        end = self.fix_bare_value(m, text, pos)
        return end if end >= 0 else Machine._odd_literal(m, text, pos, word)

    def fix_bare_key(self, m: Leniency, text: str, pos: int) -> int:
        if not patterns.BARE_START.match(text, pos) or not m._may_repair("bare-keys", text, pos):
            return -1
        m._bare_keys = m._passes = True
        m._open_string(BARE_KEY, text, pos)
        return pos

    def bare_key(self, m: Leniency, text: str, pos: int) -> int:
        end = patterns.BARE_KEY.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if m._offset + end > m._stop:
            raise m._over("string", m._string_limit, text, m._stop - m._offset)
        m._add(text[pos:end])
        if end == len(text):
            return end
        quote = 0
        if text[end] == '"':  # only the first quote was forgotten
            seen = m._sees(lookahead.COLON_AHEAD, text, end + 1)
            if seen is None:
                return m._hold(text, end)
            quote = 1 if seen else 0
        m._end_repair(m._offset + end + quote)
        m._state = KEY
        m._end_key(text, end)
        return end + quote

    def bare_rule(self, m: Leniency) -> str:
        if "bare-values" in m._rules:
            return "bare-values"
        asked = m.schema.asked(m)
        only_text = asked is not None and asked.types | {"null"} == {"string", "null"}
        return "by-schema" if only_text else ""

    def fix_bare_value(self, m: Leniency, text: str, pos: int) -> int:
        """A string without quotes, where the rule is named or the schema asks for a string."""
        rule = self.bare_rule(m)
        if not rule or not m._frames or not patterns.BARE_START.match(text, pos):
            return -1
        m._passes = m._may_repair(rule, text, pos)
        m._open_string(BARE_VALUE, text, pos)
        return pos

    def bare_value(self, m: Leniency, text: str, pos: int) -> int:
        """In a string without quotes: it ends at a comma, a bracket or a line end."""
        end = patterns.BARE_VALUE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if m._offset + end > m._stop:
            raise m._over("string", m._string_limit, text, m._stop - m._offset)
        m._add(text[pos:end])
        if end == len(text):
            return end
        if text[end] == "/":  # and/or, but no comment
            if end + 1 == len(text) and not m._last:
                return m._hold(text, end)
            if text[end + 1 : end + 2] not in ("/", "*"):
                m._add("/")
                return end + 1
        wrong = text[end] in "}]" and text[end] != ("}" if m._object else "]")
        if wrong or text[end] not in ",}]\r\n":
            m._state = AFTER
            return Machine._unexpected(m, text, end)
        m._end_repair(m._offset + end)
        string, asked = m._take_begun().rstrip(" \t"), m.schema.asked(m)
        fits, value = fitting(string, asked, 0) if asked is not None else (False, None)
        m.schema.emit_string(m, str(value) if fits else string, m._token)
        m._state = AFTER
        return end

    def ends_number(self, m: Leniency, text: str, pos: int) -> bool:
        if m._frames:
            comment = text[pos] == "/" and text[pos + 1 : pos + 2] in ("/", "*")
            return comment or text[pos] in _END_OF_NUMBER
        return Machine._ends_number(m, text, pos) or text[pos] in "`/" + lookahead.ODD_SPACES

    def fix_number(self, m: Leniency, text: str, pos: int) -> int:
        """In a number: `-Infinity`, `-.5`, `5.`, `1_000`, a comment right after it, a bare word."""
        state, char, after = m._number_state, text[pos], text[pos + 1 : pos + 2]
        if state == MINUS and char == "I":
            return self.fix_infinity(m, text, pos)
        if not m._frames:
            return -1
        if char in "._/" and not after and not m._last:
            return m._hold(text, pos)
        on = "numbers" in m._rules
        if on and state == MINUS and char == "." and after.isdecimal():
            m._may_repair("numbers", text, pos)
            m._add("0")
            m._number_state = ZERO
            return pos
        ends = char in ",]} \t\n\r" or self.ends_number(m, text, pos)
        if on and state == POINT and ends:
            m._may_repair("numbers", text, pos)
            self.point_at = m._offset + pos
            m._add("0")
            m._number_state = FRACTION
            return pos
        if on and char == "_" and state in (INTEGER, FRACTION) and after.isdecimal():
            m._may_repair("numbers", text, pos)
            return pos + 1
        rule = self.bare_rule(m)
        if rule and not ends and m._may_repair(rule, text, pos):
            m._passes = True
            begun = m._take_begun()
            m._stop = m._token + m._string_limit
            m._state = BARE_VALUE
            m._begun = begun
            return pos
        return -1

    def fix_sign(self, m: Leniency, text: str, pos: int, char: str) -> int:
        """`+5` and `.5`"""
        if not m._frames or "numbers" not in m._rules:
            return -1
        after = text[pos + 1 : pos + 2]
        if not after and not m._last:
            return m._hold(text, pos)
        if not (after.isdecimal() or (char == "+" and after == ".")):
            return -1
        m._may_repair("numbers", text, pos)
        if char == ".":
            m._token = m._offset + pos
            m._stop = m._token + m._number_limit
            m._state = DIGITS
            m._number_state = POINT
            m._begun = "0."
        return pos + 1

    def fix_infinity(self, m: Leniency, text: str, pos: int) -> int:
        """-Infinity: the minus was read as that of a number."""
        end = m._fix_mark("nan", lookahead.WORD["Infinity"], text, pos)
        if end >= 0 and not m._held:
            m._begun = ""
            m._sink.scalar(None, None, m._token)
            m._ended(end)
        return end
