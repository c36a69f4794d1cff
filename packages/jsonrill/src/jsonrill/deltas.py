"""Operations: what turns one JSON value into another, and their effect on a value.

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from io import BytesIO
from math import isfinite
from operator import eq, is_
from pickle import Pickler
from typing import Any, Final

from .errors import DEFAULT_LIMITS, InvalidMessage, Limits
from .jsontext import SURROGATE
from .paths import ABSENT, to_pointer

Operation = list[Any]

MAX_LEVELS: Final = 256
# A splice that keeps fewer characters is longer than a `set` of the new string.
_MIN_KEPT: Final = 24
# Objects with more members are compared by their ends first.
_FEW: Final = 16
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_JSON_TYPES: Final = _SCALARS | {dict, list}
# The number of items in each operation on a value.
LENGTHS: Final = {"set": 3, "append": 3, "splice": 5, "remove": 2}
_INDEX: Final = re.compile("0|[1-9][0-9]{0,15}")
_BAD_ESCAPE: Final = re.compile("~(?![01])")


# ---- values ----


def plain(value: Any, levels: int = MAX_LEVELS) -> Any:
    """Return a deep copy that consists of JSON types; models and dataclasses become objects."""
    kind = type(value)
    if value is None or kind is bool or kind is int or (kind is float and isfinite(value)):
        return value
    if isinstance(value, str):
        return _join_surrogates(str.__str__(value))
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if isfinite(value):
            return float(value)
        raise ValueError(f"{value!r} is not a JSON value")
    if levels == 0:
        raise ValueError(f"the value has more than {MAX_LEVELS} levels, or contains itself")
    if kind is dict or isinstance(value, Mapping):
        return {_plain_key(key): plain(item, levels - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, levels - 1) for item in value]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"), levels)
    if is_dataclass(value) and not isinstance(value, type):
        members = {field.name: getattr(value, field.name) for field in fields(value)}
        return plain(members, levels)
    raise TypeError(f"a {kind.__name__} is not a JSON value: {value!r:.80}")


def _plain_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of a JSON object are strings, not {key!r:.80}")
    return _join_surrogates(str.__str__(key))


def _join_surrogates(text: str) -> str:
    """Join the halves of surrogate pairs, as a JSON reader does."""
    if text.isascii() or not SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


# ---- difference ----


def _encode(value: Any) -> bytes:
    """Return bytes that tell 1, 1.0 and True apart, which `==` does not.

    Pickling takes half the time of `json.dumps`, and without a memo its result does not depend on
    which strings are the same object.
    """
    buffer = BytesIO()
    pickler = Pickler(buffer, 4)
    pickler.fast = True
    try:
        pickler.dump(value)
    except Exception:  # an object without a pickle, or a list in itself
        return _encode(plain(value))
    return buffer.getvalue()


def _is_equal(old: Any, new: Any) -> bool:
    """Return whether two values are certainly equal. Members may have to be in the same order."""
    return bool(old == new) and _encode(old) == _encode(new)


def difference(old: Any, new: Any) -> list[Operation]:
    """Return operations that turn `old` into `new`; `apply_delta` is the inverse.

    Both may contain dataclasses and models. The operations share nothing with `new`.
    """
    if old is new:
        return []
    if type(new) not in _JSON_TYPES:
        new = plain(new)
    if type(old) not in _JSON_TYPES:
        old = plain(old)
    kind = type(new)
    if type(old) is not kind:
        return [["set", "", plain(new)]]
    if kind is dict:
        return _compare_objects(old, new)
    if kind is list:
        return _compare_lists(old, new)
    if old == new:
        return []
    if kind is str:
        return _compare_strings(_join_surrogates(old), _join_surrogates(new))
    return [["set", "", plain(new)]]


def _compare_objects(old: dict[str, Any], new: dict[str, Any]) -> list[Operation]:
    if len(old) <= _FEW and _is_equal(old, new):
        return []
    operations = [["remove", to_pointer((key,))] for key in sorted(old.keys() - new.keys())]
    most = len(operations) + len(new)
    for key in _unequal_keys(old, new):
        before, item = old.get(key, ABSENT), new[key]
        if before is ABSENT:
            operations.append(["set", to_pointer((_plain_key(key),)), plain(item)])
        elif before is not item:
            operations += _inside(key, difference(before, item))
    if 1 < most == len(operations) and all(map(_replaces_member, operations)):
        return [["set", "", plain(new)]]
    return operations


def _replaces_member(operation: Operation) -> bool:
    return operation[0] in ("set", "remove") and operation[1].rfind("/") == 0


def _unequal_keys(old: dict[str, Any], new: dict[str, Any]) -> Iterable[str]:
    """Return the keys of `new`, in a large object without most of those with equal members."""
    count, keys = len(old), list(new)
    if count <= _FEW or list(old) != keys[:count]:
        return keys
    front, back = _common_ends(list(old.values()), list(new.values())[:count])
    return keys[front : count - back] + keys[count:]


def _compare_lists(old: list[Any], new: list[Any]) -> list[Operation]:
    if not _JSON_TYPES.issuperset(map(type, new)):
        new = [item if type(item) in _JSON_TYPES else plain(item) for item in new]
    front, back = _common_ends(old, new)
    end = len(old) - back, len(new) - back
    operations: list[Operation] = []
    i = j = front
    for match in [*_matches(old, new, front, *end), end]:
        while i < match[0] and j < match[1]:  # elements that changed
            operations += _inside(j, difference(old[i], new[j]))
            i, j = i + 1, j + 1
        if i == match[0] and j + 1 == match[1] == len(new):
            operations.append(["set", f"/{j}", plain(new[j])])
        elif i < match[0] or j < match[1]:
            operations.append(["splice", "", j, match[0] - i, plain(new[j : match[1]])])
        i, j = match[0] + 1, match[1] + 1
    return operations


def _compare_strings(old: str, new: str) -> list[Operation]:
    if new.startswith(old):
        return [["append", "", new[len(old) :]]] if new != old else []
    front, back = _common_ends(old, new)
    if front + back < _MIN_KEPT:
        return [["set", "", new]]
    return [["splice", "", front, len(old) - front - back, new[front : len(new) - back]]]


def _inside(key: str | int, operations: list[Operation]) -> list[Operation]:
    """Return the operations on a member or element as operations on its container."""
    if operations:
        step = to_pointer((key,))
        for operation in operations:
            operation[1] = step + operation[1]
    return operations


def _common_ends(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int]:
    """Return how many items at the beginning and at the end are equal."""
    front = _common_prefix(old, new)
    if front == len(old) or front == len(new):
        return front, 0
    return front, _common_prefix(old[front:][::-1], new[front:][::-1])


def _common_prefix(old: Sequence[Any], new: Sequence[Any]) -> int:
    count = _search_prefix(old, new, eq)
    if type(old) is str:
        return count
    old, new = old[:count], new[:count]
    if all(map(is_, old, new)) or _encode(old) == _encode(new):
        return count
    return _search_prefix(old, new, _is_equal)


def _search_prefix(old: Sequence[Any], new: Sequence[Any], is_equal: Callable[..., bool]) -> int:
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if is_equal(old[low:middle], new[low:middle]):
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
    before = [_encode(item) for item in old[front:old_end]]
    after = [_encode(item) for item in new[front:new_end]]
    in_place = [at for at, is_equal in enumerate(map(eq, before, after), front) if is_equal]
    if 2 * len(in_place) >= max(len(before), len(after)):
        return [(at, at) for at in in_place]
    # A patience diff: of the elements that both lists have, the longest run in the same order.
    indices: dict[bytes, list[int]] = {}
    for i in reversed(range(len(before))):
        indices.setdefault(before[i], []).append(front + i)
    tops: list[int] = []
    runs: list[Any] = []  # for each pile the longest run that ends there, as a linked list
    for j, text in enumerate(after, front):
        if found := indices.get(text):
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


# ---- apply ----


def apply_delta(previous: Any, delta: list[Operation], *, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Return `previous` after the operations of `delta`. What did not change is shared.

    `InvalidMessage` if an operation is wrong or does not fit the value.
    """
    if type(delta) is not list:
        raise InvalidMessage(f"a delta is a list of operations, not {delta!r:.80}")
    patch = Patch(previous, limits)
    for operation in delta:
        if not is_operation(operation):
            raise InvalidMessage(f"{operation!r:.80} is not an operation")
        patch.apply(operation)
    return patch.value


