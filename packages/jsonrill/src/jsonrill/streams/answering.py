"""What a provider's stream says: its text, calls and parts."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Generator,
    Iterator,
)
from typing import Any, Unpack, cast, overload

from ..answer import Answer
from ..answers import Part, Parts
from ..errors import SourceFailed
from ..options import TABLE, CallOptions, PartOptions, Provider, refuse_unknown
from ..providers.statements import Finish, Watch
from ..sources import EventReading, Reading
from ..toolcalls import ToolCalls, ToolCallUpdate
from .driving import END, Loop, Pulled, drive
from .settings import refuse_other
from .types import Source


@overload
def tool_calls(
    source: AsyncIterable[Any],
    *,
    calls: ToolCalls | None = None,
    answer: Answer | None = None,
    **options: Unpack[CallOptions],
) -> AsyncGenerator[ToolCallUpdate]: ...
@overload
def tool_calls(
    source: Source,
    *,
    calls: ToolCalls | None = None,
    answer: Answer | None = None,
    **options: Unpack[CallOptions],
) -> Generator[ToolCallUpdate]: ...
def tool_calls(
    source: Any,
    *,
    calls: ToolCalls | None = None,
    answer: Answer | None = None,
    **options: Unpack[CallOptions],
) -> Any:
    """Yield an update for each change of a tool call in a provider's stream (`update.call`).

    The source is a provider's stream, or a response or text that holds its events. Options are
    those of `ToolCalls`; give one as `calls` to keep it, or for the next turn. `SourceFailed` is
    raised at the end if the provider reported an error.
    """
    refuse_other("calls", options, "calls", "answer")
    if calls is not None and options:
        raise TypeError(f"calls is given, so it cannot have {', '.join(sorted(options))} too")
    if not isinstance(calls, ToolCalls | None):
        raise TypeError(f"calls is a ToolCalls object, not {calls!r}")
    reading = ToolCalls(**options) if calls is None else calls
    source_events = EventReading(reading.reader.named)
    watch = None if TABLE["answer"].check(answer) is None else Watch(cast(Answer, answer))
    # Other streams may be read into the same calls: this one ends only its own messages.
    seen: set[str] = set()
    failure: str | None = None

    def run(source: Pulled[Any]) -> Iterator[ToolCallUpdate]:
        nonlocal failure
        with source as events:
            for event in events:
                if event is END:
                    if watch is not None:
                        ends = reading.reader.ends and not source_events.said_done
                        watch.end(ends=ends)
                    yield from reading.flush(*sorted(seen)) if seen else ()
                    if failure is not None:
                        raise SourceFailed(failure)
                    return
                statements = reading.reader.feed(event)
                if watch is not None:
                    watch.read(statements)
                for statement in statements:
                    if type(statement) is Finish and statement.reason == "error":
                        failure = failure or statement.detail
                for update in reading.read(statements):
                    seen.add(update.message_id)
                    yield update

    return drive(Loop(run), source, reading=source_events)


@overload
def content(
    source: AsyncIterable[Any],
    *,
    choice: int = 0,
    provider: Provider = "auto",
    answer: Answer | None = None,
) -> AsyncGenerator[str]: ...
@overload
def content(
    source: Source, *, choice: int = 0, provider: Provider = "auto", answer: Answer | None = None
) -> Generator[str]: ...
def content(
    source: Any, *, choice: int = 0, provider: Provider = "auto", answer: Answer | None = None
) -> Any:
    """Yield the text of the answer in a provider's stream; `values` and the others do so, too.

    The source is what `tool_calls` takes; `provider` is that of `ToolCalls`. Reasoning and tool
    calls are not part of the text. If the answer has several choices, `choice` selects one.
    """
    return drive(
        _pass_on,
        source,
        reading=Reading(choice=choice, provider=provider, answer=answer, events=True),
    )


def _pass_on(piece: str) -> Iterator[str]:
    if piece is not END:
        yield piece


@overload
def parts(
    source: AsyncIterable[Any],
    *,
    choice: int = 0,
    answer: Answer | None = None,
    **options: Unpack[PartOptions],
) -> AsyncGenerator[Part]: ...
@overload
def parts(
    source: Source, *, choice: int = 0, answer: Answer | None = None, **options: Unpack[PartOptions]
) -> Generator[Part]: ...
def parts(
    source: Any, *, choice: int = 0, answer: Answer | None = None, **options: Unpack[PartOptions]
) -> Any:
    """Yield the parts of an answer as they grow: text, reasoning, calls and results, in order.

    The source is a provider's stream. `SourceFailed` is raised at the end
    if the provider reported an error. A text that was cut is never `complete`, and its `error` says
    why; a call that was cut has the status `truncated`.
    """
    refuse_unknown(options, ["answer", *PartOptions.__annotations__], "unknown option")
    reading = Parts(choice=choice, **options)
    reading.tell(answer)

    events = EventReading(options.get("provider", "auto"))

    def stage(event: Any) -> Iterator[Part]:
        yield from reading.flush(done=events.said_done) if event is END else reading.feed(event)
        if event is END and reading.error is not None:
            raise SourceFailed(reading.error)

    return drive(stage, source, reading=events)
