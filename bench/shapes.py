"""The texts that are measured: what language models write, made from word lists with a fixed seed.

Nothing is read from outside, so every machine measures the same texts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any, Final

PIECE: Final = 4  # characters; about one token

TOOL: Final = '{"location": "Lyon, France", "unit": "celsius", "days": 5}'

_WORDS: Final = (
    "the a of to and in that with as for on by from it this which while about over under between "
    "river stone morning harbour engine method result signal garden budget report letter market "
    "winter bridge teacher number answer question reason measure village forest station window "
    "slow quick careful open narrow quiet useful common early recent simple public local steady "
    "shows moves keeps finds holds grows turns reaches explains depends carries follows returns"
).split()
_HAN: Final = "今天天气很好我们去河边散步看见许多小船慢慢流过石桥老人坐在树下读书孩子笑着跑来问路"


def pieces(text: str, size: int = PIECE) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def prose(chance: random.Random, words: int) -> str:
    """Sentences; now and then a quotation, a new line or a letter that is not ASCII."""
    chosen = [chance.choice(_WORDS) for _ in range(words)]
    for at in range(0, words, 11):
        chosen[at] = chosen[at].capitalize()
        if at:
            chosen[at - 1] += chance.choice((".", ".", ".", "?", ".\n", ".\n\n"))
    for at in range(17, words, 40):
        chosen[at] = chance.choice((f'"{chosen[at]}"', f"{chosen[at]},", "café", "naïve", "–"))
    return " ".join(chosen)


def _section(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "heading": prose(chance, 5),
        "body": prose(chance, chance.randint(30, 80)),
        "score": round(chance.uniform(0, 100), 2),
        "reviewed": chance.random() < 0.5,
        "tags": [chance.choice(_WORDS) for _ in range(chance.randint(1, 4))],
        "source": {
            "name": prose(chance, 2),
            "year": chance.randint(1990, 2025),
            "pages": [chance.randint(1, 99), chance.randint(100, 400)],
            "note": None,
        },
    }


def report(size: int, indent: int | None = None) -> str:
    """An answer in sections, as long as asked for: prose, lists, numbers, nested objects."""
    chance = random.Random(size)
    head = {"title": prose(chance, 6), "summary": prose(chance, 40), "language": "en"}
    room = size - len(json.dumps(head))
    sections: list[dict[str, Any]] = []
    while room > 250:  # half a section
        sections.append(_section(chance, len(sections) + 1))
        room -= len(json.dumps(sections[-1], ensure_ascii=False, indent=indent)) + 2
    value = {**head, "sections": sections, "count": len(sections)}
    return json.dumps(value, ensure_ascii=False, indent=indent)


def long_string(size: int) -> str:
    """One string that grows and grows: an answer, a file's contents."""
    return json.dumps({"answer": prose(random.Random(1), size // 6)}, ensure_ascii=False)


def small_items(size: int) -> str:
    chance = random.Random(2)
    items = [
        {"id": number, "ok": chance.random() < 0.5, "x": round(chance.uniform(-9, 9), 3)}
        for number in range(size // 36)
    ]
    return json.dumps(items)


def deep(levels: int) -> str:
    """Each level holds a title and the next one, objects and arrays in turn."""
    chance = random.Random(3)
    value: Any = prose(chance, 4)
    for level in range(levels):
        value = [prose(chance, 2), value] if level % 2 else {"title": prose(chance, 3), "in": value}
    return json.dumps(value, ensure_ascii=False)


def escaped_han(size: int) -> str:
    r"""Chinese text as \uXXXX, the way some models and every careful encoder send it."""
    chance = random.Random(4)
    lines = ["".join(chance.choice(_HAN) for _ in range(40)) + "😀" for _ in range(size // 260)]
    return json.dumps({"lines": lines})


# Their order is that of the tables. The first five are one family, to see growth with size.
SHAPES: Final[dict[str, Callable[[], str]]] = {
    "58 B": lambda: TOOL,
    "2 KB": lambda: report(2_000),
    "20 KB": lambda: report(20_000),
    "100 KB": lambda: report(100_000),
    "1 MB": lambda: report(1_000_000),
    "20 KB, indented": lambda: report(20_000, indent=2),
    "one long string": lambda: long_string(100_000),
    "many small items": lambda: small_items(20_000),
    "deep nesting": lambda: deep(150),
    "escaped Chinese": lambda: escaped_han(20_000),
}
FAMILY: Final = ("58 B", "2 KB", "20 KB", "100 KB", "1 MB")


@cache
def text_of(shape: str) -> str:
    return SHAPES[shape]()


def tool(fields: int) -> str:
    """The arguments of a tool call with so many fields, for documents of any tiny size."""
    chance = random.Random(5)
    kinds: tuple[Callable[[], Any], ...] = (
        lambda: chance.choice(_WORDS),
        lambda: chance.randint(0, 999),
        lambda: prose(chance, 3),
        lambda: chance.random() < 0.5,
    )
    return json.dumps({f"{chance.choice(_WORDS)}_{n}": kinds[n % 4]() for n in range(fields)})


def beside(count: int) -> str:
    """A string that grows at the end of an array of so many finished elements."""
    return json.dumps([*range(count), "x" * 4_000])


def below(depth: int) -> str:
    """A string that grows under so many open objects."""
    return '{"a": ' * depth + json.dumps("x" * 4_000) + "}" * depth
