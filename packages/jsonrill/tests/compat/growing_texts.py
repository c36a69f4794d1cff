"""Texts that grow, valid and not, and what two parsers make of each beginning of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

KEYS = ("a", "b", "é", "k\n", "", "item", "key😀", "back\\slash")
LEAVES: tuple[Any, ...] = (
    *(True, False, None, 0, 1, -12, 3.5, -0.25, 1e22, 1e-7, 12345678901234567890123),
    *("", "x", "hello world, and: more", 'é😀\n\t"\\/', "long " * 20, "😀", "\u2028 end\x7f"),
    *("a\\\\b\\", "it's {not} [a] list", 'say "hi", then', "null", "12", " lead", "trail "),
    *("line\n", "form\x0cfeed", "and/or"),
)
# What is put into a text to make it wrong, or odd.
NOISE = tuple('x , " { } ] [ \\ \\ud83d 1 - . e NaN \x01 tr \\u00 Infinity "a":1,'.split(" ")) + (
    *(" ", "\n"),
)


def value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.random()
    if depth < 4 and kind < 0.25:
        keys = (
            chance.choice(KEYS) + str(chance.randint(0, 3)) for _ in range(chance.randint(0, 4))
        )
        return {key: value(chance, depth + 1) for key in keys}
    if depth < 4 and kind < 0.45:
        return [value(chance, depth + 1) for _ in range(chance.randint(0, 4))]
    return chance.choice(LEAVES)


def text(chance: random.Random, noise: float = 0.25) -> str:
    indent = chance.choice([None, 2])
    written = json.dumps(value(chance), ensure_ascii=chance.random() < 0.5, indent=indent)
    if chance.random() < 0.25:
        # Valid, too, and not as most programs write it.
        for usual, other in (("{}", "{ }"), ("[]", "[\n]"), (",", " ,"), ("/", "\\/")):
            written = written.replace(usual, other)
        written = chance.choice(" \n") + written
    if chance.random() < noise:
        at = chance.randrange(len(written) + 1)
        written = written[:at] + chance.choice(NOISE) + written[at + chance.randint(0, 2) :]
    return written


def beginnings(chance: random.Random, whole: str) -> Iterator[str]:
    """The text as it grows, in steps of a token or so."""
    end = 0
    while end < len(whole):
        end = min(len(whole), end + chance.choice([1, 1, 2, 3, 7, 30]))
        yield whole[:end]


def outcome(parse: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """The value, or the error with its message; types and the order of keys count."""
    try:
        return ascii(parse(*arguments, **options))
    except Exception as error:
        return f"{type(error).__name__}: {ascii(str(error))}"
