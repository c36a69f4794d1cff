"""One entity while it is being read: its value, and the changes since its last update.

The value is built once, by the builder that `values()` uses. Operations (`set`, `append`,
`remove`, as on the wire) are recorded while events arrive. At most one value that began since the
last update is open, and what is inside it needs no operation of its own. For `{"t":"He` and
`llo","n":1` there are two updates:

    {"t":"He       ["set", "", {"t": "He"}]
    llo","n":1     ["append", "/t", "llo"], ["set", "/n", 1]

A number may still grow, so this 1 is *provisional*: `offer` shows it where the next value will be.
A value that is shown only when it is complete is *hidden*: it is built, but put into its container
when it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..document import ValueBuilder
from ..errors import UNLIMITED as NOTHING_HIDDEN
from ..parse.machine import Frame, path_of
from ..paths import ABSENT, Path, Pattern, matches, to_pointer

Operation = list[Any]
# Complete paths. A path has its value if the paths inside it became complete at the same time.
Completed = Sequence[tuple[Path, Any]]


def is_same(old: Any, new: Any) -> bool:
    """Return whether two values are equal as JSON: 1.0 is 1, and True is not."""
    if old is new:
        return True
    if type(old) is dict and type(new) is dict:
        return old.keys() == new.keys() and all(is_same(old[key], new[key]) for key in old)
    if type(old) is list and type(new) is list:
        return len(old) == len(new) and all(map(is_same, old, new))
    return bool(old == new) and (type(old) is bool) == (type(new) is bool)


class Recorder(ValueBuilder):
    """Build an entity and record its changes.

    With `strings`, a string is shown from its opening quote on, else when it is complete.
    `only_complete` has the patterns of other values that are hidden until they are complete.
    """

    __slots__ = ("_completed", "_depth", "_draft", "_may_be_equal", "_last", "_on_end",
                 "_only_complete", "_open_depth", "_open_set", "_operations", "_pointer",
                 "_provisional", "_strings", "_under", "awaits_value", "is_dirty",
                 "is_sent")  # fmt: skip

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
        # The number of open containers.
        self._depth = 0
        # Since the last update: whether anything is new, the operations, and what is complete.
        self.is_dirty = self.is_sent = False
        self._operations: list[Operation] = []
        self._completed: list[tuple[Path, Any]] = []
        # The path of the open string and the pointer to it, once they were needed.
        self._pointer: str | None = None
        # The `set` of the open value that began since then, and how many containers are around it.
        self._open_set: Operation | None = None
        self._open_depth = 0
        # Whether a key has come again since then, and the last value, if it was copied.
        self._may_be_equal = False
        self._last: Any = ABSENT
        # Whether a key has come whose value has not begun.
        self.awaits_value = False
        # The provisional value, the one that it replaces, and its `set` if that is not sent yet.
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
        if self._provisional is not ABSENT and self._hidden_from == NOTHING_HIDDEN:
            self._withdraw()
        frame = self.frames[-1]
        ValueBuilder.end_container(self, offset)
        self._depth -= 1
        self._end_value(frame.members if frame.is_object else frame.elements, None)

    def key(self, key: str, offset: int) -> None:
        self.awaits_value = True

    def text(self, run: str) -> None:
        if self._is_hidden_string():
            text = self._text
            self._text = ""  # with one reference CPython extends it in place
            text += run
            self._text = text
            return
        ValueBuilder.text(self, run)
        if self._hidden_from != NOTHING_HIDDEN:
            return
        self.is_dirty = True
        if self._open_set is None and self.is_sent:
            last = self._operations[-1] if self._operations else None
            if last is not None and last[0] == "append":  # one string is open at a time
                last[2] += run
            else:
                if self._pointer is None:
                    self._pointer = to_pointer(self._path_of_string())
                self._operations.append(["append", self._pointer, run])

    def end_string(self) -> None:
        self.in_string = False
        self._string_path = self._pointer = None
        self._end_value(self._text, None)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if self._hidden_from != NOTHING_HIDDEN:
            ValueBuilder._put(self, value)
        else:
            self._show(value)
            self._end_value(value, value)

    def takes_values(self) -> bool:
        return self._hidden_from != NOTHING_HIDDEN

    def _put(self, value: Any) -> None:
        """Put a string or container that begins, unless it is hidden until it is complete."""
        if self._hidden_from != NOTHING_HIDDEN:
            ValueBuilder._put(self, value)
        elif (type(value) is str and not self._strings) or self._is_held():
            self.awaits_value = False
            self._hidden_from = self.base + self._depth
        else:
            self._show(value)

    def _is_held(self) -> bool:
        """Return whether the next value is shown only when it is complete."""
        if not self._only_complete:
            return False
        path = self.next_path()
        return any(matches(pattern, path) for pattern in self._only_complete)

    def _is_hidden_string(self) -> bool:
        return self.in_string and self._hidden_from == self.base + self._depth

    def _show(self, value: Any) -> None:
        """Make a value visible, and record it unless it is shown already."""
        self.awaits_value = False
        provisional, draft = self._provisional, self._draft
        if provisional is ABSENT:
            old = self._replaced()
            is_new = self._depth > 0 and (old is ABSENT or not is_same(old, value))
            ValueBuilder._put(self, value)
        else:
            self._provisional, self._draft = ABSENT, None
            is_new = not is_same(provisional, value)
            self._replace(value)
        self.is_dirty = self.is_dirty or is_new
        if self._open_set is not None or not self.is_sent:
            return
        if draft is None and type(provisional) is type(value) and not is_new:
            return  # it was sent
        if draft is None:
            draft = self._note("set", value)
        draft[2] = value
        self._open_set, self._open_depth = draft, self._depth

    def _replaced(self) -> Any:
        """Return the value that the next one replaces, if its key has come before."""
        frame = self._frame
        if frame is None or not frame.is_object or frame.key not in frame.members:
            return ABSENT
        self._may_be_equal = True  # the new value may be equal
        return frame.members[frame.key]

    def _end_value(self, value: Any, inner: Any) -> None:
        """End the value in the innermost container, together with the values in `inner`."""
        if self._hidden_from == self.base + self._depth:
            self._hidden_from = NOTHING_HIDDEN
            self._show(value)
            inner = value
        if self._hidden_from != NOTHING_HIDDEN:
            return
        self._completed.append((self.next_path(), inner))
        if self._open_set is not None and self._open_depth == self._depth:
            self._open_set[2] = value
            self._open_set = None
        if self._depth == 0:
            self._on_end()

    def next_path(self) -> Path:
        """Return the path, in the entity, of the value that is being read or comes next."""
        return path_of(self.frames, self.base, self.base + self._depth)

    # ---- provisional values ----

    def wants_zero(self) -> bool:
        """Return whether the next value, or the string being read, is hidden."""
        if self._hidden_from == NOTHING_HIDDEN:
            return self.awaits_value
        is_shown = self._provisional is not ABSENT or self._replaced() is not ABSENT
        return self._is_hidden_string() and not is_shown

    def offer(self, value: Any) -> None:
        """Show a provisional value, such as a growing number or a zero, in place of the next."""
        if self._is_held() or not (self._hidden_from == NOTHING_HIDDEN or self._is_hidden_string()):
            return
        if self._provisional is ABSENT:
            self._under = self._replaced()
            ValueBuilder._put(self, value)
        elif is_same(self._provisional, value):
            return
        else:
            self._replace(value)
        self._provisional, self.is_dirty = value, True
        if self._draft is not None:
            self._draft[2] = value
        elif self._open_set is None and self.is_sent:
            self._draft = self._note("set", value)

    def _withdraw(self) -> None:
        """Remove the provisional value because no value followed, even if it was sent."""
        self._remove(self._frame, self._under)
        self._provisional, self.is_dirty = ABSENT, True
        if self._draft is not None:
            self._operations.remove(self._draft)
            self._draft = None
        elif self._open_set is None and self.is_sent:
            if self._under is not ABSENT or self._depth == 0:
                self._note("set", None if self._under is ABSENT else self._under)
            else:
                self._operations.append(["remove", to_pointer(self.next_path())])

    def _remove(self, frame: Frame | None, under: Any) -> None:
        """Remove the last value of a container, which replaced `under`."""
        if frame is None:
            self.root = None
        elif not frame.is_object:
            frame.elements.pop()
        elif under is ABSENT:
            del frame.members[frame.key]
        else:
            frame.members[frame.key] = under
        self._is_stale = True

    # ---- hidden values ----

    @property
    def hidden_depth(self) -> int | None:
        """The number of the entity's containers around the hidden value; None if none is hidden."""
        return None if self._hidden_from == NOTHING_HIDDEN else self._hidden_from - self.base

    def inspect(self, look: Callable[[Any, Path | None], None]) -> None:
        """Call `look` with the value, hidden parts included, and the path of its open value.

        If it raises, the hidden value stays in the entity.
        """
        hidden_from = self._hidden_from
        frame = self.frames[hidden_from - 1] if self.base < hidden_from < NOTHING_HIDDEN else None
        under = self.reveal()
        look(self.root, self.open_path)
        if hidden_from != NOTHING_HIDDEN:
            self._hidden_from = hidden_from
            self._remove(frame, under)

    def reveal(self) -> Any:
        """Put the hidden value into its container; return the value that it replaces."""
        start, under = self._hidden_from, ABSENT
        if start == NOTHING_HIDDEN:
            return under
        self._hidden_from = NOTHING_HIDDEN
        value: Any = self._text
        if start < len(self.frames):
            inner = self.frames[start]
            value = inner.members if inner.is_object else inner.elements
        if start == self.base:
            self.root = value
        elif self.frames[start - 1].is_object:
            frame = self.frames[start - 1]
            under = frame.members.get(frame.key, ABSENT)
            frame.members[frame.key] = value
        else:
            self.frames[start - 1].elements.append(value)
        self._is_stale = True
        return under

    def settle(self) -> None:
        """Drop the provisional value and show the open string, before an error."""
        if self._is_hidden_string() and not self._strings and not self._is_held():
            self._hidden_from = NOTHING_HIDDEN
            self._show(self._text)
        elif self._provisional is not ABSENT and self._hidden_from == NOTHING_HIDDEN:
            self._withdraw()

    # ---- updates ----

    def path_of_open(self) -> Path | None:
        if self._hidden_from != NOTHING_HIDDEN:
            end = self._hidden_from - 1
            return path_of(self.frames, self.base, end) if end >= self.base else None
        if self.in_string:
            return self._path_of_string()
        if self._provisional is not ABSENT:
            return self.next_path()
        return ValueBuilder.path_of_open(self)

    def _path_of_string(self) -> Path:
        path: Path | None = self._string_path
        if path is None:
            path = self._string_path = self.next_path()
        return path

    def has_news(self) -> bool:
        """Return whether something has changed since the last update."""
        if self.is_dirty and self._may_be_equal and self._last is not ABSENT:
            self.is_dirty = not is_same(self._last, self.value)
        return self.is_dirty

    def take(self) -> tuple[list[Operation], Completed]:
        """Return the changes since the last call, and the newly complete paths."""
        operations = self._operations
        completed: Completed = ()
        if self._completed:
            completed, self._completed = self._completed, []
        if not self.is_sent:
            operations = [["set", "", self.value]]
        elif self._open_set is not None:
            self._open_set[2] = self._open_part()
        self._operations = []
        self._open_set = self._draft = None
        self.is_sent, self.is_dirty, self._may_be_equal = True, False, False
        self._last = ABSENT if self._is_stale else self._copy
        return operations, completed

    def _note(self, name: str, value: Any) -> Operation:
        self._operations.append([name, to_pointer(self.next_path()), value])
        return self._operations[-1]

    def _open_part(self) -> Any:
        """Return a copy of the open value that began since the last update."""
        start = self.base + self._open_depth
        return self._text if start == len(self.frames) else self._copied(start)
