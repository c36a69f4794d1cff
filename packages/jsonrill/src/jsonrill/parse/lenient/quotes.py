"""Where a string ends: a quote in it ends it, or is part of its text.

Quotations have two quotes; one that is left alone means that a quote is missing or too many, and is
refused (`inner_quote`). A key after a comma in a string shows that the quote before the comma was
forgotten (`forgotten_quote`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...errors import InvalidJSON
from ..grammar import REMEMBERED, SPACE
from ..states import AFTER, STRING, VALUE
from . import lookahead, patterns
from .strings import closes_bracket

if TYPE_CHECKING:
    from .core import Leniency

# A quote between a number and one of these means inches.
_INCHES: Final = " .;)x×-"
# After these a quote opens something, if no space follows it.
_OPENS: Final = frozenset(",:;[{(")
_SWALLOWS: Final = ("}", "]", '"')
# As much of the text of a string is looked at.
_LONGEST: Final = 200


class Quotes:
    """Tells the quote that ends a string from one in its text."""

    __slots__ = ("glued", "inches", "mixed", "nest", "nest_string", "quotation", "quoted")

    def __init__(self) -> None:
        self.begin_text()

    def begin_text(self) -> None:
        """A string begins, or one that had nothing unusual so far."""
        # It had inner quotes; a quotation is open; it began in a word, so it may end in one.
        self.quoted = self.quotation = self.glued = False
        # How many brackets of JSON inside the string are open, and if a string is open there:
        # brackets in it do not count.
        self.nest = 0
        self.nest_string = False
        # It has quotes with and without a backslash; a quote that means inches.
        self.mixed = self.inches = False

    def note_text(self, m: Leniency, run: str) -> None:
        """Text of a string with inner quotes goes on."""
        if self.quoted and m._state == STRING and '"' in run:
            self.mixed = True
        if self.nest:
            for char in run:
                if self.nest and not self.nest_string and char in "{[}]":
                    self.nest += 1 if char in "{[" else -1

    def refuse_text(self, m: Leniency, text: str, quote: int) -> None:
        """At the end of a string: quotes in it that have two readings."""
        if m._string_at != m._token:
            return
        if self.mixed:
            raise m._two_readings("quotes are escaped", "some quotes are not", text, quote)
        if self.inches and patterns.ENDS_IN_NUMBER.search(m.text.ends_with(m)):
            raise self.lone_quote(m, text, quote)  # ["item 1" item 2"]

    def end_string(self, m: Leniency, text: str, quote: int) -> int:
        """End the string at this quote, or take the quote as part of its text."""
        end = len(text)
        if m._string_at != m._token:
            m.text.begin_text(m)
        if (
            m._offset + quote == m._token + 1
            and text[quote] == '"'
            and "block-strings" in m._rules
            and m._state == STRING
        ):
            if quote + 1 == end and not m._last:
                return m._hold(text, quote)
            if text.startswith('"', quote + 1):
                return m.text.open_block(m, '"""', text, quote - 1)
        if not m.text.inner or not m._frames:
            return m.text.finish_string(m, text, quote)
        if quote + 1 == end and not m._last:
            return m._hold(text, quote)
        if not self.nest:
            ends = self.ends_string(m, text, quote)
            if ends is None:
                return m._hold(text, quote)
            if ends:
                if self.quotation:
                    raise self.lone_quote(m, text, quote)
                return m.text.finish_string(m, text, quote)
            if m.text.tail_text and text[quote] == '"':
                end = self.forgotten_quote(m, text, quote)
                if end >= 0:
                    return end
        return self.inner_quote(m, text, quote)

    def ends_string(self, m: Leniency, text: str, quote: int) -> bool | None:
        """True if what follows this quote shows that it ends a string; None: more must come."""
        pos = SPACE.match(text, quote + 1).end()  # type: ignore[union-attr]  # may be empty
        comma = text.startswith(",", pos)
        if comma:
            pos = SPACE.match(text, pos + 1).end()  # type: ignore[union-attr]  # may be empty
        if pos == len(text):
            if m._last:
                return True
            if pos - quote < REMEMBERED:
                return None
        elif text[pos] in ('"' if comma else "}]"):
            return True
        if m._parens and patterns.TUPLE_ENDS.match(text, quote + 1):
            return True
        # Lists and objects differ.
        shape = lookahead.STRING_ENDS_IN_OBJECT if m._object else lookahead.STRING_ENDS_IN_ARRAY
        seen = m._sees(shape, text, quote + 1)
        if m._last and not m._object and not seen:
            seen = patterns.LAST_SCALAR.match(text, quote + 1) is not None
        return seen

    def opens_curly(self, m: Leniency) -> bool:
        """True if a curly or a low quote in the text that was emitted is not closed."""
        return patterns.OPEN_CURLY.search(m.text.shown(m)[-_LONGEST:]) is not None

    def lone_quote(self, m: Leniency, text: str, quote: int) -> InvalidJSON:
        """The refusal of a quote that may end the string, or a quotation in it."""
        return m._two_readings(
            "this quote ends the string", "it ends a quotation in it", text, quote
        )

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
        if curly and self.opens_curly(m):
            raise self.lone_quote(m, text, quote)
        rule = "curly-quotes" if curly else "missing-quotes"
        if not seen or rule not in m._rules:
            return -1
        # After \" the backslash may be part of the text, and the quote its end.
        shown = m.text.shown(m)[-_LONGEST:]
        swallowed = shown.rstrip()[-1:] in _SWALLOWS or text[quote + 1] in ",:]}"
        swallowed = swallowed or shown[-1:].isspace()  # before the comma, or in the text
        # Where keys are bare, one may be in the text.
        swallowed = swallowed or m._bare_keys or closes_bracket(m.text.whole(m))
        unsure = swallowed or self.quoted or not m._object
        if self.quotation or (not curly and unsure):
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
        char, end = text[quote], self.after_quotes(m, text, quote)
        if end < 0:
            return m._hold(text, quote)
        after = text[end : end + 1]
        string = m.text.ends_with(m)
        before = string[-1:]
        if char in "'’" and before.isalnum() and after.isalnum():
            pass
        elif self.nest:
            if end > quote + 1:  # no JSON has three quotes in a row
                raise self.lone_quote(m, text, quote)
            self.nest_string = not self.nest_string
        elif self.quotation:
            opens = before in _OPENS and not after.isspace()
            if before.isspace() or (after.isalnum() and not self.glued) or opens:
                raise self.lone_quote(m, text, quote)
            if string[: string.rfind(char)].rstrip()[-1:] == ",":
                seen = m._sees(lookahead.COLON_AHEAD, text, end)
                if seen is None:
                    return m._hold(text, quote)
                if seen:  # `x], "key": [` may be no text at all
                    raise self.lone_quote(m, text, quote)
            self.quotation = False
        elif char == '"' and self.opens_curly(m) and not before.isspace():
            pass
        elif char == '"' and before.isalpha() and after.isalpha():
            self.quotation = self.glued = True
        elif char == '"' and after in _INCHES and is_length(string):
            self.inches = True
        elif (
            patterns.CLOSE_QUOTATION.match(before)
            or patterns.NO_QUOTATION.match(after)
            or after == char
        ):
            raise self.lone_quote(m, text, quote)
        elif before in ("{", "[") and char == '"':
            ahead = lookahead.KEY_AHEAD if before == "{" else lookahead.ELEMENT_AHEAD
            seen = m._sees(ahead, text, quote + 1)
            if seen is None:
                return m._hold(text, quote)
            # "x}, {"a": the string has no end; "["true: a comma is missing after it
            if not seen or patterns.NEXT_ELEMENT.search(string):
                raise self.lone_quote(m, text, quote)
            self.nest = 1
            self.nest_string = True
        else:
            self.quotation = True
            self.glued = False
        m._may_repair("inner-quotes", text, quote)
        self.quoted = False  # for `note_text`
        m.text.take(m, text[quote:end])
        self.quoted = True
        m._careful_at = m._token
        return end

    def after_quotes(self, m: Leniency, text: str, quote: int) -> int:
        """Where the next one or three quotes end, as a program has them; -1: more must come."""
        if not text.startswith('""', quote):
            return quote + 1
        if quote + 2 == len(text) and not m._last:
            return -1
        three = text.startswith('"', quote + 2)
        ends = self.ends_string(m, text, quote + 2) if three else True
        return -1 if ends is None else quote + 1 if ends else quote + 3


def is_length(string: str) -> bool:
    """True for text that ends in a length: `a 5" nail`, but not `room 12" key`."""
    return bool(patterns.LENGTH.search(string)) and not patterns.LABEL.search(string)
