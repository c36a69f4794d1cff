"""Where a JSON text stands: what is open, and the last place at which another text may go on.

Such a place is *clean*: inside the text of a string, or right behind a value or an opening bracket.
Half a number, half an escape or a key is not: what was cut there is not shown before it is known
how it goes on. For example, of `{"a": "Par` all is clean, of `{"a": 1, "b": 2` only `{"a": 1`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ..errors import InvalidJSON, LimitExceeded
from ..jsontext import dumps
from ..parse.grammar import NUMBER
from ..parse.machine import Machine
from ..parse.sink import Sink

# Read up to each quote: the machine does not tell where a string ends.
_TO_QUOTE: Final = re.compile(r'[^"]*"|[^"]+')


class Outline(Sink):
    """Follows a strict JSON text, in any pieces.

    `clean` is the last clean place in it. `dead`: no continuation can make this JSON. With `unique`
    a key that comes twice is not taken, either. `tokens` counts quotes, brackets and scalars.
    """

    __slots__ = ("_end", "_keys", "_machine", "_size", "clean", "dead", "in_string", "pending_key",
                 "tokens", "unique")  # fmt: skip

    def __init__(self) -> None:
        self.clean = self.tokens = self._size = 0
        self.dead = self.unique = self.in_string = False
        # The key behind the last clean place, whose value has not come.
        self.pending_key: str | None = None
        # The end of the value, -1 before it is complete; the keys of the open containers.
        self._end = -1
        self._keys: list[set[str]] = []
        self._machine = Machine(self)

    @property
    def done(self) -> bool:
        """True if the value is complete."""
        is_number = NUMBER.fullmatch(self.word) is not None
        return self._end >= 0 or (is_number and not self._keys)

    @property
    def word(self) -> str:
        """The number or literal that has not ended; "" if there is none."""
        return self._machine.pending_text or ""

    @property
    def in_text(self) -> bool:
        """True inside of a string or a key, where nearly any character may follow."""
        return self.in_string or self._machine.pending_key is not None

    def feed(self, text: str) -> int:
        """Read on, up to the end of the value; returns how much was read."""
        before = self._size
        if self.dead or self._end >= 0:
            return 0
        try:
            for part in _TO_QUOTE.findall(text):
                was_string = self.in_string
                self._machine.feed(part)
                if self.in_string or was_string:
                    self.clean = self._machine.pending_offset
        except (InvalidJSON, LimitExceeded):
            if self._end < 0:
                self.dead = True
        self._size += len(text)
        return len(text) if self._end < 0 else self._end - before

    # ---- events ----

    def start_object(self, offset: int) -> None:
        self._begin(offset + 1)
        self._keys.append(set())

    start_array = start_object

    def end_container(self, offset: int) -> None:
        self._keys.pop()
        self._begin(offset + 1)

    def key(self, key: str, offset: int) -> None:
        keys = self._keys[-1]
        self.dead = self.dead or (self.unique and key in keys)
        keys.add(key)
        self.pending_key = key
        self.tokens += 2

    def start_string(self, offset: int) -> None:
        self._begin(offset + 1)
        self.in_string = True

    def end_string(self) -> None:
        self.in_string = False
        self.tokens += 1

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        self._begin(offset + len(text or dumps(value)))

    def complete(self, offset: int) -> None:
        self._end = self.clean = offset

    def _begin(self, clean: int) -> None:
        """A value is there to see, or its end."""
        self.clean = clean
        self.pending_key = None
        self.tokens += 1
