"""What a snapshot costs the chunker, in units of `json.loads` of the same text.

A text is written from its first to its last character; measured are its last snapshots, one for
every few characters, each with its keys in another order. So each is about as large as the text.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, Final

from .measure import interleaved
from .shapes import PIECE

SNAPSHOTS: Final = 120


def snapshots(jsonrill: Any, text: str) -> list[str]:
    chance = random.Random(len(text))
    start = max(len(text) // 2, len(text) - SNAPSHOTS * PIECE)
    document = jsonrill.Document()
    document.feed(text[:start])
    found = []
    for at in range(start, len(text), PIECE):
        document.feed(text[at : at + PIECE])
        found.append(json.dumps(shuffled(document.live, chance), ensure_ascii=False))
    return found


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        keys = chance.sample(list(value), len(value))
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


def costs(jsonrill: Any, text: str, budget: float) -> dict[str, float]:
    """Microseconds a snapshot. The first one, which brings all before it, is not counted."""
    texts = snapshots(jsonrill, text)
    values = [json.loads(snapshot) for snapshot in texts]

    def feeding(given: list[Any], **options: Any) -> Callable[[], object]:
        def once() -> None:
            chunker = jsonrill.Chunker(**options)
            for snapshot in given:
                chunker.feed(snapshot)

        return once

    works: dict[str, Callable[[], object]] = {
        "json.loads": lambda: [json.loads(snapshot) for snapshot in texts[1:]],
        "first": feeding(texts[:1]),
        "chunker": feeding(texts),
        "eager": feeding(texts, eager=True),
        "first value": feeding(values[:1]),
        "values": feeding(values),
    }
    taken = {name: timing.seconds for name, timing in interleaved(works, budget=budget).items()}
    spent = {
        "json.loads": taken["json.loads"],
        "chunker": taken["chunker"] - taken["first"],
        "eager": taken["eager"] - taken["first"],
        "chunker, snapshots that are values already": taken["values"] - taken["first value"],
    }
    return {name: seconds / (len(texts) - 1) * 1e6 for name, seconds in spent.items()}
