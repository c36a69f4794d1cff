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

from ..errors import FAR, InvalidJSON, LimitExceeded, Limits
from ..parse.grammar import CUT_ESCAPE, NUMBER
from ..parse.machine import Machine
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
# As deep as jiter and pydantic_core go; at one level more they take what is empty.
LIMITS: Final = Limits(depth=200, text=FAR, string=FAR, number=4300, keys=FAR)


class GrowingText:
    """Reads a growing text once, and has the value so far. `error` is set when it cannot go on."""

    __slots__ = ("_machine", "_parse_float", "_recent", "error", "tree")

    def __init__(self, parse_float: Callable[[str], Any]) -> None:
        self.tree = Tree()
        self._parse_float = parse_float
        self._machine = Machine(self.tree, parse_float=parse_float, limits=LIMITS)
        self._recent = ""
        self.error: InvalidJSON | LimitExceeded | None = None

    def feed(self, piece: str) -> None:
        tree = self.tree
        if tree.escaped or "\\" in piece:
            text = self._recent + piece
            tree.odd = tree.odd or ODD_ESCAPE.search(text) is not None
            if tree.escaped or "\\u" in piece or "\\\\" in piece or piece[-1:] == "\\":
                # An escape, or a pair of them, may be cut at the end of a piece.
                tree.escaped = True
                self._recent = text[-LONGEST_ESCAPE:]
        if not piece.isascii():
            tree.check_text(piece)
        try:
            self._machine.feed(piece)
        except (InvalidJSON, LimitExceeded) as error:
            self.error = error.with_traceback(None)
        if tree.escaped:
            key = self._machine.pending_key
            if key is not None:
                tree.check_text(key[0])
            if "\\" not in self._recent:
                tree.escaped = False
                self._recent = ""

    def end(self, share: bool) -> Any:
        """The value of a text that is complete, else `Truncated`."""
        self._machine.flush()
        return self.tree.value(share)

    @property
    def half(self) -> str | None:
        """The text of the number or literal that is being read, else None."""
        return self._machine.pending_text

    @property
    def in_key(self) -> bool:
        """True if a key is being read."""
        return self._machine.pending_key is not None

    def number(self, text: str | None) -> tuple[Any, ...]:
        """The number that this text is, in a tuple; an empty one if it is not a number."""
        match = NUMBER.fullmatch(text) if text else None
        if text is None or match is None:
            return ()
        return (int(text) if match.lastindex is None else self._parse_float(text),)


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

    __slots__ = ("calls", "first", "kind", "length", "reader", "size", "spent", "text", "weighed")

    def __init__(self, text: Any, kind: Any) -> None:
        self.text = text
        self.first = self.length = len(text)
        self.calls = 0
        self.kind = kind
        self.spent = 0
        self.reader: GrowingText | None = None
        # The length at which it is weighed, and then weighed again.
        self.weighed = WEIGHED
        # About how many bytes it keeps, when it was weighed last.
        self.size = 0


def size_of(text: Any) -> int:
    """About how many bytes a text and its value take."""
    raw = type(text) is bytes
    containers: int = text.count(b"{" if raw else "{") + text.count(b"[" if raw else "[")
    leaves: int = text.count(b"," if raw else ",")
    return 2 * sys.getsizeof(text) + CONTAINER_SIZE * containers + LEAF_SIZE * leaves


class Memory:
    """The texts of one thread or task, the one that was used last at the end."""

    __slots__ = ("_texts", "__weakref__")

    def __init__(self) -> None:
        self._texts: list[Remembered] = []

    def read(
        self, text: Any, kind: Any, at_once: bool = False, ratio: int = 0
    ) -> GrowingText | None:
        """A reader that has read this text; None if the original should read it.

        With `ratio` it should until the text is that many times as long as what a call adds: it
        reads all the text in less time than is taken here to read what is new.
        """
        remembered = self._recall(text, kind)
        reader = remembered.reader
        if reader is None:
            return self._begin(remembered, text, at_once, ratio)
        if reader.error is None:
            piece = _decoded(text[remembered.length :])
            if piece is None:
                return None
            if piece:
                reader.feed(piece)
        remembered.text = text
        remembered.length = length = len(text)
        if length >= remembered.weighed:
            self._weigh(remembered)
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
            and size_of(text) < MOST_BYTES
        )
        piece = _decoded(text) if often else None
        if piece is not None:
            remembered.reader = GrowingText(remembered.kind)
            remembered.reader.feed(piece)
        if piece is not None or length >= remembered.weighed:
            self._weigh(remembered)
        return remembered.reader

    def _recall(self, text: Any, kind: Any) -> Remembered:
        """The longest beginning of this text that is remembered, moved to the end of the list.

        Streams may begin alike, so that the text of one is the beginning of another.
        """
        texts = self._texts
        best, longest, length = -1, -1, len(text)
        for at, remembered in enumerate(texts):
            if longest < remembered.length <= length and remembered.kind is kind:
                known = remembered.text
                if type(known) is type(text) and text.startswith(known):
                    best, longest = at, remembered.length
        if best < 0:
            texts.append(Remembered(text, kind))
            del texts[:-MOST_TEXTS]
        elif best + 1 < len(texts):
            texts.append(texts.pop(best))
        return texts[-1]

    def _weigh(self, remembered: Remembered) -> None:
        """Forget what was used longest ago, until the rest is within the bounds."""
        remembered.weighed = remembered.length + WEIGHED
        text, reader = remembered.text, remembered.reader
        remembered.size = sys.getsizeof(text) if reader is None else size_of(text)
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
