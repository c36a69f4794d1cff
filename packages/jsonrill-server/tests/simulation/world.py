"""One schedule, and what must be true after it."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Final

from jsonrill.eventstream import SSEDecoder, SSEEvent
from jsonrill_server.formats import rendering
from jsonrill_server.log import Lost, State, StoreError
from jsonrill_server.options import FORMATS, Options
from jsonrill_server.read import LAST, Position, render
from jsonrill_server.records import End, Record, from_bytes
from jsonrill_server.result import Meta, Run
from jsonrill_server.runs import Runs, log_name

from . import loop as loops
from .loop import PROCESS, Process, SimulatedLoop
from .store import SharedStore, SimulatedStore

LEASE: Final = 2.0
FAULTS: Final = ("kill", "halt", "cut", "outage", "stop", "failover", "cancel", "jump")
# Every reader must have its end within this many seconds after the last fault.
SETTLE_SECONDS: Final = 200.0


class Violation(AssertionError):
    """A promise was broken."""


@dataclass(frozen=True)
class Source:
    """What a run writes, the wait before each piece, and how it ends.

    `is_named`: another replica can resume it.
    """

    key: str
    at: float
    pieces: tuple[str, ...]
    waits: tuple[float, ...]
    ending: str  # complete, raises or hangs
    is_named: bool


@dataclass
class Client:
    """A reader that disconnects after these numbers of events and reconnects to any replica."""

    key: str
    format: Any
    at: float
    disconnects: list[int]
    events: list[tuple[str, str]] = field(default_factory=list)
    after: str = ""
    end: str = ""


class Replica:
    """A process with a `Runs`."""

    def __init__(self, world: World, rate: float) -> None:
        self.world = world
        self.rate = rate
        self.process = Process("", rate, 1e4 * world.rng.random())
        self.is_alive = True
        self.waiters: list[asyncio.Future[None]] = []
        self.store = world.run_in(self.process, SimulatedStore, world, self.process)
        self.runs: Runs = world.run_in(self.process, self._runs)

    def _runs(self) -> Runs:
        return Runs(
            self.store,
            lease=LEASE,
            takeover=3.0,
            sources={"named": self.world.resume},
            on_end=self.world.note_end,
            grace=1.0,
        )

    async def run(self, work: Any) -> Any:
        """Run a coroutine in this process; None if the process dies meanwhile."""
        stop: asyncio.Future[None] = self.world.loop.create_future()
        self.waiters.append(stop)
        context = copy_context()
        context.run(PROCESS.set, self.process)
        task = self.world.loop.create_task(work, context=context)
        task.add_done_callback(lambda _: None if stop.done() else stop.set_result(None))
        try:
            await stop
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done() or task.cancelled():
            return None
        return task.result()

    def die(self) -> None:
        self.is_alive = False
        self.world.loop.kill(self.process)
        for stop in self.waiters:
            if not stop.done():
                stop.set_result(None)


class World:
    """The store, the network, the replicas and the clients of one seed."""

    def __init__(self, seed: int, loop: SimulatedLoop) -> None:
        self.loop = loop
        self.rng = rng = random.Random(seed)
        self.clock_offset = 0.0
        self.write_every = rng.choice((0.0, 0.025))
        self.delay = rng.choice((0.002, 0.02))
        self.failures = rng.choice((0.0, 0.0, 0.02, 0.1))
        self.has_failures = self.failures > 0
        self.lost_notices = rng.choice((0.0, 0.0, 0.2, 1.0))
        self.store = SharedStore(self)
        self.cut_until: dict[Process | None, float] = {}
        self.ends: list[Run] = []
        self.faults: set[str] = set()
        self.cancelled_keys: set[str] = set()
        # The logs before the store lost records of them, by key.
        self.former_logs: dict[str, list[Any]] = {}
        self.sources = {f"key{at}": self._source(f"key{at}") for at in range(rng.choice((1, 1, 2)))}
        count = rng.randint(1, 3)
        self.replicas = [Replica(self, rng.uniform(0.99, 1.01)) for _ in range(count)]
        self.clients = [self._client() for _ in range(rng.choice((1, 1, 2, 3)))]

    def _source(self, key: str) -> Source:
        rng = self.rng
        text = json.dumps({"text": "x" * rng.randint(0, 8), "items": [*range(rng.randint(0, 4))]})
        cuts = sorted(rng.sample(range(1, len(text)), rng.choice((0, 1, 2, 3, 5, 8))))
        pieces = tuple(text[a:b] for a, b in zip((0, *cuts), (*cuts, len(text)), strict=True))
        slow = rng.choice((0.0, 0.01, 0.3, 3.0))
        waits = tuple(rng.uniform(0, slow) for _ in pieces)
        ending = rng.choice(("complete", "complete", "complete", "raises", "hangs"))
        return Source(key, rng.uniform(0, 2), pieces, waits, ending, rng.random() < 0.5)

    def _client(self) -> Client:
        rng = self.rng
        disconnects = [rng.randint(0, 12) for _ in range(rng.choice((0, 0, 1, 2)))]
        key = rng.choice([*self.sources])
        return Client(key, rng.choice(FORMATS), rng.uniform(0, 6), sorted(disconnects))

    def run_in(self, process: Process, function: Any, *arguments: Any) -> Any:
        context = copy_context()
        context.run(PROCESS.set, process)
        return context.run(function, *arguments)

    # ---- the network ----

    def latency(self) -> float:
        return self.delay * self.rng.random()

    def fails(self) -> bool:
        return self.rng.random() < self.failures

    def is_cut(self, process: Process) -> bool:
        now = self.loop.now
        return any(self.cut_until.get(name, 0.0) > now for name in (process, None))

    def notify(self, key: str) -> None:
        for replica in self.replicas:
            if self.rng.random() >= self.lost_notices and replica.is_alive:
                replica.store.notice(key, self.latency())

    # ---- the program ----

    async def pieces_of(self, source: Source, first: int = 0) -> AsyncIterator[str]:
        for piece, wait in zip(source.pieces[first:], source.waits[first:], strict=True):
            await asyncio.sleep(wait)
            yield piece
        if source.ending == "raises":
            raise ValueError("the source fails")
        if source.ending == "hangs":
            await asyncio.sleep(1e6)

    def resume(self, run: Run) -> AsyncIterator[str]:
        return self.pieces_of(self.sources[run.key], len(run.events))

    async def note_end(self, run: Run) -> None:
        if self.rng.random() < 0.3:
            await asyncio.sleep(self.rng.uniform(0, 2 * LEASE))
        self.ends.append(run)

    def pick_replica(self) -> Replica:
        return self.rng.choice([replica for replica in self.replicas if replica.is_alive])

    async def start(self, source: Source) -> None:
        await asyncio.sleep(source.at)
        while True:
            replica = self.pick_replica()
            stream: Any = "named" if source.is_named else lambda: self.pieces_of(source)

            async def begin(replica: Replica = replica, stream: Any = stream) -> bool:
                with suppress(StoreError):
                    await replica.runs.start(source.key, stream, replace=False)
                    return True
                return False

            if await replica.run(begin()):
                return
            if log_name(source.key) in self.store._logs:
                return  # the answer was lost, or the process died after it
            await asyncio.sleep(0.3)

    async def read(self, client: Client) -> None:
        await asyncio.sleep(client.at)
        while not client.end:
            replica = self.pick_replica()
            connection = self.loop.create_task(replica.run(self._connection(replica, client)))
            await connection
            await asyncio.sleep(0.1 + self.rng.random())

    async def _connection(self, replica: Replica, client: Client) -> None:
        """Simulate one connection of a client, in the process that answers it."""
        runs, name = replica.runs, log_name(client.key)
        position = Position.parse(client.after or "0")
        limit = client.disconnects.pop(0) if client.disconnects else 1 << 30
        try:
            result = await runs.find(name, position)
        except Lost:
            client.end = "LOST"
            return
        except StoreError:
            return
        if result is None:
            return
        head, meta = result
        if position.is_end(head):
            client.end = "204"
            return
        options = Options.stored(meta.options, {"format": client.format})
        decoder = SSEDecoder()
        chunks = runs.replays.read(name, head, position, options, meta.lease)
        try:
            async for chunk in chunks:
                for event in decoder.feed(chunk):
                    self._receive(client, event)
                if len(client.events) >= limit or client.end or runs.is_stopping:
                    return
        except StoreError:
            return
        finally:
            await chunks.aclose()

    def _receive(self, client: Client, event: SSEEvent) -> None:
        if not event.id or event.id == client.after:
            client.end = client.end or f"ERROR {event.data}"
            return
        client.events.append((event.id, event.data))
        client.after = event.id
        if f".{LAST}-" in event.id:
            client.end = "CLOSE"

    # ---- faults ----

    async def fail(self) -> None:
        rng, faults = self.rng, []
        for _ in range(rng.choice((0, 1, 2, 2, 3, 4))):
            source = rng.choice([*self.sources.values()])
            at = source.at + rng.uniform(0, 1.2) * sum(source.waits)
            work = self._fault(rng.choice(FAULTS), at, source.key)
            faults.append(self.loop.create_task(work))
        await asyncio.sleep(12.0)
        for fault in faults:
            await fault
        self.failures, self.lost_notices = 0.0, 0.0
        self.cut_until.clear()

    async def _fault(self, fault: str, at: float, key: str) -> None:
        rng = self.rng
        length = rng.choice((0.3, 1.0, 1.5 * LEASE, 4 * LEASE)) * rng.uniform(0.5, 1.5)
        await asyncio.sleep(at)
        self.faults.add(fault)
        replica = self.pick_replica()
        match fault:
            case "kill":
                await self._restart(replica, length)
            case "stop":
                await replica.run(replica.runs.close())
                await self._restart(replica, 0.1)
            case "halt":
                self.loop.halt(replica.process)
                await asyncio.sleep(length)
                self.loop.resume(replica.process)
            case "cut":
                self.cut_until[replica.process] = self.loop.now + length
            case "outage":
                self.cut_until[None] = self.loop.now + length
            case "failover":
                former_log = self.store.lose(log_name(key), rng.randint(1, 3))
                self.former_logs.setdefault(key, []).append(former_log)
            case "jump":
                self.clock_offset += rng.choice((-5.0, 5.0, 100.0))
            case "cancel":
                self.cancelled_keys.add(key)
                await replica.run(self._cancel(replica, key))

    async def _cancel(self, replica: Replica, key: str) -> None:
        with suppress(StoreError):
            await replica.runs.cancel(key)

    async def _restart(self, replica: Replica, after: float) -> None:
        new_replica = Replica(self, replica.rate)
        self.replicas.append(new_replica)
        new_replica.is_alive = False
        replica.die()
        if any(item.is_alive for item in self.replicas):
            await asyncio.sleep(after)
        new_replica.is_alive = True
        await new_replica.run(_open_runs(new_replica.runs))

    # ---- the end ----

    async def run(self) -> None:
        for replica in [*self.replicas]:
            self.loop.create_task(replica.run(_open_runs(replica.runs)))
        fault_task = self.loop.create_task(self.fail())
        works = [*map(self.start, self.sources.values()), *map(self.read, self.clients)]
        tasks = [self.loop.create_task(work) for work in works]
        hanging_keys = [source.key for source in self.sources.values() if source.ending == "hangs"]
        await fault_task
        await asyncio.sleep(5.0)
        for key in hanging_keys:
            self.cancelled_keys.add(key)
            replica = self.pick_replica()
            await replica.run(self._cancel(replica, key))
        _, late_tasks = await asyncio.wait(tasks, timeout=SETTLE_SECONDS)
        if late_tasks:
            raise Violation("a reader or writer has not finished")
        await asyncio.sleep(10 * LEASE)
        for task in tasks:
            task.result()
        self.check()

    def check(self) -> None:
        for key, source in self.sources.items():
            log = self.store._logs[log_name(key)]
            items = [from_bytes(row.data) for row in log.rows]
            end, records = items[-1], [item.body for item in items if isinstance(item, Record)]
            if not isinstance(end, End) or log.state != State.ENDED:
                raise Violation(f"{key} has not ended: {log.state}")
            if tuple(records) != source.pieces[: len(records)]:
                raise Violation(f"{key} has {records}, not {source.pieces}")
            self._check_end(source, end, len(records))
        for client in self.clients:
            self._check_client(client)

    def _check_end(self, source: Source, end: End, count: int) -> None:
        is_complete = count == len(source.pieces)
        losses = {"kill", "halt", "cut", "outage", "failover", "jump", "stop"} & self.faults
        allowed = {
            "": is_complete and source.ending == "complete",
            "SOURCE_FAILED": is_complete and source.ending == "raises",
            "CANCELLED": source.key in self.cancelled_keys,
            "PRODUCER_LOST": bool(losses) or self.has_failures,
            "PRODUCER_STOPPED": "stop" in self.faults and not source.is_named,
            "LOG_LOST": source.key in self.former_logs,
        }
        if not allowed.get(end.code, False):
            raise Violation(f"{source} ended with {end} after {self.faults}")
        runs = [run for run in self.ends if run.key == source.key]
        if source.key not in self.former_logs:
            if not runs or runs[-1].status != end.status:
                raise Violation(f"on_end was called with {runs}, the end is {end}")

    def _check_client(self, client: Client) -> None:
        logs = [self.store._logs[log_name(client.key)], *self.former_logs.get(client.key, ())]
        # A reader may have had all of a log before its end was lost.
        event_lists = [_render_log(log, client.format) for log in logs if log is not None]
        has_error = client.end not in ("CLOSE", "204")
        if has_error and client.key not in self.former_logs:
            raise Violation(f"{client} got an error for lost records")
        if not has_error and client.events not in event_lists:
            raise Violation(f"{client.events} is not one of {event_lists}")
        ids = [id for id, _ in client.events]
        if len(set(ids)) != len(ids):
            raise Violation(f"{client} has an event twice")


async def _open_runs(runs: Runs) -> None:
    while True:
        with suppress(StoreError):
            await runs.open()
            return
        await asyncio.sleep(0.2)


def _render_log(log: Any, format: str) -> list[tuple[str, str]]:
    """Return the events that an undisturbed reader gets."""
    options = Options.stored(Meta.parse(log.new.meta).options, {"format": format})
    work = rendering(options)
    events = []
    decoder = SSEDecoder()
    for row in log.rows:
        at = Position(log.new.log, row.epoch, row.seq)
        for sse_events in render(work, at, from_bytes(row.data)):
            data = b"".join([event.data for event in sse_events])
            events += [(event.id, event.data) for event in decoder.feed(data)]
    return events


def simulate(seed: int) -> SimulatedLoop:
    """Run the schedule of a seed; return the loop, which knows the time and the steps it took."""
    state = random.getstate()
    random.seed(seed)
    try:

        async def main(loop: SimulatedLoop) -> SimulatedLoop:
            await World(seed, loop).run()
            return loop

        result: SimulatedLoop = loops.run(seed, main)
        return result
    finally:
        random.setstate(state)
