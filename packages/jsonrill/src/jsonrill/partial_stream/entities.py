"""The entities of a document: what `entity=` declares, and the sink that finds them.

`Entities` reads the declaration once. `Finder` is the machine's sink for all text outside
entities: it follows the patterns down the document and hands over at each entity's first event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..parse.sink import PlacedSink, Sink
from ..paths import ANY_INDEX, Pattern, Place, fits, parse_pattern

if TYPE_CHECKING:
    from ..schema import Schema
    from .checked import CheckedValue

# What a declaration is about, outside of which a text is simply a key.
_SYNTAX: Final = frozenset('.[]*"')


@dataclass(slots=True, eq=False)
class Declared:
    """One kind of entity: its name (None if it has none) and where in a document it may be.

    A pattern that ends in `[*]` means those elements. Any other one means the value there or, if
    that is an array, its elements; with `root_array`, also the elements of a root array.
    """

    name: str | None
    pattern: Pattern
    text: str
    root_array: bool = False


class Entities:
    """Everything that `entity=` declares: nothing, a name or pattern, several, or name → pattern.

    Entities are never inside one another: what is inside one is its data.
    """

    __slots__ = ("declared", "names")

    def __init__(self, entity: str | Sequence[str] | Mapping[str, str] | None = None) -> None:
        self.declared = _declared(entity)
        self.names = list(dict.fromkeys(declared.name for declared in self.declared))
        for at, one in enumerate(self.declared):
            for other in self.declared[at + 1 :]:
                if _overlap(one.pattern, other.pattern):
                    raise ValueError(
                        f"one entity cannot be inside another: {one.text!r} and {other.text!r}"
                    )

    @property
    def is_default(self) -> bool:
        """True if nothing was declared: the entities are a root array's elements, or the root."""
        return self.declared[0].name is None and self.declared[0].pattern == ()


def _declared(entity: Any) -> list[Declared]:
    if entity is None:
        return [Declared(None, (), "root")]
    if isinstance(entity, str):
        entities = [_one(entity)]
    elif isinstance(entity, Mapping):
        entities = [_one(text, name) for name, text in entity.items()]
    elif isinstance(entity, Sequence) and not isinstance(entity, bytes):
        entities = [_one(text) for text in entity]
    else:
        raise TypeError(f"an entity is a name, a pattern, or several, not {entity!r}")
    if not entities:
        raise ValueError("no entity is declared; leave `entity` out to get the default")
    if list(map(type, entities[0].pattern)) == [str] and len(entities) == 1:
        entities[0].root_array = True
    return entities


def _one(text: Any, name: Any = None) -> Declared:
    if not isinstance(text, str) or not isinstance(name, str | None):
        raise TypeError(f"the name and the pattern of an entity are texts, not {name or text!r}")
    pattern = pattern_of(text)
    if name is None:
        name = next((step for step in reversed(pattern) if isinstance(step, str)), None)
    return Declared(name, pattern, text)


def pattern_of(text: str) -> Pattern:
    """The pattern of a text; one without its syntax is a key, whatever else is in it."""
    if not text:
        raise ValueError('a name or pattern is empty; the key "" is written [""]')
    is_key = text != "root" and _SYNTAX.isdisjoint(text)
    return (text,) if is_key else parse_pattern(text)


def _overlap(one: Pattern, other: Pattern) -> bool:
    """True if a path of one pattern can be a path of the other, or lead to it."""
    return all(fits(a, b) or fits(b, a) for a, b in zip(one, other, strict=False))


# Patterns that fit the path to a container, each with the number of steps that are used up.
Alive = tuple[tuple[Declared, int], ...]
Inside = tuple[Alive, Declared | None]


