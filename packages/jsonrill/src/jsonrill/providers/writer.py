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
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from typing import Final

from ..jsontext import dumps, quoted
from ..paths import ABSENT, Path, format_path
from .statements import ValueAt

# RFC 9535, normalized paths and the shorthand: .name, [0], ['key'], ["key"].
_STEP: Final = re.compile(
    r"\.(?P<name>[^.\[\]'\"\s*]+)|\[(?P<index>[0-9]{1,9})\]"
    r"|\['(?P<single>(?:[^'\\]|\\.)*)'\]|\[\"(?P<double>(?:[^\"\\]|\\.)*)\"\]",
    re.DOTALL,
)


class Writer:
    """Writes one document: `write` its parts as they come, then `close` it."""

    __slots__ = ("_has_started", "_open", "_path", "_string")

    def __init__(self) -> None:
        # The open containers: whether each is an object, and the keys or indices that it has.
        self._open: list[tuple[bool, set[str | int]]] = []
        # The path of the innermost one, and of the open string.
        self._path: Path = ()
        self._string: Path | None = None
        self._has_started = False

    def write(self, part: ValueAt) -> str:
        """Return the text that this part adds."""
        path, is_array = read_path(part.path)
        value = part.value
        if path == self._string:
            if value is not ABSENT and not isinstance(value, str):
                raise ValueError(f"{part.path} is a string that has not ended")
            text = "" if value is ABSENT else dumps(value)[1:-1]
            return text if part.more else text + self._end_string()
        if value is ABSENT:
            if part.more or self._has(path):
                return ""
            text = self._place(path)
            self._path = path
            return text + self._begin(is_object=not is_array)
        if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
            value = int(value)
        written = dumps(value)
        text = self._place(path)
        if part.more and isinstance(value, str):
            self._string = path
            return text + written[:-1]
        return text + written

    def close(self) -> str:
        """Return the text that ends the document."""
        text = self._end_string() + self._close_to(0)
        if self._has_started:
            return text
        self._has_started = True
        return "{}"

    def _end_string(self) -> str:
        was_open, self._string = self._string is not None, None
        return '"' if was_open else ""

    def _common(self, path: Path) -> int:
        """Return how many steps of `path` lead through open containers."""
        common = 0
        while common < min(len(path), len(self._path)) and path[common] == self._path[common]:
            common += 1
        return common

    def _has(self, path: Path) -> bool:
        """Return whether something has been written at `path`."""
        common = self._common(path)
        if common == len(path):
            return self._has_started
        return common < len(self._open) and path[common] in self._open[common][1]

    def _place(self, path: Path) -> str:
        """Return the text before a value at `path`: what closes and opens, commas and keys."""
        if self._has_started and not (path and self._open):
            raise ValueError(f"{format_path(path)} has already been written")
        common = min(self._common(path), max(len(path) - 1, 0))
        text = self._end_string() + self._close_to(common + 1)
        if path and not self._has_started:
            text = self._begin(is_object=isinstance(path[0], str))
        self._has_started = True
        for at in range(common, len(path)):
            step, (is_object, steps) = path[at], self._open[-1]
            is_next = step not in steps if isinstance(step, str) else step == len(steps)
            if not is_next or isinstance(step, str) != is_object:
                raise ValueError(f"{format_path(path)} does not follow what has been written")
            text += "," if steps else ""
            steps.add(step)
            text += f"{quoted(step)}:" if isinstance(step, str) else ""
            if at + 1 < len(path):
                text += self._begin(is_object=isinstance(path[at + 1], str))
        self._path = path[:-1]
        return text

    def _begin(self, *, is_object: bool) -> str:
        self._open.append((is_object, set()))
        return "{" if is_object else "["

    def _close_to(self, count: int) -> str:
        """Return the text that closes all open containers but the first `count`."""
        closed = self._open[count:]
        del self._open[count:]
        return "".join(["}" if is_object else "]" for is_object, _ in reversed(closed)])


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
