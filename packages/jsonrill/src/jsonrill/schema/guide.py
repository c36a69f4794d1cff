"""A schema as a guide for near-JSON: what it asks for at a path, where a text has two readings."""

from __future__ import annotations

from typing import Final

from ..parse.expected import Expected, Guide
from ..paths import Path
from .nodes import ARRAY, BOOLEAN, EVERY, FRACTION, INTEGER, NULL, OBJECT, STRING, Node
from .parts import below, natural

_TYPES: Final = {
    STRING: "string",
    INTEGER: "integer",
    FRACTION: "number",
    BOOLEAN: "boolean",
    NULL: "null",
    OBJECT: "object",
    ARRAY: "array",
}
# Indexes from this one on are taken as alike; the number of paths that are remembered.
_ALIKE: Final = 16
_MANY_PATHS: Final = 1000


def guide_of(root: Node) -> Guide:
    """A function that returns what the schema asks for at a path; None if nothing."""
    known: dict[Path, Expected | None] = {}

    def guide(path: Path) -> Expected | None:
        path = tuple([step if isinstance(step, str) else min(step, _ALIKE) for step in path])
        if path not in known:
            if len(known) > _MANY_PATHS:
                known.clear()
            known[path] = _expected(root, path)
        return known[path]

    return guide


def _expected(root: Node, path: Path) -> Expected | None:
    node: Node | None = root
    for step in path:
        node = below(node, step, by_shape=True) if node is not None else None
    kinds = natural(node) if node is not None else EVERY
    if node is None or kinds == EVERY:
        return None
    types = frozenset(name for kind, name in _TYPES.items() if kinds & kind)
    return Expected(types, _strings(node) if kinds & STRING else (), _keys(node))


def _all_parts(node: Node) -> list[Node]:
    parts = list(node.parts)
    for part in parts:
        if part.shape is not None and len(parts) < _ALIKE:
            parts += part.shape.parts
    return parts


def _strings(node: Node) -> tuple[str, ...]:
    """The only strings that are allowed, if they are listed."""
    return next((part.texts for part in _all_parts(node) if part.texts), ())


def _keys(node: Node) -> frozenset[str]:
    """The keys that are described; none if there may be others in place of them."""
    found = [part.members for part in _all_parts(node) if part.members is not None]
    if any(part.choices for part in _all_parts(node)) or any(one.patterns for one in found):
        return frozenset()
    return frozenset(key for one in found for key in one.properties)
