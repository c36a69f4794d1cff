"""MCP Apps: the arguments of a tool call as notifications for the view of that tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from ..answers import Part, Parts
from .dialect import Event

METHOD = "ui/notifications/tool-"


class MCPApp:
    """Notifications about the first call of a tool (True: of whichever is called first)."""

    def __init__(self, tool: str | Literal[True], **options: Any) -> None:
        self._parts = Parts(**options)
        self._tool = tool
        self._index: int | None = None
        self._closed = False

    def feed(self, event: Any) -> list[Event]:
        """The notifications for a provider's event."""
        return [out for part in self._parts.feed(event) for out in self._told(part)]

    def flush(self, problem: Any = None) -> list[Event]:
        """The last notifications: a call that has not ended is cancelled."""
        return [out for part in self._parts.flush() for out in self._told(part)]

    def _told(self, part: Part) -> Iterator[Event]:
        call = part.call
        if part.kind != "call" or call is None or self._closed:
            return
        if self._index is None and call.name is not None and self._tool in (True, call.name):
            self._index = part.index
        if part.index != self._index:
            return
        if call.status == "streaming":
            if isinstance(call.args, dict) and part.delta:
                yield _notification("input-partial", {"arguments": call.args})
            return
        self._closed = True
        if call.status == "complete":
            yield _notification("input", {"arguments": call.args})
        else:
            reason = call.error["message"] if call.error else f"the call is {call.status}"
            yield _notification("cancelled", {"reason": reason})


def _notification(what: str, params: dict[str, Any]) -> Event:
    return {"jsonrpc": "2.0", "method": METHOD + what, "params": params}
