"""The arguments of one call: text in, fragments and a growing value out.

`JsonArguments` parses text, for `FreeText` the text is the value, `Received` applies fragments
from the wire and falls back to the text. After the end plain `Arguments` keep the result. None of
them raises on data: what is wrong is in `error`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal

from ..build.builder import ValueBuilder
from ..errors import (
    DEFAULT_LIMITS,
    FragmentError,
    InvalidJSON,
    LimitExceeded,
    Limits,
    Problem,
    StreamClosed,
)
from ..options import OnRepair
from ..parse.create import create_machine
from ..parse.position import Position
from ..parse.sink import Repair, TextBuffer
from ..paths import Path
from ..wire.foreign import is_juf
from ..wire.fragment import Fragment
from ..wire.parser import Parser, emit
from ..wire.reader import WireReader

if TYPE_CHECKING:
    from ..schema import Check

Outcome = Literal["complete", "empty", "truncated"]

# RFC 8259 section 2: exactly these four.
_SPACES: Final = " \t\n\r"
_SPACED: Final = frozenset("{" + _SPACES)
# Characters that are parsed in one call.
_PART: Final = 1 << 16


def is_blank(text: str) -> bool:
    """True if the text is nothing but the white space of JSON."""
    return not text.strip(_SPACES)


def is_empty_object(text: str) -> bool:
    """True if the text is an object without fields, written in one piece."""
    if text[:1] not in _SPACED:
        return False
    text = text.strip(_SPACES)
    return text[:1] == "{" and text[-1:] == "}" and is_blank(text[1:-1])


class Arguments:
    """The base of all kinds. By itself: arguments before their first text, or after their end."""

    __slots__ = ("_known", "_limits", "_open", "_raw", "_repairs", "error", "is_placeholder")

    def __init__(
        self,
        raw: str = "",
        value: Any = None,
        repairs: Sequence[Repair] = (),
        limits: Limits = DEFAULT_LIMITS,
        open_path: Path | None = None,
    ) -> None:
        self._open = open_path
        self._raw = TextBuffer()
        self._raw.add(raw)
        self._known = value
        self._repairs = repairs
        self._limits = limits
        self.error: Problem | None = None
        # True for a `{}` that came alone: the arguments that some providers send after it replace
        # it, so that it makes no fragments before its end.
        self.is_placeholder = False

    @property
    def raw(self) -> str:
        return self._raw.text()

    @property
    def value(self) -> Any:
        """The value as far as it is known, safe to keep."""
        return self._known

    @property
    def live(self) -> Any:
        return self.value

    @property
    def open_path(self) -> Path | None:
        """The path of the value that still grows, or was cut off."""
        return self._open

    @property
    def repairs(self) -> Sequence[Repair]:
        return self._repairs

    @property
    def complete(self) -> bool:
        """True if the arguments are a complete JSON value."""
        return False

    def check(self, check: Check) -> None:
        """Let a schema check what has arrived."""
        check.look(self.live, self.open_path)

    def feed(self, text: str) -> list[Fragment] | None:
        """The fragments that this text makes certain; None if the text is not taken."""
        return None

    def end(self) -> tuple[Outcome, list[Fragment]]:
        """End the text: what it turned out to be, and the last fragments."""
        return "empty", []

    def _replaces(self, text: str) -> bool:
        """False if this text only repeats the placeholder; else drop that, for the text to come."""
        if is_blank(text) or is_empty_object(text):
            return False
        self._raw = TextBuffer()
        self.is_placeholder = False
        return True


class JsonArguments(Arguments):
    """Argument text that should be JSON: it is parsed once, into fragments and a value."""

    __slots__ = ("_is_new", "_parser", "_repairing", "_tree")

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        repair: Iterable[str] = (),
        on_repair: OnRepair = None,
    ) -> None:
        super().__init__(limits=limits)
        self._parser = Parser(limits=limits, repair=repair, on_repair=on_repair)
        self._tree = ValueBuilder()
        self._repairing = bool(repair)
        # True until there is text that is no placeholder.
        self._is_new = True

    @property
    def value(self) -> Any:
        return {} if self.is_placeholder else self._tree.value

    @property
    def live(self) -> Any:
        return {} if self.is_placeholder else self._tree.live

    @property
    def open_path(self) -> Path | None:
        return None if self.is_placeholder else self._tree.open_path

    @property
    def complete(self) -> bool:
        return self.is_placeholder or (self._tree.done and self.error is None)

    def check(self, check: Check) -> None:
        check.look(self.live, self.open_path)
        if not self._repairing:
            check.begin_at(self._parser._machine)

    @property
    def repairs(self) -> Sequence[Repair]:
        return self._parser.repairs

    def feed(self, text: str) -> list[Fragment] | None:
        if self.error is not None:
            # Text that is not JSON is kept, too, but not without bound.
            if len(self.raw) > self._limits.text:
                return None
            self._raw.add(text)
            return []
        if self._is_new:
            if self.is_placeholder:
                if not self._replaces(text):
                    return None
            elif is_empty_object(text):
                self._raw.add(text)
                self.is_placeholder = True
                return []
            self._is_new = False
        elif self._tree.done:
            if text == self.raw or is_empty_object(text):
                return None  # a repetition
        self._raw.add(text)
        if len(text) <= _PART:
            return self._parse(text)
        fragments: list[Fragment] = []
        # In parts, so that other threads can run in between: compiled code does not let them.
        for at in range(0, len(text), _PART):
            if self.error is None:
                fragments += self._parse(text[at : at + _PART])
        return fragments

    def _parse(self, text: str) -> list[Fragment]:
        try:
            fragments = self._parser.feed(text)
        except (InvalidJSON, LimitExceeded) as error:
            self.error = error.to_dict()
            fragments = error.fragments
        emit(fragments, self._tree)
        return fragments

    def end(self) -> tuple[Outcome, list[Fragment]]:
        if is_blank(self.raw):
            return "empty", []
        start = self._parser.feed(self.raw) if self.is_placeholder else []
        self.is_placeholder = False
        try:
            fragments = start + self._parser.flush()
        except (InvalidJSON, LimitExceeded) as error:
            return "truncated", error.fragments
        emit(fragments, self._tree)
        return "complete", fragments


class FreeText(Arguments):
    """Argument text that is not JSON: the value is the text itself, complete when it has ended."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        return self.raw

    @property
    def open_path(self) -> Path | None:
        return ()

    def feed(self, text: str) -> list[Fragment] | None:
        """The text as fragments of one string."""
        if len(self.raw) + len(text) > self._limits.text:
            bound = self._limits.text
            over = LimitExceeded(f"more than {bound} (text)", limit="text", offset=bound, path=())
            self.error = over.locate(self.raw + text).to_dict()
            return None
        start = [] if self.raw else [Fragment("StartString")]
        self._raw.add(text)
        return [*start, Fragment("PartialString", (), text)]

    def end(self) -> tuple[Outcome, list[Fragment]]:
        return "complete", []


