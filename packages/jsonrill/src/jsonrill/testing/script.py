"""What a scripted upstream sends for one request."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..eventstream import encode_event
from ..jsontext import dumps


class Cut(Enum):
    """Ends a connection before the body has ended."""

    # The connection is reset: the client gets an error at once and may lose unread bytes.
    RESET = "reset"
    # The connection is closed: the body is too short.
    CLOSE = "close"


class Token(bytes):
    """Bytes that an exchange counts as one token."""


# Bytes are sent, a number is a pause in seconds, and an event is waited for.
Step = bytes | float | threading.Event | Cut
EVENT_STREAM = {"content-type": "text/event-stream"}


@dataclass(frozen=True, slots=True)
class Script:
    """A response: its status and headers, and the steps in which its body is sent, in chunks."""

    steps: Iterable[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: EVENT_STREAM)

    @classmethod
    def events(cls, events: Iterable[Any], *, pace: float = 0.0, done: bool = False) -> Script:
        """Return an event stream of these dicts, `pace` seconds apart, each counted as a token.

        With `done`, `[DONE]` is the last event.
        """
        steps: list[Step] = []
        for event in events:
            steps += [*([pace] if pace else []), Token(framed(event))]
        return cls([*steps, *([framed("[DONE]")] if done else [])])

    @classmethod
    def json(
        cls, value: Any, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Script:
        """Return a JSON body that is sent at once."""
        all_headers = {"content-type": "application/json", **(headers or {})}
        return cls([dumps(value).encode()], status, all_headers)


def framed(event: Any) -> bytes:
    """Return the bytes of one event; its `type`, if it has one, is the event's name, too."""
    if isinstance(event, str):
        return encode_event(event)
    return encode_event(dumps(event), event=event.get("type"))
