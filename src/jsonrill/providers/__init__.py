"""One page for each provider, with all that is known of it: its events in, statements out.

This file knows which pages there are, how to recognise whose event one is, and how to make a plain
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
from .statements import Statement, Translate

__all__ = ["PROVIDERS", "Provider", "Reader", "plain", "recognise"]


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


class Reader:
    """Events → statements. `provider` is the name of a page, a function of one's own, or `auto`.

    With `auto` an event is read by the page of the event before it, or by the first that accepts
    it. What no page accepts (an `error`) is for the page at hand.
    """

    __slots__ = ("_accepts", "_pages", "_translate", "provider")

    def __init__(self, provider: str | Translate = "auto") -> None:
        # The name of the page at hand; None if it is not known yet, or a function.
        self.provider: str | None = None
        self._pages: dict[str, Translate] = {}
        self._accepts: Callable[[dict[str, Any]], bool] = lambda event: False
        self._translate: Translate = lambda event: ()
        if callable(provider):
            self._accepts, self._translate = lambda event: True, provider
        elif (name := TABLE["provider"].check(provider)) != "auto":
            self._turn_to(name)
            self._accepts = lambda event: True

    def feed(self, event: Any) -> Sequence[Statement]:
        """What an event says: a dict, JSON text, or an object of the provider's client."""
        if type(event) is not dict or "data" in event:
            event = plain(event)
            if event is None:
                return ()
        if not self._accepts(event) and (name := recognise(event)) is not None:
            self._turn_to(name)
        return self._translate(event)

    def _turn_to(self, name: str) -> None:
        self.provider = name
        page = PROVIDERS[name]
        self._accepts = page.accepts
        self._translate = self._pages.setdefault(name, page.translation())


def recognise(event: Any) -> str | None:
    """The name of the provider whose event this is; None for what is no event of a known one."""
    known = plain(event)
    if known is None:
        return None
    return next((name for name, page in PROVIDERS.items() if page.accepts(known)), None)


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
