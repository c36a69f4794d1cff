"""Leniency: the strict machine with an answer where it refuses.

Each rule looks at the refused character, says where reading goes on and in which state, and is
reported. What cannot be told yet is held until it can (the shapes of `lookahead.py`). So valid JSON
never meets a rule, nothing is read twice, and nothing that was shown is taken back.

A reading is taken only if it is the only sensible one. Three things can look like two, and each has
its own section below:

brackets  A bracket that does not fit was meant as another, is one too many, or one before it is
          missing. All readings of the run of brackets are compared by what follows the run
          (`_mend_closer`). The root's bracket is not emitted before the next character: a member
          after it shows that it was one too many (`_closing`).
quotes    A quote in a string ends it, or belongs to a quotation in it. Quotations have two quotes;
          one that is left alone means that a quote is missing or too many (`_inner_quote`).
commas    A comma at the end of a growing string is not emitted before the next character: a key
          after it shows that the string's quote was forgotten (`_forgotten_quote`).
"""

from __future__ import annotations

import re
from json import loads
from typing import Any, Final

from ...errors import InvalidJSON, Truncated
from ...paths import Path, format_path
from ..c_scanner import deeper
from ..expected import Expected, Guide
from ..grammar import (
    CUT_ESCAPE,
    ESCAPE,
    FRACTION,
    GOOD_ESCAPE,
    INTEGER,
    LITERALS,
    LONE_HIGH,
    MINUS,
    POINT,
    RECORD_END,
    SPACE,
    ZERO,
    unescape,
)
from ..machine import Machine
from ..sink import Sink
from ..states import (
    AFTER,
    ASIDE,
    BARE_KEY,
    BARE_VALUE,
    BEFORE,
    BLOCK_COMMENT,
    BLOCK_STRING,
    CLOSING,
    CODE,
    COLON,
    DIGITS,
    END,
    FENCE,
    FIRST_ELEMENT,
    FIRST_KEY,
    IGNORED,
    KEY,
    LENIENT,
    LINE_COMMENT,
    NEXT_KEY,
    ODD_KEY,
    ODD_STRING,
    PROSE,
    STRING,
    THOUGHTS,
    VALUE,
)
from . import lookahead
from .around import ProseMachine
from .rules import QUOTES

# Words that are no JSON, what they are read as, and by which rule.
_WORDS: Final[dict[str, tuple[bool | None, str]]] = {
    "True": (True, "python-literals"),
    "TRUE": (True, "python-literals"),
    "False": (False, "python-literals"),
    "FALSE": (False, "python-literals"),
    "None": (None, "python-literals"),
    "Null": (None, "python-literals"),
    "NULL": (None, "python-literals"),
    "NaN": (None, "nan"),
    "Infinity": (None, "nan"),
    "undefined": (None, "nan"),
}
_ALL_WORDS: Final = (*LITERALS.values(), *((word, value) for word, (value, _) in _WORDS.items()))
_BEGINS_VALUE: Final = frozenset('"{[-0123456789tfn') | {word[0] for word in _WORDS}

_BARE: Final = re.compile(r"[\w$-]*")
_BARE_START: Final = re.compile(r"[\w$]")
_BARE_VALUE: Final = re.compile(r'[^,}\]\n\r"{\[:`#]*')
# The quote that ends what an odd quote opens, and the plain text between them.
_CLOSERS: Final = {"'": "'", "“": "”", "‘": "’", "`": "`"}
_PLAIN: Final = {
    quote: re.compile(rf"[^{closer}\\\x00-\x1f]*") for quote, closer in _CLOSERS.items()
}
_BLOCK_TEXT: Final = {'"""': re.compile(r'[^"\\\r\n]*'), "```": re.compile(r"[^`\r\n]*")}
_INFO_STRING: Final = re.compile(r"[\w.+-]*[ \t]*(?:\r?\n)")
_INFO_STRING_CUT: Final = re.compile(r"[\w.+-]{0,40}[ \t]{0,8}\r?\Z")
# Markdown escapes these. Not those that formulas and regular expressions escape, too.
_MARKDOWN: Final = frozenset("_*#~>`")
_MARKDOWN_IN_KEYS: Final = _MARKDOWN | frozenset("-.!()[]{}+|")
# The end of a string that is not emitted at once: a comma, or a quote that may be meant as its end.
_TAIL: Final = re.compile(r"(?:[”’][ \t\r\n,}\]]*|,[ \t\r\n]*)\Z")
_LONGEST_TAIL: Final = 200
_ANY_CLOSER: Final = ("}", "]", ")")
_PREFIXED: Final = "but got '{}' (if the answer begins before this text, pass prefix=\"{{\")"
# The first key of an object, and one that is cut off.
_FIRST_KEY: Final = re.compile(r"\{\s{0,64}(?:[\"']([^\"'\\]{0,80})[\"']|([\w$]{1,80})\s{0,8}:)")
_FIRST_KEY_CUT: Final = re.compile(r"\{\s{0,64}(?:[\"'][^\"'\\]{0,80}|[\w$]{0,80}\s{0,8})\Z")
# A quote between a digit and one of these means inches.
_INCHES: Final = ' ,.;)x×-"'
# After these a quote opens no quotation.
_CLOSE_QUOTATION: Final = re.compile(r"[\w)\]}.!?%…]")
# Before these, too.
_NO_QUOTATION: Final = re.compile(r"[\s,:;}\]).!?]|\Z")
_LINE_BREAK: Final = re.compile(r"\r?\n")
_REMEMBERED: Final = 64
# Containers nested deeper than this are not looked at one by one.
_FAR: Final = 32
# How closely the machine looks: as leniency does, and as a schema wants it.
WARY: Final = 1
GUIDED: Final = 2
_END_OF_NUMBER: Final = "\"'“‘[{)#`，：…" + lookahead.ODD_SPACES

# What the states of leniency are to the strict machine; a comment is what it interrupted.
_STRICT: Final = {
    **dict.fromkeys((BEFORE, PROSE, THOUGHTS, FENCE, ASIDE, CODE), VALUE),
    IGNORED: END,
    CLOSING: END,
    BARE_KEY: KEY,
    ODD_KEY: KEY,
    ODD_STRING: STRING,
    BLOCK_STRING: STRING,
    BARE_VALUE: VALUE,
}


