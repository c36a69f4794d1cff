"""The text of strings: odd quotes, three quotes or ticks, escapes, control characters.

A comma at the end of a growing string, or a curly quote, is not emitted before the next character:
it may turn out to be the end of the string (`quotes.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ...errors import InvalidJSON
from ..characters import UNSURE
from ..expected import Expected
from ..grammar import (
    CUT_ESCAPE,
    ESCAPE,
    GOOD_ESCAPE,
    LONE_HIGH,
    RECORD_END,
    REMEMBERED,
    unescape,
)
from ..machine import Machine
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
)
from . import escapes, lookahead, patterns
from .by_schema import fitting
from .rules import QUOTES

if TYPE_CHECKING:
    from .core import Leniency

# The quote that ends what an odd quote opens, and the plain text before a quote.
CLOSERS: Final = {"'": "'", "“": "”", "‘": "’", "`": "`"}
_PLAIN: Final = {
    closer: re.compile(rf"[^{closer}\\\x00-\x1f]*") for closer in (*CLOSERS.values(), '"')
}
_BLOCK_TEXT: Final = {'"""': re.compile(r'[^"\\\r\n]*'), "```": re.compile(r"[^`\r\n]*")}
# Markdown escapes these. Not those that formulas and regular expressions escape, too.
_MARKDOWN: Final = frozenset("_*#~>`")
_MARKDOWN_IN_KEYS: Final = _MARKDOWN | frozenset("-.!()[]{}+|")
_LONGEST_TAIL: Final = 200


