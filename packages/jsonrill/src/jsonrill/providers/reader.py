"""Events of any provider → statements: `Reader` finds the module that reads an event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from typing import Any, Final, NamedTuple

from ..options import TABLE
from .objects import plain
from .repeated import around_text, with_text
from .statements import CallDelta, Statement, Text, Translate, failed


class ProviderPage(NamedTuple):
    """What a module has: `accepts` tells if an event is its provider's, `translation` makes a new
    translation of such events."""

    accepts: Callable[[dict[str, Any]], bool]
    translation: Callable[[], Translate]
    # Whether an event says that an answer is at its end; else the end of the source says it.
    ends: bool = True
    # Whether what an event says of its text does not depend on that text, nor on those before it.
    repeats: bool = False


# At most this many events pass before the text of one is looked for again, if that was no help.
_LONGEST_WAIT: Final = 256

# All that are known, in the order in which an event is offered to them; `__init__.py` lists them.
PROVIDERS: Final[dict[str, ProviderPage]] = {}


class Reader:
    """Turns events into statements. `provider` is a name, a function of one's own, or `auto`.

    With `auto` the provider of the event before reads an event if it accepts it, else the first
    that does. An event that none accepts (an `error`) is read by the provider of the event before;
    if it is the first event, only an error is read.
    """

    __slots__ = ("_accepts", "_head", "_like", "_pages", "_pause", "_tail", "_translate", "_waits",
                 "named", "provider")  # fmt: skip

    def __init__(self, provider: str | Translate = "auto") -> None:
        self.named = provider
        # The provider of the last event; None if it is not known yet, or a function.
        self.provider: str | None = None
        self._pages: dict[str, Translate] = {}
        self._accepts: Callable[[dict[str, Any]], bool] = lambda event: False
        self._translate: Translate = _only_errors
        # What the last event said of its text, if the next may differ in that alone, and what is
        # before and after the text there; how many events come before that is looked for again.
        self._like: CallDelta | Text | None = None
        self._head = self._tail = ""
        self._pause = 1
        self._waits = 0
        if callable(provider):
            self._accepts, self._translate = lambda event: True, provider
        elif (name := TABLE["provider"].check(provider)) != "auto":
            self._switch_to(name)
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
        text = event if type(event) is str else None
        if self._like is not None:
            if text is not None and (statement := self._repeated(text)) is not None:
                return [statement]
            self._like = None
        if text is not None or type(event) is not dict or "data" in event:
            event = plain(event)
            if event is None:
                return ()
        if not self._accepts(event) and (name := recognise(event)) is not None:
            self._switch_to(name)
        statements = self._translate(event)
        if text is not None and len(statements) == 1:
            self._learn(text, statements[0])
        return statements

    def _repeated(self, text: str) -> Statement | None:
        """What an event says that differs from the one before in its text alone."""
        head, tail = self._head, self._tail
        if not (text.startswith(head) and text.endswith(tail)) or self._like is None:
            return None
        try:
            value, end = scanstring(text, len(head), True)
        except ValueError:
            return None
        if not value or end + len(tail) != len(text):
            return None
        self._pause = 1
        return with_text(self._like, value)

    def _learn(self, text: str, statement: Statement) -> None:
        """See where the text of this event is, unless that has been no help of late."""
        if self._waits:
            self._waits -= 1
        elif isinstance(statement, (CallDelta, Text)) and self.provider is not None:
            page = PROVIDERS[self.provider]
            if page.repeats and (around := around_text(text, statement, page.translation)):
                self._head, self._tail = around
                self._like = statement
            self._waits, self._pause = self._pause, min(2 * self._pause, _LONGEST_WAIT)

    def _switch_to(self, name: str) -> None:
        self.provider = name
        page = PROVIDERS[name]
        self._accepts = page.accepts
        self._translate = self._pages.setdefault(name, page.translation())


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
