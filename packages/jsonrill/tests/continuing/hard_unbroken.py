"""The proof of `unbroken`: thousands of breaks, in every place, answered in every way.

30 documents cut at every character, 500 documents and 100 tool calls at 20 random places, each with
a way of answering, a provider's events and one to three breaks drawn by seed. An answer ends in the
value of the unbroken one, or in an error that the docs name; nothing that was shown changes. The
last test prints what else programs do about the same breaks.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import jsonrill
from support.breaking_models import Model, document, goes_on, grows_into, written


def outcome(model: Model, value: Any) -> str:
    """How an answer ended: `right`, or the name of an error. Anything else is a failure."""
    wanted: dict[str, Any] = {"tool": model.tool} if model.tool else {}
    shown = None
    try:
        for shown in jsonrill.values(jsonrill.unbroken(model, stall=None, backoff=0), **wanted):
            assert grows_into(shown, value), model
    except (jsonrill.Truncated, jsonrill.RevisionError, ConnectionResetError) as error:
        return type(error).__name__
    assert shown == value, model
    return "right"


def told(name: str, outcomes: Counter[str]) -> None:
    total = sum(outcomes.values())
    print(
        f"\n{name}: {total} breaks, {100 * outcomes['right'] / total:.2f} % right, {dict(outcomes)}"
    )
    assert outcomes["right"] >= 0.98 * total


def test_thirty_documents_cut_at_every_character() -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(30):
        chance = random.Random(seed)
        value = document(chance)
        text = written(value, chance)
        for cut in range(len(text) + 1):
            chance = random.Random(f"{seed} {cut}")
            model = Model(text, cut, chance, chance.randint(1, 3))
            outcomes[outcome(model, value)] += 1
    told("30 documents at every character", outcomes)


def many(count: int, tool: str = "") -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for seed in range(count):
        chance = random.Random(f"{seed} {tool}")
        value = document(chance)
        text = written(value, chance)
        for place in range(20):
            chance = random.Random(f"{seed} {place} {tool}")
            cut = chance.randint(0, len(text))
            model = Model(text, cut, chance, chance.randint(1, 3), tool)
            outcomes[outcome(model, value)] += 1
    return outcomes


def test_five_hundred_documents_at_twenty_places() -> None:
    told("500 documents at 20 places", many(500))


def test_a_hundred_calls_at_twenty_places() -> None:
    told("100 calls at 20 places", many(100, "plan"))


def test_what_is_paid_twice_and_what_others_do() -> None:
    """Of a model that goes on at the character, as one does that is given its own beginning."""
    paid = again = size = right = joined = 0
    total = 0
    for seed in range(500):
        chance = random.Random(f"prefill {seed}")
        value = document(chance)
        text = written(value, chance)
        cut = chance.randint(1, len(text))
        model = Model(text, cut, chance, chance.randint(1, 3), ways=(goes_on,))
        total += 1
        if outcome(model, value) == "right":
            right += 1
            paid += model.written - len(text)
            size += len(text)
            # Who starts again pays for what came before each break.
            again += cut
        other = random.Random(f"others {seed}")
        answer = other.choice(Model.ways)(_asked(text, cut, other), text[:cut])
        joined += _is(text[:cut] + answer, value)
    print(f"\ngoes on at the character: {100 * right / total:.1f} % right,", end=" ")
    print(f"{100 * paid / size:.2f} % paid twice")
    print(f"starting again: {100 * again / size:.1f} % paid twice after one break")
    print(f"joining the texts as they are: {100 * joined / total:.1f} % right after one break")
    assert paid <= 0.05 * size


def _asked(text: str, cut: int, chance: random.Random) -> Model:
    """A model that was asked once for the rest."""
    asked: list[Any] = []

    def ask(so_far: Any) -> Any:
        asked.append(so_far)
        if so_far is None:
            return iter((text[:cut],))
        raise KeyError

    try:
        [*jsonrill.unbroken(ask, stall=None)]
    except KeyError:
        pass
    return Model(text, cut, chance, so_far=asked[-1])


def _is(text: str, value: Any) -> bool:
    try:
        return bool(json.loads(text) == value)
    except ValueError:
        return False
