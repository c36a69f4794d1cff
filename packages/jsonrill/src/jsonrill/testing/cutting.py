"""Streams that break off, and texts in pieces."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any


def beginnings(events: Sequence[Any]) -> Iterator[list[Any]]:
    """Every beginning of a stream: cut after no event, after the first, and so on to the end."""
    return (list(events[:at]) for at in range(len(events) + 1))


def cuttings(text: str, seeds: int = 3) -> Iterator[list[str]]:
    """Cuttings of a text: whole, by character, in two at every place, and at random places.

    Joined, the pieces are always the text; among them are empty ones.
    """
    yield [text]
    yield list(text)
    for at in range(1, len(text)):
        yield [text[:at], text[at:]]
    for seed in range(seeds):
        chance = random.Random(seed)
        places = sorted(chance.randint(0, len(text)) for _ in range(len(text) // 4 + 1))
        edges = [0, *places, len(text)]
        yield [text[a:b] for a, b in zip(edges, edges[1:], strict=False)]
