"""A text is divided in JavaScript as in Python: the cases, and what becomes of them by accident."""

from __future__ import annotations

import importlib.util
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Part, parts
from jsonrill.answers.split import NAMES
from support import ROOT, cases
from support.javascript import Ask, agree, examples, spelled_message

SPEC = importlib.util.spec_from_file_location("tables", ROOT / "tools" / "tables.py")
assert SPEC is not None and SPEC.loader is not None
tables: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tables)

CASES: list[dict[str, Any]] = cases("split.json")
TEXTS = [case["text"] for case in CASES]
MORE = ['"', "{", "}", "[", "]", "<", "\n", " ", ",", "```", "</", "think>", "\u3000", "\x85", "'"]


def test_the_tables_are_those_of_python() -> None:
    assert tables.stale() == [], "run tools/tables.py"


def cut_up(random: Random, text: str) -> list[str]:
    size = random.choice([1, 3, 9, 40, 10_000])
    places = [0]
    while places[-1] < len(text):
        places.append(min(places[-1] + random.randint(1, size), len(text)))
    return [text[a:b] for a, b in zip(places, places[1:], strict=False)]


def changed(random: Random) -> str:
    text = random.choice(TEXTS)
    for _ in range(random.randrange(4)):
        at = random.randint(0, len(text))
        match random.randrange(4):
            case 0:
                text = text[:at] + text[at + 1 :]
            case 1:
                text = text[:at] + random.choice(MORE) + text[at:]
            case 2:
                text = text[:at] + random.choice(TEXTS) + text[at:]
            case _:
                text = text[:at]
    return text[:3000]


def as_told(part: Part) -> dict[str, Any]:
    call = part.call and [part.call.name, part.call.status, part.call.raw]
    return {
        "kind": part.kind,
        "index": part.index,
        "delta": part.delta,
        "complete": part.complete,
        "raw": part.raw,
        "error": None if part.error is None else spelled_message(part.error),
        "call": call,
    }


def compare(ask: Ask, jobs: list[tuple[list[str], dict[str, Any]]]) -> None:
    texts = [{"pieces": cut, "options": options} for cut, options in jobs]
    for (cut, options), theirs in zip(jobs, ask("split", texts=texts), strict=True):
        ours = list(parts(cut, **options))
        values = [one.pop("value") for one in theirs]
        for one in theirs:
            one["error"] = None if one["error"] is None else spelled_message(one["error"])
        assert theirs == [as_told(part) for part in ours], (cut, options)
        assert all(agree(value, part.value) for value, part in zip(values, ours, strict=True)), cut


def test_cases(ask: Ask) -> None:
    random = Random(1)
    jobs = [
        (cut, {"split": case.get("split", True), "repair": case.get("repair", False)})
        for case in CASES
        for cut in ([case["text"]], [*case["text"]], cut_up(random, case["text"]))
    ]
    compare(ask, jobs)


@given(st.integers(0, 2**32))
@examples(10)
def test_cases_to_which_something_has_happened(ask: Ask, seed: int) -> None:
    random = Random(seed)
    jobs = []
    for _ in range(20):
        names = random.sample(NAMES, random.randint(1, len(NAMES)))
        options = {"split": random.choice([True, names]), "repair": random.random() < 0.3}
        jobs.append((cut_up(random, changed(random)), options))
    compare(ask, jobs)
