"""What the response of every framework has that is an event stream. Needs no package."""

from __future__ import annotations

import random
from typing import Final

HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    # Proxies hold back what looks like a page.
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
}
# A comment, so that proxies in between pass the beginning of the response on.
OPENING: Final = b": open\n"
TICK: Final = 1.0


def beginning(retry: int | None) -> bytes:
    """What is sent in the block of the first event: alone, some clients take it for an event.

    It is not the same for all: after a restart they would come back at the same moment.
    """
    return b"" if retry is None else b"retry: %d\n" % (random.uniform(0.75, 1.25) * retry)
