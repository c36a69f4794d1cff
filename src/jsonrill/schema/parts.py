"""A schema, asked about its parts: what lies one step below, what type a place has.

Nothing here reads a stream. What comes out are nodes again, with the validator of that part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from ..paths import ANY_INDEX, Wildcard
from .nodes import (
    ARRAY,
    BOOLEAN,
    EVERY,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    Choice,
    Node,
    Refusal,
    Validator,
    may_be,
)

Step = str | int | Wildcard

_ZEROS: Final[tuple[tuple[int, Callable[[], Any]], ...]] = (
    (STRING, str),
    (NUMBER, int),
    (BOOLEAN, bool),
    (OBJECT, dict),
    (ARRAY, list),
)


def below(node: Node, step: Step, *, by_shape: bool = False) -> Node | None:
    """The node of what is one step below, with its real validator; None if nothing is known.

    `by_shape` also looks into what a function of the user's may change before it is validated.
    """
    return _below(node, step, by_shape, ())


def _below(node: Node, step: Step, by_shape: bool, chain: tuple[Node, ...]) -> Node | None:
    if node in chain:
        return None
    chain = (*chain, node)
    is_index = isinstance(step, int) or step is ANY_INDEX
    inner: list[Node | None] = []
    for part in node.parts:
        rules = part.elements if is_index else part.members
        alternatives = rules.children(step) if rules is not None else None
        if alternatives:
            inner.append(_either([_both(list(nodes)) for nodes in alternatives]))
        if by_shape and part.shape is not None:
            inner.append(_below(part.shape, step, by_shape, chain))
        inner += [_below_choice(choice, step, by_shape, chain) for choice in part.choices]
    found = [one for one in inner if one is not None]
    return _both(found) if found else None


def _below_choice(
    choice: Choice, step: Step, by_shape: bool, chain: tuple[Node, ...]
) -> Node | None:
    kind = ARRAY if isinstance(step, int) or step is ANY_INDEX else OBJECT
    fits = [node for node in choice.nodes if may_be(node, kind)]
    inner = [_below(node, step, by_shape, chain) for node in fits]
    known = [node for node in inner if node is not None]
    return _either(known) if known and len(known) == len(inner) else None


def _both(nodes: list[Node]) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    joined = Node(full_validator=_joined(nodes, all_of_them=True))
    joined.all = nodes
    return joined


def _either(nodes: list[Node]) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    joined = Node(full_validator=_joined(nodes, all_of_them=False))
    joined.choices = [Choice("anyOf", tuple(nodes))]
    return joined


def _joined(nodes: list[Node], *, all_of_them: bool) -> Joined | None:
    validators = [node.full_validator for node in nodes if node.full_validator is not None]
    return Joined(validators, all_of_them=all_of_them) if len(validators) == len(nodes) else None


def anything() -> Node:
    """A node that asks nothing."""
    return Node(full_validator=Joined((), all_of_them=True))


def natural(node: Node) -> int:
    """The kinds that a value here is written as, as far as the schema tells."""
    return _natural(node, {})


def _natural(node: Node, known: dict[Node, int]) -> int:
    if node in known:
        return known[node]
    known[node] = kinds = EVERY  # what a node that leads back to itself says
    for part in node.parts:
        kinds &= part.natural if part.shape is None else _natural(part.shape, known)
        for choice in part.choices:
            union = 0
            for one in choice.nodes:
                union |= _natural(one, known)
            kinds &= union
    known[node] = kinds
    return kinds


def zero(kinds: int) -> tuple[bool, Any]:
    """The zero value of the one type these kinds are; of a type that may be null, null."""
    if kinds & NULL and kinds != EVERY:
        return True, None
    for type_, make in _ZEROS:
        if kinds and not kinds & ~type_:
            return True, make()
    return False, None


class Joined:
    """Several validators as one: all of them must accept, or else any."""

    def __init__(self, validators: Iterable[Validator], *, all_of_them: bool) -> None:
        self._validators = list(validators)
        self._all = all_of_them

    def final(self, value: Any) -> tuple[Refusal | None, Any]:
        refusal, model = None, None
        for validator in self._validators:
            refusal, model = validator.final(value)
            if (refusal is None) is not self._all:
                break
        return refusal, model

    def refusal(self, value: Any) -> Refusal | None:
        return self.final(value)[0]

    def sample(self, kind: int) -> Refusal | None:
        return None

    def is_usable(self) -> bool:
        return all(validator.is_usable() for validator in self._validators)
