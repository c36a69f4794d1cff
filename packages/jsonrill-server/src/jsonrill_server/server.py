"""The server: HTTP around `Runs`. A stream is a log whose records arrive in requests.

A log's name begins with the stream's owner, so a token gives access to its owner's streams only.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Body, Depends, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from jsonrill import __version__
from jsonrill.errors import LimitExceeded
from jsonrill.eventstream import is_event_stream, is_lines, media_type
from jsonrill.jsontext import dumps, write
from jsonrill.sources.events import EventText

from . import demo, log
from .access import Guard, Metrics, Problem, Tokens
from .options import CHOICES, BadOption, Options, StreamOptions
from .produce import Limits, Writer
from .read import Position
from .records import CANCELLED, End, Input, Record, end_of_error, to_bytes
from .result import Meta, read_answer_end, read_end, read_run
from .runs import Runs, stop_before_server
from .settings import Settings
from .web import Json, problem, reply

ID: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}")
# Seconds that a request waits for an unavailable store.
HOLD: Final = 5.0
# One large value at a time: garbage collection is slow while several are being built.
LARGE: Final = 1 << 20
# Bytes of a body that are decoded without a thread.
SHORT: Final = 4096
NO_STREAM: Final = "there is no such stream"
# Characters of one record of text, and the types of its body.
PIECE: Final = 64 << 10
TEXT: Final = ("application/json", "text/plain", "application/octet-stream")


class Ending(BaseModel):
    """The body of POST …/close; without one the stream is complete."""

    model_config = ConfigDict(extra="forbid", strict=True)

    status: Literal["complete", "error"] = "complete"
    code: str = Field(default="FAILED", min_length=1, max_length=64)
    message: str = Field(default="the producer failed", max_length=4096)


class Intake:
    """Decodes a body, splits it, and checks that its parts are what a stream takes."""

    def __init__(self, media: str, input: Input, limit: int) -> None:
        self._input = input
        self._limit = limit
        self._has_lines = is_lines(media)
        self._is_text = input == "text" and media in TEXT
        self._events: EventText | None = None
        if is_event_stream(media) and input == "events":
            self._events = EventText(sse=True, limit=limit)
        elif not (self._has_lines or self._is_text or media == "application/json"):
            sent = media or "a body without a type"
            raise Problem(415, "MEDIA_TYPE", f"a stream of {input} cannot be sent as {sent}")
        self._utf8: Any = getincrementaldecoder("utf-8")()
        self._rest = ""
        self._number = 0

    def feed(self, data: bytes, is_last: bool = False) -> list[Record]:
        """Return the records that are complete with these bytes."""
        try:
            text = self._utf8.decode(data, is_last)
        except UnicodeDecodeError as error:
            raise _invalid("the body is not UTF-8") from error
        if self._is_text:
            pieces = range(0, len(text), PIECE)
            return [Record("text", text[at : at + PIECE]) for at in pieces]
        parts = self._split(text, is_last) if self._events is None else self._events.feed(text)
        if self._events is not None and is_last:
            parts += self._events.flush()
        return [self._record(part) for part in map(str.strip, parts) if part]

    def _split(self, text: str, is_last: bool) -> list[str]:
        """Return the lines of a body, or all of it."""
        text = self._rest + text
        *parts, self._rest = text.split("\n") if self._has_lines else [text]
        if max(map(len, (*parts, self._rest))) > self._limit:
            raise LimitExceeded(f"a record has at most {self._limit} bytes")
        return [*parts, self._rest] if is_last else parts

    def _record(self, text: str) -> Record:
        self._number += 1
        place = f"record {self._number} of the body"
        try:
            value = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise _invalid(f"{place} is not JSON") from error
        if self._input == "text" and isinstance(value, str):
            return Record("text", value)
        if self._input == "text" or (self._input == "events" and not isinstance(value, dict)):
            kind = "string" if self._input == "text" else "object"
            raise _invalid(f"{place} is not a JSON {kind}, and input is {self._input}")
        return Record(self._input, text)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _invalid(message: str) -> Problem:
    return Problem(400, "INVALID_BODY", message)


class Server:
    """The state of one application."""

    def __init__(self, settings: Settings, store: log.Store | None) -> None:
        self.settings = settings
        self.tokens = Tokens(settings)
        self.metrics = Metrics()
        self.large_values = asyncio.Lock()
        limits = settings.model_dump(include={field.name for field in fields(Limits)})
        self.runs = Runs(store or settings.store, **limits)
        self.metrics.readers.set_function(lambda: self.runs.readers)


class Stream:
    """The stream that a request names; it belongs to the owner of the request's token."""

    def __init__(self, request: Request, id: str) -> None:
        server: Server = request.app.state.server
        self.owner = server.tokens.owner(request)
        if not ID.fullmatch(id):
            raise Problem(404, "UNKNOWN", NO_STREAM)
        self.id = id
        self.name = f"s/{self.owner}/{id}"
        self.server = server
        self.runs = server.runs
        base = f"{request.scope.get('root_path', '')}/v1/streams/{id}"
        paths = ("events", "close", "cancel", "value")
        self.urls = {"stream": base, **{path: f"{base}/{path}" for path in paths}}

    async def create(self, body: Any) -> Response:
        """Create the stream; 200 if it exists, 409 if it exists with other options."""
        options, settings = Options(body), self.server.settings
        keep = min(options.given.get("keep") or settings.keep, settings.keep)
        lease = options.given.get("lease") or settings.lease
        meta = Meta(self.id, options.given, lease=lease)
        new = log.NewLog(meta.to_json(), self.owner, keep, settings.owner_streams)
        await self.runs.open()
        is_new = await self.runs.store.create(self.name, new, lease) is not None
        if not is_new and (await self.find())[1].options != options.given:
            raise Problem(409, "EXISTS", "there is a stream with this id and other options")
        body = {"id": self.id, "urls": self.urls}
        return Json(body, 201 if is_new else 200, {"location": self.urls["stream"]})

    async def find(self) -> tuple[log.Head, Meta]:
        """Return the stream; 404 if there is none."""
        found = await self.runs.find(self.name, Position())
        if found is None:
            raise Problem(404, "UNKNOWN", NO_STREAM)
        return found

    async def status(self) -> Response:
        head, meta = await self.find()
        end = await read_end(self.runs.store, self.name) if head.closed else None
        body = {
            "id": self.id,
            "status": "active" if end is None else end.status,
            "input": Options.stored(meta.options).input,
            "last": head.last,
            "closed": head.closed,
            "bytes": head.size,
            "options": meta.options,
        }
        return Json(body if end is None or end.error is None else {**body, "error": end.error})

    async def writer(self) -> tuple[Writer, Options]:
        """Become the writer of the stream; 409 if it has ended."""
        _, meta = await self.find()
        head = await self.runs.store.claim(self.name, meta.lease)
        if head is None:
            raise Problem(409, "CLOSED", "the stream has ended")
        writer = self.runs.lifecycle.writer(self.name, head, meta, HOLD)
        return writer, Options.stored(meta.options)

    async def append(self, writer: Writer, records: list[Record], after: int | None) -> Writer:
        """Append records; return a new writer if another request has become the writer.

        With `after` they come after that record, or are there already, or are refused with 409.
        """
        data = [to_bytes(record) for record in records]
        for _ in range(100):
            last = writer.head.last
            if after is not None and after != last:
                if after + len(records) <= last:
                    return writer
                message = f"the last record is {last}"
                raise Problem(409, "SEQUENCE", message, producer_seq=str(last))
            try:
                await writer.add(data)
                self.server.metrics.records.inc(len(data))
                return writer
            except log.Fenced:
                writer, _ = await self.writer()
            except LimitExceeded as error:
                await self.runs.lifecycle.end(self.name, end_of_error(error))
                raise
        raise Problem(409, "TAKEN", "too many requests append to this stream")


