"""Find the values that a pattern selects while the text is read; for `select` and entities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from .parse.machine import Frame, Sink
from .paths import ANY_INDEX, Pattern, fits

_KINDS: Final[dict[Any, str]] = {
    str: "a string",
    bool: "a boolean",
    dict: "an object",
    list: "an array",
    type(None): "null",
}


def kind_of(value: Any) -> str:
    """Return the name of a value's JSON type, for messages."""
    return _KINDS.get(type(value), "a number")


@dataclass(slots=True, eq=False)
class Place:
    """A pattern that selects values of a document, with its text, and a name or None.

    A pattern that ends in `[*]` selects elements. Any other pattern selects the value there or, if
    it is an array, its elements; with `in_root_array`, also the elements of a root array.
    """

    pattern: Pattern
    text: str
    name: str | None = None
    in_root_array: bool = False
    selects_elements: bool = field(init=False)

    def __post_init__(self) -> None:
        self.selects_elements = self.pattern[-1:] == (ANY_INDEX,)

    def matches(self, frames: list[Frame], depth: int) -> bool:
        """Return whether the pattern begins with the steps of the first `depth` frames."""
        if depth > len(self.pattern):
            return False
        for at in range(depth):
            frame = frames[at]
            if not fits(self.pattern[at], frame.key if frame.is_object else frame.count):
                return False
        return True

    def selects(self, frames: list[Frame], depth: int, is_array: bool) -> bool:
        """Return whether a value inside the first `depth` frames is selected."""
        size = len(self.pattern)
        if self.in_root_array and depth == 1 and not frames[0].is_object:
            return True
        if depth == size:
            return (not is_array or self.selects_elements) and self.matches(frames, depth)
        is_element = depth == size + 1 and not frames[size].is_object
        return is_element and not self.selects_elements and self.matches(frames, size)

    def is_list(self, frames: list[Frame], depth: int) -> bool:
        """Return whether the elements of an array inside the first `depth` frames are selected."""
        is_last = self.pattern[depth : depth + 1] in ((), (ANY_INDEX,))
        return (depth == 0 and self.in_root_array) or (is_last and self.matches(frames, depth))

    def may_contain(self, frames: list[Frame]) -> bool:
        """Return whether a value inside these frames may be selected, or contain such a value."""
        depth, size = len(frames), len(self.pattern)
        if self.in_root_array and depth <= 1:
            return True
        return depth <= size + 1 and self.matches(frames, min(depth, size))


class Finder(Sink):
    """Passes the first event of each selected value to the sink of that value."""

    def start_object(self, offset: int) -> None:
        sink = self.find(len(self.frames) - 1, "an object", offset)
        if sink is not None:
            sink.start_object(offset)

    def start_array(self, offset: int) -> None:
        sink = self.find(len(self.frames) - 1, "an array", offset)
        if sink is not None:
            sink.start_array(offset)

    def start_string(self, offset: int) -> None:
        sink = self.find(len(self.frames), "a string", offset)
        if sink is not None:
            sink.start_string(offset)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        sink = self.find(len(self.frames), kind_of(value), offset)
        if sink is not None:
            sink.scalar(value, text, offset)

    def find(self, depth: int, kind: str, offset: int) -> Sink | None:
        """Return the sink of the value that begins here, inside `depth` frames, if it has one."""
        raise NotImplementedError
