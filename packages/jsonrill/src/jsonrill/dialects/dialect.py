"""The base of all dialects: how they are made, fed and ended."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from ..paths import ABSENT

# An event for the client; text is sent as it is.
Event = dict[str, Any] | str
# An error: `code`, `message`, and its place if it has one.
Problem = Mapping[str, Any]
BROKE_OFF: Final = {"code": "SOURCE_FAILED", "message": "the answer broke off before its end"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of a dialect; each uses those it needs."""

    # Options of `ToolCalls`, of `Parser` and of `PartialStream` (with the mode).
    calls: Mapping[str, Any] = field(default_factory=dict)
    parser: Mapping[str, Any] = field(default_factory=dict)
    updates: Mapping[str, Any] = field(default_factory=dict)
    # Add fragments where the dialect allows fields of others.
    fragments: bool = False
    # How the client names the conversation and this part of it.
    thread: str = ""
    run: str = ""
    # Of AG-UI: the state before the run; and its fields that a tool's arguments predict, by the
    # path of the argument, such as `write.text`.
    state: Any = ABSENT
    predict: Mapping[str, str] = field(default_factory=dict)


class Dialect(ABC):
    """A stage that is fed either events or JSON text; `flush` ends it."""

    # Characters of JSON text that are best read at a time.
    part: ClassVar[int] = 4096
    # Headers of an HTTP response that its clients ask for.
    headers: ClassVar[Mapping[str, str]] = {}
    # Whether a client that asks with GET wants an answer only while it is being written.
    only_active: ClassVar[bool] = False

    def __init__(self, settings: Settings) -> None:
        self.failed = False

    @abstractmethod
    def feed(self, event: Any) -> list[Event]:
        """The client's events for a provider's event (a dict, JSON text, or an SDK object)."""

    def feed_json(self, text: str, *, more: bool = False) -> list[Event]:
        """The client's events for a piece of JSON text, or for a part of one if `more` follows."""
        return []

    @property
    def recognised(self) -> bool:
        """True once something was shown, or an event came that is one of a known provider."""
        return True

    @property
    def broke_off(self) -> bool:
        """True if an answer has begun and its provider has not ended it."""
        return False

    def flush(self, problem: Problem | None = None) -> list[Event]:
        """The last events: they close what is open, then report the problem if there is one.

        That an answer broke off is one, too: its client would take it for complete.
        """
        if problem is None and self.broke_off:
            problem = BROKE_OFF
        failed = () if problem is None else self._fail(problem)
        return [*self._close(problem is None), *failed, *self._finish()]

    def interrupt(self, problem: Problem) -> list[Event]:
        """The events that report a problem whatever was sent before; changes nothing."""
        return [*self._failure(problem)]

    def _fail(self, problem: Problem) -> Iterator[Event]:
        """Report a failure of the stream, but only the first one."""
        if not self.failed:
            self.failed = True
            yield from self._failure(problem)

    def _close(self, complete: bool) -> Iterator[Event]:
        """Close what is open; `complete` is False if the stream broke off."""
        yield from ()

    @abstractmethod
    def _failure(self, problem: Problem) -> Iterator[Event]: ...

    @abstractmethod
    def _finish(self) -> Iterator[Event]: ...
