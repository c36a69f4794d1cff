"""One module for each provider, with all that is known of it: its events in, statements out.

This file lists the modules, recognises which provider an event is from, and makes plain dicts of
the objects that client libraries yield. It imports none of these libraries, and reads their objects
by the methods that they share, such as `model_dump`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..options import TABLE, allow
from . import (
    ag_ui,
    anthropic,
    bedrock,
    gemini,
    jsonrill,
    mistral,
    openai_chat,
    openai_responses,
    vercel,
)
from .fields import as_error
from .statements import Finish, Statement, Translate

__all__ = ["PROVIDERS", "Provider", "Reader", "plain", "recognise"]


class Provider(NamedTuple):
    """What a module has: `accepts` tells if an event is its provider's, `translation` makes a new
    translation of such events."""

    accepts: Callable[[dict[str, Any]], bool]
    translation: Callable[[], Translate]


# An event is offered to them in this order: those that recognise theirs most surely come first.
PROVIDERS: Final[dict[str, Provider]] = {
    "openai_chat": Provider(openai_chat.accepts, openai_chat.Chat),
    "anthropic": Provider(anthropic.accepts, lambda: anthropic.translate),
    "openai_responses": Provider(openai_responses.accepts, openai_responses.Responses),
    "jsonrill": Provider(jsonrill.accepts, lambda: jsonrill.translate),
    "gemini": Provider(gemini.accepts, lambda: gemini.translate),
    "bedrock": Provider(bedrock.accepts, lambda: bedrock.translate),
    "mistral": Provider(mistral.accepts, lambda: mistral.translate),
    "ag_ui": Provider(ag_ui.accepts, lambda: ag_ui.translate),
    "vercel": Provider(vercel.accepts, lambda: vercel.translate),
}
allow("provider", ["auto", *PROVIDERS])


class Reader:
    """Turns events into statements. `provider` is a name, a function of one's own, or `auto`.

    With `auto` the provider of the event before reads an event if it accepts it, else the first
    that does. An event that none accepts (an `error`) is read by the provider of the event before;
    if it is the first event, only an error is read.
    """

    __slots__ = ("_accepts", "_pages", "_translate", "given", "provider")

    def __init__(self, provider: str | Translate = "auto") -> None:
        self.given = provider
        # The provider of the last event; None if it is not known yet, or a function.
        self.provider: str | None = None
        self._pages: dict[str, Translate] = {}
        self._accepts: Callable[[dict[str, Any]], bool] = lambda event: False
        self._translate: Translate = _only_errors
        if callable(provider):
            self._accepts, self._translate = lambda event: True, provider
        elif (name := TABLE["provider"].check(provider)) != "auto":
            self._switch_to(name)
            self._accepts = lambda event: True

    def feed(self, event: Any) -> Sequence[Statement]:
        """The statements of an event: a dict, JSON text, or an object of a client library."""
        if type(event) is not dict or "data" in event:
            event = plain(event)
            if event is None:
                return ()
        if not self._accepts(event) and (name := recognise(event)) is not None:
            self._switch_to(name)
        return self._translate(event)

    def _switch_to(self, name: str) -> None:
        self.provider = name
        page = PROVIDERS[name]
        self._accepts = page.accepts
        self._translate = self._pages.setdefault(name, page.translation())


def _only_errors(event: dict[str, Any]) -> Sequence[Statement]:
    """The statements of an event before the provider is known."""
    error = event.get("error")
    return [Finish(cut=True, error=as_error(error), last=True)] if isinstance(error, dict) else ()


def recognise(event: Any) -> str | None:
    """The name of the provider that this event is from; None if it is not known."""
    known = plain(event)
    if known is None:
        return None
    return next((name for name, page in PROVIDERS.items() if page.accepts(known)), None)


def plain(event: Any) -> dict[str, Any] | None:
    """The event as a dict; None for what cannot be one.

    Takes dicts, JSON text and objects of client libraries, and unwraps the events that some of them
    wrap in an object with `data`.
    """
    if type(event) is not dict:
        # Objects of other libraries may raise anything; an event that cannot be read never does.
        try:
            text = isinstance(event, (str, bytes))
            event = json.loads(event) if text else _from_object(event, [100_000])
        except Exception:
            return None
        if not isinstance(event, dict):
            return None
    data = event.get("data")
    if isinstance(data, dict) and not isinstance(event.get("type"), str):
        return data
    return event


def _from_object(event: Any, budget: list[int]) -> Any:
    """The content of an object, as dicts and lists; `budget` bounds how many values it may have."""
    budget[0] -= 1
    if budget[0] < 0:
        raise ValueError("not an event")
    if event is None or isinstance(event, (str, bytes, int, float)):
        return event
    if isinstance(event, Mapping):
        return {key: _from_object(value, budget) for key, value in event.items()}
    if isinstance(event, (list, tuple)):
        return [_from_object(item, budget) for item in event]
    if callable(getattr(event, "model_dump", None)):
        return _from_model(event)
    if callable(getattr(event, "to_dict", None)):
        return event.to_dict()
    return {name: _from_object(value, budget) for name, value in vars(event).items()}


def _from_model(event: Any) -> Any:
    """The content of a pydantic model, which nearly all client libraries use."""
    kind = getattr(event, "type", None)
    if kind == "chunk" and hasattr(event, "chunk"):
        # A helper of the library wraps the chunk together with a growing snapshot.
        event = event.chunk
    # Copying the snapshot with each event would take quadratic time. Fields that were not sent are
    # left out, because the provider did not say their defaults; but not the type.
    dump = event.model_dump(by_alias=True, exclude_unset=True, exclude={"snapshot"}, warnings=False)
    if isinstance(dump, dict) and isinstance(kind, str) and kind != "chunk":
        dump.setdefault("type", kind)
    return dump
