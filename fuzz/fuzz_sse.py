"""Bytes of an event stream, however cut: the events that the standard says, and no exception.

`python -m fuzz sse --seconds 600`. The decoder is compared with one that reads the whole text by
the words of the standard; what the encoder writes comes back as it was.
"""

from __future__ import annotations

import re
from random import Random
from typing import Final

from fuzz.seeds import EVENT_WORDS, cut, event_texts, mutated
from jsonrill import LimitExceeded
from jsonrill.eventstream import (
    SSEDecoder,
    SSEEvent,
    encode_event,
    looks_like_events,
    may_become_events,
)

TARGET: Final = "event streams, any cutting: the events of the standard, and the encoder's own"
BYTES: Final = True
WORDS: Final = EVENT_WORDS


def seeds() -> tuple[bytes, ...]:
    return event_texts()


def by_the_standard(data: bytes) -> list[tuple[str, str, str]]:
    """Type, data and last id of each event: the steps of the HTML standard on the whole text."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    events: list[tuple[str, str, str]] = []
    lines, kind, last = list[str](), "", ""
    # What follows the last line end is an incomplete line, and is dropped.
    for line in re.split("\r\n|\r|\n", text)[:-1]:
        if not line:
            if lines:
                events.append((kind or "message", "\n".join(lines), last))
            lines, kind = [], ""
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            lines.append(value)
        elif name == "event":
            kind = value
        elif name == "id" and "\0" not in value:
            last = value
    return events


def decoded(pieces: list[bytes], **options: int) -> list[SSEEvent]:
    decoder = SSEDecoder(**options)
    return [event for piece in pieces for event in decoder.feed(piece)]


def check(data: bytes, random: Random) -> None:
    """One stream."""
    wanted = by_the_standard(data)
    for pieces in ([data], cut(random, data), cut(random, data)):
        assert [(it.type, it.data, it.id) for it in decoded(pieces)] == wanted, pieces
    SSEDecoder().flush()
    try:
        decoded(cut(random, data), limit=random.choice([1, 5, 20, 100]))
    except LimitExceeded:
        pass
    for end in range(min(len(data), 12)):
        if looks_like_events(data[:end]):
            assert looks_like_events(data), "more text made it something else"
        elif not may_become_events(data[:end]):
            assert not looks_like_events(data), "recognised too late"
    text = data.decode("utf-8", "replace") or "x"  # an event needs data
    back = decoded([encode_event(text, id=7)])
    lines = re.split("\r\n|\r|\n", text)
    assert [(it.type, it.data, it.id) for it in back] == [("message", "\n".join(lines), "7")]


def run(random: Random) -> None:
    """One execution."""
    begun = random.choice(seeds())[: random.choice([50, 200, 2000])]
    others = tuple(seed.decode("utf-8", "replace") for seed in seeds())
    text = mutated(random, begun.decode("utf-8", "replace"), WORDS, others)
    data = bytearray(text.encode("utf-8", "replace"))
    if data and random.random() < 0.3:
        data[random.randrange(len(data))] = random.randrange(256)
    check(bytes(data), random)
