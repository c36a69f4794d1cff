"""The Durable Streams protocol: PUT, POST, GET, HEAD and DELETE on the log of a stream.

A client names its streams by paths below /v1/durable/, each owner its own. Every stream can also be
read under its id, with a ticket too. The log, its readers and their limits are those of all other
streams; forks are not supported.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final
from urllib.parse import quote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from jsonrill.eventstream import media_type
from jsonrill.ext.tasks import stop

from ..access.permissions import (
    Allowed,
    config_of,
    hub_of,
    is_revoked,
    owned,
    readable,
    require_holder,
)
from ..problems import Problem
from ..runs.answer import ReaderSource
from ..runs.durable import (
    DEFAULT_TYPE,
    BadRequest,
    DurableSettings,
    Page,
    body_of,
    cursor,
    offset,
    parse_offset,
    records_of,
    settings_of,
    stream_id,
    with_cursor,
)
from ..runs.hub import Hub
from ..runs.options import StreamOptions, ViewOptions
from ..runs.positions import Position
from ..runs.records import CLOSED
from ..runs.steps import Steps
from ..store import (
    LogClosed,
    OutOfOrder,
    Status,
    StoreError,
    StreamTaken,
    Tail,
    TurnRefused,
    UnknownStream,
)
from .producers import HEADERS as PRODUCER_HEADERS
from .producers import accepted, check_repeated, turn_of
from .publish import read_body
from .subscribe import answer

# What pages of other sites may send and read (CORS).
_STREAM: Final = ("stream-ttl", "stream-expires-at", "stream-closed")
REQUEST_HEADERS: Final = (*PRODUCER_HEADERS, *_STREAM, "stream-seq")
RESPONSE_HEADERS: Final = (
    *(*PRODUCER_HEADERS[1:], "producer-expected-seq", "producer-received-seq"),
    *(*_STREAM, "stream-next-offset", "stream-up-to-date", "stream-cursor"),
    "stream-sse-data-encoding",
)
LONGEST_PATH: Final = 1024
# A stream may be of any media type; no browser shall run what is in it.
_INERT: Final = {"content-security-policy": "sandbox; default-src 'none'"}
TICK: Final = 1.0
# What a response that is no event stream has at the most, and one batch of records.
PAGE_BYTES: Final = 16 << 20


async def create(request: Request) -> Response:
    """PUT /v1/durable/{path}: 201, or 200 if there is such a stream already."""
    hub, owner = hub_of(request), require_holder(request).name
    stream = _stream_of(request, owner)
    if any(name.startswith("stream-fork") for name in request.headers):
        raise Problem(501, "FORK", "streams cannot be forked here")
    closed = _closes(request)
    try:
        settings = DurableSettings.of(
            request.headers.get("content-type") or DEFAULT_TYPE,
            request.headers.get("stream-ttl"),
            request.headers.get("stream-expires-at"),
        )
    except BadRequest as bad:
        raise Problem(400, "BAD_REQUEST", str(bad)) from bad
    body = await read_body(request, config_of(request).body_bytes)
    records = await _records(request, body, settings) if body else []
    while True:
        try:
            status = await hub.store.acquire(
                stream,
                "",
                lease=settings.lease(hub.settings.keep_open),
                owner=owner,
                meta=settings.to_options().to_bytes(),
                ttl=settings.seconds(),
                until=settings.until(),
                records=records,
                end=CLOSED.to_bytes() if closed else None,
            )
        except StreamTaken:
            pass
        else:
            hub.created(stream, records)
            return Response(None, 201, {**_state(stream, status), "location": _url(request)})
        try:
            status = await hub.status(stream)
        except UnknownStream:
            continue  # it has expired since
        known = DurableSettings.in_options(StreamOptions.from_bytes(status.meta))
        if known is None or not settings.is_as(known) or closed != status.closed:
            raise Problem(409, "EXISTS", "there is another stream of this name", _place(status))
        return Response(None, 200, _state(stream, status))


async def append(request: Request) -> Response:
    """POST: append the body, close the stream, or both."""
    hub, allowed = hub_of(request), await _owned(request)
    status = allowed.status
    settings = DurableSettings.in_options(StreamOptions.from_bytes(status.meta))
    if settings is None:
        message = "this stream was created by POST /v1/streams: append with POST …/chunks"
        raise Problem(405, "METHOD", message, {"allow": "GET, HEAD, DELETE"})
    turn, closes = turn_of(request), _closes(request)
    body = await read_body(request, config_of(request).body_bytes)
    records = []
    if body:
        _check_type(request, settings)
        records = await _records(request, body, settings)
    if not records and (body or not closes):
        raise Problem(400, "EMPTY", "there is nothing to append")
    try:
        tail = await hub.write(
            allowed.stream,
            records,
            lease=settings.lease(hub.settings.keep_open),
            turn=turn,
            order=request.headers.get("stream-seq", "").encode("latin-1"),
            end=CLOSED.to_bytes() if closes else None,
        )
    except TurnRefused as refused:
        assert turn is not None
        check_repeated(turn, refused)
        place = _at(refused.tail, refused.closed)
        return Response(None, 204, {**place, **accepted(refused.epoch, refused.seq)})
    except OutOfOrder as error:
        raise Problem(409, "ORDER", str(error)) from error
    except LogClosed as error:
        status = await hub.store.status(allowed.stream)
        if body or turn is not None:
            raise Problem(409, "CLOSED", "the stream has ended", _place(status)) from error
        return Response(None, 204, _place(status))
    place = _at(tail, closes)
    if turn is None:
        return Response(None, 204, place)
    return Response(None, 200 if body else 204, {**place, **accepted(turn.epoch, turn.seq)})


async def head(request: Request) -> Response:
    """HEAD: the state of the stream; it does not count as use."""
    allowed = await _readable(request)
    response = Response(None, 200, _state(allowed.stream, allowed.status))
    # A HEAD has no body, and the length of that of a GET is not known.
    del response.headers["content-length"]
    return response


async def delete(request: Request) -> Response:
    """DELETE: delete the stream."""
    allowed = await _owned(request)
    await hub_of(request).store.delete(allowed.stream)
    return Response(status_code=204)


async def read(request: Request) -> Response:
    """GET: what comes after an offset, now or as soon as there is something."""
    offsets, live = request.query_params.getlist("offset"), request.query_params.get("live")
    if len(offsets) > 1 or live not in (None, "long-poll", "sse") or (live and not offsets):
        message = "a request has one offset; live is long-poll or sse, and needs one"
        raise Problem(400, "BAD_REQUEST", message)
    hub, allowed = hub_of(request), await _readable(request)
    status = allowed.status
    settings = settings_of(StreamOptions.from_bytes(status.meta))
    start = _start(offsets[0] if offsets else "-1", status)
    page = await _page(hub, allowed.stream, *start)
    if settings.ttl is not None:
        await hub.store.touch(allowed.stream, settings.lease(hub.settings.keep_open))
    if live == "sse":
        return await _events(request, allowed, settings, page, Position(start[0], mark=start[1]))
    if live and not page.data and not page.closed:
        page = await _awaited(request, hub, allowed, page)
    page = await _with_all(hub, allowed.stream, page)
    response = _answer(request, settings, page, start[0], live=live is not None)
    if offsets == ["now"]:
        del response.headers["etag"]
    allowed.hand_out(request, response)
    return response


def _start(text: str, status: Status) -> tuple[int, int | None]:
    """Return the record after which a client reads on, and its mark if that is known."""
    if text == "-1":
        return 0, None
    if text == "now":
        return status.last, status.mark
    try:
        return parse_offset(text)
    except BadRequest as bad:
        raise Problem(400, "OFFSET", str(bad)) from bad


async def _page(hub: Hub, stream: str, after: int, mark: int | None) -> Page:
    """Return the next page of a log; a Problem if it ended with an error, and that is all."""
    log_page = await hub.store.peek(stream, after, mark)
    entries = log_page.entries
    if not entries and not log_page.closed:
        return Page((), Tail(log_page.last, log_page.mark), True)
    if entries:
        page = Page.of(entries, up_to_date=entries[-1].seq == log_page.last)
    else:
        last = (await hub.store.peek(stream, log_page.last - 1)).entries
        page = Page.of(last, up_to_date=True)._replace(data=())
    if page.failed is not None and not page.data:
        raise Problem(410, page.failed.code, page.failed.message)
    return page


async def _with_all(hub: Hub, stream: str, page: Page) -> Page:
    """Return a page with what follows it, up to a size: some clients ask for one page only."""
    data = [*page.data]
    size = sum(len(entry.data) for entry in data)
    while not page.up_to_date and page.failed is None and size < PAGE_BYTES:
        try:
            page = await _page(hub, stream, *page.tail)
        except Problem:
            break  # for the next request
        data += page.data
        size += sum(len(entry.data) for entry in page.data)
    return page._replace(data=data)


async def _awaited(request: Request, hub: Hub, allowed: Allowed, page: Page) -> Page:
    """Return the next page as soon as there is one, or the same one when the time is over."""
    clock = asyncio.get_running_loop().time
    until = clock() + config_of(request).long_poll
    with hub.counted(allowed.stream):
        reading = hub.store.read(allowed.stream, *page.tail)
        waiting = asyncio.ensure_future(anext(reading, []))
        try:
            while not waiting.done() and clock() < until:
                if hub.stopping or is_revoked(request, allowed.holder):
                    return page
                if await request.is_disconnected():
                    raise ClientDisconnect
                await asyncio.wait({waiting}, timeout=min(TICK, until - clock()))
            if not waiting.done() or not waiting.result():
                return page
        finally:
            await stop(waiting)
    return await _page(hub, allowed.stream, *page.tail)


def _answer(
    request: Request, settings: DurableSettings, page: Page, start: int, *, live: bool
) -> Response:
    headers = {"content-type": settings.content_type, **_at(page.tail, page.closed)}
    if page.up_to_date:
        headers["stream-up-to-date"] = "true"
    if live:
        headers["stream-cursor"] = cursor(request.query_params.get("cursor"))
        if not page.data:
            del headers["content-type"]
            return Response(None, 204, headers)
    tag = f'"{start}:{offset(page.tail)}{":closed" if page.closed else ""}"'
    headers |= {"etag": tag, **_INERT}
    if tag in request.headers.get("if-none-match", ""):
        return Response(None, 304, headers)
    return Response(body_of(page.data, settings), 200, headers)


async def _events(
    request: Request, allowed: Allowed, settings: DurableSettings, page: Page, start: Position
) -> Response:
    headers = {"content-type": "text/event-stream", "cache-control": "no-cache, no-store", **_INERT}
    if not settings.is_text:
        headers["stream-sse-data-encoding"] = "base64"
    theirs = request.query_params.get("cursor")
    source = Events(hub_of(request), allowed, settings, page, start, theirs)
    return await answer(request, allowed, source.options, start, headers, source=source)


class Events(ReaderSource):
    """The events of a stream, read with all other readers.

    Who has all that is there is told so first. A stream with a time to live lives on while it has
    readers.
    """

    options = ViewOptions(format="durable")

    def __init__(
        self,
        hub: Hub,
        allowed: Allowed,
        settings: DurableSettings,
        page: Page,
        start: Position,
        cursor: str | None,
    ) -> None:
        self._settings = settings
        self._page = page
        self._cursor = cursor
        self._keeping: asyncio.Task[None] | None = None
        super().__init__(hub, allowed.stream, allowed.status, self.options, start)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._settings.ttl:
            self._keeping = asyncio.create_task(self._keep())
        if not self._page.data:
            yield self._page.events(self._settings, cursor(self._cursor))
        if self._page.data or not self._page.closed:
            async for chunk in super().__aiter__():
                yield with_cursor(chunk, self._cursor)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._settings.seconds() / 3)
            with suppress(StoreError):
                lease = self._settings.lease(self._hub.settings.keep_open)
                await self._hub.store.touch(self._stream, lease)

    async def aclose(self) -> None:
        await stop(self._keeping)
        await super().aclose()


def _stream_of(request: Request, owner: str) -> str:
    path = str(request.path_params["path"])
    if not 0 < len(path) <= LONGEST_PATH:
        raise Problem(400, "PATH", f"the path of a stream has 1 to {LONGEST_PATH} characters")
    return stream_id(owner, path)


async def _owned(request: Request) -> Allowed:
    """Return the stream in the path, given by name or by id, if the client owns it."""
    if "path" in request.path_params:
        owner = require_holder(request).name
        request.path_params["id"] = _stream_of(request, owner)
    return await owned(request)


async def _readable(request: Request) -> Allowed:
    """Return the stream in the path if the client may read it. A ticket is for an id."""
    return await (_owned if "path" in request.path_params else readable)(request)


async def _records(request: Request, body: bytes, settings: DurableSettings) -> list[bytes]:
    most, limit = config_of(request).stream_entries, config_of(request).record_bytes
    reading = Steps().of(records_of(body, settings, limit, most), len(body))
    try:
        return [record async for part in reading for record in part]
    except OverflowError as error:
        raise Problem(413, "LIMIT_EXCEEDED", str(error)) from error
    except BadRequest as bad:
        raise Problem(400, "INVALID_JSON", str(bad)) from bad


def _check_type(request: Request, settings: DurableSettings) -> None:
    kind = media_type(request.headers.get("content-type", ""))
    if not kind:
        raise Problem(400, "MEDIA_TYPE", "a body needs a Content-Type")
    if kind != media_type(settings.content_type):
        raise Problem(409, "MEDIA_TYPE", f"this stream is {media_type(settings.content_type)}")


def _closes(request: Request) -> bool:
    flag = request.headers.get("stream-closed", "false").lower()
    if flag not in ("true", "false"):
        raise Problem(400, "HEADER", "Stream-Closed is true, or is left out")
    return flag == "true"


def _place(status: Status) -> dict[str, str]:
    return _at(Tail(status.last, status.mark), status.closed)


def _at(tail: Tail, closed: bool) -> dict[str, str]:
    """Return the headers that say where a stream ends, and whether it is closed."""
    return {"stream-next-offset": offset(tail), **({"stream-closed": "true"} if closed else {})}


def _state(stream: str, status: Status) -> dict[str, str]:
    settings = settings_of(StreamOptions.from_bytes(status.meta))
    return {**settings.headers(), **_place(status), "jsonrill-stream": stream, **_INERT}


def _url(request: Request) -> str:
    """Return the URL of this request, as the client wrote its path."""
    raw: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    path = raw.partition(b"?")[0].decode("latin-1")
    return f"{request.url.scheme}://{request.url.netloc}{path}"
