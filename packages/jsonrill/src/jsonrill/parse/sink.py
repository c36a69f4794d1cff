"""The events of a machine, and the stack of open containers that it shares with its sink."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..paths import Path


class Repair(NamedTuple):
    """One repair: its rule, and the character at which it was needed."""

    rule: str
    offset: int
    line: int
    column: int


class Frame:
    """An open container: an object with its last key, or an array with the index of its element.

    The stack of frames is the nesting and the path. A builder puts the container that it builds
    into `members` or `elements`.
    """

    __slots__ = ("count", "elements", "is_object", "key", "members")
    members: dict[str, Any]
    elements: list[Any]

    def __init__(self, is_object: bool) -> None:
        self.is_object = is_object
        self.key = ""
        # The number of keys that the object has, or the index of the element being read.
        self.count = 0


def path_of(frames: list[Frame], start: int, end: int) -> Path:
    """Return the current keys and indices of these frames."""
    return tuple([frame.key if frame.is_object else frame.count for frame in frames[start:end]])


class Sink:
    """Receive the events of a machine. Offsets point at the first character of a token.

    `frames` is the machine's stack. When a container starts or ends, its own frame is the last one.
    """

    __slots__ = ("frames",)

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    def start_object(self, offset: int) -> None: ...
    def start_array(self, offset: int) -> None: ...
    def end_container(self, offset: int) -> None: ...
    def key(self, key: str, offset: int) -> None: ...
    def start_string(self, offset: int) -> None: ...
    def text(self, run: str) -> None: ...
    def end_string(self) -> None: ...
    def scalar(self, value: Any, text: str | None, offset: int) -> None: ...
    def complete(self, offset: int) -> None: ...

    def takes_values(self) -> bool:
        """Return whether `scalar` may pass a complete container instead of its events."""
        return False
