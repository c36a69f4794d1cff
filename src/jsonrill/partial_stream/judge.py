"""Which schema an entity must keep to, and who sees to it that it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..parse.sink import Sink
from ..paths import Path, Place
from ..wire.parser import FragmentSink
from .entities import Declared, Entities, Entity, path_of

if TYPE_CHECKING:
    from ..errors import InvalidSchema
    from ..schema import Check, Schema

SchemaOf = Callable[[Declared, Place | None], "Schema | None"]


def schemas(schema: Any, document_schema: Any, entities: Entities) -> SchemaOf | None:
    """Which schema judges an entity: that of its name, the one, or its part of the document's."""
    if schema is None and document_schema is None:
        return None
    if schema is not None and document_schema is not None:
        raise ValueError("give `schema` for one entity or `document_schema` for all, not both")
    from ..schema import Schema

    if document_schema is not None:
        document = Schema(document_schema)
        return lambda declared, place: document.at(path_of(place))
    if _is_by_name(schema, entities):
        by_name = {name: Schema(one) for name, one in schema.items()}
        return lambda declared, place: by_name.get(declared.name)
    whole = Schema(schema)
    element = whole.items() if entities.is_default else None
    return lambda declared, place: whole if element is None or place is None else element


def _is_by_name(schema: Any, entities: Entities) -> bool:
    """Is this a schema for each name, rather than one JSON Schema?"""
    return (
        isinstance(schema, Mapping)
        and bool(schema)
        and schema.keys() <= set(entities.names)
        and not any(isinstance(one, (str, float, list)) for one in schema.values())
    )


class Judge(FragmentSink):
    """Stands before the recorder of an entity and lets pass what its schema allows.

    After the first violation nothing passes any more: it calls `violated`, counts the rest of the
    entity off and calls `passed`.
    """

    __slots__ = ("_check", "_depth", "_given_up", "_passed", "_recorder", "_violated", "alive")

    def __init__(
        self,
        entity: Entity,
        check: Check,
        recorder: Sink,
        violated: Callable[[InvalidSchema, Path | None], None],
        passed: Callable[[], None],
        given_up: Callable[[], None],
    ) -> None:
        super().__init__(entity.place)
        self.alive = True
        self._check = check
        self._recorder = recorder
        self._violated = violated
        self._passed = passed
        self._given_up = given_up
        self._depth = 0

    def start_object(self, offset: int) -> None:
        self._depth += 1
        if self.alive:
            super().start_object(offset)
            if self._allowed():
                self._recorder.start_object(offset)

    def start_array(self, offset: int) -> None:
        self._depth += 1
        if self.alive:
            super().start_array(offset)
            if self._allowed():
                self._recorder.start_array(offset)

    def end_container(self, offset: int) -> None:
        self._depth -= 1
        if self.alive:
            super().end_container(offset)
            if self._allowed(drop=True):
                return self._recorder.end_container(offset)
        return self._end()

    def key(self, key: str, offset: int) -> None:
        if self.alive:
            super().key(key, offset)
            if self._allowed():
                self._recorder.key(key, offset)

    def start_string(self, offset: int) -> None:
        if self.alive:
            super().start_string(offset)
            if self._allowed():
                self._recorder.start_string(offset)

    def text(self, run: str) -> None:
        if self.alive:
            super().text(run)
            if self._allowed(drop=True):
                self._recorder.text(run)

    def end_string(self) -> None:
        if self.alive:
            super().end_string()
            if self._allowed(drop=True):
                return self._recorder.end_string()
        return self._end()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if self.alive:
            super().scalar(value, text, offset)
            if self._allowed():
                return self._recorder.scalar(value, text, offset)
        return self._end()

    def next_document(self) -> None:
        self._given_up()

    def pending(self, path: Path, text: str, offset: int) -> None:
        """A number or literal has begun at `offset`, and `text` is what is there of it."""
        if self.alive:
            self._rule(self._check.pending(path, text, offset), None)

    def _allowed(self, drop: bool = False) -> bool:
        """Does the schema allow this? If not, `drop` says that its value is recorded in part."""
        fragment = self.fragments.pop()
        return self._rule(self._check.feed(fragment), fragment.path if drop else None)

    def _rule(self, violation: InvalidSchema | None, drop: Path | None) -> bool:
        if violation is None:
            return True
        self.alive = False
        self._violated(violation, drop)
        return False

    def _end(self) -> None:
        if self._depth == 0:
            self._passed()
