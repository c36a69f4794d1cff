"""Frames: the containers that are open at the end of the written text, and what to write next.

Written text cannot be taken back, so a frame writes a member only when it is known to grow or to be
complete, and holds the others. One member at a time is open: its text can still be extended, and
writing any other member closes it. With these snapshots the chunker returns:

    {"a": "x"}                 {"a":"x       one new member: it is opened
    {"a": "xy"}                y             the open member grew
    {"a": "xy", "b": "1"}      ","b":"1      a new member: `a` is complete, `b` is opened
    {"a": "xy", "b": "12"}     2

Of two members that appear at once neither is opened: the next snapshot shows which one grows, and
until then both are held. One that the next snapshot shows unchanged is complete; it is written as
soon as the open member does not change either. Elements of an array come in order, so all but the
last are complete.

`Object` and `Array` compare their value with a new snapshot (`changes`) and propose a `WritePlan`
(`plan`); nothing changes by that. `make`, `hold` and `finish` carry it out and cannot fail. Paths,
revisions and the order of these steps are in `spine.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ..jsontext import quoted
from ..paths import ABSENT
from .compare import NOTHING, is_blank, is_empty
from .leaves import waits, whole
from .snapshot import Tree

Key = Any  # a str in an Object, an int in an Array


class Rules:
    """The options that say what is written when; `atoms` are the types of values that are complete
    when they first come."""

    __slots__ = ("atoms", "eager", "placeholder")

    def __init__(
        self,
        eager: bool = False,
        placeholder: bool = False,
        atoms: tuple[type, ...] = (bool, type(None)),
    ) -> None:
        self.eager = eager
        self.placeholder = placeholder
        self.atoms = atoms

    def is_there(self, tree: Tree) -> bool:
        return tree is not ABSENT and not (self.placeholder and is_blank(tree))

    def pick(self, fresh: Sequence[str], value: dict[str, Tree], blanks: bool) -> str | None:
        """The new member of `value` to open, or None to hold them all. No atoms among them.

        An empty one is not begun for certain while there are `blanks` beside it: typed sources
        show an empty array where they show null for all else.
        """
        if len(fresh) == 1:
            only = value[fresh[0]]
            return None if waits(only) or (blanks and is_empty(only)) else fresh[0]
        numbers = [key for key in fresh if type(value[key]) is bytes]
        if not self.eager:
            return numbers[0] if len(numbers) == 1 and not waits(value[numbers[0]]) else None
        others = (key for key in fresh if type(value[key]) is not bytes)
        full = [key for key in others if not is_empty(value[key])]
        return next((key for key in full + numbers if not waits(value[key])), None)


class Changes:
    """The members or elements of an open container that are neither written nor open.

    `new` ones were not in the snapshot before. Those held back have `changed`, are the `same` or
    are `gone`. `blanks`: there are placeholders beside them.
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
        self.new = new
        self.changed = changed
        self.same = same
        self.gone = gone
        self.blanks = blanks


class WritePlan:
    """What to write into a container: members that are complete, then one that stays open."""

    __slots__ = ("closed", "opened")

    def __init__(self, closed: Sequence[Key], opened: Key | None = None) -> None:
        self.closed = closed
        self.opened = opened


class _Container:
    """What an open object and an open array share, and what each does in its own way."""

    __slots__ = ("_rules", "_size", "frozen", "open")

    def __init__(self, rules: Rules) -> None:
        self.open: Any = None  # the key of the open member, or the index of the open element
        self.frozen = False
        self._rules = rules
        self._size = 0  # how many members there are when nothing is new; -1: compare each

    def follow(self, value: Tree) -> Tree:
        """The value of what is open (`NOTHING` if nothing is) when all else here is as it was, else
        ABSENT."""
        raise NotImplementedError

    def child(self, value: Any) -> Tree:
        """The value of what is open."""
        raise NotImplementedError

    def agrees(self, value: Any) -> bool:
        """True if the value has everything that is closed, unchanged."""
        raise NotImplementedError

    def was(self, key: Any) -> Tree:
        """The value as which a member or element was held back, before it is opened."""
        raise NotImplementedError

    def changes(self, value: Any) -> Changes | None:
        """None when all there is is written or open."""
        raise NotImplementedError

    def plan(self, changes: Changes, value: Any, still: bool) -> WritePlan | None:
        """What to write now; None when what is open must not be closed for it.

        `still`: what is open is as it was in the snapshot before.
        """
        raise NotImplementedError

    def make(self, plan: WritePlan, changes: Changes, value: Any, out: list[str]) -> None:
        """Write what `plan` says, hold the rest of what was seen."""
        raise NotImplementedError

    def hold(self, changes: Changes, value: Any, still: bool) -> None:
        """Remember what is not written, as it stands."""
        raise NotImplementedError

    def end(self, child: Tree) -> None:
        """What is open is complete."""
        raise NotImplementedError

    def finish(self, value: Tree, out: list[str]) -> Any:
        """Write what is not written yet, and close. Returns the complete value as written."""
        raise NotImplementedError

    def freeze(self) -> None:
        """Keep what is written, whatever later snapshots show."""
        self.frozen = True
        self._size = -1


