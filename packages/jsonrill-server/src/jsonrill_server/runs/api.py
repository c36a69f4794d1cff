"""`Runs`: generations that go on when their reader leaves, and can be read again, in any format.

A run is a log under a key that the program chooses. `start` writes a source to it, in a task of
this process; any process with the same store reads it, from any position, as often as it likes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, ExitStack, aclosing, suppress
from types import TracebackType
from typing import Any, Final, NamedTuple, TypedDict, Unpack

from jsonrill.driver import close_async_source
from jsonrill.errors import JsonrillError, check_names
from jsonrill.eventstream import SSEDecoder, ends_stream

from ..store import (
    Store,
    StoreError,
    StoreUnavailable,
    StreamTaken,
    UnknownStream,
    open_store,
)
from .answer import BadPosition, Reply, has_all, position_of, problem, reply
from .claim import Claim
from .elements import check, records_of
from .options import EventOptions, RunOptions, StreamOptions, TooMany, ViewOptions
from .positions import START
from .records import CANCELLED, End
from .render import check_options
from .run import OnEnd, Resume, ResumeKey, ResumeNamed, Run
from .settings import Settings
from .shutdown import before_the_end
from .takeover import Begun, RunHub
from .value import read_log

log = logging.getLogger("jsonrill_server.runs")
OWNER: Final = "runs"
_SAFE: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")


class RunSettings(TypedDict, total=False):
    """Settings of `Runs`. They mean what they mean for the server; times are in seconds."""

    heartbeat: float
    send_timeout: float
    retry: int
    max_connection: float
    readers: int
    readers_per_stream: int
    stream_bytes: int
    stream_entries: int
    total_streams: int
    keep_open: float
    keep_closed: float
    grace: float


class RunFailed(JsonrillError):
    """A run ended with an error, or was cancelled; `code` says how."""

    def __init__(self, end: End) -> None:
        super().__init__(end.message)
        self.code = end.code


class RunEvent(NamedTuple):
    """One event of a run: its id, a position from which another reader goes on, and its data."""

    id: str
    data: Any


class Runs:
    """Generations under keys, in this process and its store; used in one event loop.

    `store` is a URL (`memory:`, `sqlite:///file`, `redis://host` …) or a `Store`. It is opened when
    it is first needed, or by `async with`, which also closes it. `lease` are the seconds after
    which a run counts as lost when its process is gone: then its readers get an ERROR. With
    `resume`, called with the key of a lost run and the number of its events, a process that reads
    it goes on with it instead. `resume` may also be functions by name, for runs that were started
    with that name: `function(run, **args)` continues after what is logged. `on_end` is called
    with each `Run` that ends here.
    """

    def __init__(
        self,
        store: str | Store = "memory:",
        *,
        lease: float = 10.0,
        takeover: float = 30.0,
        resume: ResumeKey | Mapping[str, ResumeNamed] | None = None,
        on_end: OnEnd | None = None,
        **settings: Unpack[RunSettings],
    ) -> None:
        if not isinstance(store, str | Store):
            raise TypeError(
                "the store of runs is a URL, such as memory:, or a Store, not one of type"
                f" {type(store).__name__}"
            )
        values: dict[str, Any] = dict(settings)
        named = dict(resume) if isinstance(resume, Mapping) else {}
        again: Any = None if isinstance(resume, Mapping) else resume
        _functions(on_end=on_end, resume=again, **named)
        check_names(values, RunSettings.__annotations__)
        total = Settings.__dataclass_fields__["total_streams"].default
        values["owner_streams"] = values.get("total_streams", total)
        limits = Settings(**values)
        times: tuple[object, ...] = (lease, takeover)
        if not all(isinstance(it, int | float) for it in times) or not (lease > 0 <= takeover):
            raise ValueError("lease and takeover are seconds, and a lease is longer than none")
        kept = open_store(store, limits.bounds()) if isinstance(store, str) else store
        self._hub = RunHub(limits, kept, lease, takeover, again, named, on_end)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._signals: ExitStack | None = None

    async def __aenter__(self) -> Runs:
        await self._opened()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the responses of readers, wait `grace` seconds for runs, and close the store.

        What still runs then ends with an ERROR, unless another process may go on with it.
        """
        self._closed = True
        self._hub.stop()
        if self._signals is not None:
            self._signals.close()
        await self._hub.close()

    async def start(
        self,
        key: str,
        stream: Any = None,
        *,
        on_end: OnEnd | None = None,
        resume: Resume | str | None = None,
        args: Mapping[str, Any] | None = None,
        replace: bool = True,
        sse: bool = False,
        **options: Unpack[RunOptions],
    ) -> bool:
        """Start a run: log what a stream yields, until it ends. Return True if it was started.

        `stream` is any source, sync or async, or a function (or coroutine) that returns one. If a
        run under this key goes on already, here or elsewhere, that is the one: the stream is closed
        unread, a function is not called, and the result is False. After a run has ended its key can
        be used again, and the new run takes its place; with `replace=False` it cannot.

        `on_end` is called with the `Run` when it has ended, however that was; if it is not async,
        in a thread. `resume` is called with the number of events logged, if the process of a run is
        gone, and returns a stream that continues after them: give it, and any process that starts
        the same run goes on with it instead. With the name of a function that `Runs` was given, and
        its `args`, every process that was given one under this name does: both are logged. Without
        a stream that function makes it. The other options say how the log is read.
        """
        name_of_resume = self._hub.checked_name(resume, args)
        about = StreamOptions(**options)
        if stream is None and name_of_resume is not None:
            stream = self._hub.continuation(
                name_of_resume, args or {}, Run(key, "active", None, (), about)
            )
        check(stream)
        again: Resume | None = None if isinstance(resume, str) else resume
        _functions(on_end=on_end, resume=again)
        check_options(about)  # they are wrong now or never
        resumes = resume is not None or self._hub.resume is not None
        about.notes = {"key": _checked(key), "id": secrets.token_hex(8), "resumes": resumes}
        if name_of_resume is not None:
            about.notes |= {"resume": name_of_resume, "args": dict(args or {})}
        meta = _stored(about)
        on_end = self._hub.on_end if on_end is None else on_end
        producer, name = secrets.token_hex(8), _name(key)
        begun = Begun(key, name, producer, on_end, resumes, about)
        async with AsyncExitStack() as unread:
            unread.push_async_callback(close_async_source, stream)
            hub = await self._opened()
            held: dict[str, Any] = {
                "lease": hub.lease,
                "owner": OWNER,
                "meta": meta,
                "replace": replace,
            }
            while True:
                try:
                    await hub.store.acquire(name, producer, **held)
                except StreamTaken:
                    attached = await hub.attach(begun, again, replace)
                    if attached is None:
                        continue
                    return attached
                except BaseException:
                    hub.spawn(_give_back(hub.store, name, producer, meta))
                    raise
                hub.metrics.add("streams_created_total")
                claim = Claim(hub, name, producer, hub.lease, about)
                hub.go(begun, claim, records_of(stream, options.get("input"), sse=sse), ())
                unread.pop_all()  # the run closes it
                await asyncio.sleep(0)  # it has begun, so that a cancellation closes its source
                return True

    async def cancel(self, key: str) -> bool:
        """End a run; its source is closed. Return False if there is none, or it has ended."""
        hub, name = await self._opened(), _name(key)
        try:
            ended = await hub.end(name, CANCELLED)
        except UnknownStream:
            return False
        if name in hub.running:
            hub.running[name].cancel()
        return ended

    async def active(self, key: str) -> bool:
        """Return True if a run under this key goes on, here or elsewhere."""
        hub = await self._opened()
        try:
            return not (await hub.status(_name(key))).closed
        except UnknownStream:
            return False

    async def read(
        self,
        key: str,
        *,
        after: str = "",
        format: str = "raw",
        **options: Unpack[EventOptions],
    ) -> AsyncGenerator[RunEvent]:
        """Yield the events of a run, from the beginning or after an id, to its end.

        They are what `response` sends, with their data as JSON values. Behind the events of a run
        that ended with an error, or was cancelled, `RunFailed` is raised; `UnknownStream` if there
        is no run.
        """
        if not isinstance(after, str):
            raise TypeError(f"after is the id of an event, a text, not {after!r}")
        hub, name = await self._opened(), _name(key)
        position = position_of(None, after)
        try:
            status = await hub.status(name)
        except UnknownStream:
            raise UnknownStream(f"there is no run under {key!r}") from None
        if not has_all(status, position):
            kept = StreamOptions.from_bytes(status.meta)
            view = ViewOptions.of_run(format, options, kept)
            decoder = SSEDecoder(limit=1 << 30)
            async with AsyncExitStack() as stack:
                reader = await stack.enter_async_context(
                    hub.reader(name, status, view, position or START)
                )
                chunks = await stack.enter_async_context(aclosing(reader.chunks()))
                async for chunk in chunks:
                    for event in decoder.feed(chunk):
                        if not ends_stream(event):
                            yield RunEvent(event.id, json.loads(event.data))
            end = reader.end
        else:
            _, end = await read_log(hub.store, name, status.last)
        if end is not None and end.reason != "closed":
            raise RunFailed(end)

    def response(
        self,
        request: Any,
        key: str,
        *,
        format: str = "raw",
        replay: bool | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Unpack[EventOptions],
    ) -> Any:
        """The response to a request of Starlette, FastAPI or Django (ASGI): its events.

        It begins after the position in the header `Last-Event-ID` or the parameter `after`, else at
        the beginning. It is empty (204) if there is no run under this key, or it has ended and the
        client has read everything. `replay` says whether a client that names no position gets a
        run that has ended: by default it does, except with GET in the format `ai-sdk`, whose client
        asks so for an answer that is still being written.
        """
        ViewOptions.of_run(format, options, StreamOptions())  # they are wrong now or never
        _checked(key)
        query = request.GET if _is_django(request) else getattr(request, "query_params", None)
        if query is None:
            kind = type(request).__qualname__
            raise TypeError(f"a request is one of Starlette, FastAPI or Django, not {kind}")
        if replay is None:
            replay = not (format == "ai-sdk" and request.method == "GET")

        async def make() -> Reply:
            asked = request.headers.get("last-event-id"), query.get("after")
            begin = request.method != "HEAD"
            return await self._reply(key, (format, options), asked, replay, begin, headers or {})

        return _deferred(request, make)

    async def _reply(
        self,
        key: str,
        asked: tuple[str, EventOptions],
        named: tuple[str | None, str | None],
        replay: bool,
        begin: bool,
        headers: Mapping[str, str],
    ) -> Reply:
        position = None
        try:
            hub, name = await self._opened(), _name(key)
            position = position_of(*named)
            status = await hub.status(name)
            nothing = status.closed and position is None and not replay
            if nothing or has_all(status, position):
                return Reply(204, headers)
            format, options = asked
            view = ViewOptions.of_run(format, options, StreamOptions.from_bytes(status.meta))
            return await reply(hub, name, status, view, position, begin=begin, headers=headers)
        except UnknownStream:
            if position is None:
                return Reply(204, headers)
            return problem(410, "GONE", "the run that was read is gone")
        except BadPosition as error:
            return problem(400, "POSITION", str(error))
        except TooMany as error:
            return problem(429, "TOO_MANY", str(error), {"retry-after": "5"})
        except StoreError as error:
            return _unavailable(error)

    async def _opened(self) -> RunHub:
        if self._closed:
            raise StoreUnavailable("this Runs is closed: make another one")
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise RuntimeError(
                "a Runs works in the event loop it was first used in: make one for each loop;"
                " in tests, use the test client with `with`, so that all requests share a loop"
            )
        await self._hub.open()
        if self._signals is None:
            # A server that is told to stop waits for open responses, which do not end on their own.
            self._signals = ExitStack()
            self._signals.enter_context(before_the_end(0.0, self._hub.drain, self._hub.stop))
        return self._hub


