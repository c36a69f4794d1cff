"""Everything that jsonrill raises on data, in one tree.

    JsonrillError
    ├── InvalidJSON (also a ValueError)   no continuation can make this text valid
    │   └── Truncated                     the text stopped early
    ├── LimitExceeded                     a bound was passed; `limit` names it
    ├── FragmentError                     a fragment does not fit where it was applied
    ├── RevisionError                     a snapshot contradicts text already written
    └── StreamClosed                      fed after the end, or after a fatal error

Wrong use of a function (an argument of the wrong type) is a plain `TypeError` or `ValueError`.
This file knows nothing of how positions and paths are found: whoever raises says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .paths import Path
    from .wire.fragment import Fragment


class JsonrillError(Exception):
    """The root of the tree: catch this to catch everything."""


class _Placed(JsonrillError):
    """An error with a place: `offset` counts characters from 0, `line` and `column` from 1."""

    def __init__(
        self,
        message: str,
        *,
        offset: int = 0,
        line: int = 1,
        column: int = 1,
        path: Path = (),
    ) -> None:
        super().__init__(message)
        self.offset = offset
        self.line = line
        self.column = column
        self.path = path
        # What the failing call had found before the error: nothing of it is lost.
        self.fragments: list[Fragment] = []


class InvalidJSON(_Placed, ValueError):
    """No continuation can make this text valid JSON; `expected` is what could have stood here."""

    def __init__(self, message: str, *, expected: str = "", **place: Any) -> None:
        super().__init__(message, **place)
        self.expected = expected


class Truncated(InvalidJSON):
    """The text was valid so far, but it stopped early."""


class LimitExceeded(_Placed):
    """The text is larger than a bound allows; `limit` is the bound's name."""

    def __init__(self, message: str, *, limit: str = "", **place: Any) -> None:
        super().__init__(message, **place)
        self.limit = limit


class FragmentError(JsonrillError):
    """A fragment does not fit where it was applied, or is not a fragment at all."""


class RevisionError(JsonrillError):
    """A snapshot contradicts text that was already written and cannot be taken back."""

    def __init__(self, path: Path, written: Any, now: Any, message: str = "") -> None:
        super().__init__(message or f"at {path!r}: written as {written!r}, now {now!r}")
        self.path = path
        self.written = written
        self.now = now

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.written, self.now, str(self))


class StreamClosed(JsonrillError):
    """The stage was fed after `flush()`, or after an error that ended it."""
