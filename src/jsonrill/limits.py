"""Bounds on what a text may hold. Who reads strangers' texts sets them; the machine keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what strangers can send, in characters of source text and per document."""

    depth: int = 256
    text: int = 64 * 2**20
    string: int = 16 * 2**20
    number: int = 400
    keys: int = 100_000
    repairs: int = 100_000

    def __post_init__(self) -> None:
        others = (self.depth, self.string, self.number, self.keys, self.repairs)
        if self.text < 1 or min(others) < 0:
            raise ValueError(f"limits are not negative, and text is at least 1: {self}")


USUAL: Final = Limits()
# No text is that long, and offsets beyond it still fit a machine word when compiled.
FAR: Final = 2**60
