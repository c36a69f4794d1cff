"""A provider's events → the text of the answer, or the arguments of its calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..answer import Answer
from ..errors import CutShort, SourceFailed, UnknownSource, truncated
from ..pipeline import Stage
from ..providers import Reader
from ..providers.ending import Ending
from ..providers.statements import CallDelta, Statement, Text, of_choice, text_in
from .events import EventReader
from .explain import quote
from .options import NEXT_DOCUMENT, AnswerOptions

if TYPE_CHECKING:
    from ..toolcalls import ToolCall

# The first characters of JSON. Of a text that begins otherwise, this many characters are held,
# because the end of a short answer says whether the model refused or was stopped.
_BEGINS_JSON: Final = frozenset('{["-0123456789tfn\ufeff`<')
_PROSE: Final = 120
# The errors that the reader of the text reports itself.
_IN_TEXT: Final = ("INVALID_JSON", "TRUNCATED", "LIMIT_EXCEEDED")


class AnswerText:
    """Reads events and returns the text of one choice, without reasoning and calls."""

    def __init__(
        self, provider: Any = "auto", *, choice: int = 0, answer: Answer | None = None
    ) -> None:
        self.reader = Reader(provider)
        self.ending = Ending(choice, answer)
        self._choice = choice
        self._has_text = False
        # Before the first text: the names of calls ("" if unknown), and a choice that has text.
        self._calls: dict[str, None] = {}
        self._other_choice: int | None = None

    def feed(self, event: Any) -> str:
        """Return the text that an event adds: a dict, JSON text, or an SDK's object."""
        return self.read(self.reader.feed(event))

    def read(self, statements: Sequence[Statement]) -> str:
        """Return the text that statements add."""
        self.ending.read(statements)
        text = text_in(statements, self._choice)
        self._has_text = self._has_text or bool(text)
        if not self._has_text:
            for statement in statements:
                if isinstance(statement, CallDelta):
                    self._calls[statement.name or ""] = None
                elif isinstance(statement, Text) and statement.text:
                    self._other_choice = statement.choice
        return text

    def cut(self) -> CutShort | None:
        """Return how the answer was cut, once its stream has ended; None if it is complete."""
        return self.ending.cut(ends=self.reader.ends)

    @property
    def failure(self) -> str | None:
        """The error that the provider has reported; None if it has not."""
        return self.ending.failure if self.ending.outcome == "error" else None

    @property
    def recognised(self) -> bool:
        """True after the first event of a known provider."""
        return self.reader.provider is not None

    @property
    def missing(self) -> str | None:
        """Why there is no text, and what to do; None if an empty text is valid."""
        if self._has_text:
            return None
        if self._other_choice is not None:
            return f"choice {self._choice} has no text, but choice {self._other_choice} has"
        if not self._calls:
            return None
        names = [*filter(None, self._calls)]
        option = f"tool={names[0]!r} or tool=True" if names else "tool=True"
        suffix = f" ({', '.join(names)})" if names else ""
        return f"the answer has tool calls{suffix} and no text: pass {option} for their arguments"


