"""The log of one entity: its events in order, from which updates are built when they are read.

An update is a position in the log, so making one costs the same however large the entity is; its
data is replayed from the entries before the position, its delta from those since the update before
(`replay.py`). The text `{"t":"He` + `llo","n":1` gives these entries, with two updates:

    (OBJECT, place of the root, {})
    (STRING, place of t, "")
    "He"                         ← first update: data {"t": "He"}, delta [add "" {"t": "He"}]
    "llo"
    (END_STRING, …)
    (SHOWN, place of n, 1)       ← second: delta [append /t "llo", add /n 1]

A number may still grow, so the 1 is SHOWN: provisional, replaced by the next entry. `Log` has
strings from their quote, in pieces as they arrive; `FinishedLog` has them when they are complete;
`Whole` keeps only the value and has no log. `Held` is in front of a log and hands it the values of
`only_complete` when they are complete. Each calls `ended` when its value is complete, and
`given_up` when the rest of it will never come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from ..build.builder import ValueBuilder
from ..parse.sink import PlacedSink, TextBuffer
from ..paths import Path, Pattern, Place, fits, path_of
from .codes import ARRAY, END, END_STRING, OBJECT, SCALAR, SHOWN, STRING
from .delta import difference
from .replay import ROOT, Delta, ReplayedValue, change, changes_of, completed, pointer_of, same

# How much may be compared for each entry of a log.
_MOST_SPENT: Final = 50


class Whole(ValueBuilder):
    """An entity that is read only when it is complete: its value, and no log."""

    __slots__ = ("_ended", "_given_up")

    def __init__(self, ended: Callable[[], None], given_up: Callable[[], None]) -> None:
        ValueBuilder.__init__(self)
        self._ended = ended
        self._given_up = given_up

    def end_container(self, offset: int) -> None:
        ValueBuilder.end_container(self, offset)
        if not self._spine:
            self._ended()

    def end_string(self) -> None:
        ValueBuilder.end_string(self)
        if not self._spine:
            self._ended()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        ValueBuilder.scalar(self, value, text, offset)
        if not self._spine:
            self._ended()

    def next_document(self) -> None:
        self._given_up()

    def known(self) -> tuple[Any, Path | None]:
        """The value so far, and the path of what still grows."""
        return self.value, self.open_path


class Log(PlacedSink):
    """One entity's changes in REALTIME: strings from their quote, in pieces as they come."""

    __slots__ = ("_ended", "_given_up", "_named", "_pointer", "_read", "_shown", "_spent",
                 "_taken_back", "_tree", "_twice", "changed", "doubtful", "entries", "lags",
                 "sent", "sent_string", "string", "waits")  # fmt: skip

    def __init__(self, ended: Callable[[], None], given_up: Callable[[], None]) -> None:
        PlacedSink.__init__(self, ROOT)
        self.entries: list[Any] = []
        # Is anything new since the last update, and where in the log was that?
        self.changed = False
        self.sent = 0
        self.sent_string: Place | None = None
        # The string that is open now; has a key come whose value has not begun?
        self.string: Place | None = None
        self.waits = False
        # Is a value in it later than in the text?
        self.lags = False
        self._ended = ended
        self._given_up = given_up
        self._shown: tuple[int, Place | None, Any] | None = None
        # Where the reader of the log stands.
        self._tree: ReplayedValue | None = None
        self._read = 0
        # A key that comes twice may bring the value that was there: then `news` has to look.
        self.doubtful = False
        self._twice = False
        self._spent = 0
        # Where the container ended in which a value was shown that never came: repair cut it off.
        self._taken_back = -1
        # The last string that text was added to in a delta, and its JSON Pointer.
        self._named: Place | None = None
        self._pointer = ""

    def start_object(self, offset: int) -> None:
        self._open(OBJECT, {}, "", set())

    def start_array(self, offset: int) -> None:
        self._open(ARRAY, [], 0, None)

    def end_container(self, offset: int) -> None:
        if self._shown is not None:
            self._shown = None
            self._taken_back = len(self.entries)
            self.changed = True
        place = self._container
        self.entries.append((END, ROOT if place is None else place, None))
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
        place = self.string = self._next()
        self._put(STRING, place, "")

    def text(self, run: str) -> None:
        self.entries.append(run)
        self.changed = True

    def end_string(self) -> None:
        self.entries.append((END_STRING, self.string, None))
        self.string = None
        if not self._frames:
            self._ended()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        self._put(SCALAR, self._next(), value)
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
        self._shown = (SHOWN, self._here(), value)
        self.entries.append(self._shown)
        self.doubtful |= self._twice
        self.changed = True

    def waiting_path(self) -> Path:
        """The path within the entity of the value that comes next."""
        return path_of(self._here())[1:]

    def known(self) -> tuple[Any, Path | None]:
        """The value without what is provisional, and the path of what still grows."""
        at = len(self.entries)
        while at and type(self.entries[at - 1]) is tuple and self.entries[at - 1][0] == SHOWN:
            at -= 1
        return self.at(at).value, self.at(at).open_path

    def mark(self) -> None:
        """Remember this position as that of the last update."""
        self.sent = len(self.entries)
        self.sent_string = self.string
        self.changed = self.doubtful = False

    def news(self) -> bool:
        """True if the value differs from that of the last update, although a key came twice.

        Comparing costs as much as the open containers are wide. Where a text makes that happen
        too often, it is not worth it: what is sent again then does no harm.
        """
        if not self.changed or self.sent == 0:
            return self.changed
        self._spent += self.at(self.sent).width
        if self._spent <= _MOST_SPENT * len(self.entries) and self._is_as_sent():
            self.mark()
        return self.changed

    def _is_as_sent(self) -> bool:
        old = self.at(self.sent).value
        try:
            return same(old, self.at(len(self.entries)).live)
        except RecursionError:
            return False

    def delta(self, since: int, string: Place | None, at: int) -> Delta:
        """The changes from position `since`, when `string` was the open string, to `at`."""
        if since == 0:
            return [change("add", ROOT, self.at(at).value)]
        entries = self.entries
        if at == since + 1 and type(entries[since]) is str:
            # Most deltas are one piece of text: as `changes_of` says it, without the way there.
            if string is not self._named:
                self._named = string
                self._pointer = pointer_of(ROOT if string is None else string)
            return [{"op": "append", "path": self._pointer, "value": entries[since]}]
        if since <= self._taken_back < at:
            return difference(self.at(since).value, self.at(at).value)
        last = entries[since - 1]
        shown = last if type(last) is tuple and last[0] == SHOWN else None
        return changes_of(entries, since, at, string, shown)

    def completed(self, since: int, at: int) -> Iterator[Path]:
        """The paths of the values that became complete between two positions."""
        return completed(self.entries[since:at])

    def at(self, at: int) -> ReplayedValue:
        """The entity as it was at a position of the log."""
        tree = self._tree
        if tree is None or at < self._read:
            tree = self._tree = ReplayedValue()
            self._read = 0
        if at > self._read:
            tree.read(self.entries, self._read, at)
            self._read = at
        return tree

    def _open(self, code: int, value: Any, step: str | int, keys: set[str] | None) -> None:
        place = self._next()
        self._put(code, place, value)
        self._enter(place, step, keys)

    def _put(self, code: int, place: Place | None, value: Any) -> None:
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
    """One entity's changes in PROGRESSIVE: a string is there when it is complete."""

    __slots__ = ("_text",)

    def __init__(self, ended: Callable[[], None], given_up: Callable[[], None]) -> None:
        Log.__init__(self, ended, given_up)
        self.lags = True
        self._text = TextBuffer()

    def start_string(self, offset: int) -> None:
        self.string = self._next()

    def text(self, run: str) -> None:
        self._text.add(run)

    def end_string(self) -> None:
        place = self.string
        self.string = None
        self._put(SCALAR, place, self._text.take())
        if not self._frames:
            self._ended()

    def known(self) -> tuple[Any, Path | None]:
        if self.string is not None:
            self._put(STRING, self.string, "")
            self.entries.append(self._text.text())
        return Log.known(self)


