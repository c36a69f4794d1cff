"""Text in, events out: the one state machine that judges JSON. No I/O, no recursion.

Rule 1: nesting and grammar are judged here and nowhere else; a `Sink` trusts what it is told.
Rule 2: a state is a number, its method consumes what it can and says where it stopped; what it
        cannot decide yet (half an escape, half a literal) it leaves in `_held`, at most eleven
        characters, which are put before the next piece. So no character is read more than twice.
Rule 3: every refusal goes through `_unexpected`, the place where leniency can be added.

`Parser` is the machine with a list of fragments as its sink; `document.py` gives it a value.
"""

from __future__ import annotations

from codecs import BOM_UTF8, utf_8_decode
from collections.abc import Callable
from dataclasses import dataclass
from json import JSONDecoder
from sys import get_int_max_str_digits
from typing import Any, Final, Literal

from .errors import InvalidJSON, LimitExceeded, StreamClosed, Truncated
from .fragments import Fragment, Kind, Parts
from .grammar import (
    CUT_ESCAPE,
    GOOD_ESCAPE,
    LITERALS,
    LONE_HIGH,
    NUMBER,
    NUMBER_DONE,
    NUMBER_END,
    NUMBER_STEPS,
    SPACE,
    SPACES,
    STRING_RUN,
    unescape,
)
from .paths import Path, Place, to_text


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what strangers can send, in characters of source text and per document."""

    depth: int = 256
    text: int = 64 * 2**20
    string: int = 16 * 2**20
    number: int = 400
    keys: int = 100_000


class Sink:
    """What the machine tells. Each call is an event that has happened; offsets are of tokens."""

    __slots__ = ()

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
        """May a whole container be handed over by `scalar`, instead of event by event?"""
        return False


# The states: what the machine stands before, or in.
VALUE: Final = 0  # a value
FIRST_ELEMENT: Final = 1  # after "[": a value or "]"
FIRST_KEY: Final = 2  # after "{": a key or "}"
NEXT_KEY: Final = 3  # after "," in an object: a key
COLON: Final = 4
AFTER: Final = 5  # after a value in a container: "," or the closing bracket
END: Final = 6  # after the root value: white space
STRING: Final = 7  # in a string value
KEY: Final = 8  # in a key
DIGITS: Final = 9  # in a number

# A container that begins this far from the end of a piece may well end in it.
WORTH_DECODING: Final = 64

_EXPECTED: Final = {
    VALUE: "a value",
    FIRST_ELEMENT: "a value or ']'",
    FIRST_KEY: "a key or '}'",
    NEXT_KEY: "a key",
    COLON: "':'",
    END: "the end of the text",
    STRING: "the end of the string",
    KEY: "the end of the key",
    DIGITS: "a digit",
}


_CLOSED: Final = "this stream has ended; nothing can be fed to it any more"


class Machine:
    """The state machine: text → events, told to the sink before `feed` returns."""

    __slots__ = (
        "_bom",
        "_budget",
        "_closed",
        "_count",
        "_decoder",
        "_frames",
        "_held",
        "_key",
        "_limits",
        "_line",
        "_line_start",
        "_number",
        "_number_state",
        "_object",
        "_offset",
        "_parse_float",
        "_parts",
        "_plain",
        "_room",
        "_seen",
        "_sink",
        "_state",
        "_stop",
        "_tail",
        "_token",
        "_unique",
    )

    def __init__(
        self,
        sink: Sink,
        *,
        duplicates: Literal["last", "error"] = "last",
        parse_float: Callable[[str], Any] = float,
        limits: Limits | None = None,
    ) -> None:
        if duplicates not in ("last", "error"):
            raise ValueError(f"duplicates is 'last' or 'error', not {duplicates!r}")
        self._sink = sink
        self._unique = duplicates == "error"
        self._parse_float = parse_float
        self._limits = limits if limits is not None else Limits()
        self._decoder = self._whole_decoder() if sink.takes_values() and not self._unique else None
        self._budget = 0
        self._closed = False
        self._state = VALUE
        # The open container: is it an object, its last key, how many keys or elements it has
        # before this value, and its keys when they must be unique. The outer ones are in `_frames`.
        self._object = False
        self._key = ""
        self._count = 0
        self._seen: set[str] | None = None
        self._frames: list[tuple[bool, str, int, set[str] | None]] = []
        # The token being read: where it began, where its limit is (for plain text: or that of the
        # whole text, if it is nearer), its text so far.
        self._token = 0
        self._stop = 0
        self._room = 0
        self._parts = Parts()
        self._number: list[str] = []
        self._number_state = "start"
        # What waits for the next piece: a cut escape or literal; a cut UTF-8 sequence.
        self._held = ""
        self._tail = b""
        self._bom = True
        # In a string with nothing held: the next piece may be plain text through and through.
        self._plain = False
        # The position of the first character that is not yet read.
        self._offset = 0
        self._line = 1
        self._line_start = 0

    @property
    def pending(self) -> tuple[Path, str] | None:
        """Path and text of the number or literal that is being read, else None."""
        if self._state == DIGITS:
            return self._path(value=True), "".join(self._number)
        if self._held and self._state <= FIRST_ELEMENT:
            return self._path(value=True), self._held
        return None

    def feed(self, data: str | bytes) -> None:
        """Read one piece, whatever it holds."""
        if type(data) is not str:
            self._feed_other(data)
        # The common case of a long answer, so it comes first: no quote, escape or control
        # character. isprintable() is stricter than JSON, what it refuses is looked at closely.
        elif (
            self._plain
            and data
            and '"' not in data
            and "\\" not in data
            and data.isprintable()
            and self._offset + len(data) <= self._room
        ):
            self._offset += len(data)
            self._sink.text(data)
        elif self._closed:
            raise StreamClosed(_CLOSED)
        elif self._tail:
            raise self._error_here(InvalidJSON, "the rest of a UTF-8 character", "but a str came")
        else:
            self._bom = False
            self._read(data)

    def flush(self) -> None:
        """The text has ended: finish a root number, or say what is missing."""
        if self._closed:
            return
        if self._tail:
            kind = Truncated if self._bom or self._state in (STRING, KEY) else InvalidJSON
            raise self._error_here(kind, "the rest of a UTF-8 character", "but the text ended")
        if self._state == DIGITS and not self._frames and self._number_state in NUMBER_DONE:
            self._end_number("", 0)
        if self._state != END:
            raise self._error_here(Truncated, self._expected(), "but the text ended")
        self._closed = True
        self._plain = False

    def _feed_other(self, data: Any) -> None:
        """Bytes, or a subclass of str."""
        if isinstance(data, str):
            return self.feed(str.__str__(data))
        if self._closed:
            raise StreamClosed(_CLOSED)
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"feed() takes str or bytes, not {type(data).__name__}")
        data = self._tail + bytes(data)
        if self._bom:
            if len(data) < len(BOM_UTF8) and BOM_UTF8.startswith(data):
                self._tail = data
                return None
            data = data.removeprefix(BOM_UTF8)
        bad = b""
        try:
            text, used = utf_8_decode(data, "strict", False)
        except UnicodeDecodeError as error:
            used, bad = error.start, data[error.start : error.start + 1]
            text = data[:used].decode()
        self._tail = b""
        self._bom = False
        self._read(text)
        if bad:
            raise self._error_here(InvalidJSON, "UTF-8", f"but got byte 0x{bad.hex()}")
        self._tail = data[used:]
        self._plain = self._plain and not self._tail
        return None

    def _read(self, text: str) -> None:
        """Put what was held before the piece, keep to the limit, and run."""
        if self._held:
            text = self._held + text
            self._held = ""
        over = self._offset + len(text) - self._limits.text
        if over > 0:
            self._run(text[:-over])
            raise self._over("text", self._limits.text, self._held, len(self._held))
        self._run(text)

    def _run(self, text: str) -> None:
        pos, end = 0, len(text)
        self._budget = 2 * end
        while pos < end:
            state = self._state
            if state >= STRING:
                pos = self._digits(text, pos) if state == DIGITS else self._string(text, pos)
                continue
            char = text[pos]
            if char == "," and state == AFTER:
                if self._object:
                    self._state = NEXT_KEY
                else:
                    self._state = VALUE
                    self._count += 1
                pos += 1
            elif char == ":" and state == COLON:
                self._state = VALUE
                pos += 1
            elif char in SPACES:
                pos += 1
                if pos < end and text[pos] in SPACES:
                    pos = SPACE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
            elif state <= FIRST_ELEMENT:
                pos = self._value(text, pos, char)
            elif char == '"' and state <= NEXT_KEY:
                pos = self._open_string(KEY, text, pos)
            elif char == self._closer(state):
                pos = self._close(pos)
            else:
                pos = self._unexpected(text, pos)
        if "\n" in text:
            self._line += text.count("\n")
            self._line_start = self._offset + text.rindex("\n") + 1
        self._offset += end - len(self._held)
        self._plain = self._state == STRING and not self._held

    def _closer(self, state: int) -> str:
        """The bracket that may end the open container now, if one may."""
        if state == AFTER:
            return "}" if self._object else "]"
        return "}" if state == FIRST_KEY else ""

    def _value(self, text: str, pos: int, char: str) -> int:
        """A value begins, or an empty array ends."""
        if char == '"':
            self._sink.start_string(self._offset + pos)
            return self._open_string(STRING, text, pos)
        if char == "{" or char == "[":
            if self._decoder is not None and len(text) - pos >= WORTH_DECODING:
                end = self._decode_whole(text, pos)
                if end > pos:
                    return end
            return self._open(text, pos, char)
        if char in "-0123456789":
            return self._begin_number(text, pos)
        if char in LITERALS:
            return self._literal(text, pos, char)
        if char == "]" and self._state == FIRST_ELEMENT:
            return self._close(pos)
        return self._unexpected(text, pos)

    def _open(self, text: str, pos: int, char: str) -> int:
        if len(self._frames) >= self._limits.depth:
            raise self._over("depth", self._limits.depth, text, pos)
        self._frames.append((self._object, self._key, self._count, self._seen))
        self._count = 0
        if char == "{":
            self._object = True
            self._state = FIRST_KEY
            self._seen = set() if self._unique else None
            self._sink.start_object(self._offset + pos)
        else:
            self._object = False
            self._state = FIRST_ELEMENT
            self._sink.start_array(self._offset + pos)
        return pos + 1

    def _close(self, pos: int) -> int:
        self._object, self._key, self._count, self._seen = self._frames.pop()
        self._sink.end_container(self._offset + pos)
        self._ended(pos + 1)
        return pos + 1

    def _ended(self, pos: int) -> None:
        """A value has ended; was it the root?"""
        if self._frames:
            self._state = AFTER
        else:
            self._state = END
            self._sink.complete(self._offset + pos)

    def _decode_whole(self, text: str, pos: int) -> int:
        """A container that ends in this piece, read by the standard library's C scanner.

        Where it cannot be (cut off, invalid, or so large that a limit might be passed) the machine
        walks, and says exactly what is wrong. What failed attempts have read is bounded.
        """
        left = len(text) - pos
        if left > self._budget or left > self._limits.string:
            return pos
        self._budget -= left
        try:
            value, end = self._decoder.raw_decode(text, pos)  # type: ignore[union-attr]
        except (ValueError, RecursionError):
            return pos
        if text.count(":", pos, end) > self._limits.keys:
            return pos
        if _deeper(
            value,
            self._limits.depth - len(self._frames),
            text.count("[", pos, end) + text.count("{", pos, end),
        ):
            return pos
        self._budget += left
        self._sink.scalar(value, None, self._offset + pos)
        self._ended(end)
        return end

    def _whole_decoder(self) -> JSONDecoder:
        limit, parse_float = self._limits.number, self._parse_float

        def bounded(convert: Callable[[str], Any]) -> Callable[[str], Any]:
            def number(text: str) -> Any:
                if len(text) > limit:
                    raise ValueError("too long a number: the machine walks")
                return convert(text)

            return number

        def refuse(name: str) -> Any:
            raise ValueError(f"{name} is not JSON: the machine walks")

        return JSONDecoder(
            parse_float=bounded(parse_float), parse_int=bounded(int), parse_constant=refuse
        )

    def _open_string(self, state: int, text: str, pos: int) -> int:
        self._state = state
        self._token = self._offset + pos
        self._stop = self._token + 1 + self._limits.string
        self._room = min(self._stop, self._limits.text)
        return self._string(text, pos + 1)

    def _string(self, text: str, pos: int) -> int:
        """In a string or key: take its characters up to the quote or the end of the piece."""
        quote = text.find('"', pos)
        end = quote if quote >= 0 else len(text)
        run = text[pos:end]
        if "\\" in run or not run.isprintable() or self._offset + end > self._stop:
            return self._escaped(text, pos)
        if run:
            if self._state == STRING:
                self._sink.text(run)
            else:
                self._parts.add(run)
        return end if quote < 0 else self._close_string(text, quote)

    def _escaped(self, text: str, pos: int) -> int:
        """The same for text with escapes, unusual characters, or more of them than allowed."""
        end = min(len(text), self._stop - self._offset)
        found = STRING_RUN.match(text, pos, end)
        stop = found.end() if found else pos
        if stop > pos:
            run = text[pos:stop]
            self._take(unescape(run) if "\\" in run else run)
        if stop < len(text) and text[stop] == '"':
            return self._close_string(text, stop)
        if stop < end and text[stop] == "\\":
            last = text[end : end + 1] == '"' and LONE_HIGH.fullmatch(text, stop, end)
            if last or not CUT_ESCAPE.match(text, stop, end):
                return self._odd_escape(text, stop)
            if end == len(text):
                self._held = text[stop:]
                return end
            stop = end
        if stop < end:
            return self._unexpected(text, stop, "no control character in a string")
        if end < len(text):
            raise self._over("string", self._limits.string, text, end)
        return end

    def _odd_escape(self, text: str, pos: int) -> int:
        """A high surrogate alone right before the limit or a bad escape; or no escape at all."""
        if LONE_HIGH.match(text, pos):
            self._take(chr(int(text[pos + 2 : pos + 6], 16)))
            return pos + 6
        good = GOOD_ESCAPE.match(text, pos)
        pos = good.end() if good else pos + 1
        expected = "a hexadecimal digit" if text[pos - 1] != "\\" else "an escape"
        return self._unexpected(text, pos, expected)

    def _take(self, run: str) -> None:
        if self._state == STRING:
            self._sink.text(run)
        else:
            self._parts.add(run)

    def _close_string(self, text: str, quote: int) -> int:
        if self._state == STRING:
            self._sink.end_string()
            self._ended(quote + 1)
            return quote + 1
        key = self._parts.take()
        if self._seen is not None:
            if key in self._seen:
                raise self._error(
                    InvalidJSON, "no key twice in an object", f"but got {key!r}", text, quote
                )
            self._seen.add(key)
        self._count += 1
        if self._count > self._limits.keys:
            raise self._over("keys", self._limits.keys, text, quote)
        self._key = key
        self._state = COLON
        self._sink.key(key, self._token)
        return quote + 1

    def _begin_number(self, text: str, pos: int) -> int:
        """A number: at once when its end is in sight, else digit by digit."""
        self._token = self._offset + pos
        self._stop = self._token + self._limits.number
        found = NUMBER.match(text, pos)
        if found:
            end = found.end()
            if end < len(text) and text[end] in NUMBER_END and self._offset + end <= self._stop:
                self._finish_number(found.group(), text, end)
                return end
        self._state = DIGITS
        self._number_state = "start"
        return self._digits(text, pos)

    def _digits(self, text: str, pos: int) -> int:
        start, state = pos, self._number_state
        while pos < len(text):
            step = NUMBER_STEPS[state].get(text[pos])
            if step is None:
                break
            if self._offset + pos >= self._stop:
                raise self._over("number", self._limits.number, text, pos)
            state = step
            pos += 1
        self._number.append(text[start:pos])
        self._number_state = state
        if pos < len(text):
            if state not in NUMBER_DONE:
                return self._unexpected(text, pos)
            self._end_number(text, pos)
        return pos

    def _end_number(self, text: str, end: int) -> None:
        number = "".join(self._number)
        self._number.clear()
        self._finish_number(number, text, end)

    def _finish_number(self, number: str, text: str, end: int) -> None:
        """A number that ended before the character at `end` of this piece."""
        if "." in number or "e" in number or "E" in number:
            value = self._parse_float(number)
        else:
            try:
                value = int(number)
            except ValueError as error:
                raise self._over("number", get_int_max_str_digits(), text, end) from error
        self._sink.scalar(value, number, self._token)
        self._ended(end)

    def _literal(self, text: str, pos: int, char: str) -> int:
        word, value = LITERALS[char]
        if text.startswith(word, pos):
            self._sink.scalar(value, None, self._offset + pos)
            self._ended(pos + len(word))
            return pos + len(word)
        rest = text[pos:]
        if word.startswith(rest):
            self._held = rest
            return len(text)
        wrong = next(at for at, want in enumerate(word) if rest[at : at + 1] != want)
        return self._unexpected(text, pos + wrong, repr(word))

    def _unexpected(self, text: str, pos: int, expected: str = "") -> int:
        """Every character that cannot stand where it does comes here."""
        expected = expected or self._expected()
        raise self._error(InvalidJSON, expected, f"but got {text[pos]!r}", text, pos)

    def _expected(self) -> str:
        if self._state == AFTER or (
            self._state == DIGITS and self._number_state in NUMBER_DONE and self._frames
        ):
            return f"',' or {'}' if self._object else ']'!r}"
        if self._held and self._state <= FIRST_ELEMENT:
            return repr(LITERALS[self._held[0]][0])
        return _EXPECTED[self._state]

    def _path(self, *, value: bool) -> Path:
        """The path of the open container, or of the value in it that is being read."""
        path = [key if in_object else count for in_object, key, count, _ in self._frames[1:]]
        if value and self._frames:
            path.append(self._key if self._object else self._count)
        return tuple(path)

    def _error(
        self, kind: type[InvalidJSON], expected: str, got: str, text: str, pos: int
    ) -> InvalidJSON:
        place = self._place(text, pos)
        where = f"at character {place['offset']}, in {to_text(place['path'])}"
        return kind(f"expected {expected} {got} {where}", expected=expected, **place)

    def _error_here(self, kind: type[InvalidJSON], expected: str, got: str) -> InvalidJSON:
        """An error between two pieces: right after all that was read or held."""
        return self._error(kind, expected, got, self._held, len(self._held))

    def _over(self, limit: str, bound: int, text: str, pos: int) -> LimitExceeded:
        place = self._place(text, pos)
        where = f"at character {place['offset']}, in {to_text(place['path'])}"
        return LimitExceeded(f"more than {bound} ({limit}) {where}", limit=limit, **place)

    def _place(self, text: str, pos: int) -> dict[str, Any]:
        """Where the character at `pos` of this piece stands; whoever asks ends the stream."""
        self._closed = True
        self._plain = False
        before = text.rfind("\n", 0, pos)
        line_start = self._line_start if before < 0 else self._offset + before + 1
        in_value = self._state in (VALUE, FIRST_ELEMENT, COLON, STRING, DIGITS)
        return {
            "offset": self._offset + pos,
            "line": self._line + text.count("\n", 0, pos),
            "column": self._offset + pos - line_start + 1,
            "path": self._path(value=in_value),
        }


def _deeper(value: Any, depth: int, brackets: int) -> bool:
    """Are containers nested deeper than `depth` in this value, which has so many of them?"""
    if brackets <= depth:
        return False
    level = [value]
    while level and depth > 0:
        depth -= 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
    return bool(level)


class FragmentSink(Sink):
    """Events → fragments, each linked to its place."""

    __slots__ = ("_container", "_offset", "_parts", "_step", "_steps", "_string", "fragments")

    def __init__(self) -> None:
        self.fragments: list[Fragment] = []
        self._container: Place | None = None
        # In an object the last key, in an array the index of the next element.
        self._step: str | int = ""
        self._steps: list[str | int] = []
        self._string: Place | None = None
        self._offset = 0
        self._parts = Parts()

    def start_object(self, offset: int) -> None:
        place = self._next()
        self.fragments.append(Fragment("StartObject", place, None, None, offset))
        self._steps.append(self._step)
        self._container = place
        self._step = ""

    def start_array(self, offset: int) -> None:
        place = self._next()
        self.fragments.append(Fragment("StartArray", place, None, None, offset))
        self._steps.append(self._step)
        self._container = place
        self._step = 0

    def end_container(self, offset: int) -> None:
        place = self._container
        kind: Kind = "EndArray" if type(self._step) is int else "EndObject"
        self.fragments.append(Fragment(kind, place, None, None, offset))
        self._step = self._steps.pop()
        self._container = place.parent if place is not None else None

    def key(self, key: str, offset: int) -> None:
        self._step = key
        self.fragments.append(Fragment("Key", self._container, None, key, offset))

    def start_string(self, offset: int) -> None:
        self._string = self._next()
        self._offset = offset
        self.fragments.append(Fragment("StartString", self._string, None, None, offset))

    def text(self, run: str) -> None:
        self._parts.add(run)
        self.fragments.append(Fragment("PartialString", self._string, run, None, self._offset))

    def end_string(self) -> None:
        value = self._parts.take()
        self.fragments.append(Fragment("CompleteString", self._string, None, value, self._offset))

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        kind: Kind = (
            "CompleteNumber"
            if text is not None
            else "CompleteNull"
            if value is None
            else "CompleteBoolean"
        )
        self.fragments.append(Fragment(kind, self._next(), text, value, offset))

    def complete(self, offset: int) -> None:
        self.fragments.append(Fragment("JsonComplete", None, None, None, offset))

    def take(self) -> list[Fragment]:
        """What has come since the last call."""
        fragments = self.fragments
        self.fragments = []
        return fragments

    def _next(self) -> Place | None:
        """The place of the value that begins now."""
        if not self._steps:
            return None
        step = self._step
        if type(step) is int:
            self._step = step + 1
        return Place(self._container, step)


class Parser:
    """Text → fragments, strict RFC 8259, any cutting, O(1) amortised a character.

    `feed` raises `InvalidJSON` at the first character that no continuation can make valid,
    `flush` raises `Truncated` when the text stopped early. Either carries the fragments that were
    found before it.
    """

    __slots__ = ("_machine", "_sink")

    def __init__(
        self,
        *,
        duplicates: Literal["last", "error"] = "last",
        parse_float: Callable[[str], Any] = float,
        limits: Limits | None = None,
    ) -> None:
        self._sink = FragmentSink()
        self._machine = Machine(
            self._sink, duplicates=duplicates, parse_float=parse_float, limits=limits
        )

    def feed(self, data: str | bytes) -> list[Fragment]:
        """The fragments that this piece of text makes certain."""
        try:
            self._machine.feed(data)
        except (InvalidJSON, LimitExceeded) as error:
            error.fragments = self._sink.take()
            raise
        return self._sink.take()

    def flush(self) -> list[Fragment]:
        """The text has ended: the last fragments, or `Truncated`."""
        try:
            self._machine.flush()
        except (InvalidJSON, LimitExceeded) as error:
            error.fragments = self._sink.take()
            raise
        return self._sink.take()

    @property
    def pending(self) -> tuple[Path, str] | None:
        """Path and text of the number or literal that is being read, else None."""
        return self._machine.pending
