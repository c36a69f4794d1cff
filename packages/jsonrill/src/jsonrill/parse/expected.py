"""What a schema asks for at a path, as far as a parser of near-JSON needs to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..paths import Path

# Strings that differ in the case of letters at most, by what they have in common.
Alike = dict[str, list[str]]


class Expected(NamedTuple):
    """Types of JSON that are allowed; the only strings, and the keys, if they are listed."""

    types: frozenset[str]
    strings: Alike = {}
    keys: frozenset[str] = frozenset()


Guide = Callable[[Path], Expected | None]
