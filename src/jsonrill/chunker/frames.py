"""What is open at the end of the written text, and what may be written next.

`Object` and `Array` are open containers, `String` and `Number` are open leaves. A container looks
at its value in a new snapshot (`look`) and proposes a `Move`; nothing changes by that. `hold`,
`make` and `finish` carry things out and cannot fail. When to write and when to wait is decided
here alone; paths, revisions and the order of the steps are `spine.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from .compare import ABSENT, is_empty, waits
from .rules import Rules
from .snapshot import Tree
from .text import escaped, quoted, settled, whole

Key = Any  # a str in an Object, an int in an Array
_ATOMS: Final = (bool, type(None))


class Look:
    """What a snapshot shows in an open container besides what is written or open.

    `new` members, and of those held back the ones that `changed`, are the `same`, or are `gone`.
    """

    __slots__ = ("changed", "gone", "new", "same")

    def __init__(self) -> None:
        self.new: list[Key] = []
        self.changed: list[Key] = []
        self.same: list[Key] = []
        self.gone: list[Key] = []

    @property
    def differs(self) -> bool:
        return bool(self.new or self.changed or self.gone)


class Move:
    """What to write into a container: members that are complete, then one that stays open."""

    __slots__ = ("closed", "opened")

    def __init__(self, closed: list[Key], opened: Key | None = None) -> None:
        self.closed = closed
        self.opened = opened


class Object:
    """An open object. `held` has the values that wait, each as the last snapshot showed it."""

    __slots__ = ("_calm", "_stood", "frozen", "held", "open", "written")
    kind: ClassVar[type] = dict
    brackets: ClassVar[tuple[str, str]] = ("{", "}")

    def __init__(self, was: Tree, rules: Rules) -> None:
        held = was if type(was) is dict else {}
        self.held: dict[str, Tree] = {k: v for k, v in held.items() if rules.is_there(v)}
        self.written: dict[str, Tree] = {}
        self.open: str | None = None
        self.frozen = False
        self._calm: dict[str, int] = {}  # how many snapshots a held value has not changed
        self._stood = 0  # how many snapshots a held value grew while the open one did not

    def agrees(self, value: dict[str, Tree]) -> bool:
        """Is everything that is closed there, and the same?"""
        return self.written.items() <= value.items()

    def closed(self, value: dict[str, Tree]) -> Iterator[tuple[str, Tree, Tree]]:
        for key, was in self.written.items():
            now = value.get(key, ABSENT)
            if was != now:
                yield key, was, now

    def child(self, value: dict[str, Tree]) -> Tree:
        return value.get(self.open, ABSENT)  # type: ignore[arg-type]  # asked when one is open

    def was(self, key: str | None) -> Tree:
        """How a member that is about to be opened was held back."""
        return ABSENT if key is None else self.held.get(key, ABSENT)

    def so_far(self, child: Tree) -> dict[str, Tree]:
        return self.written if self.open is None else {**self.written, self.open: child}

    def look(self, value: dict[str, Tree], agreed: bool, rules: Rules) -> Look | None:
        """None when all there is is written or open."""
        written, held, open_key = self.written, self.held, self.open
        if open_key is None:
            full = len(value) == len(written)
        else:
            full = len(value) == len(written) + 1 and open_key in value
        if full and agreed and not held:
            return None
        look = Look()
        for key in [key for key in value if key not in written]:
            now = value[key]
            if key == open_key or not rules.is_there(now):
                continue
            if key not in held or type(now) in _ATOMS:
                look.new.append(key)
            elif held[key] != now:
                look.changed.append(key)
            else:
                look.same.append(key)
        look.gone = [
            key
            for key, was in held.items()
            if was is not ABSENT and not rules.is_there(value.get(key, ABSENT))
        ]
        return look

    def move(self, look: Look, value: dict[str, Tree], rules: Rules, still: bool) -> Move | None:
        """What may be written now; None when the open member is not to be closed for it.

        `still`: the open member is as it was in the snapshot before.
        """
        atoms = [key for key in look.new if type(value[key]) in _ATOMS]
        fresh = [(key, value[key]) for key in look.new if type(value[key]) not in _ATOMS]
        pick = rules.pick(fresh)
        grown = [key for key in look.changed if not waits(value[key])]
        overtaken = grown and still and self._stood + 1 >= rules.patience
        if self.open is not None and not (atoms or pick is not None or overtaken):
            return None
        closed = atoms + [key for key in look.same if self._is_complete(key, value[key], rules)]
        if len(look.changed) == 1 and pick is not None:
            return Move(closed + look.changed, pick)
        return Move(closed, grown[0] if grown else pick)

    def hold(self, look: Look, value: dict[str, Tree], still: bool) -> None:
        """Remember what is not written, as it stands."""
        for key in look.same:
            self._calm[key] = self._calm.get(key, 0) + 1
        for key in look.new + look.changed:
            self.held[key] = value[key]
            self._calm[key] = 0
        for key in look.gone:
            self.held[key] = ABSENT
        if not still:
            self._stood = 0
        elif any(not waits(value[key]) for key in look.changed):
            self._stood += 1

    def make(self, move: Move, value: dict[str, Tree], out: list[str]) -> None:
        for key in move.closed:
            out.append(f"{self._start(key)}{whole(value[key])}")
            self.written[key] = value[key]
            del self.held[key], self._calm[key]
        if move.opened is not None:
            out.append(self._start(move.opened))
            del self.held[move.opened], self._calm[move.opened]
        self.open = move.opened
        self._stood = 0

    def end(self, child: Tree) -> None:
        """The open member is complete."""
        if self.open is not None:
            self.written[self.open] = child
            self.open = None

    def finish(self, value: Tree, out: list[str]) -> dict[str, Tree]:
        """Write whatever is not written yet, and close. What was written as a whole?"""
        if value is not ABSENT:
            for key, now in value.items():
                if key not in self.written:
                    out.append(f"{self._start(key)}{whole(now)}")
                    self.written[key] = now
        out.append(self.brackets[1])
        return self.written

    def _start(self, key: str) -> str:
        return f"{',' if self.written else ''}{quoted(key)}:"

    def _is_complete(self, key: str, value: Tree, rules: Rules) -> bool:
        return self._calm.get(key, 0) + 1 >= rules.patience and not is_empty(value)


class Array:
    """An open array. `tail` is what waits at its end, as the last snapshot showed it."""

    __slots__ = ("_was", "frozen", "open", "tail", "written")
    kind: ClassVar[type] = list
    brackets: ClassVar[tuple[str, str]] = ("[", "]")

    def __init__(self, was: Tree, rules: Rules) -> None:
        self._was: list[Tree] = was if type(was) is list else []
        self.tail: list[Tree] = []
        self.written: list[Tree] = []
        self.open: int | None = None
        self.frozen = False

    def agrees(self, value: list[Tree]) -> bool:
        return value[: len(self.written)] == self.written

    def closed(self, value: list[Tree]) -> Iterator[tuple[int, Tree, Tree]]:
        for index, was in enumerate(self.written):
            now = value[index] if index < len(value) else ABSENT
            if was != now:
                yield index, was, now

    def child(self, value: list[Tree]) -> Tree:
        index = len(self.written)
        return value[index] if index < len(value) else ABSENT

    def was(self, index: int | None) -> Tree:
        return self._was[index] if index is not None and index < len(self._was) else ABSENT

    def so_far(self, child: Tree) -> list[Tree]:
        return self.written if self.open is None else [*self.written, child]

    def look(self, value: list[Tree], agreed: bool, rules: Rules) -> Look | None:
        start = len(self.written) + (self.open is not None)
        if value[start:] == self.tail:
            return None
        look = Look()
        look.new = list(range(start, self._length(value, rules)))
        look.gone = [] if look.new else [start]
        return look

    def move(self, look: Look, value: list[Tree], rules: Rules, still: bool) -> Move | None:
        """All elements but the last are complete; the last one is opened."""
        if look.new:
            *before, last = look.new
            if type(value[last]) in _ATOMS:
                return Move(look.new)
            if not waits(value[last]):
                return Move(before, last)
            if before:
                return Move(before)
        return None

    def hold(self, look: Look, value: list[Tree], still: bool) -> None:
        self.tail = value[len(self.written) + (self.open is not None) :]

    def make(self, move: Move, value: list[Tree], out: list[str]) -> None:
        for index in move.closed:
            out.append(f"{self._start()}{whole(value[index])}")
            self.written.append(value[index])
        if move.opened is not None:
            out.append(self._start())
        self.open = move.opened
        self.tail = value[len(self.written) + (self.open is not None) :]
        self._was = []

    def end(self, child: Tree) -> None:
        if self.open is not None:
            self.written.append(child)
            self.open = None

    def finish(self, value: Tree, out: list[str]) -> list[Tree]:
        if value is not ABSENT:
            for now in value[len(self.written) :]:
                out.append(f"{self._start()}{whole(now)}")
                self.written.append(now)
        out.append(self.brackets[1])
        return self.written

    def _start(self) -> str:
        return "," if self.written else ""

    def _length(self, value: list[Tree], rules: Rules) -> int:
        """The elements that are there: nulls at the end may be placeholders."""
        length = len(value)
        while rules.placeholder and length and value[length - 1] is None:
            length -= 1
        return length


class Root(Array):
    """What holds the whole document: an array of one, without brackets. A null waits in it
    always, because some sources send one before they start."""

    __slots__ = ()
    brackets: ClassVar[tuple[str, str]] = ("", "")

    def _length(self, value: list[Tree], rules: Rules) -> int:
        return 0 if value[0] is None else 1


class String:
    """An open string: `written` is the part that was, `seen` the whole as last shown."""

    __slots__ = ("frozen", "seen", "written")

    def __init__(self) -> None:
        self.seen = self.written = ""
        self.frozen = False

    def fits(self, value: Tree) -> bool:
        return type(value) is str and value.startswith(self.written)

    def grow(self, value: str) -> str:
        """Write on as far as the string is settled."""
        return self._write(value, settled(value))

    def finish(self, value: Tree) -> str:
        """Write all of it and close; nothing more when the snapshot does not have it."""
        return (self._write(value, len(value)) if value is not ABSENT else "") + '"'

    def _write(self, value: str, end: int) -> str:
        text = escaped(value[len(self.written) : end])
        self.seen = value
        self.written = value[:end]
        return text


class Number:
    """An open number: digits may come as long as nothing was written after it."""

    __slots__ = ("frozen", "seen", "written")

    def __init__(self) -> None:
        self.seen: Tree = ()
        self.written: Tree = ()
        self.frozen = False

    def fits(self, value: Tree) -> bool:
        return type(value) is tuple and value[: len(self.written)] == self.written

    def grow(self, value: Tree) -> str:
        self.seen = value
        return "" if waits(value) else self.finish(value)

    def finish(self, value: Tree) -> str:
        if value is ABSENT:
            return ""
        text = "".join(value[len(self.written) :])
        self.seen = self.written = value
        return text


Frame = Object | Array
Leaf = String | Number
