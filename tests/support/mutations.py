"""Valid documents with one token dropped, doubled or swapped with the next one, and other slips.

The slips: a backslash that is not escaped, a second value, a citation in prose before the value, a
symbol after a bracket.

What comes of a mutated text is `original` (read as the document was), `refused`, or `another
value`, which must not be. Three leave nothing to be told by, each checked by the value itself:

still JSON      The text is a valid document, another one. No reader can know.
cut off         It is a beginning of the document, and the value is a beginning of its value: what a
                stream that stopped early is read as.
trailing comma  It is a valid document but for commas before a bracket, and read as that document:
                `[1, 2,]` is allowed in most languages, so the comma is read as one too many,
                although a third value may be missing. To refuse it is to refuse the commonest
                mistake of all.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random
from time import monotonic
from typing import Any

from jsonrill import Document, InvalidJSON
from support.documents import is_prefix

KINDS = ("drop", "double", "swap", "backslash", "second", "citation", "symbol")
STRINGS = [
    *("a", "name", "it is late", "x, y", "see [1]", "5 apples", "{k}", "So: no", "é", "a.b", ""),
    *("half (1/2)", 'say "hi" now', '"q"', 'he said "no"', '"yes", she said', "a: b", "a\nb"),
    *("C:\\x", "it's", 'x", "y', '{"a": 1}', "[1, 2]", '5" nail', "<b>", "```", "// no", "# one"),
    *("true", "null", "12", "...", "a,", "a, ", ", b", "(x)", "“c”", "x}", "y]", "{", "[", "\t"),
    *(r"C:\docs\file.txt", r"^\d+\bx$", r"\alpha + \frac{1}{2}", r"one\two three\n", "x\\\ty"),
    *('key": 1', "a=b", "https://example.org/?a=1,2", "2024-05-01", "日本"),
]
SCALARS = [0, 1, 12, -3, 0.5, 1e10, 2024, -0.0, 1e-7, True, False, None]
KEYS = [
    *("a", "b", "c", "key", "name", "items", "two words", "a.b", "1", "é", "it's", "x:y", ""),
    'q"k',
]
BETWEEN = [
    "\n---\n",
    "; ",
    " | ",
    " + ",
    " => ",
    "\n***\n",
    " or ",
    "\nCorrected:\n",
    "\n\nNo, rather ",
    " vs. ",
    " ≠ ",
    " plutôt que ",
    "\n訂正：",
]
CITED = [
    *("As shown.[1]\n", "It lies in [2.17, 2.5] as shown.\n", "See [3], [4]:\n", "Good [1, 2]. "),
    *("Quelle: [3]\n", "Domain: [0, 1].\n", "[2024-05-01] ", "1) ", "Es gilt [1]; "),
]
SYMBOLS = ["-", "•", "*", ";", "=>", "\0", "|", "~", "@", "&", "!", "?", ")", "= ", "+ "]
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[][{},:]|\s+')


def document(random: Random, most: int, depth: int = 0) -> Any:
    """A value, nested at most so deep; the outermost is a container that is not empty."""
    kind = random.random()
    if depth >= most or (depth and kind > 0.5):
        return random.choice(STRINGS if random.random() < 0.6 else SCALARS)
    size = random.randrange(not depth, 5)
    if kind < 0.3:
        return {key: document(random, most, depth + 1) for key in random.sample(KEYS, size)}
    if kind < 0.4 and depth < most - 1:  # objects that are alike
        keys = random.sample(KEYS, random.randrange(1, 4))
        return [{key: document(random, most, depth + 2) for key in keys} for _ in range(size)]
    return [document(random, most, depth + 1) for _ in range(size)]


def tokens(text: str, split_strings: bool) -> list[str]:
    """The tokens of a document; each quote is one if strings are split."""
    sequence: list[str] = []
    for token in _TOKEN.findall(text):
        is_split = split_strings and token[0] == '"'
        sequence += [part for part in ('"', token[1:-1], '"') if part] if is_split else [token]
    return sequence


def mutated(random: Random, parts: list[str], kind: str) -> str:
    """The text with one slip of this kind; as it is if there is no place for it."""
    if kind in ("second", "citation"):
        text = "".join(parts)
        other = json.dumps({"other": document(random, 3)})
        slip = random.choice(BETWEEN if kind == "second" else CITED)
        return text + slip + other if kind == "second" else slip + text
    if kind == "backslash":
        return _replaced(random, "".join(parts), r"\\\\", "\\")
    if kind == "symbol":
        opened = [at for at, part in enumerate(parts) if part in ("{", "[")]
        at = random.choice(opened)
        return "".join((*parts[: at + 1], random.choice(SYMBOLS), *parts[at + 1 :]))
    places = [at for at, part in enumerate(parts) if not part.isspace()]
    number = random.randrange(len(places) - (kind == "swap"))
    parts, at = [*parts], places[number]
    if kind == "drop":
        del parts[at]
    elif kind == "double":
        parts.insert(at, parts[at])
    else:
        after = places[number + 1]
        parts[at], parts[after] = parts[after], parts[at]
    return "".join(parts)


def _replaced(random: Random, text: str, pattern: str, by: str) -> str:
    """The text with one of the places that match a pattern replaced."""
    places = [*re.finditer(pattern, text)]
    if not places:
        return text
    place = random.choice(places)
    return text[: place.start()] + by + text[place.end() :]


def outcome(value: Any, text: str, wrong: str, pieces: Iterable[str]) -> str:
    """What became of the document `value`, written as `text`, in its mutated form, in pieces."""
    try:
        json.loads(wrong)
        return "still JSON"
    except ValueError:
        pass
    reader = Document(repair=True)
    try:
        for piece in pieces:
            reader.feed(piece)
        reader.flush()
    except InvalidJSON:
        return "refused"
    if json.dumps(reader.value) == json.dumps(value):
        return "original"
    if text.startswith(wrong) and is_prefix(reader.value, value):
        return "cut off"
    try:
        without = json.loads(re.sub(r",(\s*\])", r"\1", wrong))
    except ValueError:
        return "another value"
    same = json.dumps(without) == json.dumps(reader.value)
    return "trailing comma" if same else "another value"


def cases(random: Random, kind: str) -> Iterator[tuple[Any, str, str]]:
    """Documents, as text and mutated, for ever."""
    while True:
        value = document(random, random.randrange(2, 6))
        style: dict[str, Any] = random.choice([{}, {"indent": 2}, {"separators": (",", ":")}])
        text = json.dumps(value, ensure_ascii=random.random() < 0.1, **style)
        if kind == "second" and len(text) < 24 and text[0] == "[":
            continue  # a number in brackets is a footnote to what follows
        split = kind != "symbol" and random.random() < 0.5
        yield value, text, mutated(random, tokens(text, split), kind)


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
        read_as = outcome(value, text, broken, [broken])
        if kind == "second" and read_as == "original":  # the first of two is as wrong as any other
            read_as = "another value"
        counts[read_as] += 1
        if read_as == "another value":
            wrong.append((text, broken))
        elif (
            kind != "second" and not number % 16 and outcome(value, text, broken, broken) != read_as
        ):
            counts["otherwise by character"] += 1
            wrong.append((text, broken))
    return counts, wrong
