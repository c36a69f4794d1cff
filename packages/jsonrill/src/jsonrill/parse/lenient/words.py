"""Words without quotes, literals of other languages, and numbers: `+5`, `.5`, `5.`, `1_000`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..grammar import LITERALS
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
        ends = text[end] in ",\r\n" or text[end] == ("}" if m._object else "]")
        if text[end] == '"' and m._object and patterns.ONE_WORD.match(m._begun):
            seen = m._sees(lookahead.QUOTED_KEY, text, end)
            if seen is None:
                return m._hold(text, end)
            ends = seen
        if not ends:
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
        """A number that is written in another way, from the character on that JSON does not know.

        `+5`, `.5`, `5.`, `1_000`, `-Infinity`; or a word that begins like a number.
        """
        begun = m._begun if m._state == DIGITS else ""
        if begun == "-" and text[pos] == "I":
            return self.fix_infinity(m, text, pos)
        if not m._frames:
            return -1
        end = patterns.NUMBER_REST.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        number = begun + text[pos:end]
        known = patterns.ODD_NUMBER.match(number)
        if end == len(text):
            return m._hold(text, pos) if begun or known or not m._last else -1
        if text[end:] == "/" and not m._last:
            return m._hold(text, pos)
        ends = text[end] in ",]} \t\n\r" or self.ends_number(m, text, end)
        if ends and known and m._may_repair("numbers", text, pos):
            if not begun:
                m._token = m._offset + pos
            if len(number) > m._number_limit:
                raise m._over("number", m._number_limit, text, pos)
            whole, point, fraction = number.replace("_", "").lstrip("+").partition(".")
            if point:  # with digits around it, as JSON has them
                whole += "" if whole[-1:].isdecimal() else "0"
                self.point_at = -2 if fraction else m._offset + end
            m._begun = ""
            m._number_end = m._offset + end
            number = whole + point + (fraction or "0" if point else "")
            m._finish_number(number, number.lstrip("-").isdecimal(), text, end)
            return end
        rule = self.bare_rule(m)
        if rule and begun and not (ends and end == pos) and m._may_repair(rule, text, pos):
            m._passes = True
            m._stop = m._token + m._string_limit
            m._state = BARE_VALUE
            return pos
        return -1

    def fix_infinity(self, m: Leniency, text: str, pos: int) -> int:
        """-Infinity: the minus was read as that of a number."""
        end = m._fix_mark("nan", lookahead.WORD["Infinity"], text, pos)
        if end >= 0 and not m._held:
            m._begun = ""
            m._sink.scalar(None, None, m._token)
            m._ended(end)
        return end
