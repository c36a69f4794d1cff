"""A schema that is violated at the earliest character that proves it.

`Schema` is compiled once, from a pydantic type or a JSON Schema; `Check` validates one value while
its events arrive, and at the end asks the real validator (pydantic, jsonschema-rs). Never a
false alarm: what is not certain waits for the end.

This file is the way in; `nodes` is what a schema says, `jsonschema` and `coreschema` read one,
`walk` walks it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final
from weakref import WeakValueDictionary

from ..errors import InvalidSchema
from ..parse.expected import Expected, Guide
from ..parse.sink import Sink
from ..paths import ANY_INDEX, Path, Pattern, Place, inside, place_of
from .check import Check, DocumentCheck
from .guide import by_path, guide_of
from .jsonschema import compile_schema
from .nodes import ARRAY, EVERY, NULL, OBJECT, STRING, Node
from .parts import anything, below, natural, prefix_length, zero
from .validators import Budget
from .walk import violation_at
from .weight import weight_of

# How many compiled schemas without a user are kept, and how heavy one of them may be.
_KEPT: Final = 32
_LIGHT: Final = 2 << 20

__all__ = ["Check", "Schema"]


class Schema:
    """A pydantic model, a TypeAdapter, any type it takes (`list[T]`), or a JSON Schema.

    Compiled once, never changed, free to share. What is no schema raises `ValueError`.
    With `zeros`, what has not come of a partial instance is the zero of its type instead of None.
    """

    __slots__ = ("_guide", "_is_pydantic", "_items", "_node", "_prefix", "_zero", "zeros")

    def __init__(self, source: Any, *, zeros: bool = False) -> None:
        self.zeros = zeros
        self._node: Node
        self._is_pydantic = False
        self._items: dict[int, Schema] = {}
        self._guide: Guide | None = None
        self._zero: Callable[[Path], tuple[bool, Any]] | None = None
        # The number of elements with rules of their own.
        self._prefix: int | None = None
        if isinstance(source, Schema):
            self._node, self._is_pydantic = source._node, source._is_pydantic
        elif isinstance(source, (bool, Mapping)):
            self._node = _json_schema(source)
        elif isinstance(source, (str, bytes)):
            raise TypeError("a schema is a pydantic type or a JSON Schema as a dict: json.loads(…)")
        elif isinstance(source, (int, float, list, tuple, set)):
            kind = type(source).__name__
            raise TypeError(f"a schema is a pydantic type or a JSON Schema as a dict, not {kind}")
        # (An annotated type is no instance, although it has the attributes of its type.)
        elif hasattr(type(source), "model_dump") and not isinstance(source, type):
            name = type(source).__name__
            raise TypeError(f"the schema is an instance of {name}: pass the class, schema={name}")
        else:
            self._node = _type(source)
            self._is_pydantic = True

    def __deepcopy__(self, memo: Any) -> Schema:
        """The schema itself, since it never changes."""
        return self

    @property
    def node(self) -> Node:
        """What the schema says."""
        return self._node

    @property
    def is_typed(self) -> bool:
        """True if it makes instances of a pydantic type, which may be partial."""
        return self._node.maker is not None

    @property
    def has_fields(self) -> bool:
        """True if an object may be valid."""
        return bool(natural(self._node) & OBJECT)

    def describes_arrays(self) -> bool:
        """True if this schema says what an array must be, rather than what each element must be.

        A schema without a type does if it has a keyword for arrays, or none for other values.
        """
        kinds = natural(self._node)
        if not kinds:
            return True  # nothing is allowed, so no array is
        if kinds == EVERY:
            about = self._node.about
            return bool(about & ARRAY) or not (about or self._is_pydantic)
        return bool(kinds & ARRAY)

    def items(self) -> Schema | None:
        """The schema of any element if this one describes nothing but arrays, else None."""
        if natural(self._node) & ~NULL != ARRAY:
            return None
        return self._part(below(self._node, ANY_INDEX, by_shape=True)) or self._anything()

    def item(self, index: int) -> Schema:
        """The schema of one element of an array that this schema describes."""
        if self._prefix is None:
            self._prefix = prefix_length(self._node)
        index = min(index, self._prefix)
        if index not in self._items:
            node = below(self._node, index, by_shape=True)
            self._items[index] = self._part(node) or self._anything()
        return self._items[index]

    def document_check(
        self,
        violated: Callable[[InvalidSchema, Path | None], None],
        budget: Budget | None = None,
    ) -> DocumentCheck:
        """A new check for a document of which some values are validated on their own."""
        return DocumentCheck(self._node, violated, budget)

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
        budget: Budget | None = None,
    ) -> Check:
        """A new check for one value, which will be at this place of its document.

        Checks with the same `budget` are those of one stream.
        """
        place = place_of(at) if isinstance(at, tuple) else at
        if not self.is_typed:
            return Check(self._node, place, then, violated, budget)
        from .typed import TypedCheck

        return TypedCheck(self._node, place, then, violated, zeros=self.zeros)

    def expected(self, relative_path: Path) -> Expected | None:
        """What is asked for at this path, where a text of near-JSON has two readings."""
        if self._guide is None:
            self._guide = guide_of(self._node)
        return self._guide(relative_path)

    def expected_at_root(self) -> Expected | None:
        """As `expected`, where an array stands for several values that have this schema."""
        expected = self.expected(())
        return expected and expected._replace(types=expected.types | {"array"})

    def guide_at(self, pattern: Pattern) -> Guide:
        """What is asked for at a path of a document whose values at `pattern` have this schema."""

        def guide(path: Path) -> Expected | None:
            rest = inside(pattern, path)
            if rest is None:
                return None
            return self.expected(rest) if path else self.expected_at_root()

        return guide

    def zero(self, relative_path: Path) -> tuple[bool, Any]:
        """(known?, the zero value of the type there): "" 0 false [] {}, null where that may be."""
        if self._zero is None:
            self._zero = by_path(self._node, _zero)
        return self._zero(relative_path)

    def typed(
        self,
        value: Any,
        at: Path = (),
        offset: int | None = None,
        budget: Budget | None = None,
    ) -> Any:
        """The complete value as the schema's type: validated by pydantic, or plain.

        `InvalidSchema` if it is refused; `at` and `offset` are those of the value.
        """
        validator = self._node.full_validator
        assert validator is not None
        refusal, instance = validator.final(value, budget)
        if refusal is None:
            return instance if self._is_pydantic else value
        raise violation_at(at + refusal.path, offset, refusal)

    def _part(self, node: Node | None) -> Schema | None:
        if node is None or node.full_validator is None or not node.full_validator.is_usable():
            return None
        return self._with(node)

    def _anything(self) -> Schema:
        return self._with(anything())

    def _with(self, node: Node) -> Schema:
        part = Schema.__new__(Schema)
        part._node, part._is_pydantic, part._items = node, self._is_pydantic, {}
        part._guide = part._prefix = part._zero = None
        part.zeros = self.zeros
        return part


def _zero(node: Node | None) -> tuple[bool, Any]:
    return zero(natural(node)) if node is not None else (False, None)


def _json_schema(source: bool | Mapping[str, Any]) -> Node:
    """Compile a JSON Schema, or take what the same text was compiled to before.

    A server hears of a schema with every reader of a stream, and compiling one takes long.
    """
    try:
        text = json.dumps(source)
        if json.loads(text) == source:
            return _COMPILED.node(text)
    except (TypeError, RecursionError):
        pass  # it has no text: the compiler says why
    return compile_schema(source)


def _type(source: Any) -> Node:
    """Compile a type, or take what the same class was compiled to before.

    Only classes are looked up: other types can be equal without being the same
    (`Annotated[int, Gt(1)]` and `Annotated[int, Gt(True)]`). A model that was rebuilt has another
    validator.
    """
    if isinstance(source, type):
        return _of_class(source, vars(source).get("__pydantic_validator__"))
    from .coreschema import compile_type

    return compile_type(source)


# Bounded, not weak: what a class was compiled to refers to the class.
@lru_cache(maxsize=64)
def _of_class(source: type, validator: object) -> Node:
    from .coreschema import compile_type

    return compile_type(source)


class _Compiled:
    """What texts were compiled to, as long as it is in use; the last ones of little weight longer.

    Nothing here needs a lock: at worst a text is compiled twice.
    """

    def __init__(self) -> None:
        self._in_use: WeakValueDictionary[str, Node] = WeakValueDictionary()
        self._last: deque[Node] = deque(maxlen=_KEPT)

    def node(self, text: str) -> Node:
        node = self._in_use.get(text)
        if node is None:
            source = json.loads(text)
            node = compile_schema(source)
            self._in_use[text] = node
            if weight_of(source, _LIGHT) <= _LIGHT:
                self._last.append(node)
        return node


_COMPILED: Final = _Compiled()
