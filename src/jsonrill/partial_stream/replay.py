"""Entries of a log → the value that they build, or the delta that describes them.

An entry is a bare string, which is new text of the open string, or `(code, place, value)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..build.builder import ValueBuilder
from ..paths import Path, Place, to_pointer

Delta = list[dict[str, Any]]
Entry = tuple[int, Place, Any]

OBJECT: Final = 0
ARRAY: Final = 1
STRING: Final = 2
SCALAR: Final = 3
SHOWN: Final = 4  # provisional: a number that grows, a literal guessed, a zero value
END: Final = 5
END_STRING: Final = 6

# What each of them does to the depth of what is open.
_DEEPER: Final = (1, 1, 1, 0, 0, -1, -1)

# All places in a log hang below this one: the entity's own.
ROOT: Final = Place(None, "")


class Reading(ValueBuilder):
    """The state of an entity somewhere in its log."""

    __slots__ = ("_shown", "_under")

    def __init__(self) -> None:
        super().__init__()
        self._shown = False
        self._under: Any = None

    def read(self, entries: Iterable[Any]) -> None:
        for entry in entries:
            if type(entry) is str:
                self.text(entry)
            else:
                self.apply(*entry)
        self.stale = True

    def apply(self, code: int, place: Place, value: Any) -> None:
        if self._shown:
            self.hide(self._under)
            self._shown = False
        if code == END:
            self.end_container(0)
        elif code == END_STRING:
            self.end_string()
        else:
            if type(place.key) is str:
                self.key(place.key, 0)
            self._put_in(code, value)

    @property
    def open_path(self) -> Path | None:
        return self.last_path if self._shown else super().open_path

    def _put_in(self, code: int, value: Any) -> None:
        if code == SCALAR:
            self.scalar(value, None, 0)
        elif code == STRING:
            self.start_string(0)
        elif code == SHOWN:
            self._under = self.show(value)
            self._shown = True
        elif code == OBJECT:
            self.start_object(0)
        else:
            self.start_array(0)


def changes_of(entries: list[Any], string: Place | None, shown: Any) -> Delta:
    """Entries as a delta: text as `append`, a value that began as one `add` of all it holds.

    `shown` is the entry of the provisional value where the next value will be: that value takes
    its place, and goes on from it where they are alike.
    """
    changes: Delta = []
    draft: dict[str, Any] | None = None  # the change that shows it, if it is one of these
    at = 0
    while at < len(entries):
        entry = entries[at]
        if type(entry) is str:
            at, text = _joined(entries, at)
            changes.append(change("append", string or ROOT, text))
            continue
        code, place, value = entry
        if code >= END:
            at += 1
            continue
        if shown is not None and code != SHOWN and _goes_on(shown[2], value):
            at, string = at + 1, place
        else:
            at, value = _grown(entries, at)
            if draft is not None:
                draft["value"] = value
            else:
                draft = change("add" if shown is None else "replace", place, value)
                changes.append(draft)
        shown = entry if code == SHOWN else None
        if shown is None:
            draft = None
    return changes


def completed(entries: Iterable[Any]) -> Iterator[Path]:
    """The paths of the values that these entries complete, in that order."""
    for entry in entries:
        if type(entry) is not str:
            code, place, value = entry
            if code == SCALAR:
                yield from complete_paths(value, place.path[1:])
            elif code >= END:
                yield place.path[1:]


def complete_paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all values in a complete one, in the order in which they end."""
    todo: list[tuple[Any, Path, bool]] = [(value, path, False)]
    while todo:
        value, path, seen = todo.pop()
        if seen or not isinstance(value, (dict, list)):
            yield path
            continue
        todo.append((value, path, True))
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        todo += [(item, (*path, step), False) for step, item in reversed([*inside])]


def _goes_on(shown: Any, value: Any) -> bool:
    """True if the value starts out equal to the provisional one, so no operation is needed."""
    return type(shown) is type(value) and same(shown, value)


def _joined(entries: list[Any], start: int) -> tuple[int, str]:
    at = start + 1
    while at < len(entries) and type(entries[at]) is str:
        at += 1
    return at, entries[start] if at == start + 1 else "".join(entries[start:at])


def _grown(entries: list[Any], at: int) -> tuple[int, Any]:
    """All that these entries tell of the value that begins at `at`, and where that ends."""
    code, _, value = entries[at]
    if code >= SCALAR:
        return at + 1, value
    tree = Reading()
    depth = 0
    while at < len(entries):
        entry = entries[at]
        tree.read((entry,))
        at += 1
        if type(entry) is tuple:
            depth += _DEEPER[entry[0]]
            if not depth:
                break
    return at, tree.live


def change(op: str, place: Place, value: Any) -> dict[str, Any]:
    return {"op": op, "path": to_pointer(place.path[1:]), "value": value}


def same(old: Any, new: Any) -> bool:
    """True if both are the same JSON value: `1` and `1.0` are, `1` and `true` are not."""
    return bool(old == new) and (type(old) is bool) == (type(new) is bool)
