"""Text → events: the state machine that reads JSON. No I/O, no recursion.

The machine keeps a state (what it expects, or is inside of) and a stack of open containers, so it
can stop after any character and go on with the next piece. The pieces `{"a": [tr` and `ue]}`:

    {      FIRST_KEY       start_object; the frame around it goes onto the stack
    "a"    KEY, COLON      key "a"
    :      VALUE
    [      FIRST_ELEMENT   start_array
    tr                     not decided yet: kept in `_held`, no event
    ue     AFTER           read as `tr` + `ue`: scalar True
    ]      AFTER           end_container; the object's frame comes back from the stack
    }      END             end_container, complete

A string is different: its text is emitted as it arrives, one `text` event for each piece, and only
half an escape is held.

Rule 1: nesting and grammar are checked here and nowhere else; a `Sink` trusts its events.
Rule 2: a state is a number, its method consumes what it can and returns where it stopped; what it
        cannot decide yet (half an escape, half a literal) it leaves in `_held`, at most eleven
        characters, which are put before the next piece. So no character is read more than twice.

What comes of the events is the sink's: fragments in `parser.py`, a value in `document.py`.
"""

from __future__ import annotations

from codecs import BOM_UTF8, utf_8_decode
from collections.abc import Callable
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from sys import get_int_max_str_digits
from typing import Any, Final

from ..errors import (
    DEFAULT_LIMITS,
    FAR,
    CutShort,
    InvalidJSON,
    LimitExceeded,
    Limits,
    StreamClosed,
    Truncated,
    truncated,
)
from ..options import ParseFloat, check
from .c_scanner import each_key_once, passes_a_limit, scanner
from .characters import code_at, is_cut, plain_end
from .grammar import (
    CUT_ESCAPE,
    GOOD_ESCAPE,
    INTEGER,
    LITERALS,
    LONE_HIGH,
    NUMBER,
    NUMBER_STEPS,
    RECORD_END,
    SEPARATOR,
    SPACE,
    START,
    STRING_RUN,
    UNDECODABLE,
    WHOLE_ESCAPE,
    ZERO,
    unescape,
)
from .position import Position
from .sink import Sink
from .states import (
    AFTER,
    CLOSED,
    COLON,
    CUT,
    DIGITS,
    END,
    FIRST_ELEMENT,
    FIRST_KEY,
    HELD,
    KEY,
    NEXT_KEY,
    NOWHERE,
    PLAIN,
    READY,
    SKIPPED,
    STRING,
    VALUE,
)

# The usual limits, as numbers of the compiler's.
_MOST_TEXT, _MOST_STRING = DEFAULT_LIMITS.text, DEFAULT_LIMITS.string
_MOST_NUMBER, _MOST_KEYS = DEFAULT_LIMITS.number, DEFAULT_LIMITS.keys

# A container that begins this far from the end of a piece may well end in it.
WORTH_DECODING: Final = 64
# In so much text there may well be several objects of a list.
WORTH_A_RUN: Final = 512
# A piece no longer than this is looked through more than once without harm.
SHORT: Final = 256

# A loop over characters is the quickest way through a piece when compiled, else the slowest.
_COMPILED: Final = not __file__.endswith(".py")
_ENDED: Final = "this stream has ended; nothing can be fed to it any more"


