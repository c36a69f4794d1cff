"""A provider for tests: a server on loopback that answers as OpenAI or Anthropic would.

`Upstream` is the server. It sends a `FakeAnswer` (this text, reasoning and these `Call`s, in the
protocol of the request) or a `Script` (these bytes, pauses and cuts). For each request there is an
`Exchange`: the request, how much was sent, and whether the client left. Without a server,
`FakeAnswer.events` are the events of a provider, and `beginnings` and `cuttings` cut streams and
texts in every place.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from .answers import Call, FakeAnswer
from .script import Cut, Script, Step
from .upstream import Exchange, Upstream

__all__ = [
    "Call",
    "Cut",
    "Exchange",
    "FakeAnswer",
    "Script",
    "Step",
    "Upstream",
    "beginnings",
    "cuttings",
]


def beginnings(events: Sequence[Any]) -> Iterator[list[Any]]:
    """Return every beginning of a stream: cut after no event, after the first, and so on."""
    return (list(events[:at]) for at in range(len(events) + 1))


def cuttings(text: str, seeds: int = 3) -> Iterator[list[str]]:
    """Yield cuttings of a text: whole, by character, in two at every place, at random places."""
    yield [text]
    yield list(text)
    for at in range(1, len(text)):
        yield [text[:at], text[at:]]
    for seed in range(seeds):
        chance = random.Random(seed)
        places = sorted(chance.randint(0, len(text)) for _ in range(len(text) // 4 + 1))
        edges = [0, *places, len(text)]
        yield [text[a:b] for a, b in zip(edges, edges[1:], strict=False)]
