"""What the targets begin with: the texts and events of cases, a dictionary, mutations.

`python -m fuzz --write FOLDER` writes them as files and as a dictionary, in the form that libFuzzer
and its relatives read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

CASES: Final = Path(__file__).resolve().parent.parent / "cases"
JSON_WORDS: Final = (
    *("{", "}", "[", "]", ":", ",", '"', "\\", "\\u", "\\ud83d\\ude00", "\\ud83d", "true", "false"),
    *("null", "-", "0", "1e5", "1.5", "9007199254740993", "{}", "[]", '""', " ", "\n", "\t"),
)
NEAR_JSON_WORDS: Final = (
    *("```json\n", "```", "'", "“", "”", "//", "/*", "*/", "#", "True", "None", "NaN", "undefined"),
    *("Sure: ", "<think>", "</think>", '"""', "`", "(", ")", "...", "…", "+1", ".5", "5.", "1_000"),
    *("\u00a0", "\u200b", "\ufeff", "，", "\\_", "\\'", ",}", ",]", "key: ", "=", ";", "\r\n"),
)
EVENT_WORDS: Final = (
    *("data:", "data: ", "event: ", "id: ", "id:", "retry: 10", ":", "\n", "\r\n", "\r", "\n\n"),
    *("[DONE]", "\ufeff", "\0", "CLOSE", "data", "é", "日本", "\U0001f600", " ", "  "),
)


def cases(name: str) -> list[Any]:
    content = json.loads((CASES / name).read_text("utf8"))
    return content if isinstance(content, list) else content["cases"]


@cache
def json_texts() -> tuple[str, ...]:
    """JSON as the cases of fragments and updates have it."""
    joined = ("".join(case["chunks"]) for case in cases("updates.json") if "chunks" in case)
    values = [case["value"] for case in cases("repair.json") if "value" in case]
    return (
        *joined,
        *map(json.dumps, values),
        '{"a": [1, -0.5e3, null, true], "b": {"c": "\\u00e9"}}',
    )


@cache
def near_json_texts() -> tuple[str, ...]:
    """What models wrote instead of JSON."""
    others = [case["text"] for case in cases("near_json.json") if isinstance(case.get("text"), str)]
    return (*(case["text"] for case in cases("repair.json")), *others)


@cache
def event_texts() -> tuple[bytes, ...]:
    """Event streams."""
    texts = [case["text"].encode() for case in cases("sse.json") if "text" in case]
    lines = [
        f"data: {json.dumps(event)}\n\n" for events in provider_events()[:6] for event in events
    ]
    return (*texts, "".join(lines[:40]).encode())


@cache
def provider_events() -> tuple[list[Any], ...]:
    """The events of each provider, with and without calls."""
    files = sorted((CASES / "providers").glob("*.json"))
    recorded = [json.loads(file.read_text("utf8"))["events"] for file in files]
    answers = [case["events"] for name in ("answers.json", "calls.json") for case in cases(name)]
    return tuple(events for events in (*recorded, *answers) if isinstance(events, list))


def mutated(random: Random, text: str, words: tuple[str, ...], others: tuple[str, ...]) -> str:
    """The text with a few pieces cut out, copied, replaced, or taken from another text."""
    for _ in range(random.choice([0, 1, 1, 2, 3, 6])):
        at = random.randint(0, len(text))
        upto = min(len(text), at + random.choice([0, 1, 1, 2, 5, 40]))
        match random.randrange(7):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + text[upto:]
            case 2:
                text = text[:at] + random.choice(words) + text[upto:]
            case 3:
                text = text[:at] + random.choice(words) + text[at:]
            case 4:
                text = text[:at] + text[at:upto] * random.randint(2, 4) + text[upto:]
            case 5:
                text = text[:at] + chr(random.randrange(0xD800)) + text[upto:]
            case _:
                other = random.choice(others)
                begin = random.randint(0, len(other))
                text = text[:at] + other[begin : begin + 60] + text[upto:]
    return text


def cut(random: Random, text: Any) -> list[Any]:
    """A text or bytes in pieces: of one size, or at random."""
    size = random.choice([1, 1, 2, 3, 7, 64, max(1, len(text))])
    if random.random() < 0.5:
        return [text[at : at + size] for at in range(0, len(text), size)]
    edges = sorted(random.randint(0, len(text)) for _ in range(random.randrange(8)))
    pairs = zip([0, *edges], [*edges, len(text)], strict=True)
    return [text[start:end] for start, end in pairs]


def value(random: Random, depth: int = 0) -> Any:
    """A small JSON value."""
    match random.randrange(8 if depth < 3 else 5):
        case 0:
            return random.choice([None, True, False])
        case 1:
            return random.choice([0, -1, 1, 2, 3, 10, 1.5, -0.0, 2**53 + 1, 1e300])
        case 2 | 3 | 4:
            return random.choice(["", "a", "ab", "abc", "x y", "é", "2024-05-01", "\U0001f600"])
        case 5 | 6:
            keys = random.sample(("a", "b", "c", "d", ""), random.randrange(4))
            return {key: value(random, depth + 1) for key in keys}
        case _:
            return [value(random, depth + 1) for _ in range(random.randrange(4))]


def dictionary(words: tuple[str, ...]) -> Iterator[str]:
    """The lines of a dictionary file."""
    for word in words:
        raw = word.encode("utf-8", "surrogatepass")
        plain = b"".join(
            bytes([byte]) if 32 <= byte < 127 and byte not in b'"\\' else b"\\x%02x" % byte
            for byte in raw
        )
        yield f'"{plain.decode()}"'
