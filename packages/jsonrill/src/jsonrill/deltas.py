"""Operations that turn one JSON value into another: find them, and apply them.

    ["set", "/steps/0", {"title": "Book"}]      a member, an element or the root
    ["append", "/steps/0/title", " a flight"]   text at the end of a string
    ["splice", "/steps", 1, 2, []]              characters of a string, elements of a list
    ["remove", "/status"]                       a member or an element

`Update.delta` is a list of operations, and so is a change on the wire (docs/wire.md). A comparison
cuts off the equal beginning and end of two strings or lists. What is left of two lists it splits
where they are similar, in place or shifted, and compares both parts. What is not similar anywhere
is compared element by element. For `abcdef` and `xabcef`:

    abcd, xabc      without the equal end
    ab, xab         insert x at 0
    cd, c           remove d at 4
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product, repeat
from marshal import dumps
from math import isfinite
from operator import eq, is_
from reprlib import repr as short_repr
from sys import maxsize
from typing import Any, Final

from .errors import DEFAULT_LIMITS, InvalidMessage, Limits
from .jsontext import json_types_of
from .paths import ABSENT, BAD_POINTER, INDEX, to_pointer

Operation = list[Any]

# A splice that keeps fewer characters is longer than a `set` of the new string.
_MIN_KEPT: Final = 24
# How many elements on each side of a place in a list are compared, to see whether to split there.
_WINDOW: Final = 6
# The equal members at both ends of a larger object are skipped.
_SMALL_OBJECT: Final = 4
_ATOMS: Final = frozenset({int, float, bool, type(None)})
_JSON_TYPES: Final = _ATOMS | {dict, list, str, type(ABSENT)}


# ---- values ----


def copy_json(value: Any, limits: Limits = DEFAULT_LIMITS, depth: int = 0) -> Any:
    """Return a deep copy that consists of JSON types; models and dataclasses become objects.

    `depth` is the number of containers around the value.
    """
    if isinstance(value, str):
        if len(value) > limits.string:
            raise ValueError(f"a string has more than {limits.string} characters")
        return _join_surrogates(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    if depth >= limits.depth:
        raise ValueError(f"the value has more than {limits.depth} levels, or contains itself")
    if type(value) is dict:
        return {_check_key(key): copy_json(item, limits, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [copy_json(item, limits, depth + 1) for item in value]
    return copy_json(json_types_of(value), limits, depth)


def _check_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of a JSON object must be strings, not {short_repr(key)}")
    return _join_surrogates(key)


def _join_surrogates(text: str) -> str:
    """Return a plain string in which the halves of surrogate pairs are joined, as in JSON."""
    text = str.__str__(text)
    try:
        text.encode()  # which is much faster than a search for surrogates
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


# ---- difference ----


def difference(old: Any, new: Any) -> list[Operation]:
    """Return operations that turn `old` into `new`; `apply_delta` is the inverse.

    Both may contain dataclasses and models. The operations share nothing with `new`.
    """
    if old is new:
        return []
    old, new = _as_json_type(old), _as_json_type(new)
    if type(old) is type(new):
        if type(new) is dict:
            return _compare_objects(old, new)
        if type(new) is list:
            return _compare_lists(old, new)
        if old == new:
            return []
        if type(new) is str:
            return _compare_strings(_join_surrogates(old), _join_surrogates(new))
    return [["set", "", copy_json(new)]]


def _as_json_type(value: Any) -> Any:
    """Return the value if its type is a JSON type, else a copy of JSON types."""
    return value if type(value) in _JSON_TYPES else copy_json(value)


def _compare_objects(old: dict[str, Any], new: dict[str, Any]) -> list[Operation]:
    if len(old) + len(new) > 1 and old.keys().isdisjoint(new):
        return [["set", "", copy_json(new)]]
    operations = [["remove", to_pointer((_check_key(key),))] for key in old if key not in new]
    keys, before, after = [*new], [*map(old.get, new, repeat(ABSENT))], [*new.values()]
    front, back = _count_common_ends(before, after) if len(keys) > _SMALL_OBJECT else (0, 0)
    for at in range(front, len(keys) - back):
        operations += _prefix(_check_key(keys[at]), difference(before[at], after[at]))
    return operations


def _compare_lists(old: list[Any], new: list[Any]) -> list[Operation]:
    operations: list[Operation] = []
    length = len(new)
    # What is left to compare, from back to front, with the index of its first new element.
    parts = [(0, old, new)]
    while parts:
        start, old, new = parts.pop()
        front, back = _count_common_ends(old, new)
        start, old, new = start + front, old[front : len(old) - back], new[front : len(new) - back]
        if split := _find_split(old, new):
            i, j = split
            parts += (start + j, old[i:], new[j:]), (start, old[:i], new[:j])
        elif len(new) > 1 and None in (_encode(old), _encode(new)):  # there are models
            parts.append((start, copy_json(old), copy_json(new)))
        else:
            operations += _compare_elements(start, old, new, start + len(new) == length)
    return operations


def _compare_elements(
    start: int, old: list[Any], new: list[Any], is_end: bool
) -> Iterator[Operation]:
    """Yield the operations on a part of a list; nothing follows it if `is_end`."""
    # Short values that changed together take less space in one splice.
    is_replaced = len(new) > 1 and all(map(_is_short, new))
    pairs = 0 if is_replaced else min(len(old), len(new))
    for at in range(pairs):
        yield from _prefix(start + at, difference(old[at], new[at]))
    removed, added = len(old) - pairs, new[pairs:]
    if is_end and removed == 0 and len(added) == 1:
        yield ["set", f"/{start + pairs}", copy_json(added[0])]
    elif removed or added:
        yield ["splice", "", start + pairs, removed, copy_json(added)]


def _is_short(item: Any) -> bool:
    return type(item) in _ATOMS or (type(item) is str and len(item) < _MIN_KEPT)


def _find_split(old: list[Any], new: list[Any]) -> tuple[int, int] | None:
    """Return indices of elements around which two lists are equal, in place or shifted."""
    if not old or not new or len(old) == len(new) == 1:
        return None
    places = (len(old) // 2, len(old) // 4, 3 * len(old) // 4)
    shifts = {0, len(new) - len(old)}
    shifts |= {new.index(old[i]) - i for i in (0, *places) if old[i] in new}
    if new[0] in old:
        shifts.add(-old.index(new[0]))
    for i, shift in product(places, sorted(shifts, key=abs)):
        first, last = max(i - _WINDOW, -shift, 0), min(i + _WINDOW, len(new) - shift, len(old))
        equal = sum(map(eq, old[first:last], new[first + shift : last + shift]))
        # In place, and for short values, many small operations take more space than a large one.
        needed = 3 if shift == 0 or _is_short(old[i]) else 2
        if first <= i < last and (i or shift) and 4 * equal >= needed * (last - first):
            return i, i + shift
    return None


def _compare_strings(old: str, new: str) -> list[Operation]:
    if new.startswith(old):
        return [["append", "", new[len(old) :]]] if old != new else []
    front, back = _count_common_ends(old, new)
    if front + back < _MIN_KEPT:
        return [["set", "", new]]
    return [["splice", "", front, len(old) - front - back, new[front : len(new) - back]]]


def _prefix(key: str | int, operations: list[Operation]) -> list[Operation]:
    """Return the operations on a member or element as operations on its container."""
    for operation in operations:
        operation[1] = to_pointer((key,)) + operation[1]
    return operations


def _count_common_ends(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int]:
    """Return how many items at the beginning and at the end are equal."""
    front = _count_common_prefix(old, new)
    return front, _count_common_prefix(old[front:][::-1], new[front:][::-1])


def _count_common_prefix(old: Sequence[Any], new: Sequence[Any]) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if _is_same(old[low:middle], new[low:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _is_same(old: Any, new: Any) -> bool:
    """Return whether two strings or lists are equal as JSON; for `==` alone, 1 is True."""
    if old != new:
        return False
    if type(old) is str or all(map(is_, old, new)):
        return True
    encoded = _encode(old)
    return encoded is not None and encoded == _encode(new)


def _encode(value: Any) -> bytes | None:
    """Return bytes that differ for 1 and True, in a fifth of the time of `json.dumps`.

    None if there is anything but JSON types in the value.
    """
    try:
        return dumps(value, 2)  # later versions mark which parts are the same object
    except ValueError:
        return None


# ---- pointers ----


def parse_pointer(pointer: Any, limit: int = DEFAULT_LIMITS.depth) -> list[str]:
    """Return the keys of a JSON Pointer; InvalidMessage if it is not one."""
    if type(pointer) is not str or BAD_POINTER.match(pointer) or pointer.count("/") > limit:
        raise InvalidMessage(f"not a JSON Pointer of at most {limit} levels: {short_repr(pointer)}")
    keys = pointer.split("/")[1:]
    return [key.replace("~1", "/").replace("~0", "~") for key in keys] if "~" in pointer else keys


def resolve(value: Any, pointer: Any) -> Any:
    """Return the value at a JSON Pointer, ABSENT if there is none."""
    for token in parse_pointer(pointer):
        value = _get(value, _to_key(value, token))
    return value


def _to_key(container: Any, token: str) -> Any:
    """Return the key or index that a token names; an index beyond every list if it is not one."""
    if type(container) is not list:
        return token
    return int(token) if INDEX.fullmatch(token) else maxsize


def _get(container: Any, key: Any) -> Any:
    """Return the member or element with a key or index, ABSENT if there is none."""
    if type(container) is dict:
        return container.get(key, ABSENT)
    return container[key] if type(container) is list and key < len(container) else ABSENT


# ---- apply ----


def apply_delta(previous: Any, delta: list[Operation], *, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Return `previous` after the operations of `delta`. Unchanged values are shared.

    `InvalidMessage` if an operation is wrong or does not fit the value.
    """
    if type(delta) is not list:
        raise InvalidMessage(f"a delta must be a list of operations, not {short_repr(delta)}")
    patch = Patch(previous, limits)
    for operation in delta:
        patch.apply(operation)
    return patch.value


