"""Entries of a log → the value that they build, or the delta that describes them.

An entry is a bare string, which is new text of the open string, or `(code, place, value)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..build.builder import ValueBuilder
from ..paths import Path, Place, to_pointer
from .codes import DEEPER, END, END_STRING, OBJECT, SCALAR, SHOWN, STRING

Delta = list[dict[str, Any]]
Entry = tuple[int, Place, Any]

# All places in a log hang below this one: the entity's own.
ROOT: Final = Place(None, "")


class ReplayedValue(ValueBuilder):
    """The state of an entity somewhere in its log."""

    __slots__ = ("_shown", "_under")

    def __init__(self) -> None:
        super().__init__()
        self._shown = False
        self._under: Any = None

    def read(self, entries: list[Any], start: int, end: int) -> None:
        """Apply the entries from one position to another."""
        for at in range(start, end):
            entry = entries[at]
            if type(entry) is str:
                self.text(entry)
            else:
                self._apply(entry[0], entry[1], entry[2])
        self.stale = True

    def _apply(self, code: int, place: Place, value: Any) -> None:
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
        return self.last_path if self._shown else self.path_of_open()

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


def changes_of(entries: list[Any], at: int, end: int, string: Place | None, shown: Any) -> Delta:
    """The entries from `at` to `end` as a delta.

    Text is an `append`, a value that began one `add` of all it holds. `shown` is the entry of the
    provisional value where the next value will be: that value takes its place, and goes on from it
    where they are alike.
    """
    changes: Delta = []
    draft: dict[str, Any] | None = None  # the change that shows it, if it is one of these
    while at < end:
        entry = entries[at]
        if type(entry) is str:
            start = at
            at = _end_of_text(entries, at, end)
            text = _joined(entries, start, at)
            changes.append(change("append", ROOT if string is None else string, text))
            continue
        code, place, value = entry
        if code >= END:
            at += 1
            continue
        if shown is not None and code != SHOWN and _goes_on(shown[2], value):
            at, string = at + 1, place
        else:
            start = at
            at = _end_of_value(entries, at, end)
            value = _grown(entries, start, at)
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


def _end_of_text(entries: list[Any], at: int, end: int) -> int:
    """Where the entries that are text end."""
    while at < end and type(entries[at]) is str:
        at += 1
    return at


def _joined(entries: list[Any], start: int, end: int) -> str:
    if end - start == 1:
        text: str = entries[start]
        return text
    return "".join(entries[start:end])


def _end_of_value(entries: list[Any], at: int, end: int) -> int:
    """Where the entries of the value that begins at `at` end."""
    depth = 0
    while at < end:
        entry = entries[at]
        at += 1
        if type(entry) is not str:
            depth += DEEPER[entry[0]]
            if depth == 0:
                break
    return at


def _grown(entries: list[Any], start: int, end: int) -> Any:
    """All that these entries tell of the value that begins with them."""
    code, _, value = entries[start]
    if code >= SCALAR:
        return value
    if code == STRING:
        # Without a tree: most values that begin with a piece are strings.
        return _joined(entries, start + 1, _end_of_text(entries, start + 1, end))
    tree = ReplayedValue()
    tree.read(entries, start, end)
    return tree.root


def change(op: str, place: Place, value: Any) -> dict[str, Any]:
    return {"op": op, "path": pointer_of(place), "value": value}


def pointer_of(place: Place) -> str:
    """The JSON Pointer of a place in a log, within the entity."""
    return to_pointer(place.path[1:])


def same(old: Any, new: Any) -> bool:
    """True if both are the same JSON value: `1` and `1.0` are, `1` and `true` are not."""
    return bool(old == new) and (type(old) is bool) == (type(new) is bool)
