"""The change between two values, whatever they are, and how to make one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..paths import Place, from_pointer
from .replay import ROOT, Delta, change


def difference(old: Any, new: Any) -> Delta:
    """The change from one value to another one, whatever they are."""
    changes: Delta = []
    todo: list[tuple[Place, Any, Any]] = [(ROOT, old, new)]
    while todo:
        place, old, new = todo.pop()
        if old is new:
            continue
        if type(old) is not type(new):
            changes.append(change("replace", place, new))
        elif type(new) is dict and old.keys() <= new.keys():
            changes += [change("add", Place(place, key), new[key]) for key in new if key not in old]
            todo += [(Place(place, key), old[key], new[key]) for key in old]
        elif type(new) is list and len(old) <= len(new):
            changes += [change("add", Place(place, len(old) + at), item)
                        for at, item in enumerate(new[len(old) :])]  # fmt: skip
            todo += [(Place(place, at), item, new[at]) for at, item in enumerate(old)]
        elif type(new) is str and new.startswith(old):
            if new != old:
                changes.append(change("append", place, new[len(old) :]))
        elif type(new) in (dict, list) or old != new or repr(old) != repr(new):  # 0.0 and -0.0
            changes.append(change("replace", place, new))
    return changes


def apply_delta(previous: Any, delta: Iterable[Mapping[str, Any]]) -> Any:
    """`previous` with the changes of `delta` made. `previous` itself is not touched.

    What was there before an entity's first update is None. A delta that does not fit is a
    ValueError.
    """
    value = previous
    copied: dict[int, Any] = {}
    for op, pointer, new in _read(delta):
        path = from_pointer(pointer, value)
        if path:
            value = _own(value, copied)
            top = value
            for step in path[:-1]:
                top[step] = _own(top[step], copied)
                top = top[step]
            _set(top, path[-1], op, new, pointer)
        else:
            value = _appended(value, new, pointer) if op == "append" else new
    return value


def _read(delta: Any) -> Iterator[tuple[str, str, Any]]:
    if not isinstance(delta, Iterable) or isinstance(delta, (str, bytes, Mapping)):
        raise ValueError(f"a delta is a list of changes, not {type(delta).__name__}")
    for item in delta:
        if not isinstance(item, Mapping) or not item.keys() >= {"op", "path", "value"}:
            raise ValueError("a change has an op, a path and a value")
        op, pointer = item["op"], item["path"]
        if op not in ("add", "append", "replace") or not isinstance(pointer, str):
            raise ValueError("a change has an op of add, append or replace, and a JSON Pointer")
        yield op, pointer, item["value"]


def _own(container: Any, copied: dict[int, Any]) -> Any:
    """A container that is ours to write in. (Held on to, so that no other one gets its id.)"""
    if id(container) in copied:
        return container
    copy = container.copy()
    copied[id(copy)] = copy
    return copy


def _set(top: Any, step: Any, op: str, new: Any, pointer: str) -> None:
    there = step in top if isinstance(top, dict) else step < len(top)
    if op == "add":
        if isinstance(top, dict):
            top[step] = new
        elif step <= len(top):
            top.insert(step, new)
        else:
            raise ValueError(f"there is no place for {pointer!r}")
    elif not there:
        raise ValueError(f"there is no {pointer!r}")
    else:
        top[step] = _appended(top[step], new, pointer) if op == "append" else new


def _appended(old: Any, new: Any, pointer: str) -> str:
    if not isinstance(old, str) or not isinstance(new, str):
        raise ValueError(f"text is appended to a string, and {pointer!r} is no string")
    return old + new
