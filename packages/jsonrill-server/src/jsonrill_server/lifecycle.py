"""The runs that this process writes, ends and takes over.

A run is a log under a key. Its writer holds a lease. When the lease has expired, a process that
reads the log, or that looks for such logs regularly, attends to it. If the run was started with the
name of a source that is registered here, it continues the run. If not, it waits `takeover` seconds
for another process that can, and then ends the run. An end is written as ENDING; the log becomes
ENDED when `on_end` has returned. If a process dies in between, the next one calls `on_end`, so it
is called at least once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .log import Fenced, Head, State, Store, StoreError, Write, cancel, next_epoch
from .options import Options
from .produce import HOLD, Limits, Production, Writer
from .records import PRODUCER_LOST, PRODUCER_STOPPED, End, Record, to_bytes
from .result import Meta, OnEnd, Run, end_of_answer, read_all, read_run
from .sources import call, records_of

log = logging.getLogger("jsonrill_server")
Source = Callable[..., Any]
# The lease of a run that another process may continue at once.
RELEASED: Final = -1e6
# Seconds that a stopped run has to write its end.
STOPPING: Final = 5.0


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
        while True:
            head, _ = await self.store.read(name, 0, 0)
            if head is None or head.closed:
                return False
            meta, epoch = Meta.parse(head.meta), next_epoch(head.epoch)
            write = Write(head, meta.lease, [to_bytes(end)], _last_state(meta), epoch)
            if await self.store.try_write(name, write) is not None:
                break
        if name in self.running:
            self.running[name].stop(end)
        return True

    def _note(self, name: str, run: _Running) -> None:
        self.running[name] = run

        def ended(_: object) -> None:
            if self.running.get(name) is run:
                del self.running[name]

        run.task.add_done_callback(ended)

    async def _write(self, production: Production, meta: Meta, on_end: OnEnd | None) -> None:
        """Write a run and its end, or leave the run to another process if this one stops."""
        writer = production.writer
        try:
            end = await production.run() or await end_of_answer(self.store, writer.key)
            if end is PRODUCER_STOPPED and meta.source is not None:
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
            log.info("going on with a run whose process is gone")
            _, before, _ = await read_all(self.store, name)
            self.produce(name, head, meta, self.call_source(meta, before))
            return
        else:
            await writer.finish(PRODUCER_LOST, _last_state(meta))
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
        run.stop(PRODUCER_STOPPED)
    if tasks:
        await asyncio.wait(tasks, timeout=STOPPING)


def _ignore(run: Run) -> None:
    """Do nothing: the `on_end` of a run that no process can call."""
