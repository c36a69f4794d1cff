"""Values at JSONPaths, in document order → compact JSON text that only grows.

For providers that send values instead of text. One chain of containers and at most one string are
open; a path that lies elsewhere closes them. Closed containers cannot grow: a part that would need
that is a `ValueError`, and leaves the text as it was. For example, these parts write this text:

    $.city = "Par", more follows    {"city":"Par
    $.city = "is"                   is"
    $.days[0] = 1                   ,"days":[1
    close()                         ]}
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from typing import Any, Final

from ..jsontext import dumps, quoted
from ..paths import Path, format_path
from .fields import ABSENT
from .statements import Part

# RFC 9535, normalized paths and the shorthand: .name, [0], ['key'], ["key"].
_STEP: Final = re.compile(
    r"\.(?P<name>[^.\[\]'\"\s*]+)|\[(?P<index>[0-9]{1,9})\]"
    r"|\['(?P<single>(?:[^'\\]|\\.)*)'\]|\[\"(?P<double>(?:[^\"\\]|\\.)*)\"\]",
    re.DOTALL,
)


@dataclass(slots=True)
class _Open:
    """An open container: the step that leads to it, and what it has so far."""

    step: str | int | None
    is_object: bool
    keys: set[str] = field(default_factory=set)
    length: int = 0

    def has(self, step: str | int) -> bool:
        return step in self.keys if isinstance(step, str) else step < self.length


class Writer:
    """Writes one document: `write` its parts as they come, then `close` it."""

    __slots__ = ("_open", "_started", "_string")

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._string: Path | None = None
        self._started = False

    def write(self, part: Part) -> str:
        """The text that this part adds."""
        path, is_array = read_path(part.path)
        if path == self._string:
            return self._more(part)
        if part.value is ABSENT:
            if part.more or self._knows(path):
                return ""
            return self._place(path) + self._begin(path[-1] if path else None, not is_array)
        value = _json(part.value)
        text = self._place(path)
        if part.more and isinstance(part.value, str):
            self._string = path
            return text + value[:-1]
        return text + value

    def close(self) -> str:
        """The text that ends the document."""
        text = self._leave_string() + self._close_to(0)
        if self._started:
            return text
        self._started = True
        return "{}"

    def _more(self, part: Part) -> str:
        """More of the open string, or its end."""
        if part.value is not ABSENT and not isinstance(part.value, str):
            raise ValueError(f"{part.path} is a string that has not ended")
        text = "" if part.value is ABSENT else _json(part.value)[1:-1]
        return text if part.more else text + self._leave_string()

    def _leave_string(self) -> str:
        was_open = self._string is not None
        self._string = None
        return '"' if was_open else ""

    def _knows(self, path: Path) -> bool:
        """True if something has been written at `path`."""
        common = self._common(path)
        if common == len(path):
            return self._started
        return common < len(self._open) and self._open[common].has(path[common])

    def _common(self, path: Path) -> int:
        """How many steps of `path` lead through open containers."""
        common = 0
        for container, step in zip(self._open[1:], path, strict=False):
            if container.step != step:
                break
            common += 1
        return common

    def _place(self, path: Path) -> str:
        """The text before a value at `path`: what closes and opens, commas and keys."""
        common = min(self._common(path), max(len(path) - 1, 0))
        self._check(path, common)
        text = self._leave_string()
        if self._started:
            text += self._close_to(common + 1)
        elif path:
            text = self._begin(None, isinstance(path[0], str))
        self._started = True
        for at in range(common, len(path)):
            text += self._member(path[at])
            if at + 1 < len(path):
                text += self._begin(path[at], isinstance(path[at + 1], str))
        return text

    def _check(self, path: Path, common: int) -> None:
        """`ValueError` if no value can be appended at `path`. Changes nothing."""
        if self._started and (not path or not self._open):
            raise ValueError(f"{format_path(path)} has already been written")
        parent = self._open[common] if self._started else None
        for step in path[common:]:
            fits = parent is None or isinstance(step, str) == parent.is_object
            if not fits or (isinstance(step, int) and step > (parent.length if parent else 0)):
                raise ValueError(f"{format_path(path)} does not follow what has been written")
            if parent is not None and parent.has(step):
                raise ValueError(f"{format_path(path)} has already been written")
            parent = None

    def _member(self, step: str | int) -> str:
        parent = self._open[-1]
        comma = "," if parent.length else ""
        parent.length += 1
        if isinstance(step, int):
            return comma
        parent.keys.add(step)
        return f"{comma}{quoted(step)}:"

    def _begin(self, step: str | int | None, is_object: bool) -> str:
        self._open.append(_Open(step, is_object))
        return "{" if is_object else "["

    def _close_to(self, count: int) -> str:
        """The text that closes all open containers but the first `count`."""
        closed = self._open[count:]
        del self._open[count:]
        return "".join("}" if container.is_object else "]" for container in reversed(closed))


def read_path(text: str) -> tuple[Path, bool]:
    """The path of `$.a['b'][0]`, and whether a trailing `[]` says that an array is there."""
    is_array = text.endswith("[]")
    end = len(text) - 2 if is_array else len(text)
    at = 1 if text.startswith("$") else 0
    steps: list[str | int] = []
    while at < end:
        step = _STEP.match(text, at, end)
        if step is None:
            raise ValueError(f"not a JSONPath to one value: {text!r}")
        at = step.end()
        kind = step.lastgroup or ""
        steps.append(int(step[kind]) if kind == "index" else _key(kind, step[kind]))
    return tuple(steps), is_array


def _key(kind: str, text: str) -> str:
    if "\\" not in text:
        return text
    if kind == "single":
        text = text.replace("\\'", "'").replace('"', '\\"')
    key: str = scanstring(text + '"', 0, False)[0]
    return key


def _json(value: Any) -> str:
    """`value` as JSON; a double that is an integer is written as one."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        value = int(value)
    return dumps(value)
