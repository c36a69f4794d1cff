"""Streams of snapshots of the kind that Apple Foundation Models send, made up from a seed.

`python -m bench.snapshot_streams` prints what the chunker withholds of those in `bench/snapshots`;
with `--write` it makes their files anew. Of the kind: an itinerary of strings, lists and objects;
the order of keys is one for each stream when it is written, and any when it is shown; a snapshot
comes every few words; many strings are first seen empty, and now and then two keys come at once.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import jsonrill

from .chunking import recordings, shuffled, withheld

FOLDER: Final = Path(__file__).resolve().parent / "snapshots"
STREAMS: Final = 4
_WORDS: Final = """the a walk through old gardens begins at dawn with bread and tea beside slow
water while herons café dunes "north" pier 7:30 guide tells of salt, glass & light; rest under limes
until evening when boats return über quiet hills""".split()
_KINDS: Final = ("Sightseeing", "FoodAndDining", "HotelAndLodging")
# Characters between two snapshots, and how often one ends where a string begins.
_LEAST, _MOST, _EMPTY = 10, 50, 0.8


class Itineraries:
    """Random itineraries, whose objects have their keys in one order for each kind of object."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.orders: dict[frozenset[str], list[str]] = {}

    def prose(self, least: int, most: int) -> str:
        words = self.chance.choices(_WORDS, k=self.chance.randint(least, most))
        return " ".join(words).capitalize() + "."

    def ordered(self, members: dict[str, Any]) -> dict[str, Any]:
        keys = self.orders.setdefault(
            frozenset(members), self.chance.sample(list(members), len(members))
        )
        return {key: members[key] for key in keys}

    def activity(self) -> dict[str, Any]:
        kind = self.chance.choice(_KINDS)
        title, text = self.prose(2, 4), self.prose(7, 14)
        return self.ordered({"type": kind, "title": title, "description": text})

    def day(self) -> dict[str, Any]:
        activities = [self.activity() for _ in range(2)]
        title, destination = self.prose(2, 5), self.prose(1, 2)
        return self.ordered({"title": title, "destination": destination, "activities": activities})

    def itinerary(self) -> dict[str, Any]:
        title, rationale = self.prose(3, 6), self.prose(9, 16)
        days = [self.day() for _ in range(3)]
        return self.ordered({"title": title, "rationale": rationale, "days": days})


def stream(seed: int) -> Iterator[str]:
    """The snapshots of one stream, each a line of JSON."""
    chance = random.Random(f"itinerary {seed}")
    text = json.dumps(Itineraries(chance).itinerary(), ensure_ascii=False)
    document, last = jsonrill.Document(), ""
    start = 0
    while start < len(text):
        end = start + chance.randint(_LEAST, _MOST)
        opening = text.rfind('": "', start, end)
        if opening > start and chance.random() < _EMPTY:
            end = opening + 4
        document.feed(text[start:end])
        start = end
        shown = json.dumps(shuffled(document.value, chance), ensure_ascii=False)
        if document.value != (json.loads(last) if last else None):
            yield shown
        last = shown


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.jsonl"))


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for seed in range(1, STREAMS + 1):
        lines = "".join(line + "\n" for line in stream(seed))
        (FOLDER / f"itinerary-{seed}.jsonl").write_text(lines, "utf8")


def figures(paths: list[Path]) -> dict[str, int]:
    """How many snapshots there are, and of how many text is withheld: by default, and eager."""
    streams = [path.read_text("utf8").splitlines() for path in paths]
    return {
        "snapshots": sum(map(len, streams)),
        "default": sum(withheld(jsonrill, lines, eager=False) for lines in streams),
        "eager": sum(withheld(jsonrill, lines, eager=True) for lines in streams),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.snapshot_streams", description=__doc__)
    parser.add_argument("--write", action="store_true", help="make the files of bench/snapshots")
    if parser.parse_args().write:
        write()
    for name, paths in (("bench/snapshots", files()), ("recorded", recordings())):
        if paths:
            count = figures(paths)
            shares = ", ".join(
                f"{how} {count[how]} ({100 * count[how] / count['snapshots']:.1f} %)"
                for how in ("default", "eager")
            )
            print(f"{name}: {count['snapshots']} snapshots; text withheld: {shares}")


if __name__ == "__main__":
    main()
