"""Containers that are complete in one piece, read by the standard library's C scanner."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from json import JSONDecoder
from typing import Any, Final

from .nesting import COMPILED, spelled

# The characters between two commas.
_SPARSE: Final = 32
_CONTAINERS: Final = frozenset((dict, list))
_NUMBERS_AS_0: Final = bytes.maketrans(b"-+.123456789eE", b"0" * 14)
_NO_BRACKETS: Final = bytes({*range(256)} - {*b'[]{}"'})


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


def passes_a_limit(
    value: Any, text: str, start: int, end: int, depth: int, number: int, keys: int
) -> bool:
    """True if a value that was read from this part of a text may pass one of these limits."""
    size = end - start
    # A member of an object has five characters or more, with its comma.
    may_overflow, may_nest = size > 5 * keys, size > 2 * depth
    if COMPILED and (may_overflow or may_nest):
        least = spelled(value, depth, keys // 2)
        if least >= 0:
            # What the value does not account for may be keys that came twice.
            may_overflow, may_nest = size - least > 5 * (keys // 2), False
    elif (may_overflow or may_nest) and _is_dense(text, start, end):
        left = _brackets(text[start:end])
        may_overflow, may_nest = left.count(b'"') > 2 * keys, _may_nest(left, depth)
    return (
        (size > number and has_longer(text, start, end, number))
        or (may_overflow and crowded(value, keys, text.count(":", start, end)))
        or (may_nest and deeper(value, depth))
    )


def has_longer(text: str, start: int, end: int, limit: int) -> bool:
    """True if this part of a text may have a number of more than `limit` characters.

    Looked at are 16 places in each such length. A long string of digits is a false alarm.
    """
    step = max((limit + 1) // 16, 1)
    least, seen = (limit + 1) // step, text[start:end:step]
    if b"0" * least not in seen.encode("utf-8", "surrogatepass").translate(_NUMBERS_AS_0):
        return False
    for match in re.finditer(f"[-+.0-9eE]{{{least},}}", seen):
        first = max(start + match.start() * step - limit, start)
        last = min(start + match.end() * step + limit, end)
        if any(len(number) > limit for number in re.findall("[-+.0-9eE]+", text[first:last])):
            return True
    return False


def _is_dense(text: str, start: int, end: int) -> bool:
    """True if looking at this text takes less time than walking the values in it."""
    return text[start:end:16].count(",") * _SPARSE >= (end - start) // 16


def _brackets(text: str) -> bytes:
    """The brackets and quotes of a valid text, without quotes that are escaped."""
    left = text.encode("utf-8", "surrogatepass")
    if b"\\" in left:
        left = left.replace(b"\\\\", b"").replace(b'\\"', b"")
    return left.translate(None, _NO_BRACKETS)


def _may_nest(left: bytes, depth: int) -> bool:
    """False if these brackets and quotes show that containers nest no deeper than this.

    Round by round pairs of them are taken away: empty strings, then arrays and objects with nothing
    in them, at most two levels. A bracket in a string stays apart from those outside: between them
    is always an odd number of quotes.
    """
    if left.count(b'""') * 2 == left.count(b'"'):
        left = left.translate(None, b'"')  # there is none in strings
    for levels in range(0, depth, 2):
        if levels + len(left) <= depth:
            return False
        left = left.replace(b'""', b"").replace(b"[]", b"").replace(b"{}", b"")
    return True


def deeper(value: Any, depth: int) -> bool:
    """True if the containers of this value nest deeper than `depth`."""
    return any(at >= depth for at, _ in enumerate(_levels(value)))


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
            if type(inner) in _CONTAINERS
        ]
