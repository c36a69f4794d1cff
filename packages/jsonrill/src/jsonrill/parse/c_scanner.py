"""Containers that are complete in one piece, read by the standard library's C scanner."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from json import JSONDecoder
from typing import Any, Final

_NUMERIC: Final = "0123456789+-.eE"


@lru_cache(8)
def scanner(parse_float: Callable[[str], Any]) -> Callable[[str, int], tuple[Any, int]]:
    """A function that reads the value at an index, and refuses constants that are not JSON."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is not JSON: the machine walks")

    # With `int` and `float` themselves the scanner makes numbers without calling Python.
    decoder: Any = JSONDecoder(parse_float=parse_float, parse_constant=refuse)
    scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once
    return scan


def has_longer(text: str, start: int, end: int, limit: int) -> bool:
    """True if this part of a text may have a number of more than `limit` characters.

    Such a number has a character at one of the places that are looked at. (So does a long string of
    digits: then the machine walks, which is slower and no less right.)
    """
    for at in range(start + limit, end, limit + 1):
        first = last = at
        while last < end and text[last] in _NUMERIC:
            last += 1
        while first < last and first > start and text[first - 1] in _NUMERIC:
            first -= 1
        if last - first > limit:
            return True
    return False


def deeper(value: Any, depth: int, brackets: int) -> bool:
    """True if the containers of this value, `brackets` of them, nest deeper than `depth`."""
    if brackets <= depth:
        return False
    level = [value]
    while level and depth > 0:
        depth -= 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
    return bool(level)
