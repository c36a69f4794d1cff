"""`Runs`: background generations that continue when the client disconnects.

They can move to another process, and they record how they ended. A run is a log under a key.
`produce.py` writes and ends the log; this module starts, cancels and reads runs.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Unpack
from weakref import WeakSet

from starlette.requests import Request

from jsonrill.driver import close_async_source
from jsonrill.errors import JsonrillError
from jsonrill.eventstream import SSEDecoder, ends_stream

from .log import Head, Lost, NewLog, State, Store, StoreUnavailable, cancel, open_store
from .options import CHOICES, Choices, Options, StreamOptions, checked
from .produce import Lifecycle, Limits, Source
from .read import Position, Replays
from .records import CANCELLED, End
from .result import Meta, OnEnd, Run, read_end, read_run
from .sources import check_source, records_of

if TYPE_CHECKING:
    from .web import EventResponse

_SAFE: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")


class RunFailed(JsonrillError):
    """A run ended with an error or was cancelled; `code` is the reason."""

    def __init__(self, end: End) -> None:
        super().__init__(end.message)
        self.code = end.code


class RunEvent(NamedTuple):
    """One event. A reader can continue after its `id`."""

    id: str
    data: Any


class Runs:
    """Generations under keys; used in one event loop.

    `store` is a URL (`memory:`, `sqlite:///file`, `redis://host`, `postgresql://host/database`), or
    a `Store`. It is opened when it is first used, or by `async with`, which also closes it.
    `sources` are functions by name. Any process that has the function can continue a run that was
    started with its name: `function(run, **args)` yields the events after `run.events`. A run whose
    process is gone counts as lost after `lease` seconds, and another process may take it over for
    `takeover` seconds more. `on_end(run)` is called at least once for each run, in any process.
    """

    def __init__(
        self,
        store: str | Store = "memory:",
        *,
        sources: Mapping[str, Source] | None = None,
        on_end: OnEnd | None = None,
        lease: float = 10.0,
        takeover: float = 30.0,
        **limits: Any,
    ) -> None:
        if not lease > 0 <= takeover:
            raise ValueError("lease must be a number of seconds above 0, and takeover not below 0")
        sources = dict(sources or {})
        for function in (*sources.values(), *([on_end] if on_end else [])):
            if not callable(function):
                raise TypeError(f"sources and on_end must be functions, not {function!r}")
        self.limits = Limits(**limits)
        self.store = open_store(store) if isinstance(store, str) else store
        self.lifecycle = Lifecycle(self.store, sources, on_end, lease, takeover, self.limits)
        tick = min(1.0, self.limits.heartbeat / 2)
        self.replays = Replays(self.store, self.lifecycle.attend, tick)
        self.readers = 0
        self.responses: set[EventResponse] = set()
        self.is_stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = asyncio.Lock()
        self._is_open = False
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Runs:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Open the store, unless it is open."""
        loop = asyncio.get_running_loop()
        if self._loop not in (None, loop):
            raise RuntimeError(
                "a Runs belongs to the event loop that used it first: make one for each loop; in"
                " tests, use the test client with `with`, so that its requests share a loop"
            )
        if self.is_stopping:
            raise StoreUnavailable("this Runs is closed: make another one")
        self._loop = loop
        async with self._opening:
            if not self._is_open:
                await self.store.open()
                self.lifecycle.open()
                self._watching = asyncio.create_task(self._watch())
                self._is_open = True
                _OPEN.add(self)
                stop_before_server()

    def stop(self) -> None:
        """Start to shut down: end the responses, so that their clients resume elsewhere."""
        self.is_stopping = True

    async def close(self) -> None:
        """Leave named runs to other processes, and wait `grace` seconds for the others.

        Those that have not ended by then end with an error.
        """
        self.stop()
        await self.lifecycle.close()
        await cancel(self._watching)
        await self.store.close()

    async def _watch(self) -> None:
        """Cut off clients that take nothing; one task for all is cheaper than a timer for each."""
        while True:
            await asyncio.sleep(min(1.0, self.limits.send_timeout / 2))
            for response in [*self.responses]:
                response.stop_if_stalled(asyncio.get_running_loop().time())

    # ---- runs ----

    async def start(
        self,
        key: str,
        source: Any,
        *,
        args: Mapping[str, Any] | None = None,
        on_end: OnEnd | None = None,
        replace: bool = True,
        sse: bool = False,
        **options: Unpack[StreamOptions],
    ) -> bool:
        """Start a run: log what a source yields. Return True if it was started.

        `source` is a stream, sync or async, a function that returns one, or the name of a function
        in `sources`, called with the `Run` so far and `args`. While a run under this key is active,
        nothing is started, and the stream is closed unread. A run that has ended is replaced,
        unless `replace` is false. `on_end` replaces the one of `Runs` while this process lives.
        """
        lifecycle, name = self.lifecycle, source if isinstance(source, str) else None
        if name is None:
            check_source(source)
            if args is not None:
                raise TypeError("args are for a source that is given by name")
        elif name not in lifecycle.sources:
            known = ", ".join(lifecycle.sources) or "none"
            raise ValueError(f"no source is registered as {name!r}; there are: {known}")
        has_on_end = on_end is not None or lifecycle.on_end is not None
        given = Options(options).given
        meta = Meta(key, given, name, dict(args or {}), lifecycle.lease, has_on_end)
        head = None
        try:
            head = await self._create(log_name(key), meta, replace)
        finally:
            if head is None and name is None:
                await close_async_source(source)
        if head is None:
            return False
        if name is not None:
            records = lifecycle.call_source(meta, [])
        else:
            records = records_of(source, given.get("input"), sse=sse)
        lifecycle.produce(log_name(key), head, meta, records, on_end)
        await asyncio.sleep(0)  # let the task begin, so that a cancellation closes its source
        return True

    async def _create(self, name: str, meta: Meta, replace: bool) -> Head | None:
        """Create the log of a run; None if one is active, or may not be replaced."""
        await self.open()
        keep = max(self.limits.keep, meta.lease)
        clock = asyncio.get_running_loop().time
        until, replaces = clock() + 3 * meta.lease, ""
        while True:
            new = NewLog(meta.to_json(), "", keep, self.limits.streams, replaces)
            head = await self.store.create(name, new, meta.lease)
            if head is not None or not replace:
                return head
            former, _ = await self.store.read(name, 0, 0)
            if former is None:
                continue
            if former.state == State.OPEN:
                return None
            if former.state == State.ENDED or clock() > until:
                replaces = former.log
            else:  # on_end is running, or has to be called by another process
                self.lifecycle.attend(name, former)
                await asyncio.sleep(0.05)

    async def cancel(self, key: str) -> bool:
        """End a run in any process; return False if there is none, or it has ended."""
        await self.open()
        return await self.lifecycle.end(log_name(key), CANCELLED)

    async def active(self, key: str) -> bool:
        """Return True if a run under this key is active, here or elsewhere."""
        await self.open()
        head, _ = await self.store.read(log_name(key), 0, 1)
        return head is not None and not head.closed

    async def result(self, key: str) -> Run | None:
        """Return the run of a key with its events so far, or None."""
        await self.open()
        return await read_run(self.store, log_name(key))

    async def events(
        self, key: str, *, after: str = "", **choices: Unpack[Choices]
    ) -> AsyncGenerator[RunEvent]:
        """Yield the events of a run, from the beginning or after an id, to its end.

        A run that failed or was cancelled raises `RunFailed` at its end. If there is no run under
        this key, `LookupError` is raised.
        """
        name, position = log_name(key), Position.parse(after or "0")
        found = await self.find(name, position)
        if found is None:
            raise LookupError(f"there is no run under {key!r}")
        head, meta = found
        if not position.is_end(head):
            options = Options.stored(meta.options, {"format": "raw", **choices})
            decoder = SSEDecoder(limit=1 << 30)
            reading = self.replays.read(name, head, position, options, meta.lease)
            async with aclosing(reading):
                async for chunk in reading:
                    for event in decoder.feed(chunk):
                        if not ends_stream(event) and event.type != "RESTART":
                            yield RunEvent(event.id, json.loads(event.data))
        end = await read_end(self.store, name)
        if end is not None and end.code:
            raise RunFailed(end)

    async def response(
        self,
        request: Any,
        key: str,
        *,
        replay: bool | None = None,
        **choices: Unpack[Choices],
    ) -> Any:
        """Return the response to a request of Starlette, FastAPI or Django (ASGI).

        It begins after the position in `Last-Event-ID` or `?after=`, or at the beginning. It is
        empty (204) if there is no run, or if the run has ended and the client has all events. With
        `replay`, a client without a position gets a run that has ended. This is the default, except
        for GET in the format `ai-sdk`, whose client expects only an answer that is being written.
        """
        from .web import django_response, reply

        choices = {"format": "raw", **choices}
        checked(choices, CHOICES)
        if not hasattr(request, "scope"):
            kind = type(request).__qualname__
            raise TypeError(f"a request must be of Starlette, FastAPI or Django (ASGI), not {kind}")
        http = Request(request.scope)
        if replay is None:
            replay = not (choices["format"] == "ai-sdk" and http.method == "GET")
        after = http.headers.get("last-event-id") or http.query_params.get("after", "")
        is_head = http.method == "HEAD"
        response = await reply(self, log_name(key), choices, after, replay=replay, is_head=is_head)
        # Only Django's requests have META.
        return django_response(response) if hasattr(request, "META") else response

    # ---- logs ----

    async def find(self, name: str, position: Position) -> tuple[Head, Meta] | None:
        """Return a log's head and metadata; raise `Lost` if the position is not in the log."""
        await self.open()
        head, rows = await self.store.read(name, max(position.seq - 1, 0), 1)
        if head is None:
            if position.log:
                raise Lost("the log is gone")
            return None
        position.check(head, rows)
        return head, Meta.parse(head.meta)


def log_name(key: str) -> str:
    """Return the name of a run's log: its key, or a digest of an unusual one."""
    if not key or type(key) is not str:
        raise TypeError(f"the key of a run must be a non-empty text, not {key!r}")
    if _SAFE.fullmatch(key):
        return f"r/{key}"
    return f"r/~{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


# The open `Runs`. A web server that stops waits for their responses.
_OPEN: Final[WeakSet[Runs]] = WeakSet()


def stop_before_server() -> None:
    """Stop every Runs when this process gets a stop signal, before its web server's handler.

    A server such as uvicorn waits for open responses, and event streams do not end by themselves.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        former = signal.getsignal(number)
        is_ours = getattr(former, "func", None) is _stop_first
        if callable(former) and former is not signal.default_int_handler and not is_ours:
            signal.signal(number, partial(_stop_first, former))


def _stop_first(former: Callable[..., object], number: int, frame: FrameType | None) -> None:
    for runs in tuple(_OPEN):
        runs.stop()
    former(number, frame)
