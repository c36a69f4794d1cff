"""Values at JSONPaths, in document order → compact JSON text that only grows.

For providers that send values instead of text. One chain of containers and at most one string are
open; a path that lies elsewhere closes them. Closed containers cannot grow: a part that would need
that is a `ValueError`, and leaves the text unchanged. For example, these parts write this text:

    $.city = "Par", more follows    {"city":"Par
    $.city = "is"                   is"
    $.days[0] = 1                   ,"days":[1
    close()                         ]}
"""

from __future__ import annotations

import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from typing import Any, Final

from ..jsontext import dumps, quoted
from ..paths import Path, format_path
from .fields import ABSENT
from .statements import ValueAt

# RFC 9535, normalized paths and the shorthand: .name, [0], ['key'], ["key"].
_STEP: Final = re.compile(
    r"\.(?P<name>[^.\[\]'\"\s*]+)|\[(?P<index>[0-9]{1,9})\]"
    r"|\['(?P<single>(?:[^'\\]|\\.)*)'\]|\[\"(?P<double>(?:[^\"\\]|\\.)*)\"\]",
    re.DOTALL,
)


class _Container:
    """An open container: the step that leads to it, and the keys or indices that it has."""

    __slots__ = ("is_object", "step", "steps")

    def __init__(self, step: str | int | None, is_object: bool) -> None:
        self.step = step
        self.is_object = is_object
        self.steps: set[str | int] = set()


class Writer:
    """Writes one document: `write` its parts as they come, then `close` it."""

    __slots__ = ("_has_started", "_open", "_string")

    def __init__(self) -> None:
        self._open: list[_Container] = []
        self._string: Path | None = None
        self._has_started = False

    def write(self, part: ValueAt) -> str:
        """Return the text that this part adds."""
        path, is_array = read_path(part.path)
        if path == self._string:
            if part.value is not ABSENT and not isinstance(part.value, str):
                raise ValueError(f"{part.path} is a string that has not ended")
            text = "" if part.value is ABSENT else dumps(part.value)[1:-1]
            return text if part.more else text + self._end_string()
        if part.value is ABSENT:
            if part.more or self._has(path):
                return ""
            return self._place(path) + self._begin(path[-1] if path else None, not is_array)
        value = _json(part.value)
        text = self._place(path)
        if part.more and isinstance(part.value, str):
            self._string = path
            return text + value[:-1]
        return text + value

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

    def _has(self, path: Path) -> bool:
        """Return whether something has been written at `path`."""
        common = self._common(path)
        if common == len(path):
            return self._has_started
        return common < len(self._open) and path[common] in self._open[common].steps

    def _common(self, path: Path) -> int:
        """Return how many steps of `path` lead through open containers."""
        common = 0
        while common < min(len(path), len(self._open) - 1):
            if self._open[common + 1].step != path[common]:
                break
            common += 1
        return common

    def _place(self, path: Path) -> str:
        """Return the text before a value at `path`: what closes and opens, commas and keys."""
        common = min(self._common(path), max(len(path) - 1, 0))
        self._check(path, common)
        text = self._end_string()
        if self._has_started:
            text += self._close_to(common + 1)
        elif path:
            text = self._begin(None, isinstance(path[0], str))
        self._has_started = True
        for at in range(common, len(path)):
            parent, step = self._open[-1], path[at]
            text += "," if parent.steps else ""
            parent.steps.add(step)
            text += f"{quoted(step)}:" if isinstance(step, str) else ""
            if at + 1 < len(path):
                text += self._begin(step, isinstance(path[at + 1], str))
        return text

    def _check(self, path: Path, common: int) -> None:
        """Raise `ValueError` if no value can be appended at `path`."""
        if self._has_started and (not path or not self._open):
            raise ValueError(f"{format_path(path)} has already been written")
        parent = self._open[common] if self._has_started else None
        for step in path[common:]:
            if parent is not None and step in parent.steps:
                raise ValueError(f"{format_path(path)} has already been written")
            count = 0 if parent is None else len(parent.steps)
            fits = parent is None or isinstance(step, str) == parent.is_object
            if not fits or (isinstance(step, int) and step > count):
                raise ValueError(f"{format_path(path)} does not follow what has been written")
            parent = None

    def _begin(self, step: str | int | None, is_object: bool) -> str:
        self._open.append(_Container(step, is_object))
        return "{" if is_object else "["

    def _close_to(self, count: int) -> str:
        """Return the text that closes all open containers but the first `count`."""
        closed = self._open[count:]
        del self._open[count:]
        return "".join(["}" if it.is_object else "]" for it in reversed(closed)])


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


def _json(value: Any) -> str:
    """Return `value` as JSON; a double that is an integer is written as one."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        value = int(value)
    return dumps(value)
