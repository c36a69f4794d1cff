"""What lenient reading looks at before it decides: shapes of the text that comes next.

A shape is a table of ways in which text may go on, each a sequence of short patterns. Two patterns
are made of it: one that sees the shape, one that sees that the piece ended too early to tell.
Every way is bounded, so a look ahead costs O(1). Nothing here knows the machine or its rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from ..reasoning import ELEMENTS, MARKS

Way = tuple[str, ...]

# No look ahead reaches further than this, in characters.
REACH: Final = 1024


class Shape:
    """Any of some ways: each step is one character or a run of alike ones, the last is one.

    No way is the beginning of another. `whole` matches where the shape is seen, `cut` where more
    text must come to tell. They are made when first asked for: the large ones take a while.
    """

    def __init__(self, *ways: Iterable[str]) -> None:
        self.ways = [tuple(way) for way in ways]

    @cached_property
    def whole(self) -> re.Pattern[str]:
        return re.compile(_whole(self._tree()))

    @cached_property
    def cut(self) -> re.Pattern[str]:
        return re.compile(_cut(self._tree()))

    def _tree(self) -> dict[str, Any]:
        """The steps of all ways; those that begin alike share their beginning."""
        tree: dict[str, Any] = {}
        for way in self.ways:
            branch = tree
            for step in way:
                branch = branch.setdefault(step, {})
        return tree


def _whole(tree: dict[str, Any]) -> str:
    """A pattern for any way to a leaf."""
    ways = [step + (f"(?:{_whole(rest)})" if rest else "") for step, rest in tree.items()]
    return "|".join(ways)


def _cut(tree: dict[str, Any]) -> str:
    """A pattern for any way that the end of the text cuts off before its leaf."""
    ways = [f"{step}(?:{_cut(rest)})" for step, rest in tree.items() if rest]
    return "|".join([r"\Z", *ways])


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
_MUCH_SPACE = (_BLANK + "{32}", _BLANK)
_NARROW = f"[ \t{ODD_SPACES}]"
_GAP = _NARROW + "{0,8}"
_SOME_GAP = _NARROW + "{1,8}"
_WIDE_GAP = (_NARROW + "{8}", _NARROW)
_COLON = "[:：]"
_COMMA = "[,，]"
_NUMBER = "[-0-9][-+.eE0-9]{0,23}"
_LONG_NUMBER = ("[-0-9][-+.eE0-9]{23}", "[-+.eE0-9]")
_KEY = (r"[\w$-]{0,40}", _GAP, _COLON)
_COMMENT = ("/", "[/*]")
_BEGINS_VALUE = "[\"'“‘{\\[0-9-]"
_DOTS = (r"\.", r"\.", r"\.")

FENCE: Final = Shape("```")
COMMENT: Final = Shape(_COMMENT)
ELLIPSIS: Final = Shape(_DOTS, "…")
NAMED_FENCE: Final = Shape("```json")


def _letters(text: str) -> Way:
    """Steps for this text in capital or small letters."""
    return tuple(f"[{char}{char.upper()}]" if char.isalpha() else re.escape(char) for char in text)


THOUGHTS: Final = Shape(
    *(_letters(f"<{name}>") for name in ELEMENTS),
    *((*_letters(f"<{name}"), "[ \t]", "[^<>]{0,100}", ">") for name in ELEMENTS),
    *(_letters(mark) for mark, _ in MARKS),
)
_NO_THOUGHTS: Final = (
    *(_letters(f"</{name}>") for name in ELEMENTS),
    *(_letters(mark) for _, mark in MARKS),
)
THOUGHTS_END: Final = Shape(*_NO_THOUGHTS, _letters("<|end|>"))
# What ends nothing but thoughts.
ONLY_THOUGHTS_END: Final = Shape(*_NO_THOUGHTS)
TRIPLE: Final = Shape('"""')
WORD: Final = {word: Shape(word) for word in WORDS}

# After what may as well be part of a sentence the line must end: `{}`, `[]`, `[1]`, `42`, `true`.
_LINE_ENDS: Final[tuple[Way, ...]] = ((_GAP, "[\r\n`]"), (_GAP, *_COMMENT), _WIDE_GAP)
_ANYTHING: Final[tuple[Way, ...]] = ((),)


