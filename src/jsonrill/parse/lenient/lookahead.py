"""What lenient reading looks at before it decides: shapes of the text that comes next.

A shape is a table of ways in which text may go on, each a sequence of short patterns. Two patterns
are made of it: one that sees the shape, one that sees that the piece ended too early to tell.
Every way is bounded, so a look ahead costs O(1). Nothing here knows the machine or its rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

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


# Values that are words: JSON's, Python's, and those that JSON does not have.
WORDS: Final = (
    *("true", "false", "null", "True", "False", "None"),
    *("NaN", "Infinity", "-Infinity", "undefined"),
)

_QUOTE = "[\"'“‘]"
_SPACE = "[ \t\r\n]{0,32}"
_SOME_SPACE = "[ \t\r\n]{1,32}"
_MUCH_SPACE = ("[ \t\r\n]{32}", "[ \t\r\n]")
_GAP = "[ \t]{0,8}"
_SOME_GAP = "[ \t]{1,8}"
_WIDE_GAP = ("[ \t]{8}", "[ \t]")
_NUMBER = "[-0-9][-+.eE0-9]{0,23}"
_LONG_NUMBER = ("[-0-9][-+.eE0-9]{23}", "[-+.eE0-9]")
_KEY = (r"[\w$-]{0,40}", _GAP, ":")
_COMMENT = ("/", "[/*]")
_BEGINS_VALUE = "[\"'“‘{\\[0-9-]"
_DOTS = (r"\.", r"\.", r"\.")

FENCE: Final = Shape("```")
COMMENT: Final = Shape(_COMMENT)
ELLIPSIS: Final = Shape(_DOTS, "…")
THOUGHTS: Final = Shape("<think>", "<thinking>")
THOUGHTS_END: Final = Shape("</think>", "</thinking>")
WORD: Final = {word: Shape(word) for word in WORDS}

# After what may as well be part of a sentence the line must end: `{}`, `[]`, `[1]`, `42`, `true`.
_LINE_ENDS: Final[tuple[Way, ...]] = ((_GAP, "[\r\n`]"), (_GAP, *_COMMENT), _WIDE_GAP)
_ANYTHING: Final[tuple[Way, ...]] = ((),)


def _container() -> Iterator[Way]:
    yield from ((_SPACE, _QUOTE), (_SPACE, *_COMMENT), _MUCH_SPACE)
    yield (_SOME_SPACE, "#")  # a comment; {#this} is none


def _object(ends: tuple[Way, ...]) -> Iterator[Way]:
    """What follows `{` in JSON, or nearly so."""
    yield from _container()
    yield (_SPACE, ",", _SPACE, _QUOTE)
    for value in (_BEGINS_VALUE, *WORDS):
        yield (_SPACE, r"[\w$]", *_KEY, _SPACE, *_steps(value))
    for end in ends:
        yield (_SPACE, r"\}", *end)


def _array(ends: tuple[Way, ...], nested: bool = False) -> Iterator[Way]:
    """What follows `[` in JSON, or nearly so."""
    yield from _container()
    yield (_SPACE, *_LONG_NUMBER)
    for scalar in ((_NUMBER,), *map(tuple, WORDS)):
        for after in ((_SPACE, ","), (_SPACE, *_COMMENT), (_SOME_SPACE, "#"), _MUCH_SPACE):
            yield (_SPACE, *scalar, *after)
        yield (_SPACE, *scalar, _SOME_SPACE, _BEGINS_VALUE)
    for word in WORDS:
        yield (_SPACE, *word, _SPACE, r"\]")
    for end in ends:
        yield from ((_SPACE, r"\]", *end), (_SPACE, _NUMBER, _SPACE, r"\]", *end))
    for way in _object(_ANYTHING):
        yield (_SPACE, r"\{", *way)
    for way in [()] if nested else _array(_ANYTHING, nested=True):
        yield (_SPACE, r"\[", *way)


def _steps(value: str) -> Way:
    return (value,) if value.startswith("[") else tuple(value)


def _brackets(ends: tuple[Way, ...]) -> list[Way]:
    return [
        *((r"\{", *way) for way in _object(ends)),
        *((r"\[", *way) for way in _array(ends)),
    ]


def _scalars(ends: tuple[Way, ...]) -> list[Way]:
    return [
        ('"',),
        _LONG_NUMBER,
        *((*word, *end) for word in WORDS for end in ends),
        *((_NUMBER, "(?<=[0-9])" + end[0], *end[1:]) for end in ends if end),
    ]


# A bracket that begins JSON, told from one in prose by the first thing inside it.
BRACKET: Final = Shape(*_brackets(_LINE_ENDS))
# The same where a value is due: it may also be a string, a number or a word.
VALUE_BEGINS: Final = Shape(*_brackets(_LINE_ENDS), *_scalars(_LINE_ENDS))
# The same where any number of values may follow each other.
ANY_VALUE_BEGINS: Final = Shape(
    *_brackets(_ANYTHING), *_scalars(_ANYTHING), (_NUMBER, "(?<=[0-9])[^-+.eE0-9]")
)


def _string_ends() -> Iterator[Way]:
    """What follows the quote that ends a string in a container, comma included."""
    yield from ((_GAP, "[}\\]\r\n\x1e]"), _WIDE_GAP, (_GAP, *_COMMENT), (_SOME_GAP, "#"))
    yield (_GAP, r"\+", _GAP, '"')  # strings joined by a plus are refused
    for next_one in (("[}\\],\r\n#]",), _WIDE_GAP, _COMMENT, _DOTS, ("…",)):
        yield (_GAP, ",", _GAP, *next_one)


# After a quote in a string: does it end the string, or is it part of the text?
STRING_ENDS_IN_OBJECT: Final = Shape(
    *_string_ends(),
    (_GAP, ",", _GAP, _QUOTE),
    (_GAP, ",", _GAP, r"[\w$]", *_KEY),
    (_SOME_GAP, "[A-Za-z_$]", *_KEY),
    (_GAP, '"', r'[^"\\\r\n]{0,80}', '"', _GAP, ":"),
    (_GAP, "'", r"[^'\\\r\n]{0,80}", "'", _GAP, ":"),
    # As it seems the quote opens a key, and the one before it was forgotten: that is refused.
    (r"[\w$]", r"[\w $-]{0,40}", '"', _GAP, ":"),
)
STRING_ENDS_IN_ARRAY: Final = Shape(
    *_string_ends(),
    (_GAP, ",", _GAP, _BEGINS_VALUE),
    (_SOME_GAP, "[\"'“‘{\\[]"),
    *((_GAP, ",", _GAP, *word) for word in WORDS),
)
