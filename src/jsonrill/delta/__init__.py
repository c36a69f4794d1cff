"""What changed in one entity: written down as it happens, read when somebody asks.

    log.py       events → entries; a position in a log is a state of its entity
    reading.py   entries → the value at a position, and the change between two of them
    apply.py     the change between any two values, and making it on the other side

A delta is a list of `{"op", "path", "value"}`: `add` and `replace` as in RFC 6902, and `append`,
which adds text to a string. Its paths are JSON Pointers within the entity.
"""

from .apply import apply_delta, difference
from .log import FinishedLog, Log, Whole
from .reading import Delta

__all__ = ["Delta", "FinishedLog", "Log", "Whole", "apply_delta", "difference"]
