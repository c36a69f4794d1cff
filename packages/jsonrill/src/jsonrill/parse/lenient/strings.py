"""The text of strings: odd quotes, three quotes or ticks, escapes, control characters.

A comma at the end of a growing string, or a curly quote, is not emitted before the next character:
it may turn out to be the end of the string (`quotes.py`).
"""

from __future__ import annotations

import re
from typing import Final

from ...errors import InvalidJSON
from ..expected import Expected
from ..grammar import CUT_ESCAPE, ESCAPE, GOOD_ESCAPE, LONE_HIGH, RECORD_END, unescape
from ..machine import FEW, Machine, plain_end, space_end
from ..states import (
    AFTER,
    BLOCK_STRING,
    COLON,
    FIRST_KEY,
    GUIDED,
    KEY,
    NEXT_KEY,
    NOWHERE,
    ODD_KEY,
    ODD_STRING,
    STRING,
    VALUE,
)
from . import escapes, lookahead, patterns
from .around import as_set
from .by_schema import fitting
from .numbers import NumberMachine
from .rules import QUOTES

# The quote that ends what an odd quote opens, and the plain text between them.
CLOSERS: Final = {"'": "'", "“": "”", "‘": "’", "`": "`"}
_PLAIN: Final = {
    quote: re.compile(rf"[^{closer}\\\x00-\x1f]*") for quote, closer in CLOSERS.items()
}
_BLOCK_TEXT: Final = {'"""': re.compile(r'[^"\\\r\n]*'), "```": re.compile(r"[^`\r\n]*")}
# Markdown escapes these. Not those that formulas and regular expressions escape, too.
_MARKDOWN: Final = frozenset("_*#~>`")
_MARKDOWN_IN_KEYS: Final = _MARKDOWN | frozenset("-.!()[]{}+|")
_LONGEST_TAIL: Final = 200
# Before one of these a string may have ended.
_UNSURE: Final = " \t\r\n,}]{[”’"
_REMEMBERED: Final = 64
# As in `machine.py`.
_COMPILED: Final = not __file__.endswith(".py")


