"""The tokens of JSON, as the strict machine and the repairing one read them.

`Tokens` emits what is valid JSON and stops at the first character that is not. What a machine does
there, and how a string ends, the machine decides.
"""

from __future__ import annotations

from codecs import BOM_UTF8, utf_8_decode
from sys import get_int_max_str_digits, intern
from typing import Any, Final

from ..errors import InvalidJSON, StreamClosed
from .grammar import (
    CUT_ESCAPE,
    LITERALS,
    LONE_HIGH,
    NUMBER_RUN,
    NUMBER_START,
    PLAIN,
    STRING_RUN,
    unescape,
)
from .position import Position
from .scanner import scan, scanner
from .sink import Frame
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

COMPILED: Final = not __file__.endswith(".py")
# A container that begins this far from the end of a piece may well end in it.
WORTH_SCANNING: Final = 64


class Tokens(Position):
    """Reads JSON up to the first character that is not JSON."""

    __slots__ = ()

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
                self._take(data)
        elif type(data) is str:
            self._feed_text(data)
        else:
            self._feed_other(data)

    def _run(self, text: str) -> None:
        """Read a piece; what cannot be decided yet stays in `_held`."""
        raise NotImplementedError

    def _feed_text(self, text: str) -> None:
        """Read a piece up to the text limit, which a sink may move while it is read."""
        text = self._begin_text(text)
        while self._offset + len(text) > self._text_limit:
            limit, room = self._text_limit, self._text_limit - self._offset
            self._run(text[:room])
            if self._text_limit <= limit:
                raise self._over("text", self._limits.text, self._held, len(self._held))
            text = self._held + text[room:]
            self._held = ""
        self._run(text)

    def _feed_other(self, data: Any) -> None:
        """Read bytes, or a subclass of str."""
        if isinstance(data, str):
            return self.feed(str.__str__(data))
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"feed() takes str or bytes, not {type(data).__name__}")
        self._check_open()
        data = self._tail + bytes(data)
        self._tail = b""
        if not self._has_begun:
            if len(data) < len(BOM_UTF8) and BOM_UTF8.startswith(data):
                self._tail = data
                return None
            data = data.removeprefix(BOM_UTF8)
        try:
            text, used = utf_8_decode(data, "strict", False)
        except UnicodeDecodeError as error:
            self._feed_text(data[: error.start].decode())
            got = f"but got byte 0x{data[error.start]:02x}"
            raise self._error_here(InvalidJSON, "UTF-8", got) from None
        self._feed_text(text)
        self._tail = data[used:]
        return None

    def _check_open(self) -> None:
        if self._closed:
            raise StreamClosed("this stream has ended; nothing can be fed to it any more")

    def _begin_text(self, text: str) -> str:
        """Return a piece with what waits before it."""
        self._check_open()
        if self._tail:
            raise self._error_here(InvalidJSON, "the rest of a UTF-8 character", "but a str came")
        self._has_begun = self._has_begun or text != ""
        if self._held:
            text = self._held + text
            self._held = ""
        return text

    # ---- between tokens ----

    def _tokens(self, text: str, pos: int, end: int) -> int:
        """Read tokens; return where the text of a string begins or JSON does not go on.

        Its length: every character between tokens passes this loop, and a call for each of them
        would cost more than the rest. The branches are in the order in which they occur most often.
        """
        while pos < end:
            state = self._state
            if state == DIGITS:
                pos = self._number(text, pos, end)
                if self._state == DIGITS:
                    return pos
                continue
            char = text[pos]
            if char == '"' and state <= NEXT_KEY:
                self._open_string(pos)
                return pos + 1
            if char == "," and state == AFTER:
                self._add_comma()
                pos += 1
            elif char == ":" and state == COLON:
                self._state = VALUE
                pos += 1
            elif char == " " or char == "\n" or char == "\t" or char == "\r":
                pos += 1
                while pos < end and text[pos] == " ":  # as of indentation
                    pos += 1
            elif state <= FIRST_ELEMENT:
                after = self._value(text, pos, char)
                if after == pos and self._state != DIGITS:
                    return pos
                pos = after
            elif self._closes(char):
                pos = self._close(pos)
            else:
                return pos
        return pos

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
        return pos

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

    def _open(self, text: str, pos: int, char: str) -> int:
        """Open the container that begins with this bracket."""
        if len(self.frames) >= self._limits.depth:
            raise self._over("depth", self._limits.depth, text, pos)
        is_object = char == "{"
        frame = self._frame = Frame(is_object)
        self.frames.append(frame)
        if is_object:
            self._state = FIRST_KEY
            self._sink.start_object(self._offset + pos)
        else:
            self._state = FIRST_ELEMENT
            self._sink.start_array(self._offset + pos)
        return pos + 1

    def _closes(self, char: str) -> bool:
        """Return whether this bracket may close the open container now."""
        if self._state == AFTER:
            return char == ("}" if self._frame.is_object else "]")
        return char == "}" and self._state == FIRST_KEY

    def _close(self, pos: int) -> int:
        """Close the open container at the bracket at `pos`."""
        self._sink.end_container(self._offset + pos)
        self.frames.pop()
        self._frame = self.frames[-1] if self.frames else None  # type: ignore[assignment]
        self._end_value(pos + 1)
        return pos + 1

    def _add_comma(self) -> None:
        frame = self._frame
        if frame.is_object:
            self._state = NEXT_KEY
        else:
            self._state = VALUE
            frame.count += 1

    def _end_value(self, pos: int) -> None:
        """Go to the state after a value; emit `complete` if it was the root."""
        if self.frames:
            self._state = AFTER
        else:
            self._state = END
            self._sink.complete(self._offset + pos)

    def _literal(self, text: str, pos: int, char: str) -> int:
        """Read a literal; return `pos` if it is none."""
        word, value = LITERALS[char]
        self._token = self._offset + pos
        if text.startswith(word, pos):
            self._sink.scalar(value, None, self._token)
            self._end_value(pos + len(word))
            return pos + len(word)
        rest = text[pos : pos + len(word)]
        if not word.startswith(rest):
            return pos
        self._held = rest
        return len(text)

    # ---- numbers ----

    def _number(self, text: str, pos: int, end: int) -> int:
        """Read the characters of a number up to its end or the end of the piece.

        The state stays DIGITS at a character that neither continues the number nor ends it.
        """
        number = self._token_text
        self._token_text = ""  # without another owner it is extended in place
        before = len(number)
        if before == 0:
            stop = NUMBER_START.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
            number = text[pos:stop]
        else:
            stop = NUMBER_RUN.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
            number += text[pos:stop]
            # After three characters, digits only follow digits: no need to read all of it again.
            if before < 3 or not number[before - 1].isdigit() or not text[pos:stop].isdigit():
                number = NUMBER_START.match(number).group()  # type: ignore[union-attr]
                stop = pos + len(number) - before
        if len(number) > self._number_limit:
            self._token_text = number[: self._number_limit]
            raise self._over("number", self._number_limit, text, pos + self._number_limit - before)
        self._token_text = number
        # The beginning of a number is a number if it ends in a digit.
        if stop < end and text[stop] in ",]} \t\n\r" and number[-1].isdigit():
            self._end_number(text, stop)
        return stop

    def _end_number(self, text: str, end: int) -> None:
        """Emit a number that ends before `text[end]`."""
        number = self._token_text
        value = self._read_number(number, text, end)
        self._token_text = ""
        self._sink.scalar(value, number, self._token)
        self._end_value(end)

    def _read_number(self, number: str, text: str, end: int) -> Any:
        """Return the value of a number that ends before `text[end]`."""
        try:
            if "." in number or "e" in number or "E" in number:
                return self._parse_float(number)
            return int(number)
        except (ValueError, ArithmeticError) as error:  # a Decimal with a huge exponent
            if number.lstrip("-").isdigit():
                raise self._over("number", get_int_max_str_digits(), text, end) from error
            got = f"but got {number!r}"
            raise self._error(InvalidJSON, "another number", got, text, end) from error

    # ---- strings and keys ----

    def _open_string(self, pos: int) -> None:
        """Begin the string or key whose quote is at `pos`."""
        self._token = self._offset + pos
        self._stop = min(self._token + 1 + self._string_limit, self._text_limit)
        if self._state <= FIRST_ELEMENT:
            self._sink.start_string(self._token)
            self._state = STRING
        else:
            self._state = KEY

    def _text(self, text: str, pos: int, end: int) -> int:
        """Take the text of a string or key; return where its quote or an invalid escape is."""
        stop = plain_end(text, pos)
        if (stop < end and text[stop] != '"') or self._offset + stop > self._stop:
            return self._escaped(text, pos)
        if stop > pos:
            self._take(text[pos:stop])
        return stop

    def _escaped(self, text: str, pos: int) -> int:
        """Take text with escapes or unusual characters, or more of them than allowed."""
        end = min(len(text), self._stop - self._offset)
        stop = STRING_RUN.match(text, pos, end).end()  # type: ignore[union-attr]  # may be empty
        if stop > pos:
            run = text[pos:stop]
            self._take(unescape(run) if "\\" in run else run)
        if stop < end and text[stop] == "\\":
            is_last = text[end : end + 1] == '"' and LONE_HIGH.fullmatch(text, stop, end)
            if is_last or not CUT_ESCAPE.match(text, stop, end):
                return self._lone_surrogate(text, stop)
            if end < len(text):
                raise self._over("string", self._limits.string, text, end)
            self._held = text[stop:]
            return end
        if stop == end < len(text) and text[stop] != '"':
            raise self._over("string", self._limits.string, text, end)
        return stop

    def _lone_surrogate(self, text: str, pos: int) -> int:
        """Take a high surrogate that stays alone; return `pos` if there is none."""
        if not LONE_HIGH.match(text, pos):
            return pos
        self._take(chr(int(text[pos + 2 : pos + 6], 16)))
        return pos + 6

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

    def _add_key(self, text: str, pos: int) -> None:
        """Emit the key that was read, whose end is at `pos`."""
        frame = self._frame
        frame.count += 1
        if frame.count > self._limits.keys:
            raise self._over("keys", self._limits.keys, text, pos)
        # Interned: the objects of a list have the same keys.
        frame.key = intern(self._token_text)
        self._token_text = ""
        self._state = COLON
        self._sink.key(frame.key, self._token)


def plain_end(text: str, pos: int, closer: str = '"') -> int:
    """Return where plain text ends: at the closing quote, an escape, a control character."""
    if not COMPILED:
        return PLAIN[closer].match(text, pos).end()  # type: ignore[union-attr]  # may be empty
    # Compiled, this takes a tenth of the time of the pattern for 4 characters.
    end, last = len(text), closer
    while pos < end:
        char = text[pos]
        if char == last or char == "\\" or char < " ":
            return pos
        pos += 1
    return end


def is_plain(text: str) -> bool:
    """Return whether text has no quote, escape or control character.

    False may be wrong: `isprintable` refuses more than JSON does, in a quarter of the time.
    """
    if COMPILED:
        return plain_end(text, 0) == len(text)
    return '"' not in text and "\\" not in text and text.isprintable()
