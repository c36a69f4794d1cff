"""What lenient reading looks at before it decides: shapes of the text that comes next.

A shape is a pattern. A second one is made of it, which sees that the piece ended too early to tell.
Every shape is bounded, so a look ahead costs O(1). Nothing here knows the machine or its rules.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from ..reasoning import ELEMENTS, MARKS

# No look ahead reaches further than this, in characters.
REACH: Final = 1024

# A part of a pattern: a bracket of a group, a bar, or an atom with its quantifier. What is seen
# behind it belongs to the atom.
_PART: Final = re.compile(
    r"\(\?:|[)|]|(?:\(\?<=[^)]*\))?(?:\[\^?\]?(?:\\.|[^]\\])*\]|\\.|[^()|])(?:\{\d+(?:,\d+)?\})?",
    re.DOTALL,
)


Item = Any  # an atom as text, or the ways of a group


class Shape:
    """A pattern of characters, classes with a number of times, and groups with bars.

    `whole` matches where the shape is seen, `cut` where more text must come to tell. They are made
    when first asked for: the large ones take a while.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    @cached_property
    def whole(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    @cached_property
    def cut(self) -> re.Pattern[str]:
        return re.compile(self.cut_pattern)

    def sees(self, text: str, pos: int, last: bool) -> bool | None:
        """True if the text goes on in this shape, None if more text must come to tell.

        The end of the text counts as the end of a line.
        """
        if last:
            return self.whole.match(text + "\n", pos) is not None
        if self.whole.match(text, pos):
            return True
        return None if self.cut.match(text, pos) else False

    @property
    def cut_pattern(self) -> str:
        """A pattern for text that ends before the last character of the shape."""
        return _cut(self.ways)

    @property
    def ways(self) -> list[list[Item]]:
        return _ways(_PART.findall(self.pattern))


def _ways(parts: list[str]) -> list[list[Item]]:
    """The ways through a group, up to its bracket or the end; removes what it reads."""
    ways: list[list[Item]] = [[]]
    while parts:
        part = parts.pop(0)
        if part == ")":
            break
        if part == "|":
            ways.append([])
        else:
            ways[-1].append(_ways(parts) if part == "(?:" else part)
    return ways


def _written(item: Item) -> str:
    if isinstance(item, str):
        return item
    return "(?:" + "|".join("".join(map(_written, way)) for way in item) + ")"


def _cut(ways: list[list[Item]]) -> str:
    cuts = [r"\Z"]
    for way in ways:
        if way and not isinstance(way[0], str):
            cuts.append(_cut(way[0]))
        if len(way) > 1:
            cuts.append(f"{_written(way[0])}(?:{_cut([way[1:]])})")
    return "|".join(cuts)


# Values that are words: JSON's, Python's, in capitals, and those that JSON does not have.
WORDS: Final = (
    *("true", "false", "null", "True", "False", "None", "TRUE", "FALSE", "NULL", "Null"),
    *("NaN", "Infinity", "-Infinity", "undefined"),
)

# White space that is none in JSON: no-break, zero-width, ideographic, byte order mark.
ODD_SPACES: Final = (
    "\x0b\x0c\x85\xa0\u1680\u180e"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d"
    "\u200e\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
SPACES: Final = re.compile(f"[ \t\r\n{ODD_SPACES}]*")

_QUOTE = "[\"'“‘]"
_BLANK = f"[ \t\r\n{ODD_SPACES}]"
_SPACE = _BLANK + "{0,32}"
_SOME_SPACE = _BLANK + "{1,32}"
_MUCH_SPACE = _BLANK + "{32}" + _BLANK
_NARROW = f"[ \t{ODD_SPACES}]"
_GAP = _NARROW + "{0,8}"
_SOME_GAP = _NARROW + "{1,8}"
_WIDE_GAP = _NARROW + "{8}" + _NARROW
_COLON = "[:：]"
_COMMA = "[,，]"
_NUMBER = "[-0-9][-+.eE0-9]{0,23}"
_LONG_NUMBER = "[-0-9][-+.eE0-9]{23}[-+.eE0-9]"
_WORD = f"(?:{'|'.join(WORDS)})"
_SCALAR = f"(?:{_NUMBER}|{'|'.join(WORDS)})"
_NAME = r"[\w$][\w$-]{0,40}"
_KEY = f"{_NAME}{_GAP}{_COLON}"
_HALF_KEY = f'{_NAME}"{_GAP}{_COLON}'  # its first quote was forgotten
_COMMENT = "/[/*]"
_BEGINS = "[\"'“‘{\\[0-9-]"
_BEGINS_VALUE = f"(?:{_BEGINS}|{'|'.join(WORDS)})"
_TICKS = "```"


def _any_case(text: str) -> str:
    """A pattern for this text in capital or small letters."""
    return "".join(
        f"[{char}{char.upper()}]" if char.isalpha() else re.escape(char) for char in text
    )


FENCE: Final = Shape(_TICKS)
COMMENT: Final = Shape(_COMMENT)
# What may follow a number or a string at the root, right after it or in its line.
MARK: Final = Shape(f"{_TICKS}|{_COMMENT}")
# A fence with its whole name; one that names any language; one that names JSON or begins like it.
NAMED_FENCE: Final = Shape(rf"{_TICKS}[`\w./+-]{{0,60}}[^`\w./+-]|{_TICKS}[`\w./+-]{{61}}")
OPENING_FENCE: Final = Shape(rf"{_TICKS}\w")
JSON_FENCE: Final = Shape(
    rf"(?:```[`]{{0,4}}|~~~[~]{{0,4}}){_GAP}"
    rf"(?:{_any_case('json')}|[^`~\r\n]{{0,40}}[\r\n]{_SPACE}[{{\[]{_SPACE}(?:[\"'“{{\[0-9-]|{_KEY}))"
)
# A face after the value: its colon says nothing about the value.
FACE: Final = Shape(r"[:;=][-'^o]{0,2}[\]\[(){}DPp3*|/]")
# `["a"].map(`, but not the end of a sentence; `["a"](link)`.
MEMBER: Final = Shape(r"\.[a-z_$]|\(")
ELLIPSIS: Final = Shape(r"\.\.\.|…")

_NAMES: Final = f"(?:{'|'.join(map(_any_case, ELEMENTS))})"
THOUGHTS: Final = Shape(
    f"<{_NAMES}(?:>|[ \t][^<>]{{0,100}}>)|" + "|".join(_any_case(mark) for mark, _ in MARKS)
)
# What ends nothing but thoughts, and what may.
ONLY_THOUGHTS_END: Final = Shape(f"</{_NAMES}>|" + "|".join(_any_case(mark) for _, mark in MARKS))
THOUGHTS_END: Final = Shape(f"{ONLY_THOUGHTS_END.pattern}|{_any_case('<|end|>')}")
WORD: Final = {word: Shape(word) for word in WORDS}

# After what may as well be part of a sentence the line must end: `{}`, `[]`, `[1]`, `42`, `true`;
# after a bracket there may be a tick.
_TO_LINE_END = _NARROW + "{0,64}"
_LINE_ENDS = rf"{_TO_LINE_END}(?:[\r\n]|{_TICKS}|{_COMMENT})"
_BRACKET_ENDS = rf"[.!]{{0,1}}{_TO_LINE_END}(?:[\r\n`]|{_COMMENT})"
_CONTAINER = f"{_MUCH_SPACE}|{_SOME_SPACE}#|{_SPACE}(?:{_QUOTE}|{_COMMENT}"  # not {#this}


def _object(value: str, ends: str) -> str:
    """What follows `{` in JSON, or nearly so; `ends` is what follows `{}`."""
    return rf"(?:{_CONTAINER}|,{_SPACE}{_QUOTE}|{_HALF_KEY}|{_KEY}{value}|\}}{ends}))"


def _array(value: str, ends: str, nested: str) -> str:
    """What follows `[` in JSON, or nearly so."""
    after = f"(?:{_SPACE}(?:,|{_COMMENT})|{_SOME_SPACE}(?:#|{_BEGINS})|{_MUCH_SPACE})"
    return (
        rf"(?:{_CONTAINER}|{_LONG_NUMBER}|[+.][0-9]|[+][.][0-9]|\({_SPACE}{_QUOTE}|{_SCALAR}{after}"
        rf"|{_WORD}{_SPACE}\]|\]{ends}|{_NUMBER}{_SPACE}\]{ends}"
        rf"|\{{{_object(value, '')}|\[{nested}))"
    )


def _bracket(value: str, ends: str) -> str:
    nested = _array(value, "", "")
    return rf"\{{{_object(value, ends)}|\[{_array(value, ends, nested)}"


_EMPTY = rf"(?:\{{{_SPACE}\}}|\[{_SPACE}\])"
_TYPED = _SPACE + _BEGINS_VALUE
# A bracket that begins JSON, told from one in prose by the first thing inside it.
BRACKET: Final = Shape(
    rf"{_bracket(_TYPED, _BRACKET_ENDS)}|{_EMPTY}{_GAP},{_SPACE}(?:[{{\[]|{_COMMENT})"
)
# What a sentence may have in brackets: nothing, [1], and [12, 13] or [null] before its end.
_FIGURE = "[-+.0-9][-+.eE0-9]{0,11}"
_FIGURES = rf"{_GAP}\]{_GAP}[^ \t\r\n.]"
for _ in range(4):
    _FIGURES = rf"{_GAP}(?:\]{_GAP}[^ \t\r\n.]|[,;–-]{_GAP}(?:{_FIGURE}|{_WORD}){_FIGURES})"
CITED: Final = Shape(rf"{_EMPTY}|\[{_GAP}{_FIGURE}{_GAP}\]|\[{_GAP}(?:{_FIGURE}|{_WORD}){_FIGURES}")
# Code in the middle of a sentence.
QUOTED_CODE: Final = Shape(r"`[^`\r\n]{1,200}`[,;)]{0,1} [(`]{0,1}\w")
# A tuple that is alone in its line.
_TUPLE = rf"\([\"'“0-9-][^(),\r\n]{{0,200}},[^()\r\n]{{0,200}}\){_LINE_ENDS}"
# A value that is no bracket and alone in its line.
ALONE: Final = Shape(f"{_LONG_NUMBER}|{_WORD}{_LINE_ENDS}|{_NUMBER}(?<=[0-9]){_LINE_ENDS}|{_TUPLE}")
_LISTED = rf"\[{_SPACE}{_NUMBER}{_SPACE}\]"
# Where a value is due: it may also be a string, a number or a word, and {name: is an object,
# whatever follows.
VALUE_BEGINS: Final = Shape(
    f'{_bracket("", _BRACKET_ENDS)}|"|{ALONE.pattern}'
    # Brackets that begin no prose: what is in them is not the value, so these are refused.
    rf"|\{{{_SPACE}{_COLON}|\[{_SPACE}[,:}}]|[{{\[]{_SPACE}{_TICKS}|[\]}}:,]"
    # Something complete that something else of JSON follows.
    rf"|{_EMPTY}{_GAP}[\"'{{\[:}}\]]|(?:{_EMPTY}|{_LISTED}|{_SCALAR}){_GAP},{_SPACE}(?:{_BEGINS}|{_COMMENT})"
)
# The same where any number of values may follow each other.
ANY_VALUE_BEGINS: Final = Shape(
    f'{_bracket("", "")}|"|{_LONG_NUMBER}|{_WORD}|{_NUMBER}(?<=[0-9])[^-+.eE0-9]'
)

_QUOTED_KEY = rf'"[^"\\\r\n]{{0,80}}"{_SPACE}{_COLON}'
_QUOTED_KEYS = (
    rf"(?:{_QUOTED_KEY}|'[^'\\\r\n]{{0,80}}'{_SPACE}{_COLON}|“[^”\\\r\n]{{0,80}}”{_SPACE}{_COLON})"
)


def _string_ends(following: str) -> str:
    """What follows the quote that ends a string in a container.

    `following` is what may come next in it, after a comma or on a line of its own.
    """
    after = rf"(?:{following}|[}}\]#`,，]|{_COMMENT}|\.\.\.|…)"
    return (
        rf"{_GAP}[}}\]\x1e]|{_GAP}{_TICKS}|{_WIDE_GAP}|{_GAP}{_COMMENT}|{_SOME_GAP}#"
        rf'|{_GAP}\+{_GAP}"'  # strings joined by a plus are refused
        rf"|{_GAP}[,，\r\n](?:{_SPACE}{after}|{_MUCH_SPACE})"
    )


# After a quote in a string: does it end the string, or is it part of the text? After a comma there
# may be an object of a list whose brace was forgotten.
STRING_ENDS_IN_OBJECT: Final = Shape(
    _string_ends(f"{_QUOTED_KEYS}|{_KEY}")
    + rf"|{_GAP}{_COMMA}{_SPACE}\{{{_SPACE}{_QUOTE}|{_GAP}{_COMMA}{_SPACE}{_HALF_KEY}"
    + rf"|{_SOME_GAP}[A-Za-z_$][\w$-]{{0,40}}{_GAP}{_COLON}|{_GAP}{_QUOTED_KEYS}"
)
STRING_ENDS_IN_ARRAY: Final = Shape(
    _string_ends(_BEGINS_VALUE) + rf"|{_SOME_GAP}[\"'“‘{{\[]|{_SOME_GAP}{_SCALAR}{_GAP}[\],]"
)
# What follows a quote that opens a key, and one that opens an element.
QUOTED_KEY: Final = Shape(_QUOTED_KEY)
COLON_AHEAD: Final = Shape(_SPACE + _COLON)
KEY_AHEAD: Final = Shape(rf'[^"\\\r\n]{{1,80}}"{_SPACE}{_COLON}')
ELEMENT_AHEAD: Final = Shape(rf'[^"\\\r\n]{{1,200}}"{_SPACE}[\],]')
# The same where curly quotes close straight ones; and after one that opens the value of a key that
# was not closed before its colon.
CURLY_ELEMENT_AHEAD: Final = Shape(rf'[^"”’\\\r\n]{{1,200}}["”’]{_SPACE}[\],}}]')
VALUE_AHEAD: Final = Shape(rf'[^"\\\r\n:]{{1,200}}"{_SPACE}[,}}]')

# What follows a run of closing brackets, told in this order.
NEXT_VALUE: Final = Shape(r"[{\[(+\d-]")
_IN_KEY = r'[^"\r\n]{0,120}'
_ESCAPED = rf'(?<=\\)"{_IN_KEY}'  # a quote in it; a key may have two
_NEXT_QUOTED = (
    rf'"{_IN_KEY}(?:"|{_ESCAPED}(?:"|{_ESCAPED}"))'
    r"|'[^'\r\n]{0,120}'|“[^”\r\n]{0,120}”|‘[^’\r\n]{0,120}’"
)
NEXT_KEY: Final = Shape(rf"(?:{_NEXT_QUOTED}|[\w$-]{{1,80}}){_SPACE}{_COLON}")
NEXT_SCALAR: Final = Shape(rf"{_QUOTE}|{_WORD}[^\w$-]")
# What may follow a run of closing brackets: a member of an object, a value, the end of the text,
# or something that is not JSON.
Following = Literal["key", "value", "end", "text"]


class Run(NamedTuple):
    """A run of closing brackets: where it ends, if a comma comes after it, and what then."""

    closers: str
    end: int
    comma: bool
    then: Following


def after_brackets(text: str, pos: int, last: bool, ellipsis: bool = False) -> Run | None:
    """The closing brackets from `pos` on, and what follows. None if more text must come to tell.

    After an `ellipsis` a bracket or a tick is the end; only commas and comments are passed over.
    """
    closers, comma, start, after = "", False, pos, pos
    while True:
        pos = SPACES.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if pos - start > REACH // 2:
            return Run(closers, after, comma, "text")
        if pos == len(text):
            return Run(closers, after, comma, "end") if last else None
        char = text[pos]
        if ellipsis and char not in ",，/#":
            return Run(closers, after, comma, "end" if char in "}])`" else "text")
        if char in "}])":
            closers += char
            comma = False
            after = pos + 1
        elif char in ",，":
            comma = True
        else:
            following = _following(text, pos, last)
            if isinstance(following, str):
                return Run(closers, after, comma, following)
            if following is None:
                far = len(text) - start > REACH // 2
                return Run(closers, after, comma, "text") if far else None
            pos = following - 1
        pos += 1


def _following(text: str, pos: int, last: bool) -> Following | int | None:
    """What the text at `pos` is; where to look on after a comment or an ellipsis; None: wait."""
    if text[pos] == "#" or (text[pos] == "/" and text[pos + 1 : pos + 2] in ("/", "*", "")):
        mark = "*/" if text.startswith("/*", pos) else "\n"
        end = text.find(mark, pos)
        return end + len(mark) if end >= 0 else "end" if last else None
    ways: tuple[tuple[Shape, Following | int], ...] = (
        *((NEXT_VALUE, "value"), (NEXT_KEY, "key"), (NEXT_SCALAR, "value")),
        *((FENCE, "end"), (ELLIPSIS, pos + 3 if text[pos] == "." else pos + 1)),
    )
    for shape, following in ways:
        seen = shape.sees(text, pos, last)
        if seen is not False:
            return following if seen else None
    return "text"
