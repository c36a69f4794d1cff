"""The events that the machine emits, and what the sinks that receive them share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeVar
from weakref import ref

from ..paths import Place

R = TypeVar("R")
MANY_PARTS: Final = 512
# Compiled, an open string up to this length is copied when text is added. That is quicker than to
# take it out of its container, so that it has no other owner, and to extend it in place.
BRIEF: Final = 448


class Repair(NamedTuple):
    """One repair: its rule, and the character at which it was needed."""

    rule: str
    offset: int
    line: int
    column: int


class Sink:
    """Receives the events of the machine. An offset is that of the token's first character."""

    __slots__ = ()

    def start_object(self, offset: int) -> None: ...
    def start_array(self, offset: int) -> None: ...
    def end_container(self, offset: int) -> None: ...
    def key(self, key: str, offset: int) -> None: ...
    def start_string(self, offset: int) -> None: ...
    def text(self, run: str) -> None: ...
    def end_string(self) -> None: ...
    def scalar(self, value: Any, text: str | None, offset: int) -> None: ...
    def complete(self, offset: int) -> None: ...
    def next_document(self) -> None: ...

    def takes_values(self) -> bool:
        """True if `scalar` may pass a complete container, instead of an event for each part."""
        return False

    def takes_runs(self) -> bool:
        """True if `run` may be used here, where `scalar` may pass a complete container."""
        return self.takes_open()

    def run(self, values: list[Any], text: str, start: int, end: int, offset: int) -> bool:
        """Elements of the open array, read at once from `text[start:end]`.

        False to get them one by one instead.
        """
        for value in values:
            self.scalar(value, None, offset)
        return True

    def takes_open(self) -> bool:
        """True if `start_with` may be used."""
        return False

    def start_with(self, value: Any, offset: int) -> None:
        """A container begins and has these members already; it is still open."""


class PlacedSink(Sink):
    """A sink that knows where it is, for all that need paths; the others do not pay for them.

    A subclass calls `_next` when a value begins, `_enter` and `_leave` for containers, and sets
    `_step` to each key. What it keeps about the open container is in `_inside`, so that there is
    one stack. The document, or the part of it that the sink is told of, is at `root`.
    """

    __slots__ = ("_container", "_frames", "_inside", "_root", "_step")

    def __init__(self, root: Place | None = None) -> None:
        self._root = root
        self._container: Place | None = None
        # In an object the last key, in an array the index of the next element.
        self._step: str | int = ""
        self._inside: Any = None
        self._frames: list[tuple[Place | None, str | int, Any]] = []

    @property
    def depth(self) -> int:
        """The number of open containers."""
        return len(self._frames)

    def _here(self) -> Place | None:
        """The place of the value that comes next."""
        return Place(self._container, self._step) if self._frames else self._root

    def _next(self) -> Place | None:
        """The place of the value that begins now."""
        if not self._frames:
            return self._root
        step = self._step
        if type(step) is int:
            self._step = step + 1
        return Place(self._container, step)

    def _pass(self) -> None:
        """Go past the value that begins now; its place is known."""
        if type(self._step) is int:
            self._step += 1

    def _enter(self, place: Place | None, step: str | int, inside: Any = None) -> None:
        """The value at `place` is a container; `step` is "" in an object, 0 in an array."""
        self._frames.append((self._container, self._step, self._inside))
        self._container, self._step, self._inside = place, step, inside

    def _leave(self) -> None:
        self._container, self._step, self._inside = self._frames.pop()

    def _reset(self, inside: Any = None) -> None:
        """Start over, before the root."""
        self._container, self._step, self._inside = None, "", inside
        self._frames.clear()


def weak_method(owner: Any, method: Callable[..., R]) -> Callable[..., R]:
    """A method of the object that owns what calls it: calling it back does not keep that object.

    So a stream is gone with its last reference, and with it what its schema was compiled to.
    """
    weak = ref(owner)

    def call(*arguments: Any) -> R:
        return method(weak(), *arguments)

    return call


# What a piece of text may be.
TEXT: Final = (str, bytes, bytearray, memoryview)


class Noted:
    """Pieces of text on their way, of which the first are kept, for what an error says of them.

    It skips None, which deltas have in place of no text. Here, because every piece passes it.
    """

    __slots__ = ("_room", "kept", "pieces")

    def __init__(self, room: int) -> None:
        self.pieces: Iterator[Any] = iter(())
        self.kept: list[Any] = []
        self._room = room

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        piece = next(self.pieces)
        while piece is None:
            piece = next(self.pieces)
        if self._room > 0:
            self.add(piece)
        return piece

    def add(self, piece: Any) -> None:
        """Keep a piece, if there is room."""
        if self._room > 0 and (type(piece) is str or isinstance(piece, TEXT)):
            self._room -= len(piece)
            self.kept.append(piece)


class TextBuffer:
    """Text that arrives in pieces and is joined when it is read, or when there are many.

    Tiny strings are mostly overhead: so it takes about as much memory as the text itself.
    """

    __slots__ = ("_new", "_text")

    def __init__(self) -> None:
        self._text = ""
        self._new: list[str] = []

    def add(self, run: str) -> None:
        new = self._new
        new.append(run)
        if len(new) == MANY_PARTS:
            self.text()

    def text(self) -> str:
        if self._new:
            # With no other owner the old text is extended in place: looking after each of many
            # pieces stays linear.
            text = self._text
            self._text = ""
            text += "".join(self._new)
            self._text = text
            self._new.clear()
        return self._text

    def take(self) -> str:
        """The text, which is then dropped."""
        text = self.text()
        self._text = ""
        return text
