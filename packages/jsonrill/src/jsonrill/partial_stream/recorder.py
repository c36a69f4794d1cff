"""One entity while it is being read: its value, and what has changed since its last update.

The value is built once, by the builder that `values()` uses. Operations (`set`, `append`,
`remove`, as on the wire) are noted while events arrive. At most one value that began since the
last update is open, and what is inside it needs no operation of its own. For `{"t":"He` and
`llo","n":1` there are two updates:

    {"t":"He       ["set", "", {"t": "He"}]
    llo","n":1     ["append", "/t", "llo"], ["set", "/n", 1]

A number may still grow, so this 1 is *provisional*: `offer` shows it where the next value will be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..document import ValueBuilder
from ..parse.sink import path_of
from ..paths import ABSENT, Path, Pattern, complete_paths, matches, to_pointer

Operation = list[Any]

_NOTHING_HIDDEN: Final = -1


def is_same(old: Any, new: Any) -> bool:
    """Return whether two values are equal as JSON: 1.0 is 1, and True is not."""
    if type(old) is dict and type(new) is dict:
        return old.keys() == new.keys() and all(is_same(old[key], new[key]) for key in old)
    if type(old) is list and type(new) is list:
        return len(old) == len(new) and all(map(is_same, old, new))
    return bool(old == new) and (type(old) is bool) == (type(new) is bool)


class Recorder(ValueBuilder):
    """Builds an entity and notes its changes.

    With `strings`, a string is there from its quote on, else when it is complete. `only_complete`
    are the paths of other values that are hidden until they are complete.
    """

    __slots__ = ("_depth", "_draft", "_hidden", "_last", "_on_end", "_only_complete",
                 "_open_depth", "_open_set", "_operations", "_pointer", "_provisional", "_strings",
                 "_under", "completed", "is_dirty", "is_doubtful", "is_sent", "waits")  # fmt: skip

    def __init__(
        self,
        base: int,
        on_end: Callable[[], None],
        strings: bool = True,
        only_complete: tuple[Pattern, ...] = (),
    ) -> None:
        ValueBuilder.__init__(self, base)
        self._on_end = on_end
        self._strings = strings
        self._only_complete = only_complete
        # Since the last update: is anything new, the operations, and the paths that are complete.
        self.is_dirty = self.is_sent = False
        self._operations: list[Operation] = []
        self.completed: list[Path] = []
        # The pointer to the open string, once text was appended to it.
        self._pointer: str | None = None
        # The number of open containers; that of those around the hidden value.
        self._depth = 0
        self._hidden = _NOTHING_HIDDEN
        # The `set` of the open value that began since then, and how many containers are around it.
        self._open_set: Operation | None = None
        self._open_depth = 0
        # Whether a key has come a second time since then, and the last value, if it was copied.
        self.is_doubtful = False
        self._last: Any = ABSENT
        # Whether a key has come whose value has not begun.
        self.waits = False
        # The provisional value, what it covers, and its `set` if that is not sent yet.
        self._provisional: Any = ABSENT
        self._under: Any = ABSENT
        self._draft: Operation | None = None

    # ---- events ----

    def start_object(self, offset: int) -> None:
        ValueBuilder.start_object(self, offset)
        self._depth += 1

    def start_array(self, offset: int) -> None:
        ValueBuilder.start_array(self, offset)
        self._depth += 1

    def end_container(self, offset: int) -> None:
        if self._provisional is not ABSENT and self._cover is ABSENT:
            self._withdraw()
        frame = self.frames[-1]
        ValueBuilder.end_container(self, offset)
        self._depth -= 1
        self._end_value(frame.members if frame.is_object else frame.elements)

    def key(self, key: str, offset: int) -> None:
        self.waits = True

    def text(self, run: str) -> None:
        ValueBuilder.text(self, run)
        if self._hidden != _NOTHING_HIDDEN:
            return
        self.is_dirty = True
        if self._open_set is None and self.is_sent:
            last = self._operations[-1] if self._operations else None
            if last is not None and last[0] == "append":  # one string is open at a time
                last[2] += run
            else:
                if self._pointer is None:
                    self._pointer = to_pointer(self._next_path())
                self._operations.append(["append", self._pointer, run])

    def end_string(self) -> None:
        self.in_string = False
        self._pointer = None
        self._end_value(self._text)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if self._hidden == _NOTHING_HIDDEN:
            self._show(value)
        else:
            ValueBuilder._put(self, value)
        self._end_value(value)

    def takes_values(self) -> bool:
        return False

    def _put(self, value: Any) -> None:
        """Put a string or container that begins; it may be hidden until it is complete."""
        if self._hidden != _NOTHING_HIDDEN:
            ValueBuilder._put(self, value)
        elif (type(value) is str and not self._strings) or self._is_held():
            self.waits = False
            self._hidden = self._depth
            self._cover_hidden()
            ValueBuilder._put(self, value)
        else:
            self._show(value)

    def _cover_hidden(self) -> None:
        """Keep showing what is where the hidden value begins: a zero, or the value of its key."""
        frame = self._frame
        if self._provisional is not ABSENT:
            self._uncover()
            self._cover = self._provisional
        elif frame is not None and frame.is_object:
            self._cover = frame.members.get(frame.key, ABSENT)

    def _is_held(self) -> bool:
        """Return whether the next value is shown only when it is complete."""
        if not self._only_complete:
            return False
        path = self._next_path()
        return any(matches(pattern, path) for pattern in self._only_complete)

    def _show(self, value: Any) -> None:
        """Put a visible value and note it."""
        self._note_value(value)
        ValueBuilder._put(self, value)

    def _note_value(self, value: Any) -> None:
        """Note a value that becomes visible, unless what is noted or shown already says so."""
        self.waits = False
        provisional, draft = self._provisional, self._draft
        self._provisional, self._draft = ABSENT, None
        is_new = self._depth > 0
        if provisional is not ABSENT:
            if self._cover is ABSENT:
                self._uncover()
            is_new = not is_same(provisional, value)
        self._cover = ABSENT
        self._note_repetition()
        self.is_dirty = self.is_dirty or is_new
        if self._open_set is not None or not self.is_sent:
            return
        goes_on = type(provisional) is type(value) and not is_new
        if draft is None and goes_on:
            return  # it was sent
        if draft is None:
            draft = self._note("set", value)
        draft[2] = value
        self._open_set, self._open_depth = draft, self._depth

    def _note_repetition(self) -> None:
        """A key that comes again may bring the value that was there."""
        frame = self._frame
        if frame is not None and frame.is_object and frame.key in frame.members:
            self.is_doubtful = True

    def _end_value(self, value: Any) -> None:
        """The value in the innermost container has ended."""
        inner: list[Path] = [()]
        if self._hidden == self._depth:
            self._hidden = _NOTHING_HIDDEN
            self._is_stale = True
            self._note_value(value)
            inner = complete_paths(value)
        if self._hidden != _NOTHING_HIDDEN:
            return
        path = self._next_path()
        self.completed += [path + rest for rest in inner]
        if self._open_set is not None and self._open_depth == self._depth:
            self._open_set[2] = value
            self._open_set = None
        if self._depth == 0:
            self._on_end()

    def _next_path(self) -> Path:
        """Return the path, in the entity, of the value that is being read or comes next."""
        return path_of(self.frames, self.base, self.base + self._depth)

    # ---- provisional values ----

    def wants_zero(self) -> bool:
        """Return whether nothing is shown of the next value, or of the string being read."""
        if self._hidden == _NOTHING_HIDDEN:
            return self.waits
        return self._is_hidden_string() and self._cover is ABSENT

    def _is_hidden_string(self) -> bool:
        return self.in_string and self._hidden == self._depth

    @property
    def hidden_depth(self) -> int | None:
        """How many containers of the entity are around the hidden value; None if none is."""
        return None if self._hidden == _NOTHING_HIDDEN else self._hidden

    @property
    def next_path(self) -> Path:
        """The path, in the entity, of the value that comes next."""
        return self._next_path()

    def offer(self, value: Any) -> None:
        """Show a value where the next one will be: a number that grows, a zero."""
        if self._is_held():
            return
        if self._hidden != _NOTHING_HIDDEN:
            if self._is_hidden_string() and self._cover is ABSENT:
                self._provisional = self._cover = value
                self.is_dirty = self._is_stale = True
                if self._open_set is None and self.is_sent:
                    self._draft = self._note("set", value)
            return
        provisional = self._provisional
        if provisional is not ABSENT:
            if is_same(provisional, value):
                return
            self._uncover()
        self._note_repetition()
        self._provisional, self.is_dirty = value, True
        frame = self._frame
        if frame is not None and frame.is_object:
            self._under = frame.members.get(frame.key, ABSENT)
        ValueBuilder._put(self, value)
        if self._draft is not None:
            self._draft[2] = value
        elif self._open_set is None and self.is_sent:
            self._draft = self._note("set", value)

    def _uncover(self) -> None:
        """Remove the provisional value from its container."""
        frame = self._frame
        if frame is None:
            self.root = None
        elif not frame.is_object:
            frame.elements.pop()
        elif self._under is ABSENT:
            del frame.members[frame.key]
        else:
            frame.members[frame.key] = self._under
        self._is_stale = True

    def _withdraw(self) -> None:
        """The provisional value never came: remove it, also where it was sent."""
        self._uncover()
        self._provisional, self.is_dirty = ABSENT, True
        if self._draft is not None:
            self._operations.remove(self._draft)
            self._draft = None
        elif self._open_set is None and self.is_sent:
            pointer = to_pointer(self._next_path())
            if self._depth == 0:
                self._operations.append(["set", pointer, None])
            elif self._under is ABSENT:
                self._operations.append(["remove", pointer])
            else:
                self._operations.append(["set", pointer, self._under])

    # ---- updates ----

    def _hidden_from(self) -> int:
        return -1 if self._hidden == _NOTHING_HIDDEN else self.base + self._hidden

    @property
    def read_path(self) -> Path | None:
        """The path of the value being read, hidden or not, as `root` has it."""
        if self._provisional is not ABSENT:
            return self._next_path()
        return ValueBuilder.path_of_open(self)

    @property
    def open_path(self) -> Path | None:
        """The path of the innermost visible value that still grows."""
        if self._hidden == _NOTHING_HIDDEN:
            return self.read_path
        end = self.base + self._hidden
        return path_of(self.frames, self.base, end - 1) if self._hidden else None

    def settle(self) -> None:
        """Before an error: drop what is provisional, and show the string that has begun."""
        if self._provisional is not ABSENT and self._cover is ABSENT:
            self._withdraw()
        elif self.in_string and not self._strings and self._hidden == self._depth:
            if not self._is_held():
                self._hidden = _NOTHING_HIDDEN
                self._is_stale = True
                self._note_value(self._text)

    def has_news(self) -> bool:
        """Return whether something has changed since the last update."""
        if self.is_dirty and self.is_doubtful and self._last is not ABSENT:
            self.is_dirty = not is_same(self._last, self.value)
            self.is_doubtful = False
        return self.is_dirty

    def take(self) -> tuple[list[Operation], list[Path]]:
        """Return the changes since the last call, and the paths that became complete."""
        operations, completed = self._operations, self.completed
        if not self.is_sent:
            operations = [["set", "", self.value]]
        elif self._open_set is not None:
            self._open_set[2] = self._open_part()
        self._operations, self.completed = [], []
        self._open_set = self._draft = None
        self.is_sent, self.is_dirty, self.is_doubtful = True, False, False
        self._last = ABSENT if self._is_stale else self._copy
        return operations, completed

    def _note(self, name: str, value: Any) -> Operation:
        self._operations.append([name, to_pointer(self._next_path()), value])
        return self._operations[-1]

    def _open_part(self) -> Any:
        """Return a copy of the open value that began since the last update."""
        start = self.base + self._open_depth
        return self._text if start == len(self.frames) else self._copied(start)
