"""The runs that this process writes, ends and takes over.

A run is a log under a key. The first record after a pause is written at once; what comes within the
next 25 ms goes into one write. An empty write renews the lease. When the lease has expired, a
process that reads the log, or that looks for such logs regularly, attends to it. If the run was
started with the name of a source that is registered here, it continues the run. If not, it waits
`takeover` seconds for another process that can, and then ends the run. A writer that was replaced
while it was halted is fenced: it stops.

An end is written as ENDING; the log becomes ENDED when `on_end` has returned. If a process dies in
between, the next one calls `on_end`, so it is called at least once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from jsonrill.errors import LimitExceeded

from . import records
from .log import Fenced, Head, Lost, State, Store, StoreError, Write, cancel, retry, wait_for
from .options import Options
from .records import End, Record, end_of_error, to_bytes
from .result import Meta, OnEnd, Run, read_all, read_answer_end, read_run
from .sources import call, records_of

log = logging.getLogger("jsonrill_server")
Source = Callable[..., Any]
# The lease of a run that another process may continue at once.
RELEASED: Final = -1e6
# Seconds that a stopped run has to write its end.
STOPPING: Final = 5.0
# Seconds that records are held while the store is unavailable.
HOLD: Final = 60.0
# Bytes that may wait for a write; then the source waits, too.
MAX_WAITING: Final = 1 << 20


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


@dataclass
class Writer:
    """The claim of this process to a log: the head after its last write."""

    store: Store
    key: str
    head: Head
    lease: float
    limits: Limits
    hold: float
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def add(self, data: Sequence[bytes]) -> None:
        """Append records of the source; LimitExceeded if the stream becomes too large."""
        limits = self.limits
        size, count = self.head.size + sum(map(len, data)), self.head.last + len(data)
        if size > limits.stream_bytes or count > limits.stream_records:
            bounds = f"{limits.stream_bytes} bytes and {limits.stream_records} records"
            raise LimitExceeded(f"a stream has at most {bounds}")
        await self.append(data)

    async def append(self, data: Sequence[bytes] = (), state: State | None = None) -> None:
        """Append records. Retry for `hold` seconds while the store is unavailable."""
        async with self._lock:
            write = partial(self.store.append, self.key, self.head, self.lease, data, state)
            self.head = await retry(write, self.hold)

    async def finish(self, end: End, state: State) -> None:
        """Write the end. If records were lost, a new epoch has to follow the remaining ones."""
        try:
            await self.append([to_bytes(end)], state)
        except Lost:
            head = await self.store.claim(self.key, self.lease, epoch=self.head.epoch)
            if head is None:
                raise
            self.head = head
            await self.append([to_bytes(records.LOG_LOST)], state)

    async def renew(self) -> None:
        """Renew the lease until that fails."""
        while True:
            await asyncio.sleep(self.lease / 3)
            try:
                await self.append()
            except StoreError:
                return


class Production:
    """A source that is written to a log by this process."""

    def __init__(self, writer: Writer, source: AsyncGenerator[list[Record]]) -> None:
        self.writer = writer
        self._source = source
        self._waiting: list[bytes] = []
        self._size = 0
        self._arrived = asyncio.Event()
        self._written = asyncio.Event()
        self._stopped: End | None = None
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(lambda _: self._arrived.set())

    async def run(self) -> End | None:
        """Write the records of the source. Return how it ended; None if its records say that.

        Raises Fenced if another writer has the log, and StoreError if the store takes no more.
        """
        try:
            while not self._reading.done() or self._waiting:
                await self._write()
        except Lost:
            return records.LOG_LOST
        except LimitExceeded as error:
            return end_of_error(error)
        finally:
            await cancel(self._reading)
        if self._stopped is not None:
            return self._stopped
        # Someone may have cancelled an awaitable of the source.
        return records.FAILED if self._reading.cancelled() else self._reading.result()

    def stop(self, end: End) -> None:
        """Close the source. Its records so far are still written, and then this end."""
        if not self._reading.done():
            self._stopped = end
            self._reading.cancel()

    async def _read(self) -> End | None:
        try:
            async with aclosing(self._source):
                async for batch in self._source:
                    data = [to_bytes(record) for record in batch]
                    self._waiting += data
                    self._size += sum(map(len, data))
                    self._arrived.set()
                    while self._size > MAX_WAITING:
                        self._written.clear()
                        await self._written.wait()
            return None
        except (Exception, SystemExit) as error:  # SystemExit would end the event loop
            return end_of_error(error)

    async def _write(self) -> None:
        """Wait for records and write them, or renew the lease in time."""
        await wait_for(self._arrived, self.writer.lease / 3)
        self._arrived.clear()
        data, self._waiting, self._size = self._waiting, [], 0
        self._written.set()
        await self.writer.add(data)
        if data and self.writer.store.write_every:
            await asyncio.sleep(self.writer.store.write_every)


@dataclass(frozen=True, slots=True)
class _Running:
    """A run that this process writes, or whose `on_end` it calls."""

    task: asyncio.Task[None]
    stop: Callable[[End], object]
    is_named: bool


@dataclass
class Lifecycle:
    """Writes runs, attends to runs whose writer is gone, and calls `on_end`."""

    store: Store
    sources: Mapping[str, Source]
    on_end: OnEnd | None
    lease: float
    takeover: float
    limits: Limits
    running: dict[str, _Running] = field(default_factory=dict)
    _attending: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _sweeping: asyncio.Task[None] | None = None
    _is_closed: bool = False

    def open(self) -> None:
        self._sweeping = asyncio.create_task(self._sweep())

    async def close(self) -> None:
        """Hand over the runs that other processes can continue, and wait for the others."""
        self._is_closed = True
        await cancel(self._sweeping, *self._attending.values())
        running = [*self.running.values()]
        await _stop([run for run in running if run.is_named], 0.0)
        await _stop([run for run in running if not run.is_named], self.limits.grace)
        await cancel(*[run.task for run in running])

    def produce(
        self,
        name: str,
        head: Head,
        meta: Meta,
        source: AsyncGenerator[list[Record]],
        on_end: OnEnd | None = None,
    ) -> None:
        """Write the records of a source to a log that this process has claimed."""
        production = Production(self.writer(name, head, meta), source)
        task = asyncio.create_task(self._write(production, meta, on_end or self.on_end))
        self._note(name, _Running(task, production.stop, meta.source is not None))

    def writer(self, name: str, head: Head, meta: Meta, hold: float = HOLD) -> Writer:
        return Writer(self.store, name, head, meta.lease, self.limits, hold)

    def call_source(self, meta: Meta, before: list[Record]) -> AsyncGenerator[list[Record]]:
        """Call a run's named source, and return the records that follow those in `before`."""
        options = Options.stored(meta.options)
        run = Run(meta.key, "active", None, before, options)
        function = self.sources[meta.source or ""]
        return records_of(lambda: function(run, **meta.args), options.given.get("input"))

    async def end(self, name: str, end: End) -> bool:
        """Claim a log and end it in one write; return False if it has ended.

        The write fences off the log's writer, which then calls `on_end`.
        """
        while (head := (await self.store.read(name, 0, 0))[0]) is not None and not head.closed:
            meta, last = Meta.parse(head.meta), [to_bytes(end)]
            write = Write(head, meta.lease, last, _last_state(meta), head.next_epoch())
            if await self.store.try_write(name, write) is not None:
                if name in self.running:
                    self.running[name].stop(end)
                return True
        return False

    def _note(self, name: str, run: _Running) -> None:
        self.running[name] = run
        run.task.add_done_callback(
            lambda _: self.running.pop(name) if self.running.get(name) is run else None
        )

    async def _write(self, production: Production, meta: Meta, on_end: OnEnd | None) -> None:
        """Write a run and its end, or leave the run to another process if this one stops."""
        writer = production.writer
        try:
            end = await production.run() or await read_answer_end(self.store, writer.key)
            if end is records.PRODUCER_STOPPED and meta.source is not None:
                writer.lease = RELEASED
                await writer.append()
                return
            await writer.finish(end, _last_state(meta))
        except Fenced:
            log.warning("a run was ended or continued by another process")
        except StoreError as error:
            log.error("a run cannot be written any more: %s", error)
            return
        await self._settle(writer, on_end)

    async def _settle(self, writer: Writer, on_end: OnEnd | None) -> None:
        """Call `on_end` with the run, if necessary, and mark the log as ended when it returns.

        Renew the lease meanwhile. If `on_end` raises, it is called again after the lease.
        """
        if on_end is None:
            return  # there is no on_end, or another process calls it
        try:
            head = await self.store.claim(writer.key, writer.lease, state=State.ENDING)
            if head is None or head.log != writer.head.log:
                return
            writer.head = head
            renewing = asyncio.create_task(writer.renew())
            try:
                run = await read_run(self.store, writer.key)
                if run is not None:
                    await call(on_end, run)
            finally:
                await cancel(renewing)
            await writer.append(state=State.ENDED)
        except StoreError as error:
            log.warning("on_end may be called again: %s", error)
        except Exception:
            log.exception("on_end failed, and is called again after the lease")

    # ---- logs whose writer is gone ----

    async def _sweep(self) -> None:
        """Attend to logs whose lease has expired, and let the store delete old logs."""
        while True:
            try:
                for name in await self.store.expire():
                    head, _ = await self.store.read(name, 0, 0)
                    if head is not None:
                        self.attend(name, head)
            except StoreError as error:
                log.warning("the store failed: %s", error)
            await asyncio.sleep(self.lease / 3)

    def attend(self, name: str, head: Head) -> None:
        """Attend to a log if its lease has expired."""
        is_due = head.left < 0 and head.state != State.ENDED
        is_here = name in self.running or name in self._attending
        if is_due and not is_here and not self._is_closed:
            task = self._attending[name] = asyncio.create_task(self._attend(name, head))
            task.add_done_callback(lambda _: self._attending.pop(name, None))

    async def _attend(self, name: str, head: Head) -> None:
        """Give the writer or a process that can continue some time, then take over the log."""
        meta = Meta.parse(head.meta)
        is_ending = head.state == State.ENDING
        can_go_on = self.on_end is not None if is_ending else meta.source in self.sources
        if not can_go_on and (is_ending or meta.source is not None):
            await asyncio.sleep(self.takeover)
        elif head.left > RELEASED / 2:
            # If only the store was unavailable, the writer still has time to renew its lease.
            await asyncio.sleep(meta.lease / 2)
        try:
            now, _ = await self.store.read(name, 0, 0)
            if now is not None and now.left < 0:
                state = State(head.state)
                claimed = await self.store.claim(name, meta.lease, state=state, epoch=head.epoch)
                if claimed is not None:
                    await self._go_on(name, claimed, meta)
        except StoreError as error:
            log.warning("a lost run is left for now: %s", error)

    async def _go_on(self, name: str, head: Head, meta: Meta) -> None:
        """Continue a run that this process has taken over, or end it."""
        writer, on_end = self.writer(name, head, meta), self.on_end
        if head.closed:
            on_end = on_end or _ignore
        elif meta.source in self.sources:
            log.info("continuing a run of a process that is gone")
            _, before, _ = await read_all(self.store, name)
            self.produce(name, head, meta, self.call_source(meta, before))
            return
        else:
            await writer.finish(records.PRODUCER_LOST, _last_state(meta))
        task = asyncio.create_task(self._settle(writer, on_end))
        self._note(name, _Running(task, task.cancel, is_named=False))


def _last_state(meta: Meta) -> State:
    return State.ENDING if meta.has_on_end else State.ENDED


async def _stop(runs: list[_Running], grace: float) -> None:
    """Wait for runs to end. Stop the remaining ones and wait until they have written their end."""
    tasks = [run.task for run in runs]
    if tasks and grace:
        await asyncio.wait(tasks, timeout=grace)
    for run in runs:
        run.stop(records.PRODUCER_STOPPED)
    if tasks:
        await asyncio.wait(tasks, timeout=STOPPING)


def _ignore(run: Run) -> None:
    """Do nothing: the `on_end` of a run that no process can call."""
