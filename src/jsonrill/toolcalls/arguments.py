"""How the arguments of one call grow: argument text in, fragments and a value out.

`JsonArguments` has a parser of its own, for `FreeText` the text is the value, `Received` applies
fragments from the wire and has the text as a fallback; when all is over `Frozen` keeps what is
left of either. None raises on data: what is wrong is in `error`. Which call it is, and when it has
ended, is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, Literal, Protocol

from ..build.document import Document
from ..build.rebuilder import Rebuilder
from ..errors import FragmentError, InvalidJSON, LimitExceeded, Limits, StreamClosed
from ..parse.sink import Repair
from ..paths import Path
from ..wire.fragment import Fragment, WireReader
from ..wire.parser import Parser

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
    @property
    def repairs(self) -> Sequence[Repair]: ...
    def feed(self, text: str) -> list[Fragment] | None: ...  # None: the text is not taken
    def end(
        self,
    ) -> tuple[Outcome, list[Fragment]]: ...  # the text has ended: what was it?


def is_blank(text: str) -> bool:
    """Nothing but white space, as JSON has it."""
    return not text.strip(_SPACES)


class Frozen:
    """What is left of arguments that have ended, and what there is before they begin."""

    __slots__ = ("live", "raw", "repairs", "value")

    error = begun = None
    whole = False

    def __init__(self, raw: str = "", value: Any = None, repairs: Sequence[Repair] = ()) -> None:
        self.raw = raw
        self.value = self.live = value
        self.repairs = repairs

    def feed(self, text: str) -> list[Fragment] | None:
        return None

    def end(self) -> tuple[Outcome, list[Fragment]]:
        return "empty", []


class JsonArguments:
    """Argument text that should be JSON. The parser judges; the value is read when it is wanted."""

    __slots__ = (
        "_document",
        "_limits",
        "_parser",
        "_raw",
        "_unread",
        "error",
        "whole",
    )

    def __init__(self, limits: Limits | None = None, repair: Iterable[str] = ()) -> None:
        self._limits = limits or _NO_LIMITS
        self._parser = Parser(limits=self._limits, repair=repair)
        self._document = Document(limits=self._limits, repair=repair)
        # What the document has not seen yet: nobody has asked for the value.
        self._unread: list[str] = []
        self._raw = Growing()
        self.error: Problem | None = None
        self.whole = False

    @property
    def raw(self) -> str:
        return self._raw.text

    @property
    def value(self) -> Any:
        self._read()
        return self._document.value

    @property
    def live(self) -> Any:
        self._read()
        return self._document.live

    @property
    def begun(self) -> tuple[Path, str, int] | None:
        """The number or literal that is being read, or that an error broke off, and its offset."""
        pending = self._parser.pending
        return None if pending is None else (*pending, self._parser.pending_offset)

    @property
    def repairs(self) -> Sequence[Repair]:
        return self._parser.repairs

    def feed(self, text: str) -> list[Fragment] | None:
        if self.error is not None:
            # Not JSON, but kept; only a flood is not.
            if self._raw.length > self._limits.text:
                return None
            self._raw.add(text)
            return []
        if self.whole and self._repeats(text):
            return None
        self._raw.add(text)
        self._unread.append(text)
        try:
            fragments = self._parser.feed(text)
        except (InvalidJSON, LimitExceeded) as error:
            self.error = error.to_dict()
            self.whole = False
            return error.fragments
        if fragments and fragments[-1].kind == "JsonComplete":
            self.whole = True
        return fragments

    def end(self) -> tuple[Outcome, list[Fragment]]:
        if is_blank(self._raw.text):
            return "empty", []
        try:
            fragments = self._parser.flush()
        except (InvalidJSON, LimitExceeded) as error:
            return "truncated", error.fragments
        self._read()
        with suppress(InvalidJSON, LimitExceeded, StreamClosed):
            self._document.flush()
        return "complete", fragments

    def _repeats(self, text: str) -> bool:
        return len(text) == self._raw.length and text == self._raw.text

    def _read(self) -> None:
        if self._unread:
            text = "".join(self._unread)
            self._unread.clear()
            # The parser has told of it already.
            with suppress(InvalidJSON, LimitExceeded):
                self._document.feed(text)


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
    repairs = ()

    def feed(self, text: str) -> list[Fragment] | None:
        """The text as fragments of a string that is the whole document."""
        if self._raw.length + len(text) > self._limits.text:
            bound = self._limits.text
            over = LimitExceeded(f"more than {bound} (text)", limit="text", offset=bound, path=())
            self.error = over.locate(self._raw.text + text).to_dict()
            return None
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

    __slots__ = ("_fallback", "_limits", "_raw", "_reader", "_rebuilder", "free")

    error = begun = None
    repairs = ()

    def __init__(self, limits: Limits | None = None, *, free: bool = False) -> None:
        self._limits = limits or _NO_LIMITS
        self._raw = Growing()
        self._reader = WireReader()
        self._rebuilder = Rebuilder()
        self._fallback: Document | None = None
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

    def receive(
        self, text: str | None, fragments: list[Any] | None
    ) -> tuple[str | None, list[Fragment] | None]:
        """Take what one event brings: the text, and those fragments that could be used."""
        if self._raw.length > self._limits.text:
            return None, None
        if text:
            self._raw.add(text)
        if fragments is not None and self._fallback is None:
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
        if self.free or self.whole:
            return "complete", []
        if is_blank(self._raw.text):
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