router = APIRouter()
StreamOf = Annotated[Stream, Depends(Stream)]
OptionsOf = Annotated[StreamOptions | None, Body()]
RECORDS: Final = ("application/json", "text/plain", "application/x-ndjson", "text/event-stream")
BODY: Final[Any] = {"requestBody": {"content": {kind: {"schema": {}} for kind in RECORDS}}}
FIELDS: Final = {**CHOICES.json_schema()["properties"], "after": {"type": "string"}}
QUERY: Final = [{"name": name, "in": "query", "schema": form} for name, form in FIELDS.items()]


@router.post("/v1/streams", status_code=201)
async def create_stream(request: Request, options: OptionsOf = None) -> Response:
    """Create a stream."""
    return await Stream(request, secrets.token_urlsafe(18)).create(options or {})


@router.put("/v1/streams/{id}", status_code=201)
async def put_stream(stream: StreamOf, options: OptionsOf = None) -> Response:
    """Create a stream with your own id. Repeating the request changes nothing."""
    return await stream.create(options or {})


@router.get("/v1/streams/{id}")
async def get_stream(stream: StreamOf) -> Response:
    """Get the status of a stream."""
    return await stream.status()


@router.delete("/v1/streams/{id}", status_code=204)
async def delete_stream(stream: StreamOf) -> Response:
    """Delete a stream."""
    await stream.find()
    await stream.runs.store.delete(stream.name)
    return Response(status_code=204)


