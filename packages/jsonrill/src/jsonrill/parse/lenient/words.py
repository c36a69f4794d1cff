"""Words: Python's literals, values that JSON does not have, keys and strings without quotes."""

from __future__ import annotations

from typing import Final

from ..grammar import LITERALS
from ..machine import Machine
from ..states import AFTER, BARE_KEY, BARE_VALUE, KEY
from . import lookahead, patterns
from .around import ProseMachine
from .by_schema import GuidedMachine, fitting

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


class WordMachine(GuidedMachine):
    """The machine that reads words, where they have one meaning."""

    __slots__ = ()

    @property
    def pending_text(self) -> str | None:
        """Text of the number or literal that is being read, else None; it may be a bare string."""
        text = ProseMachine.pending_text.__get__(self)
        return None if text is None or self._bare_rule() else text

    def _mend_word(self, text: str, pos: int) -> int:
        """True, None, NaN and their like."""
        for word, (value, rule) in WORDS.items():
            if text[pos] != word[0]:
                continue
            end = self._mend_mark(rule, lookahead.WORD[word], text, pos)
            if end >= 0:
                self._token = self._offset + pos
                if not self._held:
                    self._sink.scalar(value, None, self._token)
                    self._ended(end)
                return end
        return -1

    def _odd_literal(self, text: str, pos: int, word: str) -> int:
        end = self._mend_bare_value(text, pos)
        return end if end >= 0 else Machine._odd_literal(self, text, pos, word)

    def _mend_bare_key(self, text: str, pos: int) -> int:
        if not patterns.BARE_START.match(text, pos) or not self._may_repair("bare-keys", text, pos):
            return -1
        self._bare_keys = True
        self._open_string(BARE_KEY, text, pos)
        return pos

    def _bare_key(self, text: str, pos: int) -> int:
        end = patterns.BARE_KEY.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if self._offset + end > self._stop:
            raise self._over("string", self._string_limit, text, self._stop - self._offset)
        self._add(text[pos:end])
        if end == len(text):
            return end
        quote = 0
        if text[end] == '"':  # only the first quote was forgotten
            seen = self._sees(lookahead.COLON_AHEAD, text, end + 1)
            if seen is None:
                return self._hold(text, end)
            quote = 1 if seen else 0
        self._ends_repair("bare-keys", self._offset + end + quote)
        self._state = KEY
        self._end_key(text, end)
        return end + quote

    def _bare_rule(self) -> str:
        if "bare-values" in self._rules:
            return "bare-values"
        asked = self._asked()
        only_text = asked is not None and asked.types | {"null"} == {"string", "null"}
        return "by-schema" if only_text else ""

    def _mend_bare_value(self, text: str, pos: int) -> int:
        """A string without quotes, where the rule is named or the schema asks for a string."""
        rule = self._bare_rule()
        if not rule or not self._frames or not patterns.BARE_START.match(text, pos):
            return -1
        self._may_repair(rule, text, pos)
        self._open_string(BARE_VALUE, text, pos)
        return pos

    def _bare_value(self, text: str, pos: int) -> int:
        """In a string without quotes: it ends at a comma, a bracket or a line end."""
        end = patterns.BARE_VALUE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if self._offset + end > self._stop:
            raise self._over("string", self._string_limit, text, self._stop - self._offset)
        self._add(text[pos:end])
        if end == len(text):
            return end
        if text[end] == "/":  # and/or, but no comment
            if end + 1 == len(text) and not self._last:
                return self._hold(text, end)
            if text[end + 1 : end + 2] not in ("/", "*"):
                self._add("/")
                return end + 1
        wrong = text[end] in "}]" and text[end] != ("}" if self._object else "]")
        if wrong or text[end] not in ",}]\r\n":
            self._state = AFTER
            return Machine._unexpected(self, text, end)
        self._ends_repair(self._bare_rule(), self._offset + end)
        string, asked = self._take_begun().rstrip(" \t"), self._asked()
        found, value = fitting(string, asked, 0) if asked is not None else (False, None)
        self._emit_string(str(value) if found else string, self._token)
        self._state = AFTER
        return end
