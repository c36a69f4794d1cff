"""What a schema asks for at a path, as far as a parser of near-JSON needs to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..paths import Path


class Expected(NamedTuple):
    """Types of JSON that are allowed; the only strings, and the keys, if they are listed."""

    types: frozenset[str]
    strings: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()


Guide = Callable[[Path], Expected | None]