@router.post("/v1/streams/{id}/events", openapi_extra=BODY)
async def append_records(
    request: Request,
    stream: StreamOf,
    producer_seq: Annotated[int | None, Header(ge=0, lt=10**9)] = None,
    content_length: Annotated[int | None, Header(include_in_schema=False)] = None,
) -> Response:
    """Append records. With `Producer-Seq: n` append them after record n, unless that was done."""
    settings = stream.server.settings
    writer, options = await stream.writer()
    media = media_type(request.headers.get("content-type", ""))
    intake = Intake(media, options.input, settings.record_bytes)
    is_short = content_length is not None and content_length <= settings.record_bytes
    is_whole = producer_seq is not None or is_short
    records: list[Record] = []
    async for data in request.stream():
        feed = partial(intake.feed, data, is_last=not data)
        records += feed() if len(data) < SHORT else await asyncio.to_thread(feed)
        if not data if is_whole else records:
            writer = await stream.append(writer, records, producer_seq)
            records = []
    return Json({"last": writer.head.last})


@router.post("/v1/streams/{id}/close")
async def close_stream(stream: StreamOf, ending: Ending | None = None) -> Response:
    """End a stream, as complete or with an error. Repeating the request changes nothing."""
    ending = ending or Ending()
    head, _ = await stream.find()
    if not head.closed:
        end = End("error", ending.code, ending.message)
        if ending.status == "complete":
            end = await read_answer_end(stream.runs.store, stream.name)
        await stream.runs.lifecycle.end(stream.name, end)
    return await stream.status()


@router.post("/v1/streams/{id}/cancel")
async def cancel_stream(stream: StreamOf) -> Response:
    """Stop a stream."""
    await stream.find()
    await stream.runs.lifecycle.end(stream.name, CANCELLED)
    return await stream.status()


@router.get("/v1/streams/{id}/events", openapi_extra={"parameters": QUERY})
async def read_events(
    request: Request, stream: StreamOf, last_event_id: Annotated[str | None, Header()] = None
) -> Response:
    """Read a stream as server-sent events, after `Last-Event-ID` or `after`; 204 at its end."""
    choices = dict(request.query_params)
    after = choices.pop("after", "")
    replay = choices.get("format") != "ai-sdk"
    missing = problem(404, "UNKNOWN", NO_STREAM)
    name, after = stream.name, last_event_id or after
    return await reply(stream.runs, name, choices, after, replay=replay, missing=missing)


@router.get("/v1/streams/{id}/value")
async def read_value(stream: StreamOf) -> Response:
    """Get the value so far."""
    head, _ = await stream.find()
    async with stream.server.large_values if head.size > LARGE else nullcontext():
        run = await read_run(stream.runs.store, stream.name)
        if run is None:
            raise log.Lost("the stream was deleted meanwhile")
        # Written by a function that a thread can be interrupted in.
        body = await asyncio.to_thread(lambda: write(run.current_value(), dumps))
    return Response(body, media_type="application/json")


