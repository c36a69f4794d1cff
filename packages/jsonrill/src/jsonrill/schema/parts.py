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
Verdict = tuple[Refusal | None, Any]

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
    return _below(node, step, by_shape, {})


def _below(node: Node, step: Step, by_shape: bool, known: dict[Node, Node | None]) -> Node | None:
    """`known` has what is below each node seen so far: shared nodes are visited once."""
    if node in known:
        return known[node]
    known[node] = None  # what a node that leads back to itself says
    is_index = isinstance(step, int) or step is ANY_INDEX
    inner: list[Node | None] = []
    for part in node.parts:
        rules = part.elements if is_index else part.members
        alternatives = rules.children(step) if rules is not None else None
        if alternatives:
            inner.append(_either([_both(list(nodes)) for nodes in alternatives]))
        if by_shape and part.shape is not None:
            inner.append(_below(part.shape, step, by_shape, known))
        inner += [_below_choice(choice, step, by_shape, known) for choice in part.choices]
    known_parts = [one for one in inner if one is not None]
    known[node] = _both(known_parts) if known_parts else None
    return known[node]


def _below_choice(
    choice: Choice, step: Step, by_shape: bool, known: dict[Node, Node | None]
) -> Node | None:
    kind = ARRAY if isinstance(step, int) or step is ANY_INDEX else OBJECT
    fits = [node for node in choice.nodes if may_be(node, kind)]
    inner = [_below(node, step, by_shape, known) for node in fits]
    told = [node for node in inner if node is not None]
    return _either(told) if told and len(told) == len(inner) else None


def _both(nodes: list[Node]) -> Node:
    nodes = list(dict.fromkeys(nodes))
    if len(nodes) == 1:
        return nodes[0]
    joined = Node(full_validator=_joined(nodes, all_of_them=True))
    joined.all = nodes
    return joined


def _either(nodes: list[Node]) -> Node:
    nodes = list(dict.fromkeys(nodes))
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


def prefix_length(node: Node) -> int:
    """The number of elements of an array for which there may be rules of their own."""
    todo, seen, longest = [node], {node}, 0
    while todo:
        for part in todo.pop().parts:
            if part.elements is not None:
                longest = max(longest, len(part.elements.prefix))
            inner = [one for choice in part.choices for one in choice.nodes]
            inner += [part.shape] if part.shape is not None else []
            todo += [one for one in inner if one not in seen]
            seen.update(inner)
    return longest


def is_plain_list(node: Node) -> bool:
    """True if an array is valid here if it is as long as it must be and each element is valid."""
    for part in node.parts:
        rules = part.elements
        if part.choices or not part.is_described or not part.sure & ARRAY or rules is None:
            return False
        each = rules.prefix if rules.rest is None else [*rules.prefix, rules.rest]
        if not all(one.full_validator and one.full_validator.is_usable() for one in each):
            return False
    return bool(node.parts)


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
        self._usable: bool | None = None

    def final(self, value: Any, budget: Any = None) -> tuple[Refusal | None, Any]:
        return self._final(value, budget, {})

    def _final(self, value: Any, budget: Any, known: dict[Validator, Verdict]) -> Verdict:
        """Each validator is asked once, however often it occurs in others that are joined."""
        verdict: Verdict = None, None
        for validator in self._validators:
            if validator not in known:
                if isinstance(validator, Joined):
                    known[validator] = validator._final(value, budget, known)
                else:
                    known[validator] = validator.final(value, budget)
            verdict = known[validator]
            if (verdict[0] is None) is not self._all:
                break
        return verdict

    def refusal(self, value: Any, budget: Any = None) -> Refusal | None:
        return self.final(value, budget)[0]

    def sample(self, kind: int) -> Refusal | None:
        return None

    def is_usable(self) -> bool:
        if self._usable is None:
            self._usable = all(validator.is_usable() for validator in self._validators)
        return self._usable
