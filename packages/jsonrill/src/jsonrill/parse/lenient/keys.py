"""The keys of an object, as far as one of them may have come twice."""

from __future__ import annotations

from typing import Any, Final

# Among the keys of an object: one of them came twice.
REPEATED: Final[Any] = 0


def as_set(keys: Any) -> Any:
    """The keys of an object as a set, in which a key that came twice is noted."""
    if type(keys) is not list:
        return keys
    names: set[Any] = set(keys)
    if len(names) < len(keys):
        names.add(REPEATED)
    return names


def repeats(keys: Any) -> bool:
    """True if a key of an object came twice."""
    return keys is not None and REPEATED in as_set(keys)
