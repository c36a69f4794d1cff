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
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from inspect import iscoroutinefunction
from types import TracebackType
from typing import Any, Final, Literal, NamedTuple, TypedDict, Unpack

from jsonrill.agents import state_of
from jsonrill.answer import Answer
from jsonrill.answers import Parts
from jsonrill.answers.turns import messages
from jsonrill.dialects import DIALECTS
from jsonrill.errors import JsonrillError
from jsonrill.eventstream import SSEDecoder, ends_stream
from jsonrill.options import refuse_unknown
from jsonrill.providers import Reader
from jsonrill.providers.finish import Reason
from jsonrill.providers.statements import Watch
from jsonrill.streams.driving import close_async_source
from jsonrill.toolcalls import ToolCall

from ..store import (
    LogClosed,
    Status,
    Store,
    StoreError,
    StoreUnavailable,
    StreamTaken,
    UnknownStream,
    open_store,
)
from .answer import BadPosition, Reply, has_all, position_of, problem, reply
from .claim import Claim
from .elements import called, check, records_of
from .hub import Hub
from .options import EventOptions, RunOptions, StreamOptions, TooMany, ViewOptions
from .positions import START
from .producer import PAUSE, produce
from .records import CANCELLED, LOST, REPLACED, STOPPED, WAITING, End, Record, from_entry
from .render import rendering
from .settings import Settings
from .signals import before_the_end
from .value import read_log
from .waiting import WaitingCalls, decision_record, until_it_waits

log = logging.getLogger("jsonrill_server.runs")
OWNER: Final = "runs"
_SAFE: Final = re.compile(r"[A-Za-z0-9_.-]{1,100}")

Outcome = Literal["active", "complete", "cancelled", "error"]
OnEnd = Callable[["Run"], Awaitable[object] | object]
Resume = Callable[[int], Any]
ResumeKey = Callable[[str, int], Any]
# Called with the run as it is in the log, and the arguments that were logged with its start.
ResumeNamed = Callable[..., Any]


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
    total_bytes: int
    keep_open: float
    keep_closed: float
    grace: float


class RunFailed(JsonrillError):
    """A run ended with an error, or was cancelled; `code` says how."""

    def __init__(self, end: End) -> None:
        super().__init__(end.message)
        self.code = end.code


class NotWaiting(JsonrillError):
    """A call cannot be decided: it does not wait, or not any more."""

    code = "NOT_WAITING"


class RunEvent(NamedTuple):
    """One event of a run: its id, a position from which another reader goes on, and its data."""

    id: str
    data: Any


