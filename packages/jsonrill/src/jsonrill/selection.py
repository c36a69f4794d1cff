"""Text → the complete values, or the pieces of a string, at a path. It keeps nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .document import ValueBuilder
from .errors import DEFAULT_LIMITS, UNLIMITED, CutShort, FieldNotFound, InvalidSchema
from .finder import Finder, Place, kind_of
from .parse.machine import Frame, Sink, path_of
from .parse.options import create_machine
from .paths import ANY_INDEX, Path, Wildcard, format_path, parse_path, parse_pattern
from .stages import Reading

if TYPE_CHECKING:
    from .schema import Schema

# More text at once would only take more memory.
_BLOCK: Final = 1 << 16


class FieldSink(Finder):
    """Follows a field down a document, and records the reason if there is no value."""

    __slots__ = ("_is_in_list", "_wildcard", "is_found", "other_kind", "place")

    def __init__(self, field: str | Path) -> None:
        if isinstance(field, str):
            self.place = Place(parse_pattern(field), field)
        elif isinstance(field, tuple):
            self.place = Place(field, format_path(field))
        else:
            kind = type(field).__name__
            raise TypeError(f'a field is a path like "answer" or "items[*].title", not {kind}')
        # The number of steps before the first wildcard.
        pattern = self.place.pattern
        wildcards = (at for at, step in enumerate(pattern) if isinstance(step, Wildcard))
        self._wildcard = next(wildcards, len(pattern))
        # Whether a value of the right kind was there; if not, which kind it was.
        self.is_found = False
        self.other_kind = ""
        # Whether the list of the first wildcard was there; None if it was, and had elements.
        self._is_in_list: bool | None = False

    def reaches(self, depth: int, kind: str) -> bool:
        """Return whether a value inside `depth` frames is at the field; note what leads to it."""
        pattern = self.place.pattern
        if not self.place.matches(self.frames, depth):
            return False
        if depth > self._wildcard:
            self._is_in_list = None
        elif depth == self._wildcard and depth < len(pattern) and self._is_in_list is False:
            wanted = "an array" if pattern[depth] is ANY_INDEX else "an object"
            if kind == wanted or kind == "null":
                self._is_in_list = True
            else:
                self.other_kind = f"{kind}, not {wanted}"
        return depth == len(pattern)

    @property
    def error(self) -> FieldNotFound | None:
        """The error at the end of the text; None if it was found, or could be in an empty list."""
        if self.is_found or (self._is_in_list and not self.other_kind):
            return None
        problem = f"is {self.other_kind}" if self.other_kind else "never came"
        field = self.place.text
        return FieldNotFound(f"the field {field} {problem}", field=field)


class TextSink(FieldSink):
    """The pieces of the string at a field."""

    __slots__ = ("_is_inside", "ended", "pieces")

    def __init__(self, field: str | Path) -> None:
        super().__init__(field)
        self.pieces: list[str] = []
        self._is_inside = False
        # True once the string is complete.
        self.ended = False

    def find(self, depth: int, kind: str, offset: int) -> None:
        if self.reaches(depth, kind):
            if kind == "a string":
                self.is_found = self._is_inside = True
            else:
                self.other_kind = f"{kind}, not a string"

    def text(self, run: str) -> None:
        if self._is_inside and not self.ended:
            self.pieces.append(run)

    def end_string(self) -> None:
        self.ended = self.ended or self._is_inside
        self._is_inside = False

    def takes_values(self) -> bool:
        return not self.place.matches(self.frames, len(self.frames))


class ValueSink(FieldSink):
    """The complete values at a field. An array selects its elements, null nothing."""

    __slots__ = ("_array", "_has_schema", "builder", "limit", "limit_text", "places", "start",
                 "values")  # fmt: skip

    def __init__(self, field: str | Path, has_schema: bool) -> None:
        super().__init__(field)
        # The limit of the text of a value, and the function that sets it in the machine.
        self.limit = UNLIMITED
        self.limit_text: Callable[[int], None] = lambda end: None
        # Complete values; and their offsets and paths, for a schema.
        self.values: list[Any] = []
        self.places: list[tuple[int, Path]] = []
        self._has_schema = has_schema
        # The array whose elements are selected: after the first, their paths need no comparison.
        self._array: Frame | None = None
        # What builds the value that is being read, and where it begins.
        self.builder: ValueBuilder | None = None
        self.start = 0

    def find(self, depth: int, kind: str, offset: int) -> Sink | None:
        if self.builder is None and self._selects(depth, kind):
            self.builder = ValueBuilder(depth)
            self.builder.frames = self.frames
            self.start = offset
            self.limit_text(offset + self.limit)
        return self.builder

    def _selects(self, depth: int, kind: str) -> bool:
        place, frames = self.place, self.frames
        if depth and frames[depth - 1] is self._array:
            return True
        if self.reaches(depth, kind):
            self.is_found = True
            if kind == "null" and not place.selects_elements:
                return False
        if not place.selects(frames, depth, kind == "an array"):
            return False
        if place.selects_elements or depth > len(place.pattern):
            self._array = frames[depth - 1]
        return True

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        depth = len(self.frames)
        if self.builder is not None:
            self.builder.scalar(value, text, offset)
        elif self._selects(depth, kind_of(value)):  # complete: it needs no builder
            self._add(value, offset, depth)

    def text(self, run: str) -> None:
        if self.builder is not None:
            self.builder.text(run)

    def end_string(self) -> None:
        if self.builder is not None:
            self.builder.end_string()
            self._take(len(self.frames))

    def end_container(self, offset: int) -> None:
        if self.builder is not None:
            self.builder.end_container(offset)
            self._take(len(self.frames) - 1)

    def _take(self, depth: int) -> None:
        """Keep the value if it is complete now."""
        builder = self.builder
        if builder is not None and depth == builder.base:
            self._add(builder.root, self.start, depth)
            self.builder = None
            self.limit_text(UNLIMITED)

    def _add(self, value: Any, offset: int, depth: int) -> None:
        self.values.append(value)
        if self._has_schema:
            self.places.append((offset, path_of(self.frames, 0, depth)))

    def takes_values(self) -> bool:
        depth, size = len(self.frames), len(self.place.pattern)
        if self.builder is not None or (depth and self.frames[-1] is self._array):
            return True
        if depth > size or not self.place.matches(self.frames, depth):
            return True
        return depth == size and self.place.selects_elements


class FieldReader(Reading):
    """A stage that reads text into the sink of a field."""

    def __init__(self, sink: Any, options: Mapping[str, Any]) -> None:
        super().__init__(create_machine(sink, options), options)
        self._sink = sink

    def flush(self, cut: CutShort | None = None) -> Sequence[Any]:
        """End the text; `FieldNotFound` if there was nothing at the path."""
        items = super().flush(cut)
        if not self.ended and (error := self._sink.error) is not None:
            self.fail(error)
        return items


class TextSelection(FieldReader):
    """Text → the pieces of the string at a path; it has ended when the string is complete."""

    def __init__(self, field: str | Path, options: Mapping[str, Any]) -> None:
        if isinstance(field, str):
            parse_path(field)  # refuses a pattern
        super().__init__(TextSink(field), options)

    def _items(self, result: Any) -> Sequence[str]:
        if self._sink.ended:
            self.error, self.ended, self.failed = None, True, False
        pieces: list[str] = self._sink.pieces
        self._sink.pieces = []
        return pieces


class Selection(FieldReader):
    """Text → each value at a path when it is complete, as a stage.

    An array there selects its elements, a null nothing. With a `schema` each value is of its
    type. `limits.text` counts for each value, not for the document.
    """

    def __init__(self, field: str | Path, schema: Any, options: Mapping[str, Any]) -> None:
        super().__init__(ValueSink(field, schema is not None), options)
        limit = self._sink.limit = (options.get("limits") or DEFAULT_LIMITS).text
        self._reader.limit_text(UNLIMITED)
        self._sink.limit_text = self._reader.limit_text
        # A value that begins in a piece of this size cannot pass the limit in it.
        self._block = min(limit, _BLOCK)
        self._schema: Schema | None = None
        if schema is not None:
            from .schema import Schema

            self._schema = Schema(schema)

    def feed(self, piece: Any) -> Sequence[Any]:
        """Return the values that this piece of text completes."""
        if not isinstance(piece, (str, bytes, bytearray)) or len(piece) <= self._block:
            return super().feed(piece)
        values: list[Any] = []
        for at in range(0, len(piece), self._block):
            values += super().feed(piece[at : at + self._block])
            if self.ended:
                break
        return values

    def _items(self, result: Any) -> Sequence[Any]:
        read: list[Any] = self._sink.values
        places, self._sink.values, self._sink.places = self._sink.places, [], []
        if self._schema is None:
            return read
        values: list[Any] = []
        try:
            for value, (offset, path) in zip(read, places, strict=True):
                values.append(self._schema.validate(value, path, offset))
        except InvalidSchema as error:
            self.fail(error)
        return values
