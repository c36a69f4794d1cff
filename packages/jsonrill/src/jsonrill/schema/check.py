"""The check of one growing value: a function of the value and its open path.

Everything outside the open path is complete: it is finished once, when it is first seen, and
shared from then on. A `Frame` for each open container keeps what its complete children have
become, so a check costs only the new text and the depth of the open path:

    {"title": "To the sea", "stops": [{"name": "Rome"}, {"name": "Os
    frame of the root         children {"title": "To the sea"}
    frame of the list         children [Stop(name="Rome")]
    frame of the last stop    children {}, with the open string "Os"

A `Node` says what the schema requires of the value at one place. It refuses early only what its
validator would refuse whatever follows: a value of the wrong kind at its first character, a key
that is forbidden, a string with which no allowed text begins.

A complete value that is refused is read once more in the order of the text, so the first violation
is the same however the text was cut.
"""

from __future__ import annotations

from bisect import bisect_left
from codecs import getincrementaldecoder
from collections.abc import Iterable, Mapping, Set
from itertools import islice, takewhile
from os.path import commonprefix
from typing import Any, Final

from ..errors import InvalidSchema
from ..paths import ABSENT, Path
from .errors import Refused, list_allowed, offset_of, quote, violation

# The kinds of value that the first character tells apart, with their zeros.
ZEROS: Final[dict[str, Any]] = {
    "null": None,
    "boolean": False,
    "number": 0,
    "string": "",
    "array": [],
    "object": {},
}
EVERY: Final = frozenset(ZEROS)
_KINDS: Final = {type(zero): kind for kind, zero in ZEROS.items()}
_LITERALS: Final = {"n": "null", "t": "boolean", "f": "boolean"}


def kind_of(value: Any) -> str:
    """Return the kind of a JSON value; numbers of other types are read with `parse_float`."""
    return _KINDS.get(type(value), "number")


def name_of(kind: str) -> str:
    """Return what a message calls a value of this kind."""
    return kind if kind == "null" else f"{'an' if kind[0] in 'ao' else 'a'} {kind}"


class Node:
    """What a schema requires of the value at one place. The base class requires nothing.

    `kinds` are the kinds that may be valid, `listed` the allowed values of an enum, and `texts` the
    allowed strings if only some are, sorted. A node `is_deferred` if code of the user reads the
    value first: then neither the value nor anything inside it is refused before its end. If it
    `defers_children`, the value may be refused early, but nothing inside it. If it `is_hidden`, the
    value is shown when it is complete.
    """

    def __init__(self, kinds: Set[str] = EVERY, is_hidden: bool = False) -> None:
        self.kinds = kinds
        self.texts: list[str] | None = None
        self.text_rule = "enum"
        self.listed: list[Any] = []
        self.is_deferred = self.defers_children = False
        self.is_hidden = is_hidden
        # Whether an open string is shown, and whether the children of a container are as they are.
        self.shows_text = self.shows_children = not is_hidden

    def allows(self, kind: str) -> bool:
        """Return whether a value of this kind may be valid."""
        return self.is_deferred or kind in self.kinds

    def refuse_start(self, value: Any, kind: str = "") -> Refused | None:
        """Return what the first characters of a value prove, complete or not.

        `kind` is the kind of a number or literal that is not read yet.
        """
        kind = kind or kind_of(value)
        if not self.allows(kind):
            try:
                self.judge(ZEROS[kind], name_of(kind))
            except Refused as refused:
                return refused
        is_listed = self.texts is not None and kind == "string" and not self.is_deferred
        return self.refuse_text(value) if is_listed else None

    def refuse_text(self, value: str) -> Refused | None:
        """Return why no allowed text begins with this one."""
        texts = self.texts or []
        at = bisect_left(texts, value)
        if at < len(texts) and texts[at].startswith(value):
            return None
        # The shortest wrong prefix, so that the message does not depend on the pieces.
        near = texts[max(at - 1, 0) : at + 1]
        shared = max((len(commonprefix([value, other])) for other in near), default=0)
        begin = quote(value[: shared + 1])
        message = f"no allowed value begins with {begin}: {list_allowed(texts)}"
        return Refused(self.text_rule, message, allowed=texts)

    def choose(self, container: Any, step: str | int | None) -> Node:
        """Return the node for the inside of a container, in which the child at `step` is open."""
        return self

    def child(self, step: str | int) -> Node:
        """Return the node of a member or element; raise `Refused` for a forbidden key."""
        return self

    def judge(self, value: Any, name: str = "") -> Any:
        """Let the validator refuse a complete value, which a message calls `name`, or return it."""
        raise Refused("type", f"{name} is not allowed")

    def finish(self, value: Any, children: list[Any] | None = None) -> Any:
        """Return what a complete value becomes, or `ABSENT`; raise `Refused` if it is invalid.

        `children` is what the children of a container have become, if each is shown.
        """
        refused = self.refuse_start(value)
        if refused is not None:
            raise refused
        return ABSENT if self.is_hidden else value

    def close(self, value: Any) -> Any:
        """Return what a complete value becomes that is not part of another one."""
        return self.finish(value)

    def field_of(self, step: Any) -> Any:
        """Return the name under which a child is shown; None if it is not."""
        return step

    def show(self, value: Any) -> Any:
        """Return what is shown of an open string or of the children of a container, or `ABSENT`."""
        return ABSENT if self.is_hidden else value

    def zero(self) -> Any:
        """Return the zero of the type, for a field that has not arrived; None if it has none."""
        return ZEROS[min(self.kinds)] if len(self.kinds) == 1 else None


