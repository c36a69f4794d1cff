"""What a snapshot costs the chunker, in units of `json.loads` of the same text.

Run `python -m bench.bench_chunker`. A document of the given size is written from its first to its
last character; measured are its last snapshots, one every few characters, so that each is about
as large as the document. Beside the chunker runs the straightforward way to do the same job
(flat_chunker.py: flatten, compare flat maps; same rules, same text). Every figure is processor
time per snapshot, the best of several rounds in which the contestants take turns.
"""

from __future__ import annotations

import json
import platform
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench")]

from flat_chunker import FlatChunker  # noqa: E402

from jsonrill import Document  # noqa: E402
from jsonrill.chunker import Chunker  # noqa: E402

SIZES = (1_000, 4_000, 20_000, 100_000)
STEPS = (4, 16, 64)
SNAPSHOTS = 120
ROUNDS = 15
FLAT_SECONDS = 20.0  # what the flat one may take in all: beyond, its row is left out
WORDS = "the quick brown fox jumps over a lazy dog while seven wizards brew strong potions".split()


def words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count))


def item(rng: random.Random, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "title": words(rng, 4),
        "price": round(rng.random() * 100, 2),
        "tags": [words(rng, 1) for _ in range(3)],
        "active": rng.random() < 0.5,
        "description": words(rng, 18),
        "address": {"street": words(rng, 2), "zip": str(rng.randint(10000, 99999))},
    }


def document(size: int) -> str:
    rng = random.Random(size)
    value: dict[str, Any] = {"name": words(rng, 3), "summary": words(rng, 12), "items": []}
    while len(json.dumps(value)) < size:
        value["items"].append(item(rng, len(value["items"])))
    return json.dumps(value)


def stream(size: int, step: int) -> list[str]:
    """The last snapshots of a document, keys in another order each time."""
    rng = random.Random(step)
    text = document(size)
    count = min(SNAPSHOTS, len(text) // step // 2)
    reader = Document()
    start = len(text) - count * step
    reader.feed(text[:start])
    snapshots = []
    for at in range(start, len(text), step):
        reader.feed(text[at : at + step])
        snapshots.append(json.dumps(shuffled(reader.live, rng)))
    return snapshots


def shuffled(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict):
        keys = rng.sample(list(value), len(value))
        return {key: shuffled(value[key], rng) for key in keys}
    return [shuffled(it, rng) for it in value] if isinstance(value, list) else value


def feeding(make: Callable[[], Any], snapshots: list[Any]) -> Callable[[], float]:
    """Time for all snapshots but the first, which brings the document up to date."""

    def once() -> float:
        chunker = make()
        chunker.feed(snapshots[0])
        start = time.process_time()
        for snapshot in snapshots[1:]:
            chunker.feed(snapshot)
        return time.process_time() - start

    return once


def decoding(snapshots: list[str]) -> Callable[[], float]:
    def once() -> float:
        start = time.process_time()
        for snapshot in snapshots[1:]:
            json.loads(snapshot)
        return time.process_time() - start

    return once


def best(contestants: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    times = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, run in contestants.items():
            times[name] = min(times[name], run())
    return times


def measure(size: int, step: int) -> dict[str, float]:
    """Microseconds per snapshot."""
    snapshots = stream(size, step)
    contestants = {
        "json.loads": decoding(snapshots),
        "chunker": feeding(Chunker, snapshots),
        "eager": feeding(lambda: Chunker(eager=True), snapshots),
        "mappings": feeding(Chunker, [json.loads(text) for text in snapshots]),
    }
    times = best(contestants, ROUNDS)
    result = {name: 1e6 * spent / (len(snapshots) - 1) for name, spent in times.items()}
    few = snapshots[-4:]
    flat = feeding(FlatChunker, few)
    guess = flat_guess(size)
    if guess * len(few) < FLAT_SECONDS:
        result["flat"] = 1e6 * best({"flat": flat}, 2)["flat"] / (len(few) - 1)
    return result


def flat_guess(size: int) -> float:
    """Seconds per snapshot, roughly: it is quadratic."""
    return 0.05 * (size / 4_000) ** 2


def main() -> None:
    print(f"Python {platform.python_version()}, {platform.machine()}; microseconds per snapshot,")
    print("in brackets in units of json.loads; the document grows by `step` characters a snapshot")
    print()
    names = ("json.loads", "chunker", "eager", "mappings", "flat")
    print(f"{'size':>8} {'step':>5}" + "".join(f"{name:>20}" for name in names))
    for size in SIZES:
        for step in STEPS:
            times = measure(size, step)
            row = f"{size:>8} {step:>5}"
            for name in names:
                if name in times:
                    ratio = times[name] / times["json.loads"]
                    row += f"{times[name]:>12.1f} ({ratio:.2f})".rjust(20)
                else:
                    row += "-".rjust(20)
            print(row, flush=True)


if __name__ == "__main__":
    main()
