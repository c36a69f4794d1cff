"""A snapshot in, a tree out: dicts, lists, strings, `True`, `False`, `None`, and numbers.

A number is its source text, as bytes: `1.0` is `b"1.0"`. So that text survives, `==` tells `1`,
`1.0` and `true` apart at any depth (as Python numbers they are equal), no number equals a string
or an array, and the C decoder makes them at the price of an int.

The tree is never part of what the caller handed over: a source may change its objects later.
This file alone knows what a snapshot may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from json import JSONDecodeError, JSONDecoder
from math import isfinite
from typing import Any, Final, NoReturn, Protocol

from ..errors import InvalidJSON, LimitExceeded
from ..jsontext import SURROGATE, escape_surrogates
from ..paths import ABSENT

# How deep a value may be nested.
_DEEPEST: Final = 900
# The texts of small numbers.
_SMALL: Final = 1024
_DIGITS: Final = tuple([str(number).encode() for number in range(_SMALL)])
_NO_DICT: Final[dict[str, Any]] = {}
_NO_LIST: Final[list[Any]] = []

Tree = Any  # None | bool | str | bytes | list[Tree] | dict[str, Tree]


class Model(Protocol):
    """As pydantic's models have it: a value that can show itself in JSON's own types."""

    def model_dump(self, *, mode: str) -> Any: ...


Snapshot = str | bytes | bytearray | Mapping[str, Any] | list[Any] | tuple[Any, ...] | Model


def read(snapshot: Snapshot, was: Tree = ABSENT) -> Tree:
    """The tree of one snapshot; InvalidJSON, LimitExceeded or TypeError when it has none.

    `was` is the tree of the snapshot before: what is equal in both is not made again.
    """
    try:
        if isinstance(snapshot, (str, bytes, bytearray)):
            return decode(snapshot)
        if isinstance(snapshot, (dict, list, tuple, Mapping)) or hasattr(snapshot, "model_dump"):
            return _copy(snapshot, was)
    except RecursionError:
        raise too_deep() from None
    raise TypeError(
        f"a snapshot is JSON text, a mapping, a list or a model, not {type(snapshot).__name__}"
    )


def decode(text: str | bytes | bytearray) -> Tree:
    try:
        if not isinstance(text, str):
            return _decoded(text.decode("utf-8-sig"))
        tree = _decoded(text)
    except JSONDecodeError as error:
        raise InvalidJSON(
            f"the snapshot is not JSON: {error}",
            offset=error.pos,
            line=error.lineno,
            column=error.colno,
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidJSON(f"the snapshot is not UTF-8: {error}", offset=error.start) from None
    if text.isascii() or not _has_surrogate(text):
        return tree
    # The decoder makes a character of two halves only where both are escapes.
    return _decoded(escape_surrogates(text))


def plain(tree: Tree) -> Any:
    """The tree as everybody knows it, with Python's own numbers."""
    if type(tree) is bytes:
        return _number(str(tree, "ascii"))
    if type(tree) is dict:
        return {key: plain(value) for key, value in tree.items()}
    if type(tree) is list:
        return [plain(value) for value in tree]
    return tree


def too_deep() -> LimitExceeded:
    return LimitExceeded("the snapshot is nested too deeply", limit="depth")


def _refuse(constant: str) -> NoReturn:
    raise InvalidJSON(f"the snapshot is not JSON: {constant} is no JSON number")


_DECODER: Final = JSONDecoder(parse_float=str.encode, parse_int=str.encode, parse_constant=_refuse)
_SCAN: Final[Any] = _DECODER.scan_once  # type: ignore[attr-defined]  # what decode() calls


def _decoded(text: str) -> Tree:
    try:
        tree, end = _SCAN(text, 0)
        if end == len(text):
            return tree
    except StopIteration:
        pass
    return _DECODER.decode(text)  # white space around it, or the error to report


def _has_surrogate(text: str) -> bool:
    """Asked of every snapshot that is not ASCII; of all codecs UTF-16 finds them the quickest."""
    try:
        text.encode("utf-16")
    except UnicodeEncodeError:
        return True
    return False


def _number(text: str) -> Any:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:  # more digits than the interpreter converts
        return text


def _copy(value: Any, was: Tree, depth: int = 0) -> Tree:
    """The tree of a Python value. Whatever in it equals `was` there is `was`, and is not copied.

    In compiled code nothing bounds a recursion but `depth`.
    """
    kind = type(value)
    if kind is str:
        if type(was) is str and value == was:
            return was
        return value if value.isascii() else _paired(value)
    if value is None or kind is bool:
        return value
    if kind is int or kind is float:
        number = _digits(value) if kind is int else _decimal(value)
        return was if type(was) is bytes and number == was else number
    if depth > _DEEPEST:
        raise RecursionError
    depth += 1
    if kind is dict:
        return _copy_dict(value, was if type(was) is dict else _NO_DICT, depth)
    if kind is list:
        return _copy_list(value, was if type(was) is list else _NO_LIST, depth)
    return _copy_other(value, was, depth)


def _copy_dict(value: dict[Any, Any], was: dict[str, Tree], depth: int) -> Tree:
    # Made at the first difference.
    tree: dict[str, Tree] | None = None if value and len(value) == len(was) else {}
    for key, item in value.items():
        old = was.get(key, ABSENT)
        new = _copy(item, old, depth)
        if tree is None:
            if new is old:
                continue
            tree = {}
            for same in value:
                if same is key:
                    break
                tree[same] = was[same]
        # A key that was there before is a good one.
        tree[_key(key) if old is ABSENT or type(key) is not str else key] = new
    return was if tree is None else tree


def _copy_list(value: list[Any], was: list[Tree], depth: int) -> Tree:
    count = len(was)
    tree: list[Tree] | None = None if value and len(value) == count else []
    at = 0
    for item in value:
        old = was[at] if at < count else ABSENT
        new = _copy(item, old, depth)
        if tree is None and new is not old:
            tree = was[:at]
        if tree is not None:
            tree.append(new)
        at += 1
    return was if tree is None else tree


def _copy_other(value: Any, was: Tree, depth: int) -> Tree:
    """The rarer kinds: subclasses (an enum's member, a named tuple), other mappings, models."""
    if isinstance(value, str):
        return _paired(str.__str__(value))
    if isinstance(value, int):
        return _digits(value)
    if isinstance(value, float):
        return _decimal(value)
    if isinstance(value, Mapping):
        return {_key(key): _copy(value[key], ABSENT, depth) for key in value}
    if isinstance(value, (list, tuple)):
        return [_copy(item, ABSENT, depth) for item in value]
    if hasattr(value, "model_dump"):
        return _copy(value.model_dump(mode="json"), was, depth)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return _paired(str.__str__(key))
    raise TypeError(f"the keys of an object are strings, not {type(key).__name__}")


def _paired(text: str) -> str:
    """Two halves of a surrogate pair that stand side by side are one character in JSON."""
    if text.isascii() or not SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _digits(value: int) -> Tree:
    if 0 <= value < _SMALL:
        return _DIGITS[value]
    try:
        return int.__repr__(value).encode()
    except ValueError:  # more digits than the interpreter converts
        raise LimitExceeded("an integer has too many digits", limit="number") from None


def _decimal(value: float) -> Tree:
    return float.__repr__(value).encode() if isfinite(value) else _refuse(repr(value))