ANY: Final = Node()
# Of this value nothing is known until the container around it is complete.
UNKNOWN: Final = Node(is_hidden=True)


def first_refusal(node: Node, value: Any, refused: Refused) -> Refused:
    """Return the refusal that a reader of single characters meets first in a refused value."""
    path: Path = ()
    while True:
        start = node.refuse_start(value)
        inside = node.choose(value, None)
        steps: Iterable[Any] = ()
        if start is None and not node.is_deferred and not inside.is_deferred:
            steps = range(len(value)) if isinstance(value, list) else value
        for step in steps if isinstance(value, (dict, list)) else ():
            try:
                child = inside.child(step)
                child.finish(value[step])
            except Refused as inner:
                path = (*path, step)
                if inner.is_key:
                    return inner.below(path)
                node, value, refused = child, value[step], inner
                break
        else:
            refused.allowed = refused.allowed or tuple(node.listed)
            return (start or refused).below(path)


class Frame:
    """An open container: its node, and what its complete children have become."""

    def __init__(self, node: Node, container: Any, path: Path, is_deferred: bool) -> None:
        self.container = container
        self.path = path
        # For a union, `_outer` is the union, and `node` the one type that is still possible.
        self._outer = self.node = node
        # Whether nothing inside is refused.
        self.is_deferred: bool = is_deferred or node.defers_children
        # The number of finished children, and the results of those that are shown.
        self._finished = 0
        self.children: Any = type(container)()
        # Of the last call: where the open child is, the name under which it is shown, its node, and
        # the number of children.
        self.step: str | int | None = None
        self._name: str | int | None = None
        self.open_node: Node | None = None
        self._size = -1

    def look(self, step: str | int | None, inner: Frame | None = None) -> list[Any] | None:
        """Finish the children that are complete now, and return what is shown of them.

        The child at `step` is open. `inner` is the frame of the child that was open before.
        """
        container = self.container
        if step is not None and step == self.step and len(container) == self._size:
            return None
        self.step, self._size = step, len(container)
        node = self._outer.choose(container, step)
        if node is not self.node:
            self.node, self.is_deferred = node, self.is_deferred or node.defers_children
            self.children, self._finished = type(container)(), 0
        finished = [self._finish(key, container[key], inner) for key in self._new_steps(step)]
        self._name = None if step is None else self.node.field_of(step)
        self.open_node = None if step is None else self.child(step)
        return [child for child in finished if child is not ABSENT]

    def _new_steps(self, step: str | int | None) -> Iterable[Any]:
        """Return where children are that have become complete."""
        container, finished = self.container, self._finished
        if type(container) is list:
            return range(finished, len(container) - (step is not None))
        # A key that comes again counts when the object is complete.
        self.children.pop(self.node.field_of(step), None)
        last = islice(reversed(container), len(container) - finished)
        return [key for key in last if key != step][::-1]

    def _finish(self, step: str | int, value: Any, inner: Frame | None) -> Any:
        children = None
        if inner is not None and inner.container is value:
            inner.look(None)  # finishes its last elements
            children = inner.children if len(inner.children) == len(value) else None
        node = self.child(step)
        result: Any = ABSENT
        try:
            result = node.finish(value, children)
        except Refused as refused:
            if not self.is_deferred:
                raise first_refusal(node, value, refused).below((*self.path, step)) from None
        self._finished += 1
        put(self.children, self.node.field_of(step), result)
        return result

    def child(self, step: str | int) -> Node:
        """Return the node of a child; raise `Refused` for a forbidden key."""
        try:
            return self.node.child(step)
        except Refused as refused:
            if self.is_deferred:
                return UNKNOWN
            raise refused.below((*self.path, step)) from None

    def show(self, inner: Any) -> Any:
        """Return what the container is shown as, with `inner` for the open child."""
        shown = put(self.children.copy(), self._name, inner)
        return shown if self.node.shows_children else self.node.show(shown)


