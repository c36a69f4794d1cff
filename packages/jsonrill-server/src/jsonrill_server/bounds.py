"""How much a store takes: the defaults of the stores and of the server's settings.

A module of its own, because a command line reads them without loading the stores.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """Size limits of a store, and the seconds for which it keeps a stream that is not used.

    When `total_streams` is reached, streams that have ended or were abandoned make room, the oldest
    first; only then is a new stream refused.
    """

    stream_bytes: int = 16 << 20
    stream_entries: int = 100_000
    owner_streams: int = 100
    total_streams: int = 10_000
    keep_open: float = 3600.0
    keep_closed: float = 3600.0
