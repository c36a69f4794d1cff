"""Two implementations of the same rules, the chunker and the flat one that the benchmark measures
it against, give the same text for the same snapshots, and refuse the same ones."""

from __future__ import annotations

import importlib.util
import random
from functools import cache
from typing import Any

import pytest

from jsonrill import RevisionError
from jsonrill.chunker import Chunker
from support import ROOT, tries

from .chunker_cases import CASES
from .chunker_streams import ALL_KINDS, Changes, Documents, dump, itineraries, sequential

REFUSED = "refused"


@cache
def flat() -> Any:
    """The benchmark's module: it is no part of the package."""
    spec = importlib.util.spec_from_file_location("flat", ROOT / "bench" / "flat_chunker.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def texts(chunker: Any, snapshots: list[str]) -> list[str]:
    chunks = []
    for snapshot in snapshots:
        try:
            chunks.append(chunker.feed(snapshot))
        except RevisionError:
            chunks.append(REFUSED)
    try:
        return [*chunks, chunker.flush()]
    except RevisionError:
        return [*chunks, REFUSED]


def written_in_one_go(rng: random.Random) -> list[str]:
    kinds = set(rng.sample(ALL_KINDS, rng.randint(0, len(ALL_KINDS))))
    document = Documents(rng, kinds).value(2)
    step = rng.choice([2, 12, 40, 120])
    shown = sequential(document, rng, step, grow=rng.random() < 0.5, repeat=0.1)
    return [dump(value, rng) for value in shown]


def changed_at_will(rng: random.Random) -> list[str]:
    changes = Changes(rng)
    values = [changes.value()]
    for _ in range(rng.randint(0, 13)):
        again = rng.random() < 0.25
        values.append(rng.choice(values) if again else changes.growth(values[-1]))
    return [dump(value, rng) for value in values]


@pytest.mark.parametrize("make", [written_in_one_go, changed_at_will])
@pytest.mark.parametrize("eager", [False, True])
def test_the_same_text(make: Any, eager: bool) -> None:
    for seed in range(tries(80)):
        snapshots = make(random.Random(f"{make.__name__} {seed}"))
        expected = texts(flat().FlatChunker(eager=eager), snapshots)
        assert texts(Chunker(eager=eager), snapshots) == expected, snapshots


def test_the_same_text_in_the_cases() -> None:
    for snapshots, chunks, *options in CASES.values():
        if not options or options[0].keys() == {"eager"}:
            assert texts(flat().FlatChunker(eager=bool(options)), snapshots) == chunks


def test_the_same_text_with_keys_in_any_order() -> None:
    for snapshots in itineraries():
        assert texts(flat().FlatChunker(), snapshots) == texts(Chunker(), snapshots)
