"""What a reader's request is answered with: from which position, and for how long.

Nothing here knows a web framework: its response is made of a `Reply`, in a module for each.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, Final, NamedTuple

from jsonrill.dialects import DIALECTS
from jsonrill.jsontext import dumps

from ..store import Status
from .hub import Hub
from .options import StreamOptions, ViewOptions
from .positions import START, Position, parse
from .reader import Reader
from .records import End
from .render import kind_of, rendering
from .view import closing_bytes

STOPPED: Final = End(
    "error", "STOPPED", "the server was stopped before the stream ended: read it again"
)
TOO_LONG: Final = End(
    "error",
    "LIMIT_EXCEEDED",
    "the connection lasted longer than the server allows: read it again",
)


class BadPosition(ValueError):
    """`Last-Event-ID` or `after` is no position in this log."""


class ReaderSource:
    """A reader's bytes. Begun before the answer, so that a refusal can still be one; closed by
    the response, also if it never got to read anything."""

    def __init__(
        self, hub: Hub, stream: str, status: Status, options: ViewOptions, position: Position
    ) -> None:
        self._hub = hub
        self._stream = stream
        self._seen = position.seq
        self._counted = hub.reader(stream, status, options, position)
        self._stack = AsyncExitStack()
        self._reader: Reader | None = None
        # The response that sends it, if that counts what it sends (`bytes_sent`, `cut`).
        self.response: Any = None

    async def begin(self) -> None:
        self._reader = await self._stack.enter_async_context(self._counted)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        reader = self._reader
        assert reader is not None
        async for chunk in reader.chunks():
            yield chunk
            # Asked for more, so this has been sent.
            self._seen = self._hub.sent(self._stream, reader.position.seq, self._seen)

    async def aclose(self) -> None:
        await self._stack.aclose()
        if self.response is not None:
            self._hub.metrics.add("sent_bytes_total", self.response.bytes_sent)
            self._hub.metrics.add("readers_cut_total", self.response.cut)
            self.response = None


class Reply(NamedTuple):
    """A response before a framework makes one of it: a body, or a source of events."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""
    source: Any = None
    # How the events are sent: the arguments of `ByteStreamResponse`.
    sending: Mapping[str, Any] = {}


def problem(status: int, code: str, message: str, headers: Mapping[str, str] = {}) -> Reply:
    body = dumps({"error": {"code": code, "message": message}}).encode()
    return Reply(status, {"content-type": "application/json", **headers}, body)


def position_of(last_event_id: str | None, after: str | None) -> Position | None:
    """The position that a request names; None if it names none."""
    text = last_event_id or after or ""
    try:
        return parse(text) if text else None
    except ValueError as error:
        raise BadPosition(str(error)) from None


def has_all(status: Status, position: Position | None) -> bool:
    """True if the log is closed and was delivered up to its end; BadPosition beyond that."""
    if position is None:
        return False
    if position.seq > status.last and position.mark is None:
        raise BadPosition("the stream is not that long")
    at_end = position.done == status.last and position.is_in(status.last, status.mark)
    return status.closed and at_end


async def reply(
    hub: Hub,
    stream: str,
    status: Status,
    options: ViewOptions,
    position: Position | None,
    *,
    begin: bool = True,
    headers: Mapping[str, str] = {},
    revoked: Callable[[], End | None] = lambda: None,
) -> Reply:
    """The event stream. Its place among the readers is given back when its source is closed.

    Clients that do not resume are served until the process must end; then they get an error,
    because they would take the end of the response for that of the stream. A request that names a
    position, were it 0, is that of a client that resumes. `revoked` says why a reader must go.
    """
    kept, kind = StreamOptions.from_bytes(status.meta), kind_of(options)
    source = ReaderSource(hub, stream, status, options, position or START)
    if begin:
        await source.begin()
    else:
        # Wrong options are refused all the same.
        await hub.schemas.compiling(kept, lambda: rendering(kept, options))
    resumes = kind.resumes or position is not None

    def closing() -> bytes:
        why = revoked() or why_ended(hub)
        return b"" if resumes else closing_bytes(rendering(kept, options), why)

    dialect = DIALECTS.get(options.format)
    return Reply(
        200,
        {**(dialect.headers if dialect else {}), **headers},
        source=source,
        sending={
            "heartbeat": hub.settings.heartbeat,
            "send_timeout": hub.settings.send_timeout,
            "retry": hub.settings.retry if kind.closes else None,
            "max_seconds": hub.settings.max_connection,
            "stopping": lambda: bool((hub.stopping if resumes else hub.must_end) or revoked()),
            "closing_bytes": closing,
        },
    )


def why_ended(hub: Hub) -> End:
    """Why this process ends a response before its stream has ended."""
    return STOPPED if hub.stopping else TOO_LONG
