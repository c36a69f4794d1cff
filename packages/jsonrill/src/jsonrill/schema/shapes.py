"""What the values at a node of a pydantic type become: the shape that `coreschema` reads.

A shape says how a value is converted once it is complete, and what is shown of it before that. It
decides nothing about validity: the nodes and pydantic do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from .nodes import ARRAY, NULL, OBJECT, Node, may_be
from .partials import partial_dataclass, partial_model

# Roles: what to do with a value here.
SCALAR: Final = "scalar"  # complete, or a string that grows
WITHIN: Final = "within"  # as the node inside
CHOICE: Final = "choice"  # as one of several nodes
FUNCTION: Final = "function"  # a function of the user's around the node inside
CLASS: Final = "class"  # an instance of a class, made of the fields inside
ROOT: Final = "root"  # a root model around the node inside
FIELDS: Final = "fields"  # named fields
ITEMS: Final = "items"  # elements
VALUES: Final = "values"  # members of a dict

_CONTENT: Final = {FIELDS: OBJECT, VALUES: OBJECT, ITEMS: ARRAY}


class FieldShape:
    """One field of a class: its name, where it is, and its default as pydantic makes it."""

    __slots__ = ("default", "name", "node", "required")

    def __init__(
        self, name: str, node: Node, default: Callable[[], Any] | None, required: bool
    ) -> None:
        self.name = name
        self.node = node
        self.default = default
        self.required = required


class TypeShape:
    """The shape of one node. Filled by the compiler, then only read."""

    __slots__ = ("_alone", "_contents", "_prefilled", "as_is", "before", "cls", "collect", "deep",
                 "extra", "fields", "functions", "grows", "in_order", "inner", "is_plain", "keys",
                 "make_alone", "make_prefilled", "names", "nodes", "role", "tag", "tags",
                 "zero")  # fmt: skip

    def __init__(self) -> None:
        self.role = SCALAR
        self.inner: Node | None = None
        # The kinds of which a complete value is already what pydantic makes of it; and whether
        # that is true of each beginning of a string, too.
        self.as_is = 0
        self.grows = False
        # Of a choice: its nodes; whether the first that fits is taken; and, if a member tells which
        # it is, that key and the node of each tag.
        self.nodes: tuple[Node, ...] = ()
        self.in_order = False
        self.tag: str | None = None
        self.tags: dict[Any, Node] = {}
        # Of a function: whether it is called before the type is looked at.
        self.before = False
        # Of a class: itself, and whether an instance is nothing but its fields, each converted.
        self.cls: Any = None
        self.is_plain = False
        # Of fields: all of them in order; for each key the names it stands for, each with its
        # node and its rank among the keys of that field; keys into whose values a field's path
        # leads; whether other keys are kept.
        self.fields: list[FieldShape] = []
        self.names: dict[str, list[tuple[str, Node, int]]] = {}
        self.deep: set[str] = set()
        self.extra = False
        # Of a dict: what makes a key, if keys are not texts. Of elements: what makes a collection
        # of a list, if it is shown before it is complete.
        self.keys: Callable[[str], Any] | None = None
        self.collect: Callable[[list[Any]], Any] | None = None
        # Makes the zero value of the type; None: what is inside tells.
        self.zero: Callable[[], Any] | None = None
        # Returns whether a function of the user's is called somewhere in it.
        self.functions: Callable[[], bool] = bool
        # Makes the validator that takes complete parts as they are.
        self.make_prefilled: Callable[[], Any] | None = None
        self._prefilled: Any = None
        # Makes the validator of the fields up to this one, if it looks at those before it.
        self.make_alone: Callable[[str], Any] | None = None
        self._alone: dict[str, Any] = {}
        self._contents: dict[int, list[tuple[Node, bool]]] = {}

    @property
    def prefilled(self) -> Any:
        """The validator that takes complete parts as they are; None if it needs them as sent."""
        if self.make_prefilled is not None:
            self._prefilled, self.make_prefilled = self.make_prefilled(), None
        return self._prefilled

    def alone(self, name: str) -> Any:
        """The prefilled validator of the fields up to this one; None if there is none."""
        if name not in self._alone:
            self._alone[name] = None if self.make_alone is None else self.make_alone(name)
        return self._alone[name]


def contents(node: Node, kind: int) -> list[tuple[Node, bool]]:
    """The nodes that describe what is inside a container at this node.

    Each with whether a function of the user's may change the container before.
    """
    shape = node.maker
    if shape is None:
        return []
    inner: list[tuple[Node, bool]] | None = shape._contents.get(kind)
    if inner is None:
        shape._contents[kind] = []  # what a node that leads back to itself says
        inner = shape._contents[kind] = list(_contents(node, shape, kind))
    return inner


def _contents(node: Node, shape: TypeShape, kind: int) -> Iterator[tuple[Node, bool]]:
    if _CONTENT.get(shape.role) == kind:
        yield node, False
    elif shape.role == CHOICE:
        for one in shape.nodes:
            if may_be(one, kind):
                yield from contents(one, kind)
    elif shape.inner is not None:
        for inside, before in contents(shape.inner, kind):
            yield inside, before or shape.before


def zero(node: Node, around: tuple[Any, ...] = ()) -> Any:
    """The zero value of a type: `""`, `0`, `[]`, a partial model; None where there is none.

    `around` are the classes that it is inside of: one that contains itself ends there.
    """
    shape: TypeShape | None = node.maker
    if shape is None or shape.zero is not None:
        return None if shape is None or shape.zero is None else shape.zero()
    if shape.role == FIELDS:
        return {it.name: zero(it.node, around) for it in shape.fields if it.required}
    if shape.role == CHOICE:
        # One of several types is not known yet, unless they have one zero.
        zeros = [None if one.kinds == NULL else zero(one, around) for one in shape.nodes]
        is_one = all(it is not None and it == zeros[0] for it in zeros)
        return zeros[0] if is_one and not any(map(_is_instance, zeros)) else None
    if shape.cls is not None:
        return None if shape.cls in around else _instance(shape, (*around, shape.cls))
    return None if shape.inner is None else zero(shape.inner, around)


def _is_instance(value: Any) -> bool:
    return getattr(type(value), "__partial_of__", None) is not None


def _instance(shape: TypeShape, around: tuple[Any, ...]) -> Any:
    """The partial instance of a class of which nothing has arrived."""
    assert shape.inner is not None
    if shape.role == ROOT:
        return partial_model(shape.cls, {"root": zero(shape.inner, around)}, set())
    inside = contents(shape.inner, OBJECT)
    if len(inside) != 1:
        return None
    values = missing(inside[0][0].maker, around)
    if hasattr(shape.cls, "model_construct"):
        return partial_model(shape.cls, values, set())
    return partial_dataclass(shape.cls, values)


def missing(shape: TypeShape, around: tuple[Any, ...] | None) -> dict[str, Any]:
    """The fields before they have come: their defaults, else None, or with `around` zeros."""
    return {field.name: _before(field, around) for field in shape.fields}


def _before(field: FieldShape, around: tuple[Any, ...] | None) -> Any:
    try:
        if field.default is not None:
            return field.default()
    except Exception:  # a default that cannot be made
        pass
    return None if around is None else zero(field.node, around)
