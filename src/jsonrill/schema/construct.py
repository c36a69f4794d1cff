"""What is known of a value → instances of a pydantic type's classes, unvalidated.

Fields that have not come are missing, or have their default; texts that are not complete are texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .nodes import Node, Refusal, kind_of, may_be


@dataclass(slots=True, eq=False)
class Made:
    """Makes instances of a class from values; those of a root model have the value in `root`."""

    cls: Any
    inner: Node
    root: bool

    def instance(self, value: Any) -> Any:
        if self.root:
            return self.cls.model_construct(root=construct(self.inner, value))
        if not isinstance(value, dict):
            return value
        known = construct(self.inner, value)
        if hasattr(self.cls, "model_construct"):
            return self._model(known, value)
        made = object.__new__(self.cls)
        for name, item in known.items():
            object.__setattr__(made, name, item)
        return made

    def _model(self, known: dict[str, Any], value: dict[str, Any]) -> Any:
        made = self.cls.model_construct(set(known), **known)
        made.__dict__.update(known)  # a name may be the alias of another field
        if made.__pydantic_extra__ is not None and isinstance(self.inner.maker, dict):
            extra = {key: item for key, item in value.items() if key not in self.inner.maker}
            made.__pydantic_extra__.update(extra)
        return made


@dataclass(slots=True, eq=False)
class Tagged:
    """Makes instances of a tagged union: the value of `key` says of which alternative."""

    key: str
    nodes: dict[Any, Node]

    def instance(self, value: Any) -> Any:
        tag = value.get(self.key) if isinstance(value, dict) else None
        node = self.nodes.get(tag) if isinstance(tag, (str, int)) else None
        return value if node is None else construct(node, value)


def construct(node: Node, value: Any) -> Any:
    """The value so far as instances of its classes; fields that have not come are missing."""
    if isinstance(node.maker, (Made, Tagged)):
        return node.maker.instance(value)
    if node.shape is not None:
        return construct(node.shape, value)
    if isinstance(value, dict) and node.members is not None:
        return _fields(node, value) if node.maker is not None else _members(node, value)
    if isinstance(value, list) and node.elements is not None:
        find = node.elements.find
        return [_item(find(index), item) for index, item in enumerate(value)]
    for inner in (*node.all, *_candidates(node, value)):
        made = construct(inner, value)
        if made is not value:
            return made
    return value


def _candidates(node: Node, value: Any) -> Iterator[Node]:
    """The one alternative that a value of this kind can be, if there is but one."""
    for choice in node.choices:
        fits = [one for one in choice.nodes if may_be(one, kind_of(value))]
        if len(fits) == 1:
            yield fits[0]


def _fields(node: Node, value: dict[str, Any]) -> dict[str, Any]:
    """Members by the names of their fields; keys that are no fields are left out."""
    return {
        name: construct(inner, item)
        for key, item in value.items()
        for name, inner in node.maker.get(key, ())
    }


def _members(node: Node, value: dict[str, Any]) -> dict[str, Any]:
    assert node.members is not None
    return {key: _item(node.members.find(key), item) for key, item in value.items()}


def _item(nodes: Refusal | tuple[Node, ...], value: Any) -> Any:
    return value if isinstance(nodes, Refusal) or not nodes else construct(nodes[0], value)
