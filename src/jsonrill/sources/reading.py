"""How the elements of a source become pieces of text. No I/O: `streams.py` iterates.

The first element decides. Text stays as it is, unless it is said to be an event stream; anything
else is an event of a provider, of which the text of the answer is read, or the arguments of calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

from ..errors import SourceFailed, UnknownSource
from ..options import TABLE, Provider, Rules, Tool
from ..providers import Reader, plain
from ..providers.statements import Finish
from .answer import AnswerText
from .arguments import ArgumentText
from .event_text import EventText

# The number of elements that may come before the first one that is recognised.
_PATIENCE: Final = 32
ACCEPTED: Final = (
    "text, events of a provider (see jsonrill.providers.PROVIDERS), an open file or a response"
)


class Decoder(Protocol):
    """Turns elements into pieces of text."""

    def feed(self, element: Any) -> Iterator[str]: ...
    def flush(self) -> Iterator[str]: ...
    @property
    def done(self) -> bool: ...


class Reading:
    """The options of a source, checked, and the decoder that they and the first element ask for.

    `repair` is that of the reader of the text. With `first` only the first call counts. With
    `events` text holds events, too, and the answer may have calls and no text.
    """

    def __init__(
        self,
        *,
        choice: int = 0,
        tool: Tool = None,
        sse: bool = False,
        provider: Provider = "auto",
        repair: Rules = False,
        first: bool = False,
        events: bool = False,
    ) -> None:
        self.choice = TABLE["choice"].check(choice)
        self.tool = TABLE["tool"].check(tool) or None
        self.sse = TABLE["sse"].check(sse)
        self.provider = TABLE["provider"].check(provider)
        self.repair = repair
        self.first = first
        named = self.provider != "auto" or self.choice != 0
        self.may_be_empty = events
        self._of_events = events or self.sse or self.tool is not None or named

    @property
    def many(self) -> bool:
        """True if the text is one document after another."""
        return self.tool is not None and not self.first

    def decoder(self, first: Any) -> Decoder | None:
        """The decoder for a source whose first element this is; None for text."""
        text = isinstance(first, (str, bytes, bytearray, memoryview))
        return None if text and not self._of_events else EventDecoder(self)


class EventDecoder:
    """Reads a provider's events, or text that holds them, and returns the text that is wanted."""

    def __init__(self, reading: Reading) -> None:
        self._sse = reading.sse
        self._text: EventText | None = None
        self._choice = reading.choice
        self._reader = Reader(reading.provider)
        self._wanted: AnswerText | ArgumentText
        if reading.tool is None:
            self._wanted = AnswerText(choice=reading.choice)
        else:
            self._wanted = ArgumentText(
                reading.tool, choice=reading.choice, repair=reading.repair, first=reading.first
            )
        # A provider that is named reads all events: those that say something are its own.
        self._named = reading.provider != "auto"
        self._may_be_empty = reading.may_be_empty
        self._first: Any = None
        # How many events came before one was recognised; None after that.
        self._unknown: int | None = 0

    @property
    def done(self) -> bool:
        """True if no more of the source is wanted."""
        return self._wanted.done

    def feed(self, element: Any) -> Iterator[str]:
        """The text that an element adds."""
        if isinstance(element, (str, bytes, bytearray, memoryview)):
            if self._text is None:
                self._text = EventText(sse=self._sse)
            text = element if isinstance(element, str) else bytes(element)
            return self._read(self._text.feed(text))
        return self._read((element,))

    def flush(self) -> Iterator[str]:
        """The text at the end; an error if the source is not what was asked for."""
        if self._text is not None:
            yield from self._read(self._text.flush())
        if self._unknown:
            raise UnknownSource(_unknown(self._first, self._unknown))
        yield from self._wanted.flush()
        missing = None if self._may_be_empty or self._unknown == 0 else self._wanted.missing
        if missing is not None:
            raise UnknownSource(missing)

    def _read(self, events: Iterable[Any]) -> Iterator[str]:
        for event in events:
            said = self._reader.feed(event)
            yield from self._wanted.pieces(said)
            for one in said:
                if type(one) is Finish and one.error and one.choice in (None, self._choice):
                    raise SourceFailed(f"the provider reported an error: {one.error}")
            if self._unknown is not None:
                self._count(event, bool(said))

    def _count(self, event: Any, said: bool) -> None:
        assert self._unknown is not None
        if said or (self._reader.provider is not None and not self._named):
            self._unknown = None
            return
        if not self._unknown:
            self._first = event
        self._unknown += 1
        if self._unknown >= _PATIENCE:
            raise UnknownSource(_unknown(self._first, self._unknown))


def _unknown(first: Any, count: int) -> str:
    of = "the only element" if count == 1 else f"none of {count} elements"
    said = "is not" if count == 1 else "is"
    return (
        f"{of} {said} an event of a known provider; the first is {described(first)}."
        f" A source is {ACCEPTED}; `provider=` takes a function for other events"
    )


def described(element: Any) -> str:
    """An element's type and keys, for messages."""
    kind = type(element)
    name = kind.__qualname__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__}.{name}"
    if isinstance(element, (str, bytes)):
        return f"{name} {element[:60]!r}{'...' if len(element) > 60 else ''}"
    if isinstance(element, (tuple, list)):
        return f"{name} of ({', '.join(described(item) for item in element[:4])})"
    keys = element if isinstance(element, Mapping) else plain(element)
    if not keys:
        return name
    shown = ", ".join(str(key) for key in list(keys)[:12])
    return f"{name} with {shown}"