@dataclass(frozen=True)
class Run:
    """A run that has ended: what was logged, and how it ended.

    `error` has `code` and `message`, unless the run is complete. A function that continues a run
    gets it while it is `active`.
    """

    key: str
    status: Outcome
    error: dict[str, Any] | None
    _records: Sequence[Record] = field(repr=False)
    _options: StreamOptions = field(repr=False)

    @cached_property
    def events(self) -> list[Any]:
        """What was logged, in order: events as JSON values, pieces of text as `str`."""
        return [it.body if it.input == "text" else json.loads(it.body) for it in self._records]

    @property
    def waiting(self) -> list[str]:
        """The ids of the calls of an agent that a person has to decide."""
        return WaitingCalls(self._records).undecided

    @property
    def decisions(self) -> dict[str, Any]:
        """What a person has decided since, for the `decisions` of `agent`."""
        return WaitingCalls(self._records).decisions

    @property
    def state(self) -> dict[str, Any] | None:
        """The state of the agent whose parts were logged, for the `state` of `agent`, which also
        needs the messages that it began with; None if there are no parts."""
        return state_of([it for it in self.events if isinstance(it, dict)])

    @cached_property
    def text(self) -> str:
        """The text of the answer; of a run of pieces of text, these joined."""
        answer, reader = Answer(), Reader(self._options.provider)
        watch = Watch(answer)
        for it in self._records:
            if it.input == "text":
                answer.add(it.body)
            else:
                watch.read(reader.feed(it.body))
        return answer.text

    @property
    def outcome(self) -> Reason | None:
        """How a provider's answer ended: complete, calls, length, filtered, refused, lost or error;
        None if the provider has not ended it."""
        return self._parts.outcome

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls of the answer."""
        return self._parts.calls

    def messages(self, form: str | None = None) -> list[dict[str, Any]]:
        """The answer as the next request to its provider sends it; `form` names another one.

        Calls are left out unless their results are in the answer, too.
        """
        # Parts are of no provider: they are written in the form that most take.
        provider = self._parts.reader.provider
        written = form or ("openai_chat" if provider == "parts" else provider)
        return messages(written, self._parts.entries)

    @cached_property
    def _parts(self) -> Parts:
        parts = Parts(self._options.provider)
        for record in self._records:
            if record.input == "events":
                parts.feed(record.body)
        parts.flush()
        return parts


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
        given: dict[str, Any] = dict(settings)
        named = dict(resume) if isinstance(resume, Mapping) else {}
        again: Any = None if isinstance(resume, Mapping) else resume
        _functions(on_end=on_end, resume=again, **named)
        refuse_unknown(given, RunSettings.__annotations__, "Runs has no setting")
        for ours, theirs in (("owner_streams", "total_streams"), ("owner_bytes", "total_bytes")):
            given[ours] = given.get(theirs, Settings.__dataclass_fields__[theirs].default)
        limits = Settings(**given)
        times: tuple[object, ...] = (lease, takeover)
        if not all(isinstance(it, int | float) for it in times) or not (lease > 0 <= takeover):
            raise ValueError("lease and takeover are seconds, and a lease is longer than none")
        kept = open_store(store, limits.bounds()) if isinstance(store, str) else store
        self._hub = Hub(limits, kept)
        self._lease = lease
        self._takeover = takeover
        self._resume: ResumeKey | None = again
        self._named: dict[str, ResumeNamed] = named
        self._on_end = on_end
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._signals: ExitStack | None = None
        # The runs that are produced here, and the tasks that wait to take over others.
        self._running: dict[str, asyncio.Task[End | None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._standing_by: dict[str, asyncio.Task[None]] = {}
        self._hub.take_over = self._when_lost
        self._hub.on_lost_closed = self._closed_here
        self._hub.more_grace = self._more_grace

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
        if self._ending:
            await asyncio.wait(self._ending, timeout=self._hub.time_left)
        for task in self._running.values():
            task.cancel()
        if self._ending:
            await asyncio.wait(self._ending, timeout=5.0)
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
        name_of_resume = self._checked_name(resume, args)
        made = StreamOptions(**options)
        if stream is None and name_of_resume is not None:
            stream = self._continuation(
                name_of_resume, args or {}, Run(key, "active", None, (), made)
            )
        check(stream)
        again: Resume | None = None if isinstance(resume, str) else resume
        _functions(on_end=on_end, resume=again)
        rendering(made, ViewOptions.of_run("updates", {}, made))  # they are wrong now or never
        resumes = resume is not None or self._resume is not None
        made.notes = {"key": _checked(key), "id": secrets.token_hex(8), "resumes": resumes}
        if name_of_resume is not None:
            made.notes |= {"resume": name_of_resume, "args": dict(args or {})}
        meta = _stored(made)
        hub, name = await self._opened(), _name(key)
        producer = secrets.token_hex(8)
        on_end = self._on_end if on_end is None else on_end
        begun = _Begun(key, name, producer, on_end, resumes, made)
        try:
            while True:
                try:
                    await hub.store.acquire(
                        name,
                        producer,
                        lease=self._lease,
                        owner=OWNER,
                        meta=meta,
                        replace=replace,
                    )
                except StreamTaken:
                    found = await self._attach(begun, again, replace)
                    if found is None:
                        continue
                    await close_async_source(stream)
                    return found
                hub.metrics.add("streams_created_total")
                claim = Claim(hub, name, producer, self._lease, made)
                self._go(begun, claim, records_of(stream, options.get("input"), sse=sse), ())
                await asyncio.sleep(0)  # it has begun, so that a cancellation closes its source
                return True
        except BaseException:
            await close_async_source(stream)
            raise

    async def cancel(self, key: str) -> bool:
        """End a run; its source is closed. Return False if there is none, or it has ended."""
        hub, name = await self._opened(), _name(key)
        try:
            ended = await hub.end(name, CANCELLED)
        except UnknownStream:
            return False
        if name in self._running:
            self._running[name].cancel()
        elif ended:
            with suppress(StoreError):
                self._closed_here(name, await hub.store.status(name), if_it_waited=True)
        return ended

    async def decide(self, key: str, call: str, decision: bool | str | Mapping[str, Any]) -> None:
        """Decide a call of an agent that waits for a person, and go on with its run here.

        The decision is True, False or the reason why not, or other arguments. The run has to be
        started with the name of a function that this `Runs` was given, too. `NotWaiting` if the
        call does not wait, because it was decided before, for instance: of several decisions one is
        taken. While the run goes on with an earlier decision, this one waits for up to `takeover`
        seconds. `ValueError` if the function refuses it, such as arguments that do not fit;
        `UnknownStream` if there is no run.
        """
        record = decision_record(*_checked_decision(call, decision))
        hub, name = await self._opened(), _name(key)
        clock = asyncio.get_running_loop().time
        until = clock() + self._takeover
        while True:
            status = await hub.status(name)
            options = StreamOptions.from_bytes(status.meta)
            records, _ = await read_log(hub.store, name, status.last)
            log_says = WaitingCalls(records)
            if status.closed or call not in log_says.undecided:
                raise NotWaiting(f"no call {call!r} of this run waits for a decision")
            if options.notes.get("resume") not in self._named:
                raise ValueError("this Runs was given no function to continue the run with")
            begun = _Begun(key, name, secrets.token_hex(8), self._on_end, True, options)
            if log_says.parked and await self._decided(begun, call, record):
                return
            if clock() >= until:
                raise NotWaiting("the run still goes on with another decision: try again later")
            await asyncio.sleep(PAUSE)

    def decision(self, request: Any, key: str) -> Any:
        """The response to a POST that decides a call, as `decide` does; its body is JSON:
        `{"call": "call_7", "decision": true}`. It is empty (202), or says why it was refused: 409
        if the call does not wait, 422 if the decision does not fit, 404 if there is no run. Who may
        send one is for the program to say, as of its other routes."""
        _checked(key)

        async def make() -> Reply:
            try:
                body = await request.json() if hasattr(request, "json") else request.body
                asked = json.loads(body) if isinstance(body, bytes) else body
                call, decision = asked["call"], asked["decision"]
            except (ValueError, TypeError, LookupError):
                return problem(400, "DECISION", 'the body is {"call": id, "decision": …}')
            try:
                await self.decide(key, call, decision)
            except UnknownStream:
                return problem(404, "NOT_FOUND", "there is no such run")
            except NotWaiting as error:
                return problem(409, error.code, str(error))
            except (ValueError, TypeError) as error:
                return problem(422, "DECISION", str(error))
            except StoreError as error:
                return _unavailable(error)
            return Reply(202, {})

        return _deferred(request, make)

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
            only_active = format in DIALECTS and DIALECTS[format].only_active
            replay = not (only_active and request.method == "GET")

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

    async def _opened(self) -> Hub:
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

    # ---- producing ----

    async def _attach(self, begun: _Begun, resume: Resume | None, replace: bool) -> bool | None:
        """What became of a start whose key is taken: False if that run goes on, True if this one
        goes on with it, None to try again."""
        store, name = self._hub.store, begun.name
        try:
            status = await store.status(name)
            if status.closed:
                return None if replace else False
            if not await self._is_lost(name, status) or name in self._hub.producing:
                named = begun.options.notes.get("resume") is not None
                if (named or resume is not None) and name not in self._hub.producing:
                    self._stand_by(begun, resume)
                return False
            if begun.resumes:
                return await self._take_over(begun, resume)
            await self._hub.end_lost(name, status)
            return None
        except UnknownStream:
            return None

    async def _take_over(self, begun: _Begun, resume: Resume | None) -> bool | None:
        """Go on with a lost run; None if it has ended, or another process goes on with it."""
        try:
            claim = await Claim.take(self._hub, begun.name, begun.producer, self._lease)
        except (StreamTaken, LogClosed, UnknownStream):
            return None
        before, _ = await read_log(self._hub.store, begun.name, claim.last)
        options = begun.options.given.get("input")
        asked = begun.options.notes
        begun.options = claim.options
        source = self._source_again(begun, asked, resume, before)
        log.info("going on with a run whose process is gone")
        self._go(begun, claim, records_of(source, options), before)
        return True

    def _source_again(
        self,
        begun: _Begun,
        asked: Mapping[str, Any],
        resume: Resume | None,
        before: Sequence[Record],
    ) -> Callable[[], Any]:
        """What makes the stream that continues a run after these records.

        The name that was logged wins over the one that a later start has `asked` for.
        """
        key, again = begun.key, self._resume
        if resume is not None:
            return lambda: resume(len(before))
        for notes in (begun.options.notes, asked):
            if notes.get("resume") in self._named:
                run = Run(key, "active", None, before, begun.options)
                return self._continuation(notes["resume"], notes["args"], run)
        assert again is not None
        return lambda: again(key, len(before))

    def _continuation(self, name: str, args: Mapping[str, Any], run: Run) -> Callable[[], Any]:
        function = self._named[name]
        return lambda: function(run, **args)

    def _checked_name(self, resume: Any, args: Any) -> str | None:
        """The name under which a run is continued; None if it has none."""
        if not isinstance(resume, str):
            if args is not None:
                raise TypeError("args are those of a function that resume= names")
            return None
        if resume not in self._named:
            known = ", ".join(self._named) or "none"
            raise ValueError(f"Runs was given no function to resume {resume!r}; it has: {known}")
        if args is not None and not isinstance(args, Mapping):
            raise TypeError(f"args is a mapping of names to JSON values, not {args!r}")
        return resume

    def _stand_by(self, begun: _Begun, resume: Resume | None) -> None:
        """Go on with a run of another process when that is gone."""
        name = begun.name

        async def wait() -> None:
            while True:
                try:
                    status = await self._hub.store.status(name)
                    lost = await self._is_lost(name, status)
                    if status.closed or (lost and await self._take_over(begun, resume)):
                        return
                    wait = status.lease
                except UnknownStream:
                    return
                except StoreError:
                    wait = 1.0
                await asyncio.sleep(min(max(wait, 0.1), self._lease))

        if name not in self._standing_by:
            task = self._standing_by[name] = self._hub.spawn(wait())
            task.add_done_callback(lambda _: self._standing_by.pop(name, None))

    def _go(
        self,
        begun: _Begun,
        claim: Claim,
        source: AsyncGenerator[list[Record]],
        before: Sequence[Record],
    ) -> None:
        """Produce a run that has these records already."""
        name, stopped = begun.name, None if begun.resumes else STOPPED
        if begun.options.notes.get("resume") is not None:
            source = until_it_waits(source, before)
        # Kept here, because another run may have its place in the store when `on_end` is called.
        kept = None if begun.on_end is None else [*before]
        running = self._running[name] = asyncio.create_task(
            produce(claim, source, stopped=stopped, keep=kept)
        )
        # Produced from now on, not from when the task begins.
        self._hub.producing[name] = begun.producer
        ending = asyncio.create_task(self._wait(begun, running, kept))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def _wait(
        self, begun: _Begun, running: asyncio.Task[End | None], kept: list[Record] | None
    ) -> None:
        """Wait for the end of a run that is produced here, and call its `on_end`."""
        name, on_end = begun.name, begun.on_end
        await asyncio.wait({running})
        if self._running.get(name) is running:
            del self._running[name]
        if not running.cancelled() and (error := running.exception()) is not None:
            log.error("a run failed", exc_info=error)
        if on_end is None or kept is None:
            return
        end = None if running.cancelled() or running.exception() else running.result()
        if end is WAITING:
            return
        if end is REPLACED:
            log.warning("lost a run: its lease ran out, and another process has gone on with it")
            return
        records: Sequence[Record] = kept
        if end is None:
            records, end = await self._closed_elsewhere(begun, kept)
            # Closed by a process that took it for lost, and told its own `on_end`.
            if end is not None and end.code == LOST.code and on_end is self._on_end:
                end = None
        if end is not None:
            await _tell(on_end, _ended(begun, records, end))

    async def _closed_elsewhere(
        self, begun: _Begun, kept: Sequence[Record]
    ) -> tuple[Sequence[Record], End | None]:
        """The log of a run that was not ended here; no end if another process goes on with it.

        The end that another process wrote belongs to the records before it, not to those that were
        kept here.
        """
        store = self._hub.store
        try:
            status = await store.status(begun.name)
            if StreamOptions.from_bytes(status.meta).notes == begun.options.notes:
                if not status.closed or status.producer != begun.producer:
                    return kept, None
                return await read_log(store, begun.name, status.last)
        except UnknownStream:
            pass
        except StoreError as error:
            log.error("the end of a run cannot be read: %s: %s", type(error).__name__, error)
            return kept, None
        return kept, CANCELLED  # it was closed elsewhere, and is replaced or gone by now

    # ---- runs of processes that are gone ----

    async def _when_lost(self, name: str, status: Status) -> bool:
        """Take over a lost run; True if it goes on, or another process may still take it over."""
        options = StreamOptions.from_bytes(status.meta)
        if not options.notes.get("resumes") or name in self._standing_by:
            return name in self._standing_by
        if self._hub.stopping or not await self._is_lost(name, status):
            return True  # another process does, or a person
        if self._resume is not None or options.notes.get("resume") in self._named:
            producer = secrets.token_hex(8)
            begun = _Begun(options.notes["key"], name, producer, self._on_end, True, options)
            await self._take_over(begun, None)
            return True  # if it did not, another one was faster
        return -status.lease < self._takeover

    async def _is_lost(self, name: str, status: Status) -> bool:
        """True for a run without a producer that does not wait for a person."""
        if not status.lost:
            return False
        entries = (await self._hub.store.look(name, max(status.last - 1, 0))).entries
        last = from_entry(entries[-1]) if entries else None
        if not (isinstance(last, Record) and WaitingCalls([last]).parked):
            return True
        # A lease without a name is not in the way of a decision; until its end nothing asks again.
        with suppress(StreamTaken, LogClosed, UnknownStream):
            await self._hub.store.acquire(name, "", lease=self._lease)
        return False

    async def _decided(self, begun: _Begun, call: str, record: Record) -> bool:
        """Go on with a run that waits, with a decision; False if another process was faster."""
        store, name = self._hub.store, begun.name
        try:
            claim = await Claim.take(self._hub, name, begun.producer, self._lease)
        except (StreamTaken, LogClosed, UnknownStream):
            return False
        source: Any = None
        goes_on = False
        try:
            before, _ = await read_log(store, name, claim.last)
            log_says = WaitingCalls(before)
            if log_says.parked and call in log_says.undecided:
                # Called before the decision is logged: it refuses one that does not fit.
                logged = [*before, record]
                source = await called(self._source_again(begun, {}, None, logged))
                await claim.append([record])
                self._go(begun, claim, records_of(source, begun.options.given.get("input")), logged)
                goes_on = True
        except BaseException:
            await close_async_source(source)
            raise
        finally:
            if not goes_on:
                with suppress(StoreError):
                    await store.acquire(name, begun.producer, lease=0.0)
        return goes_on

    def _more_grace(self, meta: bytes) -> float:
        """Readers of a run that another process may take over wait for that."""
        return self._takeover if StreamOptions.from_bytes(meta).notes.get("resumes") else 0.0

    def _closed_here(self, name: str, status: Status, if_it_waited: bool = False) -> None:
        """Call `on_end` for a run that was closed here because its process is gone, or because it
        waited for a person, which needs no process."""
        options = StreamOptions.from_bytes(status.meta)
        if self._on_end is None or "key" not in options.notes:
            return
        on_end, begun = self._on_end, _Begun(options.notes["key"], name, "", None, False, options)

        async def tell() -> None:
            with suppress(StoreError):
                records, end = await read_log(self._hub.store, name, status.last + 1)
                told = not if_it_waited or WaitingCalls(records).parked
                if end is not None and told:  # no end: the store was closed while it was read
                    await _tell(on_end, _ended(begun, records, end))

        ending = asyncio.create_task(tell())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


@dataclass(slots=True)
class _Begun:
    """A run that is produced here, or will be."""

    key: str
    name: str
    producer: str
    on_end: OnEnd | None
    resumes: bool
    options: StreamOptions


def _ended(begun: _Begun, records: Sequence[Record], end: End) -> Run:
    outcome: Outcome = "complete" if end.reason == "closed" else end.reason
    error = None if end.reason == "closed" else end.error()
    return Run(begun.key, outcome, error, records, begun.options)


async def _tell(on_end: OnEnd, run: Run) -> None:
    try:
        if iscoroutinefunction(on_end):
            await on_end(run)
        else:
            await called(await asyncio.to_thread(on_end, run))
    except (Exception, SystemExit):  # the latter would end the event loop
        log.exception("on_end of a run failed")


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


def _checked_decision(call: Any, decision: Any) -> tuple[str, Any]:
    if not isinstance(call, str):
        raise TypeError(f"a call is named by its id, a text, not {call!r}")
    if not isinstance(decision, bool | str | Mapping):
        raise TypeError(f"a decision is True, False, a reason or arguments, not {decision!r}")
    return call, dict(decision) if isinstance(decision, Mapping) else decision


def _functions(**given: Any) -> None:
    """`TypeError` for what is no function, at the call instead of when the run ends."""
    for name, value in given.items():
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
