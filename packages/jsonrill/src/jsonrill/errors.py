"""Every error that jsonrill raises on data, in one tree, and the limits that some of them name.

    JsonrillError
    ├── InvalidJSON (also a ValueError)    no continuation can make this text valid
    │   └── Truncated                      the text stopped early
    ├── InvalidSchema (also a ValueError)  the value breaks its schema; `rule` says which part
    ├── FieldNotFound (also a LookupError) a field that was asked for never came, or is no string
    ├── LimitExceeded                      a limit was passed; `limit` names it
    ├── FragmentError                      a fragment does not fit where it was applied
    ├── RevisionError                      a snapshot contradicts text already written
    ├── StreamClosed                       fed after the end, or after a fatal error
    ├── SourceFailed                       the provider or the server of a source reports an error
    └── UnknownSource (also a TypeError)   no event of a source was recognised

`UnknownEvents` is a warning. All facts of an error are in its fields, which `to_dict()` writes to
the wire: no code reads a message. Wrong use of a function (an argument of the wrong type) is a
plain `TypeError` or `ValueError`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    NamedTuple,
    NoReturn,
    Required,
    Self,
    TypedDict,
    cast,
)

from .paths import Path, format_path, short_path

if TYPE_CHECKING:
    from .wire.fragment import Fragment

# How much of an answer the feedback to the model quotes, and what in messages is not for it.
_GOOD: Final = 2000
_FOR_PROGRAMS: Final = re.compile(
    r": pass limits=.*| \(repair=True [^)]*\)|, which repair=True \w+|: if a file is meant.*"
)


class Problem(TypedDict, total=False):
    """An error for JSON, as `to_dict` writes it: what is not known is left out."""

    code: Required[str]
    message: Required[str]
    offset: int
    line: int
    column: int
    path: str
    reason: str
    rule: str
    limit: str
    field: str
    status: int


class JsonrillError(Exception):
    """The root of the tree: catch this to catch everything.

    `code` names the kind of error. `offset` counts characters from 0, `line` and `column` from 1;
    `path` is the value that was being read. `text` is what was read of the answer (of a long one
    the beginning), `value` the last good value, of the caller's type. What is not known is None.
    """

    code = "ERROR"
    text: str | None = None
    value: object = None
    # What to_dict() has beside the code and the message.
    _fields: tuple[str, ...] = ("offset", "line", "column", "path")

    def __init__(
        self,
        message: str = "",
        *,
        offset: int | None = None,
        line: int | None = None,
        column: int | None = None,
        path: Path | None = None,
    ) -> None:
        super().__init__(message)
        self.offset = offset
        self.line = line
        self.column = column
        self.path = path

    @property
    def message(self) -> str:
        return str(self)

    def locate(self, text: str) -> Self:
        """Set line and column where only the offset is known, from the source text."""
        if self.offset is not None:
            self.line = text.count("\n", 0, self.offset) + 1
            self.column = self.offset - text.rfind("\n", 0, self.offset)
        return self

    def to_dict(self) -> Problem:
        """The error for JSON: `code`, `message`, and of its place what is known, `path` as text."""
        fields: dict[str, Any] = {"code": self.code, "message": self.message}
        for name in self._fields:
            value = getattr(self, name)
            if value is not None:
                fields[name] = format_path(value) if name == "path" else value
        return cast(Problem, fields)


def feedback(error: JsonrillError) -> str:
    """Return what to tell the model, to ask again: what is wrong, where, and what was good."""
    place = short_path(error.path or ())
    at = "" if not error.path or place in error.message else f" (at {place})"
    lines = [f"Your answer was not accepted: {_FOR_PROGRAMS.sub('', error.message)}{at}."]
    good = (error.text or "")[: error.offset]
    if good.strip():
        shown = good if len(good) <= _GOOD else "…" + good[-_GOOD:]
        lines.append(f"Up to there it was good:\n{shown}")
    lines.append("Answer again, with the complete JSON and nothing else.")
    return "\n".join(lines)


class _ParseError(JsonrillError):
    # The fragments that the failing call had found before the error.
    fragments: list[Fragment]

    def __init__(self, message: str = "", **place: Any) -> None:
        super().__init__(message, **place)
        self.fragments = []


class InvalidJSON(_ParseError, ValueError):
    """No continuation can make this text valid JSON; `expected` is what could have come here."""

    code = "INVALID_JSON"

    def __init__(self, message: str = "", *, expected: str = "", **place: Any) -> None:
        super().__init__(message, **place)
        self.expected = expected


# What messages say of an answer that a provider did not complete; `providers/finish.py` has the
# words of the providers.
CUTS: Final = {
    "length": "the model stopped at its token limit",
    "filtered": "a content filter stopped the answer",
    "refused": "the model refused to answer",
    "lost": "the stream ended before the answer did",
}


class CutShort(NamedTuple):
    """How an answer was cut: a `reason` of `CUTS`, and what the provider says of it."""

    reason: str
    detail: str | None = None

    def __str__(self) -> str:
        words = CUTS.get(self.reason, self.reason)
        return words if self.detail is None else f"{words}: {self.detail}"


class Truncated(InvalidJSON):
    """The text was valid so far, but it stopped early.

    `reason` says why: `length`, `filtered`, `refused`, `lost` (the stream of a provider ended
    without its end), or `ended` (nothing but the text is known).
    """

    code = "TRUNCATED"
    _fields = (*InvalidJSON._fields, "reason")

    def __init__(self, message: str = "", *, reason: str = "ended", **place: Any) -> None:
        super().__init__(message, **place)
        self.reason = reason


def truncated(cut: CutShort, error: InvalidJSON | None = None) -> Truncated:
    """The error of an answer that was cut, where the reader of its text found another one."""
    place = {} if error is None else {it: getattr(error, it) for it in JsonrillError._fields}
    expected = "" if error is None else error.expected
    message = str(cut) if not expected else f"{cut}; {error}"
    return Truncated(message, reason=cut.reason, expected=expected, **place)


class LimitExceeded(_ParseError):
    """The text is larger than a limit allows; `limit` is the limit's name."""

    code = "LIMIT_EXCEEDED"
    _fields = (*JsonrillError._fields, "limit")

    def __init__(self, message: str = "", *, limit: str = "", **place: Any) -> None:
        super().__init__(message, **place)
        self.limit = limit


