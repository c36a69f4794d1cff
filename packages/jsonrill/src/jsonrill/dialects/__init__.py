"""Streams for other clients: `to_ai_sdk` and `to_ag_ui` write any provider's stream for them.

A dialect is a stage: provider events, parts or updates in, events of its clients out, as dicts.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import Any, Final, Unpack, overload

from ..driver import AsyncItems, Items, drive
from ..errors import check_names
from ..eventstream import ClientStream
from ..partial_stream import Update
from ..paths import ABSENT
from ..pipeline import Pipe
from ..sources.events import EventReader
from ..streams import CallOptions
from .ag_ui import AGUI
from .ai_sdk import AISDK
from .dialect import Dialect, Event

DIALECTS: Final[dict[str, type[Dialect]]] = {"ai-sdk": AISDK, "ag-ui": AGUI}

__all__ = ["DIALECTS", "Dialect", "Event", "to_ag_ui", "to_ai_sdk"]


class ClientEvents(ClientStream, Items[Event]):
    """Events for another project's client; `done` is the data of the final server-sent event."""


class AsyncClientEvents(ClientStream, AsyncItems[Event]):
    """Events for another project's client; `done` is the data of the final server-sent event."""


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
    return _translated(AISDK(**options), source, options.get("provider", "auto"))


class AgUiOptions(CallOptions, total=False):
    """The options of `to_ag_ui`."""

    state: Any
    thread: str
    run: str


@overload
def to_ag_ui(source: AsyncIterable[Any], **options: Unpack[AgUiOptions]) -> AsyncClientEvents: ...
@overload
def to_ag_ui(source: Iterable[Any], **options: Unpack[AgUiOptions]) -> ClientEvents: ...
def to_ag_ui(source: Any, **options: Any) -> Any:
    """Yield AG-UI events from the same sources as `to_ai_sdk`; updates become the state.

    `thread` and `run` are the ids that the client sent. With `state`, a snapshot of it comes first.
    """
    check_names(options, AgUiOptions.__annotations__)
    dialect = AGUI(**{"state": ABSENT, **options})
    return _translated(dialect, source, options.get("provider", "auto"))


class _Reader(EventReader):
    """Passes on updates, too, which are not a provider's events."""

    def feed(self, element: Any) -> Iterable[Any]:
        return (element,) if isinstance(element, Update) else super().feed(element)


def _translated(dialect: Dialect, source: Any, provider: Any) -> Any:
    events = drive(Pipe(_Reader(provider), dialect), source)
    is_async = isinstance(events, AsyncIterable)
    return (AsyncClientEvents if is_async else ClientEvents)(events, dialect.done)
