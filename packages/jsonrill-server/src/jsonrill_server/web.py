"""The responses to readers: for Starlette, FastAPI, Django, and the routes of the server.

A response begins at once, sends a heartbeat in every silence, and ends when its client leaves, or
takes nothing for too long. A reader that leaves ends nothing else.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from starlette.background import BackgroundTask
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from jsonrill.dialects import DIALECTS
from jsonrill.eventstream import HEARTBEAT, encode_event
from jsonrill.jsontext import dumps
from jsonrill.starlette import HEADERS

from .formats import Rendering, rendering
from .log import Lost, StoreError, StoreUnavailable, cancel
from .options import Options, ViewOptions
from .read import Position
from .records import UNAVAILABLE, End

if TYPE_CHECKING:
    from .runs import Runs

STOPPED: Final = End("error", "STOPPED", "the server was stopped before the end: read it again")
TOO_SLOW: Final = End("error", "LIMIT_EXCEEDED", "the client takes nothing: read it again")
# The name of the ASGI extension with which our own server cuts a connection.
ABORT: Final = "jsonrill.abort"


@dataclass(slots=True)
class Reply:
    """A response before a framework makes one of it: a body, or a source of events."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    events: Events | None = None


def problem(status: int, code: str, message: str, **headers: str) -> Reply:
    body = dumps({"error": {"code": code, "message": message}}).encode()
    return Reply(status, {"content-type": "application/json", **headers}, body)


class Events:
    """The events of one reader; counted until it is closed."""

    def __init__(
        self, runs: Runs, source: AsyncGenerator[bytes], work: Rendering, resumes: bool
    ) -> None:
        self.runs = runs
        self.limits = runs.limits
        self._source = source
        self._work = work
        # Clients that resume need no word about an end that is not the stream's.
        self._resumes = resumes
        runs.readers += 1
        self._is_counted = True

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        yield b": open\n"
        retry = b""
        if self._work.closes:  # not the same for all, or they would come back together
            retry = b"retry: %d\n" % (random.uniform(0.75, 1.25) * self.limits.retry)
        try:
            async for data in self._source:
                yield retry + data
                retry = b""
        except StoreUnavailable:
            yield self.interruption(UNAVAILABLE)

    def interruption(self, why: End) -> bytes:
        """Return what is sent when the response ends before its stream."""
        if self._resumes:
            return b""
        return b"".join(encode_event(text) for text in self._work.interrupt(why.error or {}))

    async def aclose(self) -> None:
        if self._is_counted:
            self._is_counted = False
            self.runs.readers -= 1
        await self._source.aclose()


async def reply(
    runs: Runs,
    name: str,
    chosen: Mapping[str, Any],
    after: str,
    *,
    replay: bool,
    is_head: bool = False,
    missing: Reply | None = None,
) -> Reply:
    """Return the reply to a reader; `missing` if there is no such log."""
    try:
        position = Position.parse(after) if after else None
    except ValueError as error:
        return problem(400, "POSITION", str(error))
    try:
        found = await runs.find(name, position or Position())
    except Lost as error:
        return problem(410, "LOG_LOST", str(error))
    except StoreError:
        return problem(503, "UNAVAILABLE", "the store does not answer", **{"retry-after": "1"})
    if found is None:
        return missing or Reply(204)
    head, meta = found
    has_all = position is not None and position.is_end(head)
    if has_all or (head.closed and position is None and not replay):
        return Reply(204)
    if runs.readers >= runs.limits.readers:
        return problem(429, "TOO_MANY", "there are too many readers", **{"retry-after": "5"})
    options = Options.stored(meta.options)
    wanted = ViewOptions.of(chosen, options)
    work = rendering(options, wanted)
    dialect = DIALECTS.get(wanted.format)
    headers = {**HEADERS, **(dialect.headers if dialect else {})}
    if is_head:
        return Reply(200, headers)
    source = runs.readings.read(name, head, position or Position(), options, wanted, meta.lease)
    resumes = work.closes or position is not None
    return Reply(200, headers, events=Events(runs, source, work, resumes))