def is_operation(operation: Any) -> bool:
    """Return whether this has the form of an operation on the value."""
    if type(operation) is not list or not operation or type(operation[0]) is not str:
        return False
    return LENGTHS.get(operation[0]) == len(operation)


class Patch:
    """A value that operations change. It copies the containers that they change, once each.

    `value` may be kept: after it was read, containers are copied again.
    """

    __slots__ = ("_limits", "_own", "_root")

    def __init__(self, value: Any, limits: Limits) -> None:
        self._root = [value]
        self._limits = limits
        # The containers that were copied and have not been read, by id.
        self._own: dict[int, Any] = {}

    @property
    def value(self) -> Any:
        self._own.clear()
        return self._root[0]

    @value.setter
    def value(self, value: Any) -> None:
        self._own.clear()
        self._root[0] = value

    def apply(self, operation: Operation) -> None:
        """Apply one operation. If it does not fit, the value stays as it was."""
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
        own = self._own
        parent: Any = self._root
        key: Any = 0
        for token in tokens:
            container = parent[key] if _has(parent, key) else None
            if id(container) not in own:
                if type(container) is not dict and type(container) is not list:
                    raise InvalidMessage(f"{pointer!r:.80} is not inside an object or list")
                container = parent[key] = container.copy()
                own[id(container)] = container
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
        if len(text) + len(new) > self._limits.string:
            raise InvalidMessage(f"a string has more than {self._limits.string} characters")
        # Without a second owner CPython extends a string in place: a long one is not copied.
        parent[key] = ""
        text += new
        parent[key] = text

    def _splice(self, old: Any, levels: int, start: Any, count: Any, new: Any) -> Any:
        if type(new) is not type(old) or type(old) not in (str, list):
            raise InvalidMessage(f"{new!r:.40} cannot be spliced into {old!r:.40}")
        is_range = type(start) is type(count) is int and 0 <= start <= start + count <= len(old)
        if not is_range:
            raise InvalidMessage(f"{start!r:.40}, {count!r:.40} is not a range of {old!r:.40}")
        check_value(new, levels, self._limits)
        result = old[:start] + new + old[start + count :]
        if type(result) is str:
            check_value(result, 0, self._limits)
        return result


def _has(parent: Any, key: Any) -> bool:
    return key in parent if type(parent) is dict else key < len(parent)


def check_value(value: Any, levels: int, limits: Limits) -> None:
    """Refuse a value that is too deep, has a string that is too long, or is not JSON."""
    kind = type(value)
    if kind is str:
        if len(value) > limits.string:
            raise InvalidMessage(f"a string has more than {limits.string} characters")
    elif kind is dict or kind is list:
        if levels == 0:
            raise InvalidMessage(f"a value has more than {limits.depth} levels")
        for item in value.values() if kind is dict else value:
            check_value(item, levels - 1, limits)
    elif kind not in _SCALARS or (kind is float and not isfinite(value)):
        raise InvalidMessage(f"{value!r:.80} is not a JSON value")
