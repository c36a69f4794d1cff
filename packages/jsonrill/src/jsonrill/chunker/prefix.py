"""Texts of snapshots that begin alike: only what follows the common beginning is read.

A source that shows a growing value writes nearly the same text again and again. A text is cut into
a head, which the next text repeats, and an end that closes what is open. Of three snapshots

    {"a": "x              "}
    {"a": "xy             "}
    {"a": "xy", "b": [1, 2    ]}

the parser reads the heads `{"a": "x`, then `y`, then `", "b": [1, `; and the number, which may
still grow, is put into the value for this snapshot alone. The value is that of the open containers,
copied, and of all else as it was before: so comparing it with the snapshot before is cheap, too.

Whatever is not plainly so is decoded from its beginning (`snapshot.py`), which also finds the
errors: a text is taken here only if decoding it gives the same tree.
"""

from __future__ import annotations

from typing import Any, Final

from ..build.builder import ValueBuilder
from ..errors import InvalidJSON, LimitExceeded
from ..parse.grammar import NUMBER
from ..parse.machine import Machine
from ..parse.states import END, FIRST_ELEMENT, FIRST_KEY, STRING, VALUE
from ..paths import ABSENT, Path
from .snapshot import Tree

_CLOSERS: Final = " \t\n\r}]"
# The characters of a number or literal, and how many it may have that a text ends with.
_SCALAR: Final = "-+.0123456789eEtrufalsn"
_LONGEST_SCALAR: Final = 64
# Here is nearly always all that closes a text, and what is before it.
_TAIL: Final = 200
_LITERALS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
# Shorter texts are decoded as fast.
_SHORT: Final = 200
# Half a pair of escapes may be in these last characters.
_ESCAPE: Final = 6
# After so many texts that begin differently it looks at every second text, then every fourth …
_PATIENCE: Final = 4
_LONGEST: Final = 256
# The head is long: what follows it is added to it when that has more characters than this.
_PART: Final = 256


class TreeBuilder(ValueBuilder):
    """Builds trees, in which a number is its source text."""

    __slots__ = ()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        ValueBuilder.scalar(self, value if text is None else text.encode(), None, offset)

    def takes_values(self) -> bool:
        return False

    def takes_open(self) -> bool:
        return False


class PrefixReader:
    """Reads one text after another; `read` returns ABSENT for those that must be decoded."""

    __slots__ = ("_builder", "_head", "_inner", "_machine", "_misses", "_more", "_pause", "_tail",
                 "_waits", "grew")  # fmt: skip

    def __init__(self) -> None:
        # True if the last text that was read had more text in the open string, and all else the
        # same as the text that was read before it.
        self.grew = False
        self._builder = TreeBuilder()
        # None: no two texts have begun alike yet.
        self._machine: Machine | None = None
        # What the next text must begin with, in two parts; the machine, if there is one, has read
        # it.
        self._head = ""
        self._more = ""
        # The end of the last text and the container that was open: its brackets are right.
        self._tail = ""
        self._inner: Any = None
        self._misses = 0
        self._pause = 1
        self._waits = 0

    def read(self, text: str) -> Tree:
        """The tree of this text, if it can be told from the text before; else ABSENT."""
        if len(text) < _SHORT:
            return ABSENT
        if self._waits:
            self._waits -= 1
            return ABSENT
        if not self._head:
            self._head = text[: _end_of_head(text)[0]]
            return ABSENT
        known = len(self._head)
        if not text.startswith(self._head) or not text.startswith(self._more, known):
            self._miss(text)
            return ABSENT
        known += len(self._more)
        cut, scalar = _end_of_head(text)
        if cut < known:
            return ABSENT
        new = text[known:cut] if self._machine is not None else text[:cut]
        # Half an escape waits for its other half; and halves of a pair need care.
        end = text[max(cut - _ESCAPE, 0) : cut]
        if end.endswith("\\") or "\\u" in end or not _is_complete(new):
            return ABSENT
        try:
            if self._machine is None:
                self._machine = Machine(self._builder)
                self._head = ""
            self.grew = self._builder.in_string and '"' not in new
            self._machine.feed(new)
        except (InvalidJSON, LimitExceeded):
            # Decoding tells if it is wrong, or only larger than a parser takes.
            self._miss("")
            return ABSENT
        self._misses, self._pause = 0, 1
        self._more += new
        if not self._head or len(self._more) > _PART:
            self._head, self._more = text[:cut], ""
        return self._value(text, cut, scalar)

    @property
    def in_string(self) -> bool:
        """True if the last value of the last text that was read is a string that may go on."""
        return self._builder.in_string

    @property
    def open_path(self) -> Path | None:
        """The path of the value that is open at the end of the last text that was read."""
        return self._builder.open_path

    @property
    def open_text(self) -> str:
        """The text of the string that is open there."""
        return self._builder._text

    def _value(self, text: str, cut: int, scalar: str) -> Tree:
        builder = self._builder
        spine = builder._spine
        state = self._machine._state if self._machine is not None else END
        if scalar:
            fits = state == VALUE or state == FIRST_ELEMENT
        elif text.startswith('"', cut):
            fits = state == STRING
        else:
            fits = state == FIRST_KEY or state == FIRST_ELEMENT
        if not fits:
            return ABSENT
        tail = text[cut + len(scalar) :]
        inner = spine[-1] if spine else None
        if tail != self._tail or inner is not self._inner:
            closed = ["}" if type(container) is dict else "]" for container in reversed(spine)]
            if "".join(tail.split()) != ('"' if state == STRING else "") + "".join(closed):
                return ABSENT
            self._tail, self._inner = tail, inner
        if not scalar:
            return builder.value
        if not spine:
            return ABSENT
        under = builder.show(_LITERALS[scalar] if scalar in _LITERALS else scalar.encode())
        value = builder.value
        builder.hide(under)
        builder.stale = True
        return value

    def _miss(self, text: str) -> None:
        """Begin anew with this text."""
        if self._machine is not None:
            self._machine = None
            self._builder = TreeBuilder()
            self._tail, self._inner = "", None
        self._head, self._more = text[: _end_of_head(text)[0]], ""
        self._misses += 1
        if self._misses > _PATIENCE:
            self._pause = min(2 * self._pause, _LONGEST)
            self._waits = self._pause - 1
            self._head = ""


def _end_of_head(text: str) -> tuple[int, str]:
    """Where the head ends, and the number or literal between it and what closes the text.

    0 if it cannot be told.
    """
    tail = text[-_TAIL:]
    core = tail.rstrip(_CLOSERS)
    if len(core) <= _LONGEST_SCALAR:
        tail, core = text, text.rstrip(_CLOSERS)
    start = len(text) - len(tail)
    last = core[-1:]
    if last == '"':
        return start + len(core) - 1, ""
    if last == "{" or last == "[":
        return start + len(core), ""
    scalar = core[len(core.rstrip(_SCALAR)) :]
    if len(scalar) <= _LONGEST_SCALAR and (scalar in _LITERALS or NUMBER.fullmatch(scalar)):
        return start + len(core) - len(scalar), scalar
    return 0, ""


def _is_complete(text: str) -> bool:
    """True if there is no half of a surrogate pair in the text, as a character."""
    if text.isascii():
        return True
    try:
        text.encode("utf-16")
    except UnicodeEncodeError:
        return False
    return True