def _container() -> Iterator[Way]:
    yield from ((_SPACE, _QUOTE), (_SPACE, *_COMMENT), _MUCH_SPACE)
    yield (_SOME_SPACE, "#")  # a comment; {#this} is none


def _object(ends: tuple[Way, ...], values: tuple[str, ...]) -> Iterator[Way]:
    """What follows `{` in JSON, or nearly so."""
    yield from _container()
    yield (_SPACE, ",", _SPACE, _QUOTE)
    yield (_SPACE, r"[\w$]", r"[\w$-]{0,40}", '"', _GAP, _COLON)
    for value in values:
        yield (_SPACE, r"[\w$]", *_KEY, _SPACE, *_steps(value))
    if not values:
        yield (_SPACE, r"[\w$]", *_KEY)
    for end in ends:
        yield (_SPACE, r"\}", *end)


def _array(ends: tuple[Way, ...], values: tuple[str, ...], nested: bool = False) -> Iterator[Way]:
    """What follows `[` in JSON, or nearly so."""
    yield from _container()
    yield (_SPACE, *_LONG_NUMBER)
    yield (_SPACE, "[+.]", "[0-9]")
    yield (_SPACE, "[+]", "[.]", "[0-9]")
    yield (_SPACE, r"\(", _SPACE, _QUOTE)
    for scalar in ((_NUMBER,), *map(tuple, WORDS)):
        for after in ((_SPACE, ","), (_SPACE, *_COMMENT), (_SOME_SPACE, "#"), _MUCH_SPACE):
            yield (_SPACE, *scalar, *after)
        yield (_SPACE, *scalar, _SOME_SPACE, _BEGINS_VALUE)
    for word in WORDS:
        yield (_SPACE, *word, _SPACE, r"\]")
    for end in ends:
        yield from ((_SPACE, r"\]", *end), (_SPACE, _NUMBER, _SPACE, r"\]", *end))
    for way in _object(_ANYTHING, values):
        yield (_SPACE, r"\{", *way)
    for way in [()] if nested else _array(_ANYTHING, values, nested=True):
        yield (_SPACE, r"\[", *way)


def _steps(value: str) -> Way:
    return (value,) if value.startswith("[") else tuple(value)


def _brackets(ends: tuple[Way, ...], values: tuple[str, ...] = ()) -> list[Way]:
    return [
        *((r"\{", *way) for way in _object(ends, values)),
        *((r"\[", *way) for way in _array(ends, values)),
    ]


def _scalars(ends: tuple[Way, ...]) -> list[Way]:
    return [
        ('"',),
        _LONG_NUMBER,
        *((*word, *end) for word in WORDS for end in ends),
        *((_NUMBER, "(?<=[0-9])" + end[0], *end[1:]) for end in ends if end),
    ]