class Strings:
    """Reads strings in any quotes, and their text as it is written."""

    __slots__ = (
        "backslash_at",
        "code_at",
        "collected",
        "collected_at",
        "expected_here",
        "inner",
        "lines_at",
        "opened",
        "punctuated_at",
        "string_line",
        "tail_text",
    )

    def start_document(self, m: Leniency) -> None:
        self.inner = not m._rules.isdisjoint(("inner-quotes", "missing-quotes"))
        # The quote that opened an odd string.
        self.opened = ""
        # What a schema asks for at the string that is being collected for it; the last string that
        # was, and where it began.
        self.expected_here: Expected | None = None
        self.collected = ""
        self.collected_at = NOWHERE
        # Of the string that is being read: what is not yet emitted.
        self.tail_text = ""
        # Where the last string began that has a backslash that is text: before a letter, before
        # punctuation. And the last one that has an escape like `\u00e9`.
        self.backslash_at = self.punctuated_at = self.code_at = NOWHERE
        # Where the last string began that has a line break in it.
        self.lines_at = NOWHERE
        m._careful_at = m._string_at = NOWHERE
        # The depths that a "(" opened.
        m._parens = set()
        # The line in which a string at the root ended.
        self.string_line = -1

    def shown(self, m: Leniency) -> str:
        """What was emitted of the string that is being read, or was read last."""
        if self.expected_here is not None:
            return m._begun
        return self.collected if self.collected_at == m._token else m._text_of_string()

    def ends_with(self, m: Leniency) -> str:
        """The end of that string, with what is not yet emitted of it."""
        return self.shown(m)[-_LONGEST_TAIL:] + self.tail_text

    def whole(self, m: Leniency) -> str:
        """The text of the string or key that is being read."""
        if m._state == KEY or m._state == ODD_KEY:
            return m._begun
        return self.shown(m) + self.tail_text

    def last(self, m: Leniency) -> str:
        """The last character of that string but for white space, or ""."""
        return self.ends_with(m).rstrip()[-1:]

    def take(self, m: Leniency, run: str) -> None:
        state = m._state
        if self.expected_here is not None:
            if m._string_at != m._token:
                self.begin_text(m)
            m._add(run)
        elif state == KEY or state == ODD_KEY:
            m._add(run)
        elif m._careful_at != m._token and m._frames and state == STRING and self.is_plain(run):
            m._show_text(run)
        else:
            self.take_text(m, run)

    def take_text(self, m: Leniency, run: str) -> None:
        """Emit text of a string, but for what may turn out to be its end."""
        if m._string_at != m._token:
            self.begin_text(m)
        m.quotes.note_text(m, run)
        if self.tail_text:
            run = self.tail_text + run
            self.tail_text = ""
        if self.inner and m._frames and m._state == STRING:
            start = _tail(run)
            if len(run) - start <= _LONGEST_TAIL:
                self.tail_text = run[start:]
                run = run[:start]
        if run:
            m._show_text(run)
        careful = self.tail_text or m.quotes.quoted or self.has_backslash(m)
        m._careful_at = m._token if careful else NOWHERE

    def begin_text(self, m: Leniency) -> None:
        m._string_at = m._token
        self.tail_text = ""
        m.quotes.begin_text()

    def is_plain(self, run: str) -> bool:
        return not self.inner or _tail(run) == len(run)

    def odd_run(self, m: Leniency, text: str, stop: int, run: str) -> int:
        """Text of a string that the strict machine does not read alone."""
        if run:
            usual = m._careful_at != m._token and m._frames and self.inner and not m._last
            if usual and stop == len(text):
                return self.hold_tail(m, run, stop)
            if usual and m.quotes.ends_string(m, text, stop):
                m._show_text(run)
            else:
                self.take(m, run)
        return stop if stop == len(text) else m.quotes.end_string(m, text, stop)

    def hold_tail(self, m: Leniency, run: str, stop: int) -> int:
        """Emit text of a string up to the end of the piece, but for what may be after its end."""
        start = _tail(run)
        if len(run) - start >= REMEMBERED:
            self.take(m, run)
            return stop
        if start:
            m._show_text(run[:start])
        m._held = run[start:]
        return stop

    def escaped(self, m: Leniency, text: str, pos: int) -> int:
        """Stay here until the string ends: its end would be sought anew after each repair."""
        token = m._token
        while True:
            if self.backslash_at == token:
                pos = self.run(m, text, pos, '"')
            else:
                pos = Machine._escaped(m, text, pos)
            if pos == len(text) or (m._state != STRING and m._state != KEY):
                return pos

    def finish_string(self, m: Leniency, text: str, quote: int) -> int:
        """End the string at this quote."""
        m.quotes.refuse_text(m, text, quote)
        if self.punctuated_at == m._token and patterns.RARE.search(self.shown(m)):
            raise self.backslashes(m, text, quote)  # `\.(js|ts)\b`
        if self.tail_text:
            tail, self.tail_text = self.tail_text, ""
            m._show_text(tail)
        if not m._frames:
            _, self.string_line, _ = m._position(text, quote)
            m._number_end = m._offset + quote + 1
        if self.expected_here is not None:
            self.end_collected(m, text, quote)
            return quote + 1
        end: int = Machine._end_string(m, text, quote)
        return end

    def end_collected(self, m: Leniency, text: str, quote: int) -> None:
        """End a string where the schema asks for something else: emit the reading that fits."""
        asked, self.expected_here = self.expected_here, None
        assert asked is not None
        string = self.collected = m._take_begun()
        self.collected_at = m._token
        fits, value = fitting(string, asked, m._limits.depth - len(m._frames))
        if not fits and "string" not in asked.types:
            fits, value = m.ending.read_again(m, string, asked)
        if fits:
            m._may_repair("by-schema", text, quote)
            m.schema.emit_value(m, value, m._token)
        else:
            m.schema.emit_string(m, string, m._token)
        m._ended(quote + 1)

    def fix_quote(self, m: Leniency, text: str, pos: int, char: str) -> int:
        """A string or key in quotes that are not JSON's, perhaps after a missing comma."""
        rule = QUOTES.get(char, "back-ticks")
        if rule not in m._rules or m._state == COLON:
            return -1
        if m._state == AFTER:
            return m.tokens.fix_missing_comma(m, text, pos, char)
        m._may_repair(rule, text, pos)
        self.opened = char
        if m._state == FIRST_KEY or m._state == NEXT_KEY:
            return m._open_string(ODD_KEY, text, pos)
        if not self.collects(m, pos):
            m._start_string(m._offset + pos)
        return m._open_string(ODD_STRING, text, pos)

    def collects(self, m: Leniency, pos: int) -> bool:
        """True if the schema asks for no string here, or only for some: then its end decides."""
        if m._leniency == GUIDED:
            asked = m.schema.asked(m)
            if asked is not None and ("string" not in asked.types or asked.strings):
                self.expected_here = asked
                m._careful_at = m._offset + pos
                return True
        return False

    def odd_string(self, m: Leniency, text: str, pos: int) -> int:
        """In a string or key with odd quotes: take its characters, up to the one that ends it."""
        return self.run(m, text, pos, CLOSERS[self.opened])

    def run(self, m: Leniency, text: str, pos: int, closer: str) -> int:
        """Take text up to a quote, an escape or a control character, and that."""
        end = _PLAIN[closer].match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        end = max(pos, min(end, m._stop - m._offset))
        if end > pos:
            self.take(m, text[pos:end])
        if end == len(text):
            return end
        if text[end] == closer:
            return self.end_odd_string(m, text, end)
        if m._offset + end >= m._stop:
            raise m._over("string", m._string_limit, text, end)
        if text[end] != "\\":
            return self.control(m, text, end)
        return self.one_escape(m, text, end, closer)

    def one_escape(self, m: Leniency, text: str, pos: int, closer: str) -> int:
        """An escape of JSON's or of the quote, or a backslash that is text."""
        if pos + 1 == len(text):
            return m._hold(text, pos)
        char, match = text[pos + 1], ESCAPE.match(text, pos)
        if char == closer:
            self.take(m, closer)
            return pos + 2
        python = char in escapes.PYTHON and self.opened in ("'", "`") and m._state >= ODD_STRING
        if self.backslash_at == m._token and (python or (match and char in escapes.DOUBTFUL)):
            seen = escapes.is_literal(self.whole(m), text, pos, m._last)
            if seen is None:
                return m._hold(text, pos)
            if not seen:
                raise self.backslashes(m, text, pos)
            m._may_repair("bad-escapes", text, pos)
            self.take(m, "\\")
            return pos + 1
        if match:
            if char == "u":
                self.code_at = m._token
            self.take(m, unescape(match.group()))
            return match.end()
        if python and "bad-escapes" in m._rules:
            raise self.backslashes(m, text, pos)
        return m._hold(text, pos) if CUT_ESCAPE.match(text, pos) else self.odd_escape(m, text, pos)

    def end_odd_string(self, m: Leniency, text: str, quote: int) -> int:
        if m._state == KEY or m._state == ODD_KEY:
            return m._end_key(text, quote)
        if m._state == STRING:
            return m.quotes.end_string(m, text, quote)
        if self.opened == "`":
            fence = m._sees(lookahead.FENCE, text, quote)
            if fence is None:
                return m._hold(text, quote)
            if fence:
                raise m.quotes.lone_quote(m, text, quote)
        m._state = STRING
        end = m.quotes.end_string(m, text, quote)
        if m._state == STRING:  # a quote in the text, or one that cannot be told yet
            m._state = ODD_STRING
        return end

    def open_block(self, m: Leniency, opened: str, text: str, pos: int) -> int:
        """Three quotes or ticks: a string over several lines."""
        if not m._may_repair("block-strings", text, pos):
            return -1
        self.opened = opened
        m._begun = "\n"  # a line break right here is not part of it
        if opened == "```":
            m._start_string(m._offset + pos)
            m._open_string(BLOCK_STRING, text, pos)
            self.begin_text(m)
        m.quotes.quoted = True
        m._state = BLOCK_STRING
        return pos + len(opened)

    def block_string(self, m: Leniency, text: str, pos: int) -> int:
        """Between three quotes or ticks: text as it is; one line break at either end is not."""
        opened = self.opened
        if m._begun:
            ticks = opened == "```"
            cut = patterns.INFO_STRING_CUT.match(text, pos) if ticks else text[pos:] == "\r"
            if cut and not m._last:
                return m._hold(text, pos)
            m._begun = ""
            match = (patterns.INFO_STRING if ticks else patterns.LINE_BREAK).match(text, pos)
            if match:
                return match.end()
            if ticks:
                raise m._two_readings(
                    "this line names the language", "it is part of the text", text, pos
                )
        end = _BLOCK_TEXT[opened].match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if end > pos:
            self.take(m, text[pos:end])
        if m._offset + end > m._stop:
            raise m._over("string", m._string_limit, text, m._stop - m._offset)
        if end == len(text):
            return end
        if text[end] == "\\":
            return self.one_escape(m, text, end, '"')
        mark = patterns.LINE_BREAK.match(text, end)
        start = mark.end() if mark else end
        rest = text[start : start + 3]
        half = (len(rest) < 3 and opened.startswith(rest)) or (rest == "\r" and not mark)
        if half and not m._last:
            return m._hold(text, end)
        if rest == opened:
            seen = m.quotes.ends_string(m, text, start + 2) if m._frames else True
            if seen is None:
                return m._hold(text, end)
            if seen:
                if opened == "```" and not self.shown(m):
                    raise m._two_readings(
                        "the fence names a language", "the text is in its line", text, end
                    )
                m._state = STRING
                return self.finish_string(m, text, start + 2)
        self.take(m, text[end:start] or text[end])
        return max(start, end + 1)

    def odd_escape(self, m: Leniency, text: str, pos: int) -> int:
        """Keep a backslash that begins no escape as text; drop it before an apostrophe."""
        if LONE_HIGH.match(text, pos):
            return Machine._odd_escape(m, text, pos)
        char = text[pos + 1 : pos + 2]
        in_key = m._state == KEY or m._state == ODD_KEY
        if char in (_MARKDOWN_IN_KEYS if in_key else _MARKDOWN) and m._may_repair(
            "markdown-escapes", text, pos
        ):
            self.take(m, char)
            return pos + 2
        if "bad-escapes" not in m._rules:
            return Machine._odd_escape(m, text, pos)
        if char == "'":
            m._may_repair("bad-escapes", text, pos)
            self.take(m, "'")
            return pos + 2
        if self.backslash_at != m._token:
            python = self.opened in ("'", "`")
            unsure = escapes.is_unsure(self.whole(m), text, pos, m._last, python)
            if unsure is None:
                return m._hold(text, pos)
            if unsure or (char.isalnum() and self.has_code(m, text, pos)):
                raise self.backslashes(m, text, pos)
        if char.isalnum():
            self.backslash_at = m._token
        else:
            self.punctuated_at = m._token
        m._careful_at = m._token
        m._may_repair("bad-escapes", text, pos)
        end = GOOD_ESCAPE.match(text, pos).end()  # type: ignore[union-attr]  # of any backslash
        self.take(m, text[pos:end])
        return end

    def has_code(self, m: Leniency, text: str, pos: int) -> bool:
        r"""True if there is an escape like `\u00e9` in the string before `pos`."""
        start = max(0, m._token + 1 - m._offset)
        return self.code_at == m._token or patterns.HAS_CODE.match(text, start, pos) is not None

    def has_backslash(self, m: Leniency) -> bool:
        """True if a backslash of the string is text."""
        return self.backslash_at == m._token or self.punctuated_at == m._token

    def backslashes(self, m: Leniency, text: str, pos: int) -> InvalidJSON:
        return m._two_readings("this backslash is text", "it begins an escape", text, pos)

    def control(self, m: Leniency, text: str, pos: int) -> int:
        """A control character in a string; with many documents a newline tells of a lost end."""
        if (m._many and RECORD_END.match(text, pos)) or not m._may_repair(
            "raw-newlines", text, pos
        ):
            return Machine._control(m, text, pos)
        if text[pos] == "\n":
            self.lines_at = m._token
        self.take(m, text[pos])
        return pos + 1


def closes_bracket(string: str) -> bool:
    """True if a bracket is closed in a string that was not opened in it."""
    opened = 0
    for bracket in patterns.TEXT_BRACKET.findall(string):
        opened += 1 if bracket in "{[" else -1
        if opened < 0:
            return True
    return False


def _tail(run: str) -> int:
    """Where the end of a string begins that is not emitted at once.

    It is a comma, or a curly quote that may be meant as the string's end, and what follows it.
    """
    if run[-1] not in UNSURE:
        return len(run)
    if not run.isascii() and (match := patterns.CURLY_TAIL.search(run)) is not None:
        return match.start()
    last = len(run.rstrip(" \t\r\n")) - 1
    return last if last >= 0 and run[last] == "," else len(run)