class InvalidSchema(JsonrillError, ValueError):
    """The value breaks its schema: by which `rule`, and where the offending value or key begins.

    `allowed` lists the values or keys that could have come, if they are known. `value` is the last
    good one, if `values` or `fields` raised this.
    """

    code = "INVALID_SCHEMA"
    offset: int
    path: Path
    _fields = (*JsonrillError._fields, "rule")

    def __init__(self, message: str = "", *, rule: str = "", **place: Any) -> None:
        super().__init__(message, **place)
        self.rule = rule
        self.allowed: tuple[Any, ...] = ()


class FieldNotFound(JsonrillError, LookupError):
    """A field that was asked for never came, or is of another kind; `field` is its path."""

    code = "FIELD_NOT_FOUND"
    _fields = (*JsonrillError._fields, "field")

    def __init__(self, message: str = "", *, field: str = "", **place: Any) -> None:
        super().__init__(message, **place)
        self.field = field


class FragmentError(JsonrillError):
    """A fragment does not fit where it was applied, or is not a fragment at all."""

    code = "INVALID_FRAGMENT"


class RevisionError(JsonrillError):
    """A snapshot contradicts text that was already written and cannot be taken back."""

    code = "REVISION"
    path: Path

    def __init__(self, path: Path, written: Any, now: Any, message: str = "") -> None:
        message = message or f"at {path!r}: written as {written!r}, now {now!r}"
        super().__init__(message, path=path)
        self.written = written
        self.now = now

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.written, self.now, str(self))


class StreamClosed(JsonrillError):
    """The stage was fed after `flush()`, or after an error that ended it."""

    code = "CLOSED"


class SourceFailed(JsonrillError):
    """A source ended with an error: of the provider, or the `status` of an HTTP response."""

    code = "SOURCE_FAILED"
    _fields = (*JsonrillError._fields, "status")

    def __init__(self, message: str = "", *, status: int | None = None, **place: Any) -> None:
        super().__init__(message, **place)
        self.status = status


class UnknownSource(JsonrillError, TypeError):
    """Nothing in a source is what was asked for: it names what came, and what is accepted."""

    code = "UNKNOWN_SOURCE"


def refuse_copy(stage: Any, *_: Any) -> NoReturn:
    """Raise the `TypeError` of a stage that cannot be copied or pickled."""
    name = type(stage).__name__
    raise TypeError(
        f"a {name} cannot be copied or pickled: make a new one, and feed it the same input"
    )


class UnknownEvents(UserWarning):
    """None of the events that a `ToolCalls` object has read is from a known provider."""


def stream_error(error: JsonrillError) -> Problem:
    """The `error` of an ERROR event: in a stream, a text that stopped early is INVALID_JSON."""
    fields = error.to_dict()
    return {**fields, "code": InvalidJSON.code} if isinstance(error, Truncated) else fields


@dataclass(frozen=True, slots=True)
class Limits:
    """Size limits for untrusted input, in characters of source text and per document."""

    depth: int = 256
    text: int = 64 * 2**20
    string: int = 16 * 2**20
    number: int = 400
    keys: int = 100_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int:
                raise TypeError(f"{field.name} is a whole number, not {value!r}")
            if value < (field.name == "text"):
                raise ValueError(f"limits are not negative, and text is at least 1: {self}")


DEFAULT_LIMITS: Final = Limits()
# No text is that long, and offsets beyond it still fit a machine word when compiled.
UNLIMITED: Final = 2**60
