"""A fragment: one addressed change of a document; and the check of what it carries."""

from __future__ import annotations

import json
from math import inf, isfinite
from typing import Any, Final, Literal, get_args

from ..errors import FragmentError
from ..paths import Path, Place, format_path, path_of

Kind = Literal[
    "StartObject",
    "EndObject",
    "StartArray",
    "EndArray",
    "Key",
    "StartString",
    "PartialString",
    "CompleteString",
    "CompleteNumber",
    "CompleteBoolean",
    "CompleteNull",
    "JsonComplete",
]

# A kind's place in this order is its code in the compact form.
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
CODES: Final = {kind: code for code, kind in enumerate(KINDS)}
STARTS_VALUE: Final = frozenset(
    (
        "StartObject",
        "StartArray",
        "StartString",
        "CompleteNumber",
        "CompleteBoolean",
        "CompleteNull",
    )
)
_NUMBER_STARTS: Final = tuple("-0123456789")


class Fragment:
    """One change: its kind, where it happened, and what it carries. Treat it as read-only.

    `text` is the decoded new text of a PartialString or the source text of a number; `value` the
    decoded key or complete value; `offset` the character at which its token began; `document` the
    number of the document, where there are many.
    """

    __slots__ = ("_at", "document", "kind", "offset", "text", "value")

    def __init__(
        self,
        kind: Kind,
        path: Path | Place | None = (),
        text: str | None = None,
        value: Any = None,
        offset: int = 0,
        document: int = 0,
    ) -> None:
        self.kind: Kind = kind
        self._at = path
        self.text = text
        self.value = value
        self.offset = offset
        self.document = document

    @property
    def path(self) -> Path:
        """Keys and indices from the root, `()`; built when first read."""
        return path_at(self._at)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fragment):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.text == other.text
            and self.value == other.value
            and self.path == other.path
        )

    __hash__ = None  # type: ignore[assignment]  # values may be of any type

    def __repr__(self) -> str:
        parts = [self.kind, format_path(self.path)]
        parts += [repr(part) for part in (self.text, self.value) if part is not None]
        return f"<{' '.join(parts)}>"


def path_at(at: Path | Place | None) -> Path:
    return path_of(at) if at is None or isinstance(at, Place) else at


def is_double(value: Any) -> bool:
    """True if a reader that has only doubles reads the same number."""
    if type(value) is float:
        return isfinite(value)
    try:
        return type(value) is int and int(float(value)) == value
    except OverflowError:
        return False


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


def _as_double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def checked(kind: Kind, at: Any, text: Any, value: Any) -> Fragment:
    """A fragment whose payload has the type that its kind asks for."""
    if kind == "PartialString" and isinstance(text, str):
        return Fragment(kind, at, text)
    if kind == "Key" and isinstance(value, str):
        return Fragment(kind, at, None, value)
    if kind == "CompleteString" and (value is None or isinstance(value, str)):
        return Fragment(kind, at, None, value)
    if kind == "CompleteBoolean" and isinstance(value, bool):
        return Fragment(kind, at, None, value)
    if kind == "CompleteNumber":
        return Fragment(kind, at, text, _number(text, value))
    if kind in ("PartialString", "Key", "CompleteString", "CompleteBoolean") or kind not in CODES:
        raise FragmentError(f"a {kind} does not carry text {text!r} and value {value!r}")
    return Fragment(kind, at)


def _number(text: Any, value: Any) -> Any:
    """The number a fragment carries; read from its source text where only that was sent."""
    if text is None:
        if not _is_number(value):
            raise FragmentError(f"a CompleteNumber does not carry {value!r}")
        return value
    # json.loads takes spaces and NaN, too; a number begins and ends with itself.
    if not isinstance(text, str) or text[:1] not in _NUMBER_STARTS or not text[-1:].isdigit():
        raise FragmentError(f"not the text of a number: {text!r}")
    try:
        number = json.loads(text)
    except ValueError as error:
        raise FragmentError(f"not the text of a number: {text!r}") from error
    if value is not None and not (_is_number(value) and _as_double(value) == _as_double(number)):
        raise FragmentError(f"the number {text!r} is not {value!r}")
    return number
