"""The entities that `entity=` declares, and how to find them in a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..parse.machine import Frame
from ..paths import ANY_INDEX, Pattern, fits, parse_pattern

# Text without these characters is a key.
_SYNTAX: Final = frozenset('.[]*"')


@dataclass(slots=True, eq=False)
class Declared:
    """One kind of entity: its name, or None, and where it may be in a document.

    A pattern that ends in `[*]` selects elements. Any other pattern selects the value there or, if
    it is an array, its elements; with `in_root_array`, also the elements of a root array.
    """

    name: str | None
    pattern: Pattern
    text: str
    in_root_array: bool = False

    @property
    def is_of_elements(self) -> bool:
        return self.pattern[-1:] == (ANY_INDEX,)


class Entities:
    """Everything that `entity=` declares: nothing, a name or pattern, several, or name → pattern.

    Entities are never nested: everything inside an entity is its data.
    """

    __slots__ = ("declared", "names")

    def __init__(self, entity: str | Sequence[str] | Mapping[str, str] | None = None) -> None:
        self.declared = _declare_all(entity)
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

    def find(self, frames: list[Frame], depth: int, is_array: bool) -> Declared | None:
        """Return the kind of entity that a value inside the first `depth` frames is, or None."""
        for declared in self.declared:
            size = len(declared.pattern)
            if size == depth:
                if (not is_array or declared.is_of_elements) and _leads(declared, frames, depth):
                    return declared
            if size == depth - 1 and not frames[depth - 1].is_object:
                if not declared.is_of_elements and _leads(declared, frames, size):
                    return declared
            if declared.in_root_array and depth == 1 and not frames[0].is_object:
                return declared
        return None

    def is_list(self, frames: list[Frame], depth: int) -> bool:
        """Return whether an array inside the first `depth` frames may have entities in it."""
        return any(
            (depth == 0 and declared.in_root_array)
            or (
                depth <= len(declared.pattern)
                and declared.pattern[depth : depth + 1] in ((), (ANY_INDEX,))
                and _leads(declared, frames, depth)
            )
            for declared in self.declared
        )

    def may_contain(self, frames: list[Frame]) -> bool:
        """Return whether a value inside these frames may be an entity, or have one in it."""
        depth = len(frames)
        return any(
            (declared.in_root_array and depth <= 1)
            or (
                depth <= len(declared.pattern) + 1
                and _leads(declared, frames, min(depth, len(declared.pattern)))
            )
            for declared in self.declared
        )


def _leads(declared: Declared, frames: list[Frame], depth: int) -> bool:
    """Return whether the first `depth` frames match the declared pattern."""
    for want, frame in zip(declared.pattern, frames[:depth], strict=False):
        if not fits(want, frame.key if frame.is_object else frame.count):
            return False
    return True


def _declare_all(entity: Any) -> list[Declared]:
    if entity is None:
        return [Declared(None, (), "root")]
    if isinstance(entity, str):
        entities = [_declare(entity)]
    elif isinstance(entity, Mapping):
        entities = [_declare(text, name) for name, text in entity.items()]
    elif isinstance(entity, Sequence) and not isinstance(entity, bytes):
        entities = [_declare(text) for text in entity]
    else:
        raise TypeError(f"an entity is a name, a pattern, or several, not {entity!r}")
    if not entities:
        raise ValueError("no entity is declared; leave `entity` out to get the default")
    if list(map(type, entities[0].pattern)) == [str] and len(entities) == 1:
        entities[0].in_root_array = True
    return entities


def _declare(text: Any, name: Any = None) -> Declared:
    if not isinstance(text, str) or not isinstance(name, str | None):
        raise TypeError(f"the name and the pattern of an entity are texts, not {name or text!r}")
    pattern = pattern_of(text)
    if name is None:
        name = next((step for step in reversed(pattern) if isinstance(step, str)), None)
    return Declared(name, pattern, text)


def pattern_of(text: str) -> Pattern:
    """Return the pattern of a text; text without pattern syntax is one key."""
    if not text:
        raise ValueError('a name or pattern is empty; the key "" is written [""]')
    is_key = text != "root" and _SYNTAX.isdisjoint(text)
    return (text,) if is_key else parse_pattern(text)


def _overlap(one: Pattern, other: Pattern) -> bool:
    """Return whether a path of one pattern can be a path of the other, or lead to it."""
    return all(fits(a, b) or fits(b, a) for a, b in zip(one, other, strict=False))
