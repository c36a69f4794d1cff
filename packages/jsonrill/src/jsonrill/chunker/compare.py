"""Comparing trees: whether one is empty or may be rewritten, and how two differ.

None of them knows what was written or how; none recurses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ..paths import ABSENT, Path, Place
from .snapshot import Tree

NOTHING: Final[Any] = object()  # no value is open here

_ZEROS: Final = (b"0", b"0.0")


class Difference(NamedTuple):
    """Something at `path` is not as it was; `gone` when it is merely missing."""

    path: Path
    was: Tree
    now: Tree
    gone: bool


def is_empty(tree: Tree) -> bool:
    """Nothing in it, at any depth: what a skeleton shows before a value is filled in."""
    todo = [tree]
    while todo:
        value = todo.pop()
        kind = type(value)
        if kind is dict:
            todo += value.values()
        elif kind is list:
            todo += value
        elif kind is bytes:
            if value not in _ZEROS:
                return False
        elif value is not None and value != "":
            return False
    return True


def is_blank(tree: Tree) -> bool:
    """Nothing but nulls: how a typed source shows a value, or a whole object, it has not begun."""
    todo = [tree]
    while todo:
        value = todo.pop()
        if type(value) is dict and value:
            todo += value.values()
        elif type(value) is list and value:
            todo += value
        elif value is not None:
            return False
    return True


def differences(was: Tree, now: Tree, *, placeholder: bool, at: Path = ()) -> Iterator[Difference]:
    """The differences between a complete value and its value now, in document order.

    A key or element that is missing, or null when nulls are placeholders, is `gone`. A container
    that got more members is reported itself.
    """
    todo: list[tuple[Place | None, Tree, Tree]] = [(None, was, now)]
    while todo:
        place, old, new = todo.pop()
        if new is ABSENT or (placeholder and new is None and old is not None):
            yield Difference(_path(at, place), old, new, True)
        elif type(old) is dict and type(new) is dict:
            more: Iterable[Tree] = [new[key] for key in new.keys() - old.keys()]
            if more:
                yield Difference(
                    _path(at, place), old, new, placeholder and all(map(is_blank, more))
                )
            todo += [(Place(place, key), old[key], new.get(key, ABSENT)) for key in reversed(old)]
        elif type(old) is list and type(new) is list:
            if more := new[len(old) :]:
                yield Difference(
                    _path(at, place), old, new, placeholder and all(map(is_blank, more))
                )
            new = new + [ABSENT] * (len(old) - len(new))
            todo += [(Place(place, i), old[i], new[i]) for i in reversed(range(len(old)))]
        elif old != new:
            yield Difference(_path(at, place), old, new, False)


def _path(at: Path, place: Place | None) -> Path:
    return at if place is None else at + place.path
