"""The containers that are open at the end of the written text, and what may be written next.

`Object` and `Array` are open containers. One looks at its value in a new snapshot (`look`) and
proposes a `Move`; nothing changes by that. `make`, `hold` and `finish` carry things out and cannot
fail. When to write and when to wait is decided here and in `rules.py`; paths, revisions and the
order of the steps are `spine.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ..jsontext import quoted
from .compare import ABSENT, ATOMS, NOTHING, is_blank, is_empty, waits
from .rules import Rules
from .snapshot import Tree
from .text import whole

Key = Any  # a str in an Object, an int in an Array


class Look:
    """What a snapshot shows in an open container besides what is written or open.

    `new` members, and of those held back the ones that `changed`, are the `same`, or are `gone`;
    `blanks` if there are placeholders beside them.
    """

    __slots__ = ("blanks", "changed", "gone", "new", "same")

    def __init__(
        self,
        new: Sequence[Key],
        changed: Sequence[Key] = (),
        same: Sequence[Key] = (),
        gone: Sequence[Key] = (),
        blanks: bool = False,
    ) -> None:
        self.blanks = blanks
        self.new = new
        self.changed = changed
        self.same = same
        self.gone = gone


class Move:
    """What to write into a container: members that are complete, then one that stays open."""

    __slots__ = ("closed", "opened")

    def __init__(self, closed: Sequence[Key], opened: Key | None = None) -> None:
        self.closed = closed
        self.opened = opened


class Object:
    """An open object. `held` has the values that wait, each as the last snapshot showed it."""

    __slots__ = ("_calm", "_rules", "_size", "_stood", "frozen", "held", "open", "written")
    kind: ClassVar[Any] = dict
    brackets: ClassVar[tuple[str, str]] = ("{", "}")

    def __init__(self, was: Tree, rules: Rules) -> None:
        held = was.items() if type(was) is dict else ()
        self.held: dict[str, Tree] = {key: it for key, it in held if rules.is_there(it)}
        self.written: dict[str, Tree] = {}
        self.open: str | None = None
        self.frozen = False
        self._rules = rules
        self._size = 0  # how many members there are when nothing is new; -1: look closer
        self._calm: dict[str, int] = {}  # for how many snapshots a held value has not changed
        self._stood = 0  # for how many snapshots one grew while the open value stood still

    def follow(self, value: Tree) -> Tree:
        """The open member's value (`NOTHING` if none is open) when nothing else is new here, else
        ABSENT. Most of a snapshot is compared by these two `<=`, in C."""
        if (
            type(value) is dict
            and len(value) == self._size
            and (not self.held or self.held.items() <= value.items())
            and self.written.items() <= value.items()
        ):
            return NOTHING if self.open is None else value.get(self.open, ABSENT)
        return ABSENT

    def child(self, value: dict[str, Tree]) -> Tree:
        return value.get(self.open, ABSENT)  # type: ignore[arg-type]  # asked when one is open

    def agrees(self, value: dict[str, Tree]) -> bool:
        """Is everything that is closed there, and the same?"""
        return self.written.items() <= value.items()

    def closed(self, value: dict[str, Tree]) -> Iterator[tuple[str, Tree, Tree]]:
        """What is closed and not the same: key, what was written, what is there."""
        for key, was in self.written.items():
            now = value.get(key, ABSENT)
            if was != now:
                yield key, was, now

    def was(self, key: str) -> Tree:
        """How a member that is about to be opened was held back."""
        return self.held.get(key, ABSENT)

    def so_far(self, child: Tree) -> dict[str, Tree]:
        return self.written if self.open is None else {**self.written, self.open: child}

    def look(self, value: dict[str, Tree]) -> Look | None:
        """None when all there is is written or open."""
        written, held, open_key = self.written, self.held, self.open
        rest = [key for key in value if key not in written and key != open_key]
        blanks = False
        if self._rules.placeholder:
            everything = len(rest)
            rest = [key for key in rest if not is_blank(value[key])]
            blanks = len(rest) < everything
        if not held:
            return Look(rest, blanks=blanks) if rest else None
        new: list[str] = []
        changed: list[str] = []
        same: list[str] = []
        for key in rest:
            if key not in held or type(value[key]) in ATOMS:
                new.append(key)
            elif held[key] == value[key]:
                same.append(key)
            else:
                changed.append(key)
        gone = [key for key in held.keys() - rest if held[key] is not ABSENT]
        return Look(new, changed, same, gone, blanks)

    def move(self, look: Look, value: dict[str, Tree], still: bool) -> Move | None:
        """What may be written now; None when the open member is not to be closed for it.

        `still`: the open member is as it was in the snapshot before.
        """
        atoms = [key for key in look.new if type(value[key]) in ATOMS]
        fresh = [key for key in look.new if type(value[key]) not in ATOMS] if atoms else look.new
        pick = self._rules.pick(fresh, value, look.blanks) if fresh else None
        if not self.held:
            return Move(atoms, pick) if atoms or pick is not None or self.open is None else None
        grown = [key for key in look.changed if not waits(value[key])]
        overtaken = grown and still and self._stood + 1 >= self._rules.patience
        if self.open is not None and not (atoms or pick is not None or overtaken):
            return None
        closed = atoms + [key for key in look.same if self._is_complete(key, value[key])]
        if pick is not None and len(look.changed) == 1:
            return Move([*closed, *look.changed], pick)
        return Move(closed, grown[0] if grown else pick)

    def make(self, move: Move, look: Look, value: dict[str, Tree], out: list[str]) -> None:
        """Write what `move` says, hold the rest of what was seen."""
        for key in move.closed:
            out += (self._start(key), whole(value[key]))
            self.written[key] = value[key]
            self.held.pop(key, None)
        self.open = opened = move.opened
        if opened is not None:
            out.append(self._start(opened))
            self.held.pop(opened, None)
        self.hold(look, value, False)

    def hold(self, look: Look, value: dict[str, Tree], still: bool) -> None:
        """Remember what is not written, as it stands."""
        held = self.held
        for key in look.new:
            if key != self.open and key not in self.written:
                held[key] = value[key]
        if held:
            for key in look.changed:
                if key in held:
                    held[key] = value[key]
            for key in look.gone:
                held[key] = ABSENT
            if self._rules.patience > 1:
                self._count(look, value, still)
        if self.open is None:
            self._size = len(self.written) + len(held)
        elif not held or self._rules.patience == 1:
            self._size = len(self.written) + len(held) + 1
        else:
            self._size = -1  # what stands still is counted

    def freeze(self) -> None:
        """Stay as it is written, whatever the snapshots say."""
        self.frozen = True
        self._size = -1

    def end(self, child: Tree) -> None:
        """The open member is complete."""
        if self.open is not None:
            self.written[self.open] = child
            self.open = None

    def finish(self, value: Tree, out: list[str]) -> dict[str, Tree]:
        """Write whatever is not written yet, and close. What was written as a whole?"""
        if value is not ABSENT and not value.keys() <= self.written.keys():
            for key, now in value.items():
                if key not in self.written:
                    out += (self._start(key), whole(now))
                    self.written[key] = now
        out.append("}")
        return self.written

    def _start(self, key: str) -> str:
        return f",{quoted(key)}:" if self.written else f"{quoted(key)}:"

    def _is_complete(self, key: str, value: Tree) -> bool:
        return self._calm.get(key, 0) + 1 >= self._rules.patience and not is_empty(value)

    def _count(self, look: Look, value: dict[str, Tree], still: bool) -> None:
        for key in look.same:
            self._calm[key] = self._calm.get(key, 0) + 1
        for key in look.changed:
            self._calm[key] = 0
        if not still:
            self._stood = 0
        elif any(not waits(value[key]) for key in look.changed):
            self._stood += 1


class Array:
    """An open array. `tail` is what waits at its end, as the last snapshot showed it."""

    __slots__ = ("_rules", "_size", "_start", "_was", "frozen", "open", "tail", "written")
    kind: ClassVar[Any] = list
    brackets: ClassVar[tuple[str, str]] = ("[", "]")

    def __init__(self, was: Tree, rules: Rules) -> None:
        self._was: list[Tree] = was if type(was) is list else []
        self.tail: list[Tree] = []
        self.written: list[Tree] = []
        self.open: int | None = None
        self.frozen = False
        self._rules = rules
        self._size = 0
        self._start = 0  # of the tail: what stands before it is written or open

    def follow(self, value: Tree) -> Tree:
        if type(value) is list and len(value) == self._size:
            end = len(self.written)
            if value[:end] == self.written and value[self._start :] == self.tail:
                return NOTHING if self.open is None else value[end]
        return ABSENT

    def child(self, value: list[Tree]) -> Tree:
        index = len(self.written)
        return value[index] if index < len(value) else ABSENT

    def agrees(self, value: list[Tree]) -> bool:
        return value[: len(self.written)] == self.written

    def closed(self, value: list[Tree]) -> Iterator[tuple[int, Tree, Tree]]:
        for index, was in enumerate(self.written):
            now = value[index] if index < len(value) else ABSENT
            if was != now:
                yield index, was, now

    def was(self, index: int) -> Tree:
        return self._was[index] if index < len(self._was) else ABSENT

    def so_far(self, child: Tree) -> list[Tree]:
        return self.written if self.open is None else [*self.written, child]

    def look(self, value: list[Tree]) -> Look | None:
        start = self._start
        if value[start:] == self.tail:
            return None
        new = range(start, self._length(value))
        return Look(new) if new else Look((), gone=(start,))

    def move(self, look: Look, value: list[Tree], still: bool) -> Move | None:
        """All elements but the last are complete; the last one is opened."""
        if not look.new:
            return None
        last = look.new[-1]
        if type(value[last]) in ATOMS:
            return Move(look.new)
        if not waits(value[last]):
            return Move(look.new[:-1], last)
        return Move(look.new[:-1]) if len(look.new) > 1 else None

    def make(self, move: Move, look: Look, value: list[Tree], out: list[str]) -> None:
        for index in move.closed:
            out += (self._comma(), whole(value[index]))
            self.written.append(value[index])
        self.open = move.opened
        if move.opened is not None:
            out.append(self._comma())
        self._was = []
        self.hold(look, value, True)

    def hold(self, look: Look, value: list[Tree], still: bool) -> None:
        self._start = len(self.written) + (self.open is not None)
        self._size = max(len(value), self._start)
        self.tail = value[self._start :]

    def freeze(self) -> None:
        self.frozen = True
        self._size = -1

    def end(self, child: Tree) -> None:
        if self.open is not None:
            self.written.append(child)
            self.open = None

    def finish(self, value: Tree, out: list[str]) -> list[Tree]:
        if value is not ABSENT:
            for now in value[len(self.written) :]:
                out += (self._comma(), whole(now))
                self.written.append(now)
        out.append(self.brackets[1])
        return self.written

    def _comma(self) -> str:
        return "," if self.written else ""

    def _length(self, value: list[Tree]) -> int:
        """How many elements are there: nulls at the end may be placeholders."""
        length = len(value)
        while self._rules.placeholder and length and is_blank(value[length - 1]):
            length -= 1
        return length


class Root(Array):
    """What holds the whole document: an array of one, without brackets. A null waits in it
    always, because some sources send one before they start."""

    __slots__ = ()
    brackets: ClassVar[tuple[str, str]] = ("", "")

    def _length(self, value: list[Tree]) -> int:
        return 0 if value[0] is None else 1


Frame = Object | Array
