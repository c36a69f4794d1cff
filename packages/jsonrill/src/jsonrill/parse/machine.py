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

Rule 1: nesting and grammar are checked here and nowhere else; a `Sink` trusts its events.
Rule 2: a state has one method. It consumes what it can and returns where it stopped. What it
        cannot decide yet (half an escape, half a literal) it leaves in `_held`, at most eleven
        characters, which are read again in front of the next piece.
Rule 3: `repair.py` is a machine of its own. Nothing here knows about it.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import Any, Final

from ..errors import DEFAULT_LIMITS, CutShort, InvalidJSON, Limits, Truncated
from .grammar import (
    CUT_ESCAPE,
    ESCAPE_START,
    LITERALS,
    LONE_HIGH,
    NUMBER,
    NUMBER_RUN,
    NUMBER_START,
    SPACE,
    STRING_RUN,
    unescape,
)
from .position import Position
from .scanner import is_plain, plain_end, scan, scanner
from .sink import Sink
from .states import (
    AFTER,
    COLON,
    DIGITS,
    END,
    FIRST_ELEMENT,
    FIRST_KEY,
    KEY,
    NEXT_KEY,
    STRING,
    VALUE,
)

# A container that begins this far from the end of a piece may well end in it.
WORTH_SCANNING: Final = 64


