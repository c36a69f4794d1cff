"""The value of an entity with a schema: built, checked after each piece, and handed on."""

from __future__ import annotations

from typing import Any

from ..build.builder import ValueBuilder
from ..parse.sink import Sink
from ..paths import ABSENT, Path
from ..schema import Schema
from ..schema.errors import Refusal


class CheckedValue(ValueBuilder):
    """Builds the value that the schema checks, and hands each event on to the entity's sink."""

    __slots__ = ("_next", "check", "is_refused", "is_typed", "model")

    def __init__(self, schema: Schema, sink: Sink) -> None:
        ValueBuilder.__init__(self)
        self._next = sink
        self.check = schema.check()
        self.is_typed = schema.is_typed
        self.is_refused = False
        # The validated instance of a type, once the entity is complete.
        self.model: Any = None

    @property
    def depth(self) -> int:
        """The number of open containers."""
        return len(self._spine)

    def look(self, machine: Any, is_strict: bool) -> None:
        """Check what is new; `Refused` at the first violation."""
        self.check.look(self.root, self.open_path)
        if is_strict:
            self.check.begin_at(machine)

    def close(self) -> None:
        """Check the complete value; `Refused` if it is not valid."""
        model = self.check.close(self.root)
        self.model = model if self.is_typed else None

    def partial_now(self) -> Any:
        """Return the partial instance as it was at the last look."""
        return _shown(self.check.partial()) if self.is_typed else None

    def partial_of(self, value: Any, open_path: Path | None) -> Any:
        """Return the partial instance of an earlier value."""
        return _shown(self.check.partial_of(value, open_path)) if self.is_typed else None

    def good_before(self, refusal: Refusal) -> tuple[Any, Any, Path | None]:
        """Return the plain value before a refused part, its partial instance, and its open path."""
        self.is_refused = True
        value, open_path = self.check.good_before(self.root, refusal.path)
        return value, self.partial_of(value, open_path), open_path

    def start_object(self, offset: int) -> None:
        ValueBuilder.start_object(self, offset)
        self._next.start_object(offset)

    def start_array(self, offset: int) -> None:
        ValueBuilder.start_array(self, offset)
        self._next.start_array(offset)

    def end_container(self, offset: int) -> None:
        ValueBuilder.end_container(self, offset)
        self._next.end_container(offset)

    def key(self, key: str, offset: int) -> None:
        ValueBuilder.key(self, key, offset)
        self._next.key(key, offset)

    def start_string(self, offset: int) -> None:
        ValueBuilder.start_string(self, offset)
        self._next.start_string(offset)

    def text(self, run: str) -> None:
        ValueBuilder.text(self, run)
        self._next.text(run)

    def end_string(self) -> None:
        ValueBuilder.end_string(self)
        self._next.end_string()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        ValueBuilder.scalar(self, value, text, offset)
        self._next.scalar(value, text, offset)

    def takes_values(self) -> bool:
        return self._next.takes_values()

    def takes_open(self) -> bool:
        return False

    def next_document(self) -> None:
        self._next.next_document()


def _shown(partial: Any) -> Any:
    return None if partial is ABSENT else partial
