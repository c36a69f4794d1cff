"""Valid documents with one token dropped, doubled or swapped with the next one.

What comes of a mutated text is `original` (read as the document was), `refused`, or wrong. Some
mutations leave nothing to be told by, and are counted on their own:

still JSON      the text is a valid document, another one
cut off         it is a beginning of the document, and read as one
last of a list  the last element of a list is gone, or has become digits of the one before it: a
                comma before the bracket is read as one too many, as everywhere
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from time import monotonic
from typing import Any

from jsonrill import Document, InvalidJSON

KINDS = ("drop", "double", "swap")
MARKS = '{}[],:"'
CONTENT = [
    *("a", "name", "it is late", "x, y", "see [1]", "5 apples", "{k}", "So: no", "é", "a.b", ""),
    *("half (1/2)", 0, 1, 12, -3, 0.5, 1e10, 2024, True, False, None),
]
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[][{},:]|\s+')


def document(random: Random, depth: int = 0) -> Any:
    """A value; the outermost is a container that is not empty."""
    kind = random.random()
    if depth < 4 and (kind < 0.5 or not depth):
        size = random.randrange(not depth, 4)
        if kind < 0.3:
            keys = random.sample(["a", "b", "c", "key", "name", "items"], size)
            return {key: document(random, depth + 1) for key in keys}
        return [document(random, depth + 1) for _ in range(size)]
    return random.choice(CONTENT)


def tokens(text: str, split_strings: bool) -> list[str]:
    """The tokens of a document; each quote is one if strings are split."""
    found: list[str] = []
    for token in _TOKEN.findall(text):
        is_split = split_strings and token[0] == '"'
        found += [part for part in ('"', token[1:-1], '"') if part] if is_split else [token]
    return found


def mutated(random: Random, parts: list[str], kind: str) -> str:
    """The text with one token dropped, doubled, or swapped with the next."""
    places = [at for at, part in enumerate(parts) if not part.isspace()]
    number = random.randrange(len(places) - (kind == "swap"))
    parts, at = [*parts], places[number]
    if kind == "drop":
        del parts[at]
    elif kind == "double":
        parts.insert(at, parts[at])
    else:
        other = places[number + 1]
        parts[at], parts[other] = parts[other], parts[at]
    return "".join(parts)


def outcome(value: Any, text: str, wrong: str) -> str:
    """What became of the document `value`, written as `text`, in its mutated form."""
    try:
        json.loads(wrong)
        return "still JSON"
    except ValueError:
        pass
    reader = Document(repair=True)
    try:
        reader.feed(wrong)
        reader.flush()
    except InvalidJSON:
        return "refused"
    if json.dumps(reader.value) == json.dumps(value):
        return "original"
    if text.startswith(wrong):
        return "cut off"
    return "last of a list" if re.search(r",\s*\]", wrong) else "another value"


def cases(random: Random, kind: str) -> Iterator[tuple[Any, str, str]]:
    """Documents, as text and mutated, for ever."""
    while True:
        value = document(random)
        style: dict[str, Any] = random.choice([{}, {"indent": 2}, {"separators": (",", ":")}])
        text = json.dumps(value, ensure_ascii=False, **style)
        yield value, text, mutated(random, tokens(text, random.random() < 0.5), kind)


def run(
    kind: str, *, seed: int, texts: int | None = None, seconds: float | None = None
) -> tuple[Counter[str], list[tuple[str, str]]]:
    """How often each outcome was, and the texts that were read as another value."""
    counts: Counter[str] = Counter()
    wrong: list[tuple[str, str]] = []
    end = None if seconds is None else monotonic() + seconds
    for number, (value, text, broken) in enumerate(cases(Random(seed), kind)):
        if number == texts or (end is not None and monotonic() > end):
            break
        found = outcome(value, text, broken)
        counts[found] += 1
        if found == "another value":
            wrong.append((text, broken))
    return counts, wrong
