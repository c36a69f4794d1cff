"""Types and schemas: a growing value as instances of a type, and its first violation.

`Schema` is compiled once, from a type that pydantic takes or a JSON Schema, and shared; `check()`
starts the check of one value. `typed.py` and `json_schema.py` turn a schema into nodes, `check.py`
compares a value and its open path with them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from functools import lru_cache
from typing import Any

from ..paths import ABSENT, Path
from .check import ANY, EVERY, UNKNOWN, Check, Node
from .errors import Refused, violation
from .json_schema import JsonSchemas
from .typed import compile_type, is_partial

__all__ = ["Check", "Refused", "Schema", "is_partial"]


class Schema:
    """A pydantic model, a TypeAdapter, any type it takes (`list[T]`), or a JSON Schema.

    With `zeros`, fields of a partial instance that have not come are the zero of their type. An
    invalid schema raises `ValueError`, another object `TypeError`.
    """

    def __init__(self, source: Any, *, zeros: bool = False) -> None:
        if isinstance(source, Schema):
            self.__dict__.update(source.__dict__)
            return
        if isinstance(source, (str, bytes, list)) or hasattr(type(source), "model_dump"):
            wrong = f"an instance of {type(source).__name__}"
            raise TypeError(f"a schema must be a pydantic type or a JSON Schema dict, not {wrong}")
        self.is_typed = not isinstance(source, (bool, Mapping))
        self.node = _compile(source, zeros)
        # True if this is the schema of an array rather than of each of its elements.
        self.describes_arrays = "array" in self.node.kinds
        if self.node.kinds == EVERY:
            self.describes_arrays = self.node.child(0) not in (ANY, UNKNOWN)

    def check(self) -> Check:
        """Return the check of one new value."""
        return Check(self.node)

    def validate(self, value: Any, path: Path = (), offset: int | None = None) -> Any:
        """Return a complete value as the schema's type, or raise `InvalidSchema`.

        `path` and `offset` are where the value is in its document.
        """
        try:
            return self.check().close(value)
        except Refused as refused:
            raise violation(refused, path, offset) from None

    def item(self, index: int) -> Schema:
        """Return the schema of one element of the array that this schema describes."""
        node = self.node.choose([], None).child(index)
        part = copy(self)
        part.node = ANY if node is UNKNOWN else node
        return part

    def fields_of(self, value: Any, plain: Any) -> list[tuple[str, Any]]:
        """Return the fields that a complete value was given, by name; `plain` is its JSON value."""
        value = value.root if getattr(value, "__pydantic_root_model__", False) else value
        if isinstance(value, dict):
            return list(value.items())
        if not isinstance(plain, dict):
            return []
        names = map(self.node.choose(plain, None).field_of, plain)
        present = dict.fromkeys([*names, *sorted(getattr(value, "model_fields_set", ()))])
        return [(name, getattr(value, name)) for name in present if name and hasattr(value, name)]

    def zero(self, path: Path) -> Any:
        """Return the zero of the value at this path: "" 0 false [] {} null, or `ABSENT`."""
        node = self.node
        try:
            for step in path:
                node = node.choose([] if isinstance(step, int) else {}, None).child(step)
        except Refused:
            return ABSENT
        if "null" in node.kinds:
            return ABSENT if node.kinds == EVERY else None
        if node.kinds == {"array"} or node.kinds == {"object"}:
            return [] if "array" in node.kinds else {}
        zero = node.zero()
        return zero if isinstance(zero, (str, int, float)) else ABSENT


def _compile(source: Any, zeros: bool) -> Node:
    """Compile a type or JSON Schema; a class, and equal schemas, once."""
    if isinstance(source, type):
        return _compile_class(source, vars(source).get("__pydantic_validator__"), zeros)
    if not isinstance(source, (bool, Mapping)):
        return compile_type(source, zeros)
    try:
        return _compile_json_schema(json.dumps(source))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a JSON Schema: {error}") from None


@lru_cache(maxsize=32)
def _compile_json_schema(text: str) -> Node:
    return JsonSchemas(json.loads(text)).root


@lru_cache(maxsize=64)
def _compile_class(source: type, validator: object, zeros: bool) -> Node:
    """Compile a class as long as its validator is the same: it may be rebuilt."""
    return compile_type(source, zeros)
