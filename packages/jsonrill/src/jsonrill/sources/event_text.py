"""Text that holds a provider's events → these events: server-sent events, or JSON, one a line."""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any

from ..eventstream import (
    LONGEST_EVENT,
    SSEDecoder,
    SSEEvent,
    ends_stream,
    is_done,
    looks_like_events,
)

# The longest name of a field in an event stream, with its colon.
_LONGEST = len("event:")


class EventText:
    """Decodes text in any pieces. Without `sse` the beginning of the text decides.

    A piece that is one JSON object need not end with a line break: many programs keep events so.
    """

    def __init__(self, *, sse: bool = False, limit: int = LONGEST_EVENT) -> None:
        self._decoder: SSEDecoder | None = SSEDecoder(limit=limit) if sse else None
        self._utf8: Any = getincrementaldecoder("utf-8")("replace")
        self._decided = sse
        self._rest = ""
        # True after an event that says that the stream is at its end, such as `[DONE]`.
        self.done = False

    def feed(self, piece: str | bytes) -> Iterator[Any]:
        """The events that are complete with this piece, as JSON text."""
        if self._decoder is not None:
            whole = self._decoder.whole(piece)
            return self._data(self._decoder.feed(piece)) if whole is None else iter((whole,))
        self._rest += piece if isinstance(piece, str) else self._utf8.decode(piece)
        if not self._decided:
            begun = self._rest.lstrip("\ufeff \t\r\n")
            if looks_like_events(begun[:_LONGEST].encode()):
                self._decoder, text = SSEDecoder(), self._rest
                return self._data(self._decoder.feed(text))
            self._decided = len(begun) >= _LONGEST or begun.startswith("{")
        return self._lines()

    def flush(self) -> Iterator[Any]:
        """The last event, which counts without its blank line if it is JSON."""
        if self._decoder is not None:
            return filter(is_json, self._data(self._decoder.feed("\n\n")))
        rest, self._rest = self._rest.strip(), ""
        return iter([rest] if rest else [])

    def _data(self, events: list[SSEEvent]) -> Iterator[str]:
        """The data of the events that are not the end of the stream."""
        data = [event.data for event in events if not ends_stream(event)]
        self.done = self.done or len(data) < len(events)
        return iter(data)

    def _lines(self) -> Iterator[str]:
        *complete, self._rest = self._rest.split("\n")
        lines = [line for line in map(str.strip, complete) if line]
        kept = [line for line in lines if not is_done(line)]
        self.done = self.done or len(kept) < len(lines)
        rest = self._rest.strip()
        if rest.startswith("{") and rest.endswith("}") and is_json(rest):
            self._rest = ""
            kept.append(rest)
        return iter(kept)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
