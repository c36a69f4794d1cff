"""One entity's events, written down in order. What they amount to is for `replay.py` to say.

Two logs and what needs none: `Log` has strings from their quote, in pieces as they come,
`FinishedLog` has them when they are whole, `Whole` keeps only the value. Each calls `ended` when
the value that it writes down is whole, and `given_up` when the rest of it will never come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..build.rebuilder import Tree
from ..parse.sink import PlacedSink
from ..paths import Path, Place, path_of
from ..wire.fragment import TextBuffer
from .delta import difference
from .replay import (
    ARRAY,
    END,
    END_STRING,
    OBJECT,
    ROOT,
    SCALAR,
    SHOWN,
    STRING,
    Delta,
    Entry,
    Reading,
    change,
    changes_of,
    same,
)

# How much may be compared for each entry of a log.
_PATIENCE: Final = 50

_END: Final[Entry] = (END, ROOT, None)
_END_STRING: Final[Entry] = (END_STRING, ROOT, None)


class Whole(Tree):
    """An entity nobody looks at before it is whole: its value, and no log."""

    __slots__ = ("_ended", "_given_up")

    def __init__(self, ended: Callable[[], None], given_up: Callable[[], None]) -> None:
        super().__init__()
        self._ended = ended
        self._given_up = given_up

    def end_container(self, offset: int) -> None:
        super().end_container(offset)
        if not self._spine:
            self._ended()

    def end_string(self) -> None:
        super().end_string()
        if not self._spine:
            self._ended()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        super().scalar(value, text, offset)
        if not self._spine:
            self._ended()

    def next_document(self) -> None:
        self._given_up()

    def known(self) -> tuple[Any, Path | None]:
        """What is there, and which part of it still grows."""
        return self.value, self.open_path


class Log(PlacedSink):
    """One entity's changes in REALTIME: strings from their quote, in pieces as they come."""

    __slots__ = ("_ended", "_given_up", "_read", "_shown", "_spent", "_taken_back", "_tree",
                 "_twice", "changed", "doubtful", "entries", "sent", "sent_string", "string",
                 "waits")  # fmt: skip

    def __init__(self, ended: Callable[[], None], given_up: Callable[[], None]) -> None:
        super().__init__(ROOT)
        self.entries: list[Any] = []
        # Is anything new since the last update, and where in the log was that?
        self.changed = False
        self.sent = 0
        self.sent_string: Place | None = None
        # The string that is open now; has a key come whose value has not begun?
        self.string: Place | None = None
        self.waits = False
        self._ended = ended
        self._given_up = given_up
        self._shown: tuple[int, Place, Any] | None = None
        # Where the reader of the log stands.
        self._tree: Reading | None = None
        self._read = 0
        # A key that comes twice may bring the value that was there: then `news` has to look.
        self.doubtful = False
        self._twice = False
        self._spent = 0
        # Where the container ended in which a value was shown that never came: repair cut it off.
        self._taken_back = -1

    def start_object(self, offset: int) -> None:
        self._open(OBJECT, {}, "", set())

    def start_array(self, offset: int) -> None:
        self._open(ARRAY, [], 0, None)

    def end_container(self, offset: int) -> None:
        if self._shown is not None:
            self._shown = None
            self._taken_back = len(self.entries)
            self.changed = True
        self.entries.append(_END)
        self._leave()
        if not self._frames:
            self._ended()

    def key(self, key: str, offset: int) -> None:
        self._step = key
        self.waits = True
        keys = self._inside
        self._twice = key in keys
        keys.add(key)

    def start_string(self, offset: int) -> None:
        place = self.string = self._next() or ROOT
        self._put(STRING, place, "")

    def text(self, run: str) -> None:
        self.entries.append(run)
        self.changed = True

    def end_string(self) -> None:
        self.entries.append(_END_STRING)
        self.string = None
        if not self._frames:
            self._ended()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        self._put(SCALAR, self._next() or ROOT, value)
        if not self._frames:
            self._ended()

    def takes_values(self) -> bool:
        return True

    def next_document(self) -> None:
        self._given_up()

    def show(self, value: Any) -> None:
        """Show `value` where the next one will be, until it is there."""
        if self._shown is not None and same(self._shown[2], value):
            return
        self._shown = (SHOWN, self._here() or ROOT, value)
        self.entries.append(self._shown)
        self.doubtful |= self._twice
        self.changed = True

    def waiting_path(self) -> Path:
        """The path within the entity of the value that comes next."""
        return path_of(self._here())[1:]

    def known(self) -> tuple[Any, Path | None]:
        """What is certain, and which part of it still grows; the end of the log."""
        at = len(self.entries)
        while at and type(self.entries[at - 1]) is tuple and self.entries[at - 1][0] == SHOWN:
            at -= 1
        return self.value(at), self.open_path(at)

    def mark(self) -> None:
        """An update was made of what is there."""
        self.sent = len(self.entries)
        self.sent_string = self.string
        self.changed = self.doubtful = False

    def news(self) -> bool:
        """Is the value another one than in the last update, although a key came twice?

        Comparing costs as much as the open containers are wide. Where a text makes that happen
        too often, it is not worth it: what is sent again then does no harm.
        """
        if not self.changed or self.sent == 0:
            return self.changed
        self._spent += self._tree_at(self.sent).width
        if self._spent <= _PATIENCE * len(self.entries) and self._is_as_sent():
            self.mark()
        return self.changed

    def _is_as_sent(self) -> bool:
        old = self.value(self.sent)
        try:
            return same(old, self.live(len(self.entries)))
        except RecursionError:
            return False

    def value(self, at: int) -> Any:
        """The entity as it was at a position, safe to keep."""
        return self._tree_at(at).value

    def live(self, at: int) -> Any:
        """The same for a look now, without any copy."""
        return self._tree_at(at).live

    def open_path(self, at: int) -> Path | None:
        """The path within the entity of what still grew at a position."""
        return self._tree_at(at).open_path

    def delta(self, since: int, string: Place | None, at: int) -> Delta:
        """What was new at `at`, seen from `since`, when `string` was the open string."""
        if since == 0:
            return [change("add", ROOT, self.value(at))]
        if since <= self._taken_back < at:
            return difference(self.value(since), self.value(at))
        last = self.entries[since - 1]
        shown = last if type(last) is tuple and last[0] == SHOWN else None
        return changes_of(self.entries[since:at], string, shown)

    def _tree_at(self, at: int) -> Reading:
        tree = self._tree
        if tree is None or at < self._read:
            tree = self._tree = Reading()
            self._read = 0
        if at > self._read:
            tree.read(self.entries[self._read : at])
            self._read = at
        return tree

    def _open(self, code: int, value: Any, step: str | int, keys: set[str] | None) -> None:
        place = self._next() or ROOT
        self._put(code, place, value)
        self._enter(place, step, keys)

    def _put(self, code: int, place: Place, value: Any) -> None:
        self.entries.append((code, place, value))
        self.waits = False
        shown = self._shown
        self._shown = None
        if self._twice:
            self._twice = False
            self.doubtful = True
        if shown is not None:
            if not same(shown[2], value):
                self.changed = True
        elif self._frames:
            self.changed = True


class FinishedLog(Log):
    """One entity's changes in PROGRESSIVE: a string is there when it is whole."""

    __slots__ = ("_text",)

    def __init__(self, ended: Callable[[], None], given_up: Callable[[], None]) -> None:
        super().__init__(ended, given_up)
        self._text = TextBuffer()

    def start_string(self, offset: int) -> None:
        self.string = self._next()

    def text(self, run: str) -> None:
        self._text.add(run)

    def end_string(self) -> None:
        place = self.string or ROOT
        self.string = None
        self._put(SCALAR, place, self._text.take())
        if not self._frames:
            self._ended()

    def known(self) -> tuple[Any, Path | None]:
        if self.string is not None:
            self._put(STRING, self.string, "")
            self.entries.append(self._text.text())
        return super().known()
