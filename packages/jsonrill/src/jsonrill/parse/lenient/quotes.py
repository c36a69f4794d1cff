"""Where a string ends: a quote in it ends it, or is part of its text.

Quotations have two quotes; one that is left alone means that a quote is missing or too many, and is
refused (`inner_quote`). A key after a comma in a string shows that the quote before the comma was
forgotten (`forgotten_quote`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...errors import InvalidJSON
from ..machine import space_end
from ..states import AFTER, NOWHERE, STRING, VALUE
from . import lookahead, patterns

if TYPE_CHECKING:
    from .core import Leniency

# A quote between a number and one of these means inches.
_INCHES: Final = " .;)x×-"
# After these a quote opens something, if no space follows it.
_OPENS: Final = frozenset(",:;[{(")
_SWALLOWS: Final = ("}", "]", '"')
_REMEMBERED: Final = 64


class Quotes:
    """Tells the quote that ends a string from one in its text."""

    __slots__ = ()

    def end_string(self, m: Leniency, text: str, quote: int) -> int:
        """End the string at this quote, or take the quote as part of its text."""
        end = len(text)
        if m.text.string_at != m._token:
            m.text.begin_text(m)
        if m._offset + quote == m._token + 1 and text[quote] == '"' and self.blocks(m):
            if quote + 1 == end and not m._last:
                return m._hold(text, quote)
            if text.startswith('"', quote + 1):
                return m.text.open_block(m, '"""', text, quote - 1)
        if not m.text.inner or not m._frames:
            return m.text.finish_string(m, text, quote)
        # Nearly every string ends in one of these ways, told without a shape.
        pos = quote + 1
        if pos < end and text[pos] in " \n\r\t":
            pos = space_end(text, pos)
        if pos < end and text[pos] == ",":
            pos += 1
            if pos < end and text[pos] in " \n\r\t":
                pos = space_end(text, pos)
            plain = pos < end and (text[pos] == '"' or (text[pos] == ")" and bool(m._parens)))
        else:
            plain = pos < end and (text[pos] in "}]" or (text[pos] == ")" and bool(m._parens)))
        plain = plain or (pos == end and m._last)
        if plain and not m.text.nest:
            if m.text.quotation:
                raise self.lone_quote(m, text, quote)
            return m.text.finish_string(m, text, quote)
        if pos == end and not m._last and end - quote < _REMEMBERED:
            return m._hold(text, quote)
        return self.doubtful_quote(m, text, quote)

    def blocks(self, m: Leniency) -> bool:
        return "block-strings" in m._rules and m._state == STRING

    def doubtful_quote(self, m: Leniency, text: str, quote: int) -> int:
        if not m.text.nest:
            ends = lookahead.STRING_ENDS_IN_OBJECT if m._object else lookahead.STRING_ENDS_IN_ARRAY
            seen = m._sees(ends, text, quote + 1)
            if seen is None:
                return m._hold(text, quote)
            if m._last and not m._object and not seen:
                seen = patterns.LAST_SCALAR.match(text, quote + 1) is not None
            if seen:
                if m.text.quotation:
                    raise self.lone_quote(m, text, quote)
                return m.text.finish_string(m, text, quote)
            if m.text.tail_text and text[quote] == '"':
                end = self.forgotten_quote(m, text, quote)
                if end >= 0:
                    return end
        return self.inner_quote(m, text, quote)

    def lone_quote(self, m: Leniency, text: str, quote: int) -> InvalidJSON:
        error: InvalidJSON = m._two_readings(
            "this quote ends the string", "it ends a quotation in it", text, quote
        )
        return error

    def forgotten_quote(self, m: Leniency, text: str, quote: int) -> int:
        """After a comma: this quote opens a key, and the one before the comma was forgotten."""
        tail = m.text.tail_text
        curly = tail[0] in "”’"
        opens = tail.rstrip()[-1:]
        if opens == "{" or (opens != "[" and (m._object or "}" in tail)):
            ahead = lookahead.KEY_AHEAD
        else:
            ahead = lookahead.CURLY_ELEMENT_AHEAD if curly else lookahead.ELEMENT_AHEAD
        seen = m._sees(ahead, text, quote + 1)
        if seen is None:
            return m._hold(text, quote)
        if curly and m.text.curly:
            raise self.lone_quote(m, text, quote)
        rule = "curly-quotes" if curly else "missing-quotes"
        if not seen or rule not in m._rules:
            return -1
        # After \" the backslash may be part of the text, and the quote its end.
        swallowed = m._shown.rstrip()[-1:] in _SWALLOWS or text[quote + 1] in ",:]}"
        swallowed = swallowed or m._shown[-1:].isspace()  # before the comma, or in the text
        # Where keys are bare, one may be in the text.
        swallowed = swallowed or m._bare_keys or m.text.closed_in_text
        unsure = swallowed or m.text.quoted or not m._object
        if m.text.quotation or (not curly and unsure):
            raise m._two_readings(
                "a quote is missing before the comma", "the comma is part of the text", text, quote
            )
        m._may_repair(rule, text, quote, 0)
        m.text.tail_text = ""
        m.text.finish_string(m, text, quote)
        self.replay(m, tail[curly:], text, quote)
        return quote

    def unclosed_key(self, m: Leniency, text: str, quote: int) -> int:
        """`{"name:"Ada"}`: the quote before the colon was forgotten, this one opens the value."""
        key = m._begun.rstrip()
        if not key.endswith(":") or "missing-quotes" not in m._rules or text[quote] != '"':
            return -1
        colon = m._sees(lookahead.COLON_AHEAD, text, quote + 1)
        seen = False if colon else m._sees(lookahead.VALUE_AHEAD, text, quote + 1)
        if colon is None or seen is None:
            return m._hold(text, quote)
        if not seen or not patterns.PLAIN_KEY.match(key):
            return -1
        m._may_repair("missing-quotes", text, quote, 0)
        m._begun = key[:-1].rstrip()
        m._end_key(text, quote)
        m._state = VALUE
        return quote

    def replay(self, m: Leniency, tail: str, text: str, pos: int) -> None:
        """Read what was held back as the text of a string: a comma, or closing brackets."""
        for at, char in enumerate(tail, pos - len(tail)):
            if char == "," and m._state == AFTER:
                m._add_comma()
            elif char in "}]" and m._frames and m._closes(char, m._state):
                m._close(at)
            elif char in "{[" and m._state == VALUE and not m._object:
                m._open(text, at, char)
            elif not char.isspace():
                raise self.lone_quote(m, text, pos)

    def inner_quote(self, m: Leniency, text: str, quote: int) -> int:
        """A quote that is part of the text: it opens or closes a quotation, or means inches.

        Its length: one after another, the readings of a quote, of which the first that fits counts.
        """
        if "inner-quotes" not in m._rules:
            return m.text.finish_string(m, text, quote)
        char, after = text[quote], text[quote + 1 : quote + 2]
        before = (m._shown + m.text.tail_text)[-1:]
        if char not in "'’" or not (before.isalnum() and after.isalnum()):
            adjacent = m.text.inner_at == m._offset + quote - 1
            m.text.inner_run = m.text.inner_run + 1 if adjacent else 1
            if m.text.nest:
                if m.text.inner_run > 2:  # no JSON has three quotes in a row
                    raise self.lone_quote(m, text, quote)
                m.text.nest_string = not m.text.nest_string
            elif m.text.quotation:
                opens = before in _OPENS and not after.isspace()
                if before.isspace() or (after.isalnum() and not m.text.glued) or opens:
                    raise self.lone_quote(m, text, quote)
                if m.text.after_comma:
                    seen = m._sees(lookahead.COLON_AHEAD, text, quote + 1)
                    if seen is None:
                        return m._hold(text, quote)
                    if seen:  # `x], "key": [` may be no text at all
                        raise self.lone_quote(m, text, quote)
                m.text.quotation = False
            elif char == '"' and (m.text.low or m.text.curly) and not before.isspace():
                m.text.low = m.text.curly = False
            elif char == '"' and before.isalpha() and after.isalpha():
                m.text.quotation = m.text.glued = True
                m.text.after_comma = False
            elif not patterns.CLOSE_QUOTATION.match(before) and not patterns.NO_QUOTATION.match(
                after
            ):
                if after == char and not adjacent:
                    seen = self.sees_three(m, text, quote)
                    if seen is None:
                        return m._hold(text, quote)
                    if not seen:
                        raise self.lone_quote(m, text, quote)
                if before in ("{", "[") and char == '"':
                    ahead = lookahead.KEY_AHEAD if before == "{" else lookahead.ELEMENT_AHEAD
                    seen = m._sees(ahead, text, quote + 1)
                    if seen is None:
                        return m._hold(text, quote)
                    # "x}, {"a": the string has no end; "["true: a comma is missing after it
                    if not seen or patterns.NEXT_ELEMENT.search(m._shown):
                        raise self.lone_quote(m, text, quote)
                    m.text.nest = 1
                    m.text.nest_string = True
                else:
                    m.text.quotation = True
                    m.text.glued = False
                    shown = (m._shown + m.text.tail_text).rstrip()
                    m.text.after_comma = shown.endswith(",")
            elif char == '"' and after in _INCHES and self.ends_in_number(m):
                m.text.inches = True
            else:
                raise self.lone_quote(m, text, quote)
        m._may_repair("inner-quotes", text, quote)
        m.text.quoted = False  # for `_take_text`
        m.text.take(m, char)
        m.text.quoted = True
        m._plain_at = NOWHERE
        m.text.inner_at = m._offset + quote
        return quote + 1

    def ends_in_number(self, m: Leniency) -> bool:
        """True if the text before a quote ends in a number: `5" nail`, but not `user1" x`."""
        return patterns.ENDS_IN_NUMBER.search(m._shown + m.text.tail_text) is not None

    def sees_three(self, m: Leniency, text: str, quote: int) -> bool | None:
        """True if three quotes are part of the text, as in a program.

        Two are two strings without a comma, or one quote that is written twice.
        """
        if text[quote + 2 : quote + 3] != text[quote]:
            return None if quote + 2 == len(text) and not m._last else False
        ends = lookahead.STRING_ENDS_IN_OBJECT if m._object else lookahead.STRING_ENDS_IN_ARRAY
        seen = m._sees(ends, text, quote + 3)
        return None if seen is None else not seen
