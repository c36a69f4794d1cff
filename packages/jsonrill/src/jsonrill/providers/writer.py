"""Values at JSONPaths, in document order → compact JSON text that only grows.

For providers that send values instead of text. One chain of containers and at most one string are
open; a path that lies elsewhere closes them. Closed containers cannot grow: a part that would need
that is a `ValueError`, after which nothing can be written. For example, these parts write:

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
from ..paths import ABSENT, Path, format_path
from .statements import ValueAt

# RFC 9535, normalized paths and the shorthand: .name, [0], ['key'], ["key"].
_STEP: Final = re.compile(
    r"\.([^.\[\]'\"\s*]+)|\[([0-9]{1,9})\]|\[('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\]", re.DOTALL
)


@dataclass(slots=True)
class _Container:
    path: Path
    end: str
    count: int = 0


@dataclass(slots=True)
class Writer:
    """Writes one document: `write` its parts as they come, then `close` it."""

    # The open containers, the path of the open string, and the paths of all that was written.
    _open: list[_Container] = field(default_factory=list)
    _string: Path | None = None
    _written: set[Path] = field(default_factory=set)

    def write(self, part: ValueAt) -> str:
        """Return the text that this part adds."""
        path, is_array = read_path(part.path)
        value: Any = part.value
        if path == self._string:
            if value is not ABSENT and not isinstance(value, str):
                raise ValueError(f"{part.path} is a string that has not ended")
            text = "" if value is ABSENT else dumps(value)[1:-1]
            return text if part.more else text + self._end_string()
        if value is ABSENT:
            if part.more or path in self._written:
                return ""
            return self._place(path) + self._begin(path, is_object=not is_array)
        if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
            value = int(value)
        text = dumps(value)
        before = self._place(path)
        if part.more and isinstance(value, str):
            self._string, text = path, text[:-1]
        return before + text

    def close(self) -> str:
        """Return the text that ends the document."""
        if not self._written:
            return self._place(()) + "{}"
        text = self._end_string() + "".join([item.end for item in reversed(self._open)])
        self._open.clear()
        return text

    def _end_string(self) -> str:
        was_open, self._string = self._string is not None, None
        return '"' if was_open else ""

    def _place(self, path: Path) -> str:
        """Return the text before a value at `path`: closing and opening brackets, commas, keys."""
        text = self._end_string()
        while self._open and not _is_inside(path, self._open[-1].path):
            text += self._open.pop().end
        for depth in range(len(self._open), len(path) + 1):
            text += self._add(path[:depth])
            if depth < len(path):
                text += self._begin(path[:depth], is_object=isinstance(path[depth], str))
        return text

    def _add(self, path: Path) -> str:
        """Return the comma and the key before a member or element."""
        if path in self._written:
            raise ValueError(f"{format_path(path)} has already been written")
        self._written.add(path)
        if not path:
            return ""
        outer, step = self._open[-1], path[-1]
        is_next = isinstance(step, str) if outer.end == "}" else step == outer.count
        if not is_next:
            raise ValueError(f"{format_path(path)} does not follow what has been written")
        comma = "," if outer.count else ""
        outer.count += 1
        return f"{comma}{quoted(step)}:" if isinstance(step, str) else comma

    def _begin(self, path: Path, *, is_object: bool) -> str:
        self._open.append(_Container(path, "}" if is_object else "]"))
        return "{" if is_object else "["


def _is_inside(path: Path, outer: Path) -> bool:
    return len(path) > len(outer) and path[: len(outer)] == outer


def read_path(text: str) -> tuple[Path, bool]:
    """Return the path of `$.a['b'][0]`, and whether a trailing `[]` says that it is an array."""
    is_array = text.endswith("[]")
    end = len(text) - 2 if is_array else len(text)
    at = 1 if text.startswith("$") else 0
    steps: list[str | int] = []
    while at < end:
        step = _STEP.match(text, at, end)
        if step is None:
            raise ValueError(f"not a JSONPath to one value: {text!r}")
        at = step.end()
        name, index, key = step.groups()
        steps.append(name or (int(index) if index else _unquoted(key)))
    return tuple(steps), is_array


def _unquoted(text: str) -> str:
    if text[0] == "'":
        inner = text[1:-1].replace("\\'", "'").replace('"', '\\"')
        text = f'"{inner}"'
    key: str = scanstring(text, 1, False)[0]
    return key
