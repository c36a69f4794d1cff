"""Helpers that several test files share: paths, ways to cut a text, numbers of examples.

Cuttings work on `str` and on `bytes`, and joining the pieces always gives the text back.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Any, AnyStr

import pytest
from hypothesis import settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "cases"
PACKAGES = ("jsonrill", "jsonrill-server", "jsonrill-batch")
# Where each package is imported from; for processes of their own, PYTHONPATH.
SOURCES = [ROOT / "packages" / name / "src" for name in PACKAGES]
PYTHONPATH = os.pathsep.join(map(str, SOURCES))
LIBRARY = SOURCES[0] / "jsonrill"
IN_CI = os.environ.get("CI") == "true"


def _asked_for(name: str) -> bool:
    return os.environ.get(name, "0") not in ("", "0")


# `make hard` sets this.
HARDER = _asked_for("TEST_HARDER")
# The share of a property's examples to try: some in `make test`, fewer in `make quick`.
TIMES = 20.0 if HARDER else 0.05 if _asked_for("TEST_QUICK") else 0.17
# How many times longer than documented something may take on a busy machine; not in `make hard`.
SLACK = 1 if HARDER else 12
# `hard` marks a test that only `make hard` runs. `@few(3)` marks a test whose cases run the same
# lines: `make test` runs three of them.
hard = pytest.mark.hard
few = pytest.mark.few


def cases(name: str) -> Any:
    """Return a file of cases/, which the tests in JavaScript may read, too."""
    return json.loads((CASES / name).read_text("utf8"))


def need_command(command: str, places: str = "") -> str:
    """Return the path of a program from tools/system_parts.py; without it skip, but fail in CI.

    `places` is a pattern of folders in which it may be, if it is not on PATH.
    """
    path = shutil.which(command) or next(iter(sorted(glob(f"{places}/{command}"))[::-1]), None)
    if path is None:
        (pytest.fail if IN_CI else pytest.skip)(f"needs the program {command}")
    return path


def examples(count: int) -> settings:
    """Return a decorator for a property with `count` examples."""
    return settings(max_examples=tries(count))


def tries(count: int) -> int:
    """Return the number of examples to try out of `count`; `make hard` tries more."""
    return max(1, round(count * TIMES))


def uncut(text: AnyStr) -> list[AnyStr]:
    return [text]


def by(size: int, text: AnyStr) -> list[AnyStr]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def by_character(text: AnyStr) -> list[AnyStr]:
    return by(1, text)


def by_threes(text: AnyStr) -> list[AnyStr]:
    return by(3, text)


def at(places: list[int], text: AnyStr) -> list[AnyStr]:
    """Cut at these offsets. A repeated offset makes an empty piece."""
    edges = [0, *sorted(places), len(text)]
    return [text[start:end] for start, end in zip(edges, edges[1:], strict=False)]


def at_random(text: AnyStr, seed: int = 0) -> list[AnyStr]:
    """Cut at about every fourth offset, at some twice, chosen by the seed and the text."""
    chance = random.Random(f"{seed} {text!r}")
    return at([chance.randint(0, len(text)) for _ in range(len(text) // 4)], text)


def cuttings(text: AnyStr) -> Iterator[list[AnyStr]]:
    """Yield the four standard cuttings: whole, by character, by threes, at random."""
    for cut in (uncut, by_character, by_threes, at_random):
        yield cut(text)


def pieces(text: AnyStr) -> st.SearchStrategy[list[AnyStr]]:
    """Return a strategy for every cutting of this text, which shrinks towards the uncut text."""
    places = st.lists(st.integers(0, len(text)), max_size=max(4, len(text) // 2))
    return places.map(lambda cuts: at(cuts, text))


def producer_headers(seq: int, producer: str = "p", epoch: int = 0) -> dict[str, str]:
    """Return the headers of a producer's request number `seq`, counted from 0."""
    return {"producer-id": producer, "producer-epoch": str(epoch), "producer-seq": str(seq)}
