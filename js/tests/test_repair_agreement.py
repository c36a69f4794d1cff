"""Near-JSON in JavaScript and in Python is read the same: values, refusals, reports, fragments.

Texts are valid documents with a token dropped, doubled or swapped, what models write, and the
cases of both; each in random pieces.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jsonrill.parse.lenient.rules import RULES
from support import HARDER, cases, pieces, tries
from support.javascript import Ask, differences, examples
from support.mutations import KINDS, document, mutated, tokens
from support.near_json import broken, garbage, sloppy

NEAR_JSON = [
    case["text"] for name in ("near_json", "repair") for case in cases(f"{name}.json")["cases"]
]
OURS = sorted(RULES.keys() - {"by-schema"})
AROUND = [
    "Sure: ",
    "```json\n",
    "```",
    "\n",
    " ok? ",
    "<think>",
    "</think>",
    "😀",
    "[1] ",
    "json",
    ".",
]


def cut_up(random: Random, text: str) -> list[str]:
    """A text in random pieces: whole, one by one, or anything between."""
    how = random.random()
    if how < 0.2:
        return [text]
    if how < 0.4:
        return [*text]
    places = sorted(random.randrange(len(text) + 1) for _ in range(random.randrange(1, 6)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def near_json_text(random: Random) -> str:
    """A valid document, or one of the cases, to which something has happened."""
    kind = random.random()
    if kind < 0.6:
        value = document(random, random.randrange(1, 6))
        text = json.dumps(value, indent=random.choice([None, 1]), ensure_ascii=False)
        parts = tokens(text, split_strings=random.random() < 0.7)
        for _ in range(random.choice([1, 1, 1, 2])):
            text = mutated(random, parts, random.choice(KINDS))
            parts = [text]
            if random.random() < 0.5:
                break
            parts = [*text]
    else:
        text = random.choice(NEAR_JSON)
        for _ in range(random.randrange(3)):
            at = random.randrange(len(text) + 1)
            some = random.choice(NEAR_JSON)
            new = random.choice(["", *"{}[]\",:'`#/\\.()“”\n 1tN+_-", some[: random.randrange(9)]])
            text = text[:at] + new + text[at + random.randrange(3) :]
    if random.random() < 0.2:
        text = random.choice(AROUND) + text
    if random.random() < 0.2:
        text += random.choice(AROUND)
    return text[: random.randrange(len(text) + 1)] if random.random() < 0.1 else text


def random_options(random: Random) -> dict[str, Any]:
    options: dict[str, Any] = {"repair": True}
    if random.random() < 0.15:
        options["repair"] = random.sample(OURS, random.randrange(1, len(OURS)))
    if random.random() < 0.1:
        options["many"] = True
    if random.random() < 0.05:
        options["prefix"] = random.choice(["{", "[", '{"a": '])
    if random.random() < 0.05:
        options["duplicates"] = "error"
    if random.random() < 0.05:
        options["limits"] = {
            random.choice(["depth", "string", "number", "keys", "repairs"]): random.randrange(4)
        }
    return options


def random_job(seed: int) -> tuple[list[str], dict[str, Any]]:
    random = Random(seed)
    return cut_up(random, near_json_text(random)), random_options(random)


def test_mutated_texts(ask: Ask) -> None:
    for start in range(0, tries(1500), 50):
        assert differences(ask, [random_job(start + seed) for seed in range(50)]) == []


def test_the_cases_of_both_at_every_cut(ask: Ask) -> None:
    for text in NEAR_JSON:
        cuts = [[text[:at], text[at:]] for at in range(1, len(text), 1 if HARDER else 9)]
        assert differences(ask, [(cut, {"repair": True}) for cut in [[text], [*text], *cuts]]) == []


OPTIONS = st.fixed_dictionaries(
    {"repair": st.one_of(st.just(True), st.lists(st.sampled_from(OURS), min_size=1))},
    optional={"many": st.booleans(), "prefix": st.sampled_from(["{", '{"a": "'])},
)


@examples(150)
@given(
    text=st.one_of(sloppy().map(lambda one: one.text), broken(), garbage),
    options=OPTIONS,
    data=st.data(),
)
def test_what_models_write(
    ask: Ask, text: str, options: dict[str, Any], data: st.DataObject
) -> None:
    assert differences(ask, [(data.draw(pieces(text)), options)]) == []
