"""The value of a text that grows, kept so that a complete copy of it is cheap.

Whatever a caller does to a value that was returned, the next one must not show it: so each value is
a copy down to the leaves, which cannot be changed. Walking the value to copy it would take as long
as parsing it. Instead the containers are kept in one flat list, each with its place in the one
around it, and copied without running Python code for any of them:

    {"a": [1, 2], "b": {"c": 3}}    containers  {"a": …, "b": …}, [1, 2], {"c": 3}
                                    parents     0, 0
                                    steps       "a", "b"

What is still being read (half a string, half a number) is not in it: each original shows that in
its own way.
"""

from __future__ import annotations

import re
from collections import deque
from operator import methodcaller, setitem
from typing import Any, Final

from ..parse.sink import Sink

_copy: Final = methodcaller("copy")
_LONE: Final = re.compile("[\ud800-\udfff]")


class Tree(Sink):
    """Builds the value; the sink of a strict machine."""

    __slots__ = ("_containers", "_names", "_opened", "_parents", "_step", "_steps", "_string",
                 "_string_text", "done", "escaped", "inner", "lone",
                 "odd", "replaced", "root")  # fmt: skip

    def __init__(self) -> None:
        self.root: Any = None
        self.done = False
        # True while pieces with \\u escapes are read; whether half a pair was among them.
        self.escaped = False
        self.lone = False
        # True if there was what json_repair has its own way with, unless the text is complete: an
        # empty object, an empty element of an array, a string that ends in a newline, some escapes.
        self.odd = False
        # True if a container was opened for a key that had another value before.
        self.replaced = False
        self._containers: list[Any] = []
        self._parents: list[int] = []
        self._steps: list[str | int] = []
        # The open containers: where each is in the list. The innermost, with what is complete of
        # it, not to be changed by others; and its last key.
        self._opened: list[int] = []
        self.inner: Any = None
        self._step = ""
        # The keys of all objects, each kept once.
        self._names: dict[str, str] = {}
        # The open string: what was read before, and the new pieces.
        self._string: list[str] | None = None
        self._string_text = ""

    def start_object(self, offset: int) -> None:
        self._open({})

    def start_array(self, offset: int) -> None:
        self._open([])

    def end_container(self, offset: int) -> None:
        ended = self.inner
        self._opened.pop()
        self.inner = self._containers[self._opened[-1]] if self._opened else None
        if not ended and (type(ended) is dict or type(self.inner) is list):
            self.odd = True

    def key(self, key: str, offset: int) -> None:
        if self.escaped:
            self.check_text(key)
        self.odd = self.odd or key[-1:] == "\n"
        self._step = self._names.setdefault(key, key)

    def start_string(self, offset: int) -> None:
        self._string = []

    def text(self, run: str) -> None:
        if self.escaped:
            self.check_text(run)
        self._string.append(run)  # type: ignore[union-attr]  # a string is open

    def end_string(self) -> None:
        text = self.open_text
        self._string, self._string_text = None, ""
        self.odd = self.odd or text[-1:] == "\n" or (not text and type(self.inner) is list)
        self._put(text)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if type(self.inner) is list and holds_empty([value]):
            self.odd = True
        self._put(value)
        if type(value) is dict or type(value) is list:
            self._list_all(value, self._opened[-1] if self._opened else 0, self._last())

    def complete(self, offset: int) -> None:
        self.done = True

    def takes_values(self) -> bool:
        # What is read at once is not looked at.
        return not self.escaped

    @property
    def in_string(self) -> bool:
        """True if a string (not a key) is being read."""
        return self._string is not None

    @property
    def open_text(self) -> str:
        """The text so far of the string that is being read."""
        if self._string:
            # With no other owner it is extended in place.
            text, self._string_text = self._string_text, ""
            text += "".join(self._string)
            self._string_text = text
            self._string.clear()
        return self._string_text

    @property
    def depth(self) -> int:
        """The number of open containers."""
        return len(self._opened)

    @property
    def open_kinds(self) -> list[type]:
        """The types of the open containers, from the root inward."""
        return [type(self._containers[at]) for at in self._opened]

    def copied(self) -> list[Any]:
        """A copy of all containers; the first of them, if there is one, is the root."""
        copies = list(map(_copy, self._containers))
        around = map(copies.__getitem__, self._parents)
        deque(map(setitem, around, self._steps, copies[1:]), maxlen=0)
        return copies

    def value(self, share: bool, *pending: Any) -> Any:
        """The value so far, with what is pending in the innermost open container.

        With `share` the containers that are complete are those of the values before.
        """
        if not self._containers:
            return pending[0] if pending and not self.done else self.root
        if not self._opened:
            return self.root if share else self.copied()[0]
        if share:
            copies = {at: self._containers[at].copy() for at in self._opened}
            for at in self._opened[1:]:
                copies[self._parents[at - 1]][self._steps[at - 1]] = copies[at]
            inner, root = copies[self._opened[-1]], copies[0]
        else:
            every = self.copied()
            inner, root = every[self._opened[-1]], every[0]
        for value in pending:
            if type(inner) is dict:
                inner[self._step] = value
            else:
                inner.append(value)
        return root

    def cut(self, level: int) -> Any:
        """The value without the open container at this level, from 1, and all inside it."""
        copies = self.copied()
        at = self._opened[level]
        del copies[self._parents[at - 1]][self._steps[at - 1]]
        return copies[0]

    def check_text(self, text: str) -> None:
        """Note whether there is half of a surrogate pair in this text."""
        if not text.isprintable() and _LONE.search(text):
            self.lone = True

    def _open(self, container: Any) -> None:
        if type(self.inner) is dict and self._step in self.inner:
            self.replaced = True
        self._put(container)
        at = len(self._containers)
        if self._opened:
            self._parents.append(self._opened[-1])
            self._steps.append(self._last())
        self._containers.append(container)
        self._opened.append(at)
        self.inner = container

    def _last(self) -> str | int:
        return self._step if type(self.inner) is dict else len(self.inner or "-") - 1

    def _put(self, value: Any) -> None:
        inner = self.inner
        if type(inner) is dict:
            replaced = inner.get(self._step)
            inner[self._step] = value
            if type(replaced) is dict or type(replaced) is list:
                self._list_again()
        elif inner is not None:
            inner.append(value)
        else:
            self.root = value

    def _list_all(self, container: Any, parent: int, step: str | int) -> None:
        """List a complete container and all inside it."""
        todo = [(container, parent, step)]
        while todo:
            container, parent, step = todo.pop()
            at = len(self._containers)
            if at:
                self._parents.append(parent)
                self._steps.append(step)
            self._containers.append(container)
            self.odd = self.odd or holds_empty(container)
            members = container.items() if type(container) is dict else enumerate(container)
            todo += [
                (inner, at, name)
                for name, inner in members
                if type(inner) is dict or type(inner) is list
            ]

    def _list_again(self) -> None:
        """A key came again, and the container that it had is not part of the value any more."""
        root = self._containers[0]
        opened = [self._containers[at] for at in self._opened]
        self._containers, self._parents, self._steps = [], [], []
        self._list_all(root, 0, "")
        places = {id(container): at for at, container in enumerate(self._containers)}
        self._opened = [places[id(container)] for container in opened]


def holds_empty(container: Any) -> bool:
    """True for an empty object, and for an array with an empty text or container."""
    if type(container) is dict:
        return not container
    return "" in container or [] in container or {} in container
