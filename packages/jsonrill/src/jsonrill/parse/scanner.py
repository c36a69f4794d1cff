"""A shortcut through long text: containers that are complete in one piece.

Nothing depends on it but speed: where it gives up, the machine reads on by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from json import JSONDecoder
from sys import intern
from typing import Any, Final

from ..errors import Limits

_DIGITS: Final = re.compile(r"[-+.0-9eE]+")
_FOUR_DIGITS: Final = re.compile(r"[-+.0-9eE]{4}")


@lru_cache(8)
def scanner(parse_float: Callable[[str], Any]) -> Any:
    """Return a function that reads the value at an index, and refuses constants beyond JSON."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    # With `float` itself the scanner makes numbers without calling Python.
    decoder: Any = JSONDecoder(parse_float=parse_float, parse_constant=refuse)
    return decoder.scan_once


def scan(text: str, pos: int, read: Any, limits: Limits, depth: int) -> tuple[Any, int] | None:
    """Return the container at `pos` and where it ends; `read` is a `scanner`.

    None if it is cut off or invalid, or if a limit may be passed: then the machine says exactly
    what is wrong. `depth` is the number of containers around it.
    """
    try:
        value, end = read(text, pos)
    except (ValueError, ArithmeticError, RecursionError, StopIteration):
        return None
    size = end - pos
    room = limits.depth - depth
    if (
        size > limits.string
        or (size > limits.number and _has_long_number(text, pos, end, limits.number))
        or (size > 2 * room and _is_deeper(text, pos, end, value, room))
        # A member has five characters or more, with its comma. Keys that come twice count, too.
        or (size > 5 * limits.keys and text.count(":", pos, end) > limits.keys)
    ):
        return None
    if depth and type(value) is dict:
        # The scanner shares keys within one call, and each element of a list is a call of its own.
        value = {intern(key): member for key, member in value.items()}
    return value, end


def _has_long_number(text: str, start: int, end: int, limit: int) -> bool:
    """Return whether this part of a text may have a number of more than `limit` characters.

    Four samples in a row are from such a number, which is rare in prose.
    """
    if limit < 4:
        return True
    step = limit // 4
    samples = text[start:end:step]
    for sample in _FOUR_DIGITS.finditer(samples):
        first = max(start + sample.start() * step - limit, start)
        last = min(start + sample.end() * step + limit, end)
        if any(len(run) > limit for run in _DIGITS.findall(text, first, last)):
            return True
    return False


def _is_deeper(text: str, start: int, end: int, value: Any, depth: int) -> bool:
    """Return whether the value in this part of a text has containers nested deeper than `depth`."""
    # Opening brackets are counted fast, and there are at least as many as levels.
    brackets = text.count("{", start, end)
    if brackets <= depth:
        brackets += text.count("[", start, end)
    return brackets > depth and any(level >= depth for level, _ in enumerate(_levels(value)))


def _levels(value: Any) -> Iterator[list[Any]]:
    """Yield the containers of a value, level by level."""
    level = [value]
    while level:
        yield level
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
