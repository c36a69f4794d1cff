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

Rule 1: nesting and grammar are checked here; a `Sink` trusts its events.
Rule 2: a method consumes what it can and returns where it stopped. What it cannot decide yet (half
        an escape, half a literal) it leaves in `_held`, at most eleven characters, which are read
        again in front of the next piece.
Rule 3: `Tokens` reads JSON up to the first character that is not JSON. What comes then, and how a
        string ends, its two machines decide: the strict one below, and the one in `repair.py`.
"""

from __future__ import annotations

from codecs import BOM_UTF8, utf_8_decode
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from sys import get_int_max_str_digits, intern
from typing import Any, Final, NamedTuple

from ..errors import (
    DEFAULT_LIMITS,
    UNLIMITED,
    CutShort,
    InvalidJSON,
    LimitExceeded,
    Limits,
    StreamClosed,
    Truncated,
    truncated,
)
from ..paths import Path, short_path
from .grammar import (
    CUT_ESCAPE,
    ESCAPE_START,
    LITERALS,
    LONE_HIGH,
    NUMBER,
    NUMBER_START,
    PLAIN,
    STRING_RUN,
)
from .scanner import scan, scanner
from .states import (
    AFTER,
    COLON,
    DIGITS,
    END,
    EXPECTED,
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


class Repair(NamedTuple):
    """One repair: its rule, and the character at which it was needed."""

    rule: str
    offset: int
    line: int
    column: int


class Frame:
    """An open container: an object with its last key, or an array with the index of its element.

    The stack of frames is the nesting and the path. A builder puts the container that it builds
    into `members` or `elements`.
    """

    __slots__ = ("count", "elements", "is_object", "key", "members")
    members: dict[str, Any]
    elements: list[Any]

    def __init__(self, is_object: bool) -> None:
        self.is_object = is_object
        self.key = ""
        # The number of keys that the object has, or the index of the element being read.
        self.count = 0


def path_of(frames: list[Frame], start: int, end: int) -> Path:
    """Return the current keys and indices of these frames."""
    return tuple([frame.key if frame.is_object else frame.count for frame in frames[start:end]])


class Sink:
    """Receive the events of a machine. Offsets point at the first character of a token.

    `frames` is the machine's stack. When a container starts or ends, its own frame is the last one.
    """

    __slots__ = ("frames",)

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    def start_object(self, offset: int) -> None: ...
    def start_array(self, offset: int) -> None: ...
    def end_container(self, offset: int) -> None: ...
    def key(self, key: str, offset: int) -> None: ...
    def start_string(self, offset: int) -> None: ...
    def text(self, run: str) -> None: ...
    def end_string(self) -> None: ...
    def scalar(self, value: Any, text: str | None, offset: int) -> None: ...
    def complete(self, offset: int) -> None: ...

    def takes_values(self) -> bool:
        """Return whether `scalar` may pass a complete container instead of its events."""
        return False


class Tokens:
    """Reads JSON up to the first character that is not JSON: what both machines have in common."""

    __slots__ = ("_budget", "_closed", "_frame", "_has_begun", "_held", "_limits", "_line",
                 "_line_start", "_lined", "_number_limit", "_number_state", "_offset",
                 "_parse_float", "_sink", "_state", "_stop", "_string_limit", "_tail",
                 "_text_limit", "_token", "_token_text", "frames")  # fmt: skip

    def _start(self, sink: Sink, state: int, limits: Limits, parse_float: Any, prefix: str) -> None:
        # Not __init__: calling a base class's __init__ is slow when compiled.
        self.frames: list[Frame] = []
        # The last of them, None outside the root.
        self._frame: Frame = None  # type: ignore[assignment]
        self.redirect(sink)
        self._state = state
        self._closed = False
        self._limits = limits
        # The limits that are checked most often, as integers for the compiler.
        self._text_limit = min(limits.text, UNLIMITED)
        self._string_limit = min(limits.string, UNLIMITED)
        self._number_limit = min(limits.number, UNLIMITED)
        self._parse_float = parse_float
        # The token being read: its offset, its text so far unless it is a string value, and the
        # offset at which the limit of a string, or of the text, is reached.
        self._token = 0
        self._token_text = ""
        self._stop = 0
        # What may come next in the number being read.
        self._number_state = NUMBER_START
        # Text that waits for the next piece, at first `prefix`, which does not count for offsets.
        self._held = prefix
        # The offset of the first character that is not yet read.
        self._offset = -len(prefix)
        # How many characters of this piece the scanner may still read unsuccessfully.
        self._budget = 0
        # The line and where it begins, for all newlines before `_lined`.
        self._line = 1
        self._line_start = 0
        self._lined = self._offset
        # A cut UTF-8 sequence, and whether a byte order mark can no longer come.
        self._tail = b""
        self._has_begun = False

    def redirect(self, sink: Sink) -> None:
        """Emit to `sink` from the next event on."""
        self._sink = sink
        sink.frames = self.frames

    def limit_text(self, end: int) -> None:
        """Allow the text up to this offset, instead of `limits.text` characters.

        `select` uses this to limit each value instead of the document.
        """
        self._text_limit = end

    # ---- what a caller can read between two pieces ----

    @property
    def repairs(self) -> list[Repair]:
        """The repairs, in order."""
        return []

    @property
    def path(self) -> Path:
        """The path of the value that is being read, or comes next."""
        return path_of(self.frames, 0, len(self.frames))

    @property
    def pending_text(self) -> str | None:
        """The text of the number or literal that is being read, else None."""
        raise NotImplementedError

    @property
    def pending_offset(self) -> int:
        """The offset of the pending key, number or literal, else of the next character."""
        is_pending = self.pending_text is not None or self._state == KEY
        return self._token if is_pending else self._offset

    # ---- pieces ----

    def feed(self, data: str | bytes) -> None:
        """Read one piece and emit its events."""
        if type(data) is not str:
            return self._feed_other(data)
        text: str = data
        # The common case of a long answer comes first: plain text inside a string.
        if (
            self._state == STRING
            and 0 < len(text) <= self._stop - self._offset
            and not self._held
            and not self._tail
            and not self._closed
            and is_plain(text)
        ):
            self._offset += len(text)
            return self._take(text)
        return self._feed_text(text)

    def _run(self, text: str) -> None:
        """Read a piece; what cannot be decided yet stays in `_held`."""
        raise NotImplementedError

    def _feed_text(self, text: str) -> None:
        """Read a piece up to the text limit, which a sink may move while it is read."""
        self._check_open()
        if self._tail:
            raise self._error_here(InvalidJSON, "the rest of a UTF-8 character", "but a str came")
        self._has_begun = self._has_begun or text != ""
        if self._held:
            text = self._held + text
            self._held = ""
        while True:
            limit, room = self._text_limit, self._text_limit - self._offset
            self._run(text[:room])
            text = text[room:]
            if text and self._text_limit <= limit:
                raise self._over("text", self._limits.text, self._held, len(self._held))
            if not text and self._offset + len(self._held) <= self._text_limit:
                return
            # A sink has moved the limit: read on under the new one.
            text = self._held + text
            self._held = ""

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
            raise StreamClosed("this stream has ended: it takes no more input")

    def flush(self, cut: CutShort | None = None) -> None:
        """End the text: complete what can be completed, or raise what is missing.

        With `cut`, the provider says that the answer stopped early: nothing is completed.
        """
        if self._closed:
            return
        try:
            self._finish(is_cut=cut is not None)
        except InvalidJSON as error:
            raise error if cut is None else truncated(cut, error) from None
        if cut is not None and cut.reason == "refused":  # a refusal is not the value
            raise truncated(cut, self._error_here(Truncated, "", ""))
        self._closed = True

    def _finish(self, is_cut: bool) -> None:
        """Complete what can be completed at the end of the text, or raise what is missing."""
        raise NotImplementedError

    def _count_lines(self, text: str, end: int) -> None:
        """Count the lines up to the character at `end` of this piece, each newline only once."""
        start = max(0, self._lined - self._offset)
        if end > start:
            self._line += text.count("\n", start, end)
            last = text.rfind("\n", start, end)
            if last >= 0:
                self._line_start = self._offset + last + 1
            self._lined = self._offset + end

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
                if self._offset + end > self._text_limit:  # a sink has moved it
                    return pos
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
            self._number_state = NUMBER_START
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
        result = scan(text, pos, scanner(self._parse_float), self._limits, len(self.frames))
        if result is None:
            return pos
        self._budget += left
        self._sink.scalar(result[0], None, self._offset + pos)
        self._end_value(result[1])
        return result[1]

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
        """Read a literal; return `pos` if it is not one."""
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
        start, state = pos, self._number_state
        while pos < end and (after := state.get(text[pos])) is not None:
            state = after
            pos += 1
        self._number_state = state
        number = self._token_text
        self._token_text = ""  # without another owner it is extended in place
        number += text[start:pos]
        self._token_text = number
        excess = len(number) - self._number_limit
        if excess > 0:
            self._token_text = number[:-excess]
            raise self._over("number", self._number_limit, text, pos - excess)
        # The beginning of a number is a number if it ends in a digit.
        if pos < end and text[pos] in ",]} \t\n\r" and number[-1].isdigit():
            self._end_number(text, pos)
        return pos

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
        if self._state <= FIRST_ELEMENT:
            self._sink.start_string(self._token)
            self._state = STRING
        else:
            self._state = KEY
        self._stop = min(self._token + 1 + self._string_limit, self._text_limit)

    def _text(self, text: str, pos: int, end: int) -> int:
        """Take the text of a string or key; return where its quote or an invalid escape is."""
        stop = plain = plain_end(text, pos)
        while stop + 1 < end and text[stop] == "\\" and text[stop + 1] in '"\\/bfnrt':
            stop = plain_end(text, stop + 2)
        if (stop < end and text[stop] != '"') or self._offset + stop > self._stop:
            return self._escaped(text, pos)
        if stop > pos:
            run = text[pos:stop]
            self._take(run if stop == plain else unescape(run))
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
        if self._state == STRING:
            self._sink.text(run)
        else:
            key = self._token_text
            self._token_text = ""  # without another owner it is extended in place
            key += run
            self._token_text = key

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

    # ---- errors ----

    def _position(self, text: str, pos: int) -> tuple[int, int, int]:
        """Return offset, line and column of the character at `pos` of this piece."""
        self._count_lines(text, pos)
        offset = self._offset + pos
        return offset, self._line, offset - self._line_start + 1

    def _error(
        self, kind: type[InvalidJSON], expected: str, got: str, text: str, pos: int
    ) -> InvalidJSON:
        place = self._fail_at(text, pos)
        where = f"at character {place['offset']}, in {short_path(place['path'])}"
        return kind(f"expected {expected} {got} {where}", expected=expected, **place)

    def _refuse(self, text: str, pos: int, expected: str = "") -> InvalidJSON:
        """Return the error for the character at `pos`."""
        got = f"but got {text[pos]!r}"
        return self._error(InvalidJSON, expected or self._expected(), got, text, pos)

    def _error_here(self, kind: type[InvalidJSON], expected: str, got: str) -> InvalidJSON:
        """Return an error between two pieces: right after all that was read or held."""
        return self._error(kind, expected, got, self._held, len(self._held))

    def _too_short(self, expected: str, kind: type[InvalidJSON] = Truncated) -> InvalidJSON:
        """Return the error of a text that ends here."""
        return self._error_here(kind, expected, "but the text ended")

    def _over(self, limit: str, bound: int, text: str, pos: int) -> LimitExceeded:
        place = self._fail_at(text, pos)
        where = f"at character {place['offset']}, in {short_path(place['path'])}"
        # Python itself bounds the digits of a number.
        hint = "" if limit == "number" else f": pass limits=Limits({limit}=...) to allow more"
        message = f"more than {bound} ({limit}) {where}"
        return LimitExceeded(message, hint=hint, limit=limit, **place)

    def _fail_at(self, text: str, pos: int) -> dict[str, Any]:
        """Close the stream; return offset, line, column and path of `text[pos]`."""
        self._closed = True
        offset, line, column = self._position(text, pos)
        in_value = self._state in (VALUE, FIRST_ELEMENT, COLON, STRING, DIGITS)
        path = path_of(self.frames, 0, len(self.frames) if in_value else len(self.frames) - 1)
        return {"offset": offset, "line": line, "column": column, "path": path}

    def _expected(self) -> str:
        """Return what could come next."""
        if self._state == AFTER:
            return self._expected_after()
        if self._held[:1] in LITERALS and self._state <= FIRST_ELEMENT:
            return repr(LITERALS[self._held[0]][0])
        return EXPECTED[self._state]

    def _expected_after(self) -> str:
        """Return what could come after a value."""
        if self._frame is None:
            return EXPECTED[END]
        return f"',' or {'}' if self._frame.is_object else ']'!r}"


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
            return self._token_text or None  # empty if no digit is allowed
        if self._state <= FIRST_ELEMENT and self._held[:1].isalpha():
            return self._held
        return None

    def _run(self, text: str) -> None:
        pos, end = 0, len(text)
        self._budget = 4 * end
        while pos < end and self._offset + end <= self._text_limit:
            start = pos
            if self._state == STRING or self._state == KEY:
                pos = self._text(text, pos, end)
                if pos < end and text[pos] == '"':
                    pos = self._end_string(text, pos)
            else:
                pos = self._tokens(text, pos, end)
            if pos == start:
                raise self._unexpected(text, pos)
        if pos < end:
            self._held = text[pos:]
        if "\n" in text:
            self._count_lines(text, end - len(self._held))
        self._offset += end - len(self._held)

    def _finish(self, is_cut: bool) -> None:
        if self._tail:
            is_bom = not self._has_begun and BOM_UTF8.startswith(self._tail)
            kind = Truncated if is_bom or self._state in (STRING, KEY) else InvalidJSON
            raise self._too_short("the rest of a UTF-8 character", kind)
        self._feed_text("")  # a prefix, if nothing came after it
        if self._state == DIGITS and not self.frames and NUMBER.fullmatch(self._token_text):
            if is_cut:
                raise self._too_short("the rest of the number")
            self._end_number("", 0)
        if self._state != END:
            raise self._too_short(self._expected())

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
        return Tokens._expected(self)


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
    if COMPILED:  # a loop without an index: plain_end takes twice as long
        for char in text:
            if char == '"' or char == "\\" or char < " ":
                return False
        return True
    return '"' not in text and "\\" not in text and text.isprintable()


def unescape(run: str) -> str:
    """Decode a whole run of a string, at the speed of the standard library."""
    return str(scanstring(run + '"', 0, True)[0])
