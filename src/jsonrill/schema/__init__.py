"""A schema that is violated at the earliest character that proves it.

`Schema` is compiled once, from a pydantic type or a JSON Schema; `Check` validates one value while
its events arrive, and at the end asks the real validator (pydantic, jsonschema-rs). Never a
false alarm: what is not certain waits for the end. This file is the way in; `nodes` is what a
schema says, `jsonschema` and `coreschema` read one, `walk` walks it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ..errors import InvalidSchema
from ..parse.sink import Sink
from ..paths import ANY_INDEX, Path, Pattern, Place, path_of, place_of
from ..wire.fragment import Fragment
from ..wire.parser import emit
from .jsonschema import compile_schema
from .nodes import ARRAY, EVERY, NULL, STRING, Node, Refusal, kind_of
from .parts import anything, below, natural, zero
from .walk import DEEPEST, Walk, violation_at

__all__ = ["Check", "Schema"]


class Schema:
    """A pydantic model, a TypeAdapter, any type it takes (`list[T]`), or a JSON Schema.

    Compiled once, never changed, free to share. What is no schema raises `ValueError`.
    """

    __slots__ = ("_is_pydantic", "_node")

    def __init__(self, source: Any) -> None:
        self._node: Node
        self._is_pydantic = False
        if isinstance(source, Schema):
            self._node, self._is_pydantic = source._node, source._is_pydantic
        elif isinstance(source, (bool, Mapping)):
            self._node = _json_schema(source)
        elif isinstance(source, (str, bytes, int, float, list, tuple, set)):
            kind = type(source).__name__
            raise TypeError(f"a schema is a pydantic type or a JSON Schema as a dict, not {kind}")
        else:
            from .coreschema import compile_type

            self._node = compile_type(source)
            self._is_pydantic = True

    def items(self) -> Schema | None:
        """The schema of one element if this one describes an array, else None."""
        if natural(self._node) & ~NULL != ARRAY:
            return None
        return self._part(below(self._node, ANY_INDEX, by_shape=True)) or self._part(anything())

    @property
    def takes_text(self) -> bool:
        """True if a string may be valid."""
        return bool(natural(self._node) & STRING)

    def at(self, pattern: Pattern) -> Schema | None:
        """The part that describes what is at this path; None if nothing is known of it."""
        node: Node | None = self._node
        for step in pattern:
            node = below(node, step) if node is not None else None
        return self._part(node)

    def check(
        self,
        at: Path | Place | None = (),
        then: Sink | None = None,
        violated: Callable[[InvalidSchema, Path | None], None] | None = None,
    ) -> Check:
        """A new check for one value, which will be at this place of its document."""
        return Check(self, place_of(at) if isinstance(at, tuple) else at, then, violated)

    def zero(self, relative_path: Path) -> tuple[bool, Any]:
        """(known?, the zero value of the type there): "" 0 false [] {}, null where that may be."""
        node: Node | None = self._node
        for step in relative_path:
            node = below(node, step, by_shape=True) if node is not None else None
        return zero(natural(node)) if node is not None else (False, None)

    def typed(self, value: Any, at: Path = (), offset: int | None = None) -> Any:
        """The complete value as the schema's type: validated by pydantic, or plain.

        `InvalidSchema` if it is refused; `at` and `offset` are those of the value.
        """
        validator = self._node.full_validator
        assert validator is not None
        refusal, made = validator.final(value)
        if refusal is None:
            return made if self._is_pydantic else value
        raise violation_at(at + refusal.path, offset, refusal)

    def _part(self, node: Node | None) -> Schema | None:
        if node is None or node.full_validator is None or not node.full_validator.is_usable():
            return None
        part = Schema.__new__(Schema)
        part._node, part._is_pydantic = node, self._is_pydantic
        return part


class Check(Walk):
    """The check of one value: a sink of its events; close it with the complete value.

    Or feed it fragments: each call returns the first violation, or None. After one, nothing more
    is fed.
    """

    __slots__ = ("_schema", "model")

    def __init__(
        self,
        schema: Schema,
        root: Place | None = None,
        then: Sink | None = None,
        violated: Callable[[InvalidSchema, Path | None], None] | None = None,
    ) -> None:
        super().__init__(schema._node, root, then, violated)
        self._schema = schema
        # After close() without a violation: the validated instance of a pydantic type.
        self.model: Any = None

    def feed(self, *fragments: Fragment) -> InvalidSchema | None:
        """The next fragments of the value, in order, from its first to its last."""
        self.violation = None
        emit(fragments, self)
        return self.violation

    def pending(self, path: Path, text: str, offset: int | None = None) -> InvalidSchema | None:
        """The violation of a number or literal that has begun: `Parser.pending` after a feed.

        Without the offset there is no verdict before the number or literal has ended: a violation
        must name the same place however the text was cut.
        """
        return None if offset is None else super().pending(path, text, offset)

    def close(self, value: Any) -> InvalidSchema | None:
        """The violation of the complete value, as the real validator says."""
        validator = self._schema._node.full_validator
        assert validator is not None
        refusal: Refusal | None
        if self.deepest > DEEPEST:
            refusal = Refusal("depth", f"more than {DEEPEST} levels cannot be validated")
        else:
            refusal, self.model = validator.final(value)
        if refusal is None:
            return None
        path = path_of(self._root) + refusal.path
        return violation_at(path, self.offset_of(path), refusal)

    def partial_model(self, value: Any) -> Any | None:
        """An instance with what is known so far, its other fields missing; None if there is none.

        Nothing is validated: a date that is not complete is the text so far.
        """
        if not self._schema._is_pydantic:
            return None
        from .construct import construct

        kinds = natural(self._schema._node)
        if kinds != EVERY and not kinds & kind_of(value):
            return None
        try:
            return construct(self._schema._node, value)
        except Exception:  # a class may do anything when it is made
            return None


def _json_schema(source: bool | Mapping[str, Any]) -> Node:
    """Compile a JSON Schema, or take what the same text was compiled to before.

    A server hears of a schema with every reader of a stream, and compiling one takes long.
    """
    try:
        text = json.dumps(source)
        if json.loads(text) == source:
            return _of_text(text)
    except (TypeError, RecursionError):
        pass  # it has no text: the compiler says why
    return compile_schema(source)


@lru_cache(maxsize=64)
def _of_text(text: str) -> Node:
    return compile_schema(json.loads(text))
