"""Where a string ends: a quote in it ends it, or is part of its text.

Quotations have two quotes; one that is left alone means that a quote is missing or too many, and is
refused (`_inner_quote`). A key after a comma in a string shows that the quote before the comma was
forgotten (`_forgotten_quote`).
"""

from __future__ import annotations

from typing import Final

from ...errors import InvalidJSON
from ..machine import space_end
from ..states import AFTER, NOWHERE, STRING, VALUE
from . import lookahead, patterns
from .strings import StringMachine

# A quote between a number and one of these means inches.
_INCHES: Final = " .;)x×-"
# After these a quote opens something, if no space follows it.
_OPENS: Final = frozenset(",:;[{(")
_SWALLOWS: Final = ("}", "]", '"')
_REMEMBERED: Final = 64


class QuoteMachine(StringMachine):
    """The machine that tells the quote that ends a string from one in its text."""

    __slots__ = ()

    def _end_string(self, text: str, quote: int) -> int:
        """End the string at this quote, or take the quote as part of its text."""
        end = len(text)
        if self._string_at != self._token:
            self._begin_text()
        if self._offset + quote == self._token + 1 and text[quote] == '"' and self._blocks():
            if quote + 1 == end and not self._last:
                return self._hold(text, quote)
            if text.startswith('"', quote + 1):
                return self._open_block('"""', text, quote - 1)
        if not self._inner or not self._frames:
            return self._finish_string(text, quote)
        # Nearly every string ends in one of these ways, told without a shape.
        pos = quote + 1
        if pos < end and text[pos] in " \n\r\t":
            pos = space_end(text, pos)
        if pos < end and text[pos] == ",":
            pos += 1
            if pos < end and text[pos] in " \n\r\t":
                pos = space_end(text, pos)
            plain = pos < end and (text[pos] == '"' or (text[pos] == ")" and bool(self._parens)))
        else:
            plain = pos < end and (text[pos] in "}]" or (text[pos] == ")" and bool(self._parens)))
        plain = plain or (pos == end and self._last)
        if plain and not self._nest:
            if self._quotation:
                raise self._lone_quote(text, quote)
            return self._finish_string(text, quote)
        if pos == end and not self._last and end - quote < _REMEMBERED:
            return self._hold(text, quote)
        return self._doubtful_quote(text, quote)

    def _blocks(self) -> bool:
        return "block-strings" in self._rules and self._state == STRING

    def _doubtful_quote(self, text: str, quote: int) -> int:
        if not self._nest:
            ends = (
                lookahead.STRING_ENDS_IN_OBJECT if self._object else lookahead.STRING_ENDS_IN_ARRAY
            )
            seen = self._sees(ends, text, quote + 1)
            if seen is None:
                return self._hold(text, quote)
            if self._last and not self._object and not seen:
                seen = patterns.LAST_SCALAR.match(text, quote + 1) is not None
            if seen:
                if self._quotation:
                    raise self._lone_quote(text, quote)
                return self._finish_string(text, quote)
            if self._tail_text and text[quote] == '"':
                end = self._forgotten_quote(text, quote)
                if end >= 0:
                    return end
        return self._inner_quote(text, quote)

    def _lone_quote(self, text: str, quote: int) -> InvalidJSON:
        error: InvalidJSON = self._two_readings(
            "this quote ends the string", "it ends a quotation in it", text, quote
        )
        return error

    def _forgotten_quote(self, text: str, quote: int) -> int:
        """After a comma: this quote opens a key, and the one before the comma was forgotten."""
        tail = self._tail_text
        curly = tail[0] in "”’"
        opens = tail.rstrip()[-1:]
        if opens == "{" or (opens != "[" and (self._object or "}" in tail)):
            ahead = lookahead.KEY_AHEAD
        else:
            ahead = lookahead.CURLY_ELEMENT_AHEAD if curly else lookahead.ELEMENT_AHEAD
        seen = self._sees(ahead, text, quote + 1)
        if seen is None:
            return self._hold(text, quote)
        if curly and self._curly:
            raise self._lone_quote(text, quote)
        rule = "curly-quotes" if curly else "missing-quotes"
        if not seen or rule not in self._rules:
            return -1
        # After \" the backslash may be part of the text, and the quote its end.
        swallowed = self._shown.rstrip()[-1:] in _SWALLOWS or text[quote + 1] in ",:]}"
        swallowed = swallowed or self._shown[-1:].isspace()  # before the comma, or in the text
        # Where keys are bare, one may be in the text.
        swallowed = swallowed or self._bare_keys
        unsure = swallowed or self._quoted or not self._object
        if self._quotation or (not curly and unsure):
            raise self._two_readings(
                "a quote is missing before the comma", "the comma is part of the text", text, quote
            )
        self._may_repair(rule, text, quote, 0)
        self._tail_text = ""
        self._finish_string(text, quote)
        self._replay(tail[curly:], text, quote)
        return quote

    def _unclosed_key(self, text: str, quote: int) -> int:
        """`{"name:"Ada"}`: the quote before the colon was forgotten, this one opens the value."""
        key = self._begun.rstrip()
        if not key.endswith(":") or "missing-quotes" not in self._rules or text[quote] != '"':
            return -1
        colon = self._sees(lookahead.COLON_AHEAD, text, quote + 1)
        seen = False if colon else self._sees(lookahead.VALUE_AHEAD, text, quote + 1)
        if colon is None or seen is None:
            return self._hold(text, quote)
        if not seen or not patterns.PLAIN_KEY.match(key):
            return -1
        self._may_repair("missing-quotes", text, quote, 0)
        self._begun = key[:-1].rstrip()
        self._end_key(text, quote)
        self._state = VALUE
        return quote

    def _replay(self, tail: str, text: str, pos: int) -> None:
        """Read what was held back as the text of a string: a comma, or closing brackets."""
        for at, char in enumerate(tail, pos - len(tail)):
            if char == "," and self._state == AFTER:
                self._add_comma()
            elif char in "}]" and self._frames and self._closes(char, self._state):
                self._close(at)
            elif char in "{[" and self._state == VALUE and not self._object:
                self._open(text, at, char)
            elif not char.isspace():
                raise self._lone_quote(text, pos)

    def _inner_quote(self, text: str, quote: int) -> int:
        """A quote that is part of the text: it opens or closes a quotation, or means inches."""
        if "inner-quotes" not in self._rules:
            return self._finish_string(text, quote)
        char, after = text[quote], text[quote + 1 : quote + 2]
        before = (self._shown + self._tail_text)[-1:]
        if char not in "'’" or not (before.isalnum() and after.isalnum()):
            adjacent = self._inner_at == self._offset + quote - 1
            self._inner_run = self._inner_run + 1 if adjacent else 1
            if self._nest:
                if self._inner_run > 2:  # no JSON has three quotes in a row
                    raise self._lone_quote(text, quote)
                self._nest_string = not self._nest_string
            elif self._quotation:
                opens = before in _OPENS and not after.isspace()
                if before.isspace() or (after.isalnum() and not self._glued) or opens:
                    raise self._lone_quote(text, quote)
                if self._after_comma:
                    seen = self._sees(lookahead.COLON_AHEAD, text, quote + 1)
                    if seen is None:
                        return self._hold(text, quote)
                    if seen:  # `x], "key": [` may be no text at all
                        raise self._lone_quote(text, quote)
                self._quotation = False
            elif char == '"' and (self._low or self._curly) and not before.isspace():
                self._low = self._curly = False
            elif char == '"' and before.isalpha() and after.isalpha():
                self._quotation = self._glued = True
                self._after_comma = False
            elif not patterns.CLOSE_QUOTATION.match(before) and not patterns.NO_QUOTATION.match(
                after
            ):
                if after == char and not adjacent:
                    seen = self._sees_three(text, quote)
                    if seen is None:
                        return self._hold(text, quote)
                    if not seen:
                        raise self._lone_quote(text, quote)
                if before in ("{", "[") and char == '"':
                    ahead = lookahead.KEY_AHEAD if before == "{" else lookahead.ELEMENT_AHEAD
                    seen = self._sees(ahead, text, quote + 1)
                    if seen is None:
                        return self._hold(text, quote)
                    # "x}, {"a": the string has no end; "["true: a comma is missing after it
                    if not seen or patterns.NEXT_ELEMENT.search(self._shown):
                        raise self._lone_quote(text, quote)
                    self._nest = 1
                    self._nest_string = True
                else:
                    self._quotation = True
                    self._glued = False
                    shown = (self._shown + self._tail_text).rstrip()
                    self._after_comma = shown.endswith(",")
            elif not (char == '"' and after in _INCHES and self._ends_in_number()):
                raise self._lone_quote(text, quote)
        self._may_repair("inner-quotes", text, quote)
        self._quoted = False  # for `_take_text`
        self._take(char)
        self._quoted = True
        self._plain_at = NOWHERE
        self._inner_at = self._offset + quote
        return quote + 1

    def _ends_in_number(self) -> bool:
        """True if the text before a quote ends in a number: `5" nail`, but not `user1" x`."""
        return patterns.ENDS_IN_NUMBER.search(self._shown + self._tail_text) is not None

    def _sees_three(self, text: str, quote: int) -> bool | None:
        """True if three quotes are part of the text, as in a program.

        Two are two strings without a comma, or one quote that is written twice.
        """
        if text[quote + 2 : quote + 3] != text[quote]:
            return None if quote + 2 == len(text) and not self._last else False
        ends = lookahead.STRING_ENDS_IN_OBJECT if self._object else lookahead.STRING_ENDS_IN_ARRAY
        seen = self._sees(ends, text, quote + 3)
        return None if seen is None else not seen
