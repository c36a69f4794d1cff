"""The texts that are measured: answers made from a word list with fixed seeds."""

from __future__ import annotations

import json
import random
from typing import Any, Final

PIECE: Final = 4  # characters; about one token
WORDS: Final = (
    "the a of to and in that with as for on by from it this which while about over under between "
    "river stone morning harbour engine method result signal garden budget report letter market "
    "slow quick careful open narrow quiet useful common early recent simple public local steady "
    "shows moves keeps finds holds grows turns reaches explains depends carries follows returns"
).split()


def pieces(text: str, size: int = PIECE) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def prose(chance: random.Random, words: int) -> str:
    """Return sentences, with a quotation, a line break or a non-ASCII letter now and then."""
    chosen = chance.choices(WORDS, k=words)
    for at in range(11, words, 11):
        chosen[at] = chosen[at].capitalize()
        chosen[at - 1] += chance.choice((".", ".", "?", ".\n"))
    for at in range(17, words, 40):
        chosen[at] = chance.choice((f'"{chosen[at]}"', "café", "–"))
    return " ".join(chosen)


def section(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "heading": prose(chance, 5),
        "body": prose(chance, chance.randint(30, 80)),
        "score": round(chance.uniform(0, 100), 2),
        "reviewed": chance.random() < 0.5,
        "tags": chance.choices(WORDS, k=chance.randint(1, 4)),
        "source": {"name": prose(chance, 2), "pages": [chance.randint(1, 99), 400], "note": None},
    }


def report(size: int) -> str:
    """Return an answer of about `size` characters: prose, lists, numbers, nested objects."""
    chance = random.Random(size)
    sections: list[dict[str, Any]] = []
    length = 0
    while not sections or length < size - 250:
        sections.append(section(chance, len(sections) + 1))
        length += len(json.dumps(sections[-1], ensure_ascii=False)) + 2
    value = {"title": prose(chance, 6), "sections": sections, "count": len(sections)}
    return json.dumps(value, ensure_ascii=False)


TEXTS: Final = {
    "58 B": '{"location": "Lyon, France", "unit": "celsius", "days": 5}',
    "2 KB": report(2_000),
    "20 KB": report(20_000),
    "100 KB": report(100_000),
}
