"""Fragments on the wire, lost, doubled, shuffled or spoiled: a value, or FragmentError.

`python -m fuzz wire --seconds 600`. Items in the full and in the compact form go through
`WireReader`, `from_wire` and `Rebuilder`. A fragment that is refused changes nothing.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, Final

from fuzz.seeds import JSON_WORDS, cut, json_texts, mutated, value
from jsonrill import FragmentError, InvalidJSON, LimitExceeded, Parser, Rebuilder
from jsonrill.jsontext import dumps
from jsonrill.wire import CompactEncoder, WireReader, from_wire, to_wire

TARGET: Final = "fragments, spoiled or not: the value, or FragmentError and nothing changed"
BYTES: Final = False
WORDS: Final = JSON_WORDS
SCALARS: Final = (None, True, 0, 1, -1, 7, 12, 2**70, 1.5, "", "x", "root", "root.a", "root[0]")


def seeds() -> tuple[str, ...]:
    """Lines of items, as they come over the wire."""
    lines = []
    for text in json_texts():
        fragments = _fragments([text[at : at + 5] for at in range(0, len(text), 5)])
        lines.append(dumps([to_wire(one) for one in fragments]))
        lines.append(dumps(CompactEncoder().feed(fragments)))
    return tuple(lines)


def _fragments(pieces: list[str]) -> list[Any]:
    parser, fragments = Parser(), []
    try:
        for piece in pieces:
            fragments += parser.feed(piece)
        fragments += parser.flush()
    except (InvalidJSON, LimitExceeded) as error:
        fragments += error.fragments
    return fragments


def check(text: str, random: Random) -> None:
    """One list of items, as JSON text; anything else is not for this target."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(items, list):
        spoiled(items, random)


def spoiled(items: list[Any], random: Random) -> None:
    """Read items of which any may be wrong."""
    for dialect in ("jsonrill", "juf"):
        reader, rebuilder = WireReader(dialect), Rebuilder(dialect=dialect)  # type: ignore[arg-type]
        for item in items:
            before = repr(rebuilder.value), rebuilder.open_path, rebuilder.complete
            refused = False
            try:
                reader.read(item)
            except FragmentError:
                refused = True
            try:
                rebuilder.feed([item])
                assert not refused, "the reader refused what the rebuilder took"
            except FragmentError:
                assert refused, "the rebuilder refused what the reader took"
                after = repr(rebuilder.value), rebuilder.open_path, rebuilder.complete
                assert after == before, "a refused fragment changed the value"
        assert reader.complete == rebuilder.complete
        for item in items:
            try:
                from_wire(item)
            except FragmentError:
                pass


def run(random: Random) -> None:
    """One execution."""
    text = mutated(random, random.choice(json_texts()), WORDS, json_texts())
    fragments = _fragments(cut(random, text))
    if random.random() < 0.5:
        items: list[Any] = [to_wire(one) for one in fragments]
    else:
        items = CompactEncoder().feed(fragments)
    items = json.loads(dumps(items))
    for _ in range(random.randrange(4)):
        _spoil(items, random)
    try:
        spoiled(items, random)
    except Exception as error:
        error.add_note(f"the items were {items!r}")
        raise


def _spoil(items: list[Any], random: Random) -> None:
    at = random.randint(0, len(items))
    match random.randrange(6):
        case 0:
            items[at : at + 1] = []
        case 1:
            items[at:at] = items[max(0, at - 1) : at]
        case 2:
            items[at:at] = [random.choice([*SCALARS, [], {}, [7], [4, None], value(random)])]
        case 3 if len(items) > 1:
            other = random.randrange(len(items))
            at = min(at, len(items) - 1)
            items[at], items[other] = items[other], items[at]
        case 4 if at < len(items) and isinstance(items[at], dict):
            key = random.choice(["path", "kind", "textValue", "value", *items[at]])
            items[at] = {**items[at], key: random.choice([*SCALARS, value(random)])}
        case 5 if at < len(items) and isinstance(items[at], list) and items[at]:
            place = random.randrange(len(items[at]))
            items[at] = [*items[at]]
            items[at][place] = random.choice([*SCALARS, value(random)])
