"""A schema as a guide for near-JSON: what it asks for at a path, where a text has two readings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from ..parse.expected import Alike, Expected, Guide
from ..paths import Path
from .nodes import ARRAY, BOOLEAN, EVERY, FRACTION, INTEGER, NULL, OBJECT, STRING, Node
from .parts import below, natural, prefix_length

_TYPES: Final = {
    STRING: "string",
    INTEGER: "integer",
    FRACTION: "number",
    BOOLEAN: "boolean",
    NULL: "null",
    OBJECT: "object",
    ARRAY: "array",
}
# The number of steps that are remembered, and of parts that are looked at.
_MANY: Final = 1000
_FEW_PARTS: Final = 16


T = TypeVar("T")


def guide_of(root: Node) -> Guide:
    """A function that returns what the schema asks for at a path; None if nothing."""
    strings: dict[Node, Alike] = {}
    return by_path(root, lambda node: _expected(node, strings))


def by_path(root: Node, say: Callable[[Node | None], T]) -> Callable[[Path], T]:
    """A function that returns what is to be said of the node at a path.

    Each step from a node is worked out once, and elements after those with rules of their own are
    one step, so that a path costs its length, however many alternatives there are.
    """
    nodes: dict[tuple[Node, str | int], Node | None] = {}
    lengths: dict[Node, int] = {}
    known: dict[Node | None, T] = {}

    def step_from(node: Node, step: str | int) -> Node | None:
        if isinstance(step, int):
            if node not in lengths:
                lengths[node] = prefix_length(node)
            step = min(step, lengths[node])
        if (node, step) not in nodes:
            nodes[node, step] = below(node, step, by_shape=True)
        return nodes[node, step]

    def at(path: Path) -> T:
        if len(nodes) > _MANY:
            for one in (nodes, lengths, known):
                one.clear()
        node: Node | None = root
        for step in path:
            node = step_from(node, step) if node is not None else None
        if node not in known:
            known[node] = say(node)
        return known[node]

    return at


def _expected(node: Node | None, known: dict[Node, Alike]) -> Expected | None:
    kinds = natural(node) if node is not None else EVERY
    if node is None or kinds == EVERY:
        return None
    types = frozenset(name for kind, name in _TYPES.items() if kinds & kind)
    return Expected(types, _strings(node, known) if kinds & STRING else {}, _keys(node))


def _all_parts(node: Node) -> list[Node]:
    parts = list(node.parts)
    for part in parts:
        if part.shape is not None and len(parts) < _FEW_PARTS:
            parts += part.shape.parts
    return parts


def _strings(node: Node, known: dict[Node, Alike]) -> Alike:
    """The only strings that are allowed, if they are listed; read once for each node."""
    for part in _all_parts(node):
        if part.texts:
            if part not in known:
                known[part] = {}
                for text in part.texts:
                    known[part].setdefault(text.casefold(), []).append(text)
            return known[part]
    return {}


def _keys(node: Node) -> frozenset[str]:
    """The keys that are described; none if there may be others in place of them."""
    members = [part.members for part in _all_parts(node) if part.members is not None]
    if any(part.choices for part in _all_parts(node)) or any(one.patterns for one in members):
        return frozenset()
    return frozenset(key for one in members for key in one.properties)