def put(children: Any, step: Any, child: Any) -> Any:
    """Add a child, unless it is absent, to the end of a container, and return the container."""
    if child is not ABSENT and type(children) is dict:
        children[step] = child
    elif child is not ABSENT:
        children.append(child)
    return children


class Check:
    """Checks one growing value, and shows it as instances of its type.

    Call `look` after each piece of text, `begin_at` where a number, literal or key may be half
    read, and `close` when the value is complete. Each raises `Refused` at the first violation.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._frames: list[Frame] = []
        # The open string, if it is shown, its path and its node.
        self._text: str | None = None
        self._path: Path = ()
        self._leaf: Node = node
        # True if `partial` may differ from the last one; the caller clears it.
        self.changed = False

    def look(self, value: Any, open_path: Path | None) -> None:
        """Check what is new in the value; what is at `open_path` still grows.

        Containers must be the same objects in each call as long as they are open.
        """
        if open_path is None:
            return
        if self._text is not None and open_path is self._path and self._leaf.texts is None:
            self._grow_text(value)
        else:
            self._path = open_path
            self._walk(value, open_path)

    def _grow_text(self, value: Any) -> None:
        """Read the open string if nothing else has changed."""
        outer = self._frames[-1] if self._frames else None
        text = value if outer is None else outer.container[outer.step]
        self.changed = self.changed or self._text != text
        self._text = text

    def _walk(self, value: Any, open_path: Path) -> None:
        """Check what is new in each open container, and in the open string."""
        frames, node = self._frames, self._node
        text, self._text = self._text, None
        level, depth = 0, len(open_path)
        new: list[Any] | None = None
        while isinstance(value, (dict, list)):
            frame = frames[level] if level < len(frames) else None
            before: Node | None = None
            if frame is None or frame.container is not value:
                self._begin(node, value, open_path[:level])
                is_deferred = level > 0 and frames[level - 1].is_deferred
                frame = Frame(node, value, open_path[:level], is_deferred)
                frames[level:] = [frame]
            else:
                before = frame.node
            level += 1
            inner = frames[level] if level < len(frames) else None
            step: Any = open_path[level - 1] if level <= depth else None
            new = frame.look(step, inner)
            is_first = frame.node is not before and not frame.node.is_hidden
            # The end of a string that was shown changes nothing.
            is_end = new is not None and len(new) == 1 and type(new[0]) is str and new[0] == text
            if is_first or (new and not is_end):
                self.changed = True
            if step is None or frame.open_node is None:
                break
            node, value = frame.open_node, value[step]
        if level < len(frames):
            del frames[level:]
        if type(value) is str:
            if node.texts is not None or "string" not in node.kinds:
                self._begin(node, value, open_path[:level])
            self._leaf = node.choose(value, None)
            if self._leaf.shows_text:
                self._text = value
                if new or value != text:
                    self.changed = True

    def _begin(self, node: Node, value: Any, path: Path, kind: str = "") -> None:
        """Refuse what the first characters of the value at `path` prove to be invalid."""
        if path and self._frames[len(path) - 1].is_deferred:
            return
        refused = node.refuse_start(value, kind)
        if refused is not None:
            raise refused.below(path)

    def begin_at(self, machine: Any, base: int = 0) -> None:
        """Check the number or literal that a machine is reading, or the last key, after `look`.

        `base` is the number of frames around the checked value.
        """
        text = machine.pending_text
        node, path = self._node, ()
        depth = len(machine.frames) - base
        if depth > 0 and self._frames:
            outer, frame = self._frames[depth - 1], machine.frames[-1]
            if frame.is_object and frame.count == 0 or not frame.is_object and text is None:
                return
            step = frame.key if frame.is_object else frame.count
            node, path = outer.child(step), (*outer.path, step)
        if text is not None:
            self._begin(node, None, path, _LITERALS.get(text[0], "number"))

    def close(self, value: Any) -> Any:
        """Return what the complete value becomes."""
        self._frames = []
        try:
            return self._node.close(value)
        except Refused as refused:
            raise first_refusal(self._node, value, refused) from None

    def partial(self, depth: int | None = None) -> Any:
        """Return the partial value as `look` read it last; `ABSENT` if there is none.

        With a `depth`, what is open inside that many containers is left out.
        """
        has_text = depth is None and self._text is not None
        inner = self._leaf.show(self._text) if has_text else ABSENT
        for frame in reversed(self._frames[:depth]):
            inner = frame.show(inner)
        return inner

    def fields(self) -> list[tuple[str, Any]]:
        """Return the complete fields of the root object, by name."""
        frame = self._frames[0] if self._frames else None
        if frame is None or type(frame.children) is not dict or frame.show(ABSENT) is ABSENT:
            return []
        return [*frame.children.items()]

    def before(self, value: Any, path: Path) -> tuple[Any, Any]:
        """Return what comes before the refused part at `path`: plain, and as a partial value.

        Both are `ABSENT` if there is nothing. `path[:-1]` still grows in it.
        """
        if not isinstance(value, (dict, list)) or self._node.refuse_start(value) is not None:
            return ABSENT, ABSENT
        good = cut_before(value, path)
        return good, self.partial_of(good, path[:-1])

    def partial_of(self, value: Any, open_path: Path | None) -> Any:
        """Return the partial value of another state; `ABSENT` if there is none."""
        check = Check(self._node)
        try:
            check.look(value, open_path)
        except Refused:
            return ABSENT
        return check.partial()


def cut_before(value: Any, path: Path) -> Any:
    """Return the part of a container that comes before `path`, in the order of the text."""
    good = part = value if not path else type(value)()
    for depth, step in enumerate(path, 1):
        if type(part) is list:
            part.extend(value[:step])
        else:
            part.update((key, value[key]) for key in takewhile(step.__ne__, value))
        if depth < len(path):
            value, outer = value[step], part
            part = type(value)()
            put(outer, step, part)
    return good


class SourceText:
    """The text of a value, kept to find the place of a violation in it."""

    def __init__(self, prefix: str = "") -> None:
        self._decode = getincrementaldecoder("utf-8-sig")("replace").decode
        self._pieces = [prefix]
        # The offset, line and column of the first kept character.
        self._start = -len(prefix)
        self._line, self._column = 1, self._start + 1
        self.end = 0

    def add(self, data: str | bytes) -> None:
        """Add a piece of the text."""
        text = data if isinstance(data, str) else self._decode(data)
        self._pieces.append(text)
        self.end += len(text)

    def begin(self, offset: int) -> None:
        """Forget the text before `offset`, where the next value begins."""
        if offset > self._start:
            text = "".join(self._pieces)
            begin = offset - self._start
            self._line, self._column = self._place(text, begin)
            self._start, self._pieces = offset, [text[begin:]]

    def _place(self, text: str, end: int) -> tuple[int, int]:
        """Return line and column of the character at `end` of the kept text."""
        newline = text.rfind("\n", 0, end)
        column = self._column + end if newline < 0 else end - newline
        return self._line + text.count("\n", 0, end), column

    def violation(
        self, refused: Refused, options: Mapping[str, Any], path: Path = ()
    ) -> InvalidSchema:
        """Return the error of the value at `path`, which begins last in this text."""
        text = "".join(self._pieces)
        # Inside a container, because repair reads a text differently at the root.
        end = offset_of(text, refused, {**options, "prefix": "[" if path else ""})
        error = violation(refused, path, self._start + end)
        error.line, error.column = self._place(text, end)
        return error
