"""Containers that are complete in one piece, read by the standard library's C scanner."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from json import JSONDecoder
from typing import Any, Final

_NUMERIC: Final = "0123456789+-.eE"
_A_DIGIT: Final = re.compile("[-+.0-9eE]")


@lru_cache(8)
def scanner(parse_float: Callable[[str], Any], hook: Any = None) -> Any:
    """A function that reads the value at an index, and refuses constants that are not JSON."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is not JSON: the machine walks")

    # With `int` and `float` themselves the scanner makes numbers without calling Python.
    decoder: Any = JSONDecoder(
        parse_float=parse_float, parse_constant=refuse, object_pairs_hook=hook
    )
    return decoder.scan_once


def each_key_once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """A hook of `scanner`: the object, unless a key comes twice in it."""
    value = dict(members)
    if len(value) < len(members):
        raise ValueError("a key comes twice: the machine walks")
    return value


def has_longer(text: str, start: int, end: int, limit: int) -> bool:
    """True if this part of a text may have a number of more than `limit` characters.

    Such a number has a character at one of the places that are looked at. (So does a long string of
    digits: then the machine walks, which is slower and no less right.)
    """
    for sample in _A_DIGIT.finditer(text[start + limit : end : limit + 1]):
        first = last = start + limit + sample.start() * (limit + 1)
        while last < end and text[last] in _NUMERIC:
            last += 1
        while first < last and first > start and text[first - 1] in _NUMERIC:
            first -= 1
        if last - first > limit:
            return True
    return False


def deeper(value: Any, depth: int, brackets: int) -> bool:
    """True if the containers of this value, `brackets` of them, nest deeper than `depth`."""
    return brackets > depth and any(at >= depth for at, _ in enumerate(_levels(value)))


def crowded(value: Any, keys: int, colons: int) -> bool:
    """True if an object in this value may have more than `keys` keys: its text has the colons."""
    if colons <= keys:
        return False
    sizes = [len(it) for level in _levels(value) for it in level if type(it) is dict]
    # The colons that are no member's are in strings, or of keys that came twice.
    return max(sizes, default=0) + colons - sum(sizes) > keys


def _levels(value: Any) -> Iterator[list[Any]]:
    """The containers of a value, level by level."""
    level = [value]
    while level:
        yield level
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
