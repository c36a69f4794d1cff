"""What a JSON Schema weighs once it is compiled, in bytes, estimated from its text alone.

A subschema of two characters takes more than a kilobyte, and 20 patterns such as `\\p{L}{200}` in
half a kilobyte of text take 200 megabytes. So a schema is weighed before it is compiled, and what
it was compiled to is kept by weight. Compiling takes about a second for each 50 MB of weight.
"""

from __future__ import annotations

import re
from typing import Any, Final

# An object, an array, true and false may be a subschema: nodes, validators, and their places.
_VALUE: Final = 1200
# Other values belong to one, or are among many of an `enum`.
_NUMBER: Final = 500
_TEXT: Final = 300
# Where a reference leads is looked up and compiled with it.
_REFERENCE: Final = 8000
# Patterns are compiled several times, each with its own memory for matching.
_COPIES: Final = 4
_UNICODE_CLASS: Final = 64_000
_WIDE_CLASS: Final = 4_000
_CHARACTER: Final = 512
_MEMBER: Final = 128
_PIECE: Final = re.compile(
    r"(?P<unicode>\\[pP](?:\{[^}]*\}|.)|\\X)|(?P<wide>\\[DWsSRhHN]|\.)|(?P<class>\[)"
    r"|(?P<open>\()|(?P<close>\))|\{(?P<least>\d+)(?:,(?P<most>\d*))?\}|(?P<more>[*+?])"
    r"|(?P<other>\\[ux]\{[^}]*\}|\\?.)",
    re.DOTALL,
)
# With this flag, white space is allowed between what is repeated and how often.
_SPACED: Final = re.compile(r"\(\?[a-zA-Z]*x")
MORE: Final = 1 << 62


def weight_of(source: Any, limit: int = MORE) -> int:
    """The weight of a schema, or of several in a list; not counted beyond `limit`."""
    total, todo = 0, [source]
    while todo and total <= limit:
        part = todo.pop()
        if isinstance(part, dict):
            todo += part.values()
            total += _VALUE + (_REFERENCE if "$ref" in part or "$dynamicRef" in part else 0)
            for pattern in _patterns(part):
                if total <= limit:
                    total += _COPIES * pattern_weight(pattern, limit)
        elif isinstance(part, list):
            todo += part
            total += _VALUE
        elif isinstance(part, str):
            total += _TEXT + 4 * len(part)
        else:
            total += _VALUE if isinstance(part, bool) else _NUMBER
    return total


def _patterns(schema: dict[str, Any]) -> list[str]:
    one, keys = schema.get("pattern"), schema.get("patternProperties")
    return [*([one] if isinstance(one, str) else []), *(keys if isinstance(keys, dict) else [])]


def pattern_weight(pattern: str, limit: int = MORE) -> int:
    """What a pattern is compiled to: its characters and classes, times their repetitions.

    Of the two ways to read a bracket inside brackets the heavier one counts.
    """
    if len(pattern) * _MEMBER > limit:
        return MORE
    return max(_Groups(pattern, nested).weight for nested in (False, True))


class _Groups:
    """The groups of a pattern that are open: what each weighs, and the last thing in it."""

    def __init__(self, pattern: str, nested: bool) -> None:
        self._sums = [_CHARACTER]
        self._last = [0]
        self._spaced = _SPACED.search(pattern) is not None
        at = 0
        while piece := _PIECE.match(pattern, at):
            at = piece.end()
            kind = piece.lastgroup
            if kind == "class":
                end = _class_end(pattern, at, nested)
                self._add(_class_weight(pattern[at:end]))
                at = end
            elif kind == "open":
                self._add(0)
                self._sums.append(0)
                self._last.append(0)
            elif kind == "close" and len(self._sums) > 1:
                self._last[-1] = self._sums.pop() + self._last.pop()
            elif kind == "more":
                self._repeat(2)
            elif kind in ("least", "most"):
                self._repeat(max(int(piece["least"][:9]), int((piece["most"] or "1")[:9])))
            else:
                weights = {"unicode": _UNICODE_CLASS, "wide": _WIDE_CLASS}
                self._add(weights.get(kind or "", _CHARACTER))
        self.weight = min(sum(self._sums) + sum(self._last), MORE)

    def _add(self, weight: int) -> None:
        self._sums[-1] += self._last[-1]
        self._last[-1] = weight

    def _repeat(self, times: int) -> None:
        if self._spaced:
            self._add(0)
            self._last[-1], self._sums[-1] = self._sums[-1], 0
        self._last[-1] = min(self._last[-1] * max(times, 1), MORE)


def _class_end(pattern: str, at: int, nested: bool) -> int:
    """The place after a class in brackets whose members begin at `at`."""
    depth, first = 1, True
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[" and nested:
            depth += 1
        elif char == "]" and not (nested and first):
            depth -= 1
            if not depth:
                return at + 1
        first = first and char == "^"
        at += 1
    return len(pattern)


def _class_weight(members: str) -> int:
    unicode_classes = members.count("\\p") + members.count("\\P")
    is_wide = members.startswith("^") or "\\" in members or "[" in members
    weight = _WIDE_CLASS if is_wide or not members.isascii() else _CHARACTER
    return weight + unicode_classes * _UNICODE_CLASS + len(members) * _MEMBER
