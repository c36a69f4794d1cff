"""`Runs`: generations that go on without their reader, survive their process, and end truthfully.

A run is a log under a key. Its writer holds a lease. When that is over, a process that reads the
log, or looks for such logs now and then, attends to it: it goes on with the run if it was started
with the name of a source that is registered here, waits `takeover` seconds for another process that
can, and else ends it. An end is written as ENDING; the log is ENDED when `on_end` has returned. A
process that dies in between leaves that to the next one, so `on_end` is called at least once.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any, Final, NamedTuple, Unpack

from jsonrill.driver import close_async_source
from jsonrill.errors import JsonrillError
from jsonrill.eventstream import SSEDecoder, ends_stream

from .log import (
    Fenced,
    Head,
    Lost,
    NewLog,
    State,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Write,
    cancel,
    open_store,
)
from .options import EventOptions, Format, Options, RunOptions, ViewOptions
from .produce import RELEASED, Production, Writer, finish, release
from .read import Position, Readers
from .records import (
    CANCELLED,
    PRODUCER_LOST,
    End,
    Record,
    end_of_answer,
    from_bytes,
)
from .result import OnEnd, Run
from .sources import check_source, in_thread_unless_async, records_of

log = logging.getLogger("jsonrill_server")
Source = Callable[..., Any]
_SAFE: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")


class RunFailed(JsonrillError):
    """A run ended with an error, or was cancelled; `code` says how."""

    def __init__(self, end: End) -> None:
        super().__init__(end.message)
        self.code = end.code


class RunEvent(NamedTuple):
    """One event: its id, after which another reader can go on, and its data."""

    id: str
    data: Any


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds and times of a process; times are in seconds, `retry` in milliseconds."""

    heartbeat: float = 15.0
    send_timeout: float = 30.0
    retry: int = 1000
    readers: int = 5000
    stream_bytes: int = 16 << 20
    stream_records: int = 100_000
    streams: int = 10_000
    keep: float = 3600.0
    grace: float = 10.0


@dataclass(frozen=True, slots=True)
class Meta:
    """What a log's head says about its run."""

    key: str
    options: dict[str, Any] = field(default_factory=dict)
    source: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    lease: float = 10.0
    has_on_end: bool = False

    def to_json(self) -> str:
        fields = (self.key, self.options, self.source, self.args, self.lease, self.has_on_end)
        return json.dumps(fields)

    @classmethod
    def parse(cls, text: str) -> Meta:
        """Read the text of `to_json`; return the defaults if it is damaged."""
        try:
            key, options, source, args, lease, has_on_end = json.loads(text)
            return cls(str(key), dict(options), source, dict(args), float(lease), bool(has_on_end))
        except (ValueError, TypeError):
            log.error("a stream's options in the store are damaged")
            return cls("")


@dataclass(frozen=True, slots=True)
class _Running:
    """A run that is written here; `resumes`: another process can go on with it."""

    task: asyncio.Task[None]
    writer: Writer
    resumes: bool


