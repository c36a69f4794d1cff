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
# Seconds after the last fault in which every reader must have its end.
SOON: Final = 200.0


class Violation(AssertionError):
    """A promise was broken."""


@dataclass(frozen=True)
class Source:
    """What a run writes, the wait before each piece, how it ends, and who continues it."""

    key: str
    at: float
    pieces: tuple[str, ...]
    waits: tuple[float, ...]
    how: str  # complete, raises or hangs
    is_named: bool


@dataclass
class Client:
    """A reader that leaves after given numbers of events, and returns to another replica."""

    key: str
    format: Any
    at: float
    leaves: list[int]
    events: list[tuple[str, str]] = field(default_factory=list)
    after: str = ""
    end: str = ""


class Replica:
    """A process with a `Runs`."""

    def __init__(self, world: World, rate: float) -> None:
        self.world = world
        self.rate = rate
        self.process = Process("", rate, 1e4 * world.draw.random())
        self.is_alive = True
        self.waiting: list[asyncio.Future[None]] = []
        self.store = world.run_in(self.process, SimulatedStore, world, self.process)
        self.runs: Runs = world.run_in(self.process, self._runs)

    def _runs(self) -> Runs:
        return Runs(
            self.store,
            lease=LEASE,
            takeover=3.0,
            sources={"named": self.world.continued},
            on_end=self.world.note_end,
            grace=1.0,
        )

    async def do(self, work: Any) -> Any:
        """Run a coroutine in this process; None if the process dies meanwhile."""
        gone: asyncio.Future[None] = self.world.loop.create_future()
        self.waiting.append(gone)
        context = copy_context()
        context.run(PROCESS.set, self.process)
        task = self.world.loop.create_task(work, context=context)
        task.add_done_callback(lambda _: None if gone.done() else gone.set_result(None))
        try:
            await gone
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done() or task.cancelled():
            return None
        return task.result()

    def die(self) -> None:
        self.is_alive = False
        self.world.loop.kill(self.process)
        for gone in self.waiting:
            if not gone.done():
                gone.set_result(None)


