"""How the arguments of one call grow: argument text in, fragments and a value out.

`JsonArguments` has a parser of its own, for `FreeText` the text is the value, `Received` applies
fragments from the wire and has the text as a fallback; when all is over `Frozen` keeps what is
left of either. None raises on data: what is wrong is in `error`. Which call it is, and when it has
ended, is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Literal, Protocol

from ..document import Document
from ..errors import FragmentError, InvalidJSON, LimitExceeded, StreamClosed, Truncated
from ..fragments import Fragment, WireReader
from ..grammar import LITERALS
from ..machine import Limits, Machine
from ..parser import FragmentSink
from ..paths import Path
from ..rebuilder import Rebuilder, Tree

Outcome = Literal["complete", "empty", "truncated"]
Problem = dict[str, Any]

_NO_LIMITS: Final = Limits()
# RFC 8259 section 2: exactly these four.
_SPACES: Final = " \t\n\r"


class Growing:
    """Text that grows by pieces and is joined only when somebody looks."""

    __slots__ = ("_parts", "_text", "length")

    def __init__(self) -> None:
        self._text = ""
        self._parts: list[str] = []
        self.length = 0

    def add(self, piece: str) -> None:
        self._parts.append(piece)
        self.length += len(piece)

    @property
    def text(self) -> str:
        if self._parts:
            # With no other owner the old text is extended in place: looking after each of many
            # pieces stays linear.
            text, self._text = self._text, ""
            text += "".join(self._parts)
            self._text = text
            self._parts.clear()
        return self._text


class Arguments(Protocol):
    """What a call asks of its arguments, of whatever kind."""

    @property
    def error(self) -> Problem | None: ...
    @property
    def raw(self) -> str: ...
    @property
    def value(self) -> Any: ...  # as far as known, safe to keep
    @property
    def live(self) -> Any: ...
    @property
    def whole(self) -> bool: ...  # a whole JSON value
    @property
    def begun(self) -> tuple[Path, str, int] | None: ...  # a number or literal being read
    def feed(self, text: str) -> list[Fragment] | None: ...  # None: only a repetition
    def end(
        self,
    ) -> tuple[Outcome, list[Fragment]]: ...  # the text has ended: what was it?


def problem(code: str, message: str, offset: int | None = None) -> Problem:
    """An error as calls carry it, ready for JSON."""
    found: Problem = {"code": code, "message": message}
    if offset is not None:
        found["offset"] = offset
    return found


class Frozen:
    """What is left of arguments that have ended, and what there is before they begin."""

    __slots__ = ("live", "raw", "value")

    error = begun = None
    whole = False

    def __init__(self, raw: str = "", value: Any = None) -> None:
        self.raw = raw
        self.value = self.live = value

    def feed(self, text: str) -> list[Fragment] | None:
        return None

    def end(self) -> tuple[Outcome, list[Fragment]]:
        return "empty", []


class _LiveSink(FragmentSink):
    """Fragments, and the value they tell of, from one reading."""

    __slots__ = ("tree",)

    def __init__(self) -> None:
        super().__init__()
        self.tree = Tree()

    def start_object(self, offset: int) -> None:
        super().start_object(offset)
        self.tree.start_object(offset)

    def start_array(self, offset: int) -> None:
        super().start_array(offset)
        self.tree.start_array(offset)

    def end_container(self, offset: int) -> None:
        super().end_container(offset)
        self.tree.end_container(offset)

    def key(self, key: str, offset: int) -> None:
        super().key(key, offset)
        self.tree.key(key, offset)

    def start_string(self, offset: int) -> None:
        super().start_string(offset)
        self.tree.start_string(offset)

    def text(self, run: str) -> None:
        # Called most of all, and this way of calling is the cheaper one.
        FragmentSink.text(self, run)
        self.tree.text(run)

    def end_string(self) -> None:
        super().end_string()
        self.tree.end_string()

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        super().scalar(value, text, offset)
        self.tree.scalar(value, text, offset)

    def complete(self, offset: int) -> None:
        super().complete(offset)
        self.tree.complete(offset)


class JsonArguments:
    """Argument text that should be JSON."""

    __slots__ = ("_broken", "_limits", "_machine", "_raw", "_sink", "error")

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or _NO_LIMITS
        self._sink = _LiveSink()
        self._machine = Machine(self._sink, limits=self._limits)
        self._raw = Growing()
        self._broken: tuple[Path, str, int] | None = None
        self.error: Problem | None = None

    @property
    def raw(self) -> str:
        return self._raw.text

    @property
    def value(self) -> Any:
        return self._sink.tree.value

    @property
    def live(self) -> Any:
        return self._sink.tree.live

    @property
    def whole(self) -> bool:
        return self._sink.tree.done and self.error is None

    @property
    def begun(self) -> tuple[Path, str, int] | None:
        """The number or literal that is being read, or that an error broke off, and its offset."""
        pending = self._machine.pending
        if pending is None:
            return self._broken
        return *pending, self._machine.pending_offset

    def feed(self, text: str) -> list[Fragment] | None:
        if self.error is not None:
            # Not JSON, but kept; only a flood is not.
            if self._raw.length < self._limits.text:
                self._raw.add(text)
            return []
        if self.whole and text.strip(_SPACES) and self._repeats(text):
            return None
        self._raw.add(text)
        try:
            self._machine.feed(text)
        except InvalidJSON as error:
            self.error = problem("INVALID_JSON", str(error), error.offset)
            self._broken = _broken_literal(error, self._raw.text)
        except LimitExceeded as error:
            self.error = problem("LIMIT_EXCEEDED", str(error), error.offset)
        self._sink.tree.stale = True
        return self._sink.take()

    def _repeats(self, text: str) -> bool:
        return len(text) == self._raw.length and text == self._raw.text

    def end(self) -> tuple[Outcome, list[Fragment]]:
        if not self._raw.text.strip(_SPACES):
            return "empty", []
        try:
            self._machine.flush()
        except (Truncated, LimitExceeded):
            return "truncated", self._sink.take()
        return "complete", self._sink.take()


def _broken_literal(error: InvalidJSON, text: str) -> tuple[Path, str, int] | None:
    """The good beginning of a literal that went wrong: fed alone, it would have been pending."""
    before = text[: error.offset]
    for word, _ in LITERALS.values():
        if error.expected == repr(word):
            begun = next(n for n in range(len(word), 0, -1) if before.endswith(word[:n]))
            return error.path, word[:begun], error.offset - begun
    return None


class FreeText:
    """Argument text that is not JSON: the value is the text itself."""

    __slots__ = ("_limits", "_raw", "error")

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or _NO_LIMITS
        self._raw = Growing()
        self.error: Problem | None = None

    @property
    def raw(self) -> str:
        return self._raw.text

    value = live = raw
    # Only its end tells that it is whole.
    whole = False
    begun = None

    def feed(self, text: str) -> list[Fragment] | None:
        """The text as fragments of a string that is the whole document."""
        if self._raw.length + len(text) > self._limits.text:
            bound = self._limits.text
            self.error = problem("LIMIT_EXCEEDED", f"more than {bound} (text)", bound)
            return []
        start = [] if self._raw.length else [Fragment("StartString")]
        self._raw.add(text)
        return [*start, Fragment("PartialString", (), text)]

    def end(self) -> tuple[Outcome, list[Fragment]]:
        return "complete", []


class Received:
    """Arguments that another jsonrill has parsed: its fragments are applied, its text is kept.

    Text that came without fragments, or with fragments that do not fit, takes their place: from
    then on the value is what the whole text says, once it is whole. The browser does the same.
    """

    __slots__ = ("_fallback", "_raw", "_reader", "_rebuilder", "error", "free")

    begun = None

    def __init__(self, *, free: bool = False) -> None:
        self._raw = Growing()
        self._reader = WireReader()
        self._rebuilder = Rebuilder()
        self._fallback: Document | None = None
        self.error: Problem | None = None
        self.free = free

    @property
    def raw(self) -> str:
        return self._raw.text

    @property
    def value(self) -> Any:
        return self._raw.text if self.free else self._known().value

    @property
    def live(self) -> Any:
        return self._raw.text if self.free else self._known().live

    @property
    def whole(self) -> bool:
        return not self.free and self._known().complete

    def receive(self, text: str | None, fragments: list[Any] | None) -> list[Fragment] | None:
        """Take what one event brings; the fragments that could be used, None if none were sent."""
        if text:
            self._raw.add(text)
        if fragments is not None and self._fallback is None:
            used, fit = self._apply(fragments)
            if fit or self.free:
                return used
        elif not text or self.free:
            return None
        self._fall_back(text or "")
        return None

    def feed(self, text: str) -> list[Fragment] | None:
        self.receive(text, None)
        return []

    def end(self) -> tuple[Outcome, list[Fragment]]:
        if self.free or self.whole:
            return "complete", []
        if not self._raw.text.strip(_SPACES):
            return "empty", []
        fallback = self._fall_back("")
        self._try(fallback.flush)
        return "complete" if self._known().complete else "truncated", []

    def _known(self) -> Rebuilder | Document:
        if self._fallback is not None and self._fallback.complete:
            return self._fallback
        return self._rebuilder

    def _apply(self, fragments: list[Any]) -> tuple[list[Fragment], bool]:
        used: list[Fragment] = []
        try:
            for item in fragments:
                if (fragment := self._reader.read(item)) is not None:
                    self._rebuilder.feed((fragment,))
                    used.append(fragment)
        except FragmentError:
            return used, False
        return used, True

    def _fall_back(self, text: str) -> Document:
        if self._fallback is None:
            self._fallback, text = Document(), self._raw.text
        fallback = self._fallback
        self._try(lambda: fallback.feed(text))
        return fallback

    def _try(self, step: Callable[[], object]) -> None:
        """The sender judges; text that is not JSON only never gives a value here."""
        with suppress(InvalidJSON, LimitExceeded, StreamClosed):
            step()