class Runs:
    """Generations under keys; used in one event loop.

    `store` is a URL (`memory:`, `sqlite:///file`, `redis://host`, `postgresql://host/database`), or
    a `Store`. It is opened when it is first used, or by `async with`, which also closes it.
    `sources` are functions by name: a run that is started with a name is continued by any process
    that has it, `function(run, **args)` yields what comes after `run.events`. A run whose process
    is gone counts as lost after `lease` seconds, and is kept for another process for `takeover`
    seconds more. `on_end(run)` is called at least once for each run, here or in another process.
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
            raise ValueError("lease and takeover are seconds, and a lease is longer than 0")
        self.limits = Limits(**limits)
        self.lease = lease
        self.takeover = takeover
        self.sources = dict(sources or {})
        self.on_end = on_end
        for function in (*self.sources.values(), *([on_end] if on_end else [])):
            if not callable(function):
                raise TypeError(f"sources and on_end are functions, not {function!r}")
        self.store = open_store(store) if isinstance(store, str) else store
        self.readings = Readers(self.store, self._attend_soon)
        self.readers = 0
        self.is_full = False
        self.is_stopping = False
        self.is_draining = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None
        # The runs that are written here; the logs that are attended to; the leases that are over,
        # with their epoch and the time since when that is known.
        self._running: dict[str, _Running] = {}
        self._attending: dict[str, asyncio.Task[None]] = {}
        self._overdue: dict[str, tuple[int, float]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Runs:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
        if self._opening is None:
            self._opening = asyncio.create_task(self.store.open())
        opening = self._opening
        try:
            await asyncio.shield(opening)
        except StoreError:
            if self._opening is opening:
                self._opening = None  # the next call tries again
            raise
        if self._sweeping is None:
            self._sweeping = asyncio.create_task(self._sweep())
            stop_before_server(self.stop)

    def stop(self) -> None:
        """Start to shut down: responses to readers end, and their clients resume elsewhere."""
        self.is_draining = self.is_stopping = True

    async def close(self) -> None:
        """Wait `grace` seconds for the runs here, leave the others to other processes, and close.

        A run that no other process can continue ends with an error.
        """
        self.stop()
        await cancel(self._sweeping, *self._attending.values())
        running = [*self._running.values()]
        unnamed = {run.task for run in running if not run.resumes} | self._tasks
        if unnamed:
            await asyncio.wait(unnamed, timeout=self.limits.grace)
        await cancel(*[run.task for run in running], *self._tasks)
        if self._opening is not None and not self._opening.cancelled():
            await self.store.close()

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
        **options: Unpack[RunOptions],
    ) -> bool:
        """Start a run: log what a source yields. Return True if it was started.

        `source` is a stream, sync or async, a function that returns one, or the name of a function
        in `sources`, called with the `Run` so far and `args`. While a run under this key goes on,
        nothing is started: the stream is closed unread. A run that has ended is replaced, unless
        `replace` is false. `on_end` replaces the one of `Runs` as long as this process lives.
        """
        name = source if isinstance(source, str) else None
        if name is not None and name not in self.sources:
            known = ", ".join(self.sources) or "none"
            raise ValueError(f"no source is registered as {name!r}; there are: {known}")
        if name is None:
            check_source(source)
        if name is None and args is not None:
            raise TypeError("args are for a source that is given by name")
        if on_end is not None and not callable(on_end):
            raise TypeError(f"on_end is a function, not {on_end!r}")
        checked = Options(options)
        has_on_end = on_end is not None or self.on_end is not None
        meta = Meta(key, checked.given, name, dict(args or {}), self.lease, has_on_end)
        try:
            head = await self._create(log_name(key), meta, replace)
        except BaseException:
            if name is None:
                await close_async_source(source)
            raise
        if head is None:
            if name is None:
                await close_async_source(source)
            return False
        make = self._named(meta, []) if name is not None else source
        records = records_of(make, options.get("input"), sse=sse)
        self._produce(log_name(key), head, meta, records, on_end)
        await asyncio.sleep(0)  # it has begun, so that a cancellation closes its source
        return True

    async def _create(self, name: str, meta: Meta, replace: bool) -> Head | None:
        await self.open()
        limits = self.limits
        keep = max(limits.keep, self.lease)
        new = NewLog(meta.to_json(), "", keep, limits.streams, replace)
        waited = 0.0
        while True:
            head = await self.store.create(name, new, self.lease)
            if head is not None or not replace:
                return head
            now, _ = await self.store.read(name, 0, 1)
            if now is None:
                continue
            if now.state == State.OPEN:
                is_lost = now.left < 0 and Meta.parse(now.meta).source is None
                if not is_lost or name in self._running:
                    return None
                await self.end(name, PRODUCER_LOST, force=False)
            elif now.state == State.ENDING:
                # Its on_end is running. Do not wait for it longer than a lease.
                if waited > self.lease and (held := await self.store.claim(name, 0.0, force=True)):
                    log.warning("a run is replaced whose on_end has not returned")
                    write = Write(held.epoch, held.last, [], 0.0, State.ENDED)
                    await self.store.append(name, write)
                await asyncio.sleep(0.05)
                waited += 0.05

    def _named(self, meta: Meta, before: list[Record]) -> Callable[[], Any]:
        run = Run(meta.key, "active", None, before, Options.stored(meta.options))
        function = self.sources[meta.source or ""]
        return lambda: function(run, **meta.args)

    def _produce_named(self, name: str, head: Head, meta: Meta, before: list[Record]) -> None:
        input = Options.stored(meta.options).given.get("input")
        self._produce(name, head, meta, records_of(self._named(meta, before), input), self.on_end)

    async def cancel(self, key: str) -> bool:
        """End a run, in whichever process it is; False if there is none, or it has ended."""
        await self.open()
        return await self.end(log_name(key), CANCELLED) is not None

    async def active(self, key: str) -> bool:
        """Return True if a run under this key goes on, here or elsewhere."""
        await self.open()
        head, _ = await self.store.read(log_name(key), 0, 1)
        return head is not None and not head.closed

    async def result(self, key: str) -> Run | None:
        """Return what is logged under a key so far, and how it ended; None if there is nothing."""
        await self.open()
        return await self._result(log_name(key))

    async def events(
        self, key: str, *, after: str = "", format: Format = "raw", **options: Unpack[EventOptions]
    ) -> AsyncGenerator[RunEvent]:
        """Yield the events of a run, from the beginning or after an id, to its end.

        `RunFailed` is raised at the end of a run that failed or was cancelled, `LookupError` if
        there is none under this key.
        """
        name, position = log_name(key), Position.parse(after) if after else Position()
        found = await self.find(name, position)
        if found is None:
            raise LookupError(f"there is no run under {key!r}")
        head, meta = found
        if not position.is_end(head):
            stream = Options.stored(meta.options)
            wanted = ViewOptions.of({**options, "format": format}, stream)
            decoder = SSEDecoder(limit=1 << 30)
            reading = self.readings.read(name, head, position, stream, wanted, meta.lease)
            async with aclosing(reading):
                async for chunk in reading:
                    for event in decoder.feed(chunk):
                        if not ends_stream(event) and event.type != "RESTART":
                            yield RunEvent(event.id, json.loads(event.data))
        end = await self.end_of(name)
        if end is not None and end.code:
            raise RunFailed(end)

    def response(
        self,
        request: Any,
        key: str,
        *,
        format: Format = "raw",
        replay: bool | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Unpack[EventOptions],
    ) -> Any:
        """Return the response to a request of Starlette, FastAPI or Django (ASGI).

        It begins after the position in `Last-Event-ID` or `?after=`, else at the beginning. It is
        empty (204) if there is no run, or it has ended and the client has everything. `replay` says
        whether a client without a position gets a run that has ended: by default it does, except
        with GET in the format `ai-sdk`, whose client wants only an answer that is being written.
        """
        from .web import Deferred, deferred_reply

        ViewOptions.of({**options, "format": format}, Options({}))  # wrong options are raised here
        name = log_name(key)
        if replay is None:
            replay = not (format == "ai-sdk" and request.method == "GET")
        make = deferred_reply(self, request, name, {**options, "format": format}, replay)
        if not hasattr(request, "META"):
            return Deferred(make, headers)
        if not hasattr(request, "scope"):
            raise TypeError("this request came by WSGI: event streams of runs need Django on ASGI")
        from .django import DeferredHttpResponse

        return DeferredHttpResponse(make, headers)

    # ---- logs ----

    async def find(self, name: str, position: Position) -> tuple[Head, Meta] | None:
        """Return what is known about a log; Lost if the position is not in it."""
        await self.open()
        head, rows = await self.store.read(name, max(position.seq - 1, 0), 1)
        if head is None:
            if position.log:
                raise Lost("the log is gone")
            return None
        position.check(head, rows)
        return head, Meta.parse(head.meta)

    async def end_of(self, name: str) -> End | None:
        """Return how a log ended; None if it has not."""
        head, _ = await self.store.read(name, 0, 1)
        if head is None or not head.closed:
            return None
        _, rows = await self.store.read(name, head.last - 1, 1)
        item = from_bytes(rows[0].data) if rows else None
        return item if isinstance(item, End) else None

    async def records(self, name: str) -> tuple[Head | None, list[Record], End | None]:
        """Return everything in a log."""
        records: list[Record] = []
        end: End | None = None
        seq = 0
        while True:
            head, rows = await self.store.read(name, seq)
            for row in rows:
                seq, item = row.seq, from_bytes(row.data)
                if isinstance(item, End):
                    end = item
                else:
                    records.append(item)
            if head is None or seq >= head.last:
                return head, records, end
            if not rows:
                raise Lost("the store has lost records")

    async def _result(self, name: str) -> Run | None:
        head, records, end = await self.records(name)
        if head is None:
            return None
        meta = Meta.parse(head.meta)
        options = Options.stored(meta.options)
        if end is None:
            return Run(meta.key, "active", None, records, options)
        return Run(meta.key, end.status, end.error, records, options)

    async def end(self, name: str, end: End, *, force: bool = True) -> End | None:
        """Claim a log and end it; None if it has ended, or its lease is not over."""
        head = await self.store.claim(name, self.lease, force=force)
        if head is None or head.closed:
            return None
        meta = Meta.parse(head.meta)
        writer = Writer(self.store, name, head, meta.lease)
        try:
            end = await finish(writer, end, has_on_end=meta.has_on_end)
        except Fenced:
            return None
        if (running := self._running.get(name)) is not None:
            running.writer.epoch, running.writer.last = writer.epoch, writer.last
            running.task.cancel("ended")
        elif meta.has_on_end:
            self.spawn(self._settle(writer, self.on_end))
        return end

    # ---- writing ----

    def _produce(
        self,
        name: str,
        head: Head,
        meta: Meta,
        source: AsyncGenerator[list[Record]],
        on_end: OnEnd | None,
    ) -> None:
        writer = Writer(self.store, name, head, meta.lease)
        work = self._write(writer, meta, source, on_end or self.on_end)
        run = _Running(asyncio.create_task(work), writer, meta.source is not None)
        self._running[name] = run

        def ended(_: object) -> None:
            if self._running.get(name) is run:
                del self._running[name]

        run.task.add_done_callback(ended)

    async def _write(
        self,
        writer: Writer,
        meta: Meta,
        source: AsyncGenerator[list[Record]],
        on_end: OnEnd | None,
    ) -> None:
        limits = self.limits
        production = Production(writer, limits.stream_bytes, limits.stream_records)
        try:
            end = await production.run(source)
            if end is None:
                _, records, _ = await self.records(writer.key)
                end = await end_of_answer(records, Options.stored(meta.options).provider)
            await finish(writer, end, has_on_end=meta.has_on_end)
        except asyncio.CancelledError as error:
            if error.args != ("ended",):
                resumes = meta.source is not None
                end = await release(writer, resumes=resumes, has_on_end=meta.has_on_end)
                if end is None:
                    raise
        except Fenced:
            log.warning("a run was ended or continued by another process")
            if on_end is None or not await self._claim_end(writer):
                return
        except StoreError as error:
            log.error("a run cannot be written any more: %s", error)
            return
        if meta.has_on_end:
            await self._settle(writer, on_end)

    async def _claim_end(self, writer: Writer) -> bool:
        """Claim a run that another process has ended, to call `on_end`; False if it goes on."""
        try:
            head, _ = await self.store.read(writer.key, 0, 1)
            if head is None or head.log != writer.log or head.state != State.ENDING:
                return False
            head = await self.store.claim(writer.key, writer.lease, force=True)
        except StoreError:
            return False
        if head is None or head.state != State.ENDING:
            return False
        writer.epoch, writer.last = head.epoch, head.last
        return True

    async def _settle(self, writer: Writer, on_end: OnEnd | None) -> None:
        """Call `on_end` with what is in the log, and note that it has returned.

        The lease is kept meanwhile. If it raises, it is called again when that is over.
        """
        if on_end is None or await self.end_of(writer.key) is None:
            return  # there is nothing to call, or a process that has one calls it
        renewing = asyncio.create_task(self._renew(writer))
        try:
            run = await self._result(writer.key)
            if run is not None:
                await in_thread_unless_async(on_end, run)
        except Exception:
            log.exception("on_end failed, and is called again after the lease")
            return
        finally:
            await cancel(renewing)
        try:
            await writer.append([], state=State.ENDED, lease=0.0)
        except StoreError as error:
            log.warning("on_end may be called again: %s", error)

    async def _renew(self, writer: Writer) -> None:
        while True:
            await asyncio.sleep(writer.lease / 3)
            try:
                await writer.append([])
            except StoreError:
                return

    # ---- attending to logs whose writer is gone ----

    def _attend_soon(self, name: str, head: Head) -> asyncio.Task[None] | None:
        """Attend to a log if its lease is over. The task ends when that is done.

        A lease that just ended may only show that the store was away: its writer has a third of a
        lease to renew it.
        """
        if head.left > 0 or head.state == State.ENDED or self.is_stopping:
            self._overdue.pop(name, None)
            return None
        if name in self._running or name in self._attending:
            return self._attending.get(name)
        now = asyncio.get_running_loop().time()
        epoch, since = self._overdue.setdefault(name, (head.epoch, now))
        if epoch != head.epoch:
            self._overdue[name] = (head.epoch, now)
            return None
        meta = Meta.parse(head.meta)
        if now - since < meta.lease / 3 and head.left > RELEASED / 2:
            return None
        task = self._attending[name] = asyncio.create_task(self._attend(name, head, meta))
        task.add_done_callback(lambda _: self._attending.pop(name, None))
        return task

    async def _attend(self, name: str, head: Head, meta: Meta) -> None:
        """Go on with a log whose writer is gone, leave it to a process that can, or end it."""
        is_ending = head.state == State.ENDING
        can_go_on = self.on_end is not None if is_ending else meta.source in self.sources
        may_wait = is_ending or meta.source is not None
        since = self._overdue[name][1]
        if may_wait and not can_go_on:
            if asyncio.get_running_loop().time() - since < self.takeover:
                return
        try:
            claimed = await self.store.claim(name, meta.lease)
            if claimed is None or claimed.state != head.state:
                return  # another process was faster
            writer = Writer(self.store, name, claimed, meta.lease)
            if is_ending:
                self.spawn(self._settle(writer, self.on_end or _ignore))
            elif can_go_on:
                _, before, _ = await self.records(name)
                log.info("going on with a run whose process is gone")
                self._produce_named(name, claimed, meta, before)
            else:
                await finish(writer, PRODUCER_LOST, has_on_end=meta.has_on_end)
                self.spawn(self._settle(writer, self.on_end))
        except StoreError as error:
            log.warning("a lost run is left for now: %s", error)

    async def _sweep(self) -> None:
        """Look for logs whose lease is over, and let the store delete old ones."""
        while True:
            try:
                for name in await self.store.expire():
                    head, _ = await self.store.read(name, 0, 1)
                    if head is not None:
                        self._attend_soon(name, head)
                self.is_full = False
            except StoreFull:
                self.is_full = True
            except StoreError as error:
                log.warning("the store failed: %s", error)
            await asyncio.sleep(self.lease / 3)

    def spawn(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _ignore(run: Run) -> None:
    """Do nothing, instead of an `on_end` that no process has."""


def log_name(key: str) -> str:
    """Return the name of a run's log: its key, or a digest of an unusual one."""
    if not key or type(key) is not str:
        raise TypeError(f"the key of a run is a text that is not empty, not {key!r}")
    if _SAFE.fullmatch(key):
        return f"r/{key}"
    return f"r/~{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}"


def stop_before_server(stop: Callable[[], None]) -> None:
    """Call `stop` when this process gets a stop signal, before its web server's handler.

    A server such as uvicorn waits for open responses, and event streams do not end by themselves.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        former = signal.getsignal(number)
        if not callable(former) or former is signal.default_int_handler:
            continue

        def handler(
            number: int, frame: FrameType | None, former: Callable[..., Any] = former
        ) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(stop)
            former(number, frame)

        signal.signal(number, handler)
