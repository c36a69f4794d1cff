"""What a schema asks for: of several readings the one that fits is taken.

`GuidedMachine` asks a `Guide` what the schema allows at a path. A string where it allows none is
collected and read again at its end (`"5"` where an integer is due); in prose, a bracket of another
type or with other keys is passed over.
"""

from __future__ import annotations

import re
from json import loads
from typing import Any, Final

from ..c_scanner import deeper
from ..expected import Expected, Guide
from ..sink import Sink
from ..states import GUIDED
from .around import ProseMachine

# The first key of an object, and one that is cut off.
_FIRST_KEY: Final = re.compile(r"\{\s{0,64}(?:[\"']([^\"'\\]{0,80})[\"']|([\w$]{1,80})\s{0,8}:)")
_FIRST_KEY_CUT: Final = re.compile(r"\{\s{0,64}(?:[\"'][^\"'\\]{0,80}|[\w$]{0,80}\s{0,8})\Z")


class GuidedMachine(ProseMachine):
    """The machine that knows what a schema asks for."""

    __slots__ = ("_guide",)

    def __init__(self, sink: Sink, **options: Any) -> None:
        super().__init__(sink, **options)
        # What a schema asks for, by path.
        self._guide: Guide | None = None

    def guide(self, guide: Guide) -> None:
        self._guide = guide
        self._wary = GUIDED

    def _asked(self) -> Expected | None:
        """What the schema allows for the value that comes next."""
        if self._guide is None or "by-schema" not in self._rules:
            return None
        return self._guide(self._path(value=True))

    def _read_again(self, string: str, asked: Expected) -> tuple[bool, Any]:
        """As `fitting`, for a string that is only nearly JSON."""
        return False, None

    def _fits(self, text: str, pos: int) -> bool | None:
        """False if the schema asks for another type, or for objects with other keys."""
        asked = self._guide(()) if self._guide is not None and not self._many else None
        if asked is None or "by-schema" not in self._rules:
            return True
        if ("object" if text[pos] == "{" else "array") not in asked.types:
            return False
        found = _FIRST_KEY.match(text, pos)
        if text[pos] == "[" or not asked.keys:
            return True
        if found is None:
            return None if _FIRST_KEY_CUT.match(text, pos) and not self._last else True
        return (found[1] or found[2]) in asked.keys

    def _emit_value(self, value: Any, offset: int) -> None:
        """The events of a value that is known already."""
        if isinstance(value, str):
            self._emit_string(value, offset)
        elif isinstance(value, dict):
            self._sink.start_object(offset)
            for key, member in value.items():
                self._sink.key(key, offset)
                self._emit_value(member, offset)
            self._sink.end_container(offset)
        elif isinstance(value, list):
            self._sink.start_array(offset)
            for element in value:
                self._emit_value(element, offset)
            self._sink.end_container(offset)
        else:
            number = None if value is None or isinstance(value, bool) else repr(value)
            self._sink.scalar(value, number, offset)

    def _emit_string(self, value: str, offset: int) -> None:
        self._sink.start_string(offset)
        if value:
            self._sink.text(value)
        self._sink.end_string()


class ValueSink(Sink):
    """Builds one value, for a string that is read again."""

    __slots__ = ("_key", "_spine", "_text", "root")

    def __init__(self) -> None:
        self.root: Any = None
        self._spine: list[Any] = []
        self._key = self._text = ""

    def start_object(self, offset: int) -> None:
        self.scalar({}, None, offset)
        self._spine.append(self._last())

    def start_array(self, offset: int) -> None:
        self.scalar([], None, offset)
        self._spine.append(self._last())

    def end_container(self, offset: int) -> None:
        self._spine.pop()
        self._key = ""

    def key(self, key: str, offset: int) -> None:
        self._key = key

    def start_string(self, offset: int) -> None:
        self._text = ""

    def text(self, run: str) -> None:
        self._text += run

    def end_string(self) -> None:
        self.scalar(self._text, None, 0)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if not self._spine:
            self.root = value
        elif isinstance(self._spine[-1], dict):
            self._spine[-1][self._key] = value
        else:
            self._spine[-1].append(value)

    def _last(self) -> Any:
        if not self._spine:
            return self.root
        outer = self._spine[-1]
        return outer[self._key] if isinstance(outer, dict) else outer[-1]


def fitting(text: str, asked: Expected, depth: int) -> tuple[bool, Any]:
    """True and the reading of a string that a schema asks for, else False and None."""
    if asked.strings:
        if text in asked.strings:
            return False, None
        alike = [one for one in asked.strings if one.casefold() == text.strip().casefold()]
        return (True, alike[0]) if len(alike) == 1 else (False, None)
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return False, None
    return fits(value, asked, text, depth)


def fits(value: Any, asked: Expected, text: str, depth: int) -> tuple[bool, Any]:
    """True and `value`, which `text` is the JSON of, if a schema asks for it and it is not deep."""
    if isinstance(value, (dict, list)) and deeper(value, depth, sum(map(text.count, "[{("))):
        return False, None
    kinds = {
        dict: ("object",),
        list: ("array",),
        bool: ("boolean",),
        type(None): ("null",),
        int: ("integer", "number"),
        float: ("number",),
    }
    return (True, value) if asked.types.intersection(kinds.get(type(value), ())) else (False, None)
