"""How many connections a process can have: each takes a file descriptor, and those are limited.

A process without any left accepts nothing and tries again at once, with all its time. So the
bounds of readers and connections end before: of the limit a part is kept for other connections, a
part of that for those that are refused, and the rest for the store and for files.
"""

from __future__ import annotations

from typing import Final

RESERVED: Final = 320


def limit() -> int:
    """The number of descriptors that this process may have; 0 if the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 0 if soft == resource.RLIM_INFINITY else soft


def raise_limit(needed: int) -> None:
    """Let this process have as many descriptors, or as many as it is allowed to."""
    if not 0 < limit() < needed:
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    except (ValueError, OSError):
        pass  # the bounds are lower then


def bounded(wanted: int, kept: float) -> int:
    """The number of connections of a kind: fewer than wanted if the descriptors do not suffice.

    `kept` is the share of the reserved descriptors that these connections leave for others.
    """
    most = limit()
    reserved = min(RESERVED, most // 4)
    return min(wanted, most - int(reserved * kept)) if most else wanted
