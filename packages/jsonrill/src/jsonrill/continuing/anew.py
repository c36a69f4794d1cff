"""An answer that begins the value again, or has only what was missing, joined to the first one.

What is complete there must be the same here, or may be left out; what was open goes on; what is new
is written behind it. For example, after `{"a": 1, "b": "Par`:

    {"a": 1, "b": "Paris", "c": 2}    is"     ,"c":2}
    {"c": 2, "b": "Paris"}            is","c":2}
    {"a": 1, "b": "Rome"}             contradicts what was shown
"""

from __future__ import annotations

from typing import Any

from ..build.builder import ValueBuilder
from ..jsontext import dumps, quoted
from ..parse.sink import Sink
from ..paths import Path


class _Compared:
    """A container that is read: what the first answer has of it, and what is still open there."""

    __slots__ = ("count", "index", "is_object", "key", "known", "later", "waits")

    def __init__(self, is_object: bool, known: Any = None, waits: str | int | None = None) -> None:
        self.is_object = is_object
        # None: the container is new.
        self.known = known
        self.waits = waits
        self.key = ""
        self.index = -1
        self.count = 0 if known is None else len(known)
        # What is new, while something before it is open.
        self.later: list[str] = []


class Contradiction(Exception):
    """The second answer says something else than the first."""

    def __init__(self, path: Path, written: Any, now: Any) -> None:
        self.path, self.written, self.now = path, written, now


class NotJoined(Exception):
    """The second answer ends without what was open in the first."""


class Anew(Sink):
    """Reads the events of the second answer; `take` returns what it adds to the first.

    `value` is that of the first answer, up to a clean place; `open_path` leads to the string or
    container that is open there, `pending` is the key behind that place, if there was one.
    """

    __slots__ = ("_builder", "_depth", "_expected", "_frames", "_later", "_open", "_out", "_path",
                 "_pending", "_rest", "_steps", "agrees")  # fmt: skip

    def __init__(self, value: Any, open_path: Path, pending: str | None = None) -> None:
        self._out: list[str] = []
        self._frames: list[_Compared] = []
        self._path: Path = open_path
        # The open containers of the first answer, and of an open string its text.
        self._open = [value]
        for step in open_path:
            self._open.append(self._open[-1][step])
        self._steps: list[str | int] = [*open_path]
        self._pending = pending
        # True if something of the first answer came again.
        self.agrees = not value
        # Of a value that is complete: its twin, and what builds it from these events.
        self._expected: Any = None
        self._builder: ValueBuilder | None = None
        self._depth = 0
        # Of the open string: what of its text has not come again.
        self._rest: str | None = None
        # Where new values are written.
        self._later: list[str] | None = None

    def take(self) -> str:
        """The text that the first answer gets."""
        text = "".join(self._out)
        self._out.clear()
        return text

    # ---- events ----

    def start_object(self, offset: int) -> None:
        self._start(True)

    def start_array(self, offset: int) -> None:
        self._start(False)

    def _start(self, is_object: bool) -> None:
        if self._builder is None and self._place() == "open":
            self._check_kind(dict if is_object else list)
            level = len(self._frames)
            waits = self._steps[level] if level < len(self._steps) else None
            self._frames.append(_Compared(is_object, self._open[level], waits))
        elif self._builder is not None:
            self._depth += 1
            (self._builder.start_object if is_object else self._builder.start_array)(0)
        else:
            self._write("{" if is_object else "[")
            self._frames.append(_Compared(is_object))

    def end_container(self, offset: int) -> None:
        if self._builder is not None:
            self._depth -= 1
            self._builder.end_container(offset)
            self._compare()
            return
        frame = self._frames.pop()
        if frame.known is None:
            self._write("}" if frame.is_object else "]")
            self._written()
            return
        is_short = not frame.is_object and frame.index + 1 < len(frame.known)
        lacks_key = self._pending is not None and len(self._frames) == len(self._steps)
        if frame.waits is not None or is_short or lacks_key:
            raise NotJoined
        self._write("}" if frame.is_object else "]")
        self._came()

    def key(self, key: str, offset: int) -> None:
        if self._builder is not None:
            self._builder.key(key, offset)
        else:
            self._frames[-1].key = key

    def start_string(self, offset: int) -> None:
        if self._builder is None and self._place() == "open":
            self._check_kind(str)
            self._rest = self._open[-1]
        elif self._builder is not None:
            self._builder.start_string(offset)
        else:
            self._write('"')

    def text(self, run: str) -> None:
        if self._builder is not None:
            self._builder.text(run)
        elif self._rest is None:
            self._write(quoted(run)[1:-1])
        else:
            size = min(len(run), len(self._rest))
            if run[:size] != self._rest[:size]:
                raise Contradiction(self._path, self._open[-1], run)
            self._rest = self._rest[size:]
            self.agrees = self.agrees or not self._rest
            self._write(quoted(run[size:])[1:-1])

    def end_string(self) -> None:
        if self._builder is not None:
            self._builder.end_string()
            self._compare()
        elif self._rest is None:
            self._write('"')
            self._written()
        else:
            if self._rest:
                raise Contradiction(self._path, self._open[-1], self._open[-1][: -len(self._rest)])
            self._rest = None
            self._write('"')
            self._came()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if self._builder is None and self._place() == "open":
            raise Contradiction(self._path, self._open[len(self._frames)], value)
        if self._builder is not None:
            self._builder.scalar(value, text, offset)
            self._compare()
        else:
            self._write(dumps(value) if text is None else text)
            self._written()

    # ---- what is to be done with a value ----

    def _place(self) -> str:
        """`open` for a value that goes on; else it is compared with its twin, or written."""
        if not self._frames:
            return "open"
        frame = self._frames[-1]
        frame.index += 1
        step = frame.key if frame.is_object else frame.index
        if frame.known is not None:
            if step == frame.waits:
                return "open"
            if step in frame.known if frame.is_object else frame.index < len(frame.known):
                self._builder, self._expected = ValueBuilder(), frame.known[step]
                return "known"
            self._later = frame.later if frame.waits is not None else None
            if step == self._pending and len(self._frames) == len(self._steps) + 1:
                self._pending = None
        comma = "," if frame.count else ""
        frame.count += 1
        self._write(comma + (f"{quoted(frame.key)}:" if frame.is_object else ""))
        return "new"

    def _write(self, text: str) -> None:
        (self._out if self._later is None else self._later).append(text)

    def _written(self) -> None:
        """A value has been written; those beside it may have another place."""
        if self._frames[-1].known is not None:
            self._later = None

    def _came(self) -> None:
        """What was open is complete: what waited for that follows."""
        if self._frames:
            frame = self._frames[-1]
            frame.waits = None
            self.agrees = True
            self._out += frame.later
            frame.later = []

    def _check_kind(self, kind: type) -> None:
        first = self._open[len(self._frames)]
        if not isinstance(first, kind):
            if not self._frames:
                raise NotJoined  # half of the first answer may begin so, when it is repeated
            raise Contradiction(self._path[: len(self._frames)], first, kind())

    def _compare(self) -> None:
        if self._depth or self._builder is None:
            return
        value, self._builder = self._builder.root, None
        if value != self._expected:
            steps = [frame.key if frame.is_object else frame.index for frame in self._frames]
            raise Contradiction(tuple(steps), self._expected, value)
        self.agrees = True
