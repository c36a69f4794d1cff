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
from ..parse.sink import Sink, TextBuffer
from ..paths import ANY_INDEX, Path, Pattern, Place, path_of, place_of
from ..wire.fragment import Fragment
from ..wire.parser import emit
from .jsonschema import compile_schema
from .nodes import ARRAY, EVERY, NULL, OBJECT, STRING, Node, Refusal, kind_of
from .parts import anything, below, is_plain_list, natural, prefix_length, zero
from .walk import DEEPEST, Walk, validated, violation_at

__all__ = ["Check", "Schema"]


class Schema:
    """A pydantic model, a TypeAdapter, any type it takes (`list[T]`), or a JSON Schema.

    Compiled once, never changed, free to share. What is no schema raises `ValueError`.
    `check_formats` checks the `format` of a JSON Schema also in drafts in which it is a mere note.
    """

    __slots__ = ("_is_pydantic", "_items", "_node")

    def __init__(self, source: Any, *, check_formats: bool = False) -> None:
        self._node: Node
        self._is_pydantic = False
        self._items: dict[int, Schema] = {}
        if isinstance(source, Schema):
            self._node, self._is_pydantic = source._node, source._is_pydantic
        elif isinstance(source, (bool, Mapping)):
            self._node = _json_schema(source, check_formats)
        elif isinstance(source, (str, bytes, int, float, list, tuple, set)):
            kind = type(source).__name__
            raise TypeError(f"a schema is a pydantic type or a JSON Schema as a dict, not {kind}")
        else:
            from .coreschema import compile_type

            self._node = compile_type(source)
            self._is_pydantic = True

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
        index = min(index, prefix_length(self._node))
        if index not in self._items:
            node = below(self._node, index, by_shape=True)
            self._items[index] = self._part(node) or self._anything()
        return self._items[index]

    def document_check(
        self, violated: Callable[[InvalidSchema, Path | None], None]
    ) -> DocumentCheck:
        """A new check for a document of which some values are validated on their own."""
        return DocumentCheck(self, violated)

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
        return self._with(node)

    def _anything(self) -> Schema:
        return self._with(anything())

    def _with(self, node: Node) -> Schema:
        part = Schema.__new__(Schema)
        part._node, part._is_pydantic, part._items = node, self._is_pydantic, {}
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


class DocumentCheck(Check):
    """The check of a document around its entities, each of which has a check of its own.

    Outside of entities it is a sink of events. An entity comes as one value: `begins` before it,
    `passed` after it. So nothing is checked twice while it arrives, and at the end the validator of
    the document is asked, for which the document's value is kept. A list whose schema says nothing
    but how many elements there are and what each of them is needs no more than to be counted.
    """

    __slots__ = ("_keeps",)

    def __init__(
        self, schema: Schema, violated: Callable[[InvalidSchema, Path | None], None]
    ) -> None:
        super().__init__(schema, None, None, violated)
        self._keeps = not is_plain_list(schema._node)

    def begins(self, offset: int) -> bool:
        """False, and a violation, if no value at all may be here."""
        refused = self._expected()[1]
        return not refused or self._allows(refused, self._here(), offset)

    def passed(self, value: Callable[[], Any], offset: int, depth: int) -> None:
        """Take in a complete entity, in which containers nest `depth` deep."""
        if not self._keeps:
            self._pass()
            return
        known = value()
        kind = kind_of(known)
        active, refused = self._begin(kind)
        place = self._started(offset)
        frame = self._inside
        assert frame is not None
        frame.put(place, known)
        self.deepest = max(self.deepest, self.depth + depth)
        # What holds outside of choices the check of the entity has asked.
        if self._allows(refused, place, offset, begun=True):
            branched = [one for one in active if one[1] is not None and not one[0].sure & kind]
            self._allows(validated(branched, known), place, offset, begun=True)

    def end_container(self, offset: int) -> None:
        frame = self._inside
        assert frame is not None
        super().end_container(offset)
        if not self._frames and self.violation is None and self._keeps:
            self._finish(frame.value)

    def start_string(self, offset: int) -> None:
        super().start_string(offset)
        if not self._frames and self._text is None:
            self._text = TextBuffer()

    def end_string(self) -> None:
        value = None if self._frames or self._text is None else self._text.text()
        super().end_string()
        if value is not None and self.violation is None:
            self._finish(value)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        super().scalar(value, text, offset)
        if not self._frames and self.violation is None:
            self._finish(value)

    def _start(self, kind: int, step: str | int, offset: int) -> bool:
        allowed = super()._start(kind, step, offset)
        if self._keeps and len(self._frames) == 1 and self._inside is not None:
            self._inside.value = {} if kind == OBJECT else []
        return allowed

    def _started(self, offset: int) -> Place | None:
        return super()._started(offset) if self._keeps or not self._starts else self._next()

    def _finish(self, value: Any) -> None:
        violation = self.close(value)
        if violation is not None and self._violated is not None:
            self._violated(violation, None)


def _json_schema(source: bool | Mapping[str, Any], check_formats: bool) -> Node:
    """Compile a JSON Schema, or take what the same text was compiled to before.

    A server hears of a schema with every reader of a stream, and compiling one takes long.
    """
    try:
        text = json.dumps(source)
        if json.loads(text) == source:
            return _of_text(text, check_formats)
    except (TypeError, RecursionError):
        pass  # it has no text: the compiler says why
    return compile_schema(source, check_formats)


@lru_cache(maxsize=64)
def _of_text(text: str, check_formats: bool) -> Node:
    return compile_schema(json.loads(text), check_formats)
