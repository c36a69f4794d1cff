"""Every error that jsonrill raises on data, in one tree, and the limits that some of them name.

    JsonrillError
    ├── InvalidJSON (also a ValueError)    no continuation can make this text valid
    │   └── Truncated                      the text stopped early
    ├── InvalidSchema (also a ValueError)  the value violates its schema; `rule` says which part
    ├── FieldNotFound (also a LookupError) a requested field never came, or has another type
    ├── LimitExceeded                      a limit was passed; `limit` names it
    ├── FragmentError                      a fragment does not fit where it was applied
    ├── RevisionError                      a snapshot contradicts text already written
    ├── InvalidMessage (also a ValueError) a message of the wire is wrong or does not fit the value
    ├── Gap                                a message of the wire is missing
    ├── StreamClosed                       fed after the end, or after a fatal error
    ├── SourceFailed                       the provider or the server of a source reports an error
    └── UnknownSource (also a TypeError)   no event of a source was recognised

All facts of an error are in its fields, which `to_dict()` writes to the wire; no code reads a
message. A wrong argument is a plain `TypeError` or `ValueError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple, Required, Self, TypedDict, cast

from .paths import Path, format_path, short_path

# How many characters of an answer the feedback to the model quotes.
_MAX_QUOTE: Final = 2000


class Problem(TypedDict, total=False):
    """An error for JSON, as `to_dict` writes it; unknown facts are left out."""

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
    """The base class of all errors in data.

    `code` names the kind of error. `offset` counts characters from 0, `line` and `column` from 1;
    `path` is the value that was being read. `text` is the answer that was read (the beginning of a
    long one), `value` the last good value, of the caller's type. Unknown facts are None.
    `problem` is the message without the hint to the programmer that may follow it.
    """

    code = "ERROR"
    offset: int | None = None
    line: int | None = None
    column: int | None = None
    path: Path | None = None
    text: str | None = None
    value: object = None
    # The fields that `to_dict` writes in addition to the code and the message.
    _facts: tuple[str, ...] = ("offset", "line", "column", "path")

    def __init__(self, message: str = "", *, hint: str = "", **facts: Any) -> None:
        super().__init__(message + hint)
        self.problem = message
        for name, value in facts.items():
            if not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} has no {name}")
            setattr(self, name, value)

    @property
    def message(self) -> str:
        return str(self)

    def locate(self, text: str) -> Self:
        """Set line and column from the source text, where only the offset is known."""
        if self.offset is not None:
            self.line = text.count("\n", 0, self.offset) + 1
            self.column = self.offset - text.rfind("\n", 0, self.offset)
        return self

    def to_dict(self) -> Problem:
        """Return the error for JSON: `code`, `message` and the known facts, `path` as text."""
        problem: dict[str, Any] = {"code": self.code, "message": self.message}
        for name in self._facts:
            value = getattr(self, name)
            if value is not None:
                problem[name] = format_path(value) if name == "path" else value
        return cast(Problem, problem)


class InvalidJSON(JsonrillError, ValueError):
    """No continuation can make this text valid JSON; `expected` names the valid continuations.

    `fragments` are those that the failing call had found before the error.
    """

    code = "INVALID_JSON"
    expected = ""
    fragments: Sequence[Any] = ()


# Why a provider did not complete an answer; `providers/finish.py` has the providers' words.
CUTS: Final = {
    "length": "the model stopped at its token limit",
    "filtered": "a content filter stopped the answer",
    "refused": "the model refused to answer",
    "lost": "the stream ended before the answer did",
}


class CutShort(NamedTuple):
    """How an answer was cut: a `reason` of `CUTS`, and what the provider says about it."""

    reason: str
    detail: str | None = None

    def __str__(self) -> str:
        words = CUTS.get(self.reason, self.reason)
        return words if self.detail is None else f"{words}: {self.detail}"


class Truncated(InvalidJSON):
    """The text was valid so far, but it stopped early.

    `reason` says why: `length`, `filtered`, `refused`, `lost` (the stream of a provider ended
    without its end), or `ended` (only the text is known). `cut` is what the provider said.
    """

    code = "TRUNCATED"
    reason = "ended"
    cut: CutShort | None = None
    _facts = (*InvalidJSON._facts, "reason")


def truncated(cut: CutShort, error: InvalidJSON | None = None) -> Truncated:
    """Return the error for an answer that was cut, in place of the error of its text."""
    if error is None:
        return Truncated(str(cut), reason=cut.reason, cut=cut)
    message = f"{cut}; {error.problem}" if error.expected else str(cut)
    facts = {name: getattr(error, name) for name in (*JsonrillError._facts, "expected")}
    return Truncated(message, reason=cut.reason, cut=cut, **facts)


class LimitExceeded(JsonrillError):
    """The text is larger than a limit allows; `limit` is the limit's name."""

    code = "LIMIT_EXCEEDED"
    limit = ""
    fragments: Sequence[Any] = ()
    _facts = (*JsonrillError._facts, "limit")


