"""The responses to readers: for Starlette, FastAPI, Django, and the routes of the server.

A response starts at once and sends a heartbeat whenever there are no events for a while. It ends
when its client disconnects, or reads nothing for too long. The run continues.
"""

from __future__ import annotations

import asyncio
import random
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from math import inf
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
from .options import Options
from .read import Position
from .records import UNAVAILABLE, End

if TYPE_CHECKING:
    from .runs import Runs

STOPPED: Final = End("error", "STOPPED", "the server was stopped before the end: read it again")


class Json(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return dumps(content).encode()


def problem(status: int, code: str, message: str, headers: Any = None) -> Response:
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
    options = Options.stored(meta.options, chosen)
    dialect = DIALECTS.get(options.format)
    headers = {**HEADERS, **(dialect.headers if dialect else {})}
    if is_head:
        return Response(headers=headers)
    source = runs.replays.read(name, head, position or Position(), options, meta.lease)
    # A client that can resume reconnects on its own, so do not send it an error.
    resumes = dialect is None or position is not None
    interrupted = None if resumes else rendering(options)
    return EventResponse(runs, source, headers, interrupted, retries=dialect is None)


class EventResponse(Response):
    """Sends events to one client as they arrive."""

    def __init__(
        self,
        runs: Runs,
        source: AsyncGenerator[bytes],
        headers: Mapping[str, str],
        interrupted: Rendering | None,
        retries: bool,
    ) -> None:
        self.status_code = 200
        self.background: BackgroundTask | None = None
        self.init_headers(headers)
        self._runs = runs
        self._source = source
        self._interrupted = interrupted
        self._retries = retries
        self._sending: asyncio.Task[None]
        self._since = inf  # when sending the current piece began

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        gone = asyncio.create_task(_gone(receive))
        self._sending = sending = asyncio.create_task(self._send(send))
        self._runs.responses.add(self)
        try:
            await asyncio.wait((gone, sending), return_when=FIRST_COMPLETED)
            if sending.done() and not sending.cancelled():
                sending.result()
            await cancel(sending)
            sending = asyncio.create_task(_finish(send))
            await asyncio.wait((gone, sending), return_when=FIRST_COMPLETED)
        except OSError:
            pass  # the client has disconnected
        finally:
            self._runs.responses.remove(self)
            await cancel(sending, gone)
        if self.background is not None:
            await self.background()

    def stop_if_stalled(self, now: float) -> None:
        """Stop sending to a client that has taken nothing for too long."""
        patience = 1.0 if self._runs.is_stopping else self._runs.limits.send_timeout
        if now - self._since > patience:
            self._sending.cancel()

    async def _send(self, send: Send) -> None:
        clock = asyncio.get_running_loop().time
        async with aclosing(self.pieces()) as pieces:
            async for piece in pieces:
                self._since = clock()
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                self._since = inf

    async def pieces(self) -> AsyncGenerator[bytes]:
        """Yield the events, and a heartbeat when there are none for a while."""
        limits, clock = self._runs.limits, asyncio.get_running_loop().time
        self._runs.readers += 1
        try:
            yield b": open\n"
            if self._retries:
                # Add jitter so that clients do not all reconnect at once.
                yield b"retry: %d\n" % (limits.retry * random.uniform(0.75, 1.25))
            due = clock() + limits.heartbeat
            async for data in self._source:
                if self._runs.is_stopping:
                    yield self._interruption(STOPPED)
                    return
                if data or clock() >= due:
                    yield data or HEARTBEAT
                    due = clock() + limits.heartbeat
        except StoreUnavailable:
            yield self._interruption(UNAVAILABLE)
        finally:
            self._runs.readers -= 1
            await self._source.aclose()

    def _interruption(self, end: End) -> bytes:
        """Return the bytes to send when the response ends before its stream."""
        if self._interrupted is None:
            return b""
        return b"".join(map(encode_event, self._interrupted.interrupt(end.error or {})))


def django_response(response: Response) -> Any:
    """Return the same response for Django, which notices clients that leave, but not slow ones."""
    from django.http import HttpResponse, StreamingHttpResponse

    if isinstance(response, EventResponse):
        inner: Any = StreamingHttpResponse(response.pieces())
    else:
        inner = HttpResponse(response.body, status=response.status_code)
    del inner.headers["content-type"]
    for name, value in response.headers.items():
        inner[name] = value
    return inner


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _finish(send: Send) -> None:
    await send({"type": "http.response.body", "body": b""})
