"""Containers that lie whole in one piece, read by the standard library's C scanner."""

from __future__ import annotations

from collections.abc import Callable
from json import JSONDecoder
from typing import Any


def bounded_decoder(limit: int, parse_float: Callable[[str], Any]) -> JSONDecoder:
    """A decoder that refuses what the machine would: longer numbers, and what is not JSON."""

    def bounded(convert: Callable[[str], Any]) -> Callable[[str], Any]:
        def number(text: str) -> Any:
            if len(text) > limit:
                raise ValueError("too long a number: the machine walks")
            return convert(text)

        return number

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is not JSON: the machine walks")

    return JSONDecoder(
        parse_float=bounded(parse_float), parse_int=bounded(int), parse_constant=refuse
    )


def deeper(value: Any, depth: int, brackets: int) -> bool:
    """Are containers nested deeper than `depth` in this value, which has so many of them?"""
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
