"""Correctness beside speed: what a contestant shows for every prefix of a valid text.

raised       an error, though the text so far is fine
retracted    a value that was there before this character is gone
invented     something that the final value does not have: a key, an element, a text, a literal
false number a number that is not the final one

Each prefix counts at most once in each column. Retraction is judged against the prefix before.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from .contestants import NOTHING, Contestant, Reparser

TEXTS: Final = (
    '{"city": "Genève", "population": 203951, "area": 15.93, "river": true, "twin": null}',
    '{"rows": [[1, -20, 3.25e2], [0.5, -0.0], []], "empty": {}, "done": false, "total": 1e3}',
    r'{"quote": "she said \"now\", then\tleft\n", "path": "C:\\temp\\new", "slash": "a\/b"}',
    r'["\u6cb3\u8fb9", "\ud83d\ude00 tail", "plain 😀", "\u00e9t\u00e9", "\\u0041"]',
    '[{"name": "a.b", "n": 9007199254740993}, {"name": "", "": [[["deep"]]]}, "nullish", "true"]',
    '{\n  "steps": [\n    {"id": 1, "note": "one, then"},\n    {"id": 12, "note": "}]"}\n  ]\n}\n',
    '"one text at the root, with a {brace} and 12 numbers"',
    "[30.34, 300, -7, 120.5, 4]",
)

# What json.loads takes, odd as it is.
GOOD: Final = (
    r'["\ud83d alone"]',
    "[123456789012345678901234567890]",
    '{"a": 1, "a": 2}',
    "[1E400]",
)
# Not JSON, whatever comes after them: accepting one silently hides a broken stream.
BAD: Final = ("[1 2]", '{"a": 1} x', '{"a": [1}', '{"a": 1 "b": 2}', "[1,, 2]", '{"a" 1}')


def judge(contestant: Contestant) -> dict[str, Any]:
    """The counts over all texts, which bad ones were accepted, which odd ones refused."""
    counts: Counter[str] = Counter()
    for text in TEXTS:
        final = json.loads(text)
        shown: Any = NOTHING
        for value in _values(contestant, text):
            counts["prefixes"] += 1
            if isinstance(value, Exception):
                counts["raised"] += 1
                continue
            wrong = {fault for fault in faults(value, final) if value is not NOTHING}
            counts.update(wrong)
            counts["retracted"] += not still_there(shown, value)
            shown = value
        counts["wrong at the end"] += not same(shown, final)
    names = ("prefixes", "raised", "retracted", "invented", "false number", "wrong at the end")
    accepted = [text for text in BAD if _accepts(contestant, text)]
    refused = [text for text in GOOD if not _accepts(contestant, text)]
    shown_at_once = _share_of_open_text(contestant)
    return {
        **{name: counts[name] for name in names},
        "open": shown_at_once,
        "accepted": accepted,
        "refused": refused,
    }


def _values(contestant: Contestant, text: str) -> Iterator[Any]:
    """A copy of what is shown after each character, or the exception."""
    if isinstance(contestant, Reparser):
        for end in range(1, len(text) + 1):
            try:
                yield contestant.parse(text[:end])
            except Exception as error:
                yield error
        return
    seen = 0
    try:
        for value in contestant.steps(list(text)):
            seen += 1
            yield copy.deepcopy(value)
    except Exception as error:
        yield from [error] * (len(text) - seen)


def faults(value: Any, final: Any) -> Iterator[str]:
    """What in `value` cannot become `final` by growing."""
    if isinstance(value, dict) and isinstance(final, dict):
        for key, inner in value.items():
            if key in final:
                yield from faults(inner, final[key])
            else:
                yield "invented"
    elif isinstance(value, list) and isinstance(final, list):
        if len(value) > len(final):
            yield "invented"
        for inner, whole in zip(value, final, strict=False):
            yield from faults(inner, whole)
    elif isinstance(value, str) and isinstance(final, str):
        if not final.startswith(value):
            yield "invented"
    elif _is_number(value) and _is_number(final):
        if value != final:
            yield "false number"
    elif value is not final:
        yield "invented"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def still_there(before: Any, now: Any) -> bool:
    """Is every place that had a value before still a place with one?"""
    if before is NOTHING:
        return True
    if isinstance(before, dict):
        return isinstance(now, dict) and all(
            key in now and still_there(inner, now[key]) for key, inner in before.items()
        )
    if isinstance(before, list):
        return (
            isinstance(now, list)
            and len(before) <= len(now)
            and all(still_there(*pair) for pair in zip(before, now, strict=False))
        )
    return now is not NOTHING


def same(value: Any, final: Any) -> bool:
    """Equal, and of the same types: 1 is not 1.0, an exact integer not its nearest double."""
    return type(value) is type(final) and (
        (
            value.keys() == final.keys() and all(same(value[key], final[key]) for key in final)
            if isinstance(final, dict)
            else len(value) == len(final) and all(map(same, value, final))
        )
        if isinstance(final, (dict, list))
        else value == final
    )


def _accepts(contestant: Contestant, text: str) -> bool:
    try:
        value = contestant.whole(text)
    except Exception:
        return False
    return value is not NOTHING


def _share_of_open_text(contestant: Contestant) -> float:
    """Of the characters of a string, how many are shown when they arrive?"""
    text = "some text that goes on for a while before its quote comes"
    shown = 0
    for count, value in enumerate(_values(contestant, json.dumps({"a": text})), start=-6):
        if 0 < count <= len(text):
            shown += isinstance(value, dict) and value.get("a") == text[:count]
    return shown / len(text)
