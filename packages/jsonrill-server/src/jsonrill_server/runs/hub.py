"""All streams of one process: the store, the views, the readers, and lost producers.

Every handler goes through here, so that this is where limits are kept and counted. The hub knows
nothing of HTTP.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

from jsonrill_server.tasks import stop

from ..store import (
    LogClosed,
    LogLost,
    Status,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    Turn,
    UnknownStream,
)
from .descriptors import bounded
from .failures import KINDS
from .metrics import Metrics
from .options import StreamOptions, TooMany, ViewOptions
from .positions import Position
from .reader import Reader
from .readiness import Readiness
from .records import (
    CANCELLED,
    CLOSED,
    LOG_LOST,
    LOST,
    STOPPED,
    End,
    Record,
    to_bytes,
)
from .render import Rendering, rendering
from .schemas import Schemas
from .settings import Settings
from .view import OTHER_LOG, View, Views

log = logging.getLogger("jsonrill_server")
# A view without readers is kept this long: the next reconnect finds it warm. One with a heavy
# schema is not: it would keep others from theirs.
LINGER = 5.0
# The bytes of log that different views of one stream have to render together; each counts as one
# of this size at least, because streams grow.
VIEWS_BYTES = 64 << 20
VIEW_BYTES = 1 << 20
# How often leases are looked at, and how many at once.
CHECK_EVERY = 1.0
# Ends that are counted by name; a producer's own codes are `FAILED`.
ENDS = frozenset(
    (
        *(end.code for end in (CANCELLED, LOST, LOG_LOST, STOPPED, *KINDS)),
        "LIMIT_EXCEEDED",
    )
)
AT_ONCE = 20
# Seconds after which readers get an error if a lease has run out and the store does not answer.
# Together with CHECK_EVERY it is less than the 5 s after which every reader has an end or an error.
GRACE = 3.5
# A task that fails repeatedly logs it once in this many seconds.
SAY_EVERY = 1.0


class _Followed:
    """A stream with readers here: its views, and when to look at its lease again."""

    __slots__ = ("deadline", "due", "grace", "lease", "checking", "kept", "meta", "views")

    def __init__(
        self, meta: bytes, kept: StreamOptions, lease: float, now: float, grace: float
    ) -> None:
        self.grace = grace
        # The log that is followed: one that takes its place has other options.
        self.meta = meta
        self.kept = kept
        self.views: dict[ViewOptions, Views] = {}
        self.checking: asyncio.Task[None] | None = None
        self.due = now
        # If its producer has not renewed the lease until then, its readers get an error.
        self.lease = 0.0
        self.deadline = 0.0
        self.alive(lease, now)

    def alive(self, lease: float, now: float) -> None:
        """Note the remaining time of the lease; the longest so far is that of a renewed one."""
        self.lease = max(self.lease, lease)
        self.deadline = max(self.deadline, now + lease + self.grace)

    def moved(self, now: float) -> None:
        self.due = now + CHECK_EVERY
        self.alive(self.lease, now)


class Hub:
    """Opened by the first request, or by the app's lifespan; used in one event loop."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self.settings = settings
        self.store = store
        self.metrics = Metrics()
        self.readiness = Readiness(self.store)
        self.most_readers = bounded(settings.readers, 1.0)
        if self.most_readers < settings.readers:
            log.warning(
                "readers is %d, but the limit of open files allows %d: raise it (ulimit -n)",
                settings.readers,
                self.most_readers,
            )
        self.schemas = Schemas()
        # Told to stop, but still working: a load balancer should send requests elsewhere.
        self.draining = False
        self.stopping = False
        self._end_at = 0.0
        self.tasks: set[asyncio.Task[Any]] = set()
        # Streams whose producer is here: only it says that they are lost.
        self.producing: dict[str, str] = {}
        self._followed: dict[str, _Followed] = {}
        self._readers: dict[str, int] = {}
        # The last record appended here to each stream that is read here, and when.
        self._appended: dict[str, tuple[int, float]] = {}
        self._checking = asyncio.Semaphore(AT_ONCE)
        self._said: dict[str, float] = {}
        self.store.on_error = self._failed
        self._opening: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> None:
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())
        if self._opening is None:
            self._opening = asyncio.create_task(self.store.open())
        opening = self._opening
        try:
            await asyncio.shield(opening)
        except StoreError:
            if self._opening is opening:
                self._opening = None  # the next request tries again
            raise

    def drain(self) -> None:
        """Report not ready from now on; requests are served as before."""
        self.draining = True

    def stop(self) -> None:
        """Begin to shut down: end the responses of readers, which resume at another process."""
        if not self.stopping:
            self._end_at = asyncio.get_running_loop().time() + self.settings.grace
        self.draining = self.stopping = True
        self.store.stop()

    @property
    def must_end(self) -> bool:
        """True if the time is over that readers who cannot resume have after a stop.

        They notice it within a second, and must have ended before the server ends them.
        """
        return self.stopping and self.time_left <= 2 * CHECK_EVERY

    @property
    def time_left(self) -> float:
        """Seconds that work has after a stop."""
        return max(0.0, self._end_at - asyncio.get_running_loop().time())

    async def close(self) -> None:
        self.stop()
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=self.time_left)
        checking = [followed.checking for followed in self._followed.values()]
        await stop(*self.tasks, self._watching, *checking)
        await self.readiness.close()
        for view in self._views():
            await view.close()
        self._followed.clear()
        if self._opening is not None:
            with suppress(StoreError):
                await self._opening
            await self.store.close()

    # ---- publishing ----

    async def create(self, owner: str, options: StreamOptions, producer: str, lease: float) -> str:
        """Create a stream and return its id."""
        meta = options.to_bytes()
        while True:
            stream = secrets.token_urlsafe(18)
            try:
                await self.store.acquire(stream, producer, lease=lease, owner=owner, meta=meta)
            except StreamTaken:
                continue  # created, but the answer was lost: no client knows its id
            self.metrics.add("streams_created_total")
            return stream

    async def append(
        self,
        stream: str,
        producer: str,
        records: Sequence[Record],
        *,
        turn: Turn | None = None,
        lease: float | None = None,
        hold: float = 0.0,
    ) -> int:
        """Append records as the store does; close a stream that is full with an ERROR.

        For `hold` seconds the records, if they have a turn, are held while the store cannot take
        them.
        """
        data = [to_bytes(record) for record in records]
        clock = asyncio.get_running_loop().time
        until = clock() + hold
        while True:
            try:
                tail = await self.store.write(stream, producer, data, turn=turn, lease=lease)
                break
            except StoreUnavailable as error:
                if turn is None or clock() >= until:
                    raise
                self._failed("append", error)
                await asyncio.sleep(0.1)
            except StoreFull as full:
                if full.bound in ("stream_bytes", "stream_entries"):
                    await self.end(stream, End("error", "LIMIT_EXCEEDED", str(full)))
                raise
        self.metrics.add("records_total", len(data))
        self.metrics.add("record_bytes_total", sum(map(len, data)))
        if stream in self._readers:
            self._appended[stream] = tail.last, time.monotonic()
        return tail.last

    def sent(self, stream: str, seq: int, seen: int) -> int:
        """Measure how long the records up to `seq` took to reach a reader, after `seen`."""
        last, at = self._appended.get(stream, (0, 0.0))
        if seen < last <= seq:
            self.metrics.observe("publish_send_seconds", time.monotonic() - at)
        return seq

    async def end(self, stream: str, end: End = CLOSED) -> bool:
        """Close a stream in place of its producer; False if it was closed before."""
        ended = await self.store.finalize(stream, end.to_bytes())
        if ended:
            self.count_end(end)
        return ended

    def count_end(self, end: End) -> None:
        """Count a stream that was closed here."""
        how = end.code if end.code in ENDS else "FAILED" if end.code else "CLOSED"
        self.metrics.add("streams_ended_total", how=how)

    async def status(self, stream: str) -> Status:
        """Return the current state of a stream; close it first if its producer is lost."""
        try:
            return await self._closed_if_lost(stream)
        except StoreFull:  # what is there can be read, and it is closed once there is room
            return await self.store.status(stream)

    async def _closed_if_lost(self, stream: str) -> Status:
        status = await self.store.status(stream)
        if status.lost and stream not in self.producing:
            if not await self.goes_on(stream, status):
                await self.end_lost(stream, status)
            status = await self.store.status(stream)
        return status

    async def end_lost(self, stream: str, status: Status) -> None:
        """Close a stream whose producer is lost; nothing happens if it has one again."""
        ended = await self.store.finalize(stream, LOST.to_bytes(), only_if_lost=True)
        self.metrics.add("lost_producers_total", ended)
        if ended:
            self.lost_closed(stream, status)

    async def goes_on(self, stream: str, status: Status) -> bool:
        """Go on with a stream whose producer is lost; False if it must be closed.

        A hub of streams that can be continued has its own, as those of `takeover.py` and of the
        server do.
        """
        return False

    def more_grace(self, meta: bytes) -> float:
        """How much longer than GRACE readers wait for a sign of a stream."""
        return 0.0

    def lost_closed(self, stream: str, status: Status) -> None:
        """Called when a stream was closed here because its producer was lost."""

    @asynccontextmanager
    async def holding(
        self,
        stream: str,
        producer: str,
        lease: float,
        ended: Callable[[], object] | None = None,
    ) -> AsyncIterator[None]:
        """Take the producer's lease, and renew it inside the block."""
        await self.store.acquire(stream, producer, lease=lease)
        async with self.renewing(stream, producer, lease, ended):
            yield

    @asynccontextmanager
    async def renewing(
        self,
        stream: str,
        producer: str,
        lease: float,
        ended: Callable[[], object] | None = None,
        renewed: Callable[[float], object] = bool,
    ) -> AsyncIterator[None]:
        """Renew a lease inside the block; call `ended` if the stream is closed or taken elsewhere.

        `renewed` is called with the time at which each renewal began.
        """
        renewing = asyncio.create_task(self._renew(stream, producer, lease, ended, renewed))
        try:
            yield
        finally:
            await stop(renewing)

    async def _renew(
        self,
        stream: str,
        producer: str,
        lease: float,
        ended: Callable[[], object] | None,
        renewed: Callable[[float], object],
    ) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(lease / 3)
            began = clock()
            try:
                await self.store.acquire(stream, producer, lease=lease)
                renewed(began)
            except (LogClosed, UnknownStream, StreamTaken):
                if ended is not None:
                    ended()
                return
            except Exception as error:  # the loop must survive any error
                self._failed("renew", error)

    # ---- reading ----

    @asynccontextmanager
    async def reader(
        self, stream: str, status: Status, options: ViewOptions, position: Position
    ) -> AsyncIterator[Reader]:
        """Return a reader, counted until it is closed; TooMany at the limit of readers."""
        with self.counted(stream):
            known = self._followed.get(stream)
            if known is not None and known.meta != status.meta:
                known = None
            kept = StreamOptions.from_bytes(status.meta) if known is None else known.kept
            make = lambda: rendering(kept, options)  # noqa: E731
            # Who joins others at their view needs none of his own.
            joins = known is not None and options in known.views
            ready = [] if joins else [await self.schemas.compiling(kept, make)]
            views = self._views_of(stream, status, kept, options, ready)
            views.readers += 1
            lost = not position.is_in(status.last, status.mark)
            reader = Reader(views, position, make, lost=lost)
            try:
                yield reader
            finally:
                self.metrics.add("replays_total", reader.replays)
                self._leave(stream, options, views)

    @contextmanager
    def counted(self, stream: str) -> Iterator[None]:
        """Count a reader of this stream inside the block; TooMany at the limit of readers."""
        mine = self._readers.get(stream, 0)
        if mine >= self.settings.readers_per_stream:
            raise TooMany("this stream has too many readers")
        if self.metrics.get("readers") >= self.most_readers:
            raise TooMany("this server has too many readers")
        self._readers[stream] = mine + 1
        self.metrics.add("readers", 1)
        try:
            yield
        finally:
            self.metrics.add("readers", -1)
            self._readers[stream] -= 1
            if not self._readers[stream]:
                del self._readers[stream]
                self._appended.pop(stream, None)

    def _views_of(
        self,
        stream: str,
        status: Status,
        kept: StreamOptions,
        options: ViewOptions,
        ready: list[Rendering],
    ) -> Views:
        now = asyncio.get_running_loop().time
        followed = self._followed.get(stream)
        if followed is not None and followed.meta != status.meta:
            self._abandon(followed)
            followed = None
        if followed is None:
            grace = GRACE + self.more_grace(status.meta)
            lease = max(status.lease, 0.0)
            followed = self._followed[stream] = _Followed(status.meta, kept, lease, now(), grace)
        elif status.lease > 0:
            followed.alive(status.lease, now())  # the store has just said so
        if status.closed:
            followed.due = math.inf
        views = followed.views.get(options)
        if views is None:
            self._make_room(stream, followed, status.size)
            self._followed[stream] = followed  # also if all its views were dropped
            retry_for = max(status.lease, 0.0) + followed.grace

            def make(position: Position, shared: bool) -> View:
                return View(
                    self.store,
                    stream,
                    ready.pop() if ready else rendering(kept, options),
                    position,
                    target=status.last,
                    shared=shared,
                    moved=lambda: followed.moved(now()),
                    retry_for=retry_for,
                )

            views = followed.views[options] = Views(make, lambda view: self.spawn(view.close()))
            self.metrics.add("views", 1)
        return views

    def _make_room(self, stream: str, followed: _Followed, size: int) -> None:
        """Drop views without readers until there is room for another one; TooMany if there is none.

        A view may take many times the memory that its log does.
        """
        most = max(1, VIEWS_BYTES // max(size, VIEW_BYTES))
        idle = [it for it in followed.views.items() if not it[1].readers]
        while len(followed.views) >= most and idle:
            self._drop(stream, *idle.pop(0))
        if len(followed.views) >= most:
            raise TooMany("this stream is read in too many different ways")

    def _abandon(self, followed: _Followed) -> None:
        """Another log has taken the place of this one: those who still wait for more are told."""
        self.metrics.add("views", -len(followed.views))
        self.spawn(stop(followed.checking))
        for view in [view for views in followed.views.values() for view in views.all]:
            if not view.ended:
                view.fail(LogLost(OTHER_LOG))

    def _views(self) -> list[View]:
        return [one for it in self._followed.values() for of in it.views.values() for one in of.all]

    def _leave(self, stream: str, options: ViewOptions, views: Views) -> None:
        views.readers -= 1
        if not views.readers:
            wait = 0.0 if any(view.is_heavy for view in views.all) else LINGER
            asyncio.get_running_loop().call_later(wait, self._drop, stream, options, views)

    def _drop(self, stream: str, options: ViewOptions, views: Views) -> None:
        if views.readers or self.stopping:
            return
        followed = self._followed.get(stream)
        if followed is not None and followed.views.get(options) is views:
            del followed.views[options]
            self.metrics.add("views", -1)
            if not followed.views:
                del self._followed[stream]
                self.spawn(stop(followed.checking))
        for view in views.all:
            self.spawn(view.close())
        views.all.clear()

    def spawn(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _watch(self) -> None:
        """Close the streams that are being read here and whose producer is lost.

        If the store does not answer, their readers get an error in time.
        """
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(CHECK_EVERY)
            now = loop.time()
            for stream, followed in self._followed.items():
                if followed.deadline <= now:
                    error = StoreUnavailable("the store cannot say whether the stream goes on")
                    for view in [view for views in followed.views.values() for view in views.all]:
                        # One that has something to render does not wait for the store.
                        if view.failed is None and not view.ended and not view.busy:
                            view.fail(error)
                elif followed.due <= now and (
                    followed.checking is None or followed.checking.done()
                ):
                    followed.checking = asyncio.create_task(self._check(stream, followed))

    async def _check(self, stream: str, followed: _Followed) -> None:
        async with self._checking:
            try:
                status = await self._closed_if_lost(stream)
            except UnknownStream:
                followed.due = math.inf
            except Exception as error:  # there is another look
                self._failed("watch", error)
            else:
                now = asyncio.get_running_loop().time()
                followed.due = now + max(CHECK_EVERY, status.lease)
                if status.closed:
                    followed.due = math.inf  # a view that does not get there in time is told
                # Past its time a lease holds while it could not be renewed; then the stream may go
                # on only if it can be renewed now.
                elif status.lease > 0 or await self.readiness.check():
                    followed.alive(max(status.lease, 0.0), now)

    def _failed(self, what: str, error: Exception) -> None:
        """Count and log the failure of a task."""
        self.metrics.add("store_errors_total", task=what)
        now = time.monotonic()
        if now - self._said.get(what, -math.inf) >= SAY_EVERY:
            self._said[what] = now
            log.warning("the store failed (%s): %s: %s", what, type(error).__name__, error)
