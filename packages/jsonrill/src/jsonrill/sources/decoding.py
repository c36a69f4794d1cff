"""The decoders of a source that is not plain text: events of a provider, as text or as events.

They know the providers, so they are loaded when a source has something else than text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from ..errors import SourceFailed, UnknownSource, truncated
from ..options import Provider
from ..providers import Reader
from ..providers.statements import Finish, Watch
from .answer import AnswerText
from .arguments import ArgumentText
from .event_text import EventText
from .explain import quoted
from .failures import ACCEPTED, described

if TYPE_CHECKING:
    from .reading import Reading

# The number of elements that may come before the first one that is recognised.
_MOST_UNKNOWN: Final = 32
# What a JSON text begins with, and how much of a text that begins with something else is read, to
# see if the model refused or was stopped.
_BEGINS_JSON: Final = '{["-0123456789\ufeff`<'
_PROSE: Final = 120


def _may_be_json(begun: str) -> bool:
    word = begun[:5]
    return begun[0] in _BEGINS_JSON or any(it.startswith(word) for it in ("true", "false", "null"))


class EventDecoder:
    """Passes on a provider's events, decodes text that holds them, and notices unknown ones."""

    done = False

    def __init__(self, provider: Provider, sse: bool) -> None:
        self._sse = sse
        self._text: EventText | None = None
        # Until an event is recognised: a reader, which tells if it says something.
        self._reader: Reader | None = None if callable(provider) else Reader(provider)
        # A provider that is named reads all events: those that say something are its own.
        self._named = provider != "auto"
        self._first: Any = None
        self._unknown = 0

    def feed(self, element: Any) -> Iterator[Any]:
        """The events that are complete with this element."""
        if isinstance(element, (str, bytes, bytearray, memoryview)):
            if self._text is None:
                self._text = EventText(sse=self._sse)
            text = element if isinstance(element, str) else bytes(element)
            return self._decoded(self._text.feed(text))
        return iter((element,)) if self._reader is None else self._counted((element,))

    def flush(self) -> Iterator[Any]:
        """The last event; an error if none was recognised."""
        if self._text is not None:
            yield from self._decoded(self._text.flush())
        if self._unknown and self._reader is not None:
            raise UnknownSource(self._complaint())

    @property
    def said_done(self) -> bool:
        """True if the text said that it is at its end."""
        return self._text is not None and self._text.done

    @property
    def empty(self) -> bool:
        """True if there were no events."""
        return self._reader is not None and not self._unknown

    def _decoded(self, events: Iterable[str]) -> Iterator[Any]:
        """The events of a text, as JSON text."""
        return iter(events) if self._reader is None else self._counted(events)

    def _counted(self, events: Iterable[Any]) -> Iterator[Any]:
        for event in events:
            yield event
            if self._reader is not None:
                self._count(event, self._reader)

    def _count(self, event: Any, reader: Reader) -> None:
        if reader.feed(event) or (reader.provider is not None and not self._named):
            self._reader = self._first = None
            return
        if not self._unknown:
            self._first = event
        self._unknown += 1
        if self._unknown >= _MOST_UNKNOWN:
            raise UnknownSource(self._complaint())

    def _complaint(self) -> str:
        if self._unknown == 1:
            problem = (
                f"the only element is not an event of a known provider: {described(self._first)}"
            )
        else:
            problem = (
                f"none of {self._unknown} elements is an event of a known provider;"
                f" the first is {described(self._first)}"
            )
        return f"{problem}. A source is {ACCEPTED}; `provider=` takes a function for other events"


class TextDecoder:
    """Reads a provider's events, or text that holds them, and returns the text that is wanted."""

    def __init__(self, reading: Reading, sse: bool) -> None:
        self._reading = reading
        self._events = EventDecoder(reading.provider, sse)
        self._choice = reading.choice
        # The beginning of an answer that cannot be JSON, until enough of it is known.
        self._prose: str | None = "" if reading.holds_prose and reading.tool is None else None
        self._reader = Reader(reading.provider)
        answer = reading.answer
        self._watch = None if answer is None else Watch(answer, reading.choice)
        self._may_be_empty = reading.may_be_empty
        self._wanted: AnswerText | ArgumentText
        if reading.tool is None:
            self._wanted = AnswerText(choice=reading.choice)
        else:
            self._wanted = ArgumentText(
                reading.tool, choice=reading.choice, repair=reading.repair, first=reading.first
            )

    @property
    def done(self) -> bool:
        """True if no more of the source is wanted."""
        return self._wanted.done

    def feed(self, element: Any) -> Iterator[str]:
        """The text that an element adds."""
        pieces = self._read(self._events.feed(element))
        return pieces if self._prose is None else self._held(pieces)

    def flush(self) -> Iterator[str]:
        """The text at the end; an error if the source is not what was asked for."""
        pieces = self._read(self._events.flush())
        yield from pieces if self._prose is None else self._held(pieces)
        yield from self._wanted.flush()
        ends = self._reader.ends and not self._events.said_done
        if self._watch is not None:
            self._watch.end(ends=ends)
        cut = self._reading.cut = self._wanted.cut(ends=ends)
        if self._prose:
            if cut is not None:
                raise truncated(cut._replace(detail=cut.detail or quoted(self._prose)))
            yield self._prose
        if cut is not None and cut.reason != "lost":
            return
        missing = None if self._may_be_empty or self._events.empty else self._wanted.missing
        if missing is not None:
            raise UnknownSource(missing)

    def _held(self, pieces: Iterator[str]) -> Iterator[str]:
        """The pieces, but for a while not those of prose: its end tells why it came."""
        for piece in pieces:
            if self._prose is None:
                yield piece
                continue
            self._prose += piece
            begun = self._prose.strip(" \t\r\n")
            if (begun and _may_be_json(begun)) or len(self._prose) > _PROSE:
                text, self._prose = self._prose, None
                yield text

    def _read(self, events: Iterable[Any]) -> Iterator[str]:
        for event in events:
            statements = self._reader.feed(event)
            if self._watch is not None:
                self._watch.read(statements)
            for piece in self._wanted.pieces(statements):
                self._reading.transcript.add(piece)
                yield piece
            for one in statements:
                if type(one) is Finish and one.reason == "error":
                    if one.choice in (None, self._choice):
                        if self._watch is not None:
                            self._watch.end(ends=True)
                        raise SourceFailed(f"the provider reported an error: {one.detail}")