class Finder(PlacedSink):
    """Follows the text outside entities; at each entity it calls `found` and tells it the rest.

    `found(declared, place, offset)` gives the sink for that entity and sees to it that the machine
    tells it what follows; `place` is None for the root. `next_document` is called after each
    document.
    With `whole`, an entity may come as one value instead of event by event.
    """

    __slots__ = ("_begun", "_on_entity", "_next_document", "_skipped", "_start", "_whole")

    def __init__(
        self,
        entities: Entities,
        on_entity: Callable[[Declared, Place | None, int], Sink],
        next_document: Callable[[], None],
        whole: bool,
    ) -> None:
        PlacedSink.__init__(self)
        self._on_entity = on_entity
        self._next_document = next_document
        self._whole = whole
        # Inside a container: what may be in it, and what each of its elements is.
        self._start: Inside = tuple((declared, 0) for declared in entities.declared), None
        self._inside: Inside = self._start
        # How deep we are in a container in which no entity can be.
        self._skipped = 0
        # Has an entity begun and been given up before its one event, that of a scalar, came?
        self._begun = False

    def start_object(self, offset: int) -> None:
        if self._skipped:
            self._skipped += 1
            return
        place = self._next()
        alive = self._alive(place)
        declared = self._entity(alive)
        if declared is not None:
            self._found_one(declared, place, offset).start_object(offset)
        else:
            self._open(alive, None, place, "")

    def start_array(self, offset: int) -> None:
        if self._skipped:
            self._skipped += 1
            return
        place = self._next()
        alive = self._alive(place)
        declared = self._entity(alive)
        if declared is not None and self._is_element(declared):
            self._found_one(declared, place, offset).start_array(offset)
        else:
            if not self._frames and alive[0][0].root_array:
                declared = alive[0][0]
            self._open(alive, declared, place, 0)

    def end_container(self, offset: int) -> None:
        if self._skipped:
            self._skipped -= 1
        else:
            self._leave()

    def key(self, key: str, offset: int) -> None:
        if not self._skipped:
            self._step = key

    def start_string(self, offset: int) -> None:
        sink = self.begin(offset)
        if sink is not None:
            sink.start_string(offset)
        elif not self._skipped:
            self._pass()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        sink = self.begin(offset)
        if sink is not None:
            sink.scalar(value, text, offset)
        elif self._begun:
            self._begun = False
        elif not self._skipped:
            self._pass()

    def takes_values(self) -> bool:
        return self._skipped > 0 or (self._whole and self._inside[1] is not None)

    def next_document(self) -> None:
        self._next_document()

    def reset(self) -> None:
        """Start over, before a document."""
        self._reset(self._start)
        self._skipped = 0
        self._begun = False

    def skip(self, depth: int, begun: bool = False) -> None:
        """Pass over the rest of an entity: of as many containers, or of a scalar that has begun."""
        self._skipped = depth
        self._begun = begun and not depth

    def begin(self, offset: int) -> Sink | None:
        """A value that is no container begins here: the sink of the entity, if it is one."""
        declared, place = self.next_entity()
        if declared is None:
            return None
        self._pass()
        return self._found_one(declared, place, offset)

    def next_entity(self) -> tuple[Declared | None, Place | None]:
        """What the next value is if it is an entity, or an array of them; and its place."""
        if self._skipped or self._begun:
            return None, None
        place = self._here()
        return self._entity(self._alive(place)), place

    def _found_one(self, declared: Declared, place: Place | None, offset: int) -> Sink:
        return self._on_entity(declared, place, offset)

    def _alive(self, place: Place | None) -> Alive:
        """The patterns that a value at this place of the open container may still fit."""
        alive, each = self._inside
        if place is None:
            return alive
        if each is not None:
            return ((each, -1),)
        return tuple(
            [
                (declared, used + 1)
                for declared, used in alive
                if used < len(declared.pattern) and fits(declared.pattern[used], place.key)
            ]
        )

    def _entity(self, alive: Alive) -> Declared | None:
        """The entity that a value is, if it is one. (Patterns do not overlap: there is one.)"""
        for declared, used in alive:
            if used < 0 or used == len(declared.pattern):
                return declared
        return None

    def _is_element(self, declared: Declared) -> bool:
        """True if an array here is an entity itself rather than a list of them."""
        return self._inside[1] is not None or declared.pattern[-1:] == (ANY_INDEX,)

    def _open(
        self, alive: Alive, each: Declared | None, place: Place | None, step: str | int
    ) -> None:
        if alive:
            self._enter(place, step, (alive, each))
        else:
            self._skipped = 1


class Entity:
    """One entity of a document: where it is, its schema, and the check of its value."""

    __slots__ = ("check", "document", "index", "name", "offset", "place", "schema")

    def __init__(
        self,
        index: int | None,
        name: str | None,
        place: Place | None = None,
        document: int = 0,
        schema: Schema | None = None,
        offset: int = 0,
    ) -> None:
        self.index = index
        self.name = name
        self.place = place
        self.document = document
        self.schema = schema
        self.check: CheckedValue | None = None
        self.offset = offset