class InvalidSchema(JsonrillError, ValueError):
    """The value violates a `rule` of its schema; `offset` is where the wrong value or key begins.

    `allowed` lists the values or keys that could have come, if they are known. `value` is the last
    good one, if `values` or `fields` raised this.
    """

    code = "INVALID_SCHEMA"
    offset: int
    path: Path
    rule = ""
    allowed: tuple[Any, ...] = ()
    _facts = (*JsonrillError._facts, "rule")


class FieldNotFound(JsonrillError, LookupError):
    """A requested field is missing or has the wrong type; `field` is its path."""

    code = "FIELD_NOT_FOUND"
    field = ""
    _facts = (*JsonrillError._facts, "field")


class FragmentError(JsonrillError):
    """A fragment does not fit the current state, or is not a fragment."""

    code = "INVALID_FRAGMENT"


class RevisionError(JsonrillError):
    """A snapshot contradicts text that was already written and cannot be taken back.

    `written` is the value in the text, `now` the value in the snapshot, None if it is missing.
    """

    code = "REVISION"
    path: Path
    written: object = None
    now: object = None


class InvalidMessage(JsonrillError, ValueError):
    """A message or operation is wrong, or does not fit the value. It has changed nothing."""

    code = "INVALID_MESSAGE"


class Gap(JsonrillError):
    """A message is missing. The value stays as it was; ask the sender for a snapshot."""

    code = "GAP"


class StreamClosed(JsonrillError):
    """The stage was fed after `flush()`, or after an error that ended it."""

    code = "CLOSED"


class SourceFailed(JsonrillError):
    """A source ended with an error of the provider, or with the `status` of an HTTP response."""

    code = "SOURCE_FAILED"
    status: int | None = None
    _facts = (*JsonrillError._facts, "status")


class UnknownSource(JsonrillError, TypeError):
    """A source does not contain what was requested; the message says what it contains."""

    code = "UNKNOWN_SOURCE"


class UnknownEvents(UserWarning):
    """None of the events that a `ToolCalls` object has read is from a known provider."""


def feedback(error: JsonrillError) -> str:
    """Return a message that asks the model again: the error, its place, and the valid part."""
    place = short_path(error.path or ())
    at = "" if not error.path or place in error.problem else f" (at {place})"
    lines = [f"Your answer was not accepted: {error.problem}{at}."]
    good = (error.text or "")[: error.offset]
    if good.strip():
        shown = good if len(good) <= _MAX_QUOTE else "…" + good[-_MAX_QUOTE:]
        lines.append(f"It was valid up to this point:\n{shown}")
    lines.append("Answer again, with the complete JSON and nothing else.")
    return "\n".join(lines)


def stream_error(error: JsonrillError) -> Problem:
    """Return the `error` of an ERROR event, in which a truncated text is INVALID_JSON."""
    problem = error.to_dict()
    return {**problem, "code": InvalidJSON.code} if isinstance(error, Truncated) else problem


def check_names(names: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise `TypeError` for an unknown option, with the most similar known one."""
    allowed = sorted(allowed)
    for name in names:
        if name not in allowed:
            raise TypeError(f"unknown option: {name}; {suggestion(name, allowed)}")


def suggestion(name: Any, known: Sequence[str]) -> str:
    """Return a question with the most similar known name, or a list of all names."""
    from difflib import get_close_matches

    closest = get_close_matches(str(name), known, 1, 0.5)
    return f"did you mean {closest[0]}?" if closest else f"there are {', '.join(known)}"


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
                raise TypeError(f"{field.name} must be a whole number, not {value!r}")
            if value < (field.name == "text"):
                raise ValueError(f"limits must be at least 0, and text at least 1: {self}")


DEFAULT_LIMITS: Final = Limits()
# Longer than any text, but small enough for offsets to fit a machine word when compiled.
UNLIMITED: Final = 2**60
