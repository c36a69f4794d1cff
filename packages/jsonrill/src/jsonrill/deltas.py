"""Operations that turn one JSON value into another: find them, and apply them.

    ["set", "/steps/0", {"title": "Book"}]      a member, an element or the root
    ["append", "/steps/0/title", " a flight"]   text at the end of a string
    ["splice", "/steps", 1, 2, []]              characters of a string, elements of a list
    ["remove", "/status"]                       a member or an element

`Update.delta` is a list of operations, and so is a change on the wire (docs/wire.md). A comparison
cuts off the equal beginning and end of two strings, lists or objects, and then compares what is
left item by item.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress, count
from marshal import dumps
from math import isfinite
from operator import eq, is_
from sys import maxsize
from typing import Any, Final

from .errors import DEFAULT_LIMITS, InvalidMessage, Limits
from .jsontext import json_types_of
from .paths import ABSENT, to_pointer

Operation = list[Any]

# A splice that keeps fewer characters is longer than a `set` of the new string.
_MIN_KEPT: Final = 24
# Objects with more members are compared by their ends first.
_SMALL_OBJECT: Final = 16
_ATOMS: Final = frozenset({int, float, bool, type(None)})
_JSON_TYPES: Final = _ATOMS | {dict, list, str, type(ABSENT)}
_INDEX: Final = re.compile("0|[1-9][0-9]{0,15}")
_BAD_ESCAPE: Final = re.compile("~(?![01])")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


# ---- values ----


def plain(value: Any, limits: Limits = DEFAULT_LIMITS, depth: int = 0) -> Any:
    """Return a deep copy that consists of JSON types; models and dataclasses become objects.

    `depth` is the number of containers around the value.
    """
    if isinstance(value, str):
        if len(value) > limits.string:
            raise ValueError(f"a string has more than {limits.string} characters")
        return _joined(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    if depth >= limits.depth:
        raise ValueError(f"the value has more than {limits.depth} levels, or contains itself")
    if type(value) is dict:
        return {_plain_key(key): plain(item, limits, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, limits, depth + 1) for item in value]
    return plain(json_types_of(value), limits, depth)


def _plain_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of a JSON object must be strings, not {key!r:.80}")
    return _joined(key)


def _joined(text: str) -> str:
    """Return a plain string in which the halves of surrogate pairs are joined, as in JSON."""
    text = str.__str__(text)
    try:
        text.encode()  # which is much faster than a search for surrogates
    except UnicodeEncodeError:
        return _PAIR.sub(_join, text)
    return text


def _begins_with_half(text: str) -> bool:
    """Return whether the text begins with the second half of a surrogate pair."""
    return "\udc00" <= text[:1] <= "\udfff"


def _join(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


# ---- difference ----


def difference(old: Any, new: Any) -> list[Operation]:
    """Return operations that turn `old` into `new`; `apply_delta` is the inverse.

    Both may contain dataclasses and models. The operations share nothing with `new`.
    """
    if old is new:
        return []
    old, new = _as_json_type(old), _as_json_type(new)
    kinds = type(old), type(new)
    if kinds == (dict, dict):
        return _compare_objects(old, new)
    if kinds == (list, list):
        return _compare_lists(old, new)
    if old == new and kinds[0] is kinds[1]:
        return []
    if kinds == (str, str):
        return _compare_strings(old, new)
    return [["set", "", plain(new)]]


def _as_json_type(value: Any) -> Any:
    """Return the value if its type is a JSON type, else a copy of JSON types."""
    return value if type(value) in _JSON_TYPES else plain(value)


def _compare_objects(old: dict[str, Any], new: dict[str, Any]) -> list[Operation]:
    if len(old) + len(new) > 1 and old.keys().isdisjoint(new):
        return [["set", "", plain(new)]]
    operations = [["remove", to_pointer((_plain_key(key),))] for key in old if key not in new]
    for key in _unequal_keys(old, new):
        operations += _prefix(_plain_key(key), difference(old.get(key, ABSENT), new[key]))
    return operations


def _unequal_keys(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the keys of `new`; for a large object, without the equal members at both ends."""
    count, keys = len(old), list(new)
    if count <= _SMALL_OBJECT or list(old) != keys[:count]:
        return keys
    front, back = _common_ends([*old.values()], [*new.values()][:count])
    return keys[front : count - back] + keys[count:]


