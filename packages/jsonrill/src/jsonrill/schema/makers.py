"""What makes an open container of a pydantic type, once what is open in it has been made.

A maker is built when the complete parts of its container change, and used for every look until they
change again: it copies those parts and adds what is open, by the node that describes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..paths import ABSENT
from .nodes import Node
from .partials import model_maker, partial_dataclass, partial_model


class Maker:
    """Makes one open container as one node describes it."""

    __slots__ = ()

    def make(self, inner: dict[Node, Any]) -> Any:
        """The container; `inner` is what is open in it, for each node that describes that."""


class ModelMaker(Maker):
    """Makes a partial instance of a model."""

    __slots__ = ("_base", "_extra", "_keeps_extra", "_make", "_names", "_open", "_step")

    def __init__(
        self,
        cls: Any,
        base: dict[str, Any],
        extra: dict[str, Any],
        open_fields: list[tuple[str | None, Node]],
        step: str,
        keeps_extra: bool,
        names: set[str],
    ) -> None:
        self._make: Callable[[Any], Any] = model_maker(cls)
        # All fields, the names of those that have come, and what is no field.
        self._base = base
        self._names = names
        self._extra = extra
        # The fields that are open, each with its node; None: the open value is no field.
        self._open = open_fields
        self._step = step
        self._keeps_extra = keeps_extra

    def make(self, inner: dict[Node, Any]) -> Any:
        fields, names = self._base.copy(), self._names.copy()
        extra = self._extra.copy() if self._keeps_extra else None
        for name, node in self._open:
            value = inner.get(node, ABSENT)
            if value is not ABSENT:
                if name is not None:
                    names.add(name)
                    fields[name] = value
                else:
                    names.add(self._step)
                    if extra is not None:
                        extra[self._step] = value
        return self._make((fields, extra, names))


class DataclassMaker(Maker):
    """Makes a partial instance of a dataclass."""

    __slots__ = ("_base", "_cls", "_open")

    def __init__(
        self, cls: Any, base: dict[str, Any], open_fields: list[tuple[str | None, Node]]
    ) -> None:
        self._cls = cls
        self._base = base
        self._open = open_fields

    def make(self, inner: dict[Node, Any]) -> Any:
        fields = self._base.copy()
        for name, node in self._open:
            if name is not None and node in inner:
                fields[name] = inner[node]
        return partial_dataclass(self._cls, fields)


class DictMaker(Maker):
    """Makes a dict: complete members, and the open one."""

    __slots__ = ("_base", "_open")

    def __init__(self, base: dict[Any, Any], open_members: list[tuple[Any, Node]]) -> None:
        self._base = base
        self._open = open_members

    def make(self, inner: dict[Node, Any]) -> Any:
        members = self._base.copy()
        for key, node in self._open:
            if node in inner:
                members[key] = inner[node]
        return members


class ItemsMaker(Maker):
    """Makes a list, or what `collect` makes of one: complete elements, and the open one."""

    __slots__ = ("_collect", "_items", "_nodes")

    def __init__(
        self, items: list[Any], nodes: list[Node], collect: Callable[[list[Any]], Any]
    ) -> None:
        self._items = items
        self._nodes = nodes
        self._collect = collect

    def make(self, inner: dict[Node, Any]) -> Any:
        items = self._items[:]
        for node in self._nodes:
            value = inner.get(node, ABSENT)
            if value is not ABSENT:
                items.append(value)
        return items if self._collect is list else self._collect(items)


class RootMaker(Maker):
    """Makes a root model around what another maker makes."""

    __slots__ = ("_around", "_cls")

    def __init__(self, cls: Any, around: Maker) -> None:
        self._cls = cls
        self._around = around

    def make(self, inner: dict[Node, Any]) -> Any:
        return partial_model(self._cls, {"root": self._around.make(inner)}, {"root"})
