"""The text of strings: odd quotes, three quotes or ticks, escapes, control characters.

A comma at the end of a growing string, or a curly quote, is not emitted before the next character:
it may turn out to be the end of the string (`quotes.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

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
from .by_schema import fitting
from .keys import as_set
from .rules import QUOTES

if TYPE_CHECKING:
    from .core import Leniency

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


class Strings:
    """Reads strings in any quotes, and their text as it is written."""

    __slots__ = (
        "after_comma",
        "after_value",
        "backslash_at",
        "closed_in_text",
        "comma_at",
        "curly",
        "doubtful_at",
        "drive",
        "expected_here",
        "first",
        "glued",
        "inches",
        "info",
        "inner",
        "inner_at",
        "inner_run",
        "literal_text",
        "low",
        "mixed",
        "nest",
        "nest_string",
        "open_in_text",
        "opened",
        "punctuated_at",
        "quotation",
        "quoted",
        "rare_at",
        "run_from",
        "string_at",
        "string_line",
        "tail_text",
        "watched",
    )

    def start_document(self, m: Leniency) -> None:
        self.inner = not m._rules.isdisjoint(("inner-quotes", "missing-quotes"))
        # The quote that opened an odd string.
        self.opened = ""
        # Three ticks opened it, and a word that may name a language is after them in their line.
        self.info = False
        # What a schema asks for at the string that is being collected for it.
        self.expected_here: Expected | None = None
        # Of the string being read: its offset, its first character, the end of what was emitted,
        # what is not yet emitted, whether a quotation is open in it, whether it had inner quotes,
        # and how many brackets of JSON inside it are open.
        self.string_at = -1
        self.first = ""
        m._shown = ""
        self.tail_text = ""
        self.quotation = self.quoted = False
        self.nest = 0
        # In that JSON, a string is open: brackets in it do not count.
        self.nest_string = False
        # A comma is before the quotation: it may be a key.
        self.after_comma = False
        # The quotation began in a word, so it may end in one.
        self.glued = False
        # A curly quote was opened in it, or a low one; where the last inner quote was, and how many
        # in a row.
        self.curly = self.low = False
        self.inner_at = -1
        self.inner_run = 0
        # It has quotes with and without a backslash; a quote that means inches.
        self.mixed = self.inches = False
        # How many brackets are open in it, and if one was closed that was not opened in it.
        self.open_in_text = 0
        self.closed_in_text = False
        # Where the last string began with an escape that is doubtful beside a backslash that is
        # text, and the last one with such a backslash; the last one with `\\b` or `\\f`, and with a
        # backslash before punctuation. Of the one with a backslash that is text its text since
        # then, and if it begins with a drive. Where the run of text begins that is being read.
        self.doubtful_at = self.backslash_at = self.rare_at = self.punctuated_at = NOWHERE
        self.literal_text = ""
        self.drive = False
        self.run_from = 0
        # It has what may come after the value; and its end, if that may become such a thing.
        self.after_value = False
        self.watched = ""
        m._plain_at = NOWHERE
        # The depths that a "(" opened.
        m._parens = set()
        # The line in which a string at the root ended.
        self.string_line = -1
        # Where a comma was missing.
        self.comma_at = -1
        # Depth and index of the last string in a list.
        m._string_depth = m._string_index = 0

    def take(self, m: Leniency, run: str) -> None:
        if m._plain_at == m._token and self.is_simple(m, run):
            m._sink.text(run)
            m._shown = run
            return
        if self.backslash_at == m._token:
            self.literal_text = (self.literal_text + run)[-_LONGEST_TAIL:]
        state = m._state
        if self.expected_here is not None:
            if self.string_at != m._token:
                self.begin_text(m)
            self.note_text(m, run)
            m._add(run)
        elif state == KEY or state == ODD_KEY:
            m._add(run)
        else:
            self.take_text(m, run)

    def take_text(self, m: Leniency, run: str) -> None:
        """Emit text of a string, but for what may turn out to be its end."""
        if self.string_at != m._token:
            self.begin_text(m)
        if self.quoted and m._state == STRING and '"' in run:
            self.mixed = True
        if self.watched or "<" in run or "`" in run:
            self.watch(m, run.replace("\n", " "))
        for bracket in patterns.TEXT_BRACKET.findall(run):
            if bracket in "{[":
                self.open_in_text += 1
            elif self.open_in_text:
                self.open_in_text -= 1
            else:
                self.closed_in_text = True
        if self.nest:
            for char in run:
                if self.nest and not self.nest_string and char in "{[}]":
                    self.nest += 1 if char in "{[" else -1
        if self.tail_text:
            run = self.tail_text + run
            self.tail_text = ""
        if self.inner and m._frames and m._state == STRING:
            start = _tail(run)
            if len(run) - start <= _LONGEST_TAIL:
                self.tail_text = run[start:]
                run = run[:start]
        if run:
            m._sink.text(run)
            self.note_text(m, run)
            if not run.isascii():
                self.note_curly(m, run)
        self.settle(m)

    def note_text(self, m: Leniency, run: str) -> None:
        """Remember the first character of the string, and the end of its text so far."""
        self.first = self.first or run.lstrip()[:1]
        short = run.isspace() or run.isdigit()
        m._shown = m._shown[-_REMEMBERED:] + run if short else run

    def watch(self, m: Leniency, run: str) -> None:
        """Note text of a string that may come after the value, if the string is cut off."""
        before = self.watched or ("" if self.tail_text else m._shown.rstrip()[-1:])
        run = before + run
        if patterns.AFTER_VALUE.search(run):
            self.after_value = True
        match = patterns.AFTER_VALUE_CUT.search(run)
        self.watched = match.group() if match else ""

    def settle(self, m: Leniency) -> None:
        """Remember if this string has nothing unusual so far: then text is only looked at."""
        simple = m._state == STRING and self.inner and m._frames and self.first
        unusual = self.tail_text or self.nest or self.quoted or self.curly or self.watched
        unusual = unusual or self.low or self.backslash_at == m._token
        if simple and not unusual and self.expected_here is None:
            m._plain_at = m._token
        else:
            m._plain_at = NOWHERE

    def is_simple(self, m: Leniency, run: str) -> bool:
        """True if text of a string without anything unusual has nothing unusual, either."""
        if _COMPILED:
            return is_usual(run, False)
        # One search for each character takes less time than a pattern.
        return not (
            "<" in run
            or "`" in run
            or "{" in run
            or "}" in run
            or "[" in run
            or "]" in run
            or (not run.isascii() and ("“" in run or "”" in run or "‘" in run or "„" in run))
            or run.isdigit()
            or (run[-1] in _UNSURE and not ends_simply(run))
        )

    def note_curly(self, m: Leniency, run: str) -> None:
        """A curly quote that was opened in the string is closed in it, and does not end it."""
        closes = run.rfind("”")
        if max(run.rfind("“"), run.rfind("‘")) > closes:
            self.curly = True
        elif closes >= 0:
            self.curly = False
        low = run.rfind("„")
        if low > max(run.rfind("“"), closes):
            self.low = True
        elif "“" in run or closes >= 0:
            self.low = False

    def begin_text(self, m: Leniency) -> None:
        self.string_at = m._token
        if m._plain_at != m._token:
            self.first = m._shown = ""
        self.tail_text = ""
        self.quotation = self.quoted = self.curly = self.mixed = self.after_value = False
        self.low = self.closed_in_text = self.inches = False
        self.open_in_text = 0
        self.watched = ""
        self.inner_at = -1
        self.nest = 0

    def is_plain(self, m: Leniency, run: str) -> bool:
        if _COMPILED:
            return is_usual(run, True)
        return '"' not in run and "\\" not in run and run.isprintable() and self.is_simple(m, run)

    def plain_run(self, m: Leniency, text: str, pos: int, stop: int, run: str) -> int:
        """Emit text of a string as the strict machine does, if nothing in it is unusual.

        Nearly every string goes this way from its first quote to its last. For what may follow it,
        only its first and its last text are remembered.
        """
        end = len(text)
        simple = m._plain_at == m._token
        if not simple:
            begins = m._offset + pos == m._token + 1 and stop > pos and text[pos] != " "
            if not (begins and self.inner and m._frames and self.expected_here is None):
                return self.unusual_run(m, text, stop, run)
        if stop == end:  # text that may go on; only its end can have to be held back
            if not self.is_simple(m, run):
                return self.unusual_run(m, text, stop, run)
            m._sink.text(run)
            m._shown = run
            if not simple:
                self.first = run
                m._plain_at = m._token
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
                    return self.unusual_run(m, text, stop, run)
            elif m._last or end - stop >= _REMEMBERED or (run and not self.is_simple(m, run)):
                return self.unusual_run(m, text, stop, run)
        if run:
            m._sink.text(run)
            m._shown = run
        if not simple:
            self.first = run
        if at == end:
            m._plain_at = m._token
            m._held = text[stop:]
            return end
        self.string_at = m._token
        m._sink.end_string()
        if not comma:
            m._state = AFTER
        elif m._object:
            m._state = NEXT_KEY
        else:
            m._state = VALUE
            m._count += 1
        return at

    def unusual_run(self, m: Leniency, text: str, stop: int, run: str) -> int:
        if run:
            self.take(m, run)
        return stop if stop == len(text) else m.quotes.end_string(m, text, stop)

    def escaped(self, m: Leniency, text: str, pos: int) -> int:
        """Stay here until the string ends: its end would be sought anew after each repair."""
        token = m._token
        while True:
            if self.backslash_at == token or self.punctuated_at == token:
                pos = self.literal_run(m, text, pos)
            else:
                self.run_from = pos
                pos = Machine._escaped(m, text, pos)
                self.note_doubtful(m, token, text, pos - len(m._held))
            if pos == len(text) or (m._state != STRING and m._state != KEY):
                return pos

    def finish_string(self, m: Leniency, text: str, quote: int) -> int:
        """End the string at this quote."""
        if self.mixed and self.string_at == m._token:
            raise m._two_readings("quotes are escaped", "some quotes are not", text, quote)
        if self.inches and self.string_at == m._token and m.quotes.ends_in_number(m):
            raise m.quotes.lone_quote(m, text, quote)  # ["item 1" item 2"]
        if self.tail_text:
            tail, self.tail_text = self.tail_text, ""
            m._sink.text(tail)
            m._shown = tail
            self.first = self.first or tail.lstrip()[:1]
        if not self.first and not m._object and not m._count:
            # [""]: the quotes may belong around the bracket.
            self.first, m._shown = "[", "]"
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
        string = m._take_begun()
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
        if not m._object:
            m._string_depth, m._string_index = len(m._frames), m._count
        if not self.collects(m):
            m._sink.start_string(m._offset + pos)
        return m._open_string(ODD_STRING, text, pos)

    def fix_no_comma(self, m: Leniency, text: str, pos: int) -> None:
        """Go on as if a comma were here, unless something else may be meant."""
        if len(m._frames) in m._parens:
            raise m._two_readings(
                "a comma is missing here", "strings are joined as in a program", text, pos
            )
        if m.words.point_at >= m._token:
            raise m._two_readings(
                "a comma is missing here", "the point was meant as one", text, pos
            )
        m._may_repair("missing-commas", text, pos, 0)
        if m._object:
            m._seen = as_set(m._seen)
        m._add_comma()
        self.comma_at = m._offset + pos

    def collects(self, m: Leniency) -> bool:
        """True if the schema asks for no string here, or only for some: then its end decides."""
        if m._leniency == GUIDED:
            asked = m.schema.asked(m)
            if asked is not None and ("string" not in asked.types or asked.strings):
                self.expected_here = asked
                return True
        return False

    def odd_string(self, m: Leniency, text: str, pos: int) -> int:
        """In a string or key with odd quotes: take its characters, up to the one that ends it."""
        end = _PLAIN[self.opened].match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        end = max(pos, min(end, m._stop - m._offset))
        if end > pos:
            self.take(m, text[pos:end])
        if end == len(text):
            return end
        if text[end] == CLOSERS[self.opened]:
            return self.end_odd_string(m, text, end)
        if m._offset + end >= m._stop:
            raise m._over("string", m._string_limit, text, end)
        return self.odd_text(m, text, end)

    def odd_text(self, m: Leniency, text: str, pos: int) -> int:
        """Between odd quotes: an escape of JSON's or of the quote, or a control character."""
        if text[pos] != "\\":
            return self.control(m, text, pos)
        closer = CLOSERS.get(self.opened, '"')
        if text.startswith(closer, pos + 1):
            self.take(m, closer)
            return pos + 2
        return self.one_escape(m, text, pos)

    def one_escape(self, m: Leniency, text: str, pos: int) -> int:
        """An escape of JSON's, or a backslash that is text."""
        end = self.literal_escape(m, text, pos)
        if end >= 0:
            return end
        self.run_from = pos
        match = ESCAPE.match(text, pos)
        if match:
            self.note_doubtful(m, m._token, text, match.end())
            self.take(m, unescape(match.group()))
            return match.end()
        return m._hold(text, pos) if CUT_ESCAPE.match(text, pos) else self.odd_escape(m, text, pos)

    def end_odd_string(self, m: Leniency, text: str, quote: int) -> int:
        if m._state == ODD_KEY:
            return m._end_key(text, quote)
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
        self.quoted = True
        m._begun = "\n"  # a line break right here is not part of it
        if opened == "```":
            m._sink.start_string(m._offset + pos)
            m._open_string(BLOCK_STRING, text, pos)
            self.begin_text(m)
            self.quoted = True
        m._state = BLOCK_STRING
        return pos + len(opened)

    def block_string(self, m: Leniency, text: str, pos: int) -> int:
        """Between three quotes or ticks: text as it is; one line break at either end is not."""
        opened = self.opened
        if m._begun:
            if opened == "```" and patterns.INFO_STRING_CUT.match(text, pos) and not m._last:
                return m._hold(text, pos)
            match = (patterns.INFO_STRING if opened == "```" else patterns.LINE_BREAK).match(
                text, pos
            )
            if text.startswith("\r", pos) and len(text) == pos + 1 and not m._last:
                return m._hold(text, pos)
            m._begun = ""
            self.info = opened == "```" and match is not None and not text[pos].isspace()
            if match:
                return match.end()
            if opened == "```" and patterns.NAMES_LANGUAGE.match(text, pos):
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
            return self.odd_text(m, text, end)
        mark = patterns.LINE_BREAK.match(text, end)
        start = mark.end() if mark else end
        rest = text[start : start + 3]
        if opened.startswith(rest) and len(rest) < 3 and not m._last:
            return m._hold(text, end)
        if text[end] == "\r" and not mark and end + 1 == len(text) and not m._last:
            return m._hold(text, end)
        if rest == opened:
            ends = lookahead.STRING_ENDS_IN_OBJECT if m._object else lookahead.STRING_ENDS_IN_ARRAY
            seen = m._sees(ends, text, start + 3) if m._frames else True
            if seen is None:
                return m._hold(text, end)
            if seen:
                if self.info and not m._shown:
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
        if self.backslash_at != m._token and char != "'":
            code = self.other_escape(m, text, pos, char)
            if code is None:
                return m._hold(text, pos)
            if code:
                raise self.backslashes(m, text, pos)
        m._may_repair("bad-escapes", text, pos)
        if char == "'":
            self.take(m, "'")
            return pos + 2
        if self.backslash_at != m._token:
            if char.isalnum():
                self.begin_literal(m, text, pos)
            else:
                self.begin_punctuated(m, text, pos)
        end = GOOD_ESCAPE.match(text, pos).end()  # type: ignore[union-attr]  # of any backslash
        self.take(m, text[pos:end])
        return end

    def other_escape(self, m: Leniency, text: str, pos: int, char: str) -> bool | None:
        r"""True if this is an escape of another language: `\x41`, `\u{1F600}`, the end of a line.

        None if more text must come to tell.
        """
        if char in "\r\n" or text.startswith("u{", pos + 1):
            return True
        before = self.text_before(m)
        if char not in "xU" or self.is_drive(m, before, pos) or patterns.IN_REGEX.search(before):
            return False
        code = escapes.python_escape(text, pos + 1, m._last)
        return None if code is None else code != ""

    def begin_punctuated(self, m: Leniency, text: str, pos: int) -> None:
        r"""`\.(js|ts)\b`: here `\b` and `\f` may be text: the characters are rare."""
        self.note_doubtful(m, m._token, text, pos)
        if self.rare_at == m._token:
            raise self.backslashes(m, text, pos)
        self.punctuated_at = m._token

    def note_doubtful(self, m: Leniency, token: int, text: str, end: int) -> None:
        """Note if the run of text that was read has an escape that a path may have."""
        start = self.run_from
        if self.doubtful_at != token and patterns.HAS_DOUBTFUL.match(text, start, end):
            self.doubtful_at = token
        seldom = text.find("\\b", start, end) >= 0 or text.find("\\f", start, end) >= 0
        if seldom and patterns.HAS_RARE.match(text, start, end):
            self.rare_at = token

    def begin_literal(self, m: Leniency, text: str, pos: int) -> None:
        """A backslash that is text: from now on others may be text in this string, too."""
        self.note_doubtful(m, m._token, text, pos)
        if self.doubtful_at == m._token:
            raise self.backslashes(m, text, pos)
        before = self.text_before(m)
        self.literal_text = before[-1:]
        self.drive = self.is_drive(m, before, pos)
        self.backslash_at = m._token
        m._plain_at = NOWHERE

    def text_before(self, m: Leniency) -> str:
        """The end of the text of this string or key so far."""
        if m._state == KEY or m._state == ODD_KEY:
            return m._begun
        begun = self.string_at == m._token or m._plain_at == m._token
        return m._shown + self.tail_text if begun else ""

    def is_drive(self, m: Leniency, before: str, pos: int) -> bool:
        """True if the string begins like `C:` before the backslash at `pos`."""
        return before[-1:] == ":" and m._offset + pos == m._token + 3

    def backslashes(self, m: Leniency, text: str, pos: int) -> InvalidJSON:
        error: InvalidJSON = m._two_readings(
            "this backslash is text", "it begins an escape", text, pos
        )
        return error

    def literal_run(self, m: Leniency, text: str, pos: int) -> int:
        """In a string with a backslash that is text: as `_escaped`, one escape after the other."""
        end = max(pos, min(len(text), m._stop - m._offset))
        stop = patterns.LITERAL_TEXT.match(text, pos, end).end()  # type: ignore[union-attr]
        if stop > pos:
            self.take(m, text[pos:stop])
        if stop == len(text):
            return stop
        if text[stop] == '"':
            if m._state == STRING:
                return m.quotes.end_string(m, text, stop)
            return m._end_key(text, stop)
        if stop == end:
            raise m._over("string", m._limits.string, text, end)
        if text[stop] != "\\":
            return self.control(m, text, stop)
        return self.one_escape(m, text, stop)

    def literal_escape(self, m: Leniency, text: str, pos: int) -> int:
        """A backslash that may be text; -1 if it is read as in any other string."""
        if pos + 1 == len(text):
            return m._hold(text, pos)
        char = text[pos + 1]
        if self.punctuated_at == m._token and char in escapes.RARE:
            raise self.backslashes(m, text, pos)
        python = self.opened in ("'", "`") and m._state in (ODD_STRING, ODD_KEY)
        python = python and char in escapes.PYTHON + escapes.PYTHON_TOO
        if char == "u" and not ESCAPE.match(text, pos):
            return m._hold(text, pos) if CUT_ESCAPE.match(text, pos) else -1
        if self.backslash_at == m._token:
            if char not in escapes.DOUBTFUL and not python:
                return -1
            before = self.literal_text
            if m._state == KEY or m._state == ODD_KEY:
                before = m._begun
            seen = escapes.is_literal(before, self.drive, text, pos, m._last)
            if seen is None:
                return m._hold(text, pos)
            if not seen:
                raise self.backslashes(m, text, pos)
            if not m._may_repair("bad-escapes", text, pos):
                return -1
            self.take(m, "\\")
            return pos + 1
        if not python or "bad-escapes" not in m._rules:
            return -1
        string = escapes.python_escape(text, pos + 1, m._last)
        if string is None:
            return m._hold(text, pos)
        if not string or self.is_drive(m, self.text_before(m), pos):
            raise self.backslashes(m, text, pos)
        m._may_repair("bad-escapes", text, pos)
        self.doubtful_at = m._token
        self.take(m, string)
        match = patterns.PYTHON_CODE.match(text, pos + 1)
        return match.end() if match else pos + 2

    def control(self, m: Leniency, text: str, pos: int) -> int:
        """A control character in a string; with many documents a newline tells of a lost end."""
        if (m._many and RECORD_END.match(text, pos)) or not m._may_repair(
            "raw-newlines", text, pos
        ):
            return Machine._control(m, text, pos)
        if text[pos] == "\n" and (m._state == STRING or m._state == ODD_STRING):
            self.note_line(m)
        self.take(m, text[pos])
        return pos + 1

    def note_line(self, m: Leniency) -> None:
        """A line ends in a string: after a closing bracket, the value may have ended, too."""
        if self.string_at != m._token:
            self.begin_text(m)
        m._plain_at = NOWHERE
        self.watch(m, "\n")
        if (m._shown + self.tail_text).rstrip()[-1:] in ("}", "]"):
            self.after_value = True


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
    if not run.isascii() and (match := patterns.CURLY_TAIL.search(run)) is not None:
        return match.start()
    last = len(run.rstrip(" \t\r\n")) - 1
    return last if last >= 0 and run[last] == "," else len(run)
