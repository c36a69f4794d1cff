"""Violations of a schema: how they are worded, and where they are."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Collection, Mapping
from importlib import import_module
from itertools import islice
from typing import Any, Final, NamedTuple

from ..errors import InvalidJSON, InvalidSchema, LimitExceeded
from ..jsontext import dumps
from ..paths import Path, short_path

# How much of a value, and how many values, a message shows.
_LENGTH: Final = 60
_LISTED: Final = 10


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
    is_scalar = isinstance(value, (str, int, float)) or value is None
    text = dumps(value) if is_scalar else str(value)
    return text if len(text) <= 2 * _LENGTH else text[: 2 * _LENGTH] + "…"


def list_allowed(values: Collection[Any]) -> str:
    """Return `allowed are "a", "b"`, with as many values as a message can hold."""
    if not values:
        return "none is allowed"
    few = ", ".join(map(quote, islice(values, _LISTED)))
    more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
    return f"allowed {'is' if len(values) == 1 else 'are'} {few}{more}"


def refuse_key(rule: str, key: str, keys: Collection[str]) -> Refusal:
    """Return the refusal of a key that is not one of `keys`."""
    message = f"the key {quote(key)} is not allowed: {list_allowed(keys)}"
    return Refusal(rule, message, (), tuple(keys), is_key=True)


class SourceText:
    """The text of a value, kept to find the place of a violation in it."""

    __slots__ = ("_column", "_decode", "_line", "_pieces", "end", "start")

    def __init__(self, prefix: str = "") -> None:
        self._decode = getincrementaldecoder("utf-8-sig")("replace").decode
        self._pieces = [prefix]
        self.start = -len(prefix)
        self.end = 0
        # The line and column of the first kept character.
        self._line, self._column = 1, self.start + 1

    def add(self, data: str | bytes) -> None:
        """Add a piece of the text."""
        text = data if isinstance(data, str) else self._decode(data)
        self._pieces.append(text)
        self.end += len(text)

    def begin(self, offset: int) -> None:
        """Forget the text before `offset`."""
        if offset > self.start:
            text = "".join(self._pieces)
            self._line, self._column = self._place(text, offset)
            self._pieces = [text[offset - self.start :]]
            self.start = offset

    def _place(self, text: str, offset: int) -> tuple[int, int]:
        """Return the line and column of a character of the kept text."""
        length = offset - self.start
        newline = text.rfind("\n", 0, length)
        column = self._column + length if newline < 0 else length - newline
        return self._line + text.count("\n", 0, length), column

    def violation(
        self, refusal: Refusal, options: Mapping[str, Any], path: Path = ()
    ) -> InvalidSchema:
        """Return the error of the value at `path`, whose text this is."""
        text = "".join(self._pieces)
        offset = self.start + offset_of(text, refusal, options)
        error = violation(refusal, path, offset)
        error.line, error.column = self._place(text, offset)
        return error


def offset_of(text: str, refusal: Refusal, options: Mapping[str, Any]) -> int:
    """Return where the refused value or key begins in the text of the whole value."""
    from ..fragment import Parser

    path = refusal.path
    parser = Parser(**{name: value for name, value in options.items() if name != "prefix"})
    fragments: list[Any] = []
    try:
        fragments += parser.feed(text)
        fragments += parser.flush()
    except (InvalidJSON, LimitExceeded) as error:
        fragments += error.fragments
    # Without the value itself: the last one that begins around it.
    offset = 0
    for fragment in fragments:
        if refusal.is_key and fragment.kind == "Key" and (*fragment.path, fragment.value) == path:
            return int(fragment.offset)
        is_start = not refusal.is_key and fragment.kind.startswith(("Start", "Complete"))
        if is_start and fragment.path == path[: len(fragment.path)]:
            offset = int(fragment.offset)
            if fragment.path == path:
                return offset
    pending = parser.pending
    return int(pending[2] if pending is not None and pending[0] == path else offset)


def violation(refusal: Refusal, path: Path, offset: int | None) -> InvalidSchema:
    """Return the error of a value at `path` whose refused part begins at `offset`."""
    place = path + refusal.path
    at = "" if offset is None else f" at character {offset}"
    message = f"{refusal.message} ({refusal.rule}){at}, in {short_path(place)}"
    error = InvalidSchema(message, rule=refusal.rule, offset=offset, path=place)
    error.allowed = refusal.allowed
    return error
