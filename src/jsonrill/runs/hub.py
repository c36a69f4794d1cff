"""All streams of one process: the store, the views that are followed, the readers, the lost.

Every handler goes through here, so that this is where limits are kept and counted. The hub knows
nothing of HTTP.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from ..store import (
    LogClosed,
    Status,
    Store,
    StoreError,
    StoreFull,
    StreamTaken,
    UnknownStream,
    open_store,
)
from ..store.tasks import stop
from .config import Config
from .metrics import Metrics
from .options import StreamOptions, ViewOptions
from .positions import Position
from .reader import Reader
from .records import CLOSED, LOST, End, Record, to_bytes
from .render import rendering
from .view import View

log = logging.getLogger("jsonrill.server")
# A view without readers is kept this long: the next reconnect finds it warm.
LINGER = 5.0
LOOK = 1.0


class TooMany(Exception):
    """A limit on how many there may be at once."""


class Hub:
    """Opened by the first request, or by the app's lifespan; used in one event loop."""

    def __init__(self, config: Config, store: Store | None = None) -> None:
        self.config = config
        self.store = store or open_store(config.store, config.bounds())
        self.metrics = Metrics()
        self.stopping = False
        self.signing_key = config.signing_key()
        self.tasks: set[asyncio.Task[Any]] = set()
        self._views: dict[tuple[str, ViewOptions], View] = {}
        self._readers: dict[str, int] = {}
        # When each followed stream's lease is to be looked at again.
        self._looks: dict[str, float] = {}
        self._opening: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> None:
        if self._opening is None:
            self._opening = asyncio.create_task(self.store.open())
            self._watching = asyncio.create_task(self._watch())
        await asyncio.shield(self._opening)

    def stop(self) -> None:
        """Begin to shut down: readers are let go, to resume elsewhere."""
        self.stopping = True
        for view in self._views.values():
            view.wake()

    async def close(self) -> None:
        self.stop()
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=self.config.grace)
        await stop(*self.tasks, self._watching)
        for view in list(self._views.values()):
            await view.close()
        self._views.clear()
        if self._opening is not None:
            with suppress(StoreError):
                await self._opening
            await self.store.close()

    # ---- publishing ----

    async def create(self, owner: str, options: StreamOptions, producer: str, lease: float) -> str:
        meta = options.to_bytes()
        while True:
            stream = secrets.token_urlsafe(18)
            try:
                await self.store.acquire(stream, producer, lease=lease, owner=owner, meta=meta)
            except StreamTaken:
                continue  # made, but the answer was lost on the way: nobody knows that one
            self.metrics.add("streams_created_total")
            return stream

    async def append(
        self,
        stream: str,
        producer: str,
        records: Sequence[Record],
        first: int | None = None,
        lease: float | None = None,
    ) -> int:
        """As the store does. A stream that is full ends with an ERROR, for its readers."""
        data = [to_bytes(record) for record in records]
        try:
            last = await self.store.append(stream, producer, data, first=first, lease=lease)
        except StoreFull as full:
            if full.bound.startswith("stream"):
                await self.end(stream, End("error", "LIMIT_EXCEEDED", str(full)))
            raise
        self.metrics.add("records_total", len(data))
        self.metrics.add("record_bytes_total", sum(map(len, data)))
        return last

    async def end(self, stream: str, end: End = CLOSED) -> bool:
        return await self.store.finalize(stream, end.to_bytes())

    async def status(self, stream: str) -> Status:
        """How a stream is now; one whose producer is lost is ended first."""
        status = await self.store.status(stream)
        if status.lost and await self._end_lost(stream):
            status = await self.store.status(stream)
        return status

    async def _end_lost(self, stream: str) -> bool:
        ended = await self.store.finalize(stream, LOST.to_bytes(), only_if_lost=True)
        self.metrics.add("lost_producers_total", ended)
        return True

    @asynccontextmanager
    async def holding(
        self,
        stream: str,
        producer: str,
        lease: float,
        ended: Callable[[], object] | None = None,
    ) -> AsyncIterator[None]:
        """Renew the producer's lease while something is being done for it; call `ended` when
        somebody else has ended the stream."""
        await self.store.acquire(stream, producer, lease=lease)
        renewing = asyncio.create_task(self._renew(stream, producer, lease, ended))
        try:
            yield
        finally:
            await stop(renewing)

    async def _renew(
        self, stream: str, producer: str, lease: float, ended: Callable[[], object] | None
    ) -> None:
        while True:
            await asyncio.sleep(lease / 3)
            try:
                await self.store.acquire(stream, producer, lease=lease)
            except (LogClosed, UnknownStream):
                if ended is not None:
                    ended()
                return
            except StoreError as error:
                log.warning("a lease could not be renewed: %s", type(error).__name__)

    # ---- reading ----

    @asynccontextmanager
    async def reader(
        self, stream: str, status: Status, options: ViewOptions, position: Position
    ) -> AsyncIterator[Reader]:
        """A reader, counted while it lasts. TooMany if there are enough of them."""
        mine = self._readers.get(stream, 0)
        if mine >= self.config.readers_per_stream:
            raise TooMany("this stream has too many readers")
        if self.metrics.get("readers") >= self.config.readers:
            raise TooMany("this server has too many readers")
        kept = StreamOptions.from_bytes(status.meta)
        self._readers[stream] = mine + 1
        self.metrics.add("readers", 1)
        view = None
        reader = None
        try:
            if not status.closed:
                view = self._view(stream, kept, options)
                view.readers += 1
            reader = Reader(
                self.store, stream, options, position, lambda: rendering(kept, options), view
            )
            yield reader
        finally:
            self.metrics.add("readers", -1)
            if reader is not None:
                self.metrics.add("replays_total", reader.replays)
            self._readers[stream] -= 1
            if not self._readers[stream]:
                del self._readers[stream]
            if view is not None:
                self._leave(view)

    def _view(self, stream: str, kept: StreamOptions, options: ViewOptions) -> View:
        key = (stream, options)
        view = self._views.get(key)
        if view is None or view.failed is not None:
            loop = asyncio.get_running_loop()
            moved = lambda: self._looks.update({stream: loop.time() + LOOK})  # noqa: E731
            view = View(self.store, stream, rendering(kept, options), options, moved)
            self._views[key] = view
            self._looks.setdefault(stream, loop.time())
            self.metrics.add("views", 1)
        return view

    def _leave(self, view: View) -> None:
        view.readers -= 1
        if not view.readers:
            loop = asyncio.get_running_loop()
            loop.call_later(0 if view.ended else LINGER, self._drop, view)

    def _drop(self, view: View) -> None:
        key = (view.stream, view.options)
        if view.readers or self._views.get(key) is not view:
            return
        del self._views[key]
        self.metrics.add("views", -1)
        if not any(stream == view.stream for stream, _ in self._views):
            self._looks.pop(view.stream, None)
        self.spawn(view.close())

    def spawn(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _watch(self) -> None:
        """End the streams that are being read here and whose producer is lost."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(LOOK)
            for stream in [name for name, due in self._looks.items() if due <= loop.time()]:
                try:
                    status = await self.status(stream)
                except UnknownStream:
                    self._looks.pop(stream, None)
                except StoreError as error:
                    log.warning("a stream could not be looked at: %s", type(error).__name__)
                else:
                    if stream in self._looks:
                        self._looks[stream] = loop.time() + max(LOOK, status.lease)
                    if status.closed:
                        self._looks.pop(stream, None)
