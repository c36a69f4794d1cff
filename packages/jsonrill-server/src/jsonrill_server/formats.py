"""Records in, the data of events out: a log in the format that its reader chooses.

A rendering is a function of the log alone: the same records give the same events in every process.
That makes a resume exact. There is no I/O and no clock. One record may be large, so a rendering
yields its events in steps, each after a bounded number of characters, and its caller can give way
in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from jsonrill import Chunker, PartialStream, Parts, ToolCalls
from jsonrill.dialects import DIALECTS
from jsonrill.errors import (
    InvalidJSON,
    JsonrillError,
    LimitExceeded,
    RevisionError,
    UnknownSource,
    stream_error,
)
from jsonrill.eventstream import DONE, event_data
from jsonrill.jsontext import dumps, write
from jsonrill.pipeline import Stage
from jsonrill.sending import TextSender
from jsonrill.sources.answer import AnswerText
from jsonrill.stages import FragmentStage
from jsonrill.toolcalls import ToolCallEvents

from .options import Options
from .records import End, Record

Steps = Iterator[list[str]]
Problem = Mapping[str, Any]
# Raised when a change of this file or of a stage makes other events of the same records. Then
# readers that resume start again.
VERSION: Final = 1
# Characters that are read in one step.
STEP: Final = 4096
# Entities that are written in one step.
ENTITIES: Final = 100
# Characters of an entity above which it is written in a thread.
LARGE: Final = 1 << 20
UNKNOWN: Final = {
    "code": UnknownSource.code,
    "message": "the events contain nothing of a known provider: use the format raw",
}
BAD_TEXT: Final = (InvalidJSON, LimitExceeded, RevisionError)


class TextSource:
    """Records → text: pieces as they are, snapshots chunked, the text in a provider's events."""

    def __init__(self, options: Options) -> None:
        self._chunker = Chunker(**options.of("text"))
        self.answer = AnswerText(options.provider)
        self.has_events = False

    def feed(self, record: Record) -> str:
        if record.input == "text":
            return record.body
        if record.input == "snapshots":
            return self._chunker.feed(record.body)
        self.has_events = True
        return self.answer.feed(record.body)

    def flush(self) -> str:
        return self._chunker.flush()

    @property
    def problem(self) -> Problem | None:
        """The error of a provider's answer at its end."""
        if self.answer.failure is not None:
            return {"code": "PROVIDER_ERROR", "message": self.answer.failure}
        return UNKNOWN if self.has_events and not self.answer.recognised else None


class Rendering:
    """The records as they are, one event each."""

    # The data and the name of the last event; streams for other projects' clients end differently.
    last: tuple[str, str | None] | None = (DONE, "CLOSE")

    # Characters since the last complete entity: so many may be in one event.
    size = 0

    def __init__(self, options: Options) -> None: ...

    def feed(self, record: Record) -> Steps:
        """Yield the data of the events that a record adds, step by step."""
        is_text = record.input == "text"
        # Between JSON values line ends have no meaning, and in strings they are escaped.
        body = dumps(record.body) if is_text else record.body.replace("\r", " ").replace("\n", " ")
        yield [body]

    def end(self, end: End) -> Steps:
        """Yield the data of the last events."""
        yield [] if end.error is None else self.fail(end.error)

    def fail(self, problem: Problem) -> list[str]:
        """Return the data of the events that report an error and end the stream."""
        return [dumps({"status": "ERROR", "error": problem})]

    def interrupt(self, problem: Problem) -> list[str]:
        """Return the data of events for a client that treats the response's end as the stream's."""
        return []

    @property
    def is_large(self) -> bool:
        """Whether the next event may be so large that a thread has to write it."""
        return self.size > LARGE

    def _dumps(self, value: Any) -> str:
        # The slower function lets other threads run; the fast one holds the interpreter's lock.
        return write(value, dumps) if self.is_large else dumps(value)