# A bracket that begins JSON, told from one in prose by the first thing inside it.
BRACKET: Final = Shape(*_brackets(_LINE_ENDS, (_BEGINS_VALUE, *WORDS)))
# A fence that names JSON, or one that names nothing and begins with a bracket.
JSON_FENCE: Final = Shape("```json", (*"```", _GAP, "[\r\n]", _SPACE, "[{\\[]"))
_LISTED: Final[Way] = (r"\[", _SPACE, _NUMBER, _SPACE, r"\]")
# The same where a value is due: it may also be a string, a number or a word, and {name: is an
# object whatever follows.
_BROKEN: Final[tuple[Way, ...]] = (
    # Brackets that begin no prose: what is in them is not the value, so these are refused.
    (r"\{", _SPACE, _COLON),
    (r"\[", _SPACE, "[,:}]"),
    *((bracket, _SPACE, "`", "`", "`") for bracket in (r"\{", r"\[")),
    ("[]}:,]",),
    *((r"\[", _SPACE, *one, '"') for one in ((_NUMBER,), *map(tuple, WORDS))),
    # Something complete that something else of JSON follows.
    *((*one, _GAP, "[\"'{\\[:}\\]]") for one in ((r"\{", _SPACE, r"\}"), (r"\[", _SPACE, r"\]"))),
    *(
        (*one, _GAP, ",", _SPACE, *after)
        for after in ((_BEGINS_VALUE,), _COMMENT)
        for one in (
            (r"\{", _SPACE, r"\}"),
            (r"\[", _SPACE, r"\]"),
            _LISTED,
            (_NUMBER,),
            *map(tuple, WORDS),
        )
    ),
    *((*_LISTED, _GAP, *_LISTED, *end) for end in _LINE_ENDS),
)
# A tuple that is alone in its line.
_TUPLE: Final[Way] = (
    *(r"\(", "[\"'“0-9-]", r"[^(),\r\n]{0,200}", ",", r"[^()\r\n]{0,200}", r"\)"),
)
VALUE_BEGINS: Final = Shape(
    *_brackets(_LINE_ENDS),
    *_scalars(_LINE_ENDS),
    *_BROKEN,
    *((*_TUPLE, *end) for end in _LINE_ENDS),
)
# A value that is no bracket and alone in its line.
ALONE: Final = Shape(*_scalars(_LINE_ENDS)[1:], *((*_TUPLE, *end) for end in _LINE_ENDS))
# A value in a sentence.
LATER_VALUE: Final = Shape(
    *((r"\{", *way) for way in _object((), (_BEGINS_VALUE, *WORDS))),
    (r"\[", _SPACE, _QUOTE),
    *((r"\[", _SPACE, r"\{", *way) for way in _object((), (_BEGINS_VALUE, *WORDS))),
)
# The same where any number of values may follow each other.
ANY_VALUE_BEGINS: Final = Shape(
    *_brackets(_ANYTHING), *_scalars(_ANYTHING), (_NUMBER, "(?<=[0-9])[^-+.eE0-9]")
)


def _string_ends(following: tuple[Way, ...]) -> Iterator[Way]:
    """What follows the quote that ends a string in a container.

    `following` is what may come next in it, after a comma or on a line of its own.
    """
    yield from ((_GAP, "[}\\]\x1e]"), _WIDE_GAP, (_GAP, *_COMMENT), (_SOME_GAP, "#"))
    yield (_GAP, r"\+", _GAP, '"')  # strings joined by a plus are refused
    for start in ((_GAP, _COMMA, _SPACE), (_GAP, "[\r\n]", _SPACE)):
        yield from ((*start, *way) for way in following)
        for next_one in (("[}\\]#`]",), _COMMENT, _DOTS, ("…",)):
            yield (*start, *next_one)
    yield (_GAP, "[\r\n]", _SPACE, _COMMA)
    yield (_GAP, _COMMA, _SPACE, _COMMA)
    yield (_GAP, _COMMA, *_MUCH_SPACE)
    yield (_GAP, "[\r\n]", *_MUCH_SPACE)


_QUOTED_KEYS: Final[tuple[Way, ...]] = (
    ('"', r'[^"\\\r\n]{0,80}', '"', _SPACE, _COLON),
    ("'", r"[^'\\\r\n]{0,80}", "'", _SPACE, _COLON),
    ("“", r"[^”\\\r\n]{0,80}", "”", _SPACE, _COLON),
)
_BARE_NAME: Final[Way] = (r"[\w$]", *_KEY)

# After a quote in a string: does it end the string, or is it part of the text?
STRING_ENDS_IN_OBJECT: Final = Shape(
    *_string_ends((*_QUOTED_KEYS, _BARE_NAME)),
    # An object of a list whose brace was forgotten.
    (_GAP, _COMMA, _SPACE, r"\{", _SPACE, _QUOTE),
    # A key whose first quote was forgotten.
    (_GAP, _COMMA, _SPACE, r"[\w$]", r"[\w$-]{0,40}", '"', _GAP, _COLON),
    (_SOME_GAP, "[A-Za-z_$]", *_KEY),
    *((_GAP, *way) for way in _QUOTED_KEYS),
)
STRING_ENDS_IN_ARRAY: Final = Shape(
    *_string_ends(((_BEGINS_VALUE,), *((*word,) for word in WORDS))),
    (_SOME_GAP, "[\"'“‘{\\[]"),
    *((_SOME_GAP, *scalar, _GAP, "[],]") for scalar in ((_NUMBER,), *map(tuple, WORDS))),
)
# What follows a quote that opens a key, and one that opens an element.
QUOTED_KEY: Final = Shape(_QUOTED_KEYS[0])
COLON_AHEAD: Final = Shape((_SPACE, _COLON))
KEY_AHEAD: Final = Shape((r'[^"\\\r\n]{1,80}', '"', _SPACE, _COLON))
ELEMENT_AHEAD: Final = Shape((r'[^"\\\r\n]{1,200}', '"', _SPACE, "[],]"))
# The same where curly quotes close straight ones.
CURLY_ELEMENT_AHEAD: Final = Shape((r'[^"”’\\\r\n]{1,200}', '["”’]', _SPACE, "[],}]"))

