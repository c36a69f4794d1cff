"""The entities that `entity=` declares, and how to find them in a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..finder import Place
from ..paths import SYNTAX, Pattern, fits, parse_pattern


class Entities:
    """The declarations of `entity=`: none, a name or pattern, several, or name → pattern.

    Entities are never nested: everything inside an entity is its data.
    """

    __slots__ = ("names", "places")

    def __init__(self, entity: str | Sequence[str] | Mapping[str, str] | None = None) -> None:
        self.places = _places(entity)
        self.names = list(dict.fromkeys(place.name for place in self.places))
        for at, place in enumerate(self.places):
            for other in self.places[at + 1 :]:
                if _overlap(place.pattern, other.pattern):
                    raise ValueError(
                        f"one entity cannot be inside another: {place.text!r} and {other.text!r}"
                    )

    @property
    def is_default(self) -> bool:
        """True if nothing was declared: the entities are a root array's elements, or the root."""
        return self.places[0].name is None and self.places[0].pattern == ()


def _places(entity: Any) -> list[Place]:
    if entity is None:
        return [Place((), "root")]
    if isinstance(entity, str):
        places = [_place(entity)]
    elif isinstance(entity, Mapping):
        places = [_place(text, name) for name, text in entity.items()]
    elif isinstance(entity, Sequence) and not isinstance(entity, bytes):
        places = [_place(text) for text in entity]
    else:
        raise TypeError(f"an entity must be a name, a pattern, or several, not {entity!r}")
    if not places:
        raise ValueError("no entity is declared; leave `entity` out to get the default")
    if list(map(type, places[0].pattern)) == [str] and len(places) == 1:
        places[0].in_root_array = True
    return places


def _place(text: Any, name: Any = None) -> Place:
    if not isinstance(text, str) or not isinstance(name, str | None):
        raise TypeError(f"the name and pattern of an entity must be strings, not {name or text!r}")
    pattern = pattern_of(text)
    if name is None:
        name = next((step for step in reversed(pattern) if isinstance(step, str)), None)
    return Place(pattern, text, name)


def pattern_of(text: str) -> Pattern:
    """Return the pattern of a text; text without pattern syntax is one key."""
    if not text:
        raise ValueError('a name or pattern is empty; the key "" is written [""]')
    is_key = text != "root" and SYNTAX.isdisjoint(text)
    return (text,) if is_key else parse_pattern(text)


def _overlap(pattern: Pattern, other: Pattern) -> bool:
    """Return whether a path of one pattern can be a path of the other, or lead to it."""
    return all(fits(a, b) or fits(b, a) for a, b in zip(pattern, other, strict=False))
