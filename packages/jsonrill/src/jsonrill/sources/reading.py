"""How the elements of a source become pieces of text. No I/O: `streams/` iterates.

The first element decides. Text stays as it is, unless it is said to be an event stream; anything
else is an event of a provider, of which the text of the answer is read, or the arguments of calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..answer import Answer
from ..errors import CutShort, JsonrillError
from ..eventstream import is_event_stream, is_lines
from ..options import TABLE, Provider, Rules, Tool
from .explain import Transcript, explained

if TYPE_CHECKING:
    from .decoding import EventDecoder


class Opened(NamedTuple):
    """An iterable of elements, sync or async, and what is known of it before the first one."""

    # Any: an iterable or an async iterable.
    elements: Any
    # Closed when the loop is left; None: nothing is.
    owner: Any
    # The media type of a response, "" if there is none.
    media: str = ""
    # The status of a response that is an error, and its reason.
    failure: tuple[int, str] | None = None

    @property
    def sse(self) -> bool:
        """True for an event stream."""
        return is_event_stream(self.media)

    @property
    def lines(self) -> bool:
        """True for one JSON text a line."""
        return is_lines(self.media)


class Decoder(Protocol):
    """Turns elements into pieces of text, or into events."""

    def feed(self, element: Any) -> Iterator[Any]: ...
    def flush(self) -> Iterator[Any]: ...
    @property
    def done(self) -> bool: ...


class Reading:
    """The options of a source, checked, and the decoder that they and the first element ask for.

    `repair` and `many` are those of the reader of the text. With `first` only the first call
    counts. With `events` text holds events, too, and the answer may have calls and no text.
    """

    def __init__(
        self,
        *,
        choice: int = 0,
        tool: Tool = None,
        sse: bool = False,
        provider: Provider = "auto",
        answer: Answer | None = None,
        repair: Rules = False,
        first: bool = False,
        events: bool = False,
        many: bool = False,
        prefix: str = "",
    ) -> None:
        self.choice = TABLE["choice"].check(choice)
        self.tool = TABLE["tool"].check(tool) or None
        self.sse = TABLE["sse"].check(sse)
        self.provider = TABLE["provider"].check(provider)
        self.answer: Answer | None = TABLE["answer"].check(answer)
        self.repair = repair
        self.first = first
        named = self.provider != "auto" or self.choice != 0
        self.may_be_empty = events
        self._takes_many = many
        self.strict = not repair
        # Text that cannot begin JSON is the beginning of prose, unless a prefix comes before it.
        self.holds_prose = not (repair or many or events or prefix)
        # Of the stream, while it is read: how its answer was cut, and its text.
        self.cut: CutShort | None = None
        self.transcript = Transcript()
        self._of_events = events or self.sse or self.tool is not None or named

    @property
    def reads_calls(self) -> bool:
        """True if the text is the arguments of one call after another."""
        return self.tool is not None and not self.first

    def explained(self, error: JsonrillError) -> JsonrillError:
        """An error that reading raised, with what was read and in the words of a person."""
        return explained(error, self.transcript, strict=self.strict)

    def decoder(self, first: Any, source: Opened) -> Decoder | None:
        """The decoder for a source whose first element this is (None: it is empty).

        None for text. Lines of JSON are a provider's events, unless the reader takes many texts.
        """
        text = first is None or isinstance(first, (str, bytes, bytearray, memoryview))
        sse = self.sse or source.sse
        of_events = self._of_events or sse or (source.lines and not self._takes_many)
        if text and not of_events and source.failure is None:
            if self.answer is not None:
                self.answer.begin()
                self.transcript.copy = self.answer
            return None
        from .decoding import TextDecoder
        from .failures import FailedResponse

        if source.failure is not None:
            return FailedResponse(*source.failure)
        return TextDecoder(self, sse)


class EventReading:
    """As `Reading`, for stages that read the events themselves.

    Text holds events.
    """

    def __init__(self, provider: Provider = "auto") -> None:
        self._provider = provider
        self._decoder: EventDecoder | None = None

    def decoder(self, first: Any, source: Opened) -> Decoder:
        """The decoder for a source whose first element this is."""
        from .decoding import EventDecoder
        from .failures import FailedResponse

        if source.failure is not None:
            return FailedResponse(*source.failure)
        self._decoder = EventDecoder(self._provider, source.sse)
        return self._decoder

    @property
    def said_done(self) -> bool:
        """True if the text said that it is at its end."""
        return self._decoder is not None and self._decoder.said_done
