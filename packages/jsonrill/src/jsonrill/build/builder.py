"""A value that grows event by event.

`ValueBuilder` is the sink that builds it: it keeps one live value and returns copies of the open
containers alone. What is complete is shared between all values returned; what is open has no
other owner. It trusts its caller: `Machine` and `WireReader` check the order of events.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from ..errors import refuse_copy
from ..parse.sink import BRIEF, Sink
from ..paths import ABSENT, Path, is_complete

# As in `machine.py`.
_COMPILED: Final = not __file__.endswith(".py")
# Keys that are kept once for all their objects; more than that are hardly names.
MANY_NAMES: Final = 1000
_NO_NAMES: Final[dict[str, str]] = {}
# What is said about an attribute of those who show the value.
LIVE: Final = "The value so far without a copy: it changes with the next `feed`."


class ValueBuilder(Sink):
    """The growing value: a sink of the machine, and the inside of the Rebuilder."""

    __slots__ = (
        "_copy",
        "_elements",
        "_key",
        "_members",
        "_names",
        "_spine",
        "_steps",
        "_text",
        "changed",
        "done",
        "finished",
        "in_string",
        "root",
        "stale",
        "started",
    )

    def __init__(self) -> None:
        self.root: Any = None
        self.started = False
        self.done = False
        # Whether the value changed since the caller cleared this, and since it was last copied.
        self.changed = False
        self.stale = True
        self.finished: list[Any] | None = None
        self._copy: Any = None
        # The open containers from the root inward, and at which step each one's child is.
        self._spine: list[Any] = []
        self._steps: list[str | int] = []
        # The innermost of them, as an object or as an array; and its last key.
        self._members: dict[str, Any] | None = None
        self._elements: list[Any] | None = None
        self._key = ""
        # Objects in a list have the same keys again and again: one string for each is enough. Those
        # of the root come once, and are not kept here.
        self._names: dict[str, str] = _NO_NAMES
        # Whether the last value is an open string; its text is kept here too, to save a lookup.
        self.in_string = False
        self._text = ""

    def start_object(self, offset: int) -> None:
        self._open({})

    def start_array(self, offset: int) -> None:
        self._open([])

    def end_container(self, offset: int) -> None:
        self._spine.pop()
        if self._spine:
            container = self._spine[-1]
            self._steps.pop()
            if type(container) is dict:
                self._members, self._elements = container, None
            else:
                self._members, self._elements = None, container
        else:
            self._members = self._elements = None

    def key(self, key: str, offset: int) -> None:
        if self._steps:
            names = self._names
            known = names.get(key)
            if known is not None:
                key = known
            elif len(names) < MANY_NAMES:
                names[key] = key
        self._key = key

    def start_string(self, offset: int) -> None:
        self.in_string = True
        self._text = ""
        if self._members is not None:  # as `_put` does
            self._members[self._key] = ""
            self.changed = self.stale = True
        else:
            self._put("")

    def text(self, run: str) -> None:
        """Add text to the open string.

        What it has must have no other owner when text is added to it: only then does CPython
        extend it in place, and a long string in tiny pieces stays linear.
        """
        self.changed = self.stale = True
        text = self._text
        if self._members is not None:
            if _COMPILED and len(text) <= BRIEF:
                text = text + run
            else:
                self._text = self._members[self._key] = ""
                text += run
            self._text = self._members[self._key] = text
        elif self._elements is not None:
            self._text = self._elements[-1] = ""
            text += run
            self._text = self._elements[-1] = text
        else:
            self._text = self.root = ""
            text += run
            self._text = self.root = text

    def end_string(self) -> None:
        self.in_string = False

    def replace_string(self, value: str) -> None:
        """End the open string as `value`, for senders whose partial texts were provisional."""
        self.in_string = False
        self.changed = self.stale = True
        if self._members is not None:
            self._members[self._key] = value
        elif self._elements is not None:
            self._elements[-1] = value
        else:
            self.root = value

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if self._members is not None:  # as `_put` does
            self._members[self._key] = value
            self.changed = self.stale = True
        else:
            self._put(value)

    def complete(self, offset: int) -> None:
        self.done = True

    def takes_values(self) -> bool:
        return True

    def takes_open(self) -> bool:
        return True

    def start_with(self, value: Any, offset: int) -> None:
        self._open(value)
        if type(value) is dict and value:
            self._key = next(reversed(value))

    def next_document(self) -> None:
        """Start over; a value that no caller has seen yet is kept in `finished`."""
        self.stale = True
        if self.changed:
            self.finished = self.finished or []
            self.finished.append(self.value)
        self.changed = self.started = self.done = self.in_string = False
        self.root = self._members = self._elements = None
        self._spine.clear()
        self._steps.clear()

    @property
    def live(self) -> Any:
        """The value itself: it changes as the stream goes on."""
        return self.root

    @property
    def value(self) -> Any:
        """The value as it is now: the open containers are copied, the rest is shared."""
        if not self._spine:
            return self.root
        if self.stale:
            self._copy = self._copied()
            self.stale = False
        return self._copy

    @property
    def open_path(self) -> Path | None:
        """The path of the innermost value that still grows."""
        return self.path_of_open()

    def path_of_open(self) -> Path | None:
        """As `open_path`, for a subclass that says more."""
        if not self._spine:
            return () if self.in_string else None
        return self.last_path if self.in_string else tuple(self._steps)

    @property
    def last_path(self) -> Path:
        """The path of the value that came last in the open container."""
        return (*self._steps, self._last()) if self._spine else ()

    @property
    def width(self) -> int:
        """The number of values that a copy of the open containers copies."""
        return sum([1 + len(container) for container in self._spine])

    def show(self, value: Any) -> Any:
        """Put a provisional value; returns what `hide` needs to remove it."""
        under = ABSENT if self._members is None else self._members.get(self._key, ABSENT)
        self._put(value)
        return under

    def hide(self, under: Any) -> None:
        """Remove the provisional value that was shown last."""
        if self._elements is not None:
            self._elements.pop()
        elif self._members is None:
            self.root = None
        elif under is ABSENT:
            del self._members[self._key]
        else:
            self._members[self._key] = under

    def is_complete(self, path: Path | str = ()) -> bool:
        """True if there is a value at `path`, by default at the root, and it is complete."""
        return is_complete(self.root, path, self.open_path) and self.started

    def _last(self) -> str | int:
        return self._key if self._elements is None else len(self._elements) - 1

    def _open(self, container: Any) -> None:
        self._put(container)
        if self._spine:
            self._steps.append(self._last())
            if self._names is _NO_NAMES:
                self._names = {}
        self._spine.append(container)
        if type(container) is dict:
            self._members, self._elements = container, None
        else:
            self._members, self._elements = None, container

    def _put(self, value: Any) -> None:
        if self._members is not None:
            self._members[self._key] = value
        elif self._elements is not None:
            self._elements.append(value)
        else:
            self.root = value
            self.started = True
        self.changed = self.stale = True

    def _copied(self) -> Any:
        spine, steps = self._spine, self._steps
        inner = None
        # From the innermost outward. The two names are for the compiler, which knows their types.
        for at in range(len(spine) - 1, -1, -1):
            container = spine[at]
            if type(container) is dict:
                members = container
                members = members.copy()
                if inner is not None:
                    members[steps[at]] = inner
                inner = members
            else:
                elements = container
                elements = elements[:]
                if inner is not None:
                    elements[-1] = inner  # what is open is the last one
                inner = elements
        return inner


class GrowingValue:
    """A value that grows, as `Document` and `Rebuilder` show it."""

    __slots__ = ("_builder",)
    _builder: ValueBuilder

    def __copy__(self) -> NoReturn:
        refuse_copy(self)

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
        """The value so far, safe to keep: it does not change when the stream goes on."""
        return self._builder.value

    @property
    def open_path(self) -> Path | None:
        """The path of the value still growing; None before the first and after the last."""
        return self._builder.open_path

    def is_complete(self, path: Path | str = ()) -> bool:
        """True if there is a value at `path`, by default at the root, and it is complete."""
        return self._builder.is_complete(path)
