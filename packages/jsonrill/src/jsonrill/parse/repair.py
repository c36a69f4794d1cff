"""Text → events for what models write instead of JSON: twelve rules, everything else is refused.

`rules.py` lists them. The machine is like the strict one: a state, a stack of frames, and a sink
that gets each event before `feed` returns. What differs is that some characters have two readings:
a quote may end its string or be part of it. Then the machine looks ahead (`lookahead.py`), and
waits if the text that has come does not decide. In the pieces `{'a': "say "hi` and `" now",}`:

    '       `quotes`: the key ends at the next '
    "hi     `"` may begin a quotation; it waits for the end of the word
    " now   ends no value here: `inner-quotes`, twice
    ",      ends the value
    }       `commas`

A decision depends on the state and on the text from there on, at most `REACH` characters of it, and
never on where a piece ends: reading stops before the undecided character and starts there again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from ..errors import DEFAULT_LIMITS, CutShort, InvalidJSON, Limits, Truncated, truncated
from .grammar import CUT_ESCAPE, ESCAPE, LONE_HIGH, NUMBER, STRING_RUN, unescape
from .lookahead import (
    CLOSERS,
    NO,
    ODD_SPACES,
    REACH,
    TOKEN,
    UNCLEAR,
    WAIT,
    WORD,
    WORDS,
    YES,
    comment_at,
    ends_key,
    ends_value,
    is_scalar,
    key_at,
    may_quote,
    skip_spaces,
    strings_at,
    value_begins,
)
from .position import Position
from .reasoning import ELEMENTS
from .rules import rule_names
from .scanner import plain_end, scan, scanner
from .sink import Repair, Sink
from .states import (
    AFTER,
    BEFORE,
    BLOCK_COMMENT,
    COLON,
    ELLIPSIS,
    END,
    FIRST_ELEMENT,
    FIRST_KEY,
    KEY,
    LINE_COMMENT,
    NEXT_KEY,
    STRING,
    VALUE,
)

# A container that begins this far from the end of a piece may well end in it.
_WORTH_SCANNING: Final = 64
# What matters in the text around the value.
_MARK: Final = re.compile(r"[\n{}\[\]`<]")
_FENCE: Final = re.compile(r"`{3,}[ \t]*[\w+-]*")
_THOUGHTS: Final = re.compile(rf"<({'|'.join(ELEMENTS)})>", re.IGNORECASE)
_CUT_FENCE: Final = re.compile(r"`+[ \t]*[\w+-]*\Z")
_CUT_TAG: Final = re.compile(r"<[\w:]{0,16}\Z")
# Escapes of other languages, or half a code of JSON: not text.
_FOREIGN_ESCAPE: Final = re.compile(
    r"\\(?:x[0-9A-Fa-f]{2}|U[0-9A-Fa-f]{8}|N\{|u[0-9{]|[\x00-\x1f])"
)
_CUT_FOREIGN: Final = re.compile(r"\\(?:x[0-9A-Fa-f]?|U[0-9A-Fa-f]{0,7}|N|u)?\Z")
_REAL_ESCAPE: Final = re.compile(r"\\[^\"]")
# Text and escapes; in other quotes than JSON's, one escape at a time.
_RUN: Final = {True: STRING_RUN, False: re.compile(rf"(?:{ESCAPE.pattern})?")}
_FILLERS: Final = " \t\r\n`"
_SPACES: Final = " \t\r\n" + ODD_SPACES
_AFTER_VALUE: Final = ",}]"
# Of `-` alone an infinity may come.
_PENDING: Final = re.compile(r"-?[0-9]|[tfn]")
_AFTER_NUMBER: Final = ",]}/#" + _SPACES
# What shows, at the end of the text, that a string or key has lost its closing quote.
_SWALLOWED: Final = {STRING: re.compile(r"[{}\[\]]"), KEY: re.compile(r"[{}\[\]:,\n]")}


class RepairMachine(Position):
    """The state machine for near-JSON: text → events and a list of repairs."""

    __slots__ = ("_brackets", "_budget", "_closer", "_cut", "_gap", "_has_backslash",
                 "_has_escape", "_has_newline", "_last", "_noted", "_on_repair", "_previous",
                 "_quotes", "_repairs", "_resume", "_root_scalar", "_rules", "_text_tail",
                 "_thoughts")  # fmt: skip

    def __init__(
        self,
        sink: Sink,
        rules: bool | Iterable[str] = True,
        on_repair: Callable[[Repair], None] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        parse_float: Any = float,
        prefix: str = "",
    ) -> None:
        self._start(sink, BEFORE, limits, parse_float, prefix)
        self._rules = rule_names(rules)
        self._on_repair = on_repair
        self._repairs: list[Repair] = []
        # The text has ended; and a provider says that the answer has not.
        self._last = self._cut = False
        # How many characters of this piece the C scanner may still read unsuccessfully.
        self._budget = 0
        # Around the value: the last character, "\n" if only white space came in this line; the tag
        # that ends thoughts; whether text was reported; brackets that are open.
        self._previous = "\n"
        self._thoughts = ""
        self._noted = self._root_scalar = False
        self._brackets = 0
        # White space, a comment or a bracket came after the last value.
        self._gap = False
        # The state after a comment.
        self._resume = VALUE
        # The open string or key: what ends it, the offset at which its limit is reached, the last
        # of its text, and what it contains: inner quotes, escapes, loose backslashes, raw newlines.
        self._closer = '"'
        self._text_tail = ""
        self._quotes = 0
        self._has_escape = self._has_backslash = self._has_newline = False

    @property
    def repairs(self) -> list[Repair]:
        """The repairs, in order."""
        return self._repairs

    @property
    def pending_text(self) -> str | None:
        """Text of the number or literal that is being read, else None."""
        is_pending = self._state <= FIRST_ELEMENT and _PENDING.match(self._held)
        return self._held if is_pending else None

    # Pieces

    def feed(self, data: str | bytes) -> None:
        """Read one piece, whatever it contains."""
        # The common case of a long answer: plain text inside a string.
        if (
            self._state == STRING
            and type(data) is str
            and data
            and not self._held
            and not self._tail
            and not self._closed
            and self._offset + len(data) <= self._stop
            and self._offset + len(data) <= self._text_limit
            and plain_end(data, 0, self._closer) == len(data)
        ):
            self._offset += len(data)
            if data[-1] in _FILLERS:
                self._take(data)
            else:
                self._sink.text(data)
                self._text_tail = data
        elif type(data) is str:
            self._feed_text(data)
        else:
            self._feed_other(data)

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
        """Read a piece up to its end, or up to a character that cannot be decided yet."""
        pos, end = 0, len(text)
        self._held = ""
        self._budget = 2 * end
        while pos < end:
            state = self._state
            if state == STRING or state == KEY:
                after = self._string(text, pos)
            elif state >= END:
                after = self._outside_value(text, pos, state)
            else:
                # What JSON has between tokens, as in the strict machine.
                char = text[pos]
                if char == '"' and state <= NEXT_KEY:
                    after = self._open_string(text, pos, '"', state)
                elif char == "," and state == AFTER:
                    self._add_comma()
                    after = pos + 1
                elif char == ":" and state == COLON:
                    self._state = VALUE
                    after = pos + 1
                elif char == " " or char == "\n" or char == "\t" or char == "\r":
                    self._gap = True
                    after = pos + 1
                else:
                    after = self._between_tokens(text, pos, state)
            if after < 0:
                break
            pos = after
        if pos < end:
            self._held = text[pos:]
        if "\n" in text:
            self._count_lines(text, pos)
        self._offset += pos

    def _outside_value(self, text: str, pos: int, state: int) -> int:
        if state == LINE_COMMENT or state == BLOCK_COMMENT:
            return self._in_comment(text, pos)
        if state == ELLIPSIS:
            return self._after_ellipsis(text, pos)
        return self._around(text, pos)

    def flush(self, cut: CutShort | None = None) -> None:
        """End the text: close what is open, or raise what is wrong.

        With `cut` the provider says that the answer was cut: then nothing is closed.
        """
        if self._closed:
            return
        self._cut = cut is not None
        try:
            self._finish()
        except InvalidJSON as error:
            raise error if cut is None else truncated(cut, error) from None
        if cut is not None and cut.reason == "refused":
            raise truncated(cut, self._error_here(Truncated, "", ""))
        self._closed = True

    def _finish(self) -> None:
        if self._tail:
            raise self._too_short("the rest of a UTF-8 character")
        self._last = True
        self._run(self._held)
        if self._state == BEFORE:
            self._finish_scalar()
        if self._state != END:
            if self._cut or not self.frames:
                raise self._too_short(self._expected())
            self._cut_off()

    def _too_short(self, expected: str) -> InvalidJSON:
        return self._error_here(Truncated, expected, "but the text ended")

    def _finish_scalar(self) -> None:
        """Emit the number or literal that is the whole text."""
        token = self._held.rstrip(" \t\r\n")
        if self._noted:
            raise self._error_here(InvalidJSON, "a value", "but the text has none")
        if not token:
            raise self._too_short("a value")
        if self._cut and token[0] in "-0123456789":
            raise self._too_short("the rest of the number")
        text, self._held = self._held, ""
        self._state = VALUE
        after = self._value(text, 0, text[0])
        if after < 0:
            self._held = text
        else:
            self._offset += len(text)

    def _cut_off(self) -> None:
        """Close what is open: half a key or number is dropped, half a word has one meaning."""
        state, held = self._state, self._held
        if state == LINE_COMMENT or state == BLOCK_COMMENT:
            raise self._too_short("the end of the comment")
        if state == STRING or state == KEY:
            # A string that lost its closing quote continues into the JSON after it.
            end = self._token_text if state == KEY else self._text_tail.rstrip(_FILLERS)[-1:]
            if self._quotes or self._has_newline or _SWALLOWED[state].search(end):
                raise self._too_short("the end of the string")
            if state == STRING:
                self._sink.end_string()
        elif state <= FIRST_ELEMENT and held[:1].isalpha():
            word = next(word for word in WORDS if word.startswith(held.lower()))
            self._sink.scalar(WORDS[word], None, self._offset)
        self._fix("cut-off", held, len(held))
        while self.frames:
            self._close(len(held))

    # Around the value

    def _around(self, text: str, pos: int) -> int:
        """Pass the text before or after the value; stop where the value begins."""
        start = pos
        if self._thoughts:
            return self._in_thoughts(text, pos)
        if self._state == BEFORE and not self._noted:
            pos = skip_spaces(text, pos, len(text))
            self._pass(text, start, pos)
            if pos > start:
                return pos
            if text[pos] == '"' or text[pos] == "-" or text[pos].isalnum():
                return self._scalar_first(text, pos)
        while pos < len(text):
            mark = _MARK.search(text, pos)
            stop = mark.start() if mark else len(text)
            self._pass(text, pos, stop)
            pos = stop
            if mark is None:
                break
            after = self._mark(text, pos, mark[0])
            if after == WAIT:
                break
            if self._state == VALUE or self._thoughts:
                return after
            pos = after
        return pos if pos > start else WAIT

    def _mark(self, text: str, pos: int, char: str) -> int:
        """Read a character around the value that may begin something."""
        end, final = self._window(text, pos)
        after = pos + 1
        if char == "`":
            fence = _FENCE.match(text, pos, end)
            if not final and _CUT_FENCE.match(text, pos):
                return WAIT
            if fence is not None:
                self._pass(text, pos, fence.end())
                self._previous = "\n"
                return fence.end()
        elif char == "<":
            if not final and _CUT_TAG.match(text, pos):
                return WAIT
            tag = _THOUGHTS.match(text, pos)
            if tag is not None and self._state == BEFORE:
                self._thoughts = f"</{tag[1]}>"
                after = tag.end()
        elif char in "{[":
            is_second = self._state == END
            verdict = value_begins(text, pos, end, final, self._previous, is_second)
            if verdict == WAIT:
                return WAIT
            if verdict == YES and is_second:
                raise self._refuse("no second value", text, pos)
            if verdict == YES and self._brackets:
                raise self._refuse("no value inside other brackets", text, pos)
            if verdict == YES:
                self._state = VALUE
                return pos
            self._brackets += 1
        elif char in "}]":
            if self._state == END and not self._brackets:
                raise self._refuse("no closing bracket after the value", text, pos)
            self._brackets -= self._brackets > 0
        self._pass(text, pos, after)
        return after

    def _in_thoughts(self, text: str, pos: int) -> int:
        tag = re.compile(re.escape(self._thoughts), re.IGNORECASE).search(text, pos)
        if tag is not None:
            self._thoughts = ""
            return tag.end()
        if self._last:
            return len(text)
        after = len(text) - len(self._thoughts) + 1
        return after if after > pos else WAIT

    def _scalar_first(self, text: str, pos: int) -> int:
        """Read a string, or hold a number or literal until it is known to be the whole text."""
        if text[pos] == '"':
            self._state = VALUE
            return self._value(text, pos, '"')
        end, final = self._window(text, pos)
        token = TOKEN.match(text, pos, end)
        if token is not None and skip_spaces(text, token.end(), end) == end:
            if not final or self._last:
                return WAIT
            if is_scalar(token[0]):
                self._state = VALUE
                return self._value(text, pos, text[pos])
        self._pass(text, pos, pos + 1)
        return pos + 1

    def _pass(self, text: str, pos: int, end: int) -> None:
        """Go past text around the value, and report the first of it."""
        for at in range(pos, end) if not self._noted else ():
            char = text[at]
            if char in ODD_SPACES:
                self._fix("spaces", text, at)
            elif char not in " \t\r\n":
                if self._root_scalar or (self._state == END and char in ',:"{['):
                    raise self._refuse(self._expected(), text, at)
                self._fix("around", text, at)
                self._noted = True
                break
        passed = text[pos:end]
        line = passed.rfind("\n") + 1
        if line:
            self._previous = "\n"
        if passed[line:].strip(_SPACES) or (passed[line:] and self._previous != "\n"):
            self._previous = passed[-1]

    # Between tokens

    def _between_tokens(self, text: str, pos: int, state: int) -> int:
        char = text[pos]
        if state == AFTER:
            if char == self._bracket():
                return self._close(pos)
        elif state <= NEXT_KEY:
            if char in CLOSERS:
                return self._open_string(text, pos, char, state)
            if state <= FIRST_ELEMENT and char not in "]/#.…" and char not in ODD_SPACES:
                return self._value(text, pos, char)
        return self._odd_token(text, pos, char, state)

    def _odd_token(self, text: str, pos: int, char: str, state: int) -> int:
        """Read what JSON does not have between tokens, or a bracket after a comma."""
        if char in ODD_SPACES:
            self._fix("spaces", text, pos)
            self._gap = True
            return pos + 1
        if char in "/#" and self.frames:
            return self._comment(text, pos)
        if char == self._bracket():
            if state == NEXT_KEY or (state == VALUE and not self._in_object()):
                self._fix("commas", text, pos)
                return self._close(pos)
            if state == FIRST_KEY or state == FIRST_ELEMENT:
                return self._close(pos)
        if char in ".…" and (state == NEXT_KEY or (state == VALUE and not self._in_object())):
            return self._ellipsis(text, pos)
        if state == AFTER:
            return self._missing_comma(text, pos, char)
        if state == FIRST_KEY or state == NEXT_KEY:
            return self._bare_key(text, pos)
        raise self._refuse(self._expected(), text, pos)

    def _add_comma(self) -> None:
        frame = self._frame
        self._state = NEXT_KEY if frame.is_object else VALUE
        frame.count += not frame.is_object

    def _missing_comma(self, text: str, pos: int, char: str) -> int:
        """Go on without a comma if a whole key or another element follows."""
        end, final = self._window(text, pos)
        if self._in_object():
            verdict = key_at(text, pos, end, final)
        elif char in CLOSERS:
            verdict = strings_at(text, pos, end, final)
        else:
            verdict = YES if char in "{[-" or char.isalnum() else NO
        if verdict == WAIT:
            return WAIT
        if verdict != YES or not self._gap:
            raise self._refuse(self._expected(), text, pos)
        self._fix("commas", text, pos)
        self._add_comma()
        return pos

    def _comment(self, text: str, pos: int) -> int:
        verdict = comment_at(text, pos, len(text), self._last)
        if verdict == WAIT:
            return WAIT
        if verdict == NO:
            raise self._refuse(self._expected(), text, pos)
        self._fix("comments", text, pos)
        self._resume = self._state
        is_block = text[pos] == "/" and text[pos + 1] == "*"
        self._state = BLOCK_COMMENT if is_block else LINE_COMMENT
        return pos + 2 if text[pos] == "/" else pos + 1

    def _in_comment(self, text: str, pos: int) -> int:
        is_line = self._state == LINE_COMMENT
        end = text.find("\n" if is_line else "*/", pos)
        if end < 0:
            # The first half of `*/` may be there.
            after = len(text) - (not is_line and text[-1] == "*")
            return after if after > pos else WAIT
        self._state = self._resume
        self._gap = True
        return end + 1 if is_line else end + 2

    def _ellipsis(self, text: str, pos: int) -> int:
        dots = "…" if text[pos] == "…" else "..."
        if not text.startswith(dots, pos):
            if dots.startswith(text[pos:]):
                return WAIT
            raise self._refuse(self._expected(), text, pos)
        self._fix("ellipses", text, pos)
        self._state = ELLIPSIS
        return pos + len(dots)

    def _after_ellipsis(self, text: str, pos: int) -> int:
        char = text[pos]
        if char in " \t\r\n":
            return pos + 1
        if char in "/#":
            return self._comment(text, pos)
        if char == self._bracket():
            return self._close(pos)
        raise self._refuse(self._expected(), text, pos)

    # Values

    def _value(self, text: str, pos: int, char: str) -> int:
        self._token = self._offset + pos
        if char == "{" or char == "[":
            after = self._scan(text, pos)
            return after if after > pos else self._open(text, pos, char)
        if char == '"':
            return self._open_string(text, pos, char, VALUE)
        if char.isdecimal() or (char == "-" and text[pos + 1 : pos + 2] not in ("i", "I")):
            return self._number(text, pos)
        return self._word(text, pos)

    def _scan(self, text: str, pos: int) -> int:
        """Read a container that is valid JSON and ends in this piece with the C scanner.

        Each of its quotes is followed by what follows it in JSON: no rule would read it otherwise.
        """
        left = len(text) - pos
        if left < _WORTH_SCANNING or left > self._budget or not self._sink.takes_values():
            return pos
        self._budget -= left
        found = scan(text, pos, scanner(self._parse_float), self._limits, len(self.frames))
        if found is None:
            return pos
        self._budget += left
        self._sink.scalar(found[0], None, self._offset + pos)
        self._ended(found[1], is_container=True)
        return int(found[1])

    def _close(self, pos: int) -> int:
        self._leave(pos)
        self._ended(pos + 1, is_container=True)
        return pos + 1

    def _ended(self, pos: int, is_container: bool = False) -> None:
        """Go to the state after a value."""
        self._gap = is_container
        if self.frames:
            self._state = AFTER
            return
        self._state = END
        self._root_scalar = not is_container
        self._previous = " "
        self._noted = False
        self._brackets = 0
        self._sink.complete(self._offset + pos)

    def _number(self, text: str, pos: int) -> int:
        match = NUMBER.match(text, pos)
        end = pos if match is None else match.end()
        limit = self._number_limit
        if end - pos > limit:
            raise self._over("number", limit, text, pos + limit)
        if match is not None and end < len(text) and text[end] in ",]}":
            self._emit_number(text, pos, end)
            return end
        token = TOKEN.match(text, pos)
        after = pos + 1 if token is None else token.end()
        if after == len(text) and (self.frames or not self._last):
            if after - pos < REACH or end == after:
                return WAIT
        if after > end or (after < len(text) and text[after] not in _AFTER_NUMBER):
            self._held = text[pos:end]
            raise self._refuse("a digit" if end == pos else self._expected_after(), text, end)
        self._emit_number(text, pos, end)
        return end

    def _emit_number(self, text: str, pos: int, end: int) -> None:
        number = self._held = text[pos:end]  # pending, if it is refused
        value = self._read_number(number, text, end)
        self._held = ""
        self._sink.scalar(value, number, self._token)
        self._ended(end)

    def _word(self, text: str, pos: int) -> int:
        word = WORD.match(text, pos)
        if word is not None:
            if word[0] not in ("true", "false", "null"):
                self._fix("words", text, pos)
            self._sink.scalar(WORDS[word[0].lower()], None, self._token)
            self._ended(word.end())
            return word.end()
        end = pos
        while end < len(text) and _is_cut_word(text[pos : end + 1]):
            end += 1
        if end == len(text):
            return WAIT
        self._held = text[pos:end]
        raise self._refuse(self._expected(), text, end)

    def _bare_key(self, text: str, pos: int) -> int:
        end, final = self._window(text, pos)
        verdict = key_at(text, pos, end, final)
        name = TOKEN.match(text, pos)
        if verdict == WAIT or (self._last and name is not None and name.end() == len(text)):
            return WAIT
        if verdict == NO:
            raise self._refuse(self._expected(), text, pos)
        self._fix("keys", text, pos)
        self._token = self._offset + pos
        end = text.index(":", pos)
        key = text[pos:end].rstrip(_SPACES)
        self._token_text = key
        self._add_key(text, pos)
        return pos + len(key)

    # Strings

    def _open_string(self, text: str, pos: int, char: str, state: int) -> int:
        if char != '"':
            self._fix("quotes", text, pos)
        self._token = self._offset + pos
        self._stop = self._token + 1 + self._string_limit
        self._closer = CLOSERS[char]
        self._text_tail = ""
        self._quotes = 0
        self._has_escape = self._has_backslash = self._has_newline = False
        if state <= FIRST_ELEMENT:
            self._state = STRING
            self._sink.start_string(self._token)
        else:
            self._state = KEY
            self._token_text = ""
        return pos + 1

    def _string(self, text: str, pos: int) -> int:
        """Read the text of a string or key, up to what may end it."""
        end = min(len(text), self._stop - self._offset)
        stop = min(plain_end(text, pos, self._closer), end)
        if stop < end and text[stop] == "\\":
            # As in the strict machine, one event for the text of a piece.
            first = pos if self._closer == '"' else stop
            after = _RUN[self._closer == '"'].match(text, first, end).end()  # type: ignore[union-attr]
            if after > stop:
                if first > pos:
                    self._take(text[pos:first])
                self._take_escapes(text, first, after)
                return after
        if stop > pos:
            self._take(text[pos:stop])
        if stop == len(text):
            return stop
        if text[stop] == self._closer:
            after = self._quote(text, stop)
        elif stop == end:
            raise self._over("string", self._limits.string, text, end)
        elif text[stop] == "\\":
            after = self._odd_escape(text, stop, end)
        else:
            self._fix("newlines", text, stop)
            self._has_newline = True
            self._take(text[stop])
            after = stop + 1
        return stop if after == WAIT and stop > pos else after

    def _take(self, run: str) -> None:
        if self._state == KEY:
            self._token_text += run
        else:
            self._sink.text(run)
        # The last character that is not white space or a fence, and the last of all.
        is_filler = run[-1] in _FILLERS and not run.strip(_FILLERS)
        self._text_tail = self._text_tail.rstrip(_FILLERS)[-1:] + run[-1] if is_filler else run

    def _take_escapes(self, text: str, pos: int, end: int) -> None:
        """Take a run of text with valid escapes."""
        run = text[pos:end]
        escape = _REAL_ESCAPE.search(run)
        if escape is not None and self._has_backslash:
            if escape.start() > 0:
                self._take(unescape(run[: escape.start()]))
            expected = "no escape after a backslash that is text"
            raise self._refuse(expected, text, pos + escape.start())
        self._has_escape = self._has_escape or escape is not None
        self._take(unescape(run))

    def _odd_escape(self, text: str, pos: int, end: int) -> int:
        """Read a backslash that begins no escape of JSON, or only a part of one."""
        if CUT_ESCAPE.match(text, pos) or _CUT_FOREIGN.match(text, pos):
            return WAIT
        if CUT_ESCAPE.match(text, pos, end):
            raise self._over("string", self._limits.string, text, end)
        if LONE_HIGH.match(text, pos):
            self._has_escape = True
            self._take(chr(int(text[pos + 2 : pos + 6], 16)))
            return pos + 6
        if _FOREIGN_ESCAPE.match(text, pos):
            raise self._refuse("an escape", text, pos + 1)
        self._fix("escapes", text, pos)
        char = text[pos + 1]
        if char in "_'":
            self._take(char)
            return pos + 2
        if self._has_escape:
            raise self._refuse("no backslash that is text after an escape", text, pos)
        self._has_backslash = True
        self._take("\\")
        return pos + 1

    def _quote(self, text: str, pos: int) -> int:
        """End the string or key at this quote, or take the quote as a part of it."""
        follows = text[pos + 1 : pos + 2]
        is_usual = follows == ":" if self._state == KEY else follows in _AFTER_VALUE and follows
        if "inner-quotes" in self._rules and self.frames and (self._quotes or not is_usual):
            end, final = self._window(text, pos)
            if self._state == KEY:
                verdict = ends_key(text, pos, end, final)
            else:
                verdict = ends_value(text, pos, end, final, self._in_object())
            if verdict == WAIT:
                return WAIT
            if verdict == NO:
                return self._inner_quote(text, pos, end, final)
            if verdict == UNCLEAR or self._quotes % 2:
                raise self._refuse("escaped quotes in a string", text, pos)
        if self._state == KEY:
            self._add_key(text, pos)
        else:
            self._sink.end_string()
            self._ended(pos + 1)
        return pos + 1

    def _inner_quote(self, text: str, pos: int, end: int, final: bool) -> int:
        """Take a quote as text if it is an apostrophe or fits a quotation."""
        before, after = self._text_tail[-1:], text[pos + 1 : pos + 2]
        if self._closer != "'" or not (before.isalpha() and after.isalpha()):
            if self._quotes % 2:
                verdict = NO if after.isalnum() else YES
            else:
                verdict = may_quote(text, pos, end, final, before)
            if verdict == WAIT:
                return WAIT
            if verdict == NO:
                raise self._refuse("escaped quotes in a string", text, pos)
            self._quotes += 1
        self._fix("inner-quotes", text, pos)
        self._take(text[pos])
        return pos + 1

    # Decisions

    def _in_object(self) -> bool:
        return bool(self.frames) and self._frame.is_object

    def _bracket(self) -> str:
        """Return the bracket that closes the open container."""
        return "}" if self._in_object() else "]"

    def _window(self, text: str, pos: int) -> tuple[int, bool]:
        """Return where looking ahead ends, and whether it cannot go further."""
        end = pos + REACH
        return (end, True) if end <= len(text) else (len(text), self._last)

    def _fix(self, rule: str, text: str, pos: int) -> None:
        """Report a repair; refuse the text if its rule is not selected."""
        if rule not in self._rules:
            if rule == "cut-off":
                raise self._too_short(self._expected())
            raise self._refuse(self._expected(), text, pos)
        repair = Repair(rule, *self._position(text, pos))
        self._repairs.append(repair)
        if self._on_repair is not None:
            self._on_repair(repair)

    def _refuse(self, expected: str, text: str, pos: int) -> InvalidJSON:
        return self._error(InvalidJSON, expected, f"but got {text[pos]!r}", text, pos)


def _is_cut_word(text: str) -> bool:
    return any(word.startswith(text.lower()) for word in WORDS)
