"""What a snapshot costs the chunker, in units of `json.loads` of the same text; what it writes.

A text is written from its first to its last character; measured are its last snapshots, one for
every few characters, each with its keys in another order. So each is about as large as the text.
Beside the chunker runs the way to do it that comes to mind first (`flat_chunker.py`).
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from . import shapes
from .contestants import ROOT
from .measure import interleaved
from .shapes import PIECE

SNAPSHOTS: Final = 120
# The flat one needs seconds for a larger snapshot.
FLAT_UP_TO: Final = 10_000
# By how many characters one snapshot is ahead of the one before, beside the usual few.
STEPS: Final = (16, 64)

# Texts of every kind, each read in every step: the streams that have to come out whole.
KINDS: Final = ("58 B", "2 KB", "many small items", "deep nesting", "escaped Chinese")
WRITTEN_STEPS: Final = (1, 2, 3, 5, 8, 16, 40, 200)
LENGTH: Final = 2_500


def snapshots(jsonrill: Any, text: str, step: int = PIECE) -> list[str]:
    """The last ones of a text."""
    start = max(len(text) // 2, len(text) - SNAPSHOTS * step)
    return list(growing(jsonrill, text, step, start))


def growing(jsonrill: Any, text: str, step: int, start: int = 0) -> Iterator[str]:
    """What is known of a text after every few characters, its keys in any order."""
    chance = random.Random(len(text))
    document = jsonrill.Document()
    document.feed(text[:start])
    for at in range(start, len(text), step):
        document.feed(text[at : at + step])
        yield json.dumps(shuffled(document.live, chance), ensure_ascii=False)


def alike(jsonrill: Any, text: str, step: int = PIECE) -> list[str]:
    """As `snapshots`, with the keys in their order: each text begins like the one before."""
    start = max(len(text) // 2, len(text) - SNAPSHOTS * step)
    document = jsonrill.Document()
    document.feed(text[:start])
    shown = []
    for at in range(start, len(text), step):
        document.feed(text[at : at + step])
        shown.append(json.dumps(document.live, ensure_ascii=False))
    return shown


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        keys = chance.sample(list(value), len(value))
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


def feeding(make: Callable[[], Any], series: list[Any]) -> Callable[[], object]:
    def once() -> None:
        chunker = make()
        for snapshot in series:
            chunker.feed(snapshot)

    return once


def decoding(series: list[str]) -> Callable[[], object]:
    def once() -> None:
        for snapshot in series:
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
        "chunker": (lambda series: feeding(make, series), texts),
        "eager": (lambda series: feeding(eager, series), texts),
        "given values": (lambda series: feeding(make, series), values),
    }
    for step in STEPS:
        larger = snapshots(jsonrill, text, step)
        pairs[f"json.loads, {step} characters a step"] = (decoding, larger)
        pairs[f"chunker, {step} characters a step"] = (lambda series: feeding(make, series), larger)
    if len(text) <= FLAT_UP_TO:
        flat = import_module("bench.flat_chunker").FlatChunker
        pairs["the flat way"] = (lambda series: feeding(flat, series), few)
    works = {name: work(series) for name, (work, series) in pairs.items()}
    first = {f"{name}, the first": work(series[:1]) for name, (work, series) in pairs.items()}
    timed = interleaved({**works, **first}, budget=budget)
    return {
        name: (timed[name].seconds - timed[f"{name}, the first"].seconds) / (len(series) - 1) * 1e6
        for name, (_, series) in pairs.items()
    }


# ---- what is written, not how fast ----


def written(jsonrill: Any) -> dict[str, Any]:
    """Streams whose text is the last snapshot; snapshots of which a reader cannot see all."""
    counts: dict[str, Any] = {}
    for name, eager in (("default", False), ("eager", True)):
        whole = [
            comes_out_whole(jsonrill, text, step, eager)
            for text in (_short(kind) for kind in KINDS)
            for step in WRITTEN_STEPS
        ]
        counts[name] = {"streams": len(whole), "whole": sum(whole)}
    for file in recordings():
        lines = file.read_text("utf8").splitlines()
        for name, eager in (("default", False), ("eager", True)):
            counts[name]["snapshots"] = counts[name].get("snapshots", 0) + len(lines)
            late = withheld(jsonrill, lines, eager)
            counts[name]["withheld"] = counts[name].get("withheld", 0) + late
    return counts


def _short(kind: str) -> str:
    """A text of that kind, closed where it is cut: a long one takes long in steps of one."""
    text = shapes.text_of(kind)
    if len(text) <= LENGTH:
        return text
    document = import_module("jsonrill").Document()
    document.feed(text[:LENGTH])
    return json.dumps(document.value)


def comes_out_whole(jsonrill: Any, text: str, step: int, eager: bool) -> bool:
    chunker, last = jsonrill.Chunker(eager=eager), ""
    chunks = []
    for last in growing(jsonrill, text, step):
        chunks.append(chunker.feed(last))
    chunks.append(chunker.flush())
    return bool(json.loads("".join(chunks)) == json.loads(last))


def recordings() -> list[Path]:
    """Streams recorded from real sources, where this machine has them."""
    base = os.environ.get("JSONRILL_SHARED")
    folder = (Path(base) if base else ROOT.parent / "shared") / "data" / "snapshots"
    return sorted(folder.glob("*.jsonl"))


def withheld(jsonrill: Any, lines: list[str], eager: bool) -> int:
    """Of how many snapshots could a reader of the text not see everything?"""
    chunker, document, late = jsonrill.Chunker(eager=eager), jsonrill.Document(), 0
    for line in lines:
        document.feed(chunker.feed(line))
        late += not sees(document.live, json.loads(line))
    return late


def sees(shown: Any, value: Any) -> bool:
    """Is all of `value` shown that is not empty?"""
    if isinstance(value, dict):
        members = shown if isinstance(shown, dict) else {}
        return all(sees(members.get(key), item) for key, item in value.items())
    if isinstance(value, list):
        elements = shown if isinstance(shown, list) else []
        return all(map(sees, elements + [None] * (len(value) - len(elements)), value))
    return value in ("", None) or bool(shown == value)
