"""Text → what is at some paths: complete values, or the pieces of strings. Nothing else is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

from .build.field_sink import Field, TextSink, ValueSink
from .errors import DEFAULT_LIMITS, FAR, CutShort, InvalidJSON, LimitExceeded
from .options import ParseOptions, TextOptions, check
from .parse.create import create_machine
from .parse.machine import Machine
from .parse.position import Position
from .parse.sink import Repair, weak_method
from .paths import Path

if TYPE_CHECKING:
    from .schema import Schema

# More text at once than this would only take more memory.
BLOCK: Final = 1 << 16


class _Reader:
    """What both selections do: read text, yield what it brings, then raise what is wrong."""

    _machine: Position

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: the repairs, in order."""
        return self._machine.repairs

    def _read(self, read: Callable[..., None], *data: Any) -> Iterator[Any]:
        """Let the machine read a piece, or the end."""
        try:
            read(*data)
        except (InvalidJSON, LimitExceeded):
            yield from self._take()
            raise
        yield from self._take()

    def _take(self) -> Iterable[Any]:
        """What the last piece brought."""
        raise NotImplementedError


class Selection(_Reader):
    """Reads text and yields each value at a path when it is complete.

    An array there stands for its elements, a null for nothing. `schema` is that of each value.
    `limits.text` counts for each value, not for the document.
    """

    def __init__(
        self,
        field: str | Path,
        *,
        schema: Any = None,
        **options: Unpack[ParseOptions],
    ) -> None:
        limits = options.get("limits")
        check(limits=limits)
        self._schema: Schema | None = None
        if schema is not None:
            from .schema import Schema

            self._schema = Schema(schema)
        limits = limits or DEFAULT_LIMITS
        size = min(limits.text, FAR)
        selected = Field(field, elements=True)
        limit_text = weak_method(self, Selection._limit_text)
        self._sink = ValueSink(selected, size, schema is not None, limit_text)
        # Outside of the values any number of characters may come.
        options["limits"] = replace(limits, text=FAR)
        self._machine = create_machine(self._sink, options)
        self._sink.searches = self._sink.searches and not options.get("repair")
        if self._sink.searches:
            assert isinstance(self._machine, Machine)
            self._machine.read_keys_once()
        # In a piece no longer than the limit, no value can be longer than it.
        self._most = min(size, BLOCK)

    def feed(self, data: str | bytes) -> Iterator[Any]:
        """Yield the values that this piece of text completes; then raise what is wrong with it."""
        whole: Any = data
        if not isinstance(whole, (str, bytes, bytearray)) or len(whole) <= self._most:
            yield from self._read(self._machine.feed, whole)
            return
        for at in range(0, len(whole), self._most):
            yield from self._read(self._machine.feed, whole[at : at + self._most])

    def flush(self, cut: CutShort | None = None) -> Iterator[Any]:
        """End the text. `FieldNotFound` if there was nothing at the path."""
        yield from self._read(self._machine.flush, cut)
        if self._machine.errors:
            raise self._machine.errors.pop(0)  # its traceback knows the machine
        self._sink.check()

    def _limit_text(self, offset: int, size: int) -> None:
        self._machine.limit_text(offset, size)

    def _take(self) -> Iterable[Any]:
        values, self._sink.values = self._sink.values, []
        return values if self._schema is None else self._typed(self._schema, values)

    def _typed(self, schema: Schema, values: list[Any]) -> Iterator[Any]:
        places, self._sink.places = self._sink.places or [], []
        for value, (offset, path) in zip(values, places, strict=True):
            yield schema.validate(value, path, offset)


class TextSelection(_Reader):
    """Reads text and yields the pieces of one string."""

    def __init__(self, field: str | Path, **options: Unpack[TextOptions]) -> None:
        self._sink = TextSink([Field(field)])
        self._machine = create_machine(self._sink, cast(ParseOptions, options))

    @property
    def ended(self) -> bool:
        """True once the string is complete."""
        return self._sink.ended

    def feed(self, data: str | bytes) -> Iterator[str]:
        """Yield what this piece of text adds to the string; then raise what is wrong with it."""
        return self._read(self._machine.feed, data)

    def flush(self, cut: CutShort | None = None) -> Iterator[str]:
        """End the text. `FieldNotFound` if the field never came, or is not a string."""
        yield from self._read(self._machine.flush, cut)
        self._sink.check()

    def _take(self) -> Iterable[Any]:
        pieces, self._sink.pieces = self._sink.pieces, []
        return [piece for _, piece in pieces]
