"""Violations of a schema: how they are worded, where they are, and what was good before."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Collection, Mapping
from importlib import import_module
from itertools import islice, takewhile
from typing import Any, Final, NamedTuple

from ..errors import InvalidJSON, InvalidSchema, LimitExceeded
from ..jsontext import dumps
from ..paths import Path, short_path

# How much of a value, and how many values, a message shows.
_LENGTH: Final = 60
_LISTED: Final = 10
_VALUES: Final = frozenset(
    ("StartObject", "StartArray", "StartString", "CompleteNumber", "CompleteBoolean")
    + ("CompleteNull",)
)


def library(module: str, extra: str, user: str) -> Any:
    """Return a module that an extra installs; `ImportError` names the extra."""
    try:
        return import_module(module)
    except ImportError as error:
        name = module.replace("_", "-")
        raise ImportError(f"{user} needs {name}: install jsonrill[{extra}]") from error


class Refusal(NamedTuple):
    """Why a value is invalid; `path` leads from the value to the part that is wrong."""

    rule: str
    message: str
    path: Path = ()
    allowed: tuple[Any, ...] = ()
    is_key: bool = False

    def below(self, path: Path) -> Refusal:
        """Return the refusal as the value around, at `path`, has it."""
        return self._replace(path=path + self.path) if path else self


def quote(value: Any) -> str:
    """Return a scalar as JSON, cut to what a message can hold."""
    if isinstance(value, str) and len(value) > _LENGTH:
        return dumps(value[:_LENGTH])[:-1] + '…"'
    if isinstance(value, (str, int, float)) or value is None:
        text = dumps(value)
        return text if len(text) <= 2 * _LENGTH else text[: 2 * _LENGTH] + "…"
    return str(value)


def list_allowed(values: Collection[Any]) -> str:
    """Return `allowed are "a", "b"`, with as many values as a message can hold."""
    few = ", ".join(map(quote, islice(values, _LISTED)))
    more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
    return (
        f"allowed {'is' if len(values) == 1 else 'are'} {few}{more}" if few else "none is allowed"
    )


def refuse_key(rule: str, key: str, keys: Collection[str]) -> Refusal:
    """Return the refusal of a key that is not one of `keys`."""
    message = f"the key {quote(key)} is not allowed: {list_allowed(keys)}"
    return Refusal(rule, message, (), tuple(keys), is_key=True)


class SourceText:
    """The text of a value, kept to find the offset of a violation in it."""

    __slots__ = ("_decode", "_line", "_line_start", "_pieces", "end", "start")

    def __init__(self, prefix: str = "") -> None:
        self._decode = getincrementaldecoder("utf-8-sig")("replace").decode
        self._pieces = [prefix]
        self.start = -len(prefix)
        self.end = 0
        # The line at `start`, and where it begins.
        self._line, self._line_start = 1, 0

    def add(self, data: str | bytes) -> None:
        """Add a piece of the text."""
        text = data if isinstance(data, str) else self._decode(data)
        self._pieces.append(text)
        self.end += len(text)

    def begin(self, offset: int) -> None:
        """Forget the text before `offset`."""
        if offset > self.start:
            text = "".join(self._pieces)
            self._line, self._line_start = self._line_of(text, offset)
            self._pieces = [text[offset - self.start :]]
            self.start = offset

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the line and column of a character of the kept text."""
        line, line_start = self._line_of("".join(self._pieces), offset)
        return line, offset - line_start + 1

    def _line_of(self, text: str, offset: int) -> tuple[int, int]:
        end = offset - self.start
        last = text.rfind("\n", 0, end)
        line_start = self._line_start if last < 0 else self.start + last + 1
        return self._line + text.count("\n", 0, end), line_start

    def offset_of(self, refusal: Refusal, options: Mapping[str, Any]) -> int:
        """Return where the refused value or key begins; reads the text once more."""
        return self.start + offset_of("".join(self._pieces), refusal, options)


def offset_of(text: str, refusal: Refusal, options: Mapping[str, Any] | None = None) -> int:
    """Return where the refused value or key begins in the text of the whole value."""
    from ..fragment import Parser

    path = refusal.path
    parser = Parser(**{name: it for name, it in (options or {}).items() if name != "prefix"})
    fragments: list[Any] = []
    try:
        fragments += parser.feed(text)
        fragments += parser.flush()
    except (InvalidJSON, LimitExceeded) as error:
        fragments += error.fragments
    pending = parser.pending
    offset = pending[2] if pending is not None and pending[0] == path else 0
    for fragment in fragments:
        if refusal.is_key:
            if fragment.kind == "Key" and (*fragment.path, fragment.value) == path:
                return int(fragment.offset)
        elif fragment.kind in _VALUES and fragment.path == path[: len(fragment.path)]:
            offset = max(offset, fragment.offset)
            if fragment.path == path:
                return int(fragment.offset)
    return offset


def violation(refusal: Refusal, path: Path, offset: int | None) -> InvalidSchema:
    """Return the error of a value at `path` whose refused part begins at `offset`."""
    place = path + refusal.path
    at = "" if offset is None else f" at character {offset}"
    message = f"{refusal.message} ({refusal.rule}){at}, in {short_path(place)}"
    error = InvalidSchema(message, rule=refusal.rule, offset=offset, path=place)
    error.allowed = refusal.allowed
    return error


def before(value: Any, path: Path) -> Any:
    """Return the part of a value that comes before `path`, in the order of the text."""
    if not path:
        return value if isinstance(value, (dict, list)) else None
    root: list[Any] = []
    around: Any = root
    at: str | int = 0
    for step in path:
        if isinstance(value, list) and isinstance(step, int) and step < len(value):
            good: Any = value[:step]
        elif isinstance(value, dict) and step in value:
            good = dict(takewhile(lambda member: member[0] != step, value.items()))  # noqa: B023
        else:
            good = value
        if isinstance(around, list):
            around.append(good)
        else:
            around[at] = good
        if good is value:
            break
        around, at, value = good, step, value[step]
    return root[0]