@router.get("/livez")
async def live() -> Response:
    """Check that the process answers."""
    return Json({"status": "ok"})


@router.get("/readyz")
async def ready(request: Request) -> Response:
    """Check that the store accepts writes and that the server is not stopping."""
    runs: Runs = request.app.state.server.runs
    if runs.is_stopping:
        raise Problem(503, "STOPPING", "the server is about to stop")
    async with asyncio.timeout(HOLD):
        await runs.open()
        await runs.store.probe()
    return Json({"status": "ok"})


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Get the metrics in the Prometheus format."""
    server: Server = request.app.state.server
    server.tokens.owner(request)
    text = generate_latest(server.metrics.registry)
    return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})


# ---- the application ----

# The codes of errors that no route has raised; /openapi.json lists the routes.
CODES: Final = {404: "NOT_FOUND", 405: "METHOD"}
# The responses to errors; without a message it is the error's own.
ANSWERS: Final[dict[type[Exception], tuple[int, str, str]]] = {
    BadOption: (422, "BAD_OPTION", ""),
    LimitExceeded: (413, "LIMIT_EXCEEDED", ""),
    log.Lost: (404, "UNKNOWN", NO_STREAM),
    log.Fenced: (409, "CLOSED", "the stream has ended"),
    log.TooManyLogs: (429, "TOO_MANY", ""),
    log.StoreFull: (503, "FULL", ""),
    log.StoreError: (503, "UNAVAILABLE", "the store does not answer"),
    TimeoutError: (503, "UNAVAILABLE", "the store does not answer"),
    Exception: (500, "INTERNAL", "the server failed"),
}


def create_app(settings: Settings | None = None, *, store: log.Store | None = None) -> FastAPI:
    """Return the server as an ASGI application, to run or to mount in another one.

    It opens its store with its lifespan, or, mounted where no lifespan is run, with the first
    request; `app.state.server.runs.close()` closes it then.
    """
    settings = settings or Settings()
    server = Server(settings, store)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            await server.runs.open()
            stop_before_server()  # again: uvicorn has replaced the handlers
            yield
        finally:
            await server.runs.close()

    app = FastAPI(
        title="jsonrill",
        version="1",
        description="Resumable JSON streams.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers=dict.fromkeys(
            [*ANSWERS, RequestValidationError, HTTPException], _answer
        ),
    )
    app.state.server = server
    app.include_router(router)
    if settings.demo:
        demo.add_routes(app, server.tokens)
    add_page(app)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[*settings.origins],
            allow_methods=["GET", "HEAD", "POST", "PUT", "DELETE"],
            allow_headers=["*"],
            expose_headers=["location", "producer-seq"],
        )
    app.add_middleware(Guard, settings=settings, metrics=server.metrics)
    return app


async def _answer(request: Request, error: Exception) -> Response:
    """Return the response for an error."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        place = "".join(f"{name}: " for name in first["loc"][-1:])
        return problem(422, "BAD_OPTION", place + first["msg"])
    if isinstance(error, HTTPException):
        code = getattr(error, "code", CODES.get(error.status_code, "HTTP"))
        return problem(error.status_code, code, error.detail, error.headers)
    status, code, message = next(ANSWERS[kind] for kind in type(error).__mro__ if kind in ANSWERS)
    return problem(status, code, message or str(error))


# ---- the page at / and its modules below /web ----


def add_page(app: FastAPI) -> None:
    """Serve the page: the bundle in a wheel, or the source modules in a clone.

    The files are public, but the page's requests need a token.
    """
    installed = Path(__file__).parent / "web"
    root = installed if installed.is_dir() else Path(__file__).parents[4]
    html = (root / "page/index.html").read_text("utf-8")
    html = html.replace('data-version=""', f'data-version="{__version__}"')

    async def index() -> Response:
        return HTMLResponse(html)

    app.add_api_route("/", index, include_in_schema=False)
    for path, folder in (("page", "page"), ("js/src", "js/src"), ("lib", "js/src")):
        app.mount(f"/web/{path}", GZipMiddleware(StaticFiles(directory=root / folder)))