class ArgumentText:
    """Reads events and returns the argument text of the calls of one tool, or (True) of any tool.

    Calls come one after another, each after `NEXT_DOCUMENT` unless only the first is read. If calls
    are interleaved, the later one waits until the arguments of the earlier one are complete.
    """

    def __init__(self, options: AnswerOptions) -> None:
        from ..toolcalls import ToolCalls  # an answer's text does not need it

        self._tool = options.tool
        self._choice = options.choice
        self._is_first = options.is_first_call
        self._calls = ToolCalls(repair=options.repair)
        # All calls by number, those that are not read to their end yet, and how many characters
        # were read of each.
        self._known: dict[int, ToolCall] = {}
        self._queue: list[ToolCall] = []
        self._sizes: dict[int, int] = {}
        # True once everything that is needed has arrived.
        self.done = False

    @property
    def missing(self) -> str | None:
        """Why there are no arguments; None if there are some."""
        if self._sizes:
            return None
        if self._tool is True:
            return "the answer has no tool calls: leave out tool= to read its text"
        names = dict.fromkeys(call.name or "?" for call in self._known.values())
        others = f", but of {', '.join(names)}" if names else ""
        return f"the answer has no call of {self._tool}{others}"

    def pieces(self, statements: Sequence[Statement]) -> Iterator[Any]:
        """Return the argument text that statements add."""
        for update in self._calls.read(of_choice(statements, self._choice)):
            call = update.call
            if call.number not in self._known:
                self._known[call.number] = call
                self._queue.append(call)
        return self._emit(is_last=False)

    def flush(self) -> Iterator[Any]:
        """Return the text of calls that waited for others; raise an error the text cannot show."""
        self._calls.flush()
        yield from self._emit(is_last=True)
        for number, size in self._sizes.items():
            call = self._known[number]
            if call.error and (call.error["code"] not in _IN_TEXT or len(call.raw) > size):
                raise SourceFailed(f"the call {call.id} of {call.name}: {call.error['message']}")

    @property
    def complete(self) -> bool:
        """True if calls were read, and all of these are complete."""
        return {self._known[number].status for number in self._sizes} == {"complete"}

    def _emit(self, *, is_last: bool) -> Iterator[Any]:
        while self._queue and not self.done:
            call = self._queue[0]
            is_ended = is_last or call.status != "streaming"
            if not (is_ended or _has_text(call)):
                return
            if self._is_selected(call):
                yield from self._text(call, is_ended)
                has_next = any(self._is_selected(later) for later in self._queue[1:])
                if not is_ended and not (has_next and call.complete_args):
                    return
                self.done = self._is_first
            self._queue.pop(0)

    def _is_selected(self, call: ToolCall) -> bool:
        return self._tool in (True, call.name)

    def _text(self, call: ToolCall, is_ended: bool) -> Iterator[Any]:
        if call.number not in self._sizes and not self._is_first:
            yield NEXT_DOCUMENT
        size = self._sizes.get(call.number, 0)
        self._sizes[call.number] = len(call.raw)
        if _has_text(call):
            yield call.raw[size:]
        elif is_ended and call.status == "complete":
            yield "{}"


def _has_text(call: ToolCall) -> bool:
    """Return whether there is argument text that cannot be replaced, as a lone `{}` can."""
    return call.raw != "" and not call.is_placeholder


class AnswerReader(Stage):
    """Reads a provider's events, or text that holds them, and returns the requested text."""

    def __init__(self, options: AnswerOptions, *, sse: bool) -> None:
        self._events = EventReader(options.provider, sse=sse)
        self._text = AnswerText(options.provider, choice=options.choice, answer=options.answer)
        self._arguments = ArgumentText(options) if options.tool else None
        self._may_be_empty = options.reads_events
        # The beginning of an answer that cannot be JSON, until there is enough for a message.
        self._prose: str | None = "" if options.has_only_json else None

    def feed(self, element: Any) -> Iterator[str]:
        """Return the text that an element adds."""
        return self._without_prose(self._read(self._events.feed(element)))

    def flush(self, cut: CutShort | None = None) -> Iterator[str]:
        """Return the text at the end; raise an error if the source is not what was requested."""
        yield from self._without_prose(self._read(self._events.flush()))
        text, arguments = self._text, self._arguments
        if arguments is not None:
            yield from arguments.flush()
        cut = text.ending.end(ends=text.reader.ends and not self._events.said_done)
        cut = self.cut = None if arguments is not None and arguments.complete else cut
        if self._prose and cut is not None:
            error = truncated(cut._replace(detail=cut.detail or quote(self._prose)))
            error.text = self._prose
            raise error
        if self._prose:
            yield self._prose
        if cut is not None and cut.reason != "lost":
            return
        missing = text.missing if arguments is None else arguments.missing
        if missing is not None and not (self._may_be_empty or self._events.is_empty):
            raise UnknownSource(missing)

    def _read(self, events: Iterable[Any]) -> Iterator[str]:
        ending, arguments = self._text.ending, self._arguments
        for event in events:
            statements = self._text.reader.feed(event)
            text = self._text.read(statements)
            if arguments is not None:
                yield from arguments.pieces(statements)
                self.ended = arguments.done
            elif text:
                yield text
            if ending.failure is not None:
                ending.end(ends=True)
                raise SourceFailed(f"the provider reported an error: {ending.failure}")

    def _without_prose(self, pieces: Iterator[str]) -> Iterator[str]:
        """Return the pieces, but hold the beginning of prose: the answer's end may explain it."""
        for piece in pieces:
            if self._prose is None:
                yield piece
                continue
            self._prose += piece
            if self._prose.lstrip(" \t\r\n")[:1] in _BEGINS_JSON or len(self._prose) > _PROSE:
                text, self._prose = self._prose, None
                yield text