class LenientMachine(ProseMachine):
    """The machine with an answer where the strict one refuses."""

    __slots__ = (
        "_deeper",
        "_expected_here",
        "_first",
        "_guide",
        "_inner",
        "_last_closed",
        "_last_closer",
        "_last_decoded",
        "_last_size",
        "_lists_in_lists",
        "_misled",
        "_nest",
        "_nested",
        "_opened",
        "_parens",
        "_quotation",
        "_quoted",
        "_root_end",
        "_run_size",
        "_shallower",
        "_shown",
        "_string_at",
        "_strings",
        "_tail_text",
        "_trailing",
    )

    def __init__(self, sink: Sink, **options: Any) -> None:
        super().__init__(sink, **options)
        self._wary = WARY
        self._inner = not self._rules.isdisjoint(("inner-quotes", "missing-quotes"))
        # The quote that opened an odd string.
        self._opened = ""
        # What a schema asks for, by path; and at the string that is being collected for it.
        self._guide: Guide | None = None
        self._expected_here: Expected | None = None
        # Of the string being read: its offset, the end of what was emitted, what is not yet
        # emitted, whether a quotation is open in it, whether it had inner quotes, and how many
        # brackets of JSON inside it are open.
        self._string_at = -1
        self._first = ""
        self._shown = ""
        self._tail_text = ""
        self._quotation = self._quoted = False
        self._nest = 0
        self._start_document()

    def _start_document(self) -> None:
        # The root's bracket that is not emitted yet.
        self._root_end = -1
        # Where the last container ended, what it was, and if a comma was before its bracket.
        self._last_closed = -1
        self._last_closer = ""
        self._last_decoded: Any = None
        self._trailing = -1
        # Where the first object ended in an object, by the depth of the outermost object around it
        # with no list in between: if a bracket is one too many, it may have been that one. And if
        # that was so in the last one.
        self._nested: dict[int, int] = {}
        self._misled = False
        # How many members the last container had, and the largest of those that ended with it.
        self._last_size = self._run_size = 0
        # Whether a list began with a list: its bracket may have come twice.
        self._lists_in_lists = False
        # Another reading of the brackets so far would leave more open, or fewer.
        self._deeper = self._shallower = False
        # The depths that a "(" opened; depth and index of the last string in a list.
        self._parens: set[int] = set()
        self._strings = (0, 0)

    def guide(self, guide: Guide) -> None:
        self._guide = guide
        self._wary = GUIDED

    @property
    def pending_text(self) -> str | None:
        """Text of the number or literal that is being read, else None; it may be a bare string."""
        text = ProseMachine.pending_text.__get__(self)
        return None if text is None or self._bare_rule() else text

    @property
    def closing(self) -> bool:
        """True if the root's bracket was read and is not emitted yet."""
        return self._state == CLOSING

    def _next_document(self, state: int, pos: int) -> None:
        self._start_document()
        ProseMachine._next_document(self, state, pos)

    def _unexpected(self, text: str, pos: int, expected: str = "") -> int:
        state, end = self._state, -1
        if state == DIGITS:
            end = self._mend_number(text, pos)
        elif state == END:
            end = self._mend_after(text, pos)
        elif state < STRING:
            end = self._mend(text, pos, text[pos])
        return end if end >= 0 else Machine._unexpected(self, text, pos, expected)

    def _skip(self, text: str, pos: int) -> int:
        state = self._state
        if state == BARE_KEY:
            return self._bare_key(text, pos)
        if state == ODD_STRING or state == ODD_KEY:
            return self._odd_string(text, pos)
        if state == CLOSING:
            return self._closing(text, pos)
        if state == BLOCK_STRING:
            return self._block_string(text, pos)
        if state == BARE_VALUE:
            return self._bare_value(text, pos)
        return ProseMachine._skip(self, text, pos)

    def _outside(self) -> bool:
        strings = (ODD_STRING, BLOCK_STRING, BARE_VALUE)
        return self._state not in strings and ProseMachine._outside(self)

    # ---- between tokens ----------------------------------------------------------------------

    def _mend(self, text: str, pos: int, char: str) -> int:
        if char in lookahead.ODD_SPACES:
            return pos + 1 if self._may_repair("odd-spaces", text, pos) else -1
        if char in "：，" and self._frames:
            return self._mend_fullwidth(text, pos, char)
        if char in QUOTES:
            return self._mend_quote(text, pos, char)
        if char in "+." and self._state <= FIRST_ELEMENT:
            end = self._mend_sign(text, pos, char)
            if end >= 0:
                return end
        if not self._frames:
            return self._mend_word(text, pos)
        if char == "/":
            return self._mend_comment(text, pos)
        if char == "#":
            return self._mend_hash(text, pos)
        if char == "`":
            return self._mend_ticks(text, pos)
        if char == ":" or self._state == COLON:
            return -1
        if self._state == VALUE and self._object:  # after a colon: no value is invented
            return self._mend_odd_value(text, pos, char)
        if char == ",":
            return self._mend_comma(text, pos)
        if char in "]})":
            return self._mend_closer(text, pos, char)
        if char in ".…":
            return self._mend_ellipsis(text, pos)
        if self._state == AFTER:
            return self._mend_missing_comma(text, pos, char)
        if self._object:
            if char == "{" and self._state == NEXT_KEY:
                return self._mend_missing_brace(text, pos)
            return self._mend_bare_key(text, pos)
        return self._mend_odd_value(text, pos, char)

    def _mend_odd_value(self, text: str, pos: int, char: str) -> int:
        if char == "(":
            return self._mend_tuple(text, pos)
        end = self._mend_word(text, pos)
        return end if end >= 0 else self._mend_bare_value(text, pos)

    def _mend_fullwidth(self, text: str, pos: int, char: str) -> int:
        fits = self._state == COLON if char == "：" else self._state == AFTER
        if not fits or not self._may_repair("fullwidth", text, pos):
            return -1
        if char == "：":
            self._state = VALUE
        else:
            self._add_comma()
        return pos + 1

    def _mend_hash(self, text: str, pos: int) -> int:
        if not self._may_repair("comments", text, pos):
            return -1
        self._resume = self._state
        self._state = LINE_COMMENT
        return pos + 1

    def _mend_ticks(self, text: str, pos: int) -> int:
        """A fence that ends a value that was cut off; or a string between ticks."""
        fence = lookahead.FENCE
        if not fence.whole.match(text, pos) and fence.cut.match(text, pos):
            return self._hold(text, pos)
        is_fence = fence.whole.match(text, pos) is not None
        if self._state == VALUE and self._object:
            if is_fence:
                return self._open_block("```", text, pos)
            return self._mend_quote(text, pos, "`")
        if is_fence:
            return self._mend_closing_fence(text, pos)
        return self._mend_quote(text, pos, "`") if self._state <= FIRST_ELEMENT else -1

    def _mend_closing_fence(self, text: str, pos: int) -> int:
        """A fence between tokens: the value was cut off before it."""
        if "cut-off" not in self._rules or "fences" not in self._rules:
            return -1
        self._may_repair("cut-off", text, pos)
        self._close_all(text, pos)
        return pos

    def _mend_comma(self, text: str, pos: int) -> int:
        """A comma too many. In a list a value may be missing before it."""
        if not self._object or (self._state == FIRST_KEY and len(self._frames) > 1):
            missing = "a bracket" if self._object else "a value"
            raise self._two_readings(
                "the comma is one too many", f"{missing} is missing before it", text, pos
            )
        return pos + 1 if self._may_repair("trailing-commas", text, pos) else -1

    def _mend_ellipsis(self, text: str, pos: int) -> int:
        end = self._mend_mark("ellipses", lookahead.ELLIPSIS, text, pos)
        if end >= 0 and not self._held and (self._state == NEXT_KEY or self._state == VALUE):
            self._take_comma_back()
        return end

    def _mend_missing_comma(self, text: str, pos: int, char: str) -> int:
        if self._object:
            fits = char == '"' or ("bare-keys" in self._rules and _BARE_START.match(char))
        else:
            fits = char in _BEGINS_VALUE
        if not fits or "missing-commas" not in self._rules:
            return -1
        if self._number_end == self._offset + pos and char not in "\"'":
            return -1
        if char == '"':
            after = SPACE.match(text, pos + 1).end()  # type: ignore[union-attr]  # may be empty
            if after == len(text) and after - pos < _REMEMBERED and not self._last:
                return self._hold(text, pos)
            char = "," if text.startswith(",", after) and after - pos < _REMEMBERED else char
        if char == "," or self._ends_in_comma():
            raise self._two_readings(
                "a comma is missing here", "it is in a string beside it", text, pos
            )
        if self._trailing == self._last_closed >= self._token:
            raise self._two_readings(
                "a comma is missing here", "the bracket before it belongs after it", text, pos
            )
        scalar = self._last_closed < self._token
        mixed = not self._object and scalar == (char in "{[")
        if mixed or (not scalar and not self._last_size and not self._object):
            raise self._two_readings(
                "a comma is missing here", "a bracket is in the wrong place", text, pos
            )
        self._may_repair("missing-commas", text, pos)
        self._add_comma()
        return pos

    def _add_comma(self) -> None:
        self._state = NEXT_KEY if self._object else VALUE
        self._count += not self._object

    def _take_comma_back(self) -> None:
        self._state = AFTER
        self._count -= not self._object

    # ---- brackets ----------------------------------------------------------------------------

    def _brackets(self) -> str:
        """The brackets that close what is open, the outermost first."""
        kinds = [frame[0] for frame in self._frames[1:]] + [self._object]
        return "".join(
            "}" if kind else ")" if at in self._parens else "]" for at, kind in enumerate(kinds, 1)
        )

    def _mend_tuple(self, text: str, pos: int) -> int:
        if not self._may_repair("tuples", text, pos):
            return -1
        end: int = self._open(text, pos, "[")
        self._parens.add(len(self._frames))
        return end

    def _mend_missing_brace(self, text: str, pos: int) -> int:
        """`[{"i": 1, {"i": 2}]`: an object where a key is due, in an object of a list."""
        in_list = len(self._frames) > 1 and not self._frames[-1][0]
        if not in_list or "brackets" not in self._rules:
            return -1
        self._take_comma_back()
        self._refuse_shifted(text, pos)
        self._may_repair("brackets", text, pos)
        self._leave_noted(pos)
        self._deeper = True
        self._add_comma()
        return pos

    def _mend_closer(self, text: str, pos: int, char: str) -> int:
        """A bracket after a comma, or one that does not close what is open."""
        comma = self._state == NEXT_KEY or self._state == VALUE
        fits = char == self._brackets()[-1]
        if comma:
            if "trailing-commas" not in self._rules or (not fits and "brackets" not in self._rules):
                return -1
            if fits:
                self._may_repair("trailing-commas", text, pos)
                self._take_comma_back()
                self._trailing = self._offset + pos
        if fits:
            if char == ")":
                return self._close_tuple(text, pos, comma)
            return pos if self._state != FIRST_KEY else -1
        if "brackets" not in self._rules:
            return -1
        seen = lookahead.after_brackets(text, pos, self._last)
        if seen is None:
            return self._hold(text, pos)
        doubled = not comma and self._last_closed >= self._token and self._last_closer == char
        if comma:
            self._may_repair("trailing-commas", text, pos)
            self._take_comma_back()
        if self._string_at == self._token and (
            self._shown.rstrip()[-1:] in _ANY_CLOSER or self._first in ("{", "[")
        ):
            raise self._two_readings(
                "the bracket is wrong", "a bracket in the string before belongs here", text, pos
            )
        if comma and not lookahead.only_missing(self._brackets(), seen.closers):
            raise self._two_readings(
                "the bracket is wrong", "a value is missing before it", text, pos
            )
        return self._mend_brackets(text, pos, char, seen, doubled)

    def _close_tuple(self, text: str, pos: int, comma: bool) -> int:
        if self._state == AFTER and not self._count and not comma:
            raise self._two_readings("a tuple of one", "a value in parentheses", text, pos)
        return self._close_warily(pos)

    def _mend_brackets(
        self, text: str, pos: int, char: str, seen: lookahead.Run, doubled: bool
    ) -> int:
        """Choose the reading of a run of closing brackets whose first does not fit, and apply it.

        All that counts is how many containers it leaves open: there the text goes on.
        """
        expected = self._brackets()
        ways = lookahead.bracket_readings(expected, seen.closers, doubled, seen.then)
        if not ways:
            raise self._error(
                InvalidJSON, f"',' or {expected[-1]!r}", f"but got {char!r}", text, pos
            )
        if seen.then in ("end", "text") and not lookahead.may_end(expected, seen.closers, doubled):
            raise self._two_readings("a bracket is one too many", "one is missing", text, pos)
        (opened, cost), *others = sorted(ways.items(), key=lambda way: way[1])
        if self._deeper or self._shallower or (doubled and self._misled):
            raise self._two_readings("this bracket is wrong", "one before it is", text, pos)
        if seen.then == "key" or seen.then == "value":
            if cost > 1:
                raise self._two_readings("a bracket is one too many", "one is missing", text, pos)
            if others and others[0][1] == cost:
                raise self._two_readings(
                    f"what follows is in {self._place(opened)}",
                    f"in {self._place(others[0][0])}",
                    text,
                    pos,
                )
            near = [at for at, other in others if other == cost + 1]
            self._deeper = any(at > opened for at in near)
            self._shallower = any(at < opened for at in near)
        self._refuse_doubled(text, pos)
        if not doubled:
            self._refuse_shifted(text, pos)
        self._may_repair("brackets", text, pos)
        while len(self._frames) > opened:
            self._leave_noted(pos)
        return seen.end

    def _place(self, opened: int) -> str:
        """The path of the container that `opened` brackets are open in, as text."""
        path: Path = self._path(value=False)
        return format_path(path[: max(opened - 1, 0)])

    def _refuse_doubled(self, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON) -> None:
        """After `[[`: a closing bracket is missing, or the opening one came twice."""
        if self._lists_in_lists and self._state == AFTER and self._last_closed >= self._token:
            raise self._two_readings(
                "a bracket is missing here", "one came twice in [[", text, pos, kind
            )

    def _close_warily(self, pos: int) -> int:
        if len(self._frames) == 1 and not self._many and "brackets" in self._rules:
            self._root_end = self._offset + pos
            self._last_size = self._size()
            self._state = CLOSING
            return pos + 1
        return self._leave_noted(pos)

    def _leave_noted(self, pos: int) -> int:
        """End the open container, and remember what may be needed to tell readings apart."""
        at = self._offset + pos
        depth = len(self._frames)
        if self._object:
            if depth > 1 and self._frames[-1][0]:
                self._nested.setdefault(self._chain(depth - 1), at)
            else:
                self._misled = self._may_be_earlier(depth)
                self._nested.pop(depth, None)
        continued = self._last_closed >= self._token
        self._last_size = self._size()
        self._run_size = max(self._last_size, self._run_size if continued else 0)
        self._last_closed = at
        self._last_closer = "}" if self._object else "]"
        if self._parens:
            self._parens.discard(depth)
        end: int = self._leave(pos)
        if self._last_closer == "]" and not self._object and not self._count and self._frames:
            self._lists_in_lists = True
        return end

    def _size(self) -> int:
        """The number of members or elements of the open container."""
        if self._state == FIRST_ELEMENT or self._state == FIRST_KEY:
            return 0
        return self._count if self._object else self._count + 1

    def _chain(self, depth: int) -> int:
        """The depth of the outermost object around the one at `depth` with no list in between."""
        frames, least = self._frames, max(depth - _FAR, 1)
        while depth > least and frames[depth - 1][0]:
            depth -= 1
        return depth

    def _decoded(self, value: Any, end: int) -> None:
        at = self._offset + end - 1
        is_object = type(value) is dict
        self._last_closed = at
        self._last_closer = "}" if is_object else "]"
        self._last_size = len(value)
        self._run_size = _run_size(value)
        self._last_decoded = value
        if not is_object and not self._object and not self._count:
            self._lists_in_lists = True
        elif not self._lists_in_lists and _has_list_in_list(value):
            self._lists_in_lists = True
        if is_object and self._object:
            self._nested.setdefault(self._chain(len(self._frames)), at)
        elif is_object:
            self._misled = _has_nested(value)

    def _may_be_earlier(self, depth: int = 1) -> bool:
        """True if a bracket inside the object at `depth` may have been one too many."""
        if 0 <= self._nested.get(depth, -1) < self._token:
            return True
        return self._last_closed > self._token and _has_nested(self._last_decoded)

    def _closing(self, text: str, pos: int) -> int:
        """After the root's bracket: what comes next shows if it was one too many."""
        pos = lookahead.SPACES.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if pos == len(text):
            return pos
        char = text[pos]
        odd = self._trailing == self._root_end or not self._last_size
        if odd or char in ",，}]\"'“:：":
            seen = lookahead.after_brackets(text, pos, self._last)
            if seen is None:
                return self._hold(text, pos)
            goes_on = seen.then == "key" or (seen.then == "value" and (seen.comma or odd))
            if char in ":：" or goes_on or (seen.closers and self._closers_mislead(seen.closers)):
                member = seen.comma and seen.then == "key" and not seen.closers and self._object
                if not member or self._deeper or self._shallower or self._may_be_earlier():
                    raise self._two_readings(
                        "the bracket before this ends the value", "a bracket is wrong", text, pos
                    )
                self._may_repair("brackets", text, pos)
                self._state = AFTER
                return pos
        self._end_root()
        return pos

    def _closers_mislead(self, closers: str) -> bool:
        """True if brackets after the value may show that one is missing, or another too many.

        Braces after an object are only too many. In front of a list, or of an object in one, a
        bracket may be missing.
        """
        only_braces = self._object and not closers.strip("})")
        return self._deeper or self._shallower or not only_braces or self._may_be_earlier()

    def _end_root(self) -> None:
        self._leave(self._root_end - self._offset)

    def _mend_after(self, text: str, pos: int) -> int:
        """Text after the value. A scalar that something of JSON follows is none."""
        if not self._many and self._root_end < 0:
            if text[pos] in ":：":
                raise self._error(
                    InvalidJSON, "the end of the text", _PREFIXED.format(text[pos]), text, pos
                )
            adjacent = self._number_end == self._offset + pos and text[pos] not in "`/"
            if adjacent or text[pos] in ",:}]\"'{[，：":
                raise self._two_readings(
                    "this ends the value", "it is a part of something else", text, pos
                )
        return ProseMachine._mend_after(self, text, pos)

    # ---- keys and words ----------------------------------------------------------------------

    def _mend_bare_key(self, text: str, pos: int) -> int:
        if not _BARE_START.match(text, pos) or not self._may_repair("bare-keys", text, pos):
            return -1
        self._open_string(BARE_KEY, text, pos)
        return pos

    def _bare_key(self, text: str, pos: int) -> int:
        end = _BARE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if self._offset + end > self._stop:
            raise self._over("string", self._string_limit, text, self._stop - self._offset)
        self._add(text[pos:end])
        if end == len(text):
            return end
        quote = 0
        if text[end] == '"':  # only the first quote was forgotten
            seen = self._sees(lookahead.COLON_AHEAD, text, end + 1)
            if seen is None:
                return self._hold(text, end)
            quote = 1 if seen else 0
        self._state = KEY
        self._end_key(text, end)
        return end + quote

    def _mend_word(self, text: str, pos: int) -> int:
        """True, None, NaN and their like."""
        for word, (value, rule) in _WORDS.items():
            if text[pos] != word[0]:
                continue
            end = self._mend_mark(rule, lookahead.WORD[word], text, pos)
            if end >= 0:
                self._token = self._offset + pos
                if not self._held:
                    self._sink.scalar(value, None, self._token)
                    self._ended(end)
                return end
        return -1

    def _odd_literal(self, text: str, pos: int, word: str) -> int:
        end = self._mend_bare_value(text, pos)
        return end if end >= 0 else Machine._odd_literal(self, text, pos, word)

    def _mend_bare_value(self, text: str, pos: int) -> int:
        """A string without quotes, where the rule is named or the schema asks for a string."""
        rule = self._bare_rule()
        if not rule or not self._frames or not _BARE_START.match(text, pos):
            return -1
        self._may_repair(rule, text, pos)
        self._open_string(BARE_VALUE, text, pos)
        return pos

    def _bare_rule(self) -> str:
        if "bare-values" in self._rules:
            return "bare-values"
        asked = self._asked()
        only_text = asked is not None and asked.types | {"null"} == {"string", "null"}
        return "by-schema" if only_text else ""

    def _bare_value(self, text: str, pos: int) -> int:
        """In a string without quotes: it ends at a comma, a bracket or a line end."""
        end = _BARE_VALUE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if self._offset + end > self._stop:
            raise self._over("string", self._string_limit, text, self._stop - self._offset)
        self._add(text[pos:end])
        if end == len(text):
            return end
        if text[end] not in ",}]\r\n":
            self._state = AFTER
            return self._unexpected(text, end)
        string, asked = self._take_begun().rstrip(" \t"), self._asked()
        found, value = fitting(string, asked, 0) if asked is not None else (False, None)
        self._emit_string(str(value) if found else string, self._token)
        self._state = AFTER
        return end

    def _emit_string(self, value: str, offset: int) -> None:
        self._sink.start_string(offset)
        if value:
            self._sink.text(value)
        self._sink.end_string()

    # ---- numbers -----------------------------------------------------------------------------

    def _ends_number(self, text: str, pos: int) -> bool:
        if self._frames:
            comment = text[pos] == "/" and text[pos + 1 : pos + 2] in ("/", "*")
            return comment or text[pos] in _END_OF_NUMBER
        return Machine._ends_number(self, text, pos) or text[pos] in "`/" + lookahead.ODD_SPACES

    def _mend_number(self, text: str, pos: int) -> int:
        """In a number: `-Infinity`, `-.5`, `5.`, `1_000`, a comment right after it, a bare word."""
        state, char, after = self._number_state, text[pos], text[pos + 1 : pos + 2]
        if state == MINUS and char == "I":
            return self._mend_infinity(text, pos)
        if not self._frames:
            return -1
        if char in "._/" and not after and not self._last:
            return self._hold(text, pos)
        on = "numbers" in self._rules
        if on and state == MINUS and char == "." and after.isdecimal():
            self._may_repair("numbers", text, pos)
            self._add("0")
            self._number_state = ZERO
            return pos
        ends = char in ",]} \t\n\r" or self._ends_number(text, pos)
        if on and state == POINT and ends:
            self._may_repair("numbers", text, pos)
            self._add("0")
            self._number_state = FRACTION
            return pos
        if on and char == "_" and state in (INTEGER, FRACTION) and after.isdecimal():
            self._may_repair("numbers", text, pos)
            return pos + 1
        rule = self._bare_rule()
        if rule and not ends and self._may_repair(rule, text, pos):
            begun = self._take_begun()
            self._stop = self._token + self._string_limit
            self._state = BARE_VALUE
            self._begun = begun
            return pos
        return -1

    def _mend_sign(self, text: str, pos: int, char: str) -> int:
        """`+5` and `.5`"""
        if not self._frames or "numbers" not in self._rules:
            return -1
        after = text[pos + 1 : pos + 2]
        if not after and not self._last:
            return self._hold(text, pos)
        if not (after.isdecimal() or (char == "+" and after == ".")):
            return -1
        self._may_repair("numbers", text, pos)
        if char == ".":
            self._token = self._offset + pos
            self._stop = self._token + self._number_limit
            self._state = DIGITS
            self._number_state = POINT
            self._begun = "0."
        return pos + 1

    def _mend_infinity(self, text: str, pos: int) -> int:
        """-Infinity: the minus was read as that of a number."""
        end = self._mend_mark("nan", lookahead.WORD["Infinity"], text, pos)
        if end >= 0 and not self._held:
            self._begun = ""
            self._sink.scalar(None, None, self._token)
            self._ended(end)
        return end

    # ---- strings -----------------------------------------------------------------------------

    def _mend_quote(self, text: str, pos: int, char: str) -> int:
        """A string or key in quotes that are not JSON's, perhaps after a missing comma."""
        rule = QUOTES.get(char, "back-ticks")
        if rule not in self._rules or self._state == COLON:
            return -1
        if self._state == AFTER:
            if not self._may_repair("missing-commas", text, pos):
                return -1
            self._add_comma()
        self._may_repair(rule, text, pos)
        self._opened = char
        if self._state == FIRST_KEY or self._state == NEXT_KEY:
            return self._open_string(ODD_KEY, text, pos)
        if not self._object:
            self._strings = (len(self._frames), self._count)
        self._sink.start_string(self._offset + pos)
        return self._open_string(ODD_STRING, text, pos)

    def _string_element(self, text: str, pos: int) -> int:
        """A quote in a list. After other values it may open a key: the list was not closed."""
        if self._wary == GUIDED:
            asked = self._asked()
            if asked is not None and ("string" not in asked.types or asked.strings):
                self._expected_here = asked
                return self._open_string(STRING, text, pos)
        if not self._object and self._frames:
            depth = len(self._frames)
            suspicious = self._state == VALUE and self._strings != (depth, self._count - 1)
            if suspicious and depth > 1 and self._frames[-1][0] and "brackets" in self._rules:
                seen = self._sees(lookahead.QUOTED_KEY, text, pos)
                if seen is None:
                    return self._hold(text, pos)
                if seen:
                    return self._mend_open_list(text, pos)
            self._strings = (depth, self._count)
        return Machine._string_element(self, text, pos)

    def _mend_open_list(self, text: str, pos: int) -> int:
        """`{"a": [1, 2, "b": 3}`: a key in a list that belongs to the object around it."""
        self._take_comma_back()
        if self._deeper or self._shallower:
            raise self._two_readings("a bracket is missing here", "one before it", text, pos)
        self._refuse_doubled(text, pos)
        self._refuse_shifted(text, pos)
        self._may_repair("brackets", text, pos)
        self._leave_noted(pos)
        self._deeper = True
        self._state = NEXT_KEY
        return pos

    def _odd_string(self, text: str, pos: int) -> int:
        """In a string or key with odd quotes: take its characters, up to the one that ends it."""
        end = _PLAIN[self._opened].match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        end = max(pos, min(end, self._stop - self._offset))
        if end > pos:
            self._take(text[pos:end])
        if end == len(text):
            return end
        if text[end] == _CLOSERS[self._opened]:
            return self._end_odd_string(text, end)
        if self._offset + end >= self._stop:
            raise self._over("string", self._string_limit, text, end)
        return self._odd_text(text, end)

    def _odd_text(self, text: str, pos: int) -> int:
        """Between odd quotes: an escape of JSON's or of the quote, or a control character."""
        if text[pos] != "\\":
            return self._control(text, pos)
        closer = _CLOSERS.get(self._opened, '"')
        if text.startswith(closer, pos + 1):
            self._take(closer)
            return pos + 2
        found = ESCAPE.match(text, pos)
        if found:
            self._take(unescape(found.group()))
            return found.end()
        return self._hold(text, pos) if CUT_ESCAPE.match(text, pos) else self._odd_escape(text, pos)

    def _end_odd_string(self, text: str, quote: int) -> int:
        if self._state == ODD_KEY:
            return self._end_key(text, quote)
        self._state = STRING
        end = self._end_string(text, quote)
        if self._state == STRING:  # a quote in the text, or one that cannot be told yet
            self._state = ODD_STRING
        return end

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
            if opened == "```" and _INFO_STRING_CUT.match(text, pos) and not self._last:
                return self._hold(text, pos)
            found = (_INFO_STRING if opened == "```" else _LINE_BREAK).match(text, pos)
            if text.startswith("\r", pos) and len(text) == pos + 1 and not self._last:
                return self._hold(text, pos)
            self._begun = ""
            if found:
                return found.end()
        end = _BLOCK_TEXT[opened].match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if end > pos:
            self._take(text[pos:end])
        if self._offset + end > self._stop:
            raise self._over("string", self._string_limit, text, self._stop - self._offset)
        if end == len(text):
            return end
        if text[end] == "\\":
            return self._odd_text(text, end)
        mark = _LINE_BREAK.match(text, end)
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
                self._state = STRING
                return self._finish_string(text, start + 2)
        self._take(text[end:start] or text[end])
        return max(start, end + 1)

    def _take(self, run: str) -> None:
        state = self._state
        if state == KEY or state == ODD_KEY or self._expected_here is not None:
            self._add(run)
        else:
            self._take_text(run)

    def _take_text(self, run: str) -> None:
        """Emit text of a string, but for what may turn out to be its end."""
        if self._string_at != self._token:
            self._begin_text()
        if self._nest:
            for char in run:
                if self._nest and char in "{[}]":
                    self._nest += 1 if char in "{[" else -1
        if self._tail_text:
            run = self._tail_text + run
            self._tail_text = ""
        if self._inner and self._frames and self._state == STRING:
            found = _TAIL.search(run)
            if found is not None and len(found.group()) <= _LONGEST_TAIL:
                self._tail_text = found.group()
                run = run[: found.start()]
        if run:
            self._sink.text(run)
            self._first = self._first or run.lstrip()[:1]
            self._shown = self._shown[-_REMEMBERED:] + run if run.isspace() else run

    def _begin_text(self) -> None:
        self._string_at = self._token
        self._first = ""
        self._shown = self._tail_text = ""
        self._quotation = self._quoted = False
        self._nest = 0

    def _is_plain(self, run: str) -> bool:
        if self._string_at != self._token:
            self._begin_text()
        if self._tail_text or self._nest or self._expected_here is not None:
            return False
        if run.rstrip(" ")[-1:] in ",”’}]":  # or there is nothing else in it
            return False
        self._first = self._first or run.lstrip()[:1]
        self._shown = run
        return True

    def _escaped(self, text: str, pos: int) -> int:
        """Stay here until the string ends: its end would be sought anew after each repair."""
        while True:
            pos = Machine._escaped(self, text, pos)
            if pos == len(text) or (self._state != STRING and self._state != KEY):
                return pos

    def _end_string(self, text: str, quote: int) -> int:
        """End the string at this quote, or take the quote as part of its text."""
        if self._string_at != self._token:
            self._begin_text()
        end = len(text)
        if self._offset + quote == self._token + 1 and text[quote] == '"' and self._blocks():
            if quote + 1 == end and not self._last:
                return self._hold(text, quote)
            if text.startswith('"', quote + 1):
                return self._open_block('"""', text, quote - 1)
        if not self._inner or not self._frames:
            return self._finish_string(text, quote)
        # Nearly every string ends in one of these ways, told without a shape.
        pos = quote + 1
        if pos < end and text[pos] in " \n\r\t":
            pos = SPACE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if pos < end and text[pos] == ",":
            pos += 1
            if pos < end and text[pos] in " \n\r\t":
                pos = SPACE.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
            plain = pos < end and (text[pos] == '"' or (text[pos] == ")" and bool(self._parens)))
        else:
            plain = pos < end and (text[pos] in "}]" or (text[pos] == ")" and bool(self._parens)))
        plain = plain or (pos == end and self._last)
        if plain and not self._nest:
            if self._quotation:
                raise self._lone_quote(text, quote)
            return self._finish_string(text, quote)
        if pos == end and not self._last and end - quote < _REMEMBERED:
            return self._hold(text, quote)
        return self._doubtful_quote(text, quote)

    def _ends_in_comma(self) -> bool:
        """True if the last token is a string that ends in a comma: a quote may be misplaced."""
        is_last = self._string_at == self._token > self._last_closed
        return is_last and self._shown.rstrip().endswith(",")

    def _blocks(self) -> bool:
        return "block-strings" in self._rules and self._state == STRING

    def _finish_string(self, text: str, quote: int) -> int:
        """End the string at this quote."""
        if self._tail_text:
            tail, self._tail_text = self._tail_text, ""
            self._sink.text(tail)
            self._shown = tail
        if not self._frames:
            self._number_end = self._offset + quote + 1
        if self._expected_here is not None:
            self._end_collected(text, quote)
            return quote + 1
        end: int = Machine._end_string(self, text, quote)
        return end

    # ---- quotes ------------------------------------------------------------------------------

    def _doubtful_quote(self, text: str, quote: int) -> int:
        if not self._nest:
            ends = (
                lookahead.STRING_ENDS_IN_OBJECT if self._object else lookahead.STRING_ENDS_IN_ARRAY
            )
            seen = self._sees(ends, text, quote + 1)
            if seen is None:
                return self._hold(text, quote)
            if seen:
                if self._quotation:
                    raise self._lone_quote(text, quote)
                return self._finish_string(text, quote)
            if self._tail_text and text[quote] == '"':
                end = self._forgotten_quote(text, quote)
                if end >= 0:
                    return end
        return self._inner_quote(text, quote)

    def _lone_quote(self, text: str, quote: int) -> InvalidJSON:
        error: InvalidJSON = self._two_readings(
            "this quote ends the string", "it ends a quotation in it", text, quote
        )
        return error

    def _forgotten_quote(self, text: str, quote: int) -> int:
        """After a comma: this quote opens a key, and the one before the comma was forgotten."""
        tail = self._tail_text
        curly = tail[0] in "”’"
        ahead = lookahead.KEY_AHEAD if self._object or "}" in tail else lookahead.ELEMENT_AHEAD
        seen = self._sees(ahead, text, quote + 1)
        if seen is None:
            return self._hold(text, quote)
        rule = "curly-quotes" if curly else "missing-quotes"
        if not seen or rule not in self._rules:
            return -1
        swallowed = self._shown.rstrip()[-1:] in ("}", "]")
        unsure = swallowed or self._quoted or not self._object
        if self._quotation or (not curly and unsure):
            raise self._two_readings(
                "a quote is missing before the comma", "the comma is part of the text", text, quote
            )
        self._may_repair(rule, text, quote)
        self._tail_text = ""
        self._finish_string(text, quote)
        self._replay(tail[curly:], text, quote)
        return quote

    def _replay(self, tail: str, text: str, pos: int) -> None:
        """Read what was held back as the text of a string: a comma, or closing brackets."""
        for at, char in enumerate(tail, pos - len(tail)):
            if char == "," and self._state == AFTER:
                self._add_comma()
            elif char in "}]" and self._frames and self._closes(char, self._state):
                self._close(at)
            elif not char.isspace():
                raise self._lone_quote(text, pos)

    def _inner_quote(self, text: str, quote: int) -> int:
        """A quote that is part of the text: it opens or closes a quotation, or means inches."""
        if "inner-quotes" not in self._rules:
            return self._finish_string(text, quote)
        char, after = text[quote], text[quote + 1 : quote + 2]
        before = (self._shown + self._tail_text)[-1:]
        if char not in "'’" or not (before.isalnum() and after.isalnum()):
            if self._nest:
                pass
            elif self._quotation:
                if before.isspace() or after.isalnum():
                    raise self._lone_quote(text, quote)
                self._quotation = False
            elif not _CLOSE_QUOTATION.match(before) and not _NO_QUOTATION.match(after):
                if after == char != before and text[quote + 2 : quote + 3] != char:
                    if quote + 2 == len(text) and not self._last:
                        return self._hold(text, quote)
                    raise self._lone_quote(text, quote)
                if before in ("{", "[") and char == '"':
                    self._nest = 1
                else:
                    self._quotation = True
            elif not (before.isdigit() and char == '"' and after in _INCHES):
                raise self._lone_quote(text, quote)
        self._may_repair("inner-quotes", text, quote)
        self._quoted = True
        self._take(char)
        return quote + 1

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
        end = GOOD_ESCAPE.match(text, pos).end()  # type: ignore[union-attr]  # of any backslash
        self._take(text[pos:end])
        return end

    def _control(self, text: str, pos: int) -> int:
        """A control character in a string; with many documents a newline tells of a lost end."""
        if (self._many and RECORD_END.match(text, pos)) or not self._may_repair(
            "raw-newlines", text, pos
        ):
            return Machine._control(self, text, pos)
        self._take(text[pos])
        return pos + 1

    # ---- what a schema asks for --------------------------------------------------------------

    def _asked(self) -> Expected | None:
        """What the schema allows for the value that comes next."""
        if self._guide is None or "by-schema" not in self._rules:
            return None
        return self._guide(self._path(value=True))

    def _fits(self, text: str, pos: int) -> bool | None:
        """False if the schema asks for another type, or for objects with other keys."""
        asked = self._guide(()) if self._guide is not None and not self._many else None
        if asked is None or "by-schema" not in self._rules:
            return True
        if ("object" if text[pos] == "{" else "array") not in asked.types:
            return False
        found = _FIRST_KEY.match(text, pos)
        if text[pos] == "[" or not asked.keys:
            return True
        if found is None:
            return None if _FIRST_KEY_CUT.match(text, pos) and not self._last else True
        return (found[1] or found[2]) in asked.keys

    def _end_collected(self, text: str, quote: int) -> None:
        """End a string where the schema asks for something else: emit the reading that fits."""
        asked, self._expected_here = self._expected_here, None
        assert asked is not None
        string = self._take_begun()
        found, value = fitting(string, asked, self._limits.depth - len(self._frames))
        if found:
            self._may_repair("by-schema", text, quote)
            self._emit_value(value, self._token)
        else:
            self._emit_string(string, self._token)
        self._ended(quote + 1)

    def _emit_value(self, value: Any, offset: int) -> None:
        """The events of a value that is known already."""
        if isinstance(value, str):
            self._emit_string(value, offset)
        elif isinstance(value, dict):
            self._sink.start_object(offset)
            for key, member in value.items():
                self._sink.key(key, offset)
                self._emit_value(member, offset)
            self._sink.end_container(offset)
        elif isinstance(value, list):
            self._sink.start_array(offset)
            for element in value:
                self._emit_value(element, offset)
            self._sink.end_container(offset)
        else:
            number = None if value is None or isinstance(value, bool) else repr(value)
            self._sink.scalar(value, number, offset)

    # ---- the end -----------------------------------------------------------------------------

    def _finish(self) -> None:
        self._last = True
        held, self._held = self._held, ""
        self._run(held)
        if self._state >= LENIENT:
            self._tail = b""  # half a character of text that is not read
        if self._state == STRING and self._tail_text[:1] in ("”", "’") and self._frames:
            self._end_curly()
        if self._state == CLOSING:
            self._end_root()
        quoted = self._state in (STRING, BLOCK_STRING) and self._string_at == self._token
        self._strictly()
        is_open = self._frames or self._state == STRING
        if is_open and "cut-off" in self._rules:
            self._refuse_swallowed(quoted)
            self._may_repair("cut-off", self._held, len(self._held))
            self._cut_off()
        else:
            Machine._finish(self)

    def _end_curly(self) -> None:
        """The text ends after a curly quote and brackets: `{"a": "b”}`."""
        tail, end = self._tail_text, len(self._held)
        closers = re.sub(r"\s", "", tail[1:])
        if closers and closers == self._brackets()[::-1] and "curly-quotes" in self._rules:
            self._may_repair("curly-quotes", self._held, end)
            self._tail_text = ""
            self._finish_string(self._held, end - 1)
            self._replay(tail[1:], self._held, end)

    def _refuse_swallowed(self, in_string: bool) -> None:
        """A string that only the end of the text ends may have swallowed what came after it."""
        text, end = self._held, len(self._held)
        if self._state == KEY:
            swallowed = re.search(r"[:{}\[\],]", self._begun) is not None
        elif self._state == STRING:
            closer = (self._shown + self._tail_text).rstrip()[-1:]
            swallowed = in_string and (self._quoted or closer in _ANY_CLOSER)
        else:
            last = self._shown.rstrip()[-1:]
            swallowed = self._string_at == self._token and last in _ANY_CLOSER
        if swallowed:
            raise self._two_readings(
                "the text stopped in a string", "a quote is missing", text, end, Truncated
            )
        if self._shallower:
            raise self._two_readings(
                "the text stopped early", "a bracket before was wrong", text, end, Truncated
            )
        self._refuse_doubled(text, end, Truncated)
        if len(self._frames) == 1:
            self._refuse_shifted(text, end, Truncated)

    def _cut_off(self) -> None:
        """Close what is open. Half a key, escape or number is dropped, half a word has one end."""
        end = len(self._held)
        if self._state == STRING:
            self._finish_string(self._held, end - 1)
            if self._state == STRING:
                self._ended(end)
        elif self._held and self._state <= FIRST_ELEMENT:
            for word, value in _ALL_WORDS:
                if word.startswith(self._held):
                    self._sink.scalar(value, None, self._offset)
                    break
        while self._frames:
            self._leave(end)

    def _refuse_shifted(self, text: str, pos: int, kind: type[InvalidJSON] = InvalidJSON) -> None:
        """`{"a": {"b": 1, "c": 2}`: the last bracket is missing, or one before "c"."""
        after = self._state == AFTER and self._last_closed >= self._token
        alike = self._last_closer == ("}" if self._object else "]")
        if after and alike and self._run_size > 1:
            raise self._two_readings("a bracket is missing here", "one before it", text, pos, kind)

    def _close_all(self, text: str, pos: int) -> None:
        self._refuse_doubled(text, pos)
        if len(self._frames) == 1:
            self._refuse_shifted(text, pos)
        while self._frames:
            self._leave_noted(pos)

    def _strictly(self) -> None:
        """Be in the state of the strict machine that comes nearest to this one."""
        if self._state == LINE_COMMENT or self._state == BLOCK_COMMENT:
            self._state = self._resume
        self._state = _STRICT.get(self._state, self._state)

    def _fail_at(self, text: str, pos: int) -> dict[str, Any]:
        self._strictly()
        return Machine._fail_at(self, text, pos)


