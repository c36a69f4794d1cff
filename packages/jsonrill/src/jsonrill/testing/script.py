"""What a scripted upstream sends for one request."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

from ..eventstream import encode_event
from ..jsontext import dumps


class Cut(Enum):
    """Ends a connection before the body has ended."""

    # The connection is reset: the client gets an error at once and may lose what it has not read.
    RESET = "reset"
    # The connection is closed: a body with a length or in chunks is too short.
    CLOSE = "close"
    # Only the sending side is closed; the connection stays until the client leaves.
    HALF = "half"


class Token(bytes):
    """Bytes that an exchange counts as one token."""


# Bytes are sent, a number is a pause in seconds, and an event is waited for.
Step = bytes | float | threading.Event | Cut
EVENT_STREAM = {"content-type": "text/event-stream"}


@dataclass(frozen=True, slots=True)
class Script:
    """A response: its status and headers, and the steps in which its body is sent.

    `framing` says how the client knows where the body ends: by `chunked` encoding, by a `length`
    (that of all steps, unless the headers have a content-length), or because the connection is
    closed (`close`). With `raw` the steps are all of the response, status line and headers too.
    """

    steps: Iterable[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: EVENT_STREAM)
    framing: Literal["chunked", "length", "close", "raw"] = "chunked"

    @classmethod
    def events(cls, events: Iterable[Any], *, pace: float = 0.0, done: bool = False) -> Script:
        """An event stream of these events (dicts, or data as text), each counted as a token.

        `pace` seconds pass before each; with `done`, `[DONE]` is the last one.
        """
        steps: list[Step] = []
        for event in events:
            steps += [*([pace] if pace else []), Token(framed(event))]
        return cls([*steps, *([framed("[DONE]")] if done else [])])

    @classmethod
    def json(
        cls, value: Any, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Script:
        """A JSON body that is sent at once."""
        all_headers = {"content-type": "application/json", **(headers or {})}
        return cls([dumps(value).encode()], status, all_headers, "length")


def framed(event: Any) -> bytes:
    """The bytes of one event; its `type`, if it has one, is the event's name, too."""
    if isinstance(event, str):
        return encode_event(event)
    return encode_event(dumps(event), event=event.get("type"))