class Machine(Position):
    """The state machine: text → events, emitted to the sink before `feed` returns."""

    __slots__ = (
        "_bom",
        "_bound",
        "_budget",
        "_cut",
        "_decoder",
        "_errors",
        "_keys_limit",
        "_limits",
        "_many",
        "_number_end",
        "_number_limit",
        "_parse_float",
        "_run_after",
        "_string_limit",
        "_tail",
        "_text_limit",
        "_document",
    )

    def __init__(
        self,
        sink: Sink,
        many: bool = False,
        parse_float: ParseFloat = float,
        limits: Limits | None = None,
    ) -> None:
        if limits is not None or parse_float is not float or many is not False:
            check(limits=limits, parse_float=parse_float, many=many)
        self._start()
        self._sink = sink
        self._many = many
        self._parse_float = parse_float
        self._limits = limits if limits is not None else DEFAULT_LIMITS
        if limits is None:
            self._text_limit, self._string_limit = _MOST_TEXT, _MOST_STRING
            self._number_limit, self._keys_limit = _MOST_NUMBER, _MOST_KEYS
        else:
            self._text_limit = min(limits.text, FAR)
            self._string_limit = min(limits.string, FAR)
            self._number_limit = min(limits.number, FAR)
            self._keys_limit = min(limits.keys, FAR)
        # The standard library's decoder, made when a piece is large enough; how much of this piece
        # it may read in vain.
        self._decoder: Callable[[str, int], tuple[Any, int]] | None = None
        self._budget = 0
        # The offset before which no run of objects is sought: there is none.
        self._run_after = 0
        # With many documents: the number of this one, and what went wrong in earlier ones.
        self._document = 0
        self._errors: list[InvalidJSON | LimitExceeded] | None = [] if many else None
        self._number_end = -1
        # A cut UTF-8 sequence, which waits for the next piece.
        self._tail = b""
        self._bom = True
        # The text ends here, but not the answer.
        self._cut = False
        # The offset of the last allowed character.
        self._bound = self._text_limit

    @property
    def document(self) -> int:
        """With many documents: the number of this one, from 0."""
        return self._document

    @property
    def errors(self) -> list[InvalidJSON | LimitExceeded]:
        """With many documents: the errors that ended some of them early, in order."""
        return [] if self._errors is None else self._errors

    def feed(self, data: str | bytes) -> None:
        """Read one piece, whatever it holds."""
        # The common case of a long answer, so it comes first: no quote, escape or control
        # character. isprintable() is stricter than JSON, what it refuses is looked at closely.
        entry = self._entry
        if (
            entry == PLAIN
            and type(data) is str
            and data
            and self._offset + len(data) <= self._stop
            and (
                plain_end(data, 0) == len(data)
                if _COMPILED
                else '"' not in data and "\\" not in data and data.isprintable()
            )
        ):
            self._offset += len(data)
            self._sink.text(data)
        elif entry <= READY and not self._many and type(data) is str:
            self._run(data)
        else:
            self.read(data)

    def read(self, data: str | bytes) -> None:
        """Read a piece that cannot simply be run."""
        if type(data) is not str:
            return self._feed_other(data)
        if self._entry >= CUT or self._many:
            return self._run_carefully(data)
        text = self._held + data
        self._held = ""
        return self._run(text)

    def flush(self, cut: CutShort | None = None) -> None:
        """End the text: complete a root number, or raise what is missing.

        With `cut` the answer goes on behind the text: nothing is completed or repaired.
        """
        if self._entry == CLOSED:
            return
        try:
            self._cut = cut is not None
            try:
                self._finish()
            except InvalidJSON as error:
                raise error if cut is None else truncated(cut, error) from None
            # A refusal is not the value, and more documents might have come.
            if cut is not None and (
                cut.reason == "refused" or (self._many and cut.reason != "lost")
            ):
                raise truncated(cut, self._error_here(Truncated, "", ""))
        except (InvalidJSON, LimitExceeded) as error:
            if not self._many:
                raise
            self._keep(error)
        self._close_stream()

    def _finish(self) -> None:
        if self._tail:
            kind = Truncated if self._at_bom() or self._state in (STRING, KEY) else InvalidJSON
            raise self._error_here(kind, "the rest of a UTF-8 character", "but the text ended")
        if self._state == DIGITS and not self._frames and self._number_state >= ZERO:
            if self._cut:
                raise self._error_here(Truncated, "the rest of the number", "but the text ended")
            self._finish_number(self._take_begun(), self._number_state <= INTEGER, "", 0)
        if self._state != END and not (self._many and self._outside()):
            raise self._error_here(Truncated, self._expected(), "but the text ended")

    def _at_bom(self) -> bool:
        """True if nothing has been read but perhaps the beginning of a byte order mark."""
        return self._bom and not self._offset and not self._held

    def _outside(self) -> bool:
        """True if the text is before, after or between documents."""
        return self._state in (VALUE, END, SKIPPED) and not self._frames and not self._held

    def _feed_other(self, data: Any) -> None:
        """Bytes, or a subclass of str."""
        if isinstance(data, str):
            return self.feed(str.__str__(data))
        if self._entry == CLOSED:
            raise StreamClosed(_ENDED)
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"feed() takes str or bytes, not {type(data).__name__}")
        data = self._tail + bytes(data)
        if self._at_bom():
            if len(data) < len(BOM_UTF8) and BOM_UTF8.startswith(data):
                self._keep_tail(data)
                return None
            data = data.removeprefix(BOM_UTF8)
        self._tail = b""
        self._bom = False
        try:
            text, used = utf_8_decode(data, "strict", False)
            self._run_carefully(text)
        except UnicodeDecodeError:
            text, used = utf_8_decode(data, "surrogateescape", False)
            self._run_undecodable(text)
        self._keep_tail(data[used:])
        return None

    def _keep_tail(self, tail: bytes) -> None:
        self._tail = tail
        if tail:
            self._entry = CUT

    def _run_undecodable(self, text: str) -> None:
        """Run text in which a lone surrogate stands for each byte that is not UTF-8."""
        start = 0
        for bad in UNDECODABLE.finditer(text):
            self._run_carefully(text[start : bad.start()])
            start = bad.start()
            if self._state != SKIPPED:
                self._leave_ended()
                byte = f"0x{ord(bad.group()) - 0xDC00:02x}"
                error = self._error_here(InvalidJSON, "UTF-8", f"but got byte {byte}")
                self._give_up(error, "", len(self._held))
        self._run_carefully(text[start:])

    def _leave_ended(self) -> None:
        """What is wrong after one of many documents is the fault of the next."""
        if self._many and self._state == END:
            self._next_document(VALUE, len(self._held))

    def _run_carefully(self, text: str) -> None:
        """Run where the stream may be closed, a limit passed, one of many documents invalid."""
        if self._entry == CLOSED:
            raise StreamClosed(_ENDED)
        if self._tail:
            raise self._error_here(InvalidJSON, "the rest of a UTF-8 character", "but a str came")
        start = 0
        while True:
            room = self._bound - self._offset - len(self._held)
            part = text[start : start + max(0, room)]
            start += len(part)
            self._run_documents(self._held + part)
            if start == len(text):
                return
            end = len(self._held)
            if self._offset + end < self._bound:
                continue  # another document began
            if self._many and self._outside():
                self._begin_at(self._offset)
            else:
                self._give_up(self._over("text", self._text_limit, self._held, end), "", end)

    def _run_documents(self, text: str) -> None:
        """Run, and with many documents run on where one was given up."""
        pos = 0
        self._held = ""
        while True:
            try:
                return self._run(text, pos)
            except (InvalidJSON, LimitExceeded) as error:
                assert error.offset is not None
                pos = error.offset - self._offset
                self._give_up(error, text, pos)
                self._held = ""  # half a literal, part of `text`

    def _give_up(self, error: InvalidJSON | LimitExceeded, text: str, pos: int) -> None:
        """One of many documents is lost: keep its error, go on after the next newline.

        A bracket in the first column is after a newline already: a line was cut off before it.
        """
        if not self._many:
            raise error
        self._keep(error)
        self._entry = READY
        char = text[pos : pos + 1]
        at_once = error.column == 1 and char in ("{", "[") and isinstance(error, InvalidJSON)
        self._next_document(VALUE if at_once or char == SEPARATOR else SKIPPED, pos)

    def _keep(self, error: InvalidJSON | LimitExceeded) -> None:
        """Without its traceback, which would keep the text and all that was going on."""
        self.errors.append(error.with_traceback(None))

    def _next_document(self, state: int, pos: int) -> None:
        """Begin another document with the character at `pos` of this piece."""
        self._sink.next_document()  # first, so that it can still ask what was pending
        self._state = state
        self._object = False
        self._frames.clear()
        self._begun = ""
        self._begin_at(self._offset + pos)
        self._document += 1

    def read_keys_once(self) -> None:
        """Walk objects in which a key comes twice: the sink needs each of its values.

        In runs the sink itself looks for such objects.
        """
        self._decoder = scanner(self._parse_float, each_key_once)

    def limit_text(self, offset: int, size: int) -> None:
        """Allow `size` characters from the one at `offset` on; no piece may be longer than that."""
        self._text_limit = size
        self._bound = offset + size

    def _begin_at(self, offset: int) -> None:
        """A document may begin here, and be as long as the limit allows."""
        self._bound = offset + self._text_limit

    def _run(self, text: str, pos: int = 0) -> None:  # noqa: C901
        """Read a piece from `pos` on, a token at a time.

        Its length: every character between tokens passes this loop, and a call for each of them
        would cost more than the rest. The branches are in the order in which they occur most often.
        """
        end = len(text)
        after = self._offset + end
        if after > self._bound:
            return self._run_carefully(text)
        if end >= WORTH_DECODING:
            self._budget = 2 * end
        while pos < end:
            state = self._state
            if state >= STRING:
                if state < DIGITS:
                    pos = self._string(text, pos, end, state)
                elif state == DIGITS:
                    pos = self._digits(text, pos)
                else:
                    pos = self._skip(text, pos)
                continue
            char = text[pos]
            if char == '"' and state <= NEXT_KEY:
                if state <= FIRST_ELEMENT:
                    self._sink.start_string(self._offset + pos)
                    self._state = STRING
                else:
                    self._state = KEY
                # The rest of `_open_string`.
                self._token = self._offset + pos
                pos += 1
                stop = self._offset + pos + self._string_limit
                self._stop = stop if stop < self._bound else self._bound
            elif char == "," and state == AFTER:
                if self._object:
                    self._state = NEXT_KEY
                else:
                    self._state = VALUE
                    self._count += 1
                pos += 1
                if pos < end and text[pos] == " ":
                    pos += 1
            elif char == ":" and state == COLON:
                self._state = VALUE
                pos += 1
                if pos < end and text[pos] == " ":
                    pos += 1
            elif char in " \t\n\r":
                pos += 1
                if pos < end and text[pos] in " \t\n\r":
                    if not _COMPILED:
                        pos = SPACE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
            elif state <= FIRST_ELEMENT:
                pos = self._value(text, pos, char)
            elif self._closes(char, state):
                pos = self._close(pos)
            else:
                pos = self._unexpected(text, pos)
        if self._held:
            after -= len(self._held)
            self._entry = HELD
        elif self._state != STRING:
            self._entry = READY
        else:
            self._entry = PLAIN
        if "\n" in text:
            self._count_lines(text, after - self._offset)
        self._offset = after
        return None

    def _skip(self, text: str, pos: int) -> int:
        """In the rest of a line that was given up."""
        match = RECORD_END.search(text, pos)
        if match is None:
            return len(text)
        self._state = VALUE
        self._begin_at(self._offset + match.end())
        return match.end()

    def _closes(self, char: str, state: int) -> bool:
        """True if this bracket may close the open container now."""
        if state == AFTER:
            return char == "}" if self._object else char == "]"
        return char == "}" and state == FIRST_KEY

    def _value(self, text: str, pos: int, char: str) -> int:
        """A value begins that is no string, or an empty array ends."""
        if char == "{" or char == "[":
            if len(text) - pos >= WORTH_DECODING and self._sink.takes_values():
                end = pos
                if char == "{" and not self._object and len(text) - pos >= WORTH_A_RUN:
                    end = self._decode_run(text, pos)
                if end == pos:
                    end = self._decode_whole(text, pos)
                if end > pos:
                    return end
            return self._open(text, pos, char)
        if char in "-0123456789":
            return self._begin_number(text, pos)
        if char in "tfn":
            return self._literal(text, pos, char)
        if char == "]" and self._state == FIRST_ELEMENT:
            return self._close(pos)
        return self._unexpected(text, pos)

    def _open(self, text: str, pos: int, char: str) -> int:
        if len(self._frames) >= self._limits.depth:
            raise self._over("depth", self._limits.depth, text, pos)
        self._frames.append((self._object, self._key, self._count))
        self._count = 0
        self._token = self._offset + pos
        if char == "{":
            self._object = True
            self._state = FIRST_KEY
            self._sink.start_object(self._offset + pos)
        else:
            self._object = False
            self._state = FIRST_ELEMENT
            self._sink.start_array(self._offset + pos)
        return pos + 1

    def _close(self, pos: int) -> int:
        """End the open container at the bracket at `pos`."""
        self._object, self._key, self._count = self._frames.pop()
        self._sink.end_container(self._offset + pos)
        if self._frames:
            self._state = AFTER
        else:
            self._ended(pos + 1)
        return pos + 1

    def _ended(self, pos: int) -> None:
        """Go to the state after a value; emit `complete` if it was the root."""
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
        if self._decoder is None:
            self._decoder = scanner(self._parse_float)
        self._budget -= left
        try:
            value, end = self._decoder(text, pos)
        except (ValueError, ArithmeticError, RecursionError, StopIteration):
            return pos
        depth = self._limits.depth - len(self._frames)
        if passes_a_limit(value, text, pos, end, depth, self._number_limit, self._keys_limit):
            return pos
        self._budget += left
        self._sink.scalar(value, None, self._offset + pos)
        self._ended(end)
        return end

    def _decode_run(self, text: str, pos: int) -> int:
        """Several objects of a list that end in this piece, read at once: they share their keys.

        `{"id": 1, …}, {"id": 2, …}, {"id": 3, …` is read up to the last object, which may go on in
        the next piece. It begins with the key that the first one begins with; if it does not, or if
        the text in between is no list, one object is read after the other. After one failure no
        other run is sought in the piece.
        """
        end = len(text)
        if self._offset + pos < self._run_after or not self._frames:
            return pos
        self._run_after = self._offset + end
        begins = text[pos : text.find(":", pos, pos + WORTH_DECODING) + 1]
        last = text.rfind(begins, pos + 1) if begins and self._sink.takes_runs() else -1
        end = text.rfind("}", pos, last) + 1 if last > pos else 0
        size = end - pos
        if size <= 0 or text[end:last].strip(" \t\n\r") != "," or size > self._limits.string:
            return pos
        try:
            values, stop = scanner(self._parse_float)(f"[{text[pos:end]}]", 0)
        except (ValueError, ArithmeticError, RecursionError, StopIteration):
            return pos
        depth = self._limits.depth - len(self._frames) + 1  # the list is the one that is open
        if stop != size + 2 or passes_a_limit(
            values, text, pos, end, depth, self._number_limit, self._keys_limit
        ):
            return pos
        if not self._sink.run(values, text, pos, end, self._offset + pos):
            return pos
        self._count += len(values) - 1
        self._state = AFTER
        if size * 8 >= len(text) - pos:  # so that all searches in a piece take linear time
            self._run_after = self._offset + end
        return end

    def _open_string(self, state: int, text: str, pos: int) -> int:
        self._state = state
        self._token = self._offset + pos
        stop = self._offset + pos + 1 + self._string_limit
        self._stop = stop if stop < self._bound else self._bound
        return pos + 1

    def _string(self, text: str, pos: int, end: int, state: int) -> int:
        """In a string or key: take its characters up to the quote or the end of the piece."""
        if _COMPILED:
            stop = plain_end(text, pos)
            plain = stop == end or text[stop] == '"'
            run = text[pos:stop]
        else:
            stop = text.find('"', pos) if '"' in text else -1
            if stop < 0:
                stop = end
            run = text[pos:stop]
            plain = "\\" not in run and run.isprintable()
        if not plain or self._offset + stop > self._stop:
            return self._escaped(text, pos)
        if state == STRING:
            if run:
                self._sink.text(run)
            if stop < end:  # the end of the string, as in `_end_string`
                self._sink.end_string()
                stop += 1
                if self._frames:
                    self._state = AFTER
                else:
                    self._ended(stop)
            return stop
        begun = self._begun
        if begun:  # as `_add` does
            self._begun = ""
            begun += run
            run = begun
        self._begun = run
        return stop if stop == end else self._end_key(text, stop)

    def _escaped(self, text: str, pos: int) -> int:
        """The same for text with escapes, unusual characters, or more of them than allowed."""
        end = min(len(text), self._stop - self._offset)
        stop = NOWHERE
        if len(text) <= SHORT:
            if _COMPILED:
                stop = self._take_escapes(text, pos, end)
            else:
                stop = self._take_simple(text, pos, end)
        if stop == NOWHERE:
            stop = STRING_RUN.match(text, pos, end).end()  # type: ignore[union-attr]  # may be empty
            if stop > pos:
                run = text[pos:stop]
                self._take(unescape(run) if "\\" in run else run)
        if stop < len(text) and text[stop] == '"':
            if self._state == STRING:
                return self._end_string(text, stop)
            return self._end_key(text, stop)
        if stop < end and text[stop] == "\\":
            cut = is_cut(text, stop, end) if _COMPILED else text[stop:] in ("\\", "\\u")
            if end == len(text) and cut:
                self._held = text[stop:]
                return end
            last = text[end : end + 1] == '"' and LONE_HIGH.fullmatch(text, stop, end)
            if last or not CUT_ESCAPE.match(text, stop, end):
                return self._odd_escape(text, stop)
            if end == len(text):
                self._held = text[stop:]
                return end
            stop = end
        if stop < end:
            return self._control(text, stop)
        if end < len(text):
            raise self._over("string", self._limits.string, text, end)
        return end

    def _take_simple(self, text: str, pos: int, end: int) -> int:
        """Text with short escapes alone, without a pattern. Gives where it ends, else NOWHERE."""
        if "\\u" in text:
            # The beginning of an escape and nothing else: there is no text before it.
            alone = end - pos < WHOLE_ESCAPE and text.startswith("\\u", pos)
            return pos if alone else NOWHERE
        quote = text.find('"', pos, end)
        if quote >= 0:
            end = quote
        run = text[pos:end]
        if not run or run[-1] == "\\" or not run.isprintable():
            return NOWHERE
        try:
            # As `unescape`, without a call of Python.
            run = scanstring(run + '"', 0, True)[0]
        except ValueError:
            return NOWHERE
        self._take(run)
        return end

    def _take_escapes(self, text: str, pos: int, end: int) -> int:
        """The same character by character, which is the quickest way when compiled."""
        run = ""
        while pos < end:
            stop = min(plain_end(text, pos), end)
            if stop > pos:
                run += text[pos:stop]
                pos = stop
            code = code_at(text, pos, end)
            if code < 0:
                break
            run += chr(code)
            pos += WHOLE_ESCAPE if text[pos + 1] == "u" else 2
        if pos < end and text[pos] != '"' and not is_cut(text, pos, end):
            return NOWHERE
        if run:
            self._take(run)
        return pos

    def _odd_escape(self, text: str, pos: int) -> int:
        """A high surrogate alone right before the limit or a bad escape; or no escape at all."""
        if LONE_HIGH.match(text, pos):
            self._take(chr(int(text[pos + 2 : pos + 6], 16)))
            return pos + 6
        good = GOOD_ESCAPE.match(text, pos)
        pos = good.end() if good else pos + 1
        expected = "a hexadecimal digit" if text[pos - 1] != "\\" else "an escape"
        return self._unexpected(text, pos, expected)

    def _control(self, text: str, pos: int) -> int:
        return self._unexpected(text, pos, "no control character in a string")

    def _take(self, run: str) -> None:
        if self._state == KEY:
            self._add(run)
        else:
            self._sink.text(run)

    def _add(self, run: str) -> None:
        """Add to the key or number that is being read, in place as in `ValueBuilder.text`."""
        begun = self._begun
        self._begun = ""
        begun += run
        self._begun = begun

    def _take_begun(self) -> str:
        begun = self._begun
        self._begun = ""
        return begun

    def _end_string(self, text: str, quote: int) -> int:
        self._sink.end_string()
        if self._frames:
            self._state = AFTER
        else:
            self._ended(quote + 1)
        return quote + 1

    def _end_key(self, text: str, quote: int) -> int:
        key = self._begun
        self._begun = ""
        self._count += 1
        if self._count > self._keys_limit:
            raise self._over("keys", self._limits.keys, text, quote)
        self._key = key
        self._state = COLON
        self._sink.key(key, self._token)
        return quote + 1

    def _begin_number(self, text: str, pos: int) -> int:
        """A number: at once when its end is in sight, else digit by digit."""
        self._token = self._offset + pos
        self._stop = self._token + self._number_limit
        if not _COMPILED and len(text) - pos > 6:
            match = NUMBER.match(text, pos)
            if match is not None:
                end = match.end()
                if (
                    end < len(text)
                    and text[end] in ",]} \t\n\r"
                    and self._offset + end <= self._stop
                ):
                    self._finish_number(match.group(), match.lastindex is None, text, end)
                    return end
        self._state = DIGITS
        self._number_state = START
        return self._digits(text, pos)

    def _digits(self, text: str, pos: int) -> int:
        start, state = pos, self._number_state
        end = min(len(text), self._stop - self._offset)
        while pos < end:
            steps = NUMBER_STEPS[state]
            step = steps.get(text[pos])
            if step is None:
                break
            state = step
            pos += 1
            if _COMPILED and state >= INTEGER:
                while pos < end and "0" <= text[pos] <= "9":
                    pos += 1
        if pos == len(text):
            self._number_state = state
            self._add(text[start:])
            return pos
        number = text[start:pos]
        if self._begun:
            self._add(number)
            number = self._begun
        self._begun = number
        self._number_state = state
        if pos == end and text[pos] in NUMBER_STEPS[state]:
            raise self._over("number", self._limits.number, text, pos)
        if state < ZERO or not (text[pos] in ",]} \t\n\r" or self._ends_number(text, pos)):
            return self._unexpected(text, pos)
        self._number_end = self._offset + pos
        self._begun = ""
        self._finish_number(number, state <= INTEGER, text, pos)
        return pos

    def _ends_number(self, text: str, pos: int) -> bool:
        """True if a number may end before `text[pos]`, which is no delimiter of JSON's.

        Anything else shows that it is none: 2024-05-01 is not 2024. Of many documents one may begin
        without a delimiter.
        """
        return self._many and not self._frames and text[pos] in '{["tfn\x1e'

    def _finish_number(self, number: str, integer: bool, text: str, end: int) -> None:
        """A number that ended before the character at `end` of this piece."""
        if integer:
            try:
                value = int(number)
            except ValueError as error:
                self._begun_number(number)
                raise self._over("number", get_int_max_str_digits(), text, end) from error
        else:
            try:
                value = self._parse_float(number)
            except (ValueError, ArithmeticError) as error:  # as Decimal, for a huge exponent
                got = f"but got {number!r}"
                self._begun_number(number)
                raise self._error(InvalidJSON, "another number", got, text, end) from error
        self._sink.scalar(value, number, self._token)
        if self._frames:
            self._state = AFTER
        else:
            self._ended(end)

    def _begun_number(self, number: str) -> None:
        """Go back to before the end of a number that is refused: it is still pending."""
        self._begun = number
        self._state = DIGITS

    def _literal(self, text: str, pos: int, char: str) -> int:
        word, value = LITERALS[char]
        self._token = self._offset + pos
        if text.startswith(word, pos):
            self._sink.scalar(value, None, self._token)
            self._number_end = self._token + len(word)
            self._ended(pos + len(word))
            return pos + len(word)
        rest = text[pos:]
        if word.startswith(rest):
            self._held = rest
            return len(text)
        return self._odd_literal(text, pos, word)

    def _odd_literal(self, text: str, pos: int, word: str) -> int:
        """A word that begins like `word` and is another."""
        rest = text[pos : pos + len(word)]
        wrong = next(at for at, want in enumerate(word) if rest[at : at + 1] != want)
        self._held = word[:wrong]  # what is pending after the error
        got = f"but got {text[pos + wrong]!r}"
        raise self._error(InvalidJSON, repr(word), got, text, pos + wrong)

    def _unexpected(self, text: str, pos: int, expected: str = "") -> int:
        """Handle a character that cannot stand here: raise, or begin the next of many documents."""
        if self._many and not self._frames:
            if text[pos] == SEPARATOR and self._state in (VALUE, END) and not expected:
                return pos + 1
            if self._state == END:
                self._next_document(VALUE, pos)
                return pos
        expected = expected or self._expected()
        raise self._error(InvalidJSON, expected, f"but got {text[pos]!r}", text, pos)