def _run_size(value: Any) -> int:
    """The size of the largest of the containers that end where this one does."""
    size = 0
    while value and (type(value) is dict or type(value) is list):
        size = max(size, len(value))
        value = [*(value.values() if isinstance(value, dict) else value)][-1]
    return size


def _has_list_in_list(value: Any) -> bool:
    """True if a list in this value begins with a list."""
    level = [value]
    while level:
        if any(type(one) is list and one and type(one[0]) is list for one in level):
            return True
        level = [
            inner
            for one in level
            for inner in (one.values() if type(one) is dict else one)
            if type(inner) is dict or type(inner) is list
        ]
    return False


def _has_nested(value: Any) -> bool:
    """True if an object in this one, or in its last member, is followed by another member."""
    while type(value) is dict and value:
        *before, value = value.values()
        if any(type(member) is dict for member in before):
            return True
    return False


def fitting(text: str, asked: Expected, depth: int) -> tuple[bool, Any]:
    """True and the reading of a string that a schema asks for, else False and None."""
    if asked.strings:
        if text in asked.strings:
            return False, None
        alike = [one for one in asked.strings if one.casefold() == text.strip().casefold()]
        return (True, alike[0]) if len(alike) == 1 else (False, None)
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return False, None
    if isinstance(value, (dict, list)) and deeper(value, depth, text.count("[") + text.count("{")):
        return False, None
    kinds = {
        dict: ("object",),
        list: ("array",),
        bool: ("boolean",),
        type(None): ("null",),
        int: ("integer", "number"),
        float: ("number",),
    }
    return (True, value) if asked.types.intersection(kinds.get(type(value), ())) else (False, None)
