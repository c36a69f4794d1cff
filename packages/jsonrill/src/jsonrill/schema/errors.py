"""Violations of a schema: how they are worded, and where they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, Final

from ..errors import InvalidJSON, InvalidSchema, LimitExceeded
from ..jsontext import dumps
from ..paths import Path, short_path

# How much of a text, and how many values, a message shows.
_LENGTH: Final = 200
_LISTED: Final = 10


def library(module: str, extra: str, user: str) -> Any:
    """Return a module that an extra installs; `ImportError` names the extra."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{user} needs {module}: install jsonrill[{extra}]") from error


class Refused(Exception):
    """A value is invalid; `path` leads from the checked value to the part that is wrong."""

    # True if the key itself is wrong, not its value.
    is_key = False

    def __init__(self, rule: str, message: str, allowed: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.rule = rule
        self.path: Path = ()
        self.allowed = tuple(allowed)

    def below(self, path: Path) -> Refused:
        """Make this a refusal of the outer value, in which the checked one is at `path`."""
        self.path = path + self.path
        return self


def quote(value: Any) -> str:
    """Return a scalar as JSON, cut to what a message can hold."""
    is_scalar = isinstance(value, (str, int, float)) or value is None
    return shorten(dumps(value) if is_scalar else str(value))


def shorten(text: str) -> str:
    """Return as much of a text as a message can hold."""
    return text if len(text) <= _LENGTH else text[:_LENGTH] + "…"


def list_allowed(values: Collection[Any]) -> str:
    """Return `allowed are "a", "b"`, with as many values as a message can hold."""
    if not values:
        return "none is allowed"
    names = ", ".join(map(quote, islice(values, _LISTED)))
    more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
    return f"allowed {'is' if len(values) == 1 else 'are'} {names}{more}"


def forbid_key(rule: str, key: str, keys: Collection[str]) -> Refused:
    """Return the refusal of a key that is not one of `keys`."""
    message = f"the key {quote(key)} is not allowed: {list_allowed(keys)}"
    refused = Refused(rule, message, allowed=[*keys])
    refused.is_key = True
    return refused


def offset_of(text: str, refused: Refused, options: Mapping[str, Any]) -> int:
    """Return the offset of the refused value or key, or else of the container around it."""
    from ..fragment import Parser

    parser = Parser(**{name: options[name] for name in options.keys() - {"on_repair"}})
    fragments: list[Any] = []
    try:
        fragments += parser.feed(text)
        fragments += parser.flush()
    except (InvalidJSON, LimitExceeded) as error:
        fragments += error.fragments
    starts: dict[Path, int] = {}
    for fragment in fragments:
        if refused.is_key and fragment.kind == "Key":
            starts.setdefault((*fragment.path, fragment.value), fragment.offset)
        elif fragment.kind.startswith(("Start", "Complete")):
            starts.setdefault(fragment.path, fragment.offset)
    if parser.pending is not None:
        starts.setdefault(parser.pending[0], parser.pending[2])
    target = (0, *refused.path) if options.get("prefix") else refused.path
    # The innermost one begins last.
    return max((starts.get(target[:end], 0) for end in range(len(target) + 1)), default=0)


def violation(refused: Refused, path: Path, offset: int | None) -> InvalidSchema:
    """Return the error of a value at `path` whose refused part begins at `offset`."""
    place = path + refused.path
    at = "" if offset is None else f" at character {offset}"
    message = f"{refused} ({refused.rule}){at}, in {short_path(place)}"
    error = InvalidSchema(message, rule=refused.rule, offset=offset, path=place)
    error.allowed = refused.allowed
    return error
