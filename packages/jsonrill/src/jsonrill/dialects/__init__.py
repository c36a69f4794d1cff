"""Streams for other clients: `to_ai_sdk` and `to_ag_ui` write any provider's stream for them.

A dialect is a stage: provider events, parts or updates in, events of its clients out, as dicts.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from typing import Any, Final, Unpack, overload

from ..driver import Stage, drive
from ..errors import CutShort, check_names
from ..eventstream import ClientStream
from ..partial_stream import Update
from ..paths import ABSENT
from ..sources.events import EventReader
from ..streams import CallOptions
from .ag_ui import AGUI
from .ai_sdk import AISDK
from .dialect import Dialect, Event

DIALECTS: Final[dict[str, type[Dialect]]] = {"ai-sdk": AISDK, "ag-ui": AGUI}

__all__ = ["DIALECTS", "Dialect", "Event", "to_ag_ui", "to_ai_sdk"]


class ClientEvents(ClientStream, Iterator[Event]):
    """Events for another project's client; `done` is the data of the last one that `sse` sends."""

    def __init__(self, events: Generator[Event], done: str | None) -> None:
        self._events = events
        self.done = done

    def __next__(self) -> Event:
        return next(self._events)

    def close(self) -> None:
        """Close the source."""
        self._events.close()


class AsyncClientEvents(ClientStream, AsyncIterator[Event]):
    """Events for another project's client; `done` is the data of the last one that `sse` sends."""

    def __init__(self, events: AsyncGenerator[Event], done: str | None) -> None:
        self._events = events
        self.done = done

    async def __anext__(self) -> Event:
        return await anext(self._events)

    async def aclose(self) -> None:
        """Close the source."""
        await self._events.aclose()


@overload
def to_ai_sdk(source: AsyncIterable[Any], **options: Unpack[CallOptions]) -> AsyncClientEvents: ...
@overload
def to_ai_sdk(source: Iterable[Any], **options: Unpack[CallOptions]) -> ClientEvents: ...
def to_ai_sdk(source: Any, **options: Any) -> Any:
    """Yield the chunks of the AI SDK's UI message stream (v1), for `useChat`.

    The source is a provider's stream, or what `parts`, `run_tools` or `updates` yields: updates
    become `data-*` chunks. Send them with the header `x-vercel-ai-ui-message-stream: v1`. If the
    source fails, a chunk says so, and the exception is raised after it.
    """
    check_names(options, CallOptions.__annotations__)
    return _translated(AISDK(**options), source, options)


class AgUiOptions(CallOptions, total=False):
    """The options of `to_ag_ui`."""

    state: Any
    predict: Mapping[str, str]
    thread: str
    run: str


@overload
def to_ag_ui(source: AsyncIterable[Any], **options: Unpack[AgUiOptions]) -> AsyncClientEvents: ...
@overload
def to_ag_ui(source: Iterable[Any], **options: Unpack[AgUiOptions]) -> ClientEvents: ...
def to_ag_ui(source: Any, **options: Any) -> Any:
    """Yield AG-UI events; the sources are those of `to_ai_sdk`, and updates become the state.

    `thread` and `run` are the ids that the client sent. With `state`, a snapshot of it comes first.
    `predict` maps a field of the state to an argument of a tool, such as
    `{"document": "write.text"}`: the field is patched while the model writes the argument.
    """
    check_names(options, AgUiOptions.__annotations__)
    return _translated(AGUI(**{"state": ABSENT, **options}), source, options)


class _DialectStage(Stage):
    """Feeds a dialect, and lets it report the failure of its source."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def feed(self, piece: Any) -> list[Event]:
        return self._dialect.feed(piece)

    def flush(self, cut: CutShort | None = None) -> list[Event]:
        return self._dialect.flush()


class _Reader(EventReader):
    """Passes on updates, too, which are not a provider's events."""

    def feed(self, element: Any) -> Iterable[Any]:
        return (element,) if isinstance(element, Update) else super().feed(element)


def _translated(dialect: Dialect, source: Any, options: Mapping[str, Any]) -> Any:
    events = drive(_DialectStage(dialect), source, _Reader(options.get("provider", "auto")))
    if isinstance(events, AsyncGenerator):
        return AsyncClientEvents(_guarded_async(dialect, events), dialect.done)
    return ClientEvents(_guarded(dialect, events), dialect.done)


_FAILED: Final = {"code": "SOURCE_FAILED", "message": "the source failed"}


def _guarded(dialect: Dialect, events: Generator[Event]) -> Generator[Event]:
    try:
        yield from events
    except Exception:
        yield from dialect.flush(_FAILED)
        raise


async def _guarded_async(dialect: Dialect, events: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
    try:
        async for event in events:
            yield event
    except Exception:
        for event in dialect.flush(_FAILED):
            yield event
        raise
    finally:
        await events.aclose()
