"""What a snapshot costs the chunker, in units of `json.loads` of the same text.

A text is written from its first to its last character; measured are its last snapshots, one for
every few characters, each with its keys in another order. So each is about as large as the text.
Beside the chunker runs the way to do it that comes to mind first (`flat_chunker.py`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from .measure import interleaved
from .shapes import PIECE

SNAPSHOTS: Final = 120
# The flat one needs seconds for a larger snapshot.
FLAT_UP_TO: Final = 10_000


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


def feeding(make: Callable[[], Any], given: list[Any]) -> Callable[[], object]:
    def once() -> None:
        chunker = make()
        for snapshot in given:
            chunker.feed(snapshot)

    return once


def decoding(given: list[str]) -> Callable[[], object]:
    def once() -> None:
        for snapshot in given:
            json.loads(snapshot)

    return once


def costs(jsonrill: Any, text: str, budget: float) -> dict[str, float]:
    """Microseconds a snapshot. The first one, which brings all before it, is not counted."""
    texts = snapshots(jsonrill, text)
    values = [json.loads(snapshot) for snapshot in texts]
    make, eager = jsonrill.Chunker, lambda: jsonrill.Chunker(eager=True)
    few = texts[-4:]
    pairs: dict[str, tuple[Callable[[list[Any]], Callable[[], object]], list[Any]]] = {
        "json.loads": (decoding, texts),
        "chunker": (lambda given: feeding(make, given), texts),
        "eager": (lambda given: feeding(eager, given), texts),
        "given values": (lambda given: feeding(make, given), values),
    }
    if len(text) <= FLAT_UP_TO:
        flat = import_module("bench.flat_chunker").FlatChunker
        pairs["the flat way"] = (lambda given: feeding(flat, given), few)
    works = {name: work(given) for name, (work, given) in pairs.items()}
    first = {f"{name}, the first": work(given[:1]) for name, (work, given) in pairs.items()}
    timed = interleaved({**works, **first}, budget=budget)
    return {
        name: (timed[name].seconds - timed[f"{name}, the first"].seconds) / (len(given) - 1) * 1e6
        for name, (_, given) in pairs.items()
    }
