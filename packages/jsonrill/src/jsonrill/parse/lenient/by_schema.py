"""What a schema asks for: of several readings the one that fits is taken.

A string where the schema allows none is collected and read again at its end (`"5"` where an integer
is due); in prose, a bracket of another type or with other keys is passed over.
"""

from __future__ import annotations

import re
from json import loads
from typing import TYPE_CHECKING, Any, Final

from ..c_scanner import deeper
from ..expected import Expected, Guide
from ..sink import Sink

if TYPE_CHECKING:
    from .core import Leniency

# The first key of an object, and one that is cut off.
_FIRST_KEY: Final = re.compile(r"\{\s{0,64}(?:[\"']([^\"'\\]{0,80})[\"']|([\w$]{1,80})\s{0,8}:)")
_FIRST_KEY_CUT: Final = re.compile(r"\{\s{0,64}(?:[\"'][^\"'\\]{0,80}|[\w$]{0,80}\s{0,8})\Z")


class BySchema:
    """Knows what a schema asks for."""

    __slots__ = ("guide",)

    def __init__(self) -> None:
        # What a schema asks for, by path.
        self.guide: Guide | None = None

    def asked(self, m: Leniency) -> Expected | None:
        """What the schema allows for the value that comes next."""
        if self.guide is None or "by-schema" not in m._rules:
            return None
        return self.guide(m._path(value=True))

    def fits(self, m: Leniency, text: str, pos: int) -> bool | None:
        """False if the schema asks for another type, or for objects with other keys."""
        asked = self.guide(()) if self.guide is not None and not m._many else None
        if asked is None or "by-schema" not in m._rules:
            return True
        if ("object" if text[pos] == "{" else "array") not in asked.types:
            return False
        match = _FIRST_KEY.match(text, pos)
        if text[pos] == "[" or not asked.keys:
            return True
        if match is None:
            return None if _FIRST_KEY_CUT.match(text, pos) and not m._last else True
        return (match[1] or match[2]) in asked.keys

    def emit_value(self, m: Leniency, value: Any, offset: int) -> None:
        """The events of a value that is known already."""
        if isinstance(value, str):
            self.emit_string(m, value, offset)
        elif isinstance(value, dict):
            m._sink.start_object(offset)
            for key, member in value.items():
                m._sink.key(key, offset)
                self.emit_value(m, member, offset)
            m._sink.end_container(offset)
        elif isinstance(value, list):
            m._sink.start_array(offset)
            for element in value:
                self.emit_value(m, element, offset)
            m._sink.end_container(offset)
        else:
            number = None if value is None or isinstance(value, bool) else repr(value)
            m._sink.scalar(value, number, offset)

    def emit_string(self, m: Leniency, value: str, offset: int) -> None:
        m._sink.start_string(offset)
        if value:
            m._sink.text(value)
        m._sink.end_string()


class RereadSink(Sink):
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
        if text in asked.strings.get(text.casefold(), ()):
            return False, None
        alike = asked.strings.get(text.strip().casefold(), ())
        return (True, alike[0]) if len(alike) == 1 else (False, None)
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return False, None
    return fits(value, asked, text, depth)


def fits(value: Any, asked: Expected, text: str, depth: int) -> tuple[bool, Any]:
    """True and `value`, which `text` is the JSON of, if a schema asks for it and it is not deep."""
    if isinstance(value, (dict, list)) and len(text) > depth and deeper(value, depth):
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
