"""What is remembered of texts that grow: each call has all of a text, and only its end is new.

A text is recognised by comparing all of what is remembered with its beginning, so that no text ever
gets the value of another. The first calls go to the original, which is quick with small texts; once
it has read a text over and over, the text is read here, from then on only what is new.

Each thread, and in it each task, has a memory of its own: nothing is locked.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

from ..build.builder import ValueBuilder
from ..errors import FAR, InvalidJSON, LimitExceeded, Limits
from ..parse.grammar import CUT_ESCAPE, NUMBER
from ..parse.machine import Machine
from ..paths import ABSENT
from .tree import Tree

# As many texts are remembered, and as many bytes with their values.
MOST_TEXTS: Final = 16
MOST_BYTES: Final = 4 * 2**20 - 2**19
# A text is weighed when it has grown by this many characters: hence the half MiB above.
WEIGHED: Final = 4096
# What a container and a leaf take beside their text, roughly.
CONTAINER_SIZE: Final = 200
LEAF_SIZE: Final = 64
# The original reads a text until it has read this many times its length.
MOST_SPENT: Final = 12
# A pair of escapes, for a character beyond the first 65536.
LONGEST_ESCAPE: Final = len(r"\ud83d\ude00")
# What json_repair reads in its own way: these escapes, and a newline at the end of a string.
ODD_ESCAPE: Final = re.compile(r'\\(?:[u\\/f]|n")')
# Half of a surrogate pair, as it is and as an escape; and what may look like one and is none.
HALF: Final = re.compile("[\ud800-\udfff]")
HALF_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
NO_HALF: Final = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]")
# As deep as jiter and pydantic_core go; at one level more they take what is empty.
LIMITS: Final = Limits(depth=200, text=FAR, string=FAR, number=4300, keys=FAR)


class GrowingText:
    """Reads a growing text once, and has the value so far. `error` is set when it cannot go on."""

    __slots__ = ("_cut", "_machine", "_parse_float", "error", "lone", "odd", "tree")

    def __init__(self, parse_float: Callable[[str], Any], tree: Any = None) -> None:
        self.tree: Any = tree or Tree()
        self._parse_float = parse_float
        self._machine = Machine(self.tree, parse_float=parse_float, limits=LIMITS)
        # The beginning of an escape, or of a pair of them, at the end of what was read.
        self._cut = ""
        # True if there was half of a surrogate pair, and an escape that json_repair reads oddly.
        self.lone = self.odd = False
        self.error: InvalidJSON | LimitExceeded | None = None

    def feed(self, piece: str) -> None:
        if self._cut or "\\" in piece:
            self._escaped(self._cut + piece)
        if not piece.isascii() and not piece.isprintable() and HALF.search(piece):
            self.lone = True
        try:
            self._machine.feed(piece)
        except (InvalidJSON, LimitExceeded) as error:
            self.error = error.with_traceback(None)

    def _escaped(self, text: str) -> None:
        """Look at the escapes of this text."""
        self.odd = self.odd or ODD_ESCAPE.search(text) is not None
        self._cut = cut_escape(text)
        if self._cut:
            text = text[: -len(self._cut)]
        if HALF_ESCAPE.search(text) and HALF_ESCAPE.search(NO_HALF.sub("", text)):
            self.lone = True

    @property
    def inner(self) -> Any:
        """The innermost open container, not to be changed."""
        return self.tree.inner

    @property
    def replaces(self) -> bool:
        """True if the open string may be in the place of a value that is still to be shown."""
        return False

    def shown(self, share: bool, with_string: bool = False, *number: Any) -> Any:
        """The value so far, with the open string if there is one, or with the open number."""
        if with_string and self.tree.in_string:
            return self.tree.shown(share, self.tree.open_text())
        return self.tree.shown(share, *number)

    def end(self, share: bool) -> Any:
        """The value of a text that is complete, else `Truncated`."""
        self._machine.flush()
        return self.tree.shown(share)

    @property
    def half(self) -> str | None:
        """The text of the number or literal that is being read, else None."""
        return self._machine.pending_text

    @property
    def in_key(self) -> bool:
        """True if a key is being read."""
        return self._machine.pending_key is not None

    def number(self, text: str) -> tuple[Any, ...]:
        """The number that this text is, in a tuple; an empty one if it is not a number."""
        match = NUMBER.fullmatch(text)
        if match is None:
            return ()
        return (int(text) if match.lastindex is None else self._parse_float(text),)


class SharedText(GrowingText):
    """Its values share what is complete in them: made by `values()`' builder, which is compiled.

    It knows nothing of what the other originals have their own ways with.
    """

    __slots__ = ()

    def __init__(self, parse_float: Callable[[str], Any]) -> None:
        super().__init__(parse_float, ValueBuilder())

    @property
    def inner(self) -> Any:
        return self.tree._spine[-1] if self.tree._spine else None

    @property
    def replaces(self) -> bool:
        # An object that had a key twice: only the builder knows which, and has left the old value.
        inner = self.inner
        return type(inner) is dict and len(inner) != self._machine._count

    def shown(self, share: bool, with_string: bool = False, *number: Any) -> Any:
        builder = self.tree
        # What is open is copied at each call, also if nothing has changed.
        builder.stale = True
        if number:
            under = builder.show(number[0])
            value = builder.value
            builder.hide(under)
        elif with_string or not builder.in_string:
            value = builder.value
        else:
            text = builder.kept_text()
            builder.hide(ABSENT)
            value = builder.value
            builder.show(text)
        return value


def cut_escape(text: str) -> str:
    """What the end of the text cuts in a string: the beginning of an escape, or of a pair."""
    at = len(text) - LONGEST_ESCAPE
    if "\\" not in text[max(0, at) :]:
        return ""
    held = CUT_ESCAPE.search(text, max(0, at))
    before = 0 if held is None else held.start()
    while before and text[before - 1] == "\\":
        before -= 1
    # After an odd number of backslashes this one is escaped itself.
    return "" if held is None or (held.start() - before) % 2 else held[0]


class Remembered:
    """A text, how much of it the original has read, and its reader once there is one."""

    __slots__ = ("calls", "counted", "first", "kind", "length", "parts", "reader", "shared",
                 "size", "spent", "text", "weighed")  # fmt: skip

    def __init__(self, text: Any, kind: Any, shared: bool) -> None:
        self.text = text
        self.first = self.length = len(text)
        self.calls = 0
        self.kind = kind
        self.shared = shared
        self.spent = 0
        self.reader: GrowingText | None = None
        # The length at which it is weighed, and then weighed again.
        self.weighed = WEIGHED
        # About how many bytes it keeps, when it was weighed last; those of containers and leaves,
        # and up to where they were counted.
        self.size = self.parts = self.counted = 0

    @property
    def is_complete(self) -> bool:
        """True if its value is complete."""
        return self.reader is not None and self.reader.tree.done


def parts_of(text: Any) -> int:
    """About how many bytes the containers and leaves take that are in this text."""
    raw = type(text) is bytes
    containers: int = text.count(b"{" if raw else "{") + text.count(b"[" if raw else "[")
    leaves: int = text.count(b"," if raw else ",")
    return CONTAINER_SIZE * containers + LEAF_SIZE * leaves


class Memory:
    """The texts of one thread or task, the one that was used last at the end."""

    __slots__ = ("_texts", "__weakref__")

    def __init__(self) -> None:
        self._texts: list[Remembered] = []

    def read(
        self, text: Any, kind: Any, at_once: bool = False, ratio: int = 0, shared: bool = False
    ) -> GrowingText | None:
        """A reader that has read this text; None if the original should read it.

        With `ratio` it should until the text is that many times as long as what a call adds: it
        reads all the text in less time than is taken here to read what is new. With `shared` it
        is a `SharedText`.
        """
        best, longest, length = None, -1, len(text)
        # The longest beginning: streams may begin alike, so that one's text begins another's, too.
        for remembered in self._texts:
            if longest < remembered.length <= length and remembered.kind is kind:
                known = remembered.text
                alike = type(known) is type(text) and remembered.shared is shared
                if alike and text.startswith(known):
                    best, longest = remembered, remembered.length
        if best is None:
            best = self._add(Remembered(text, kind, shared))
        elif best is not self._texts[-1]:
            self._texts.remove(best)
            self._texts.append(best)
        reader = best.reader
        if reader is None:
            return self._begin(best, text, at_once, ratio)
        if reader.error is None:
            try:
                piece = text[longest:] if type(text) is str else text[longest:].decode()
            except UnicodeDecodeError:
                return None
            reader.feed(piece)
        best.text, best.length = text, length
        if length >= best.weighed:
            self._weigh(best)
        return reader

    def _begin(
        self, remembered: Remembered, text: Any, at_once: bool, ratio: int
    ) -> GrowingText | None:
        """Read a text from its beginning, if the original has read it often enough."""
        remembered.text = text
        remembered.length = length = len(text)
        remembered.spent += length
        remembered.calls += 1
        grown = length - remembered.first
        often = at_once or (
            remembered.spent >= MOST_SPENT * length
            and length * remembered.calls >= ratio * grown
            and 2 * sys.getsizeof(text) + parts_of(text) < MOST_BYTES
        )
        piece = _decoded(text) if often else None
        if piece is not None:
            kind = SharedText if remembered.shared else GrowingText
            remembered.reader = kind(remembered.kind)
            remembered.reader.feed(piece)
        if piece is not None or length >= remembered.weighed:
            self._weigh(remembered)
        return remembered.reader

    def _add(self, remembered: Remembered) -> Remembered:
        """Remember another text, in place of what is complete or was used longest ago."""
        # What is complete grows no more, and each call looks at all that are here.
        texts = [one for one in self._texts if not one.is_complete]
        self._texts = [*texts[1 - MOST_TEXTS :], remembered]
        return remembered

    def _weigh(self, remembered: Remembered) -> None:
        """Forget what was used longest ago, until the rest is within the bounds."""
        remembered.weighed = remembered.length + WEIGHED
        text = remembered.text
        remembered.size = sys.getsizeof(text)
        if remembered.reader is not None:
            remembered.parts += parts_of(text[remembered.counted :])
            remembered.counted = len(text)
            remembered.size += remembered.size + remembered.parts
        texts = self._texts
        size = 0
        for at in range(len(texts) - 1, -1, -1):
            size += texts[at].size
            if size > MOST_BYTES:
                del texts[: at + 1]
                break


def _decoded(text: Any) -> str | None:
    """A text as a `str`; None if it ends inside a character, or is not UTF-8 at all."""
    try:
        return text if type(text) is str else text.decode()
    except UnicodeDecodeError:
        return None


class _Local(threading.local):
    def __init__(self) -> None:
        self.memory = Memory()
        self.of_tasks: WeakKeyDictionary[Any, Memory] = WeakKeyDictionary()


_local: Final = _Local()


def memory() -> Memory:
    """The memory of this thread, or of the task that runs in it."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return _local.memory
    # The error of `current_task` takes as long as reading a piece; not every Python need have this.
    running = getattr(asyncio, "_get_running_loop", None)
    if running is not None and running() is None:
        return _local.memory
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop
        task = None
    if task is None:
        return _local.memory
    remembered = _local.of_tasks.get(task)
    if remembered is None:
        remembered = _local.of_tasks[task] = Memory()
    return remembered
