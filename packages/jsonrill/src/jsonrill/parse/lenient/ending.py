"""The end of the text: what is open is closed, or refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ...errors import InvalidJSON, LimitExceeded, Truncated
from ..expected import Expected
from ..machine import Machine
from ..states import (
    ASIDE,
    BARE_KEY,
    BARE_VALUE,
    BEFORE,
    BLOCK_COMMENT,
    BLOCK_STRING,
    CLOSING,
    CODE,
    END,
    FIRST_ELEMENT,
    IGNORED,
    KEY,
    LENIENT,
    LINE_COMMENT,
    ODD_KEY,
    ODD_STRING,
    PROSE,
    STRING,
    THOUGHTS,
    VALUE,
)
from . import patterns
from .by_schema import RereadSink, fits
from .strings import closes_bracket
from .words import ALL_WORDS

if TYPE_CHECKING:
    from .core import Leniency

# What is not tried on a string that a schema asks for as something else: it is complete.
_NOT_IN_STRINGS: Final = frozenset(
    ("leading-text", "trailing-text", "cut-off", "by-schema", "bare-values", "ellipses")
)

# What the states of leniency are to the strict machine; a comment is what it interrupted.
_STRICT: Final = {
    **dict.fromkeys((BEFORE, PROSE, THOUGHTS, ASIDE, CODE), VALUE),
    IGNORED: END,
    CLOSING: END,
    BARE_KEY: KEY,
    ODD_KEY: KEY,
    ODD_STRING: STRING,
    BLOCK_STRING: STRING,
    BARE_VALUE: VALUE,
}


class TextEnd:
    """Ends a text, wherever it stops."""

    __slots__ = ()

    def finish(self, m: Leniency) -> None:
        m._unread()
        m._last = True
        held, m._held = m._held, ""
        m._run(held)
        if m._passed is not None:
            m._read_quote()
        m._end_repair(m._offset + len(m._held))
        if m._state >= LENIENT:
            m._tail = b""  # half a character of text that is not read
        in_string = m._state in (STRING, ODD_STRING, BLOCK_STRING)
        if in_string and m._string_at != m._token:
            m.text.begin_text(m)  # of a string that had nothing unusual
        if m._state == STRING and m.text.tail_text[:1] in ("”", "’") and m._frames:
            self.end_curly(m)
        if m._state == CLOSING:
            m.brackets.end_root(m)
        if m._state == IGNORED:
            self.refuse_second(m)
        if m._state in (LINE_COMMENT, BLOCK_COMMENT):
            m.comments.refuse(m, m._held, len(m._held), Truncated, last=True)
        apostrophe = m._state == ODD_STRING and m.text.opened == "'" and not m._frames
        in_prose = m._state in (PROSE, ASIDE, CODE)
        self.strictly(m)
        if apostrophe:
            raise m._two_readings(
                "the text stopped in a string",
                "it begins with an apostrophe",
                m._held,
                len(m._held),
                Truncated,
            )
        is_open = m._frames or m._state == STRING
        if in_prose and not m._many:
            raise m._error_here(InvalidJSON, "a value", "but the text has none")
        if is_open and "cut-off" in m._rules and not m._cut:
            self.refuse_swallowed(m)
            m._may_repair("cut-off", m._held, len(m._held), 0)
            self.cut_off(m)
        else:
            Machine._finish(m)

    def refuse_second(self, m: Leniency) -> None:
        """A number, a text or a word after another; or after a bracket, in its line or alone.

        Or the value is part of a program that goes on after it.
        """
        second = patterns.SECOND_SCALAR if m.prose.is_scalar else patterns.SECOND_IN_LINE
        after = m.prose.trailing_text
        program = patterns.USES_NAME.search(f"{m.prose.introduction}\0{after}")
        if (second.search(after) or patterns.TAKES_BACK.search(after) or program) and not m._many:
            raise m._two_readings(
                "the value is before this", "it is in this text", m._held, len(m._held)
            )

    def end_curly(self, m: Leniency) -> None:
        """The text ends after a curly quote and brackets: `{"a": "b”}`."""
        tail, end = m.text.tail_text, len(m._held)
        closers = re.sub(r"\s", "", tail[1:])
        meant = closers == m.brackets.brackets(m)[::-1] and not m.quotes.opens_curly(m)
        if closers and meant and "curly-quotes" in m._rules:
            m._may_repair("curly-quotes", m._held, end)
            m.text.tail_text = ""
            m.text.finish_string(m, m._held, end - 1)
            m.quotes.replay(m, tail[1:], m._held, end)

    def refuse_swallowed(self, m: Leniency) -> None:
        """A string that only the end of the text ends may have swallowed what came after it."""
        text, end = m._held, len(m._held)
        if m._state == KEY:
            swallowed = re.search(r"[:{}\[\],]", m._begun) is not None
        elif m._state == STRING:
            swallowed = self.may_swallow(m)
        else:
            swallowed = False  # one before it: `refuse_open`
        if swallowed:
            raise m._two_readings(
                "the text stopped in a string", "a quote is missing", text, end, Truncated
            )
        m.brackets.refuse_open(m, text, end, Truncated)

    def may_swallow(self, m: Leniency) -> bool:
        """True if the string that is cut off has what may come after the value."""
        curly = m.text.tail_text[:1] == "”" and not m.quotes.opens_curly(m)
        # What a schema asks something else of is dropped.
        if m.quotes.quoted or curly or m.text.expected_here is not None:
            return bool(m.quotes.quoted or curly)
        shown = m.text.shown(m) + m.text.tail_text
        if m.text.lines_at != m._token:  # all line breaks in it are escaped
            shown = shown.replace("\n", " ")
        if patterns.AFTER_VALUE.search(shown) or closes_bracket(shown):
            return True
        return bool(m.brackets.swallows(m, shown))

    def cut_off(self, m: Leniency) -> None:
        """Close what is open. Half a key, escape or number is dropped, half a word has one end."""
        end = len(m._held)
        if m.text.expected_here is not None:  # half of what a schema asks for may be another value
            m.text.expected_here = None
            m._begun = ""
        elif m._state == STRING:
            m.text.finish_string(m, m._held, end - 1)
            if m._state == STRING:
                m._ended(end)
        elif m._held and m._state <= FIRST_ELEMENT:
            for word, value in ALL_WORDS:
                if word.startswith(m._held):
                    m._sink.scalar(value, None, m._offset)
                    break
        while m._frames:
            m._leave(end)

    def strictly(self, m: Leniency) -> None:
        """Be in the state of the strict machine that comes nearest to this one."""
        if m._state == LINE_COMMENT or m._state == BLOCK_COMMENT:
            m._state = m.comments.resume
        m._state = _STRICT.get(m._state, m._state)

    def read_again(self, m: Leniency, string: str, asked: Expected) -> tuple[bool, Any]:
        """True and the value that a string is nearly the JSON of, if a schema asks for it."""
        value = RereadSink()
        machine = type(m)(value, rules=m._rules - _NOT_IN_STRINGS, limits=m._limits)
        try:
            machine.feed(string)
            machine.flush()
        except (InvalidJSON, LimitExceeded):
            return False, None
        return fits(value.root, asked, string, m._limits.depth - len(m._frames))