async def _give_back(store: Store, name: str, producer: str, meta: bytes) -> None:
    """Give back the lease of a start that was cancelled or failed: the store may have granted it.

    So the next start of this key need not wait for the end of the lease.
    """
    with suppress(StoreError):
        if (await store.status(name)).meta == meta:
            await store.acquire(name, producer, lease=0.0)


def _is_django(request: Any) -> bool:
    django = hasattr(request, "META")
    if django and not hasattr(request, "scope"):
        raise TypeError("this request came by WSGI: event streams of runs need Django on ASGI")
    return django


def _deferred(request: Any, make: Callable[[], Awaitable[Reply]]) -> Any:
    """The response of the request's framework, which is made when it is sent."""
    if _is_django(request):
        from .django_response import DeferredHttpResponse

        return DeferredHttpResponse(make)
    from .starlette_response import DeferredResponse

    return DeferredResponse(make)


def _unavailable(error: StoreError) -> Reply:
    log.error("the store failed: %s: %s", type(error).__name__, error)
    return problem(503, "UNAVAILABLE", "the store cannot be reached", {"retry-after": "1"})


def _functions(**functions: Any) -> None:
    """`TypeError` for what is no function, at the call instead of when the run ends."""
    for name, value in functions.items():
        if value is not None and not callable(value):
            raise TypeError(f"{name} is a function, not {value!r}")


def _stored(options: StreamOptions) -> bytes:
    """The options of a run as a store keeps them."""
    try:
        return options.to_bytes()
    except TypeError as error:
        raise TypeError(
            "options and args of a run are stored as JSON: as a schema, pass"
            " Model.model_json_schema()"
        ) from error


def _checked(key: Any) -> str:
    if not isinstance(key, str) or not key:
        raise TypeError(f"the key of a run is a text that is not empty, not {key!r}")
    return key


def _name(key: str) -> str:
    """The name of a run's log in the store: the key itself, or a digest of one that is unusual."""
    if _SAFE.fullmatch(_checked(key)):
        return f"run:{key}"
    return f"run:~{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"
