"""Text that holds a provider's events → the events, and the check that they are a provider's."""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..errors import CutShort, UnknownSource
from ..eventstream import (
    MAX_EVENT,
    SSEDecoder,
    SSEEvent,
    ends_stream,
    is_done,
    is_event_stream,
    looks_like_events,
)
from ..pipeline import Stage
from ..providers import Reader
from .explain import ACCEPTED, describe
from .opening import TEXT, Opened

# The longest name of a field in an event stream, with its colon.
_LONGEST_FIELD: Final = len("event:")
# How many elements may come before the first one that is recognised.
_MAX_UNKNOWN: Final = 32


class EventText:
    """Decodes server-sent events, or JSON texts one a line. Without `sse` the beginning decides.

    A piece that is one JSON object need not end with a line break: many programs keep events so.
    """

    def __init__(self, *, sse: bool = False, limit: int = MAX_EVENT) -> None:
        self._decoder: SSEDecoder | None = SSEDecoder(limit=limit) if sse else None
        self._utf8: Any = getincrementaldecoder("utf-8")("replace")
        self._is_decided = sse
        self._rest = ""
        # True after an event that marks the end of the stream, such as `[DONE]`.
        self.done = False

    def feed(self, piece: str | bytes) -> list[str]:
        """Return the events that are complete with this piece, as JSON text."""
        if self._decoder is not None:
            return self._data(self._decoder.feed(piece))
        self._rest += piece if isinstance(piece, str) else self._utf8.decode(piece)
        if not self._is_decided:
            beginning = self._rest.lstrip("\ufeff \t\r\n")
            if looks_like_events(beginning[:_LONGEST_FIELD].encode("utf-8", "replace")):
                self._decoder = SSEDecoder()
                return self._data(self._decoder.feed(self._rest))
            self._is_decided = len(beginning) >= _LONGEST_FIELD or beginning.startswith("{")
        return self._lines()

    def flush(self) -> list[str]:
        """Return the last event, which counts without its blank line if it is JSON."""
        if self._decoder is not None:
            return [*filter(_is_json, self._data(self._decoder.feed("\n\n")))]
        rest, self._rest = self._rest.strip(), ""
        return [rest] if rest else []

    def _data(self, events: list[SSEEvent]) -> list[str]:
        data = [event.data for event in events if not ends_stream(event)]
        self.done = self.done or len(data) < len(events)
        return data

    def _lines(self) -> list[str]:
        *complete, self._rest = self._rest.split("\n")
        lines = [line for line in map(str.strip, complete) if line]
        kept = [line for line in lines if not is_done(line)]
        self.done = self.done or len(kept) < len(lines)
        rest = self._rest.strip()
        if rest.startswith("{") and rest.endswith("}") and _is_json(rest):
            self._rest = ""
            kept.append(rest)
        return kept


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class EventReader(Stage):
    """Passes on a provider's events, decodes text that holds them, and refuses unknown ones."""

    def __init__(self, provider: Any = "auto", *, sse: bool = False) -> None:
        self._sse = sse
        self._text: EventText | None = None
        # A reader that tries the events until it recognises one; None from then on.
        self._reader: Reader | None = None if callable(provider) else Reader(provider)
        # A named provider accepts every event: only its statements show that it knows one.
        self._is_named = provider != "auto"
        self._first: Any = None
        self._unknown = 0

    def open(self, source: Opened) -> None:
        self._sse = self._sse or is_event_stream(source.content_type)

    def feed(self, element: Any) -> Iterable[Any]:
        """Return the events that are complete with this element."""
        if not isinstance(element, TEXT):
            return (element,) if self._reader is None else self._checked((element,))
        if self._text is None:
            self._text = EventText(sse=self._sse)
        text = element if isinstance(element, str) else bytes(element)
        return self._checked(self._text.feed(text))

    def flush(self, cut: CutShort | None = None) -> Iterator[Any]:
        """Return the last event; raise an error if none was recognised."""
        if self._text is not None:
            yield from self._checked(self._text.flush())
        if self._unknown and self._reader is not None:
            raise UnknownSource(self._complaint())

    @property
    def said_done(self) -> bool:
        """True if the text contained an end mark."""
        return self._text is not None and self._text.done

    @property
    def is_empty(self) -> bool:
        """True if there were no events."""
        return self._reader is not None and not self._unknown

    def _checked(self, events: Iterable[Any]) -> Iterator[Any]:
        for event in events:
            yield event
            if self._reader is not None:
                self._check(event, self._reader)

    def _check(self, event: Any, reader: Reader) -> None:
        if reader.feed(event) or (reader.provider is not None and not self._is_named):
            self._reader = self._first = None
            return
        if not self._unknown:
            self._first = event
        self._unknown += 1
        if self._unknown >= _MAX_UNKNOWN:
            raise UnknownSource(self._complaint())

    def _complaint(self) -> str:
        problem = "the only element is not an event of a known provider:"
        if self._unknown > 1:
            number = self._unknown
            problem = f"none of {number} elements is an event of a known provider; the first is"
        hint = f"A source is {ACCEPTED}; `provider=` takes a function for other events"
        return f"{problem} {describe(self._first)}. {hint}"