class Held(PlacedSink):
    """Hands on to a log what arrives, but the values at some patterns as one, when complete.

    With `("filename",)` the log of `{"filename": "a.t` has no filename; at the closing quote it
    gets the scalar "a.txt". Of a container it gets nothing either until that is closed.
    """

    __slots__ = ("_log", "_patterns", "_whole")

    def __init__(self, log: Log, patterns: tuple[Pattern, ...]) -> None:
        PlacedSink.__init__(self)
        self._log = log
        self._patterns = patterns
        # The value that is held back, while it is being read.
        self._whole: ValueBuilder | None = None
        log.lags = True

    def start_object(self, offset: int) -> None:
        patterns = self._of_next()
        if not self._holds(patterns):
            self._log.start_object(offset)
            self._enter(None, "", patterns)
        elif self._whole is not None:
            self._whole.start_object(offset)

    def start_array(self, offset: int) -> None:
        patterns = self._of_next()
        if not self._holds(patterns):
            self._log.start_array(offset)
            self._enter(None, 0, patterns)
        elif self._whole is not None:
            self._whole.start_array(offset)

    def end_container(self, offset: int) -> None:
        if self._whole is not None:
            self._whole.end_container(offset)
            self._hand_on()
        else:
            self._leave()
            self._log.end_container(offset)

    def key(self, key: str, offset: int) -> None:
        if self._whole is not None:
            self._whole.key(key, offset)
        else:
            self._step = key
            self._log.key(key, offset)

    def start_string(self, offset: int) -> None:
        if not self._holds(self._of_next()):
            self._log.start_string(offset)
        elif self._whole is not None:
            self._whole.start_string(offset)

    def text(self, run: str) -> None:
        if self._whole is not None:
            self._whole.text(run)
        else:
            self._log.text(run)

    def end_string(self) -> None:
        if self._whole is not None:
            self._whole.end_string()
            self._hand_on()
        else:
            self._log.end_string()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if self._whole is not None:
            self._whole.scalar(value, text, offset)
            self._hand_on()
        else:
            self._pass()
            self._log.scalar(value, text, offset)

    def takes_values(self) -> bool:
        return True

    def next_document(self) -> None:
        self._log.next_document()

    def holds_next(self) -> bool:
        """True if what is being read, or comes next, is shown only when it is complete."""
        return self._whole is not None or () in self._of_next()

    def _of_next(self) -> tuple[Pattern, ...]:
        """What is left of the patterns that lead to the value that comes next, or into it."""
        if not self._frames:
            return self._patterns
        step = self._step
        return tuple([pattern[1:] for pattern in self._inside if fits(pattern[0], step)])

    def _holds(self, patterns: tuple[Pattern, ...]) -> bool:
        """True if a value that begins now is held back, or is part of one that is."""
        if self._whole is not None:
            return True
        self._pass()
        if () in patterns:
            self._whole = ValueBuilder()
        return self._whole is not None

    def _hand_on(self) -> None:
        """Hand the value on that was held back, if it is complete."""
        whole = self._whole
        if whole is not None and not whole._spine:
            self._whole = None
            self._log.scalar(whole.root, None, 0)
