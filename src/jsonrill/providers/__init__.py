"""One page for each provider: a decoded event in, statements about calls out (`deltas.py`).

This file knows which pages there are, how to tell whose event one is, and how to make a plain
dict of the objects that clients hand out. No client is imported: their objects are asked, by
names that they share, for their content.
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
from .content import content
from .deltas import Statement, Translate

__all__ = ["PROVIDERS", "Auto", "Provider", "plain", "text_of", "translator"]


class Provider(NamedTuple):
    """A page: is an event this provider's, and a fresh translation of such events."""

    accepts: Callable[[dict[str, Any]], bool]
    translation: Callable[[], Translate]


# In the order in which an event is offered to them: the surest signs first.
PROVIDERS: Final[dict[str, Provider]] = {
    "openai_chat": Provider(openai_chat.accepts, lambda: openai_chat.translate),
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


def translator(provider: str | Translate) -> Translate:
    """The translation of that name, `auto`, or one's own function."""
    if callable(provider):
        return provider
    name = TABLE["provider"].check(provider)
    return Auto() if name == "auto" else PROVIDERS[name].translation()


class Auto:
    """Recognises each event: by the provider of the one before it, else by the first that can."""

    def __init__(self) -> None:
        self._translations: dict[str, Translate] = {}
        self._accepts: Callable[[dict[str, Any]], bool] | None = None
        self._translate: Translate | None = None

    def __call__(self, event: dict[str, Any]) -> Sequence[Statement]:
        if self._accepts is None or not self._accepts(event):
            self._recognise(event)
        # An event that nobody claims (an `error`) is for the provider at hand.
        return [] if self._translate is None else self._translate(event)

    def _recognise(self, event: dict[str, Any]) -> None:
        for name, provider in PROVIDERS.items():
            if provider.accepts(event):
                if name not in self._translations:
                    self._translations[name] = provider.translation()
                self._accepts, self._translate = (
                    provider.accepts,
                    self._translations[name],
                )
                return


def text_of(event: Any) -> str | None:
    """The text of a model's answer in one event, "" if it has none; None for what is no event."""
    known = plain(event)
    if known is None or not any(provider.accepts(known) for provider in PROVIDERS.values()):
        return None
    return content(known)


def plain(event: Any) -> dict[str, Any] | None:
    """The event as a dict; None for what cannot be one.

    Takes dicts, JSON text, and the objects of clients; looks into the envelopes that some of them
    put around an event.
    """
    if type(event) is not dict:
        # Whatever an object of somebody else's does when asked, an event never raises.
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
    """An object's content, without its methods; `budget` bounds what a maze of objects can cost."""
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
    """A pydantic model, as those of nearly all clients."""
    kind = getattr(event, "type", None)
    if kind == "chunk" and hasattr(event, "chunk"):
        # The event of a helper that keeps a growing snapshot beside the chunk.
        event = event.chunk
    # A snapshot of all that came before would make each event dearer than the last. Fields that
    # were not sent are left out, for their defaults are nobody's words; but not the type.
    dump = event.model_dump(by_alias=True, exclude_unset=True, exclude={"snapshot"}, warnings=False)
    if isinstance(dump, dict) and isinstance(kind, str) and kind != "chunk":
        dump.setdefault("type", kind)
    return dump
