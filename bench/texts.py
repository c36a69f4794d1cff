"""What is measured: answers made from a word list with fixed seeds, and states that grow."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
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


# How long a text is before the piece that is measured.
SIZES: Final = {"1 KB": 10**3, "10 MB": 10**7}


def beginning(size: int, rest: int) -> tuple[str, str]:
    """Return the first `size` characters of a long report, and the `rest` characters after them."""
    sections = json.loads(TEXTS["100 KB"])["sections"]
    text = ", ".join(json.dumps(item, ensure_ascii=False) for item in sections) + ", "
    text = '{"title": "Report", "sections": [' + text * ((size + rest) // len(text) + 1)
    return text[:size], text[size : size + rest]


def chat_events(texts: list[str]) -> Iterator[dict[str, Any]]:
    """Yield OpenAI's events for an answer in these pieces."""
    for text in texts:
        yield {"object": "chat.completion.chunk", "choices": [{"delta": {"content": text}}]}


def call_events(texts: list[str]) -> Iterator[dict[str, Any]]:
    """Yield OpenAI's events for a tool call with these pieces of its arguments."""
    first = {"index": 0, "id": "call_1", "function": {"name": "save", "arguments": ""}}
    rest = ({"index": 0, "function": {"arguments": text}} for text in texts)
    for call in (first, *rest):
        yield {"object": "chat.completion.chunk", "choices": [{"delta": {"tool_calls": [call]}}]}


def table(size: int) -> dict[str, Any]:
    """Return a state of many short values, as long as `size` characters of JSON."""
    chance = random.Random(size)
    count = size // 72
    rows = [
        {
            "id": number,
            "name": prose(chance, 1),
            "done": chance.random() < 0.5,
            "price": round(chance.uniform(1, 99), 2),
            "tag": prose(chance, 1),
        }
        for number in range(count)
    ]
    return {"status": "running", "rows": rows}