class EventResponse(Response):
    """Sends events as they come."""

    def __init__(self, events: Events, headers: Mapping[str, str]) -> None:
        self.status_code = 200
        self.background: BackgroundTask | None = None
        self.init_headers(headers)
        self._events = events
        # Since when something is being sent, and when the last piece was sent.
        self._sending: float | None = None
        self._sent = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        self._sent = asyncio.get_running_loop().time()
        gone = asyncio.create_task(_gone(receive))
        sender: asyncio.Task[None] | None = None
        try:
            await send({"type": "http.response.start", **start})
            sender = asyncio.create_task(self._send_all(send))
            why = await self._watch(sender, gone, send)
            await cancel(sender)
            await self._events.aclose()
            if why is TOO_SLOW and (abort := scope.get("extensions", {}).get(ABORT)):
                abort()
                await asyncio.wait({gone}, timeout=1.0)
            elif not gone.done():
                last = b"" if why is None else self._events.interruption(why)
                ending = asyncio.ensure_future(send({"type": "http.response.body", "body": last}))
                await asyncio.wait({ending, gone}, return_when=asyncio.FIRST_COMPLETED)
                await cancel(ending)
        finally:
            await cancel(sender, gone)
            await self._events.aclose()
        if self.background is not None:
            await self.background()

    async def _send_all(self, send: Send) -> None:
        try:
            async for data in self._events:
                await self._send(send, data)
        except OSError:
            pass  # the client has gone

    async def _send(self, send: Send, data: bytes) -> None:
        clock = asyncio.get_running_loop().time
        self._sending = clock()
        await send({"type": "http.response.body", "body": data, "more_body": True})
        self._sending, self._sent = None, clock()

    async def _watch(
        self, sender: asyncio.Task[None], gone: asyncio.Task[None], send: Send
    ) -> End | None:
        """Return why the response ends: None if everything is sent, or the client has gone."""
        limits, clock = self._events.limits, asyncio.get_running_loop().time
        tick = min(1.0, limits.heartbeat / 2, limits.send_timeout / 2)
        tasks = {sender, gone}
        while not self._events.runs.is_stopping:
            done, _ = await asyncio.wait(tasks, timeout=tick, return_when=asyncio.FIRST_COMPLETED)
            if done:
                if sender in done:
                    sender.result()
                return None
            if self._sending is not None:
                if clock() - self._sending > limits.send_timeout:
                    return TOO_SLOW
            elif clock() - self._sent >= limits.heartbeat:
                try:
                    async with asyncio.timeout(limits.send_timeout):
                        await self._send(send, HEARTBEAT)
                except TimeoutError:
                    return TOO_SLOW
        return STOPPED


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


# ---- `Runs.response`: what the frameworks send ----


def deferred_reply(
    runs: Runs, request: Any, name: str, chosen: Mapping[str, Any], replay: bool
) -> Callable[[], Awaitable[Reply]]:
    """Return what makes the reply to a request of Starlette or Django."""
    query = request.GET if hasattr(request, "META") else getattr(request, "query_params", None)
    if query is None:
        kind = type(request).__qualname__
        raise TypeError(f"a request is one of Starlette, FastAPI or Django, not {kind}")

    async def make() -> Reply:
        after = request.headers.get("last-event-id") or query.get("after") or ""
        is_head = request.method == "HEAD"
        return await reply(runs, name, chosen, after, replay=replay, is_head=is_head)

    return make


def response_of(answer: Reply) -> Response:
    if answer.events is None:
        return Response(answer.body, answer.status, answer.headers)
    return EventResponse(answer.events, answer.headers)


class Deferred(Response):
    """A response that is made when it is sent; or before, with `await`.

    Headers, cookies and the background task that you set on it apply to the response.
    """

    def __init__(
        self, make: Callable[[], Awaitable[Reply]], headers: Mapping[str, str] | None = None
    ) -> None:
        self._make = make
        self.status_code = 200
        self.background: BackgroundTask | None = None
        self.raw_headers = []
        self.headers.update(headers or {})

    async def _ready(self) -> Response:
        response = response_of(await self._make())
        response.background = self.background
        response.raw_headers += self.raw_headers
        return response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._ready())(scope, receive, send)

    def __await__(self) -> Generator[Any, Any, Response]:
        return self._ready().__await__()
