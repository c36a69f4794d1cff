"""Operations: what turns one JSON value into another, and their effect on a value.

    ["set", "/steps/0", {"title": "Book"}]      a member, an element or the root
    ["append", "/steps/0/title", " a flight"]   text at the end of a string
    ["splice", "/steps", 1, 2, []]              characters of a string, elements of a list
    ["remove", "/status"]                       a member or an element

`Update.delta` is a list of operations, and so is a change on the wire (docs/wire.md). No value is
changed in place: `apply_delta` copies the containers on the path to a change and shares the rest.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any, Final

from .errors import DEFAULT_LIMITS, InvalidMessage, Limits
from .jsontext import SURROGATE
from .paths import ABSENT, to_pointer

Operation = list[Any]

MAX_LEVELS: Final = 256
# A splice that keeps fewer characters is longer than a `set` of the new string.
_MIN_KEPT: Final = 24
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_JSON_TYPES: Final = frozenset({dict, list, *_SCALARS})
# The number of items in each operation on a value.
LENGTHS: Final = {"set": 3, "append": 3, "splice": 5, "remove": 2}
_INDEX: Final = re.compile("0|[1-9][0-9]{0,15}")
_BAD_ESCAPE: Final = re.compile("~(?![01])")


# ---- values ----


def plain(value: Any, levels: int = MAX_LEVELS) -> Any:
    """Return a deep copy that consists of JSON types; models and dataclasses become objects."""
    kind = type(value)
    if kind is str:
        return _join_surrogates(value)
    if value is None or kind is bool or kind is int or (kind is float and isfinite(value)):
        return value
    if isinstance(value, Mapping):
        inner = _enter(levels)
        return {_plain_key(key): plain(item, inner) for key, item in value.items()}
    if isinstance(value, list | tuple):
        inner = _enter(levels)
        return [plain(item, inner) for item in value]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"), levels)
    if is_dataclass(value) and not isinstance(value, type):
        members = {field.name: getattr(value, field.name) for field in fields(value)}
        return plain(members, levels)
    for base in (int, float, str):  # enumerations and other subclasses
        if isinstance(value, base) and kind is not base:
            return plain(str.__str__(value) if base is str else base(value), levels)
    if kind is float:
        raise ValueError(f"{value!r} is not a JSON value")
    raise TypeError(f"a {kind.__name__} is not a JSON value: {value!r:.80}")


def _enter(levels: int) -> int:
    if levels == 0:
        raise ValueError(f"the value has more than {MAX_LEVELS} levels, or contains itself")
    return levels - 1


def _plain_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of a JSON object are strings, not {key!r:.80}")
    return _join_surrogates(str.__str__(key))


def _join_surrogates(text: str) -> str:
    """Join the halves of surrogate pairs, as a JSON reader does."""
    if text.isascii() or not SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def is_equal(old: Any, new: Any) -> bool:
    """Compare deeply; 1, 1.0 and True differ. Models in the values are compared as objects."""
    if old is new:
        return True
    kind = type(new)
    if type(old) is not kind or kind not in _JSON_TYPES:
        is_json = kind in _JSON_TYPES and type(old) in _JSON_TYPES
        return not is_json and is_equal(plain(old), plain(new))
    if kind in _SCALARS:
        return bool(old == new)
    if len(old) != len(new):
        return False
    if kind is list:
        return all(map(is_equal, old, new))
    get = old.get
    for key, item in new.items():
        before = get(key, ABSENT)
        if before is item:
            continue
        if type(before) is type(item) and type(item) in _SCALARS:
            if before != item:  # without a call, which would take twice as long
                return False
        elif before is ABSENT or not is_equal(before, item):
            return False
    return True


# ---- difference ----


def difference(old: Any, new: Any) -> list[Operation]:
    """Return operations that turn `old` into `new`; `apply_delta` is the inverse.

    Both may contain dataclasses and models. The operations share nothing with `new`.
    """
    comparison = Comparison()
    comparison.compare(old, new)
    return comparison.operations


class Comparison:
    """Notes operations that turn one value into another."""

    __slots__ = ("_path", "operations")

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._path: list[str | int] = []

    def compare(self, old: Any, new: Any) -> Any:
        """Return `old` if it equals `new`. Otherwise note how it changed, and return a copy of
        `new` that shares the unchanged parts with `old`."""
        if old is new:
            return old
        kind = type(new)
        if kind not in _JSON_TYPES:
            new = plain(new, MAX_LEVELS - len(self._path))
            kind = type(new)
        if type(old) not in _JSON_TYPES:
            old = plain(old)
        if type(old) is not kind:
            return self._set(new)
        if kind is dict:
            return self._compare_objects(old, new)
        if kind is list:
            return self._compare_lists(old, new)
        if old == new:
            return old
        return self._compare_strings(old, new) if kind is str else self._set(new)

    def _compare_objects(self, old: dict[str, Any], new: dict[str, Any]) -> Any:
        path = self._path
        removed = [] if old.keys() <= new.keys() else [key for key in old if key not in new]
        if len(removed) == len(old) and len(old) + len(new) > 1:
            return self._set(new)
        copy = old.copy() if removed else None
        for key in removed:
            del copy[key]  # type: ignore[union-attr]
            path.append(key)
            self._note("remove")
            path.pop()
        for key, item in new.items():
            before = old.get(key, ABSENT)
            if before is item:
                continue
            if before is ABSENT:
                key = _plain_key(key)
            path.append(key)
            value = self._set(item) if before is ABSENT else self.compare(before, item)
            path.pop()
            if value is not before:
                copy = old.copy() if copy is None else copy
                copy[key] = value
        return old if copy is None else copy

    def _compare_lists(self, old: list[Any], new: list[Any]) -> list[Any]:
        shorter = min(len(old), len(new))
        front = 0
        for before, item in zip(old, new, strict=False):
            if before is not item and not is_equal(before, item):
                break
            front += 1
        if front == len(old) == len(new):
            return old
        back = 0
        while back < shorter - front and is_equal(old[-1 - back], new[-1 - back]):
            back += 1
        end = len(old) - back, len(new) - back
        copy = old[:front]
        i = j = front
        for match in [*_matches(old, new, front, *end), end]:
            while i < match[0] and j < match[1]:  # elements that changed
                self._path.append(j)
                copy.append(self.compare(old[i], new[j]))
                self._path.pop()
                i, j = i + 1, j + 1
            if i < match[0] or j < match[1]:
                copy += self._splice_list(j, match[0] - i, new[j : match[1]], len(new))
            if match != end:
                copy.append(old[match[0]])
            i, j = match[0] + 1, match[1] + 1
        return copy + old[end[0] :]

    def _splice_list(self, start: int, count: int, new: list[Any], length: int) -> list[Any]:
        if count == 0 and len(new) == 1 and start + 1 == length:
            self._path.append(start)
            added = [self._set(new[0])]
            self._path.pop()
        else:
            added = plain(new, MAX_LEVELS - len(self._path))
            self._note("splice", start, count, added)
        return added

    def _compare_strings(self, old: str, new: str) -> str:
        old, new = _join_surrogates(old), _join_surrogates(new)
        if new.startswith(old):
            if len(new) > len(old):
                self._note("append", new[len(old) :])
            return new
        front = _common_prefix(old, new)
        back = _common_prefix(old[front:][::-1], new[front:][::-1])
        if front + back < _MIN_KEPT:
            self._note("set", new)
        else:
            count = len(old) - front - back
            self._note("splice", front, count, new[front : len(new) - back])
        return new

    def _set(self, value: Any) -> Any:
        value = plain(value, MAX_LEVELS - len(self._path))
        self._note("set", value)
        return value

    def _note(self, name: str, *arguments: Any) -> None:
        self.operations.append([name, to_pointer(tuple(self._path)), *arguments])


def _common_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _matches(
    old: list[Any], new: list[Any], front: int, old_end: int, new_end: int
) -> list[tuple[int, int]]:
    """Return pairs of indices of equal elements between the ends, increasing in both lists."""
    if front in (old_end, new_end) or front + 1 == old_end == new_end:
        return []
    shorter, longer = sorted((old_end, new_end))
    in_place = [(i, i) for i in range(front, shorter) if is_equal(old[i], new[i])]
    if 2 * len(in_place) >= longer - front:
        return in_place
    # A patience diff: of the elements that both lists have, the longest run in the same order.
    indices: dict[str, list[int]] = {}
    for i in reversed(range(front, old_end)):
        indices.setdefault(_ENCODE(old[i]), []).append(i)
    tops: list[int] = []
    runs: list[Any] = []  # for each pile the longest run that ends there, as a linked list
    for j in range(front, new_end):
        if found := indices.get(_ENCODE(new[j])):
            i = found.pop()
            pile = bisect_left(tops, i)
            tops[pile : pile + 1] = [i]
            runs[pile : pile + 1] = [((i, j), runs[pile - 1] if pile else None)]
    pairs = []
    run = runs[-1] if runs else None
    while run is not None:
        pair, run = run
        pairs.append(pair)
    return pairs[::-1]


_ENCODE: Final = json.JSONEncoder(default=plain).encode


# ---- pointers ----


def tokens_of(pointer: Any, limit: int = MAX_LEVELS) -> list[str]:
    """Return the keys of a JSON Pointer; InvalidMessage if it is not one."""
    if pointer == "":
        return []
    if type(pointer) is not str or pointer[0] != "/" or _BAD_ESCAPE.search(pointer):
        raise InvalidMessage(f"{pointer!r:.80} is not a JSON Pointer")
    tokens = pointer[1:].split("/")
    if len(tokens) > limit:
        raise InvalidMessage(f"{pointer!r:.80} has more than {limit} levels")
    if "~" in pointer:
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in tokens]
    return tokens


def resolve(value: Any, pointer: Any) -> Any:
    """Return the value at a JSON Pointer, ABSENT if there is none."""
    for token in tokens_of(pointer):
        if type(value) is dict:
            value = value.get(token, ABSENT)
        elif type(value) is list and _INDEX.fullmatch(token) and int(token) < len(value):
            value = value[int(token)]
        else:
            return ABSENT
    return value


def prefixes_of(pointer: str) -> Iterator[str]:
    """Yield the pointers of the containers around a value, and its own."""
    yield ""
    for at, character in enumerate(pointer[1:], start=1):
        if character == "/":
            yield pointer[:at]
    if pointer:
        yield pointer


# ---- apply ----


def apply_delta(previous: Any, delta: list[Operation], *, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Return `previous` after the operations of `delta`, which are not changed.

    `InvalidMessage` if an operation is wrong or does not fit the value.
    """
    if type(delta) is not list:
        raise InvalidMessage(f"a delta is a list of operations, not {delta!r:.80}")
    patch = Patch(previous, limits)
    for operation in delta:
        patch.apply(operation)
    return patch.value


