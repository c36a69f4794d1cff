"""Events of any provider → statements: `Reader` finds the module that reads an event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final, get_args

from .fields import as_id, as_index, as_text, failed, finished
from .objects import plain
from .statements import CallDelta, End, Reasoning, Result, Statement, Text, Translate, Usage

# The modules, in the order in which an event is offered to them: those that are recognised most
# surely first.
_NAMES: Final = """
    openai_chat anthropic openai_responses jsonrill parts gemini bedrock mistral ag_ui cohere vercel
    ollama openai_agents pydantic_ai langchain
""".split()
PROVIDERS: Final[dict[str, Any]] = {name: import_module(f".{name}", __package__) for name in _NAMES}


class Reader:
    """Turns events into statements. `provider` is a name, a function, or `auto`.

    With `auto` an event is read by the previous event's provider if that accepts it, otherwise by
    the first one that does. An event that none accepts (an `error`) is also read by the previous
    event's provider. If it is the first event, only an error is read.
    """

    __slots__ = ("_is_fixed", "_translate", "_translations", "named", "provider")

    def __init__(self, provider: str | Translate = "auto") -> None:
        self.named = provider
        # The provider of the last event; None if it is not known yet, or a function.
        self.provider: str | None = None
        self._translations: dict[str, Translate] = {}
        self._translate: Translate = _only_errors
        self._is_fixed = provider != "auto"
        if callable(provider):
            self._translate = _checked(provider)
        elif provider != "auto":
            self._switch_to(_known(provider))

    @property
    def ends(self) -> bool:
        """True if the provider is known, and has an event for the end of an answer."""
        return self.provider not in (None, "parts")

    def feed(self, event: Any) -> Sequence[Statement]:
        """Return the statements of an event: a dict, JSON text, or a client library's object."""
        if type(event) is not dict or "data" in event:
            event = plain(event)
            if event is None:
                return ()
        if not self._is_fixed:
            known = self.provider
            if known is None or not PROVIDERS[known].accepts(event):
                self._switch_to(recognise(event) or known)
        return self._translate(event)

    def _switch_to(self, name: str | None) -> None:
        if name is not None and name != self.provider:
            if name not in self._translations:
                module = PROVIDERS[name]
                has_memory = hasattr(module, "Translation")
                self._translations[name] = module.Translation() if has_memory else module.translate
            self.provider, self._translate = name, self._translations[name]


def recognise(event: Any) -> str | None:
    """Return the name of the provider that this event is from; None if it is not known."""
    event = plain(event)
    if event is None:
        return None
    return next((name for name, module in PROVIDERS.items() if module.accepts(event)), None)


def _known(name: Any) -> str:
    if name in PROVIDERS:
        return str(name)
    near = get_close_matches(str(name), PROVIDERS, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"use auto, {', '.join(PROVIDERS)}."
    raise ValueError(f"provider is not {name!r}: {hint} You can also pass a function")


def _only_errors(event: dict[str, Any]) -> Sequence[Statement]:
    error = event.get("error") or (event if event.get("type") == "error" else None)
    return [failed(error)] if isinstance(error, dict | str) else ()


# ---- functions of users ----


def _checked(function: Callable[[dict[str, Any]], Any]) -> Translate:
    def translate(event: dict[str, Any]) -> list[Statement]:
        returned = function(event)
        if not isinstance(returned, Iterable) or isinstance(returned, (str, bytes, dict)):
            raise TypeError(_EXPECTED.format(repr(returned)))
        return [_as_statement(item) for item in returned]

    return translate


_CALL: Final = {"id", "index", "name", "arguments", "end"}
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
    arguments = call.get("arguments")
    if not call.keys() <= _CALL or not isinstance(arguments, str | dict | None):
        raise TypeError(_EXPECTED.format({"call": call}))
    id, index, name = as_id(call, "id"), as_index(call, "index"), as_text(call, "name")
    delta = CallDelta(id, index, name).with_arguments(arguments)
    if call.get("end") is True:
        delta.end = End()
    return delta
