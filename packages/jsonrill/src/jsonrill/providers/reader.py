"""Events of any provider → statements: `Reader` finds the module that reads an event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from .objects import plain
from .statements import Statement, Translate, failed


class ProviderPage(NamedTuple):
    """What a module has: `accepts` tells if an event is its provider's, `translation` makes a new
    translation of such events."""

    accepts: Callable[[dict[str, Any]], bool]
    translation: Callable[[], Translate]
    # Whether an event says that an answer is at its end; else the end of the source says it.
    ends: bool = True


# All that are known, in the order in which an event is offered to them; `__init__.py` lists them.
PROVIDERS: Final[dict[str, ProviderPage]] = {}


class Reader:
    """Turns events into statements. `provider` is a name, a function of one's own, or `auto`.

    With `auto` the provider of the event before reads an event if it accepts it, else the first
    that does. An event that none accepts (an `error`) is read by the provider of the event before;
    if it is the first event, only an error is read.
    """

    __slots__ = ("_accepts", "_pages", "_translate", "named", "provider")

    def __init__(self, provider: str | Translate = "auto") -> None:
        self.named = provider
        # The provider of the last event; None if it is not known yet, or a function.
        self.provider: str | None = None
        self._pages: dict[str, Translate] = {}
        self._accepts: Callable[[dict[str, Any]], bool] = lambda event: False
        self._translate: Translate = _only_errors
        if callable(provider):
            self._accepts, self._translate = lambda event: True, provider
        elif provider != "auto":
            self._switch_to(_name_of(provider))
            self._accepts = lambda event: True

    @property
    def ends(self) -> bool:
        """True if the provider is known, and has an event for the end of an answer."""
        return self.provider is not None and not self.ends_with_source

    @property
    def ends_with_source(self) -> bool:
        """True if the provider is known, and the end of the source is that of the answer."""
        return self.provider is not None and not PROVIDERS[self.provider].ends

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


def _name_of(provider: str) -> str:
    """Return the name of a provider; case, - and _ do not matter."""
    name = provider.lower().replace("-", "_") if isinstance(provider, str) else provider
    if name not in PROVIDERS:
        raise ValueError(f"provider is one of auto, {', '.join(PROVIDERS)}, not {provider!r}")
    return name


def _only_errors(event: dict[str, Any]) -> Sequence[Statement]:
    """The statements of an event before the provider is known."""
    error = event.get("error")
    return [failed(error)] if isinstance(error, dict) else ()


def recognise(event: Any) -> str | None:
    """The name of the provider that this event is from; None if it is not known."""
    known = plain(event)
    if known is None:
        return None
    return next((name for name, page in PROVIDERS.items() if page.accepts(known)), None)