class Received(Arguments):
    """Arguments that another jsonrill has parsed: its fragments are applied, its text is kept.

    Text that came without fragments, or with fragments that do not fit, takes their place: from
    then on the value is that of the text, once it is complete. The browser does the same.
    """

    __slots__ = ("_juf", "_machine", "_parsed", "_reader", "_tree", "free")

    def __init__(self, limits: Limits = DEFAULT_LIMITS, *, free: bool = False) -> None:
        super().__init__(limits=limits)
        # Made for the dialect of the first fragments.
        self._reader: WireReader | None = None
        self._juf = False
        self._tree = ValueBuilder()
        # Reads the text in place of the fragments.
        self._machine: Position | None = None
        self._parsed = ValueBuilder()
        self.free = free

    @property
    def _shown(self) -> ValueBuilder:
        return self._parsed if self._parsed.done else self._tree

    @property
    def value(self) -> Any:
        return self.raw if self.free else {} if self.is_placeholder else self._shown.value

    @property
    def live(self) -> Any:
        return self.raw if self.free else {} if self.is_placeholder else self._shown.live

    @property
    def open_path(self) -> Path | None:
        return () if self.free else None if self.is_placeholder else self._shown.open_path

    @property
    def complete(self) -> bool:
        return not self.free and (self.is_placeholder or self._shown.done)

    def receive(
        self, text: str | None, fragments: list[Any] | None
    ) -> tuple[str | None, list[Fragment] | None]:
        """Add the text and fragments of one event; returns the text and the fragments that fit."""
        if len(self.raw) > self._limits.text:
            return None, None
        if self.is_placeholder:
            if text and not self._replaces(text):
                return None, None
        elif fragments == [] and text and not self.raw and is_empty_object(text):
            self.is_placeholder = not self.free
        if text:
            self._raw.add(text)
        if self.is_placeholder:
            if fragments:  # they say that it was the value
                self.is_placeholder = False
                return None, self._apply(fragments)[0]
            return text, fragments
        if fragments is not None and self._machine is None:
            used, fit = self._apply(fragments)
            if fit or self.free:
                return text, used
        elif not text or self.free:
            return text, None
        self._fall_back(text or "")
        return text, None

    def feed(self, text: str) -> list[Fragment] | None:
        self.receive(text, None)
        return []

    def end(self) -> tuple[Outcome, list[Fragment]]:
        self.is_placeholder = False
        if self.free or self.complete:
            return "complete", []
        if is_blank(self.raw):
            return "truncated" if self._tree.started else "empty", []
        self._fall_back("", last=True)
        return "complete" if self._shown.done else "truncated", []

    def _apply(self, fragments: list[Any]) -> tuple[list[Fragment], bool]:
        used: list[Fragment] = []
        if not fragments:
            return used, True
        if self._reader is None:
            self._juf = is_juf(fragments)
            self._reader = WireReader("juf" if self._juf else "jsonrill")
        try:
            for item in fragments:
                fragment = self._reader.read(item)
                if fragment is not None and self._juf:
                    used += self._show(fragment)
                elif fragment is not None:
                    used.append(fragment)
        except FragmentError:
            return used, False
        finally:
            if not self._juf:
                emit(used, self._tree)
        return used, True

    def _show(self, fragment: Fragment) -> list[Fragment]:
        """Apply a fragment of the foreign dialect, whose partial texts are provisional; returns
        what can be handed on: a string only when it is complete."""
        if fragment.kind != "CompleteString":
            emit((fragment,), self._tree)
            return [] if fragment.kind == "PartialString" else [fragment]
        self._tree.replace_string(fragment.value)
        text = [Fragment("PartialString", fragment.path, fragment.value)] if fragment.value else []
        return [*text, fragment]

    def _fall_back(self, text: str, last: bool = False) -> None:
        """Read the text. If it is not JSON, which the sender reports, there is no value."""
        if self._machine is None:
            self._machine, text = create_machine(self._parsed), self.raw
        with suppress(InvalidJSON, LimitExceeded, StreamClosed):
            self._machine.feed(text)
        if last:
            with suppress(InvalidJSON, LimitExceeded):
                self._machine.flush()
