"""Text → events: the state machine that reads JSON. No I/O, no recursion.

The machine keeps a state (what it expects, or is inside of) and a stack of open containers, so it
can stop after any character and go on with the next piece. The pieces `{"a": [tr` and `ue]}`:

    {      FIRST_KEY       start_object, with a new frame on the stack
    "a"    KEY, COLON      key "a", which the frame keeps
    :      VALUE
    [      FIRST_ELEMENT   start_array, with a frame for the array
    tr                     not decided yet: kept in `_held`, no event
    ue     AFTER           read as `tr` + `ue`: scalar True
    ]      AFTER           end_container, and the frame of the array is popped
    }      END             end_container, complete

A string is different: its text is emitted as it arrives, one `text` event for each piece, and only
half an escape is held.

Rule 1: nesting and grammar are checked here and in `tokens.py`; a `Sink` trusts its events.
Rule 2: a method consumes what it can and returns where it stopped. What it cannot decide yet (half
        an escape, half a literal) it leaves in `_held`, at most eleven characters, which are read
        again in front of the next piece.
Rule 3: `repair.py` is a machine of its own. Nothing here knows about it.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import Any

from ..errors import DEFAULT_LIMITS, CutShort, InvalidJSON, Limits, Truncated
from .grammar import ESCAPE_START, LITERALS, NUMBER
from .position import Position
from .sink import Sink
from .states import DIGITS, END, FIRST_ELEMENT, KEY, STRING, VALUE
from .tokens import Tokens


class Machine(Tokens):
    """The strict machine: RFC 8259, events emitted to the sink before `feed` returns."""

    __slots__ = ()

    def __init__(
        self,
        sink: Sink,
        limits: Limits = DEFAULT_LIMITS,
        parse_float: Any = float,
        prefix: str = "",
    ) -> None:
        self._start(sink, VALUE, limits, parse_float, prefix)

    @property
    def pending_text(self) -> str | None:
        """The text of the number or literal that is being read, else None."""
        if self._state == DIGITS:
            return self._token_text
        if self._state <= FIRST_ELEMENT and self._held[:1].isalpha():
            return self._held
        return None

    def _run(self, text: str) -> None:
        pos, end = 0, len(text)
        self._budget = 4 * end
        while pos < end:
            start = pos
            if self._state == STRING or self._state == KEY:
                pos = self._text(text, pos, end)
                if pos < end and text[pos] == '"':
                    pos = self._end_string(text, pos)
            else:
                pos = self._tokens(text, pos, end)
            if pos == start:
                raise self._unexpected(text, pos)
        if "\n" in text:
            self._count_lines(text, end - len(self._held))
        self._offset += end - len(self._held)

    def flush(self, cut: CutShort | None = None) -> None:
        """End the text: complete a root number, or raise what is missing.

        With `cut`, the provider says that the answer stopped early: nothing is completed.
        """
        if self._closed:
            return
        if self._tail:
            is_bom = not self._has_begun and BOM_UTF8.startswith(self._tail)
            kind = Truncated if is_bom or self._state in (STRING, KEY) else InvalidJSON
            raise self._cut_error(kind, "the rest of a UTF-8 character", cut)
        if self._state == DIGITS and not self.frames and NUMBER.fullmatch(self._token_text):
            if cut is not None:
                raise self._cut_error(Truncated, "the rest of the number", cut)
            self._end_number("", 0)
        if self._state != END:
            raise self._cut_error(Truncated, self._expected(), cut)
        self._closed = True
        if cut is not None and cut.reason == "refused":  # a refusal is not the value
            raise self._cut_error(Truncated, "", cut)

    # ---- errors ----

    def _unexpected(self, text: str, pos: int) -> InvalidJSON:
        """Return the error for the token at `pos`, at its first character that is wrong."""
        expected = ""
        if self._state == STRING or self._state == KEY:
            if text[pos] == "\\":
                escape = ESCAPE_START.match(text, pos)
                pos = escape.end() if escape else pos + 1
                expected = "an escape" if text[pos - 1] == "\\" else "a hexadecimal digit"
            else:
                expected = "no control character in a string"
        elif self._state <= FIRST_ELEMENT and text[pos] in LITERALS:
            word = LITERALS[text[pos]][0]
            wrong = next(at for at, want in enumerate(word) if text[pos + at] != want)
            self._held = word[:wrong]  # what is pending after the error
            pos += wrong
            expected = repr(word)
        return self._refuse(text, pos, expected)

    def _expected(self) -> str:
        if self._state == DIGITS and NUMBER.fullmatch(self._token_text):
            return self._expected_after()
        return Position._expected(self)
