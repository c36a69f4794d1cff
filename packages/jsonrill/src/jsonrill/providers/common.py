"""Statements that several providers make alike."""

from __future__ import annotations

from typing import Any

from .fields import as_error
from .finish import finish_reason, worse
from .statements import CallDelta, Finish, Statement, Usage


def finished(
    word: Any,
    message: str | None = None,
    choice: int | None = None,
    *,
    native: Any = None,
    last: bool = False,
) -> Finish:
    """Return the statement of the provider's word for why a response has ended.

    `native` is the word of the provider behind a gateway.
    """
    word = worse(word, native)
    reason = finish_reason(word)
    detail = str(getattr(word, "value", word)) if reason == "error" else None
    malformed = detail is not None and detail.lower().startswith("malformed")
    return Finish(message, choice, reason, detail, malformed, last, word == "pause_turn")


def failed(error: Any, *, last: bool = True) -> Finish:
    """Return the statement of a provider's error: a text or an object with a `message`."""
    return Finish(reason="error", detail=as_error(error), last=last)


def as_usage(value: Any) -> list[Statement]:
    """Return the statement of a `usage` field; none if it is not an object."""
    return [Usage(value)] if isinstance(value, dict) else []


def unread(index: int | None) -> list[Statement]:
    """Return the statement of a delta of an unknown type, for the call at this index."""
    return [] if index is None else [CallDelta(None, index, opens=False, unread=True)]
