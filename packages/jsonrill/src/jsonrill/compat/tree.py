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

from collections import deque
from operator import methodcaller, setitem
from typing import Any, Final

from ..parse.sink import Sink

_copy: Final = methodcaller("copy")


class Tree(Sink):
    """Builds the value; the sink of a strict machine."""

    __slots__ = ("_containers", "_names", "_opened", "_parents", "_step", "_steps", "_string",
                 "_string_text", "done", "in_string", "inner", "odd", "replaced",
                 "root")  # fmt: skip

    def __init__(self) -> None:
        self.root: Any = None
        self.done = False
        # True if there was what json_repair has its own way with, unless the text is complete: an
        # empty object, an empty element of an array, a string that ends in a newline.
        self.odd = False
        # True if a container was opened for a key that had another value before.
        self.replaced = False
        self._containers: list[Any] = []
        self._parents: list[int] = []
        self._steps: list[str | int] = []
        # The open containers: where each is in the list, itself, and its step in the one around it.
        # The innermost, with what is complete of it, not to be changed by others; and its last key.
        self._opened: list[tuple[int, Any, str | int]] = []
        self.inner: Any = None
        self._step = ""
        # The keys of all objects, each kept once.
        self._names: dict[str, str] = {}
        # Whether a string (not a key) is being read: what was read before, and the new pieces.
        self.in_string = False
        self._string: list[str] = []
        self._string_text = ""

    def start_object(self, offset: int) -> None:
        self._open({})

    def start_array(self, offset: int) -> None:
        self._open([])

    def end_container(self, offset: int) -> None:
        ended = self.inner
        self._opened.pop()
        self.inner = self._opened[-1][1] if self._opened else None
        if not ended and (type(ended) is dict or type(self.inner) is list):
            self.odd = True

    def key(self, key: str, offset: int) -> None:
        self.odd = self.odd or key[-1:] == "\n"
        self._step = self._names.setdefault(key, key)

    def start_string(self, offset: int) -> None:
        self.in_string = True

    def text(self, run: str) -> None:
        self._string.append(run)

    def end_string(self) -> None:
        text = self.open_text()
        self.in_string, self._string_text = False, ""
        self.odd = self.odd or text[-1:] == "\n" or (not text and type(self.inner) is list)
        self._put(text)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if not value and type(self.inner) is list and holds_empty([value]):
            self.odd = True
        self._put(value)
        if type(value) is dict or type(value) is list:
            self._list_all(value, self._opened[-1][0] if self._opened else 0, self._last())

    def complete(self, offset: int) -> None:
        self.done = True

    def takes_values(self) -> bool:
        return True

    def takes_runs(self) -> bool:
        return True

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
    def open_kinds(self) -> list[type]:
        """The types of the open containers, from the root inward."""
        return [type(container) for _, container, _ in self._opened]

    def copied(self) -> list[Any]:
        """A copy of all containers; the first of them, if there is one, is the root."""
        copies = list(map(_copy, self._containers))
        around = map(copies.__getitem__, self._parents)
        deque(map(setitem, around, self._steps, copies[1:]), maxlen=0)
        return copies

    def shown(self, share: bool, *pending: Any) -> Any:
        """The value so far, with what is pending in the innermost open container.

        With `share` the containers that are complete are those of the values before.
        """
        opened = self._opened
        if not opened:
            if not self._containers:
                return pending[0] if pending and not self.done else self.root
            return self.root if share else self.copied()[0]
        if share:
            inner = root = self.inner.copy()
            for at in range(len(opened) - 1, 0, -1):
                around = opened[at - 1][1].copy()
                around[opened[at][2]] = root
                root = around
        else:
            every = self.copied()
            inner, root = every[opened[-1][0]], every[0]
        if pending:
            if type(inner) is dict:
                inner[self._step] = pending[0]
            else:
                inner.append(pending[0])
        return root

    def cut(self, level: int) -> Any:
        """The value without the open container at this level, from 1, and all inside it."""
        copies = self.copied()
        around, (_, _, step) = self._opened[level - 1], self._opened[level]
        del copies[around[0]][step]
        return copies[0]

    def _open(self, container: Any) -> None:
        if type(self.inner) is dict and self._step in self.inner:
            self.replaced = True
        self._put(container)
        step = self._last()
        if self._opened:
            self._parents.append(self._opened[-1][0])
            self._steps.append(step)
        self._opened.append((len(self._containers), container, step))
        self._containers.append(container)
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
        self._containers, self._parents, self._steps = [], [], []
        self._list_all(root, 0, "")
        places = {id(container): at for at, container in enumerate(self._containers)}
        self._opened = [(places[id(one)], one, step) for _, one, step in self._opened]


def holds_empty(container: Any) -> bool:
    """True for an empty object, and for an array with an empty text or container."""
    if type(container) is dict:
        return not container
    return "" in container or [] in container or {} in container