class Patch:
    """Applies operations to a value, after copying the containers that they change."""

    __slots__ = ("_limits", "_own", "_root", "length")

    def __init__(self, value: Any, limits: Limits) -> None:
        self._root = [value]
        self._limits = limits
        # The length of the string that was appended to last.
        self.length = 0
        # The containers that were copied here, by id.
        self._own: dict[int, Any] = {}

    @property
    def value(self) -> Any:
        return self._root[0]

    def apply(self, operation: Any) -> None:
        if not is_operation(operation):
            raise InvalidMessage(f"{operation!r:.80} is not an operation")
        name, pointer, *arguments = operation
        levels, parent, key = self._locate(pointer)
        if name == "set":
            check_value(arguments[0], levels, self._limits)
            if type(parent) is list and key == len(parent):
                parent.append(arguments[0])
            else:
                parent[key] = arguments[0]
        elif not _has(parent, key) or (name == "remove" and parent is self._root):
            raise InvalidMessage(f"there is nothing to {name} at {pointer!r:.80}")
        elif name == "remove":
            del parent[key]
        elif name == "append":
            self._append(parent, key, *arguments)
        else:
            parent[key] = self._splice(parent[key], levels, *arguments)

    def _locate(self, pointer: Any) -> tuple[int, Any, Any]:
        """Return how many levels are left below `pointer`, and the container and key there."""
        tokens = tokens_of(pointer, self._limits.depth)
        parent: Any = self._root
        key: Any = 0
        for token in tokens:
            container = parent[key] if _has(parent, key) else None
            if type(container) is not dict and type(container) is not list:
                raise InvalidMessage(f"{pointer!r:.80} is not inside an object or list")
            if id(container) not in self._own:
                container = parent[key] = container.copy()
                self._own[id(container)] = container
            parent, key = container, token
            if type(parent) is list:
                if not _INDEX.fullmatch(token) or int(token) > len(parent):
                    raise InvalidMessage(f"{pointer!r:.80} is not in the list")
                key = int(token)
        return self._limits.depth - len(tokens), parent, key

    def _append(self, parent: Any, key: Any, new: Any) -> None:
        text = parent[key]
        if type(text) is not str or type(new) is not str:
            raise InvalidMessage(f"text is appended to a string, not {new!r:.40} to {text!r:.40}")
        self.length = len(text) + len(new)
        check_length(self.length, self._limits)
        # Without a second owner CPython extends a string in place.
        parent[key] = ""
        text += new
        parent[key] = text

    def _splice(self, old: Any, levels: int, start: Any, count: Any, new: Any) -> Any:
        if type(new) is not type(old) or type(old) not in (str, list):
            raise InvalidMessage(f"{new!r:.40} cannot be spliced into {old!r:.40}")
        if type(start) is not int or type(count) is not int or start < 0 or count < 0:
            raise InvalidMessage(f"{start!r:.40}, {count!r:.40} is not a range")
        if start + count > len(old):
            raise InvalidMessage(f"{start}, {count} is not a range in a length of {len(old)}")
        check_value(new, levels, self._limits)
        if type(old) is str:
            check_length(len(old) - count + len(new), self._limits)
        return old[:start] + new + old[start + count :]


def is_operation(operation: Any) -> bool:
    """Return whether this has the form of an operation on the value."""
    if type(operation) is not list or not operation or type(operation[0]) is not str:
        return False
    return LENGTHS.get(operation[0]) == len(operation)


def _has(parent: Any, key: Any) -> bool:
    return key in parent if type(parent) is dict else key < len(parent)


def check_value(value: Any, levels: int, limits: Limits) -> None:
    """Refuse a value that is too deep, has a string that is too long, or is not JSON."""
    layer = [value]
    while layer:
        inner: list[Any] = []
        is_deeper = False
        for item in layer:
            kind = type(item)
            if kind is str:
                check_length(len(item), limits)
            elif kind is dict or kind is list:
                is_deeper = True
                inner += item.values() if kind is dict else item
            elif kind not in _JSON_TYPES or (kind is float and not isfinite(item)):
                raise InvalidMessage(f"{item!r:.80} is not a JSON value")
        if is_deeper and levels == 0:
            raise InvalidMessage(f"a value has more than {limits.depth} levels")
        levels -= 1
        layer = inner


def check_length(length: int, limits: Limits) -> None:
    if length > limits.string:
        raise InvalidMessage(f"a string has more than {limits.string} characters")