_QUOTED: Final = {
    quote: re.compile(rf"{quote}(?:[^{closer}\\\r\n]|\\.){{0,120}}{closer}")
    for quote, closer in (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"))
}
_WORD: Final = re.compile(r"[\w$-]{1,80}")
# What may follow a run of closing brackets: a member of an object, a value, the end of the text,
# or something that is not JSON.
Following = Literal["key", "value", "end", "text"]


class Run(NamedTuple):
    """A run of closing brackets: where it ends, if a comma comes after it, and what then."""

    closers: str
    end: int
    comma: bool
    then: Following


def after_brackets(text: str, pos: int, last: bool) -> Run | None:
    """The closing brackets from `pos` on, and what follows. None if more text must come to tell."""
    closers, comma, start, after = "", False, pos, pos
    while True:
        pos = SPACES.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        rest = len(text) - pos
        if pos - start > REACH // 2:
            return Run(closers, after, comma, "text")
        if not rest:
            return Run(closers, after, comma, "end") if last else None
        char = text[pos]
        if char in "}])":
            closers += char
            comma = False
            after = pos + 1
        elif char in ",，":
            comma = True
        else:
            found = _following(text, pos, last)
            if isinstance(found, str):
                return Run(closers, after, comma, found)
            if found is None:
                far = len(text) - start > REACH // 2
                return Run(closers, after, comma, "text") if far else None
            pos = found - 1
        pos += 1


def closes_next(text: str, pos: int, last: bool) -> bool | None:
    """True if a closing bracket, a fence or the end comes next, but for commas and comments."""
    start = pos
    while True:
        pos = SPACES.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
        if pos == len(text):
            return True if last else None if pos - start < REACH // 2 else False
        char = text[pos]
        if char in "}])`":
            return True
        if char in ",，":
            pos += 1
        elif char in "/#":
            found = _following(text, pos, last)
            if not isinstance(found, int):
                return None if found is None and len(text) - start < REACH // 2 else found == "end"
            pos = found
        else:
            return False


def _following(text: str, pos: int, last: bool) -> Following | int | None:
    """What the text at `pos` is; where to look on after a comment or an ellipsis; None: wait."""
    char, rest = text[pos], len(text) - pos
    if char in _QUOTED:
        quoted = _QUOTED[char].match(text, pos)
        if quoted is None:
            cut = rest < 122 and not last and "\n" not in text[pos:]
            return None if cut else "value"
        return _key_or(text, quoted.end(), last, "value")
    if char in "{[(-+" or char.isdigit():
        return "value"
    word = _WORD.match(text, pos)
    if word is not None:
        if word.end() == len(text) and not last:
            return None
        return _key_or(text, word.end(), last, "value" if word.group() in WORDS else "text")
    if char == "#" or (char == "/" and text[pos + 1 : pos + 2] in ("/", "*", "")):
        mark = "*/" if text.startswith("/*", pos) else "\n"
        end = text.find(mark, pos)
        return end + len(mark) if end >= 0 else "end" if last else None
    for mark, meaning in (("```", "end"), ("...", pos + 3), ("…", pos + 1)):
        if text.startswith(mark, pos):
            return meaning  # type: ignore[return-value]
        if mark.startswith(text[pos:]) and not last:
            return None
    return "text"


def _key_or(text: str, pos: int, last: bool, other: Following) -> Following | None:
    pos = SPACES.match(text, pos).end()  # type: ignore[union-attr]  # may be empty
    if pos == len(text) and not last:
        return None
    return "key" if text[pos : pos + 1] in (":", "：") else other
