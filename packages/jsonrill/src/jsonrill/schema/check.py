"""The check of one growing value: a function of the value and its open path.

Everything beside the open path is complete: it is finished once, when it is first seen, and
shared from then on. A `Frame` for each open container keeps what its complete children have
become, so that a look costs what is new and the depth of what is open:

    {"title": "To the sea", "stops": [{"name": "Rome"}, {"name": "Os
    frame of the root    made {"title": "To the sea"}
    frame of the list    made [Stop(name="Rome")]
    frame of its last    made {}, with the open string "Os"

Children are taken in the order of the text. When a container that arrived in one piece is refused,
it is read again child by child, so the first violation is the same however the text was cut.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from ..paths import ABSENT, Path
from .early import ARRAY, OBJECT, Node, kind_of_text
from .errors import Refusal, before

Judge = Callable[[Any], tuple[Any, Refusal | None]]


class Refused(Exception):
    """Ends a look with a refusal, whose path begins at the root of the value.

    `part` is the complete value that was refused, with its node and path: something inside of it
    may have been wrong before its end.
    """

    def __init__(self, refusal: Refusal, part: tuple[Node, Any, Path] | None = None) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal
        self.part = part

    def below(self, path: Path) -> Refused:
        """Return the exception as the value around, at `path`, has it."""
        part = self.part and (*self.part[:2], path + self.part[2])
        return Refused(self.refusal.below(path), part)

    def resolve(self) -> Refused:
        """Return the exception with the first refusal in the order of the text."""
        first = None if self.part is None else first_refusal(*self.part[:2])
        if first is None or self.part is None:
            return Refused(self.refusal)
        return Refused(first.below(self.part[2]))


class Frame:
    """An open container: its node, and what its complete children have become."""

    __slots__ = ("_base", "_below", "_size", "container", "made", "node", "reopened", "step")

    def __init__(self, node: Node, container: Any) -> None:
        self.container = container
        self.node = node.open(ARRAY if type(container) is list else OBJECT)
        self.made: Any = type(container)()
        # A key that comes again, while its new value is open.
        self.reopened: str | None = None
        # At the last look: where the open child was, its node, and how many children there were.
        self.step: str | int | None = None
        self._below: Node | None = None
        self._size = 0
        # What the node has prepared of the complete children, until there is another one.
        self._base: Any = None

    def look(self, step: str | int | None, inner: Frame | None = None) -> Any:
        """Finish the children that are complete now. Return the node of the open one at `step`.

        `inner` is the frame of the child that was open at the last look.
        """
        container = self.container
        if step is not None and step == self.step and len(container) == self._size:
            return self._below
        if type(container) is list:
            for index in range(len(self.made), len(container) - (step is not None)):
                self._take(index, container[index], inner)
        else:
            self._take_members(step, inner)
        self.step, self._size = step, len(container)
        self._below = None if step is None else self.child(step)
        return self._below

    def _take_members(self, step: Any, inner: Frame | None) -> None:
        container, made = self.container, self.made
        if self.reopened is not None and self.reopened != step:
            key, self.reopened = self.reopened, None
            self._take(key, container[key], None)
        if step in made and self.reopened is None:
            self.reopened = step
            self._put(step, ABSENT)
        is_new = step is not None and step not in made
        new = len(container) - len(made) - is_new
        if new > 0:
            last = list(islice(reversed(container), new + is_new))
            for key in reversed(last[is_new:]):
                self._take(key, container[key], inner)

    def last(self) -> Any:
        """Return what the last complete child has become."""
        made = self.made
        return made[-1] if type(made) is list else made[next(reversed(made))]

    def child(self, step: str | int) -> Node:
        """Return the node of a child; a key that is forbidden raises `Refused`."""
        node = self.node.child(step)
        if isinstance(node, Refusal):
            raise Refused(node.below((step,)))
        return node

    def _take(self, step: str | int, value: Any, inner: Frame | None) -> None:
        node = self.child(step)
        made = None
        if inner is not None and inner.container is value:
            try:
                inner.look(None)
            except Refused as refused:
                raise refused.below((step,)) from None
            made = inner.made
        self._put(step, finish(node, value, (step,), made))
        narrow = self.node.narrow(step, value)
        if narrow is not self.node:
            self._narrow(narrow)

    def _put(self, step: str | int, made: Any) -> None:
        self._base = None
        if type(self.made) is list:
            self.made.append(made)
        else:
            self.made[step] = made

    def _narrow(self, node: Node) -> None:
        """Finish the children once more, now that it is known which alternative they are of."""
        self.node = node
        steps = range(len(self.made)) if type(self.made) is list else list(self.made)
        self.made = type(self.container)()
        for step in steps:
            is_open = step == self.reopened
            value = self.container[step]
            self._put(step, ABSENT if is_open else finish(self.child(step), value, (step,)))

    def show(self, inner: Any) -> Any:
        """Return what the container is shown as, with `inner` for the open child."""
        if self._base is None:
            made = self.made
            if type(made) is dict:
                made = {key: it for key, it in made.items() if it is not ABSENT}
            else:
                made = [it for it in made if it is not ABSENT]
            self._base = self.node.prepare(made)
        return self.node.show(self._base, self.step, inner)


def finish(node: Node, value: Any, path: Path, made: Any = None) -> Any:
    """Return what a complete value at `path` becomes."""
    result, refusal = node.finish(value, made)
    if refusal is not None:
        raise Refused(refusal.below(path), (node, value, path))
    if not node.is_judged and (refusal := first_refusal(node, value)) is not None:
        raise Refused(refusal.below(path))
    return result


def first_refusal(node: Node, value: Any) -> Refusal | None:
    """Return the refusal that a reader of single characters meets before the end of the value."""
    found: Refusal | None = None
    path: Path = ()
    while True:
        refusal = node.refuse_start(value)
        if refusal is not None or not isinstance(value, (dict, list)):
            return found if refusal is None else refusal.below(path)
        try:
            Frame(node, value).look(None)
            return found
        except Refused as refused:
            found = refused.refusal.below(path)
            if refused.part is None:
                return found
            node, value, step = refused.part
            path += step


class Check:
    """Checks one growing value, and shows it as instances of its type.

    Call `look` after each piece of text, `begin` with a number, literal or key that has no value
    yet, and `close` when the value is complete. Each raises `Refused` at the first violation.
    """

    __slots__ = ("_frames", "_node", "_path", "_shown", "_text", "_whole", "changed")

    def __init__(self, node: Node, whole: Judge | None = None) -> None:
        self._node = node
        # Judges the complete value; without it the node does.
        self._whole = whole
        self._frames: list[Frame] = []
        self._path: Path = ()
        # The node of the open string, and its text.
        self._shown: Node | None = None
        self._text = ""
        # True if `partial` may differ from the last one; the caller clears it.
        self.changed = False

    def look(self, value: Any, open_path: Path | None) -> None:
        """Check what is new in the value; what is at `open_path` still grows.

        Containers must be the same objects from look to look as long as they are open.
        """
        if open_path is None:
            return
        frames, node = self._frames, self._node
        level = 0
        try:
            if self._shown is not None and open_path == self._path and open_path:
                # The same string is open: nothing else can have changed.
                level = len(open_path)
                self._grow(self._shown, frames[-1].container[open_path[-1]])
                return
            grown, self._shown = (self._shown, self._text), None
            self._path = open_path
            for level in range(len(open_path) + 1):
                if type(value) is str:
                    del frames[level:]
                    self._grow(node, value)
                    return
                if not isinstance(value, (dict, list)):
                    del frames[level:]
                    return  # a number that still grows: `begin` checks its kind
                if level >= len(frames) or frames[level].container is not value:
                    self._enter(level, node, value)
                step = open_path[level] if level < len(open_path) else None
                frame = frames[level]
                done = len(frame.made)
                inner = frames[level + 1] if level + 1 < len(frames) else None
                node = frame.look(step, inner)
                if len(frame.made) != done:
                    self._note_change(frame, done, inner is None, *grown)
                if step is not None:
                    value = value[step]
            del frames[level + 1 :]
        except Refused as refused:
            raise refused.below(open_path[:level]).resolve() from None

    def begin(self, step: str | int | None, text: str | None) -> None:
        """Check a value that begins with `text`, a part of a number or literal, after a look.

        `step` is its key or index in the open container, None for the root; without a `text` only
        the key has come.
        """
        node = self._node
        path = self._path[: len(self._frames) - 1] if self._frames else ()
        try:
            if step is not None and self._frames:
                node = self._frames[-1].child(step)
                path = (*path, step)
        except Refused as refused:
            raise Refused(refused.refusal.below(path)) from None
        kind = None if text is None else kind_of_text(text)
        if kind is not None and not node.kinds & kind:
            raise Refused(node.refuse_kind(kind).below(path))

    def begin_at(self, machine: Any, base: int = 0) -> None:
        """Check the number or literal that a machine is reading, or the last key.

        `base` is the number of frames around the checked value.
        """
        frame = machine.frames[-1] if len(machine.frames) > base else None
        text = machine.pending_text
        if frame is None:
            step = None
        elif frame.is_object:
            step = frame.key if frame.count else None
        else:
            step = frame.count
        if text is not None or isinstance(step, str):
            self.begin(step, text)

    def close(self, value: Any) -> Any:
        """Return what the complete value becomes."""
        self._frames = []
        self._shown = None
        self.changed = True
        judge = self._whole or self._node.finish
        result, refusal = judge(value)
        if refusal is not None or not self._node.is_judged:
            refusal = first_refusal(self._node, value) or refusal
        if refusal is not None:
            raise Refused(refusal)
        return result

    def partial(self, depth: int | None = None) -> Any:
        """Return the partial value as it was at the last look; `ABSENT` if there is none.

        With a `depth`, what is open inside that many containers is left out.
        """
        inner = ABSENT
        if depth is None and self._shown is not None:
            inner = self._shown.grow(self._text)
        for frame in reversed(self._frames[:depth]):
            inner = frame.show(inner)
        return inner

    def fields(self) -> list[tuple[str, Any]]:
        """Return the complete fields of the root object, by name."""
        if not self._frames or type(self._frames[0].made) is not dict:
            return []
        node, made = self._frames[0].node, self._frames[0].made
        names = node.field_names(made)
        return [(name, made[key]) for key, name in names.items() if made[key] is not ABSENT]

    def partial_of(self, value: Any, open_path: Path | None) -> Any:
        """Return the partial value of any earlier state; `ABSENT` if there is none."""
        other = Check(self._node)
        try:
            other.look(value, open_path)
        except Refused:
            return ABSENT
        return other.partial()

    def good_before(self, value: Any, path: Path) -> tuple[Any, Path | None]:
        """Return the plain value of all that comes before a refused part at `path`, and its open
        path; `ABSENT` if nothing does."""
        good = before(value, path)
        if not isinstance(good, (dict, list)) or self._node.refuse_start(good) is not None:
            return ABSENT, None
        return good, _existing(good, path[:-1])

    def _enter(self, level: int, node: Node, container: Any) -> None:
        """Let the frame at this level be that of a container that has begun."""
        del self._frames[level:]
        refusal = node.refuse_start(container)
        if refusal is not None:
            raise Refused(refusal)
        self._frames.append(Frame(node, container))
        self.changed = True

    def _note_change(
        self, frame: Frame, done: int, is_scalar: bool, node: Node | None, text: str
    ) -> None:
        """Note that children are complete. The end of a string that was shown changes nothing."""
        is_one = is_scalar and node is not None and len(frame.made) == done + 1
        if not is_one or node is None or frame.last() != node.grow(text):
            self.changed = True

    def _grow(self, node: Node, text: str) -> None:
        refusal = node.refuse_start(text)
        if refusal is not None:
            raise Refused(refusal)
        self._shown = node
        self._text = text
        if node.grow(text) is not ABSENT:
            self.changed = True


def _existing(value: Any, path: Path) -> Path:
    """Return the part of a path that leads to open containers of a value."""
    for level, step in enumerate(path):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return path[:level]
        if not isinstance(value, (dict, list)):
            return path[:level]
    return path
