"""Events → values at paths: the pieces of strings, or complete values. Nothing else is kept.

`FieldSink` follows patterns down a document. Of each open container it keeps the patterns that
lead into it, and how many of their steps are done: reading `{"a": [{"b": ` for `a[*].b` it has
done 0 steps in the root, 1 in the array, 2 in the element, and the next value fits the third and
last. A container that no pattern leads into is only counted, and if it is complete in one piece it
is read in one go (`takes_values`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from typing import Any, Final

from ..errors import FAR, FieldNotFound
from ..parse.sink import Sink
from ..paths import ANY_INDEX, Path, Pattern, Wildcard, fits, format_path, parse_pattern
from .builder import ValueBuilder

_KINDS: Final[dict[Any, str]] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    type(None): "null",
}
_NONE: Final[list[Any]] = []
# A key that can be written in one way only, unless there are codes of its characters.
PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_ .$@-]+")
ESCAPED_ASCII: Final = re.compile(r"\\u00[2-7]")


class Field:
    """A field that is looked for: a pattern, and what was found of it.

    With `elements` its steps lead on to the elements of the value, if it is an array.
    """

    __slots__ = ("found", "name", "other", "pattern", "reached", "size", "steps", "wildcard",
                 "within")  # fmt: skip

    def __init__(self, field: str | Path, elements: bool = False) -> None:
        self.pattern: Pattern
        if isinstance(field, str):
            self.name, self.pattern = field, parse_pattern(field)
        elif isinstance(field, tuple):
            self.name, self.pattern = format_path(field), field
        else:
            kind = type(field).__name__
            raise TypeError(f'a field is a path like "answer" or "items[*].title", not {kind}')
        self.steps = self.pattern
        self.size = len(self.steps)
        # The number of steps before the first wildcard.
        self.wildcard = next(
            (at for at, step in enumerate(self.steps) if isinstance(step, Wildcard)), self.size
        )
        if elements and self.steps[-1:] != (ANY_INDEX,):
            self.steps = (*self.steps, ANY_INDEX)
        # A value of the right kind was there; or else of which kind it was.
        self.found = False
        self.other = ""
        # The container of the first wildcard was there; and it was not empty.
        self.reached = False
        self.within = False

    def check(self) -> None:
        """Raise `FieldNotFound` unless it was found, or the list in which it could be is empty."""
        if self.found or (self.reached and not self.within and not self.other):
            return
        what = f"is {self.other}" if self.other else "never came"
        raise FieldNotFound(f"the field {self.name} {what}", field=self.name)


def _members(values: list[Any], key: Any) -> list[Any]:
    """The values under this key, of those that have it; mostly all do."""
    if type(key) is str:
        with suppress(KeyError, TypeError):
            return list(map(itemgetter(key), values))
    return [it[key] for it in values if type(it) is dict and key in it]


def _is_spelled_out(text: str, start: int, end: int) -> bool:
    """True if no ASCII character of this text is an escape; mostly there is no escape at all."""
    at = text.find("\\", start, end)
    return at < 0 or ESCAPED_ASCII.search(text, at, end) is None


class FieldSink(Sink):
    """Follows fields down a document."""

    __slots__ = ("_alive", "_first", "_frames", "_inner", "_last", "_next", "_skipped", "_step",
                 "_varies")  # fmt: skip

    def __init__(self, fields: list[Field]) -> None:
        self._first: list[tuple[Field, int]] = [(field, 0) for field in fields]
        # Of the open container: the fields that may be in it with the number of their steps so far,
        # its last key or next index, and whether its elements do not all fit the same fields.
        self._alive: list[tuple[Field, int]] = _NONE
        self._step: str | int = ""
        self._varies = False
        # Of the next value: the fields that it fits, if they are known, and whether one is inside.
        self._next: list[tuple[Field, int]] | None = None
        self._inner = True
        # The fields that the value fits which began last.
        self._last: list[tuple[Field, int]] = _NONE
        self._frames: list[tuple[list[tuple[Field, int]], str | int, bool]] = []
        # The number of open containers that no field leads into.
        self._skipped = 0

    def check(self) -> None:
        """Raise `FieldNotFound` for the first field that was not found."""
        for field, _ in self._first:
            field.check()

    def end_container(self, offset: int) -> None:
        if self._skipped:
            self._skipped -= 1
        else:
            self._alive, self._step, self._varies = self._frames.pop()
            self._next = None

    def key(self, key: str, offset: int) -> None:
        if not self._skipped:
            self._step = key
            self._next = None

    def next_document(self) -> None:
        self._frames.clear()
        self._next = None
        self._skipped = 0

    def takes_values(self) -> bool:
        if self._skipped:
            return True
        if self._next is None:
            self._fit()
        return not self._inner

    def path(self) -> Path:
        """The path of the value that has begun last."""
        if not self._frames:
            return ()
        steps = [*[step for _, step, _ in self._frames[1:]], self._step]
        # An index is that of the next element.
        return tuple([step if type(step) is str else step - 1 for step in steps])  # type: ignore[operator]

    def _fit(self) -> None:
        """Find the fields that the next value fits."""
        fitting = self._first
        if self._frames:
            step = self._step
            fitting = [
                (field, done + 1) for field, done in self._alive if fits(field.steps[done], step)
            ]
        self._next = fitting
        self._inner = False
        for field, done in fitting:
            if done < len(field.steps):
                self._inner = True

    def _begin(self, kind: str) -> list[tuple[Field, int]]:
        """The fields that the value fits which begins now."""
        if self._next is None:
            self._fit()
        fitting = self._next
        assert fitting is not None
        self._last = fitting
        if type(self._step) is int and self._frames:
            self._step += 1
            if self._varies:
                self._next = None
        for field, done in fitting:
            if done > field.wildcard:
                field.within = True
            elif done == field.wildcard and done < field.size:
                wanted = "an array" if field.steps[done] is ANY_INDEX else "an object"
                if kind == wanted or kind == "null":
                    field.reached = True
                else:
                    field.other = f"{kind}, not {wanted}"
        return fitting

    def _open(self, step: str | int) -> None:
        """Enter the container that has begun; `step` is "" in an object, 0 in an array."""
        alive = [(field, done) for field, done in self._last if done < len(field.steps)]
        if not alive:
            self._skipped += 1
            return
        self._frames.append((self._alive, self._step, self._varies))
        self._alive = alive
        self._step = step
        self._next = None
        self._varies = any(type(field.steps[done]) is int for field, done in alive)


class TextSink(FieldSink):
    """The pieces of strings, each with the path of its string."""

    __slots__ = ("_path", "ended", "pieces")

    def __init__(self, fields: list[Field]) -> None:
        FieldSink.__init__(self, fields)
        self.pieces: list[tuple[Path, str]] = []
        # True once a string of the fields is complete.
        self.ended = False
        # The path of the open string, if it is one of the fields.
        self._path: Path | None = None

    def start_object(self, offset: int) -> None:
        if self._skipped:
            self._skipped += 1
        else:
            self._other("an object")
            self._open("")

    def start_array(self, offset: int) -> None:
        if self._skipped:
            self._skipped += 1
        else:
            self._other("an array")
            self._open(0)

    def start_string(self, offset: int) -> None:
        if self._skipped:
            return
        for field, done in self._begin("a string"):
            if done == field.size:
                field.found = True
                self._path = self.path()

    def text(self, run: str) -> None:
        if self._path is not None:
            self.pieces.append((self._path, run))

    def end_string(self) -> None:
        self.ended = self.ended or self._path is not None
        self._path = None

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if not self._skipped:
            self._other(_KINDS.get(type(value), "a number"))

    def next_document(self) -> None:
        FieldSink.next_document(self)
        self._path = None

    def _other(self, kind: str) -> None:
        """Note that the value that begins now is no string."""
        for field, done in self._begin(kind):
            if done == field.size:
                field.other = f"{kind}, not a string"


class ValueSink(FieldSink):
    """The complete values of one field. An array stands for its elements, null for nothing."""

    __slots__ = ("_building", "_depth", "_limit", "_limit_text", "_place", "_plain", "places",
                 "searches", "values")  # fmt: skip

    def __init__(
        self, field: Field, limit: int, placed: bool, limit_text: Callable[[int, int], None]
    ) -> None:
        FieldSink.__init__(self, [field])
        self.values: list[Any] = []
        # Offset and path of each, if they are wanted.
        self.places: list[tuple[int, Path]] | None = [] if placed else None
        # Whether elements of a list that come in one piece are read in one go, although there is
        # more in them than the value: that is quicker than walking them.
        keys = field.steps[field.wildcard + 1 : field.size]
        self.searches = bool(keys) and not placed and all(type(key) is str for key in keys)
        # Whether there is one way to write them, apart from codes.
        self._plain = all(PLAIN_KEY.fullmatch(str(key)) is not None for key in keys)
        # What builds the value that is being read, and how many of its containers are open.
        self._building: ValueBuilder | None = None
        self._depth = 0
        self._place: tuple[int, Path] = 0, ()
        # The most characters that a value may have; the machine is told when one begins.
        self._limit = limit
        self._limit_text = limit_text

    def start_object(self, offset: int) -> None:
        building = self._building
        if building is None:
            building = self._value("an object", offset, "")
        if building is not None:
            self._depth += 1
            building.start_object(offset)

    def start_array(self, offset: int) -> None:
        building = self._building
        if building is None:
            building = self._value("an array", offset, 0)
        if building is not None:
            self._depth += 1
            building.start_array(offset)

    def end_container(self, offset: int) -> None:
        building = self._building
        if building is None:
            FieldSink.end_container(self, offset)
            return
        self._depth -= 1
        building.end_container(offset)
        if not self._depth:
            self._take(building.root)

    def key(self, key: str, offset: int) -> None:
        if self._building is None:
            FieldSink.key(self, key, offset)
        else:
            self._building.key(key, offset)

    def start_string(self, offset: int) -> None:
        building = self._building
        if building is None:
            building = self._value("a string", offset)
        if building is not None:
            building.start_string(offset)

    def text(self, run: str) -> None:
        if self._building is not None:
            self._building.text(run)

    def end_string(self) -> None:
        building = self._building
        if building is not None:
            building.end_string()
            if not self._depth:
                self._take(building.root)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if self._building is not None:
            self._building.scalar(value, text, offset)
        elif self._skipped:
            return
        elif self._selects(_KINDS.get(type(value), "a number")):
            self.values.append(value)
            if self.places is not None:
                self.places.append((offset, self.path()))
        elif self.searches and (type(value) is dict or type(value) is list):
            self._search(value)

    def takes_runs(self) -> bool:
        is_read_whole = self._building is not None or self._skipped > 0
        return is_read_whole or (self.places is None and not self._varies)

    def run(self, values: list[Any], text: str, start: int, end: int, offset: int) -> bool:
        if self._building is not None or self._skipped:
            return FieldSink.run(self, values, text, start, end, offset)
        for field, done in self._next or ():
            chosen = values
            for key in field.steps[done : field.size]:
                chosen = _members(chosen, key)
                # Where it is written more often it may come twice in an object.
                if text.count(f'"{key}"', start, end) != len(chosen):
                    return False
            if chosen is not values and not (self._plain and _is_spelled_out(text, start, end)):
                return False
            field.within = True
            self._choose(field, chosen, done == len(field.steps))
        self._step += len(values)  # type: ignore[operator]  # in an array
        return True

    def _search(self, value: Any) -> None:
        """Take what is selected of an element that was read in one go."""
        for field, done in self._last:
            for key in field.steps[done : field.size]:
                if type(value) is not dict or key not in value:
                    return
                value = value[key]
            self._choose(field, [value], False)

    def _choose(self, field: Field, chosen: list[Any], elements: bool) -> None:
        """Take values of the field, or `elements` of it: any other array stands for its own."""
        field.found = field.found or bool(chosen)
        for value in chosen:
            if elements or (type(value) is not list and value is not None):
                self.values.append(value)
            elif value is not None:
                self.values += value

    def next_document(self) -> None:
        FieldSink.next_document(self)
        self._drop()

    def takes_values(self) -> bool:
        if self._building is not None or FieldSink.takes_values(self):
            return True
        return self.searches and any(done > field.wildcard for field, done in self._next or ())

    def _selects(self, kind: str) -> bool:
        """True if the value is selected which begins now."""
        for field, done in self._begin(kind):
            if done >= field.size:
                field.found = True
                return done == len(field.steps) or (kind != "an array" and kind != "null")
        return False

    def _value(self, kind: str, offset: int, step: str | int | None = None) -> ValueBuilder | None:
        """What builds the value that begins now, if it is selected; a container has a `step`."""
        if self._skipped:
            if step is not None:
                self._skipped += 1
            return None
        if not self._selects(kind):
            if step is not None:
                self._open(step)
            return None
        self._limit_text(offset, self._limit)
        if self.places is not None:
            self._place = offset, self.path()
        self._building = ValueBuilder()
        return self._building

    def _take(self, value: Any) -> None:
        """Keep the value that is complete now."""
        self.values.append(value)
        if self.places is not None:
            self.places.append(self._place)
        self._drop()

    def _drop(self) -> None:
        self._building = None
        self._depth = 0
        self._limit_text(0, FAR)