class Text(Rendering):
    """The text of the document in pieces; subclasses have a stage that reads it."""

    def __init__(self, options: Options) -> None:
        self._source = TextSource(options)
        self._stage: Any = Stage()
        self._is_over = False

    def feed(self, record: Record) -> Steps:
        if not self._is_over:
            yield from self._read(lambda: self._source.feed(record))

    def end(self, end: End) -> Steps:
        if self._is_over:
            return
        problem = end.error or self._source.problem
        if problem is not None:
            yield self._stop(problem)
            return
        yield from self._read(self._source.flush)
        if not self._is_over:
            yield from self._flush()

    def _read(self, source: Callable[[], str]) -> Steps:
        try:
            text = source()
        except BAD_TEXT as error:
            yield self._stop(stream_error(error))
            return
        for at in range(0, len(text), STEP):
            if not self._is_over:
                yield self._shown(self._stage.feed(text[at : at + STEP]))

    def _flush(self) -> Steps:
        items = self._stage.flush(self._source.answer.cut())
        # All entities may come at the end.
        for at in range(0, len(items), ENTITIES):
            yield self._encode(items[at : at + ENTITIES])
        yield self._shown(())

    def _shown(self, items: Any) -> list[str]:
        """Return the data for the stage's items and its error."""
        data, error = self._encode(items), getattr(self._stage, "error", None)
        return data if error is None else [*data, *self._stop(stream_error(error))]

    def _encode(self, items: Any) -> list[str]:
        return [dumps(item) for item in items]

    def _stop(self, problem: Problem) -> list[str]:
        self._is_over = True
        return self.fail(problem)


class Updates(Text):
    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._stage = PartialStream(**options.of("updates"))
        self._has_completed = False

    def _read(self, source: Callable[[], str]) -> Steps:
        for texts in super()._read(source):
            self.size = 0 if self._has_completed else self.size + STEP
            yield texts

    def _encode(self, items: Any) -> list[str]:
        self._has_completed = any(update.status == "COMPLETED" for update in items)
        return [self._dumps(update.to_dict()) for update in items]


class Fragments(Text):
    """One event per piece of text: a list of its fragments."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._stage = FragmentStage(options.of("document"))

    def _encode(self, items: Any) -> list[str]:
        return [dumps([fragment.to_dict() for fragment in items])] if items else []


class Deltas(Text):
    """The messages of the wire for growing JSON."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._stage = TextSender(**options.of("document"))

    def fail(self, problem: Problem) -> list[str]:
        if self._stage.ended:
            return []
        error = JsonrillError(problem["message"])
        error.code = problem["code"]
        return self._encode(self._stage.stop(error))


class Answer(Rendering):
    """The tool calls in a provider's events, or the parts of the answer."""

    def __init__(self, options: Options) -> None:
        self._source = TextSource(options)
        self._stage: Any = Parts(**options.of("calls"))
        if options.format == "calls":
            self._stage = ToolCallEvents(ToolCalls(**options.of("calls")))

    def feed(self, record: Record) -> Steps:
        if record.input == "events":
            self._source.feed(record)
            yield [event_data(item) for item in self._stage.feed(record.body)]

    def end(self, end: End) -> Steps:
        yield [event_data(item) for item in self._stage.flush()]
        problem = end.error or self._source.problem
        if problem is not None:
            yield self.fail(problem)


class ClientEvents(Updates):
    """Events for another project's client, from a provider's events or from updates of a text."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._dialect = DIALECTS[options.format](**options.of("calls"))
        self.last = None if self._dialect.done is None else (self._dialect.done, None)

    def feed(self, record: Record) -> Steps:
        if record.input != "events":
            yield from super().feed(record)
            return
        self._source.feed(record)
        yield [dumps(event) for event in self._dialect.feed(record.body)]

    def _flush(self) -> Steps:
        if not self._source.has_events:
            yield from super()._flush()
        yield self._finish(self._dialect.flush())

    def _encode(self, items: Any) -> list[str]:
        return [self._dumps(event) for update in items for event in self._dialect.feed(update)]

    def fail(self, problem: Problem) -> list[str]:
        return self._finish(self._dialect.flush(problem=problem))

    def _finish(self, events: Any) -> list[str]:
        """Return the data of the events before the last one."""
        texts = [*map(dumps, events)]
        if self._dialect.done is None and texts:
            self.last = texts.pop(), None
        return texts

    def interrupt(self, problem: Problem) -> list[str]:
        kinds = ("error", "abort", "RUN_ERROR")
        events = [event for event in self._dialect.flush(problem=problem) if event["type"] in kinds]
        done = self._dialect.done
        return [*map(dumps, events), *([] if done is None else [done])]


_RENDERINGS: Final[dict[str, type[Rendering]]] = {
    "updates": Updates,
    "fragments": Fragments,
    "text": Text,
    "deltas": Deltas,
    "calls": Answer,
    "parts": Answer,
    "raw": Rendering,
    "ai-sdk": ClientEvents,
    "ag-ui": ClientEvents,
}


def rendering(options: Options) -> Rendering:
    """Return the rendering for a reader."""
    return _RENDERINGS[options.format](options)
