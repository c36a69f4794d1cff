"""A schedule: what is written, who reads it, what fails and when, all chosen by a seed; and what
must hold after it, whatever it was."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, Final, TypeVar

from jsonrill.dialects import DIALECTS
from jsonrill.eventstream import SSEDecoder
from jsonrill_server import Run, Runs
from jsonrill_server.runs import elements, hub, readiness, steps
from jsonrill_server.runs.options import FORMATS
from jsonrill_server.runs.records import End, from_entry
from jsonrill_server.store import Entry, Store, StoreError, logs, memory
from jsonrill_server.store.logs import RETRY_FOR

from . import loop as loops
from .loop import PROCESS, Process, SimulatedLoop, Stuck
from .store import KINDS, Kind, Log, LogAlone, SharedLog, SimulatedStore

T = TypeVar("T")
LEASE: Final = 2.0
FAULTS: Final = ("kill", "halt", "cut", "outage", "stop", "failover", "cancel")
# What happens to a log besides: it is full for a while, expires, or another run takes its key.
CHANGES: Final = ("full", "expire", "replace")
# Seconds after the last fault in which every reader must have its end.
SOON: Final = 120.0
# Seconds in which a reader has the end of a log, if nothing is wrong.
AT_ONCE: Final = 5.0
# How the last event of other people's formats begins.
LAST: Final = ('{"error":', '{"type":"RUN_FINISHED"', '{"type":"RUN_ERROR"')
# Ends of a response, without an id, after which a client comes back.
SCOPE: Final = {"type": "http", "method": "GET"}
AGAIN: Final = ("UNAVAILABLE", "STOPPED")


# What readers get of a log, by format and records.
READINGS: Final[dict[tuple[str, tuple[bytes, ...]], list[tuple[str, str]]]] = {}


class Violation(AssertionError):
    """A promise was broken; the message names the schedule that shows it."""


@dataclass(frozen=True)
class Source:
    """A run: what its source writes, how long it waits before each piece, and how it ends."""

    key: str
    at: float
    replica: int
    pieces: tuple[str, ...]
    waits: tuple[float, ...]
    how: str  # complete, raises or hangs
    resumes: bool
    # Seconds after which another process starts it, too; 0: none does.
    again: float = 0.0


@dataclass(frozen=True)
class Client:
    """Reads a run; leaves after some numbers of events and comes back, perhaps elsewhere."""

    key: str
    format: str
    at: float
    leaves: tuple[int, ...]
    # Seconds that it takes for what is sent at once.
    pace: float = 0.0


@dataclass(frozen=True)
class Fault:
    what: str
    at: float
    replica: int
    length: float
    key: str = ""


@dataclass(frozen=True)
class Schedule:
    seed: int
    kind: str
    rates: tuple[float, ...]  # of the clock of each replica
    failures: float  # the share of requests and answers that are lost
    notices: float  # the share of notices that are lost, or come twice
    resumes: bool  # whether every replica can go on with every run
    sources: tuple[Source, ...]
    clients: tuple[Client, ...]
    faults: tuple[Fault, ...]


def seeded(seed: int, kind: str | None = None) -> Schedule:
    """The schedule of a seed."""
    draw = random.Random(seed)
    kind = kind or draw.choice([*KINDS])
    replicas = draw.randint(1, 3)
    sources = tuple(_source(draw, number, replicas) for number in range(draw.choice((1, 1, 2))))
    clients = tuple(_client(draw, sources) for _ in range(draw.choice((1, 1, 2, 3))))
    faults = tuple(
        _fault(draw, replicas, sources, kind) for _ in range(draw.choice((0, 1, 2, 2, 3, 4)))
    )
    changes = _changes(draw, sources)
    if not changes and draw.random() < 0.3:
        sources = (replace(sources[0], again=draw.choice((0.001, 0.3, 5.0))), *sources[1:])
    return Schedule(
        seed,
        kind,
        tuple(draw.uniform(0.99, 1.01) for _ in range(replicas)),
        draw.choice((0.0, 0.0, 0.02, 0.1)),
        draw.choice((0.0, 0.0, 0.2, 1.0)),
        draw.random() < 0.5,
        sources,
        clients,
        faults + changes,
    )


def _pieces(number: int) -> tuple[str, ...]:
    """One of the texts that sources write, in pieces."""
    draw = random.Random(number)
    items = [draw.randint(0, 99) for _ in range(draw.randint(0, 3))]
    text = json.dumps({"run": number, "text": "x" * draw.randint(0, 8), "items": items})
    cuts = sorted(draw.sample(range(1, len(text)), draw.choice((0, 1, 2, 3, 5, 8))))
    return tuple(text[a:b] for a, b in pairwise((0, *cuts, len(text))))


# Some, so that what readers should have had of them is known after a while.
TEXTS: Final = [_pieces(number) for number in range(64)]


def _source(draw: random.Random, number: int, replicas: int) -> Source:
    pieces = draw.choice(TEXTS)
    slow = draw.choice((0.0, 0.01, 0.3, 3.0))
    waits = tuple(draw.uniform(0, slow) for _ in pieces)
    how = draw.choice(("complete", "complete", "complete", "raises", "hangs"))
    at, replica = draw.uniform(0, 2), draw.randrange(replicas)
    return Source(f"key{number}", at, replica, pieces, waits, how, draw.random() < 0.5)


def _client(draw: random.Random, sources: tuple[Source, ...]) -> Client:
    leaves = tuple(sorted(draw.randint(0, 12) for _ in range(draw.choice((0, 0, 1, 2)))))
    pace = draw.choice((0.0, 0.0, 0.0, 0.5)) * draw.random()
    return Client(draw.choice(sources).key, draw.choice(FORMATS), draw.uniform(0, 6), leaves, pace)


def _fault(draw: random.Random, replicas: int, sources: tuple[Source, ...], kind: str) -> Fault:
    what = draw.choice(FAULTS)
    if what == "failover" and not KINDS[kind].loses_writes:
        what = "kill"
    length = draw.choice((0.3, 1.0, 1.5 * LEASE, 4 * LEASE)) * draw.uniform(0.5, 1.5)
    source = draw.choice(sources)
    # Most while a run is written, and where it is written.
    at = source.at + draw.uniform(0, 1.2) * sum(source.waits) if draw.random() < 0.7 else 0.0
    replica = source.replica if draw.random() < 0.5 else draw.randrange(replicas)
    return Fault(what, at or draw.uniform(0, 8), replica, length, source.key)


def _changes(draw: random.Random, sources: tuple[Source, ...]) -> tuple[Fault, ...]:
    if draw.random() < 0.7:
        return ()
    what, key = draw.choice(CHANGES), draw.choice(sources).key
    return (Fault(what, draw.uniform(0, 8), 0, draw.choice((0.0, 0.3, 3.0)), key),)


class Replica:
    """A process that has a `Runs`: started again under another name after it was killed."""

    def __init__(self, world: World, number: int, generation: int = 0) -> None:
        self.world = world
        self.number = number
        self.generation = generation
        rate, start = world.schedule.rates[number], 1e4 * world.draw.random()
        self.process = Process(f"replica {number}.{generation}", rate, start)
        # Whether it takes requests, and whether it was killed or has stopped.
        self.lives = True
        self.is_over = False
        self.connections: list[Connection] = []
        self.waiting: list[asyncio.Future[None]] = []
        self.ready: asyncio.Future[Runs] = world.loop.create_future()
        world.spawn(self.process, self._begin())

    async def _begin(self) -> None:
        world = self.world
        store = SimulatedStore(world, self.process)
        world.stores[self.process.name] = store
        runs = Runs(
            store,
            lease=LEASE,
            takeover=3.0,
            resume=world.resume,
            on_end=world.ended,
            heartbeat=3.0,
            grace=2.0,
        )
        self.ready.set_result(runs)

    async def does(self, work: Any) -> asyncio.Task[Any]:
        """Let it work until that is done, or it is gone."""
        over: asyncio.Future[None] = self.world.loop.create_future()
        task = self.world.spawn(self.process, work)
        task.add_done_callback(lambda task: _looked_at(task, over))
        self.waiting.append(over)
        await over
        self.waiting.remove(over)
        return task

    def gone(self) -> None:
        self.lives = False
        self.is_over = True
        self.world.stores.pop(self.process.name, None)
        for connection in self.connections:
            connection.breaks()
        for over in self.waiting:
            if not over.done():
                over.set_result(None)


def _looked_at(task: asyncio.Task[Any], over: asyncio.Future[None]) -> None:
    """Note that work is done, also if it failed."""
    task.cancelled() or task.exception()
    if not over.done():
        over.set_result(None)


class Connection:
    """A response on its way to a client; what is on the way is lost when it breaks."""

    def __init__(self, pace: float) -> None:
        self.status = 0
        self.over = False
        self._pace = pace
        self._chunks: list[bytes] = []
        self._changed = asyncio.Event()
        self._left = asyncio.Event()

    async def send(self, message: Any) -> None:
        if self._pace:
            await asyncio.sleep(self._pace)
        if self.over:
            raise OSError("the client has gone")
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self._chunks.append(message.get("body", b""))
            self.over = not message.get("more_body", False)
        self._changed.set()

    async def receive(self) -> Any:
        await self._left.wait()
        return {"type": "http.disconnect"}

    def breaks(self) -> None:
        self.over = True
        self._chunks = []
        self._changed.set()

    def leave(self) -> None:
        self.over = True
        self._left.set()

    async def chunks(self) -> AsyncGenerator[bytes]:
        while self._chunks or not self.over:
            if self._chunks:
                yield self._chunks.pop(0)
            else:
                self._changed.clear()
                await self._changed.wait()


@dataclass
class Seen:
    """What a client has received: its events with an id, and how it ended."""

    client: Client
    leaves: list[int]
    events: list[tuple[str, str]] = field(default_factory=list)
    after: str = ""
    end: str = ""
    connections: int = 0
    ended_at: float = 0.0


class World:
    """All of it: the shared log, the network, the replicas, the clients."""

    def __init__(self, schedule: Schedule, loop: SimulatedLoop) -> None:
        self.schedule = schedule
        self.kind: Kind = KINDS[schedule.kind]
        self.loop = loop
        self.draw = random.Random(schedule.seed + 1)
        self.stores: dict[str, SimulatedStore] = {}
        self.log = SharedLog(self)
        self.failures = schedule.failures
        self._cut_until: dict[str, float] = {}
        self.sources = {source.key: source for source in schedule.sources}
        self.resume: Any = self.resumed if schedule.resumes else None
        self.told: list[Run] = []
        self.failed_over: set[str] = set()
        # Logs that have expired or were replaced, by key.
        self.gone: dict[str, list[Log]] = {}
        self.closed_at: dict[str, float] = {}
        self._full_until = 0.0
        self.cancelled: set[str] = set()
        # How many programs still try to start a run, by key.
        self._starting = Counter(source.key for source in schedule.sources)
        self._starting.update(source.key for source in schedule.sources if source.again)
        # Whether all faults are over.
        self.is_quiet = False
        self.replicas = [Replica(self, number) for number in range(len(schedule.rates))]

    def spawn(self, process: Process, work: Any) -> asyncio.Task[Any]:
        context = copy_context()
        context.run(PROCESS.set, process)
        return self.loop.create_task(work, context=context)

    # ---- the network, as stores ask for it ----

    def latency(self) -> float:
        """Seconds on the way: none, half of the time; very many where a network is bad."""
        if self.failures and self.kind.loses_answers and self.draw.random() < 0.1 * self.failures:
            return self.draw.uniform(0, 3 * LEASE)
        return max(0.0, 2 * self.draw.random() - 1) * self.kind.latency

    def fails(self) -> bool:
        return self.failures > 0 and self.draw.random() < self.failures

    def cut_for(self, process: Process) -> float:
        """Seconds for which a process still cannot reach the store."""
        if not self._cut_until:
            return 0.0
        until = max(self._cut_until.get(place, 0.0) for place in (process.name, ""))
        return until - self.loop.now

    def is_full(self) -> bool:
        return self.loop.now < self._full_until

    def changed(self, stream: str) -> None:
        if self.log.is_closed(stream):
            self.closed_at.setdefault(stream, self.loop.now)
        for store in self.stores.values():
            if self.cut_for(store.process) > 0:
                continue
            if not self.kind.loses_notices or self.draw.random() >= self.schedule.notices:
                store.notice(stream, self.latency())
            elif self.draw.random() < 0.5:
                store.notice(stream, self.latency())
                store.notice(stream, 10 * self.latency())

    def forget(self, stream: str, log: Log) -> None:
        """Keep a log that the store does not keep any more."""
        self.gone.setdefault(stream.removeprefix("run:"), []).append(log)

    # ---- what programs do ----

    async def pieces(self, source: Source, begin: int = 0) -> AsyncGenerator[str]:
        for piece, wait in list(zip(source.pieces, source.waits, strict=True))[begin:]:
            await asyncio.sleep(wait)
            yield piece
        if source.how == "raises":
            raise RuntimeError("the model has failed")
        if source.how == "hangs":
            await asyncio.Event().wait()

    def resumed(self, key: str, count: int) -> Any:
        return self.pieces(self.sources[key], count)

    async def ended(self, run: Run) -> None:
        self.told.append(run)

    async def living(self, number: int | None = None) -> tuple[Replica, Runs]:
        """A replica that lives: this one, or any."""
        while True:
            alive = [it for it in self.replicas if it.lives and it.ready.done()]
            wanted = [it for it in alive if it.number == number] or alive
            if wanted:
                replica = wanted[self.draw.randrange(len(wanted))]
                return replica, replica.ready.result()
            await asyncio.sleep(0.1)

    async def asked(self, work: Callable[[Runs], Any], number: int | None = None) -> None:
        """Let a replica do something; elsewhere, if it dies or cannot reach the store."""
        while True:
            replica, runs = await self.living(number)
            asking = await replica.does(work(runs))
            if asking.done():
                try:
                    return asking.result()  # type: ignore[no-any-return]
                except StoreError:
                    pass
            await asyncio.sleep(0.2)

    async def start(self, source: Source, later: float = 0.0) -> None:
        """Start a run as a program does that insists: again, elsewhere, until the store has it."""
        await asyncio.sleep(source.at + later)
        await self._begin(source, replace=False, elsewhere=later > 0)
        self._starting[source.key] -= 1

    async def _begin(self, source: Source, replace: bool, elsewhere: bool = False) -> None:
        def begin(runs: Runs) -> Awaitable[object]:
            again = (lambda count: self.pieces(source, count)) if source.resumes else None
            pieces = lambda: self.pieces(source)  # noqa: E731
            return runs.start(source.key, pieces, resume=again, replace=replace)

        await self.asked(begin, None if elsewhere else source.replica)

    async def read(self, client: Client, seen: Seen) -> None:
        await asyncio.sleep(client.at)
        while not seen.end:
            await self._connect(client, seen)
            await asyncio.sleep(self.draw.uniform(0.05, 1.0))

    async def _connect(self, client: Client, seen: Seen) -> None:
        replica, runs = await self.living()
        connection = Connection(client.pace)
        replica.connections.append(connection)
        seen.connections += 1
        headers = {"last-event-id": seen.after} if seen.after else {}
        request = SimpleNamespace(headers=headers, query_params={}, method="GET")

        async def serve() -> None:
            try:
                response = runs.response(request, client.key, format=client.format, replay=True)
                await response(SCOPE, connection.receive, connection.send)
            except OSError:
                pass
            finally:
                connection.over = True
                connection._changed.set()

        self.spawn(replica.process, serve())
        decoder, error = SSEDecoder(), ""
        async for chunk in connection.chunks():
            if connection.status == 200:
                for event in decoder.feed(chunk):
                    error = self._take(event, seen, error)
            if seen.leaves and len(seen.events) >= seen.leaves[0] and not seen.end:
                del seen.leaves[0]
                connection.leave()
                break
        replica.connections.remove(connection)
        if seen.end:
            seen.ended_at = self.loop.now
        elif connection.status == 410 or (connection.status == 204 and client.key in self.gone):
            seen.end = "GONE"
        elif connection.status == 204 and seen.after:
            raise Violation("a reader that has all was not told of the end")
        elif connection.status == 400 and client.key not in {*self.failed_over, *self.gone}:
            raise Violation("a position that the server gave is refused")
        elif connection.status == 400:
            seen.end = "LOG_LOST"

    @staticmethod
    def _take(event: Any, seen: Seen, error: str) -> str:
        """Note one event; returns the code of an error that only ends this response."""
        if event.id and event.id != seen.after:
            seen.after = event.id
            seen.events.append((event.type, event.data))
            if _ends(event):
                seen.end = "END"
            return ""
        error = error or _error_in(event)
        if (_ends(event) or seen.client.format in DIALECTS) and error not in AGAIN:
            seen.end = error or "NOTHING"
        return error

    # ---- faults ----

    async def fail(self, fault: Fault) -> None:
        await asyncio.sleep(fault.at)
        replica = self.replicas[fault.replica]
        if fault.what == "kill" and not replica.is_over:
            self.loop.kill(replica.process)
            replica.gone()
            await self._again(replica, fault.length)
        elif fault.what == "stop" and replica.lives and replica.ready.done():
            replica.lives = False
            closing = await replica.does(replica.ready.result().close())
            if closing.done():  # and was not killed meanwhile
                replica.gone()
                await self._again(replica, fault.length)
        elif fault.what == "halt" and not replica.is_over:
            self.loop.halt(replica.process)
            await asyncio.sleep(fault.length)
            self.loop.resume(replica.process)
        elif fault.what in ("cut", "outage"):
            place = replica.process.name if fault.what == "cut" else ""
            self._cut_until[place] = self.loop.now + fault.length
            await asyncio.sleep(fault.length + self.draw.random())
            for name, store in self.stores.items():
                if place in ("", name):
                    store.reconnect()
        elif fault.what == "failover":
            self.failed_over.add(fault.key)
            self.log.lose_last(f"run:{fault.key}", 1 + self.draw.randrange(3))
        elif fault.what == "cancel":
            await self._cancel(fault)
        elif fault.what == "full":
            self._full_until = self.loop.now + fault.length
        elif fault.what in CHANGES and await self._has_ended(fault.key):
            await self._go(fault)

    async def _has_ended(self, key: str) -> bool:
        """Wait for the end of a run, but not for ever."""
        for _ in range(60):
            if self.log.is_closed(f"run:{key}"):
                return key not in self.failed_over
            await asyncio.sleep(0.5)
        return False

    async def _go(self, fault: Fault) -> None:
        await asyncio.sleep(fault.length)
        # A program that still tries to start the run would start it anew, or go on with the other.
        while self._starting[fault.key]:
            await asyncio.sleep(0.2)
        if fault.what == "expire":
            self.log.expire(f"run:{fault.key}")
            return
        old = self.sources[fault.key]
        pieces = ('{"title": "another run", ', '"items": [', "1, 2]", "}")
        new = replace(old, pieces=pieces, waits=(0.2, 0.1, 0.0, 1.0), how="complete")
        self.sources[fault.key] = new
        await self._begin(new, replace=True)

    async def _again(self, replica: Replica, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.replicas[replica.number] = Replica(self, replica.number, replica.generation + 1)

    async def _cancel(self, fault: Fault) -> None:
        self.cancelled.add(fault.key)
        await self.asked(partial(Runs.cancel, key=fault.key), fault.replica)

    # ---- a schedule from its beginning to its end ----

    async def run(self) -> None:
        seen = [Seen(client, [*client.leaves]) for client in self.schedule.clients]
        readers = [
            self.spawn(Process(f"client {number}"), self.read(one.client, one))
            for number, one in enumerate(seen)
        ]
        faults = [self.loop.create_task(self.fail(fault)) for fault in self.schedule.faults]
        starts = [
            self.loop.create_task(self.start(source, later))
            for source in self.schedule.sources
            for later in {0.0: None, source.again: None}
        ]
        await asyncio.gather(*faults)
        self.failures = 0.0
        self.is_quiet = True
        for source in self.schedule.sources:
            if source.how == "hangs":
                await asyncio.sleep(5.0)
                self.cancelled.add(source.key)
                await asyncio.gather(*starts)
                await self.asked(partial(Runs.cancel, key=source.key))
        done, late = await asyncio.wait({*readers, *starts}, timeout=SOON + 60.0)
        for task in done:
            task.result()
        if late:
            raise Violation(f"no end: {[one for one in seen if not one.end]}")
        await self._check(seen)

    async def _check(self, seen: list[Seen]) -> None:
        logged = {}
        for source in self.sources.values():
            if f"run:{source.key}" in self.log._logs:
                logged[source.key] = await self._logged(source)
        await asyncio.sleep(3 * LEASE)  # a producer learns of an end when it renews its lease
        for key, (records, end) in logged.items():
            source = self.sources[key]
            self._check_log(source, records, end)
            if source.key not in self.gone:  # of one key there were several runs
                self._check_told(source, records, end)
        for one in seen:
            self._check_reader(one)
        for replica in self.replicas:
            if replica.lives:
                await self._check_left(replica)
        if self.loop.errors:
            raise Violation(f"nobody looked at: {self.loop.errors[0]}")

    async def _check_left(self, replica: Replica) -> None:
        """A process lets go of a run that has ended; and when it stops, of everything."""
        runs = await replica.ready
        hub, store = runs._hub, runs._hub.store
        held = {*hub.producing, *hub.running}
        if held := {name for name in held if self.log.is_closed(name)}:
            raise Violation(f"runs that have ended are held: {held}")
        await self.spawn(replica.process, runs.close())
        await asyncio.sleep(1.0)
        if left := self.loop.tasks_of(replica.process):
            raise Violation(f"tasks are left: {left}")
        locked = {name for name, known in store._known.items() if known.users}
        if used := {*locked, *store._signals.streams, *hub.producing, *hub._readers}:
            raise Violation(f"locks or listeners are left: {used}")

    async def _logged(self, source: Source) -> tuple[list[str], End]:
        """The pieces in the log of a run, and its end."""
        until = self.loop.now + SOON
        while not self.log.is_closed(f"run:{source.key}"):
            if self.loop.now > until:
                raise Violation(f"{source.key} has no end")
            await asyncio.sleep(1.0)
            await self.asked(partial(Runs.active, key=source.key))  # so that somebody looks
            await asyncio.sleep(3 * LEASE)  # `on_end` is called behind the end
        log = self.log.copy(f"run:{source.key}")
        end = from_entry(Entry(log.head.last, log.records[-1], True, log.head.mark))
        assert isinstance(end, End)
        return [record[1:].decode() for record in log.records[1:-1]], end

    def _check_log(self, source: Source, records: list[str], end: End) -> None:
        whole = list(source.pieces)
        if source.key in self.failed_over:
            return  # what was lost is lost; readers are told
        if records != whole[: len(records)]:
            raise Violation(f"{source.key} is not what was written: {records} of {whole}")
        if end.reason == "closed" and (records != whole or source.how != "complete"):
            raise Violation(f"{source.key} is called complete: {records}")
        if end.code == "SOURCE_FAILED" and (records != whole or source.how != "raises"):
            raise Violation(f"{source.key} is called failed: {records}")
        if end.reason == "cancelled" and source.key not in self.cancelled:
            raise Violation(f"{source.key} was not cancelled")
        if end.code == "LIMIT_EXCEEDED" and not self._full_until:
            raise Violation(f"{source.key} ended with {end.code}, and there was room")
        faults = self.schedule.faults or self.schedule.failures
        if end.code in ("PRODUCER_LOST", "PRODUCER_STOPPED", "UNAVAILABLE") and not faults:
            raise Violation(f"{source.key} ended with {end.code}, and nothing was wrong")

    def _check_told(self, source: Source, records: list[str], end: End) -> None:
        """`on_end` is called once at most, with what the log has; once, if no process died."""
        runs = [run for run in self.told if run.key == source.key]
        if len(runs) > 1 and source.key not in self.failed_over:
            raise Violation(f"on_end was called {len(runs)} times for {source.key}")
        harmless = all(
            fault.what in ("cancel", *CHANGES)
            or (fault.what == "halt" and fault.length < RETRY_FOR)
            for fault in self.schedule.faults
        )
        if not runs and harmless and not self.schedule.failures:
            raise Violation(f"on_end was not called for {source.key}")
        if source.key in self.failed_over:
            return
        for run in runs:
            status = {"closed": "complete", "cancelled": "stopped"}.get(end.reason, end.reason)
            if (run.status, run.events) != (status, records):
                raise Violation(f"on_end was told {run.status} of {run.events}: {end}, {records}")

    def _check_reader(self, one: Seen) -> None:
        if one.end in ("LOG_LOST", "GONE") and one.client.key in self.failed_over:
            return  # records were lost that it had read, and it was told
        if one.client.key in self.gone:
            return self._check_reader_of_several(one)
        if one.end != "END":
            raise Violation(f"{one.client} ended with {one.end}")
        expected = reading(self.log.copy(f"run:{one.client.key}"), one.client)
        if one.events != expected:
            raise Violation(f"{one.client} has read {one.events}, not {expected}")
        disturbed = self.schedule.faults or self.schedule.failures or self.schedule.notices
        if not disturbed and not one.client.pace:
            late = one.ended_at - max(self.closed_at[f"run:{one.client.key}"], 1000 + one.client.at)
            if late > AT_ONCE:
                raise Violation(f"{one.client} had its end {late:.1f} s late")

    def _check_reader_of_several(self, one: Seen) -> None:
        """It read one of the runs that had its key, and no mixture of them, to its end; or was told
        that it cannot."""
        logs = [*self.gone[one.client.key]]
        if self.log.is_closed(f"run:{one.client.key}"):
            logs.append(self.log.copy(f"run:{one.client.key}"))
        readings = [reading(log, one.client) for log in logs]
        begun = [reading for reading in readings if one.events == reading[: len(one.events)]]
        if not begun:
            raise Violation(f"{one.client} has read {one.events}, which is none of {readings}")
        if one.end == "END" and one.events not in readings:
            raise Violation(f"{one.client} has read a part as the whole: {one.events}")
        if one.end not in ("END", "GONE", "LOG_LOST"):
            raise Violation(f"{one.client} ended with {one.end}")


def reading(log: Log, client: Client) -> list[tuple[str, str]]:
    """What a reader should get of a log that is closed: it depends on its records alone."""
    known = (client.format, tuple(log.records[1:]))
    if known not in READINGS:
        READINGS[known] = loops.run(0, lambda loop: _read_at_once(log, client))
    return READINGS[known]


async def _read_at_once(log: Log, client: Client) -> list[tuple[str, str]]:
    chunks: list[bytes] = []

    async def send(message: Any) -> None:
        chunks.append(message.get("body", b""))

    request = SimpleNamespace(headers={}, query_params={}, method="GET")
    async with Runs(LogAlone(f"run:{client.key}", log)) as runs:
        response = runs.response(request, client.key, format=client.format, replay=True)
        await response(SCOPE, asyncio.Event().wait, send)
    events = SSEDecoder().feed(b"".join(chunks))
    return [(event.type, event.data) for event in events if event.id]


def _ends(event: Any) -> bool:
    """Whether an event is the last of a response, in the words of any format."""
    if event.type == "CLOSE" or event.data == "[DONE]":
        return True
    return str(event.data).startswith(LAST)


def _error_in(event: Any) -> str:
    """The code of an error that has no place in the log."""
    if event.data == "[DONE]":
        return ""
    data = json.loads(event.data)
    for place in (data.get("error"), data):
        if isinstance(place, dict) and "code" in place:
            return str(place["code"])
    if "errorText" in data:
        return str(data["errorText"]).partition(":")[0]
    raise Violation(f"an event without an id: {event}")


async def _called(work: Callable[[], Any]) -> Any:
    """What others do in a thread, whose end nobody knows."""
    await asyncio.sleep(0)
    return work()


@contextmanager
def _clocks_of(loop: SimulatedLoop) -> Iterator[None]:
    """Let the code of runs see simulated time: that of its process, and the store that
    of the world."""
    here = SimpleNamespace(monotonic=loop.time, time=loop.time)
    world = SimpleNamespace(monotonic=lambda: loop.now)
    places: list[tuple[Any, str, Any]] = [
        *((module, "time", here) for module in (logs, hub, readiness)),
        (memory, "time", world),
        (steps, "perf_counter", lambda: loop.now),
        (elements, "call_in_thread", _called),
    ]
    before = [getattr(module, name) for module, name, _ in places]
    for module, name, new in places:
        setattr(module, name, new)
    try:
        yield
    finally:
        for (module, name, _), old in zip(places, before, strict=True):
            setattr(module, name, old)


def in_simulated_time(work: Callable[[SimulatedLoop], Awaitable[T]]) -> T:
    """What `work(loop)` returns; a store in memory sees the time of the loop, too."""

    async def main(loop: SimulatedLoop) -> T:
        with _clocks_of(loop):
            return await work(loop)

    return loops.run(0, main)  # type: ignore[no-any-return]


def with_simulated_store(kind: str, work: Callable[[Store], Awaitable[T]]) -> T:
    """What `work` returns of a simulated store, if nothing goes wrong."""
    quiet = Schedule(0, kind, (), 0.0, 0.0, False, (), (), ())
    return in_simulated_time(lambda loop: work(SimulatedStore(World(quiet, loop), Process("one"))))


def simulate(schedule: Schedule) -> SimulatedLoop:
    """Run a schedule; Violation if a promise is broken."""
    worlds: list[World] = []

    async def main(loop: SimulatedLoop) -> SimulatedLoop:
        with _clocks_of(loop):
            world = World(schedule, loop)
            worlds.append(world)
            await world.run()
        return loop

    random.seed(schedule.seed)
    try:
        return loops.run(schedule.seed, main)  # type: ignore[no-any-return]
    except (Violation, Stuck) as error:
        raise Violation(f"simulate(seeded({schedule.seed})): {error}") from error


def shrunk(schedule: Schedule, broken: Callable[[Schedule], bool]) -> Schedule:
    """The smallest schedule that is still broken, found by leaving things out."""
    while smaller := next((it for it in _smaller(schedule) if broken(it)), None):
        schedule = smaller
    return schedule


def _smaller(schedule: Schedule) -> Iterator[Schedule]:
    for name in ("faults", "clients"):
        items = getattr(schedule, name)
        for at in range(len(items)):
            if len(items) > 1 or name == "faults":
                yield replace(schedule, **{name: items[:at] + items[at + 1 :]})
    if schedule.failures:
        yield replace(schedule, failures=0.0)
    if schedule.notices:
        yield replace(schedule, notices=0.0)
    for at, client in enumerate(schedule.clients):
        if client.leaves:
            fewer = replace(client, leaves=client.leaves[1:])
            yield replace(
                schedule, clients=(*schedule.clients[:at], fewer, *schedule.clients[at + 1 :])
            )