def _compare_lists(old: list[Any], new: list[Any]) -> list[Operation]:
    front, back = _common_ends(old, new)
    before, after = old[front : len(old) - back], new[front : len(new) - back]
    operations: list[Operation] = []
    i = j = 0
    for match in [*_matches(before, after), (len(before), len(after))]:
        is_replaced = match[1] - j > 1 and _are_atoms(after[j : match[1]])
        while i < match[0] and j < match[1] and not is_replaced:
            operations += _prefix(front + j, difference(before[i], after[j]))
            i, j = i + 1, j + 1
        added = after[j : match[1]]
        if i == match[0] and len(added) == 1 and front + match[1] == len(new):
            operations.append(["set", f"/{front + j}", plain(added[0])])
        elif i < match[0] or added:
            operations.append(["splice", "", front + j, match[0] - i, plain(added)])
        i, j = match[0] + 1, match[1] + 1
    return operations


def _compare_strings(old: str, new: str) -> list[Operation]:
    added = new[len(old) :]
    if new.startswith(old) and not _begins_with_half(added):
        return [["append", "", _joined(added)]]
    old, new = _joined(old), _joined(new)
    if old == new:
        return []
    front, back = _common_ends(old, new)
    if front + back < _MIN_KEPT:
        return [["set", "", new]]
    return [["splice", "", front, len(old) - front - back, new[front : len(new) - back]]]


def _prefix(key: str | int, operations: list[Operation]) -> list[Operation]:
    """Return the operations on a member or element as operations on its container."""
    for operation in operations:
        operation[1] = to_pointer((key,)) + operation[1]
    return operations


def _common_ends(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int]:
    """Return how many items at the beginning and at the end are equal."""
    front = _common_prefix(old, new)
    return front, _common_prefix(old[front:][::-1], new[front:][::-1])


