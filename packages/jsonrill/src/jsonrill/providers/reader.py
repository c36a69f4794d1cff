"""Events of any provider → statements: `Reader` finds the module that reads an event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, Final, NamedTuple, get_args

from . import (
    ag_ui,
    anthropic,
    bedrock,
    cohere,
    gemini,
    jsonrill,
    langchain,
    langgraph,
    mistral,
    ollama,
    openai_agents,
    openai_chat,
    openai_responses,
    parts,
    pydantic_ai,
    vercel,
)
from .common import failed, finished
from .fields import as_id, as_index, as_text
from .objects import plain
from .statements import CallDelta, End, Reasoning, Result, Statement, Text, Translate, Usage


class Provider(NamedTuple):
    """What a module offers: whether an event is its provider's, and a new translation of them.

    `ends`: an event says that an answer has ended; otherwise the end of the source says it.
    """

    accepts: Callable[[dict[str, Any]], bool]
    translation: Callable[[], Translate]
    ends: bool = True


# In the order in which an event is offered to them: those that are recognised most surely first.
PROVIDERS: Final = {
    "openai_chat": Provider(openai_chat.accepts, openai_chat.ChatReader),
    "anthropic": Provider(anthropic.accepts, lambda: anthropic.translate),
    "openai_responses": Provider(openai_responses.accepts, openai_responses.ResponsesReader),
    "jsonrill": Provider(jsonrill.accepts, lambda: jsonrill.translate),
    "parts": Provider(parts.accepts, parts.PartReader, ends=False),
    "gemini": Provider(gemini.accepts, lambda: gemini.translate),
    "bedrock": Provider(bedrock.accepts, lambda: bedrock.translate),
    "mistral": Provider(mistral.accepts, lambda: mistral.translate),
    "ag_ui": Provider(ag_ui.accepts, lambda: ag_ui.translate),
    "cohere": Provider(cohere.accepts, lambda: cohere.translate),
    "vercel": Provider(vercel.accepts, lambda: vercel.translate),
    "ollama": Provider(ollama.accepts, ollama.OllamaReader),
    "openai_agents": Provider(openai_agents.accepts, openai_agents.AgentsReader),
    "pydantic_ai": Provider(pydantic_ai.accepts, pydantic_ai.PydanticAIReader),
    "langchain": Provider(langchain.accepts, langchain.LangChainReader),
    "langgraph": Provider(langgraph.accepts, langgraph.LangGraphReader),
}


class Reader:
    """Turns events into statements. `provider` is a name, a function, or `auto`.

    With `auto` the provider of the previous event reads an event if it accepts it, otherwise the
    first that does. An event that none accepts (an `error`) is read by the provider of the previous
    event; if it is the first event, only an error is read.
    """

    __slots__ = ("_accepts", "_translate", "_translations", "named", "provider")

    def __init__(self, provider: str | Translate = "auto") -> None:
        self.named = provider
        # The provider of the last event; None if it is not known yet, or a function.
        self.provider: str | None = None
        self._translations: dict[str, Translate] = {}
        self._accepts: Callable[[dict[str, Any]], bool] = _accept_nothing
        self._translate: Translate = _only_errors
        if callable(provider):
            self._accepts, self._translate = _accept_all, _checked(provider)
        elif provider != "auto":
            self._switch_to(_known(provider))
            self._accepts = _accept_all

    @property
    def ends(self) -> bool:
        """True if the provider is known, and has an event for the end of an answer."""
        return self.provider is not None and not self.ends_with_source

    @property
    def ends_with_source(self) -> bool:
        """True if the provider is known, and the end of the source ends the answer."""
        return self.provider is not None and not PROVIDERS[self.provider].ends

    def feed(self, event: Any) -> Sequence[Statement]:
        """Return the statements of an event: a dict, JSON text, or a client library's object."""
        if type(event) is not dict or "data" in event:
            event = plain(event)
            if event is None:
                return ()
        if not self._accepts(event) and (name := recognise(event)) is not None:
            self._switch_to(name)
        return self._translate(event)

    def _switch_to(self, name: str) -> None:
        self.provider = name
        self._accepts = PROVIDERS[name].accepts
        if name not in self._translations:
            self._translations[name] = PROVIDERS[name].translation()
        self._translate = self._translations[name]


def recognise(event: Any) -> str | None:
    """Return the name of the provider that this event is from; None if it is not known."""
    event = plain(event)
    if event is None:
        return None
    return next((name for name, it in PROVIDERS.items() if it.accepts(event)), None)


def _known(name: Any) -> str:
    if name in PROVIDERS:
        return str(name)
    near = get_close_matches(str(name), PROVIDERS, 1)
    hint = f"did you mean {near[0]!r}" if near else f"use auto, {', '.join(PROVIDERS)}"
    end = "? You can also" if near else ", or"
    raise ValueError(f"provider is not {name!r}: {hint}{end} pass a function")


def _accept_all(event: dict[str, Any]) -> bool:
    return True


def _accept_nothing(event: dict[str, Any]) -> bool:
    return False


def _only_errors(event: dict[str, Any]) -> Sequence[Statement]:
    error = event.get("error")
    return [failed(error)] if isinstance(error, dict) else ()


# ---- functions of users ----


def _checked(function: Callable[[dict[str, Any]], Any]) -> Translate:
    def translate(event: dict[str, Any]) -> list[Statement]:
        returned = function(event)
        if not isinstance(returned, Iterable) or isinstance(returned, (str, bytes, dict)):
            raise TypeError(_EXPECTED.format(repr(returned)))
        return [_as_statement(item) for item in returned]

    return translate


_EXPECTED: Final = (
    "the provider function must return a list of statements, or of dicts such as"
    ' {{"text": "…"}}, {{"call": {{"id": "…", "name": "…", "arguments": "…"}}}} and'
    ' {{"end": "stop"}}, not {}'
)


def _as_statement(item: Any) -> Statement:
    if isinstance(item, get_args(Statement)):
        return item  # type: ignore[no-any-return]
    match item:
        case {"text": str(text)}:
            return Text(text)
        case {"reasoning": str(text)}:
            return Reasoning(text)
        case {"call": dict(call)}:
            return _as_call(call)
        case {"id": str(id), "result": result}:
            return Result(id, result, item.get("is_error") is True)
        case {"usage": dict(counts)}:
            return Usage(counts)
        case {"end": str() | None as reason}:
            return finished(reason)
    raise TypeError(_EXPECTED.format(repr(item)))


def _as_call(call: dict[str, Any]) -> CallDelta:
    id, index, arguments = as_id(call.get("id")), as_index(call.get("index")), call.get("arguments")
    delta = CallDelta(id, index, as_text(call.get("name")), as_text(arguments))
    if isinstance(arguments, dict):
        delta.value = arguments
    if call.get("end") is True:
        delta.end = End()
    return delta
