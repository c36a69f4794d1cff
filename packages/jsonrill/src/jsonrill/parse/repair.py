"""Text → events for what models write instead of JSON: twelve rules, everything else is refused.

`options.py` lists them. What is valid JSON is read as the strict machine reads it, by `Tokens`.
Where that stops, the rules are tried. Some characters have two readings: a quote may end its string
or be part of it. Then the machine looks ahead (`lookahead.py`), and waits if the text that has come
does not decide. In the pieces `{'a': "say "hi` and `" now",}`:

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
from collections.abc import Callable
from os.path import commonprefix
from typing import Any, Final

from ..errors import DEFAULT_LIMITS, InvalidJSON, Limits
from . import lookahead
from .grammar import CUT_ESCAPE, ESCAPE, LONE_HIGH, NUMBER
from .lookahead import CLOSERS, NO, ODD_SPACES, REACH, SPACES, UNCLEAR, WAIT, WORDS, YES, decide
from .machine import Repair, Sink, Tokens, plain_end, unescape
from .states import (
    AFTER,
    DIGITS,
    END,
    FIRST_ELEMENT,
    FIRST_KEY,
    KEY,
    NEXT_KEY,
    STRING,
    VALUE,
)

# More states than those of JSON, and what could come in each.
BEFORE: Final = 10  # in text before the value
LINE_COMMENT: Final = 11
BLOCK_COMMENT: Final = 12
ELLIPSIS: Final = 13  # after "..."
_EXPECTED: Final = {
    BEFORE: "a value",
    LINE_COMMENT: "a newline",
    BLOCK_COMMENT: "'*/'",
    ELLIPSIS: "a closing bracket",
}
# What matters in the text around the value.
_MARK: Final = re.compile(r"[{}\[\]<]")
_VISIBLE: Final = re.compile(f"[^{SPACES}]")
# What models write around their reasoning.
_THOUGHTS: Final = re.compile(
    r"<(think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad|seed:think"
    r"|inner_monologue)>",
    re.IGNORECASE,
)
_CUT_TAG: Final = re.compile(r"<[\w:]{0,16}\Z")
# A bracket after one of these is a subscript, a template or an escape.
_SUBSCRIPT: Final = re.compile(r"[A-Za-z0-9_)\]\"'$.\\]")
# No quotation begins right after one of these.
_ENDS_WORDS: Final = ")]}.!?;%'\"’”…"
# A whole escape of JSON, or half of a surrogate pair that stays alone.
_CODE: Final = re.compile(f"{ESCAPE.pattern}|{LONE_HIGH.pattern}")
_REAL_ESCAPE: Final = re.compile(r"\\[^\"]")
# Escapes of other languages, or half a code of JSON: not text.
_FOREIGN_ESCAPE: Final = re.compile(
    r"\\(?:x[0-9A-Fa-f]{2}|U[0-9A-Fa-f]{8}|N\{|u[0-9{]|[\x00-\x1f])"
)
_CUT_FOREIGN: Final = re.compile(r"\\(?:x[0-9A-Fa-f]?|U[0-9A-Fa-f]{0,7}|N|u)?\Z")
_FILLERS: Final = " \t\r\n`"
# What shows, at the end of the text, that a string or key has lost its closing quote.
_SWALLOWED: Final = {STRING: re.compile(r"[{}\[\]]"), KEY: re.compile(r"[{}\[\]:,\n]")}


class RepairMachine(Tokens):
    """The machine for near-JSON: text → events and a list of repairs."""

    __slots__ = ("_last_char", "_brackets", "_closer", "_has_backslash", "_has_escape",
                 "_has_inner_quotes", "_has_ended", "_is_line_start", "_is_reported",
                 "_is_scalar", "_may_lack_end", "_on_repair", "_quotes", "_repairs", "_resume",
                 "_rules", "_text_tail", "_thoughts")  # fmt: skip

    def __init__(
        self,
        sink: Sink,
        rules: frozenset[str],
        on_repair: Callable[[Repair], None] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        parse_float: Any = float,
        prefix: str = "",
    ) -> None:
        self._start(sink, BEFORE, limits, parse_float, prefix)
        self._rules = rules
        self._has_inner_quotes = "inner-quotes" in rules
        self._on_repair = on_repair
        self._repairs: list[Repair] = []
        # Whether the text has ended.
        self._has_ended = False
        # The character before the next one.
        self._last_char = "\n"
        # Around the value: whether only white space came in this line, whether text was reported,
        # how many brackets are open, the tag that ends thoughts, and whether the value is a scalar.
        self._is_line_start = True
        self._is_reported = self._is_scalar = False
        self._brackets = 0
        self._thoughts = ""
        # The state after a comment.
        self._resume = VALUE
        self._reset_string()

    def _reset_string(self) -> None:
        """Expect a string in the quotes of JSON."""
        # What ends the open string or key, the last of its text, what it contains (inner quotes,
        # escapes, loose backslashes), and whether its closing quote may have been read as text.
        self._closer = '"'
        self._text_tail = ""
        self._quotes = 0
        self._has_escape = self._has_backslash = self._may_lack_end = False

    @property
    def repairs(self) -> list[Repair]:
        """The repairs, in order."""
        return self._repairs

    @property
    def pending_text(self) -> str | None:
        """The text of the number or literal that is being read, else None."""
        if self._state == DIGITS:
            return self._token_text if self._token_text not in ("", "-") else None  # an infinity?
        is_literal = self._state <= FIRST_ELEMENT and self._held[:1] in ("t", "f", "n")
        return self._held if is_literal else None

    # ---- pieces ----

    def _run(self, text: str) -> None:
        """Read a piece up to its end, or up to a character that cannot be decided yet."""
        pos, end = 0, len(text)
        self._budget = 4 * end
        while pos < end and self._offset + end <= self._text_limit:
            after = self._read(text, pos, end)
            if after == WAIT:
                break
            pos = after
        if pos < end:
            self._held = text[pos:]
        pos = end - len(self._held)
        if pos > 0:
            self._last_char = text[pos - 1]
        if "\n" in text:
            self._count_lines(text, pos)
        self._offset += pos

    def _read(self, text: str, pos: int, end: int) -> int:
        """Read the next tokens; return where they end, or WAIT."""
        state = self._state
        if state == STRING or state == KEY:
            return self._string(text, pos, end)
        if state == BEFORE or state == END:
            return self._around(text, pos)
        if state == LINE_COMMENT or state == BLOCK_COMMENT:
            return self._in_comment(text, pos)
        after = self._tokens(text, pos, end)
        if after == pos:
            return self._odd_token(text, pos, text[pos])
        if self._state == END:
            # White space after the value was read with it.
            passed = text[pos:after]
            self._is_line_start = "\n" in passed[len(passed.rstrip(SPACES)) :]
        return after

    def _finish(self, is_cut: bool) -> None:
        if self._tail:
            raise self._too_short("the rest of a UTF-8 character")
        self._has_ended = True
        self._feed_text("")
        if self._state == BEFORE and self._is_reported:
            raise self._error_here(InvalidJSON, "a value", "but the text has none")
        if self._state == DIGITS and not self.frames and not is_cut:
            self._end_number("", 0)
        if self._state != END:
            if is_cut or not self.frames or "cut-off" not in self._rules:
                raise self._too_short(self._expected())
            self._cut_off()

    def _cut_off(self) -> None:
        """Close what is open: half a key or number is dropped, half a word has one meaning."""
        state, held = self._state, self._held
        if state == LINE_COMMENT or state == BLOCK_COMMENT:
            raise self._too_short("the end of the comment")
        if state == STRING or state == KEY:
            # A string that lost its closing quote continues into the JSON after it.
            end = self._token_text if state == KEY else self._text_tail.rstrip(_FILLERS)[-1:]
            if self._quotes or self._may_lack_end or _SWALLOWED[state].search(end):
                raise self._too_short("the end of the string")
            if state == STRING:
                self._sink.end_string()
        elif state <= FIRST_ELEMENT and held[:1].isalpha():
            word = next(word for word in WORDS if word.startswith(held.lower()))
            self._sink.scalar(WORDS[word], None, self._offset)
        self._report("cut-off", held, len(held))
        while self.frames:
            self._close(len(held))

    # ---- around the value ----

    def _around(self, text: str, pos: int) -> int:
        """Skip text before or after the value, up to the next character that may mean something."""
        if self._thoughts:
            return self._in_thoughts(text, pos)
        mark = (_MARK if self._is_reported else _VISIBLE).search(text, pos)
        stop = mark.start() if mark else len(text)
        if stop > pos:
            return self._skip(text, pos, stop)
        char = text[pos]
        if char == "{" or char == "[":
            return self._open_bracket(text, pos)
        if char == "<":
            return self._tag(text, pos)
        if self._state == BEFORE and not self._is_reported and (char in '"-' or char.isalnum()):
            return self._scalar_first(text, pos)
        if char in "}]":
            if self._state == END and not self._brackets:
                raise self._refuse(text, pos, "no closing bracket after the value")
            self._brackets -= self._brackets > 0
        return self._skip(text, pos, pos + 1)

    def _open_bracket(self, text: str, pos: int) -> int:
        """Begin the value at this bracket, or take it for text."""
        verdict = self._begins_value(text, pos)
        if verdict == WAIT:
            return WAIT
        if verdict == NO:
            self._brackets += 1
            return self._skip(text, pos, pos + 1)
        if self._state == END:
            raise self._refuse(text, pos, "no second value")
        if self._brackets:
            raise self._refuse(text, pos, "no value inside other brackets")
        self._begin_value(is_scalar=False)
        return pos

    def _begins_value(self, text: str, pos: int) -> int:
        if self._is_line_start:
            return decide(lookahead.VALUE_AT_LINE_START, text, pos, self._has_ended)
        before = text[pos - 1] if pos else self._last_char
        if before in "$\\" or (text[pos] == "[" and _SUBSCRIPT.match(before)):
            return NO
        return decide(lookahead.VALUE_IN_SENTENCE, text, pos, self._has_ended)

    def _begin_value(self, is_scalar: bool) -> None:
        self._state = VALUE
        self._is_scalar = is_scalar
        # For the text after it:
        self._is_reported = self._is_line_start = False
        self._brackets = 0

    def _tag(self, text: str, pos: int) -> int:
        """Skip a tag, or the character `<`."""
        if not self._has_ended and _CUT_TAG.match(text, pos):
            return WAIT
        tag = _THOUGHTS.match(text, pos) if self._state == BEFORE else None
        self._thoughts = f"</{tag[1]}>" if tag else ""
        return self._skip(text, pos, tag.end() if tag else pos + 1)

    def _in_thoughts(self, text: str, pos: int) -> int:
        tag = re.compile(re.escape(self._thoughts), re.IGNORECASE).search(text, pos)
        if tag is not None:
            self._thoughts = ""
            return tag.end()
        after = len(text) if self._has_ended else len(text) - len(self._thoughts) + 1
        return after if after > pos else WAIT

    def _scalar_first(self, text: str, pos: int) -> int:
        """Read a string, or hold a number or literal until it is known to be the whole text."""
        is_string = text[pos] == '"'
        verdict = YES if is_string else decide(lookahead.ONLY_SCALAR, text, pos, self._has_ended)
        if verdict == WAIT:
            return WAIT
        if verdict == YES:
            self._begin_value(is_scalar=True)
            return pos
        return self._skip(text, pos, pos + 1)

    def _skip(self, text: str, pos: int, end: int) -> int:
        """Skip text around the value, and report its first character; return `end`."""
        for at in range(pos, end) if not self._is_reported else ():
            char = text[at]
            if char in ODD_SPACES:
                self._report("spaces", text, at)
            elif char not in " \t\r\n":
                if self._is_scalar or (self._state == END and char in ',:"{['):
                    raise self._refuse(text, at)
                self._report("around", text, at)
                self._is_reported = True
                break
        line = text.rfind("\n", pos, end)
        is_line_start = self._is_line_start or line >= 0
        self._is_line_start = is_line_start and not text[max(line, pos) : end].strip(SPACES)
        return end

    # ---- between tokens ----

    def _odd_token(self, text: str, pos: int, char: str) -> int:
        """Read what JSON does not have between tokens."""
        state = self._state
        if state == DIGITS:
            return self._after_digits(text, pos, char)
        if char in ODD_SPACES:
            self._report("spaces", text, pos)
            return pos + 1
        if char in "/#":
            return self._comment(text, pos)
        if state <= NEXT_KEY and char in CLOSERS:
            self._report("quotes", text, pos)
            self._open_string(pos)
            self._closer = CLOSERS[char]
            self._stop = 0  # `_string` reads its text
            return pos + 1
        if state == AFTER:
            return self._missing_comma(text, pos, char)
        if state == ELLIPSIS or state == NEXT_KEY or (state == VALUE and not self._in_object()):
            if char == ("}" if self._in_object() else "]"):
                if state != ELLIPSIS:
                    self._report("commas", text, pos)
                return self._close(pos)
            if char in ".…" and state != ELLIPSIS:
                return self._ellipsis(text, pos)
        if state == FIRST_KEY or state == NEXT_KEY:
            return self._bare_key(text, pos)
        if state <= FIRST_ELEMENT:
            return self._word(text, pos)
        raise self._refuse(text, pos)

    def _after_digits(self, text: str, pos: int, char: str) -> int:
        """Go on after a number with what JSON does not have there."""
        if self._token_text == "-":
            return self._word(text, pos)
        is_number = NUMBER.fullmatch(self._token_text)
        if not is_number or not (char in "/#" or char in ODD_SPACES):
            raise self._refuse(text, pos, self._expected_after() if is_number else "a digit")
        self._end_number(text, pos)
        return pos

    def _word(self, text: str, pos: int) -> int:
        """Read a literal of other languages; the minus of an infinity has been read."""
        minus = self._token_text
        start = minus + text[pos : pos + 9]
        word = lookahead.WORD.match(start)
        size = max(len(commonprefix([word, start.lower()])) for word in WORDS)
        if word is None and size == len(start):
            return WAIT
        if word is None:
            self._held = text[pos : pos + size - len(minus)]  # what is pending after the error
            raise self._refuse(text, pos + size - len(minus))
        pos -= len(minus)
        self._report("words", text, pos)
        self._token_text = ""
        self._sink.scalar(WORDS[word[0].lower()], None, self._offset + pos)
        self._end_value(pos + len(word[0]))
        return pos + len(word[0])

    def _missing_comma(self, text: str, pos: int, char: str) -> int:
        """Go on without a comma if a whole key or another element follows."""
        if self._in_object():
            verdict = decide(lookahead.KEY_FOLLOWS, text, pos, self._has_ended)
        elif char in CLOSERS:
            verdict = decide(lookahead.STRINGS_FOLLOW, text, pos, self._has_ended)
        else:
            verdict = YES if char in "{[-" or char.isalnum() else NO
        if verdict == WAIT:
            return WAIT
        before = text[pos - 1] if pos else self._last_char
        is_apart = before in SPACES or before in "}]/"  # `/` ends a comment
        if verdict != YES or not is_apart:
            raise self._refuse(text, pos)
        self._report("commas", text, pos)
        self._add_comma()
        return pos

    def _bare_key(self, text: str, pos: int) -> int:
        verdict = decide(lookahead.KEY_FOLLOWS, text, pos, self._has_ended)
        name = lookahead.NAME.match(text, pos)
        if verdict == WAIT or (self._has_ended and name is not None and name.end() == len(text)):
            return WAIT
        if verdict == NO or name is None:
            raise self._refuse(text, pos)
        self._report("keys", text, pos)
        self._token = self._offset + pos
        self._token_text = name[0]
        self._add_key(text, pos)
        return name.end()

    def _comment(self, text: str, pos: int) -> int:
        mark = "#" if text[pos] == "#" else text[pos : pos + 2]
        if mark == "/" and not self._has_ended:
            return WAIT
        if mark not in ("#", "//", "/*"):
            raise self._refuse(text, pos)
        self._report("comments", text, pos)
        self._resume = self._state
        self._state = BLOCK_COMMENT if mark == "/*" else LINE_COMMENT
        return pos + len(mark)

    def _in_comment(self, text: str, pos: int) -> int:
        is_line = self._state == LINE_COMMENT
        end = text.find("\n" if is_line else "*/", pos)
        if end < 0:
            # The first half of `*/` may be there.
            after = len(text) - (not is_line and text[-1] == "*")
            return after if after > pos else WAIT
        self._state = self._resume
        return end + 1 if is_line else end + 2

    def _ellipsis(self, text: str, pos: int) -> int:
        dots = "…" if text[pos] == "…" else "..."
        if not text.startswith(dots, pos):
            if dots.startswith(text[pos:]):
                return WAIT
            raise self._refuse(text, pos)
        self._report("ellipses", text, pos)
        self._state = ELLIPSIS
        return pos + len(dots)

    # ---- strings and keys ----

    def _string(self, text: str, pos: int, end: int) -> int:
        """Read the text of a string or key, and what may end it."""
        if self._closer == '"' and not self._has_backslash:
            stop = self._text(text, pos, end)
            taken = stop - len(self._held)
            if not self._has_escape and text.find("\\", pos, taken) >= 0:
                self._has_escape = _REAL_ESCAPE.search(text, pos, taken) is not None
        else:
            end = min(end, self._token + 1 + self._string_limit - self._offset)
            stop = min(plain_end(text, pos, self._closer), end)
            if stop > pos:
                self._take(text[pos:stop])
            if stop == end < len(text) and text[stop] != self._closer:
                raise self._over("string", self._limits.string, text, end)
        if stop == len(text):
            return stop
        char = text[stop]
        if char == self._closer:
            after = self._quote(text, stop)
        elif char == "\\":
            after = self._escape(text, stop, end)
        elif char < " ":
            self._report("newlines", text, stop)
            self._may_lack_end = True
            self._take(char)
            after = stop + 1
        else:
            return stop
        return stop if after == WAIT and stop > pos else after

    def _take(self, run: str) -> None:
        Tokens._take(self, run)
        # The last character that is not white space or a fence, and the last of all.
        is_filler = run[-1] in _FILLERS and not run.strip(_FILLERS)
        self._text_tail = self._text_tail.rstrip(_FILLERS)[-1:] + run[-1] if is_filler else run

    def _escape(self, text: str, pos: int, end: int) -> int:
        """Read a backslash: an escape, or one that begins none."""
        if CUT_ESCAPE.match(text, pos) or _CUT_FOREIGN.match(text, pos):
            return WAIT
        if CUT_ESCAPE.match(text, pos, end):
            raise self._over("string", self._limits.string, text, end)
        code = _CODE.match(text, pos)
        if code is not None:
            is_real = code[0] != '\\"'
            if is_real and self._has_backslash:
                raise self._refuse(text, pos, "no escape after a backslash that is text")
            self._has_escape = self._has_escape or is_real
            self._may_lack_end = self._may_lack_end or self._has_backslash  # `"C:\"`
            self._take(unescape(code[0]))
            return code.end()
        if _FOREIGN_ESCAPE.match(text, pos):
            raise self._refuse(text, pos + 1, "an escape")
        self._report("escapes", text, pos)
        char = text[pos + 1]
        if char in "_'":
            self._take(char)
            return pos + 2
        if self._has_escape:
            raise self._refuse(text, pos, "no backslash that is text after an escape")
        self._has_backslash = True
        self._take("\\")
        return pos + 1

    def _quote(self, text: str, pos: int) -> int:
        """End the string or key at this quote, or take the quote as a part of it."""
        if self._has_inner_quotes and self.frames:
            verdict = NO if self._quotes else self._json_follows(text, pos + 1)
            if verdict == NO:
                verdict = self._ends(text, pos + 1)
            if verdict == WAIT:
                return WAIT
            if verdict == NO:
                return self._inner_quote(text, pos)
            if verdict == UNCLEAR or self._quotes % 2:
                raise self._refuse(text, pos, "escaped quotes in a string")
        self._reset_string()
        return self._end_string(text, pos)

    def _json_follows(self, text: str, pos: int) -> int:
        """Return whether a string or key of JSON ends before `pos`; this needs no pattern."""
        start, end = pos, len(text)
        while pos < end and (text[pos] == " " or text[pos] == "\n"):
            pos += 1
        if pos == end:
            return NO if self._has_ended or pos - start >= REACH else WAIT
        char = text[pos]
        if self._state == KEY:
            return YES if char == ":" else NO
        return YES if char == "," or char == "}" or char == "]" else NO

    def _ends(self, text: str, pos: int) -> int:
        """Return whether the quote before `pos` ends the key or string."""
        if self._state == KEY:
            return decide(lookahead.KEY_ENDS, text, pos, self._has_ended)
        verdict = decide(lookahead.VALUE_ENDS, text, pos, self._has_ended)
        if verdict != NO or pos == len(text):
            return verdict
        char = text[pos]
        if char == self._closer:
            return decide(lookahead.DOUBLED, text, pos, self._has_ended)
        if char in CLOSERS:
            return UNCLEAR
        if char not in SPACES:
            return NO
        pattern = lookahead.KEY_FOLLOWS if self._in_object() else lookahead.STRINGS_FOLLOW
        return decide(pattern, text, pos, self._has_ended)

    def _inner_quote(self, text: str, pos: int) -> int:
        """Take a quote as text if it is an apostrophe or fits a quotation."""
        if self._offset + pos > self._token + self._string_limit:
            raise self._over("string", self._limits.string, text, pos)
        before, after = self._text_tail[-1:], text[pos + 1 : pos + 2]
        if self._closer != "'" or not (before.isalpha() and after.isalpha()):
            if self._quotes % 2:
                verdict = NO if after.isalnum() else YES
            else:
                verdict = self._may_quote(text, pos + 1, before)
            if verdict == WAIT:
                return WAIT
            if verdict == NO:
                raise self._refuse(text, pos, "escaped quotes in a string")
            self._quotes += 1
        self._report("inner-quotes", text, pos)
        self._take(text[pos])
        return pos + 1

    def _may_quote(self, text: str, pos: int, before: str) -> int:
        """Return whether a quotation inside a string may begin with the quote before `pos`."""
        # No key begins with a quotation: in `{""a"": 1}` the quotes are doubled, as in CSV.
        if before.isalnum() or (before in _ENDS_WORDS if before else self._state == KEY):
            return NO
        if pos == len(text) or text[pos] in "[{" or text[pos] in SPACES:
            return NO
        lost = decide(lookahead.COMMA_LOST[before == " "], text, pos, self._has_ended)
        return lost if lost == WAIT else YES if lost == NO else NO

    # ---- decisions ----

    def _expected(self) -> str:
        return _EXPECTED.get(self._state) or Tokens._expected(self)

    def _in_object(self) -> bool:
        return bool(self.frames) and self._frame.is_object

    def _report(self, rule: str, text: str, pos: int) -> None:
        """Report a repair; refuse the text if its rule is not selected."""
        if rule not in self._rules:
            raise self._refuse(text, pos)
        repair = Repair(rule, *self._position(text, pos))
        self._repairs.append(repair)
        if self._on_repair is not None:
            self._on_repair(repair)
