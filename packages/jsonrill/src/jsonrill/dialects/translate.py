"""`to_ai_sdk` and `to_ag_ui`: a provider's stream as events for other clients.

Each yields dicts, which `sse()` frames as the client expects them. If the source
fails, or breaks off, the client's own event says so, and the exception is raised behind it.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Generator,
    Iterator,
    Mapping,
)
from typing import Any, Unpack, overload

from ..eventstream import DONE, ClientStream
from ..options import PartOptions, refuse_unknown
from ..paths import ABSENT
from ..sources import EventReading
from ..sources.answer import AnswerText
from ..streams.driving import END, drive
from ..streams.types import Source
from .dialect import Settings
from .table import DIALECTS

Event = dict[str, Any]
_FAILED = {"code": "SOURCE_FAILED", "message": "the source failed"}


class ClientEvents(ClientStream, Iterator[Event]):
    """Events for a client of others; `done` is the data of the last one that `sse()` sends."""

    def __init__(self, events: Generator[Event], done: str | None) -> None:
        self._events = events
        self.done = done

    def __next__(self) -> Event:
        return next(self._events)

    def close(self) -> None:
        """Close the source."""
        self._events.close()


class AsyncClientEvents(ClientStream, AsyncIterator[Event]):
    """Events for a client of others; `done` is the data of the last one that `sse()` sends."""

    def __init__(self, events: AsyncGenerator[Event], done: str | None) -> None:
        self._events = events
        self.done = done

    async def __anext__(self) -> Event:
        return await anext(self._events)

    async def aclose(self) -> None:
        """Close the source."""
        await self._events.aclose()


@overload
def to_ai_sdk(source: AsyncIterable[Any], **options: Unpack[PartOptions]) -> AsyncClientEvents: ...
@overload
def to_ai_sdk(source: Source, **options: Unpack[PartOptions]) -> ClientEvents: ...
def to_ai_sdk(source: Any, **options: Unpack[PartOptions]) -> Any:
    """Yield the chunks of the AI SDK's UI message stream (v1), for `useChat`.

    Send them with the header `x-vercel-ai-ui-message-stream: v1`.
    """
    return _translated("ai-sdk", source, options)


@overload
def to_ag_ui(
    source: AsyncIterable[Any],
    *,
    state: Any = ABSENT,
    predict: Mapping[str, str] | None = None,
    thread: str = "",
    run: str = "",
    **options: Unpack[PartOptions],
) -> AsyncClientEvents: ...
@overload
def to_ag_ui(
    source: Source,
    *,
    state: Any = ABSENT,
    predict: Mapping[str, str] | None = None,
    thread: str = "",
    run: str = "",
    **options: Unpack[PartOptions],
) -> ClientEvents: ...
def to_ag_ui(
    source: Any,
    *,
    state: Any = ABSENT,
    predict: Mapping[str, str] | None = None,
    thread: str = "",
    run: str = "",
    **options: Unpack[PartOptions],
) -> Any:
    """Yield AG-UI events. `thread` and `run` are the ids that the client sent.

    With `state`, the first event after RUN_STARTED is a snapshot of it. If it is True, the answer's
    text is JSON and becomes the state: a snapshot first, then patches. `predict` maps a field of
    the state to an argument of a tool, such as `{"document": "write.text"}`: the field is patched
    while the model writes the argument.
    """
    settings: dict[str, Any] = {"thread": thread, "run": run, "predict": predict or {}}
    if state is True:
        return _translated("ag-ui", source, options, as_json=True, **settings)
    return _translated("ag-ui", source, options, state=state, **settings)


def _translated(
    name: str, source: Any, options: Mapping[str, Any], *, as_json: bool = False, **more: Any
) -> Any:
    refuse_unknown(options, PartOptions.__annotations__, "unknown option")
    stage: Any = DIALECTS[name](Settings(calls=options, **more))
    if as_json:
        stage = _AsJson(stage, AnswerText(options.get("provider", "auto")))
    return _events(stage, source, options, None if name == "ag-ui" else DONE)


class _AsJson:
    """A dialect that is fed the answer's text as JSON instead of its events."""

    def __init__(self, stage: Any, answer: AnswerText) -> None:
        self._stage = stage
        self._answer = answer
        self.flush = stage.flush

    def feed(self, event: Any) -> list[Any]:
        text = self._answer.feed(event)
        news: list[Any] = self._stage.feed_json(text) if text else []
        return news


def _events(stage: Any, source: Any, options: Mapping[str, Any], done: str | None) -> Any:
    events = drive(_as_event, source, reading=EventReading(options.get("provider", "auto")))
    if isinstance(events, AsyncGenerator):
        return AsyncClientEvents(_told_async(stage, events), done)
    return ClientEvents(_told_sync(stage, events), done)


def _as_event(event: Any) -> Iterator[Any]:
    if event is not END:
        yield event


def _told_sync(stage: Any, events: Generator[Any]) -> Generator[Event]:
    try:
        for event in events:
            yield from _plain(stage.feed(event))
        yield from _plain(stage.flush())
    except Exception:
        yield from _plain(stage.flush(_FAILED))
        raise
    finally:
        events.close()


async def _told_async(stage: Any, events: AsyncGenerator[Any]) -> AsyncGenerator[Event]:
    try:
        async for event in events:
            for out in _plain(stage.feed(event)):
                yield out
        for out in _plain(stage.flush()):
            yield out
    except Exception:
        for out in _plain(stage.flush(_FAILED)):
            yield out
        raise
    finally:
        await events.aclose()


def _plain(events: list[Any]) -> list[Event]:
    """The events without the mark at the end, which `sse()` adds."""
    return [event for event in events if event != DONE]
