"""Text → a value that grows: a machine emits events, a `ValueBuilder` builds the value."""

from __future__ import annotations

from typing import Any, Final, Unpack

from .errors import UNLIMITED as NOTHING_HIDDEN
from .errors import CutShort
from .parse.machine import Frame, Repair, Sink, path_of
from .parse.options import ParseOptions, create_machine
from .paths import Path, is_complete

# A string up to this length is copied when it grows. Extending it in place would need a second
# write to its container, a tenth of the time of a piece.
SHORT: Final = 500


class ValueBuilder(Sink):
    """Build the value inside the frames from `base` on: a document, or a part of one.

    The machine's frames hold the open containers. Strings appear with their opening quote.
    """

    __slots__ = ("_copy", "_frame", "_hidden_from", "_is_stale", "_string_path", "_text", "base",
                 "changed", "done", "in_string", "root", "started")  # fmt: skip

    def __init__(self, base: int = 0) -> None:
        self.base = base
        self.root: Any = None
        self.started = self.done = False
        # Set by each change, and reset by the owner.
        self.changed = False
        # The frame of the open container, None outside the root.
        self._frame: Frame | None = None
        # Whether the last value is an open string, its text, and its path once that was needed.
        self.in_string = False
        self._text = ""
        self._string_path: Any = None
        # The last copy that `value` made, until something changes.
        self._copy: Any = None
        self._is_stale = True
        # How many frames are around a value that a subclass has not put into its container yet.
        self._hidden_from = NOTHING_HIDDEN

    def start_object(self, offset: int) -> None:
        value: dict[str, Any] = {}
        self._put(value)
        frame = self._frame = self.frames[-1]
        frame.members = value

    def start_array(self, offset: int) -> None:
        value: list[Any] = []
        self._put(value)
        frame = self._frame = self.frames[-1]
        frame.elements = value

    def end_container(self, offset: int) -> None:
        outer = len(self.frames) - 2
        self._frame = self.frames[outer] if outer >= self.base else None

    def start_string(self, offset: int) -> None:
        self.in_string = True
        self._text = ""
        self._string_path = None
        self._put("")

    def text(self, run: str) -> None:
        """Add text to the open string.

        CPython extends a string in place only if nothing else refers to it. Without that, a long
        string in tiny pieces would take quadratic time.
        """
        text = self._text
        if len(text) > SHORT:
            self._text = ""
            self._replace("")
        text += run
        self._text = text
        self._replace(text)

    def end_string(self) -> None:
        self.in_string = False

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        self._put(value)

    def complete(self, offset: int) -> None:
        self.done = True

    def takes_values(self) -> bool:
        return True

    def _put(self, value: Any) -> None:
        """Add a new value to the open container."""
        frame = self._frame
        if frame is None:
            self.root = value
            self.started = True
        elif frame.is_object:
            frame.members[frame.key] = value
        else:
            frame.elements.append(value)
        self.changed = self._is_stale = True

    def _replace(self, value: Any) -> None:
        """Replace the last value."""
        frame = self._frame
        if frame is None:
            self.root = value
        elif frame.is_object:
            frame.members[frame.key] = value
        else:
            frame.elements[-1] = value
        self.changed = self._is_stale = True

    @property
    def value(self) -> Any:
        """The current value: the open containers are copied, the rest is shared."""
        if self._frame is None:
            return self.root
        if self._is_stale:
            self._copy = self._copied(self.base)
            self._is_stale = False
        return self._copy

    def _copied(self, start: int) -> Any:
        """Copy the open containers from frame `start` on, without hidden values."""
        inner: Any = None
        for at in range(min(len(self.frames), self._hidden_from) - 1, start - 1, -1):
            frame = self.frames[at]
            if frame.is_object:
                members = frame.members.copy()
                if inner is not None:
                    members[frame.key] = inner
                inner = members
            else:
                elements = frame.elements[:]
                if inner is not None:
                    elements[-1] = inner
                inner = elements
        return inner

    @property
    def open_path(self) -> Path | None:
        """The path of the innermost value that still grows."""
        return self.path_of_open()

    def path_of_open(self) -> Path | None:
        """Return `open_path`; subclasses override this."""
        end = len(self.frames)
        if self.in_string:
            path: Path | None = self._string_path
            if path is None:
                path = self._string_path = path_of(self.frames, self.base, end)
            return path
        return None if self._frame is None else path_of(self.frames, self.base, end - 1)


class GrowingValue:
    """A value that grows, as `Document` and `Rebuilder` show it."""

    __slots__ = ("_builder",)
    _builder: ValueBuilder

    @property
    def started(self) -> bool:
        """True once a value has begun. (`value` is None before, and for a null.)"""
        return self._builder.started

    @property
    def complete(self) -> bool:
        """True once the root value is complete."""
        return self._builder.done

    @property
    def value(self) -> Any:
        """The value so far, safe to keep: it does not change when the stream continues."""
        return self._builder.value

    @property
    def live(self) -> Any:
        """The value so far without a copy: it changes as the stream grows."""
        return self._builder.root

    @property
    def open_path(self) -> Path | None:
        """The path of the value still growing; None before the first and after the last."""
        return self._builder.open_path

    def is_complete(self, path: Path | str = ()) -> bool:
        """Return whether there is a complete value at `path`, by default at the root."""
        growing = None if self.complete else self.open_path or ()
        return self.started and is_complete(self.live, path, growing)


class Document(GrowingValue):
    """Parse text into a growing value.

    Strings appear with their opening quote and only grow; numbers and literals are complete or
    absent. After an error, `value` keeps what was read before it.
    """

    __slots__ = ("_machine",)

    def __init__(self, **options: Unpack[ParseOptions]) -> None:
        self._builder = ValueBuilder()
        self._machine = create_machine(self._builder, options)

    def feed(self, data: str | bytes) -> bool:
        """Read one piece of text; return whether the value changed."""
        self._builder.changed = False
        self._machine.feed(data)
        return self._builder.changed

    def flush(self, cut: CutShort | None = None) -> bool:
        """End the text; return whether the value changed. `Truncated` if it stopped early.

        With `cut`, the provider says that the answer stopped early: nothing is completed.
        """
        self._builder.changed = False
        self._machine.flush(cut)
        return self._builder.changed

    @property
    def changed(self) -> bool:
        """True if the last `feed` or `flush` changed the value, also when it raised."""
        return self._builder.changed

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: the repairs, in order."""
        return self._machine.repairs
