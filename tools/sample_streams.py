"""Writes recorded streams to try `jsonrill batch` on: `python tools/sample_streams.py 1000`.

The same number and seed give the same bytes. A few streams are cut off or broken, as in real logs.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from typing import Any

CITIES = ("Lisbon", "Porto", "Évora", "Braga", "Faro", "São Pedro", "Óbidos", "北京")
WORDS = "tram hill river tiles market museum harbour garden bridge coffee sunset station".split()


def value(chance: random.Random) -> dict[str, Any]:
    """Return an answer as a model might write it."""
    days = [
        {
            "city": chance.choice(CITIES),
            "stops": [" ".join(chance.choices(WORDS, k=3)) for _ in range(chance.randint(1, 4))],
            "km": round(chance.uniform(0.5, 20), 1),
            "booked": chance.random() < 0.5,
        }
        for _ in range(chance.randint(1, 4))
    ]
    return {"title": " ".join(chance.choices(WORDS, k=4)), "days": days, "budget": None}


def tokens(text: str, chance: random.Random) -> list[str]:
    """Return the text in pieces, as a model sends it."""
    pieces, at = [], 0
    while at < len(text):
        size = chance.randint(1, 8)
        pieces.append(text[at : at + size])
        at += size
    return pieces


def streams(count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield `count` streams: one in fifty is cut off, one in a hundred is not JSON."""
    chance = random.Random(seed)
    for number in range(count):
        text = json.dumps(value(chance), ensure_ascii=False)
        luck = chance.random()
        if luck < 0.02:
            text = text[: chance.randint(1, len(text) - 1)]
        elif luck < 0.03:
            at = chance.randint(1, len(text) - 1)
            text = text[:at] + "\x00" + text[at:]
        stream: dict[str, Any] = {"id": f"s{number}", "chunks": tokens(text, chance)}
        if number % 2:
            clock = 0.2 + chance.random()
            stream["start"] = 0
            stream["times"] = [
                round(clock := clock + chance.expovariate(40), 4) for _ in stream["chunks"]
            ]
        yield stream


def lines(count: int, seed: int = 0) -> Iterator[str]:
    for stream in streams(count, seed):
        yield json.dumps(stream, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    sys.stdout.reconfigure(encoding="utf8")  # type: ignore[union-attr]
    sys.stdout.writelines(lines(wanted, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
