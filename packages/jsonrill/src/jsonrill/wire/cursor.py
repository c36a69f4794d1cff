"""Document order: where the next fragment must be, and whether a fragment is there."""

from __future__ import annotations

from typing import Any, assert_never

from ..errors import FragmentError
from ..parse.sink import PlacedSink
from ..paths import Path, Place, format_path
from .fragment import STARTS_VALUE, Kind, path_at


class Cursor(PlacedSink):
    """The place that the next fragment must have, from the fragments before it.

    Read in order, fragments need no path: a Key names the next member, elements count.
    """

    __slots__ = ("_string", "wants")

    def __init__(self) -> None:
        super().__init__()
        # "value", "key", "element", "string", "end" (the root is complete) or "nothing" (after
        # JsonComplete)
        self.wants = "value"
        self._string: Place | None = None

    def expect(self, kind: Kind) -> Place | None:
        """The place that a fragment of this kind must have now; FragmentError if none can come."""
        wants = self.wants
        if kind in STARTS_VALUE:
            if wants == "value" or wants == "element":
                return self._here()
        elif kind == "PartialString" or kind == "CompleteString":
            if wants == "string":
                return self._string
        elif kind == "JsonComplete":
            if wants == "end":
                return None
        elif wants == ("element" if kind == "EndArray" else "key"):
            return self._container
        elif kind == "EndObject" and wants == "value" and self._frames:
            # A key whose value never came: leniency closed a text that was cut off there.
            return self._container
        raise FragmentError(f"{kind} cannot come here: {self._wanted()}")

    @property
    def open_path(self) -> Path:
        """The string, or else the container, that is open; the root's path if nothing is."""
        return path_at(self._string if self.wants == "string" else self._container)

    def move(self, kind: Kind, place: Place | None, value: Any) -> None:
        """Go past a fragment that `expect` allowed."""
        if kind == "PartialString":
            return
        if kind in STARTS_VALUE:
            self._pass()
        if kind == "Key":
            self._step = value
            self.wants = "value"
        elif kind == "StartString":
            self._string = place
            self.wants = "string"
        elif kind == "StartObject":
            self._enter(place, "")
            self.wants = "key"
        elif kind == "StartArray":
            self._enter(place, 0)
            self.wants = "element"
        elif kind == "JsonComplete":
            self.wants = "nothing"
        elif kind == "EndObject" or kind == "EndArray":
            self._leave()
            self._end_value()
        elif (
            kind == "CompleteString"
            or kind == "CompleteNumber"
            or kind == "CompleteBoolean"
            or kind == "CompleteNull"
        ):
            self._end_value()
        else:
            assert_never(kind)

    def _end_value(self) -> None:
        inside = "element" if type(self._step) is int else "key"
        self.wants = inside if self._frames else "end"

    def _wanted(self) -> str:
        container = format_path(path_at(self._container))
        return {
            "value": "a value must begin",
            "key": f"a Key or EndObject of {container} must come",
            "element": f"an element or EndArray of {container} must come",
            "string": f"the string {format_path(path_at(self._string))} is open",
            "end": "JsonComplete must come",
            "nothing": "the document is complete",
        }[self.wants]


def adopted(at: Path | Place | None, expected: Place | None) -> Place | None:
    """The sender's own Place where it has one, so that its children are compared by identity."""
    return at if isinstance(at, Place) else expected


def same_place(at: Path | Place | None, expected: Place | None) -> bool:
    if at is expected:
        return True
    if isinstance(at, Place) and expected is not None and at.parent is expected.parent:
        return at.key == expected.key
    return path_at(at) == path_at(expected)
