"""Near-JSON, however cut: the same value, repairs and error; valid JSON is not touched.

`python -m fuzz repair --seconds 600`. Inputs are what models wrote, from cases, and mutations
of it; with all rules, and with some.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any, Final

from fuzz.seeds import JSON_WORDS, NEAR_JSON_WORDS, cut, json_texts, mutated, near_json_texts
from jsonrill import Document, InvalidJSON, LimitExceeded, Repair, partial
from jsonrill.parse.lenient.rules import RULES

TARGET: Final = "near-JSON, any cutting: one value, nothing retracted, or a documented error"
BYTES: Final = False
WORDS: Final = (*JSON_WORDS, *NEAR_JSON_WORDS)


def seeds() -> tuple[str, ...]:
    return (*near_json_texts(), *json_texts())


def read(pieces: list[Any], **options: Any) -> tuple[str, Any, list[Repair]]:
    """Value and error at the end; on the way nothing that was shown may change."""
    document, before = Document(**options), None
    error, once = None, options.get("duplicates") == "error"
    try:
        for piece in [*pieces, None]:
            document.flush() if piece is None else document.feed(piece)
            # A key that comes twice takes back its first value, unless that is an error.
            if once and before is not None:
                assert extends(document.value, before), f"{before!r} became {document.value!r}"
            before = document.value if document.started else None
    except (InvalidJSON, LimitExceeded) as raised:
        error = (type(raised).__name__, str(raised), raised.offset, raised.line, raised.column)
    return repr(document.value), error, document.repairs


def extends(now: Any, before: Any) -> bool:
    """True if `now` is `before`, with more at its open end."""
    if isinstance(before, str):
        return isinstance(now, str) and now.startswith(before)
    if isinstance(before, dict):
        if not isinstance(now, dict) or list(now)[: len(before)] != list(before):
            return False
        if not before:
            return True
        *closed, last = before
        return all(repr(now[key]) == repr(before[key]) for key in closed) and extends(
            now[last], before[last]
        )
    if isinstance(before, list):
        if not isinstance(now, list) or len(now) < len(before):
            return False
        if not before:
            return True
        return repr(now[: len(before) - 1]) == repr(before[:-1]) and extends(
            now[len(before) - 1], before[-1]
        )
    return repr(now) == repr(before)


def check(text: str, random: Random) -> None:
    """One text."""
    some = tuple(sorted(random.sample(sorted(RULES), random.randint(1, 6))))
    options: dict[str, Any] = {"repair": random.choice([True, True, True, some])}
    if random.random() < 0.5:
        options["duplicates"] = "error"
    if random.random() < 0.2:
        options["prefix"] = random.choice(["{", "[", '{"a":'])
    whole = read([text], **options)
    for _ in range(2):
        pieces = cut(random, text)
        again = read(pieces, **options)
        assert again == whole, f"{options}: {pieces!r} gives {again!r}, at once {whole!r}"
    if "prefix" in options:
        return
    try:
        wanted = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return
    if whole[1] is None:
        assert (whole[0], whole[2]) == (repr(wanted), []), "valid JSON was changed"
        assert repr(partial(text, repair=True)) == repr(wanted)


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def run(random: Random) -> None:
    """One execution."""
    check(mutated(random, random.choice(seeds()), WORDS, seeds()), random)