class Machine(Position):
    """The strict machine: RFC 8259, events emitted to the sink before `feed` returns."""

    __slots__ = ("_budget",)

    def __init__(
        self,
        sink: Sink,
        limits: Limits = DEFAULT_LIMITS,
        parse_float: Any = float,
        prefix: str = "",
    ) -> None:
        self._start(sink, VALUE, limits, parse_float, prefix)
        # How many characters of this piece the scanner may still read unsuccessfully.
        self._budget = 0

    @property
    def pending_text(self) -> str | None:
        """The text of the number or literal that is being read, else None."""
        if self._state == DIGITS:
            return self._token_text
        if self._state <= FIRST_ELEMENT and self._held[:1].isalpha():
            return self._held
        return None

    # ---- pieces ----

    def feed(self, data: str | bytes) -> None:
        """Read one piece and emit its events."""
        # The common case of a long answer comes first: plain text inside a string.
        if (
            self._state == STRING
            and type(data) is str
            and self._offset + len(data) <= self._stop
            and not self._held
            and not self._tail
            and not self._closed
            and is_plain(data)
        ):
            if data:
                self._offset += len(data)
                self._sink.text(data)
        elif type(data) is str:
            self._feed_text(data)
        else:
            self._feed_other(data)

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

    def _feed_text(self, text: str) -> None:
        text = self._begin_text(text)
        while self._offset + len(text) > self._text_limit:
            limit, room = self._text_limit, self._text_limit - self._offset
            self._run(text[:room])
            if self._text_limit <= limit:
                raise self._over("text", self._limits.text, self._held, len(self._held))
            text = self._held + text[room:]
            self._held = ""
        self._run(text)

    def _run(self, text: str) -> None:
        """Read a piece, a token at a time.

        Its length: every character between tokens passes this loop, and a call for each of them
        would cost more than the rest. The branches are in the order in which they occur most often.
        """
        pos, end = 0, len(text)
        self._budget = 4 * end
        while pos < end:
            state = self._state
            if state == STRING or state == KEY:
                pos = self._string(text, pos, end)
                continue
            if state == DIGITS:
                pos = self._number(text, pos, end)
                continue
            char = text[pos]
            if char == '"' and state <= NEXT_KEY:
                self._token = self._offset + pos
                if state <= FIRST_ELEMENT:
                    self._sink.start_string(self._token)
                    self._state = STRING
                else:
                    self._state = KEY
                self._stop = min(self._token + 1 + self._string_limit, self._text_limit)
                pos += 1
            elif char == "," and state == AFTER:
                frame = self._frame
                if frame.is_object:
                    self._state = NEXT_KEY
                else:
                    self._state = VALUE
                    frame.count += 1
                pos += 1
            elif char == ":" and state == COLON:
                self._state = VALUE
                pos += 1
            elif char == " " or char == "\n" or char == "\t" or char == "\r":
                pos += 1
                if pos < end and text[pos] == " ":  # as of indentation
                    pos = SPACE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
            elif state <= FIRST_ELEMENT:
                pos = self._value(text, pos, char)
            elif self._closes(char):
                pos = self._close(pos)
            else:
                raise self._unexpected(text, pos)
        if "\n" in text:
            self._count_lines(text, end - len(self._held))
        self._offset += end - len(self._held)

    # ---- values ----

    def _value(self, text: str, pos: int, char: str) -> int:
        """Read a value that is not a string, or the end of an empty array."""
        if char == "{" or char == "[":
            if len(text) - pos >= WORTH_SCANNING and self._sink.takes_values():
                end = self._scan(text, pos)
                if end > pos:
                    return end
            return self._open(text, pos, char)
        if char in "-0123456789":
            self._token = self._offset + pos
            self._state = DIGITS
            return self._number(text, pos, len(text))
        if char in LITERALS:
            return self._literal(text, pos, char)
        if char == "]" and self._state == FIRST_ELEMENT:
            return self._close(pos)
        raise self._unexpected(text, pos)

    def _scan(self, text: str, pos: int) -> int:
        """Read a container that is complete in this piece at once; return `pos` if it is not."""
        left = len(text) - pos
        if left > self._budget:
            return pos
        self._budget -= left
        found = scan(text, pos, scanner(self._parse_float), self._limits, len(self.frames))
        if found is None:
            return pos
        self._budget += left
        self._sink.scalar(found[0], None, self._offset + pos)
        self._end_value(found[1])
        return found[1]

    def _closes(self, char: str) -> bool:
        """Return whether this bracket may close the open container now."""
        if self._state == AFTER:
            return char == ("}" if self._frame.is_object else "]")
        return char == "}" and self._state == FIRST_KEY

    def _close(self, pos: int) -> int:
        self._leave(pos)
        self._end_value(pos + 1)
        return pos + 1

    def _end_value(self, pos: int) -> None:
        """Go to the state after a value; emit `complete` if it was the root."""
        if self.frames:
            self._state = AFTER
        else:
            self._state = END
            self._sink.complete(self._offset + pos)

    def _literal(self, text: str, pos: int, char: str) -> int:
        word, value = LITERALS[char]
        self._token = self._offset + pos
        if text.startswith(word, pos):
            self._sink.scalar(value, None, self._token)
            self._end_value(pos + len(word))
            return pos + len(word)
        rest = text[pos : pos + len(word)]
        if word.startswith(rest):
            self._held = rest
            return len(text)
        wrong = next(at for at, want in enumerate(word) if rest[at : at + 1] != want)
        self._held = word[:wrong]  # what is pending after the error
        got = f"but got {text[pos + wrong]!r}"
        raise self._error(InvalidJSON, repr(word), got, text, pos + wrong)

    # ---- numbers ----

    def _number(self, text: str, pos: int, end: int) -> int:
        """Read the characters of a number up to its end or that of the piece."""
        stop = NUMBER_RUN.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        number = self._token_text
        self._token_text = ""  # without another owner it is extended in place
        before = len(number)
        number += text[pos:stop]
        size = len(number)
        # After three characters, digits only follow digits: no need to look at all of it again.
        if before < 3 or not number[before - 1].isdigit() or not text[pos:stop].isdigit():
            size = NUMBER_START.match(number).end()  # type: ignore[union-attr]  # may be empty
        stop = pos + size - before
        if size > self._number_limit:
            self._token_text = number[: self._number_limit]
            raise self._over("number", self._number_limit, text, pos + self._number_limit - before)
        self._token_text = number if size == len(number) else number[:size]
        if stop == end:
            return end
        if text[stop] not in ",]} \t\n\r" or not NUMBER.fullmatch(self._token_text):
            raise self._unexpected(text, stop)
        self._end_number(text, stop)
        return stop

    def _end_number(self, text: str, end: int) -> None:
        """Emit a number that ends before `text[end]`."""
        number = self._token_text
        value = self._read_number(number, text, end)
        self._token_text = ""
        self._sink.scalar(value, number, self._token)
        self._end_value(end)

    # ---- strings and keys ----

    def _string(self, text: str, pos: int, end: int) -> int:
        """Read the characters of a string or key up to its quote or the end of the piece."""
        stop = plain_end(text, pos)
        if (stop < end and text[stop] != '"') or self._offset + stop > self._stop:
            return self._escaped(text, pos)
        if stop > pos:
            self._take(text[pos:stop])
        return stop if stop == end else self._end_string(text, stop)

    def _escaped(self, text: str, pos: int) -> int:
        """Read text with escapes, unusual characters, or more of them than allowed."""
        end = min(len(text), self._stop - self._offset)
        stop = STRING_RUN.match(text, pos, end).end()  # type: ignore[union-attr]  # may be empty
        if stop > pos:
            run = text[pos:stop]
            self._take(unescape(run) if "\\" in run else run)
        if stop < len(text) and text[stop] == '"':
            return self._end_string(text, stop)
        if stop < end and text[stop] == "\\":
            is_last = text[end : end + 1] == '"' and LONE_HIGH.fullmatch(text, stop, end)
            if is_last or not CUT_ESCAPE.match(text, stop, end):
                return self._bad_escape(text, stop)
            if end == len(text):
                self._held = text[stop:]
                return end
            stop = end
        if stop < end:
            raise self._unexpected(text, stop, "no control character in a string")
        if end < len(text):
            raise self._over("string", self._limits.string, text, end)
        return end

    def _bad_escape(self, text: str, pos: int) -> int:
        """Read a high surrogate that stays alone, or refuse what is not an escape."""
        if LONE_HIGH.match(text, pos):
            self._take(chr(int(text[pos + 2 : pos + 6], 16)))
            return pos + 6
        good = ESCAPE_START.match(text, pos)
        pos = good.end() if good else pos + 1
        raise self._unexpected(
            text, pos, "an escape" if text[pos - 1] == "\\" else "a hexadecimal digit"
        )

    def _take(self, run: str) -> None:
        if self._state == KEY:
            key = self._token_text
            self._token_text = ""  # without another owner it is extended in place
            key += run
            self._token_text = key
        else:
            self._sink.text(run)

    def _end_string(self, text: str, quote: int) -> int:
        if self._state == KEY:
            self._add_key(text, quote)
        else:
            self._sink.end_string()
            self._end_value(quote + 1)
        return quote + 1

    # ---- errors ----

    def _unexpected(self, text: str, pos: int, expected: str = "") -> InvalidJSON:
        expected = expected or self._expected()
        return self._error(InvalidJSON, expected, f"but got {text[pos]!r}", text, pos)

    def _expected(self) -> str:
        if self._state == DIGITS and NUMBER.fullmatch(self._token_text):
            return self._expected_after()
        return Position._expected(self)