class Object(_Container):
    """An open object. `held` has the values that wait, each as the last snapshot showed it."""

    __slots__ = ("held", "written")
    kind: ClassVar[Any] = dict
    brackets: ClassVar[tuple[str, str]] = ("{", "}")

    def __init__(self, was: Tree, rules: Rules) -> None:
        super().__init__(rules)
        held = was.items() if type(was) is dict else ()
        self.held: dict[str, Tree] = {key: it for key, it in held if rules.is_there(it)}
        self.written: dict[str, Tree] = {}

    def follow(self, value: Tree) -> Tree:
        # Most of a snapshot is compared by these two `<=`, in C.
        if (
            type(value) is dict
            and len(value) == self._size
            and (not self.held or self.held.items() <= value.items())
            and self.written.items() <= value.items()
        ):
            return NOTHING if self.open is None else value.get(self.open, ABSENT)
        return ABSENT

    def waiting(self) -> Iterator[tuple[str, Tree]]:
        """The members that are held back."""
        return ((key, value) for key, value in self.held.items() if value is not ABSENT)

    def child(self, value: dict[str, Tree]) -> Tree:
        return value.get(self.open, ABSENT)

    def agrees(self, value: dict[str, Tree]) -> bool:
        return self.written.items() <= value.items()

    def closed(self, value: dict[str, Tree]) -> Iterator[tuple[str, Tree, Tree]]:
        """The closed members that changed: key, value written, value now."""
        for key, was in self.written.items():
            now = value.get(key, ABSENT)
            if was != now:
                yield key, was, now

    def was(self, key: str) -> Tree:
        return self.held.get(key, ABSENT)

    def so_far(self, child: Tree) -> dict[str, Tree]:
        return self.written if self.open is None else {**self.written, self.open: child}

    def changes(self, value: dict[str, Tree]) -> Changes | None:
        written, held, open_key = self.written, self.held, self.open
        rest = [key for key in value if key not in written and key != open_key]
        blanks = False
        if self._rules.placeholder:
            everything = len(rest)
            rest = [key for key in rest if not is_blank(value[key])]
            blanks = len(rest) < everything
        if not held:
            return Changes(rest, blanks=blanks) if rest else None
        new: list[str] = []
        changed: list[str] = []
        same: list[str] = []
        for key in rest:
            if key not in held or type(value[key]) in self._rules.atoms:
                new.append(key)
            elif held[key] == value[key]:
                same.append(key)
            else:
                changed.append(key)
        gone = [key for key in held.keys() - rest if held[key] is not ABSENT]
        return Changes(new, changed, same, gone, blanks)

    def plan(self, changes: Changes, value: dict[str, Tree], still: bool) -> WritePlan | None:
        kinds = self._rules.atoms
        atoms = [key for key in changes.new if type(value[key]) in kinds]
        fresh = (
            [key for key in changes.new if type(value[key]) not in kinds] if atoms else changes.new
        )
        pick = self._rules.pick(fresh, value, changes.blanks) if fresh else None
        if not self.held:
            return (
                WritePlan(atoms, pick) if atoms or pick is not None or self.open is None else None
            )
        grown = [key for key in changes.changed if not waits(value[key])]
        must = self.open is None or bool(atoms) or pick is not None
        if not must and not still:
            return None
        complete = [key for key in changes.same if not is_empty(value[key])]
        if not must and not grown and not complete:
            return None
        closed = atoms + complete
        if pick is not None and len(changes.changed) == 1:
            return WritePlan([*closed, *changes.changed], pick)
        return WritePlan(closed, grown[0] if grown else pick)

    def make(
        self, plan: WritePlan, changes: Changes, value: dict[str, Tree], out: list[str]
    ) -> None:
        for key in plan.closed:
            out += (self._start(key), whole(value[key]))
            self.written[key] = value[key]
            self.held.pop(key, None)
        self.open = opened = plan.opened
        if opened is not None:
            out.append(self._start(opened))
            self.held.pop(opened, None)
        self.hold(changes, value, False)

    def hold(self, changes: Changes, value: dict[str, Tree], still: bool) -> None:
        held = self.held
        for key in changes.new:
            if key != self.open and key not in self.written:
                held[key] = value[key]
        if held:
            for key in changes.changed:
                if key in held:
                    held[key] = value[key]
            for key in changes.gone:
                held[key] = ABSENT
        self._size = len(self.written) + len(held) + (self.open is not None)

    def end(self, child: Tree) -> None:
        if self.open is not None:
            self.written[self.open] = child
            self.open = None

    def finish(self, value: Tree, out: list[str]) -> dict[str, Tree]:
        if value is not ABSENT and not value.keys() <= self.written.keys():
            for key, now in value.items():
                if key not in self.written:
                    out += (self._start(key), whole(now))
                    self.written[key] = now
        out.append("}")
        return self.written

    def _start(self, key: str) -> str:
        return f",{quoted(key)}:" if self.written else f"{quoted(key)}:"