class StringMachine(NumberMachine):
    """The machine that reads strings in any quotes, and their text as it is written."""

    __slots__ = (
        "_after_comma",
        "_after_value",
        "_backslash_at",
        "_closed_in_text",
        "_comma_at",
        "_curly",
        "_doubtful_at",
        "_drive",
        "_expected_here",
        "_first",
        "_glued",
        "_info",
        "_inner",
        "_inner_at",
        "_inner_run",
        "_literal_text",
        "_low",
        "_mixed",
        "_nest",
        "_nest_string",
        "_open_in_text",
        "_opened",
        "_parens",
        "_quotation",
        "_quoted",
        "_run_from",
        "_string_at",
        "_string_line",
        "_string_depth",
        "_string_index",
        "_tail_text",
        "_watched",
    )

    def _start_document(self) -> None:
        NumberMachine._start_document(self)
        self._inner = not self._rules.isdisjoint(("inner-quotes", "missing-quotes"))
        # The quote that opened an odd string.
        self._opened = ""
        # Three ticks opened it, and a word that may name a language is after them in their line.
        self._info = False
        # What a schema asks for at the string that is being collected for it.
        self._expected_here: Expected | None = None
        # Of the string being read: its offset, its first character, the end of what was emitted,
        # what is not yet emitted, whether a quotation is open in it, whether it had inner quotes,
        # and how many brackets of JSON inside it are open.
        self._string_at = -1
        self._first = ""
        self._shown = ""
        self._tail_text = ""
        self._quotation = self._quoted = False
        self._nest = 0
        # In that JSON, a string is open: brackets in it do not count.
        self._nest_string = False
        # A comma is before the quotation: it may be a key.
        self._after_comma = False
        # The quotation began in a word, so it may end in one.
        self._glued = False
        # A curly quote was opened in it, or a low one; where the last inner quote was, and how many
        # in a row.
        self._curly = self._low = False
        self._inner_at = -1
        self._inner_run = 0
        # It has quotes with and without a backslash.
        self._mixed = False
        # How many brackets are open in it, and if one was closed that was not opened in it.
        self._open_in_text = 0
        self._closed_in_text = False
        # Where the last string began with an escape that is doubtful beside a backslash that is
        # text, and the last one with such a backslash; of that one its text since then, and if it
        # begins with a drive. Where the run of text begins that is being read.
        self._doubtful_at = self._backslash_at = NOWHERE
        self._literal_text = ""
        self._drive = False
        self._run_from = 0
        # It has what may come after the value; and its end, if that may become such a thing.
        self._after_value = False
        self._watched = ""
        self._plain_at = NOWHERE
        # The depths that a "(" opened.
        self._parens: set[int] = set()
        # The line in which a string at the root ended.
        self._string_line = -1
        # Where a comma was missing.
        self._comma_at = -1
        # Depth and index of the last string in a list.
        self._string_depth = self._string_index = 0

    # ---- text ------------------------------------------------------------------------------

    def _take(self, run: str) -> None:
        if self._plain_at == self._token and self._is_simple(run):
            self._sink.text(run)
            self._shown = run
            return
        if self._backslash_at == self._token:
            self._literal_text = (self._literal_text + run)[-_LONGEST_TAIL:]
        state = self._state
        if self._expected_here is not None:
            if self._string_at != self._token:
                self._begin_text()
            self._note_text(run)
            self._add(run)
        elif state == KEY or state == ODD_KEY:
            self._add(run)
        else:
            self._take_text(run)

    def _take_text(self, run: str) -> None:
        """Emit text of a string, but for what may turn out to be its end."""
        if self._string_at != self._token:
            self._begin_text()
        if self._quoted and self._state == STRING and '"' in run:
            self._mixed = True
        if self._watched or "<" in run or "`" in run:
            self._watch(run.replace("\n", " "))
        for bracket in patterns.TEXT_BRACKET.findall(run):
            if bracket in "{[":
                self._open_in_text += 1
            elif self._open_in_text:
                self._open_in_text -= 1
            else:
                self._closed_in_text = True
        if self._nest:
            for char in run:
                if self._nest and not self._nest_string and char in "{[}]":
                    self._nest += 1 if char in "{[" else -1
        if self._tail_text:
            run = self._tail_text + run
            self._tail_text = ""
        if self._inner and self._frames and self._state == STRING:
            start = _tail(run)
            if len(run) - start <= _LONGEST_TAIL:
                self._tail_text = run[start:]
                run = run[:start]
        if run:
            self._sink.text(run)
            self._note_text(run)
            if not run.isascii():
                self._note_curly(run)
        self._settle()

    def _note_text(self, run: str) -> None:
        """Remember the first character of the string, and the end of its text so far."""
        self._first = self._first or run.lstrip()[:1]
        short = run.isspace() or run.isdigit()
        self._shown = self._shown[-_REMEMBERED:] + run if short else run

    def _watch(self, run: str) -> None:
        """Note text of a string that may come after the value, if the string is cut off."""
        before = self._watched or ("" if self._tail_text else self._shown.rstrip()[-1:])
        run = before + run
        if patterns.AFTER_VALUE.search(run):
            self._after_value = True
        found = patterns.AFTER_VALUE_CUT.search(run)
        self._watched = found.group() if found else ""

    def _settle(self) -> None:
        """Remember if this string has nothing unusual so far: then text is only looked at."""
        simple = self._state == STRING and self._inner and self._frames and self._first
        unusual = self._tail_text or self._nest or self._quoted or self._curly or self._watched
        unusual = unusual or self._low or self._backslash_at == self._token
        if simple and not unusual and self._expected_here is None:
            self._plain_at = self._token
        else:
            self._plain_at = NOWHERE

    def _is_simple(self, run: str) -> bool:
        """True if text of a string without anything unusual has nothing unusual, either."""
        if _COMPILED:
            return is_usual(run, False)
        if len(run) <= FEW and run.replace(" ", "").isalpha():  # as in `Document.feed`
            return True
        return (
            patterns.UNUSUAL.search(run) is None
            and not run.isdigit()
            and (run[-1] not in _UNSURE or ends_simply(run))
        )

    def _note_curly(self, run: str) -> None:
        """A curly quote that was opened in the string is closed in it, and does not end it."""
        closes = run.rfind("”")
        if max(run.rfind("“"), run.rfind("‘")) > closes:
            self._curly = True
        elif closes >= 0:
            self._curly = False
        low = run.rfind("„")
        if low > max(run.rfind("“"), closes):
            self._low = True
        elif "“" in run or closes >= 0:
            self._low = False

    def _begin_text(self) -> None:
        self._string_at = self._token
        if self._plain_at != self._token:
            self._first = self._shown = ""
        self._tail_text = ""
        self._quotation = self._quoted = self._curly = self._mixed = self._after_value = False
        self._low = self._closed_in_text = False
        self._open_in_text = 0
        self._watched = ""
        self._inner_at = -1
        self._nest = 0

    def _is_plain(self, run: str) -> bool:
        if _COMPILED:
            return is_usual(run, True)
        return '"' not in run and "\\" not in run and run.isprintable() and self._is_simple(run)

    def _plain_run(self, text: str, pos: int, stop: int, run: str) -> int:
        """Emit text of a string as the strict machine does, if nothing in it is unusual.

        Nearly every string goes this way from its first quote to its last. For what may follow it,
        only its first and its last text are remembered.
        """
        end = len(text)
        simple = self._plain_at == self._token
        if not simple:
            begins = self._offset + pos == self._token + 1 and stop > pos and text[pos] != " "
            if not (begins and self._inner and self._frames and self._expected_here is None):
                return self._unusual_run(text, stop, run)
        if stop == end:  # text that may go on; only its end can have to be held back
            if not self._is_simple(run):
                return self._unusual_run(text, stop, run)
            self._sink.text(run)
            self._shown = run
            if not simple:
                self._first = run
                self._plain_at = self._token
            return end
        at = stop + 1
        comma = at < end and text[at] == ","
        if not _COMPILED and comma and text[at : at + 3] == ', "':
            at += 2
        else:
            if comma:
                at += 1
            if at < end and text[at] in " \t\n\r":
                at += 1
                if at < end and text[at] in " \t\n\r":
                    at = space_end(text, at)
            if at < end:
                char = text[at]
                if not (char == '"' if comma else char == "}" or char == "]"):
                    return self._unusual_run(text, stop, run)
            elif self._last or end - stop >= _REMEMBERED or (run and not self._is_simple(run)):
                return self._unusual_run(text, stop, run)
        if run:
            self._sink.text(run)
            self._shown = run
        if not simple:
            self._first = run
        if at == end:
            self._plain_at = self._token
            self._held = text[stop:]
            return end
        self._string_at = self._token
        self._sink.end_string()
        if not comma:
            self._state = AFTER
        elif self._object:
            self._state = NEXT_KEY
        else:
            self._state = VALUE
            self._count += 1
        return at

    def _unusual_run(self, text: str, stop: int, run: str) -> int:
        if run:
            self._take(run)
        return stop if stop == len(text) else self._end_string(text, stop)

    def _escaped(self, text: str, pos: int) -> int:
        """Stay here until the string ends: its end would be sought anew after each repair."""
        token = self._token
        while True:
            if self._backslash_at == token:
                pos = self._literal_run(text, pos)
            else:
                self._run_from = pos
                pos = Machine._escaped(self, text, pos)
                self._note_doubtful(token, text, pos - len(self._held))
            if pos == len(text) or (self._state != STRING and self._state != KEY):
                return pos

    def _finish_string(self, text: str, quote: int) -> int:
        """End the string at this quote."""
        if self._mixed and self._string_at == self._token:
            raise self._two_readings("quotes are escaped", "some quotes are not", text, quote)
        if self._tail_text:
            tail, self._tail_text = self._tail_text, ""
            self._sink.text(tail)
            self._shown = tail
            self._first = self._first or tail.lstrip()[:1]
        if not self._first and not self._object and not self._count:
            # [""]: the quotes may belong around the bracket.
            self._first, self._shown = "[", "]"
        if not self._frames:
            _, self._string_line, _ = self._position(text, quote)
            self._number_end = self._offset + quote + 1
        if self._expected_here is not None:
            self._end_collected(text, quote)
            return quote + 1
        end: int = Machine._end_string(self, text, quote)
        return end

    def _end_collected(self, text: str, quote: int) -> None:
        """End a string where the schema asks for something else: emit the reading that fits."""
        asked, self._expected_here = self._expected_here, None
        assert asked is not None
        string = self._take_begun()
        found, value = fitting(string, asked, self._limits.depth - len(self._frames))
        if not found and "string" not in asked.types:
            found, value = self._read_again(string, asked)
        if found:
            self._may_repair("by-schema", text, quote)
            self._emit_value(value, self._token)
        else:
            self._emit_string(string, self._token)
        self._ended(quote + 1)

    # ---- odd quotes ------------------------------------------------------------------------

    def _mend_quote(self, text: str, pos: int, char: str) -> int:
        """A string or key in quotes that are not JSON's, perhaps after a missing comma."""
        rule = QUOTES.get(char, "back-ticks")
        if rule not in self._rules or self._state == COLON:
            return -1
        if self._state == AFTER:
            return self._mend_missing_comma(text, pos, char)
        self._may_repair(rule, text, pos)
        self._opened = char
        if self._state == FIRST_KEY or self._state == NEXT_KEY:
            return self._open_string(ODD_KEY, text, pos)
        if not self._object:
            self._string_depth, self._string_index = len(self._frames), self._count
        if not self._collects():
            self._sink.start_string(self._offset + pos)
        return self._open_string(ODD_STRING, text, pos)

    def _mend_missing_comma(self, text: str, pos: int, char: str) -> int:
        raise NotImplementedError  # in inside.py

    def _mend_no_comma(self, text: str, pos: int) -> None:
        """Go on as if a comma were here, unless something else may be meant."""
        if len(self._frames) in self._parens:
            raise self._two_readings(
                "a comma is missing here", "strings are joined as in a program", text, pos
            )
        if self._point_at >= self._token:
            raise self._two_readings(
                "a comma is missing here", "the point was meant as one", text, pos
            )
        self._may_repair("missing-commas", text, pos, 0)
        if self._object:
            self._seen = as_set(self._seen)
        self._add_comma()
        self._comma_at = self._offset + pos

    def _collects(self) -> bool:
        """True if the schema asks for no string here, or only for some: then its end decides."""
        if self._wary == GUIDED:
            asked = self._asked()
            if asked is not None and ("string" not in asked.types or asked.strings):
                self._expected_here = asked
                return True
        return False

    def _odd_string(self, text: str, pos: int) -> int:
        """In a string or key with odd quotes: take its characters, up to the one that ends it."""
        end = _PLAIN[self._opened].match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        end = max(pos, min(end, self._stop - self._offset))
        if end > pos:
            self._take(text[pos:end])
        if end == len(text):
            return end
        if text[end] == CLOSERS[self._opened]:
            return self._end_odd_string(text, end)
        if self._offset + end >= self._stop:
            raise self._over("string", self._string_limit, text, end)
        return self._odd_text(text, end)

    def _odd_text(self, text: str, pos: int) -> int:
        """Between odd quotes: an escape of JSON's or of the quote, or a control character."""
        if text[pos] != "\\":
            return self._control(text, pos)
        closer = CLOSERS.get(self._opened, '"')
        if text.startswith(closer, pos + 1):
            self._take(closer)
            return pos + 2
        if self._backslash_at == self._token or self._opened in "'`":
            end = self._literal_escape(text, pos)
            if end >= 0:
                return end
        found = ESCAPE.match(text, pos)
        if found:
            self._run_from = pos
            self._note_doubtful(self._token, text, found.end())
            self._take(unescape(found.group()))
            return found.end()
        self._run_from = pos
        return self._hold(text, pos) if CUT_ESCAPE.match(text, pos) else self._odd_escape(text, pos)

    def _end_odd_string(self, text: str, quote: int) -> int:
        if self._state == ODD_KEY:
            return self._end_key(text, quote)
        self._state = STRING
        end = self._end_string(text, quote)
        if self._state == STRING:  # a quote in the text, or one that cannot be told yet
            self._state = ODD_STRING
        return end

    # ---- three quotes or ticks -------------------------------------------------------------

    def _open_block(self, opened: str, text: str, pos: int) -> int:
        """Three quotes or ticks: a string over several lines."""
        if not self._may_repair("block-strings", text, pos):
            return -1
        self._opened = opened
        self._quoted = True
        self._begun = "\n"  # a line break right here is not part of it
        if opened == "```":
            self._sink.start_string(self._offset + pos)
            self._open_string(BLOCK_STRING, text, pos)
            self._begin_text()
            self._quoted = True
        self._state = BLOCK_STRING
        return pos + len(opened)

    def _block_string(self, text: str, pos: int) -> int:
        """Between three quotes or ticks: text as it is; one line break at either end is not."""
        opened = self._opened
        if self._begun:
            if opened == "```" and patterns.INFO_STRING_CUT.match(text, pos) and not self._last:
                return self._hold(text, pos)
            found = (patterns.INFO_STRING if opened == "```" else patterns.LINE_BREAK).match(
                text, pos
            )
            if text.startswith("\r", pos) and len(text) == pos + 1 and not self._last:
                return self._hold(text, pos)
            self._begun = ""
            self._info = opened == "```" and found is not None and not text[pos].isspace()
            if found:
                return found.end()
            if opened == "```" and patterns.NAMES_LANGUAGE.match(text, pos):
                raise self._two_readings(
                    "this line names the language", "it is part of the text", text, pos
                )
        end = _BLOCK_TEXT[opened].match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if end > pos:
            self._take(text[pos:end])
        if self._offset + end > self._stop:
            raise self._over("string", self._string_limit, text, self._stop - self._offset)
        if end == len(text):
            return end
        if text[end] == "\\":
            return self._odd_text(text, end)
        mark = patterns.LINE_BREAK.match(text, end)
        start = mark.end() if mark else end
        rest = text[start : start + 3]
        if opened.startswith(rest) and len(rest) < 3 and not self._last:
            return self._hold(text, end)
        if text[end] == "\r" and not mark and end + 1 == len(text) and not self._last:
            return self._hold(text, end)
        if rest == opened:
            ends = (
                lookahead.STRING_ENDS_IN_OBJECT if self._object else lookahead.STRING_ENDS_IN_ARRAY
            )
            seen = self._sees(ends, text, start + 3) if self._frames else True
            if seen is None:
                return self._hold(text, end)
            if seen:
                if self._info and not self._shown:
                    raise self._two_readings(
                        "the fence names a language", "the text is in its line", text, end
                    )
                self._state = STRING
                return self._finish_string(text, start + 2)
        self._take(text[end:start] or text[end])
        return max(start, end + 1)

    # ---- escapes and control characters ----------------------------------------------------

    def _odd_escape(self, text: str, pos: int) -> int:
        """Keep a backslash that begins no escape as text; drop it before an apostrophe."""
        if LONE_HIGH.match(text, pos):
            return Machine._odd_escape(self, text, pos)
        char = text[pos + 1 : pos + 2]
        in_key = self._state == KEY or self._state == ODD_KEY
        if char in (_MARKDOWN_IN_KEYS if in_key else _MARKDOWN) and self._may_repair(
            "markdown-escapes", text, pos
        ):
            self._take(char)
            return pos + 2
        if not self._may_repair("bad-escapes", text, pos):
            return Machine._odd_escape(self, text, pos)
        if char == "'":
            self._take("'")
            return pos + 2
        if char.isalnum() and self._backslash_at != self._token:
            self._begin_literal(text, pos)
        end = GOOD_ESCAPE.match(text, pos).end()  # type: ignore[union-attr]  # of any backslash
        self._take(text[pos:end])
        return end

    def _note_doubtful(self, token: int, text: str, end: int) -> None:
        """Note if the run of text that was read has an escape that a path may have."""
        if self._doubtful_at != token and patterns.HAS_DOUBTFUL.search(text[self._run_from : end]):
            self._doubtful_at = token

    def _begin_literal(self, text: str, pos: int) -> None:
        """A backslash that is text: from now on others may be text in this string, too."""
        self._note_doubtful(self._token, text, pos)
        if self._doubtful_at == self._token:
            raise self._backslashes(text, pos)
        if self._state == KEY or self._state == ODD_KEY:
            before = self._begun
        elif self._string_at == self._token or self._plain_at == self._token:
            before = self._shown + self._tail_text
        else:
            before = ""
        self._literal_text = before[-1:]
        self._drive = self._is_drive(before[-1:], pos)
        self._backslash_at = self._token
        self._plain_at = NOWHERE

    def _is_drive(self, before: str, pos: int) -> bool:
        """True if the string begins like `C:` before the backslash at `pos`."""
        return before == ":" and self._offset + pos == self._token + 3

    def _backslashes(self, text: str, pos: int) -> InvalidJSON:
        error: InvalidJSON = self._two_readings(
            "this backslash is text", "it begins an escape", text, pos
        )
        return error

    def _literal_run(self, text: str, pos: int) -> int:
        """In a string with a backslash that is text: as `_escaped`, one escape after the other."""
        end = min(len(text), self._stop - self._offset)
        stop = patterns.LITERAL_TEXT.match(text, pos, end).end()  # type: ignore[union-attr]
        if stop > pos:
            self._take(text[pos:stop])
        if stop == len(text):
            return stop
        if text[stop] == '"':
            if self._state == STRING:
                return self._end_string(text, stop)
            return self._end_key(text, stop)
        if stop == end:
            raise self._over("string", self._limits.string, text, end)
        if text[stop] != "\\":
            return self._control(text, stop)
        found = self._literal_escape(text, stop)
        if found >= 0:
            return found
        if text[stop + 1] in '"\\/':
            self._take(text[stop + 1])
            return stop + 2
        return self._odd_escape(text, stop)

    def _literal_escape(self, text: str, pos: int) -> int:
        """A backslash that may be text; -1 if it is read as in any other string."""
        if pos + 1 == len(text):
            return self._hold(text, pos)
        char = text[pos + 1]
        python = self._opened in ("'", "`") and self._state in (ODD_STRING, ODD_KEY)
        python = python and char in escapes.PYTHON + escapes.PYTHON_TOO
        if char == "u" and not ESCAPE.match(text, pos):
            return self._hold(text, pos) if CUT_ESCAPE.match(text, pos) else -1
        if self._backslash_at == self._token:
            if char not in escapes.DOUBTFUL and not python:
                return -1
            before = self._literal_text
            if self._state == KEY or self._state == ODD_KEY:
                before = self._begun
            seen = escapes.is_literal(before, self._drive, text, pos, self._last)
            if seen is None:
                return self._hold(text, pos)
            if not seen:
                raise self._backslashes(text, pos)
            if not self._may_repair("bad-escapes", text, pos):
                return -1
            self._take("\\")
            return pos + 1
        if not python or "bad-escapes" not in self._rules:
            return -1
        string = escapes.python_escape(text, pos + 1, self._last)
        if string is None:
            return self._hold(text, pos)
        before = self._shown + self._tail_text if self._string_at == self._token else self._begun
        if not string or self._is_drive(before[-1:], pos):
            raise self._backslashes(text, pos)
        self._may_repair("bad-escapes", text, pos)
        self._doubtful_at = self._token
        self._take(string)
        found = patterns.PYTHON_CODE.match(text, pos + 1)
        return found.end() if found else pos + 2

    def _control(self, text: str, pos: int) -> int:
        """A control character in a string; with many documents a newline tells of a lost end."""
        if (self._many and RECORD_END.match(text, pos)) or not self._may_repair(
            "raw-newlines", text, pos
        ):
            return Machine._control(self, text, pos)
        if text[pos] == "\n" and (self._state == STRING or self._state == ODD_STRING):
            self._note_line()
        self._take(text[pos])
        return pos + 1

    def _note_line(self) -> None:
        """A line ends in a string: after a closing bracket, the value may have ended, too."""
        if self._string_at != self._token:
            self._begin_text()
        self._plain_at = NOWHERE
        self._watch("\n")
        if (self._shown + self._tail_text).rstrip()[-1:] in ("}", "]"):
            self._after_value = True