class Patch:
    """A value that operations change. It copies the containers that they change, once each.

    You may keep `value`: after each read, containers are copied again.
    """

    __slots__ = ("_limits", "_own", "_root")

    def __init__(self, value: Any, limits: Limits) -> None:
        self._root = {"": value}
        self._limits = limits
        # By id, the containers that were copied since `value` was read.
        self._own: dict[int, Any] = {}

    @property
    def value(self) -> Any:
        self._own.clear()
        return self._root[""]

    def apply(self, operation: Any) -> None:
        """Apply one operation. If it does not fit, the value stays as it was."""
        if type(operation) is not list or len(operation) < 2:
            raise InvalidMessage(f"{short_repr(operation)} is not an operation")
        name, pointer, *arguments = operation
        parent, key = self._locate(pointer)
        old, depth = _get(parent, key), pointer.count("/")
        match name, old, arguments:
            case "append", str(), [str() as new] if len(old) + len(new) <= self._limits.string:
                # Without a second owner CPython extends a string in place: it is not copied.
                parent[key] = ""
                old += new
                parent[key] = _join_surrogates(old) if "\udc00" <= new[:1] <= "\udfff" else old
            case "set", _, [new] if key == len(parent):
                parent.append(self._copy(new, depth))
            case "set", _, [new] if old is not ABSENT or type(parent) is dict:
                parent[key] = self._copy(new, depth)
            case "remove", _, [] if old is not ABSENT and parent is not self._root:
                del parent[key]
            case "splice", _, [start, count, new] if _can_splice(old, start, count, new):
                new = old[:start] + self._copy(new, depth) + old[start + count :]
                parent[key] = self._copy(new) if type(new) is str else new
            case _:
                raise InvalidMessage(f"{short_repr(operation)} is wrong or does not fit the value")

    def _copy(self, value: Any, depth: int = 0) -> Any:
        """Return a copy of a value inside `depth` containers; refuse values that are not JSON."""
        try:
            return copy_json(value, self._limits, depth)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidMessage(str(error)) from error

    def _locate(self, pointer: Any) -> tuple[Any, Any]:
        """Return the container that a pointer leads into, and the key in it."""
        parent: Any = self._root
        key: Any = ""
        for token in parse_pointer(pointer, self._limits.depth):
            container = _get(parent, key)
            if id(container) not in self._own:
                if type(container) is not dict and type(container) is not list:
                    raise InvalidMessage(f"{short_repr(pointer)} is not inside an object or list")
                container = parent[key] = container.copy()
                self._own[id(container)] = container
            parent, key = container, _to_key(container, token)
        return parent, key


def _can_splice(old: Any, start: Any, count: Any, new: Any) -> bool:
    if type(old) not in (str, list) or type(new) is not type(old):
        return False
    return type(start) is type(count) is int and 0 <= start <= start + count <= len(old)