class Array(_Container):
    """An open array. `tail` is what waits at its end, as the last snapshot showed it."""

    __slots__ = ("_start", "_was", "tail", "written")
    kind: ClassVar[Any] = list
    brackets: ClassVar[tuple[str, str]] = ("[", "]")

    def __init__(self, was: Tree, rules: Rules) -> None:
        super().__init__(rules)
        self._was: list[Tree] = was if type(was) is list else []
        self.tail: list[Tree] = []
        self.written: list[Tree] = []
        self._start = 0  # of the tail: values before it are written or open

    def follow(self, value: Tree) -> Tree:
        if type(value) is list and len(value) == self._size:
            end = len(self.written)
            if value[:end] == self.written and value[self._start :] == self.tail:
                return NOTHING if self.open is None else value[end]
        return ABSENT

    def waiting(self) -> Iterator[tuple[int, Tree]]:
        """The elements that are held back."""
        waiting = enumerate(self.tail, self._start)
        return ((index, value) for index, value in waiting if self._rules.is_there(value))

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

    def changes(self, value: list[Tree]) -> Changes | None:
        start = self._start
        new = range(start, self._length(value))
        if value[start:] == self.tail:
            return Changes((), same=new) if new else None
        return Changes(new) if new else Changes((), gone=(start,))

    def plan(self, changes: Changes, value: list[Tree], still: bool) -> WritePlan | None:
        """All elements but the last are complete; the last one is opened."""
        if not changes.new:
            tail = changes.same
            complete = tail and still and not is_empty(value[tail[-1]])
            return WritePlan(tail) if complete else None
        last = changes.new[-1]
        if type(value[last]) in self._rules.atoms:
            return WritePlan(changes.new)
        if not waits(value[last]):
            return WritePlan(changes.new[:-1], last)
        return WritePlan(changes.new[:-1]) if len(changes.new) > 1 else None

    def make(self, plan: WritePlan, changes: Changes, value: list[Tree], out: list[str]) -> None:
        for index in plan.closed:
            out += (self._comma(), whole(value[index]))
            self.written.append(value[index])
        self.open = plan.opened
        if plan.opened is not None:
            out.append(self._comma())
        self._was = []
        self.hold(changes, value, False)

    def hold(self, changes: Changes, value: list[Tree], still: bool) -> None:
        self._start = len(self.written) + (self.open is not None)
        self.tail = value[self._start :]
        self._size = max(len(value), self._start)

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
        """The number of elements; nulls at the end may be placeholders."""
        length = len(value)
        while self._rules.placeholder and length and is_blank(value[length - 1]):
            length -= 1
        return length


class Root(Array):
    """The frame of the document itself: an array of one, without brackets.

    A null is always held back here, because some sources send one before they start.
    """

    __slots__ = ()
    brackets: ClassVar[tuple[str, str]] = ("", "")

    def _length(self, value: list[Tree]) -> int:
        return 0 if value[0] is None else 1


Frame = Object | Array