class World:
    """The store, the network, the replicas and the clients of one seed."""

    def __init__(self, seed: int, loop: SimulatedLoop) -> None:
        self.loop = loop
        self.draw = draw = random.Random(seed)
        self.jumped = 0.0
        self.write_every = draw.choice((0.0, 0.025))
        self.delay = draw.choice((0.002, 0.02))
        self.failures = draw.choice((0.0, 0.0, 0.02, 0.1))
        self.has_failures = self.failures > 0
        self.lost_notices = draw.choice((0.0, 0.0, 0.2, 1.0))
        self.store = SharedStore(self)
        self.cut_until: dict[Process | None, float] = {}
        self.ends: list[Run] = []
        self.faults: set[str] = set()
        self.cancelled: set[str] = set()
        # The logs as they were before the store lost records of them.
        self.failed_over: dict[str, list[Any]] = {}
        self.sources = {
            f"key{at}": self._source(f"key{at}") for at in range(draw.choice((1, 1, 2)))
        }
        count = draw.randint(1, 3)
        self.replicas = [Replica(self, draw.uniform(0.99, 1.01)) for _ in range(count)]
        self.clients = [self._client() for _ in range(draw.choice((1, 1, 2, 3)))]

    def _source(self, key: str) -> Source:
        draw = self.draw
        text = json.dumps({"text": "x" * draw.randint(0, 8), "items": [*range(draw.randint(0, 4))]})
        cuts = sorted(draw.sample(range(1, len(text)), draw.choice((0, 1, 2, 3, 5, 8))))
        pieces = tuple(text[a:b] for a, b in zip((0, *cuts), (*cuts, len(text)), strict=True))
        slow = draw.choice((0.0, 0.01, 0.3, 3.0))
        waits = tuple(draw.uniform(0, slow) for _ in pieces)
        how = draw.choice(("complete", "complete", "complete", "raises", "hangs"))
        return Source(key, draw.uniform(0, 2), pieces, waits, how, draw.random() < 0.5)

    def _client(self) -> Client:
        draw = self.draw
        leaves = [draw.randint(0, 12) for _ in range(draw.choice((0, 0, 1, 2)))]
        key = draw.choice([*self.sources])
        return Client(key, draw.choice(FORMATS), draw.uniform(0, 6), sorted(leaves))

    def run_in(self, process: Process, function: Any, *arguments: Any) -> Any:
        context = copy_context()
        context.run(PROCESS.set, process)
        return context.run(function, *arguments)

    # ---- the network ----

    def latency(self) -> float:
        return self.delay * self.draw.random()

    def fails(self) -> bool:
        return self.draw.random() < self.failures

    def is_cut(self, process: Process) -> bool:
        now = self.loop.now
        return any(self.cut_until.get(name, 0.0) > now for name in (process, None))

    def changed(self, key: str) -> None:
        for replica in self.replicas:
            if self.draw.random() >= self.lost_notices and replica.is_alive:
                replica.store.notice(key, self.latency())

    # ---- what the program does ----

    async def written(self, source: Source, first: int = 0) -> AsyncIterator[str]:
        for piece, wait in zip(source.pieces[first:], source.waits[first:], strict=True):
            await asyncio.sleep(wait)
            yield piece
        if source.how == "raises":
            raise ValueError("the source fails")
        if source.how == "hangs":
            await asyncio.sleep(1e6)

    def continued(self, run: Run) -> AsyncIterator[str]:
        return self.written(self.sources[run.key], len(run.events))

    async def note_end(self, run: Run) -> None:
        if self.draw.random() < 0.3:
            await asyncio.sleep(self.draw.uniform(0, 2 * LEASE))
        self.ends.append(run)

    def alive(self) -> Replica:
        return self.draw.choice([replica for replica in self.replicas if replica.is_alive])

    async def start(self, source: Source) -> None:
        await asyncio.sleep(source.at)
        while True:
            replica = self.alive()
            made: Any = "named" if source.is_named else lambda: self.written(source)

            async def begin(replica: Replica = replica, made: Any = made) -> bool:
                with suppress(StoreError):
                    await replica.runs.start(source.key, made, replace=False)
                    return True
                return False

            if await replica.do(begin()):
                return
            if log_name(source.key) in self.store._logs:
                return  # the answer was lost, or the process died after it
            await asyncio.sleep(0.3)

    async def read(self, client: Client) -> None:
        await asyncio.sleep(client.at)
        while not client.end:
            replica = self.alive()
            reading = self.loop.create_task(replica.do(self._connection(replica, client)))
            await reading
            await asyncio.sleep(0.1 + self.draw.random())

    async def _connection(self, replica: Replica, client: Client) -> None:
        """Simulate one connection of a client, in the process that answers it."""
        runs, name = replica.runs, log_name(client.key)
        position = Position.parse(client.after or "0")
        leave = client.leaves.pop(0) if client.leaves else 1 << 30
        try:
            found = await runs.find(name, position)
        except Lost:
            client.end = "LOST"
            return
        except StoreError:
            return
        if found is None:
            return
        head, meta = found
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
                if len(client.events) >= leave or client.end or runs.is_stopping:
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

    # ---- what goes wrong ----

    async def fail(self) -> None:
        draw, faults = self.draw, []
        for _ in range(draw.choice((0, 1, 2, 2, 3, 4))):
            source = draw.choice([*self.sources.values()])
            at = source.at + draw.uniform(0, 1.2) * sum(source.waits)
            work = self._fault(draw.choice(FAULTS), at, source.key)
            faults.append(self.loop.create_task(work))
        await asyncio.sleep(12.0)
        for fault in faults:
            await fault
        self.failures, self.lost_notices = 0.0, 0.0
        self.cut_until.clear()

    async def _fault(self, what: str, at: float, key: str) -> None:
        draw = self.draw
        length = draw.choice((0.3, 1.0, 1.5 * LEASE, 4 * LEASE)) * draw.uniform(0.5, 1.5)
        await asyncio.sleep(at)
        self.faults.add(what)
        replica = self.alive()
        match what:
            case "kill":
                await self._restart(replica, length)
            case "stop":
                await replica.do(replica.runs.close())
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
                former = self.store.lose(log_name(key), draw.randint(1, 3))
                self.failed_over.setdefault(key, []).append(former)
            case "jump":
                self.jumped += draw.choice((-5.0, 5.0, 100.0))
            case "cancel":
                self.cancelled.add(key)
                await replica.do(self._cancel(replica, key))

    async def _cancel(self, replica: Replica, key: str) -> None:
        with suppress(StoreError):
            await replica.runs.cancel(key)

    async def _restart(self, replica: Replica, after: float) -> None:
        new = Replica(self, replica.rate)
        self.replicas.append(new)
        new.is_alive = False
        replica.die()
        if any(item.is_alive for item in self.replicas):
            await asyncio.sleep(after)
        new.is_alive = True
        await new.do(_opened(new.runs))

    # ---- the end ----

    async def run(self) -> None:
        for replica in [*self.replicas]:
            self.loop.create_task(replica.do(_opened(replica.runs)))
        failing = self.loop.create_task(self.fail())
        works = [*map(self.start, self.sources.values()), *map(self.read, self.clients)]
        tasks = [self.loop.create_task(work) for work in works]
        hanging = [source.key for source in self.sources.values() if source.how == "hangs"]
        await failing
        await asyncio.sleep(5.0)
        for key in hanging:
            self.cancelled.add(key)
            replica = self.alive()
            await replica.do(self._cancel(replica, key))
        _, late = await asyncio.wait(tasks, timeout=SOON)
        if late:
            raise Violation("somebody still waits for an end")
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
        is_whole = count == len(source.pieces)
        losses = {"kill", "halt", "cut", "outage", "failover", "jump", "stop"} & self.faults
        truths = {
            "": is_whole and source.how == "complete",
            "SOURCE_FAILED": is_whole and source.how == "raises",
            "CANCELLED": source.key in self.cancelled,
            "PRODUCER_LOST": bool(losses) or self.has_failures,
            "PRODUCER_STOPPED": "stop" in self.faults and not source.is_named,
            "LOG_LOST": source.key in self.failed_over,
        }
        if not truths.get(end.code, False):
            raise Violation(f"{source} ended with {end} after {self.faults}")
        notified = [run for run in self.ends if run.key == source.key]
        if source.key not in self.failed_over:
            if not notified or notified[-1].status != end.status:
                raise Violation(f"on_end was called with {notified}, the end is {end}")

    def _check_client(self, client: Client) -> None:
        logs = [self.store._logs[log_name(client.key)], *self.failed_over.get(client.key, ())]
        # A reader may have had all of a log before its end was lost.
        expected = [_rendered(log, client.format) for log in logs if log is not None]
        has_lost = client.end not in ("CLOSE", "204")
        if has_lost and client.key not in self.failed_over:
            raise Violation(f"{client} got an error for lost records")
        if not has_lost and client.events not in expected:
            raise Violation(f"{client.events} is not {expected}")
        ids = [id for id, _ in client.events]
        if len(set(ids)) != len(ids):
            raise Violation(f"{client} has an event twice")


async def _opened(runs: Runs) -> None:
    while True:
        with suppress(StoreError):
            await runs.open()
            return
        await asyncio.sleep(0.2)


def _rendered(log: Any, format: str) -> list[tuple[str, str]]:
    """Return the events that an undisturbed reader gets."""
    options = Options.stored(Meta.parse(log.new.meta).options, {"format": format})
    work = rendering(options)
    events = []
    decoder = SSEDecoder()
    for row in log.rows:
        at = Position(log.new.log, row.epoch, row.seq)
        for rendered in render(work, at, from_bytes(row.data)):
            data = b"".join([event.data for event in rendered])
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