def _common_prefix(old: Sequence[Any], new: Sequence[Any]) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if _is_same(old[low:middle], new[low:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _is_same(old: Sequence[Any], new: Sequence[Any]) -> bool:
    """Return whether two strings or lists are equal as JSON; for `==` alone, 1 is True."""
    if old != new:
        return False
    return type(old) is str or all(map(is_, old, new)) or _encode(old) == _encode(new)


def _encode(value: Any) -> bytes:
    """Return bytes that differ for 1 and True, in a fifth of the time of `json.dumps`."""
    try:
        return dumps(value, 2)  # later versions mark which parts are the same object
    except ValueError:  # an object that is not JSON, or a list that contains itself
        return dumps(plain(value), 2)


def _matches(old: list[Any], new: list[Any]) -> list[tuple[int, int]]:
    """Return pairs of indices of equal elements, increasing in both lists."""
    if not old or not new or len(old) == len(new) == 1:
        return []
    before, after = [*map(_encode, old)], [*map(_encode, new)]
    # Most often elements changed in place, or one was inserted or removed.
    shifts = [_shifted(before, after, i, j) for i, j in ((0, 0), (0, 1), (1, 0))]
    pairs = max(shifts, key=len)
    if 2 * len(pairs) >= max(len(before), len(after)):
        return pairs
    if _are_atoms(new):
        return []
    # A patience diff: of the elements that both lists have, the longest run in the same order.
    indices: dict[bytes, list[int]] = {}
    for i in reversed(range(len(before))):
        indices.setdefault(before[i], []).append(i)
    tops = [-1]
    runs: list[Any] = [None]  # for each pile the longest run that ends there, as a linked list
    for j, text in enumerate(after):
        if found := indices.get(text):
            i = found.pop()
            pile = bisect_left(tops, i)
            tops[pile : pile + 1] = [i]
            runs[pile : pile + 1] = [(runs[pile - 1], (i, j))]
    pairs = []
    run = runs[-1]
    while run is not None:
        run, pair = run
        pairs.append(pair)
    return pairs[::-1]


def _are_atoms(items: list[Any]) -> bool:
    """Return whether all items are numbers and literals, which can only be replaced."""
    return _ATOMS.issuperset(map(type, items))


def _shifted(old: list[bytes], new: list[bytes], i: int, j: int) -> list[tuple[int, int]]:
    """Return the pairs that are equal if the lists are compared from these indices on."""
    return [*compress(zip(count(i), count(j)), map(eq, old[i:], new[j:]))]


# ---- pointers ----


def tokens_of(pointer: Any, limit: int = DEFAULT_LIMITS.depth) -> list[str]:
    """Return the keys of a JSON Pointer; InvalidMessage if it is not one."""
    is_pointer = type(pointer) is str and pointer[:1] in ("", "/")
    if not is_pointer or _BAD_ESCAPE.search(pointer) or pointer.count("/") > limit:
        raise InvalidMessage(f"{pointer!r:.80} is not a JSON Pointer of at most {limit} levels")
    keys = pointer.split("/")[1:]
    return [key.replace("~1", "/").replace("~0", "~") for key in keys] if "~" in pointer else keys


def resolve(value: Any, pointer: Any) -> Any:
    """Return the value at a JSON Pointer, ABSENT if there is none."""
    for token in tokens_of(pointer):
        value = _item(value, _key(value, token))
    return value


def _key(container: Any, token: str) -> Any:
    """Return the key or index that a token names; an index beyond every list if it is not one."""
    if type(container) is not list:
        return token
    return int(token) if _INDEX.fullmatch(token) else maxsize


def _item(container: Any, key: Any) -> Any:
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
        raise InvalidMessage(f"a delta must be a list of operations, not {delta!r:.80}")
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
            raise InvalidMessage(f"{operation!r:.80} is not an operation")
        name, pointer, *arguments = operation
        depth, parent, key = self._locate(pointer)
        old = _item(parent, key)
        match name, old, arguments:
            case "append", str(), [str() as new] if len(old) + len(new) <= self._limits.string:
                # Without a second owner CPython extends a string in place: it is not copied.
                if _begins_with_half(new):
                    old, new = old[:-1], _joined(old[-1:] + new)
                parent[key] = ""
                old += new
                parent[key] = old
            case "set", _, [new] if key == len(parent):
                parent.append(self.checked(new, depth))
            case "set", _, [new] if old is not ABSENT or type(parent) is dict:
                parent[key] = self.checked(new, depth)
            case "remove", _, [] if old is not ABSENT and parent is not self._root:
                del parent[key]
            case "splice", str() | list(), [start, count, new] if type(new) is type(old):
                parent[key] = self._splice(old, start, count, self.checked(new, depth))
            case _:
                raise InvalidMessage(f"{operation!r:.80} is not an operation, or does not fit")

    def checked(self, value: Any, depth: int = 0) -> Any:
        """Return a copy of a value inside `depth` containers; refuse values that are not JSON."""
        try:
            return plain(value, self._limits, depth)
        except (TypeError, ValueError) as error:
            raise InvalidMessage(str(error)) from error

    def _locate(self, pointer: Any) -> tuple[int, Any, Any]:
        """Return how many containers a pointer leads into, the last one, and the key in it."""
        parent: Any = self._root
        key: Any = ""
        tokens = tokens_of(pointer, self._limits.depth)
        for token in tokens:
            container = _item(parent, key)
            if id(container) not in self._own:
                if type(container) is not dict and type(container) is not list:
                    raise InvalidMessage(f"{pointer!r:.80} is not inside an object or list")
                container = parent[key] = container.copy()
                self._own[id(container)] = container
            parent, key = container, _key(container, token)
        return len(tokens), parent, key

    def _splice(self, old: Any, start: Any, count: Any, new: Any) -> Any:
        is_range = type(start) is type(count) is int and 0 <= start <= start + count <= len(old)
        if not is_range:
            raise InvalidMessage(f"{start!r:.40}, {count!r:.40} is not a range of {old!r:.40}")
        result = old[:start] + new + old[start + count :]
        return self.checked(result) if type(result) is str else result
