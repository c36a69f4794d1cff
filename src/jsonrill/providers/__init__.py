"""One module for each provider, with all that is known of it: its events in, statements out.

This file lists the modules and recognises which provider an event is from. Some modules are of
frameworks, which send a provider's events in an envelope, or say the same in their own words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from ..options import TABLE, allow
from . import (
    ag_ui,
    anthropic,
    bedrock,
    claude_code,
    cohere,
    gemini,
    gemini_live,
    google_adk,
    jsonrill,
    langchain,
    langgraph,
    llama_index,
    mistral,
    ollama,
    openai_agents,
    openai_chat,
    openai_realtime,
    openai_responses,
    pydantic_ai,
    vercel,
)
from .fields import as_error
from .objects import plain
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
    "openai_realtime": Provider(openai_realtime.accepts, openai_realtime.Realtime),
    "openai_responses": Provider(openai_responses.accepts, openai_responses.Responses),
    "jsonrill": Provider(jsonrill.accepts, lambda: jsonrill.translate),
    "gemini": Provider(gemini.accepts, lambda: gemini.translate),
    "bedrock": Provider(bedrock.accepts, lambda: bedrock.translate),
    "mistral": Provider(mistral.accepts, lambda: mistral.translate),
    "ag_ui": Provider(ag_ui.accepts, lambda: ag_ui.translate),
    "cohere": Provider(cohere.accepts, lambda: cohere.translate),
    "vercel": Provider(vercel.accepts, lambda: vercel.translate),
    "ollama": Provider(ollama.accepts, ollama.Ollama),
    "gemini_live": Provider(gemini_live.accepts, gemini_live.GeminiLive),
    "google_adk": Provider(google_adk.accepts, google_adk.GoogleADK),
    "openai_agents": Provider(openai_agents.accepts, openai_agents.OpenAIAgents),
    "claude_code": Provider(claude_code.accepts, claude_code.ClaudeCode),
    "pydantic_ai": Provider(pydantic_ai.accepts, pydantic_ai.PydanticAI),
    "langchain": Provider(langchain.accepts, langchain.LangChain),
    "llama_index": Provider(llama_index.accepts, llama_index.LlamaIndex),
    "langgraph": Provider(langgraph.accepts, langgraph.LangGraph),
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