def is_usual(run: str, plain: bool) -> bool:
    """True if no character is looked at closely, and no end of the text must be held back.

    Characters that are: what may begin a fence or a mark like <|im_end|>, and curly quotes; if
    `plain`, also a quote, a backslash and control characters. Those that hardly ever come are
    sought without a branch: a processor cannot foresee which letter is next.
    """
    odd = False
    if len(run) > FEW:
        if plain and plain_end(run, 0) != len(run):
            return False
        odd = "<" in run or "`" in run or "{" in run or "}" in run or "[" in run or "]" in run
        odd = odd or not run.isascii()
    elif plain:
        for char in run:
            if char == '"' or char == "\\" or char < " ":
                return False
            odd |= (char == "<") | (char == "`") | (char > "\x7f") | (char == "{") | (char == "}")
            odd |= (char == "[") | (char == "]")
    else:
        for char in run:
            odd |= (char == "<") | (char == "`") | (char > "\x7f") | (char == "{") | (char == "}")
            odd |= (char == "[") | (char == "]")
    if odd:
        for char in run:
            if char in "<`{}[]‘“”„":
                return False
    at = len(run) - 1
    if "0" <= run[at] <= "9" and run.isdigit():  # what is before them is needed, too
        return False
    at -= (at > 0) & (run[at] == " ")
    return run[at] not in " \t\r\n,}]{[”’" or ends_simply(run)


def ends_simply(run: str) -> bool:
    """True if this text may end so although one of `_UNSURE` is last.

    An end that must be held back is a comma, a curly quote, or space alone.
    """
    if not _COMPILED:
        last = run.rstrip(" \t\r\n")[-1:]
        return last != "" and last != "," and run.isascii()
    at = len(run) - 1
    while at >= 0 and run[at] in " \t\r\n":
        at -= 1
    if at < 0 or run[at] == ",":
        return False
    for char in run:
        if char > "\x7f":
            return False
    return True


def _tail(run: str) -> int:
    """Where the end of a string begins that is not emitted at once.

    It is a comma, or a curly quote that may be meant as the string's end, and what follows it.
    """
    if run[-1] not in _UNSURE:
        return len(run)
    if not run.isascii() and (found := patterns.CURLY_TAIL.search(run)) is not None:
        return found.start()
    last = len(run.rstrip(" \t\r\n")) - 1
    return last if last >= 0 and run[last] == "," else len(run)
