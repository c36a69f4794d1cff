"""The responses to readers: for Starlette, FastAPI, Django, and the routes of the server.

A response begins at once, sends a heartbeat in every silence, and ends when its client leaves, or
takes nothing for too long. A reader that leaves ends nothing else.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Mapping
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


class Json(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return dumps(content).encode()


def problem(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response for an error."""
    wait = {"retry-after": "5"} if status in (429, 503) else {}
    return Json({"error": {"code": code, "message": message}}, status, {**wait, **(headers or {})})


async def reply(
    runs: Runs,
    name: str,
    chosen: Mapping[str, Any],
    after: str,
    *,
    replay: bool,
    is_head: bool = False,
    missing: Response | None = None,
) -> Response:
    """Return the response to a reader; `missing` if there is no such log."""
    try:
        position = Position.parse(after) if after else None
        found = await runs.find(name, position or Position())
    except ValueError as error:
        return problem(400, "POSITION", str(error))
    except Lost as error:
        return problem(410, "LOG_LOST", str(error))
    except StoreError:
        return problem(503, "UNAVAILABLE", "the store does not answer")
    if found is None:
        return missing or Response(status_code=204)
    head, meta = found
    has_all = position is not None and position.is_end(head)
    if has_all or (head.closed and position is None and not replay):
        return Response(status_code=204)
    if runs.readers >= runs.limits.readers:
        return problem(429, "TOO_MANY", "there are too many readers")
    options = Options.stored(meta.options)
    view = ViewOptions.of(chosen, options)
    work = rendering(options, view)
    dialect = DIALECTS.get(view.format)
    headers = {**HEADERS, **(dialect.headers if dialect else {})}
    if is_head:
        return Response(headers=headers)
    source = runs.replays.read(name, head, position or Position(), options, view, meta.lease)
    return EventResponse(runs, source, work, headers, resumes=position is not None)


class EventResponse(Response):
    """Sends the events of one reader as they come, and a heartbeat in every silence."""

    def __init__(
        self,
        runs: Runs,
        source: AsyncGenerator[bytes],
        work: Rendering,
        headers: Mapping[str, str],
        resumes: bool,
    ) -> None:
        self.status_code = 200
        self.background: BackgroundTask | None = None
        self.init_headers(headers)
        self._runs = runs
        self._source = source
        self._work = work
        # Clients that resume need no word about an end that is not the stream's.
        self._resumes = resumes or work.closes
        # Since when something is being sent, and when the last piece was sent.
        self._sending: float | None = None
        self._sent = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"status": self.status_code, "headers": self.raw_headers}
        gone = asyncio.create_task(_gone(receive))
        try:
            await send({"type": "http.response.start", **start})
            end = await self._read(gone, send)
            if end is TOO_SLOW and (abort := scope.get("extensions", {}).get(ABORT)):
                abort()
                await asyncio.wait({gone}, timeout=1.0)
            elif not gone.done():
                body = b"" if end is None else self._interruption(end)
                ending = asyncio.ensure_future(send({"type": "http.response.body", "body": body}))
                await asyncio.wait({ending, gone}, return_when=asyncio.FIRST_COMPLETED)
                await cancel(ending)
        finally:
            await cancel(gone)
        if self.background is not None:
            await self.background()

    async def _read(self, gone: asyncio.Task[None], send: Send) -> End | None:
        """Send the events. Return why the response ends: None at their end, or without a client."""
        sender = asyncio.create_task(self._send_all(send))
        self._runs.readers += 1
        try:
            return await self._watch(sender, gone, send)
        finally:
            self._runs.readers -= 1
            await cancel(sender)
            await self._source.aclose()

    async def _send_all(self, send: Send) -> None:
        try:
            await self._send(send, b": open\n")
            if self._work.closes:  # not the same for all, or they would come back together
                retry = self._runs.limits.retry * random.uniform(0.75, 1.25)
                await self._send(send, b"retry: %d\n" % retry)
            async for data in self._source:
                await self._send(send, data)
        except StoreUnavailable:
            await self._send(send, self._interruption(UNAVAILABLE))
        except OSError:
            pass  # the client has gone

    async def _send(self, send: Send, data: bytes) -> None:
        clock = asyncio.get_running_loop().time
        self._sending = clock()
        await send({"type": "http.response.body", "body": data, "more_body": True})
        self._sending, self._sent = None, clock()

    def _interruption(self, end: End) -> bytes:
        """Return what is sent when the response ends before its stream."""
        if self._resumes:
            return b""
        return b"".join(encode_event(text) for text in self._work.interrupt(end.error or {}))

    async def _watch(
        self, sender: asyncio.Task[None], gone: asyncio.Task[None], send: Send
    ) -> End | None:
        """Send heartbeats, and notice what ends the response."""
        limits, clock = self._runs.limits, asyncio.get_running_loop().time
        tick = min(1.0, limits.heartbeat / 2, limits.send_timeout / 2)
        tasks = {sender, gone}
        self._sent = clock()
        while not self._runs.is_stopping:
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
