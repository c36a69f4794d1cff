"""Numbers: `+5`, `.5`, `5.`, `1_000`, `-Infinity`, and what may end one."""

from __future__ import annotations

from typing import Final

from ..grammar import FRACTION, INTEGER, MINUS, POINT, ZERO
from ..machine import Machine
from ..states import BARE_VALUE, DIGITS
from . import lookahead
from .words import WordMachine

_END_OF_NUMBER: Final = "\"'“‘[{)#`，：…" + lookahead.ODD_SPACES


class NumberMachine(WordMachine):
    """The machine that reads numbers in other ways of writing, if they can mean nothing else."""

    __slots__ = ("_point_at",)

    def _start_document(self) -> None:
        WordMachine._start_document(self)
        # Where the last number ended that ends in a point.
        self._point_at = -2

    def _ends_number(self, text: str, pos: int) -> bool:
        if self._frames:
            comment = text[pos] == "/" and text[pos + 1 : pos + 2] in ("/", "*")
            return comment or text[pos] in _END_OF_NUMBER
        return Machine._ends_number(self, text, pos) or text[pos] in "`/" + lookahead.ODD_SPACES

    def _mend_number(self, text: str, pos: int) -> int:
        """In a number: `-Infinity`, `-.5`, `5.`, `1_000`, a comment right after it, a bare word."""
        state, char, after = self._number_state, text[pos], text[pos + 1 : pos + 2]
        if state == MINUS and char == "I":
            return self._mend_infinity(text, pos)
        if not self._frames:
            return -1
        if char in "._/" and not after and not self._last:
            return self._hold(text, pos)
        on = "numbers" in self._rules
        if on and state == MINUS and char == "." and after.isdecimal():
            self._may_repair("numbers", text, pos)
            self._add("0")
            self._number_state = ZERO
            return pos
        ends = char in ",]} \t\n\r" or self._ends_number(text, pos)
        if on and state == POINT and ends:
            self._may_repair("numbers", text, pos)
            self._point_at = self._offset + pos
            self._add("0")
            self._number_state = FRACTION
            return pos
        if on and char == "_" and state in (INTEGER, FRACTION) and after.isdecimal():
            self._may_repair("numbers", text, pos)
            return pos + 1
        rule = self._bare_rule()
        if rule and not ends and self._may_repair(rule, text, pos):
            begun = self._take_begun()
            self._stop = self._token + self._string_limit
            self._state = BARE_VALUE
            self._begun = begun
            return pos
        return -1

    def _mend_sign(self, text: str, pos: int, char: str) -> int:
        """`+5` and `.5`"""
        if not self._frames or "numbers" not in self._rules:
            return -1
        after = text[pos + 1 : pos + 2]
        if not after and not self._last:
            return self._hold(text, pos)
        if not (after.isdecimal() or (char == "+" and after == ".")):
            return -1
        self._may_repair("numbers", text, pos)
        if char == ".":
            self._token = self._offset + pos
            self._stop = self._token + self._number_limit
            self._state = DIGITS
            self._number_state = POINT
            self._begun = "0."
        return pos + 1

    def _mend_infinity(self, text: str, pos: int) -> int:
        """-Infinity: the minus was read as that of a number."""
        end = self._mend_mark("nan", lookahead.WORD["Infinity"], text, pos)
        if end >= 0 and not self._held:
            self._begun = ""
            self._sink.scalar(None, None, self._token)
            self._ended(end)
        return end
