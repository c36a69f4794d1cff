"""Runs that are produced in this process, and how a process goes on with the run of another.

A run belongs to the producer whose lease it has. A process that is killed does not renew it. When
it is over, one of these notices: a reader's hub, which looks at the leases of what it follows; a
second `start` of the same key, which then stands by; or `Runs.active`. Then:

1. It cannot be continued, because it was started without `resume`: it is closed with an end that
   says so (`Hub.end_lost`), and its `on_end` is called here (`lost_closed`).
2. This process can continue it: `Claim.take` takes the lease and the next epoch of the log in one
   step. Of several processes one succeeds; whatever the old one still sends is refused for good.
   The function that resumes it gets what is logged, and what it yields is written behind that.
3. Only another process can: for `takeover` seconds its readers wait for that (`more_grace`), then
   it is closed as in 1.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, Final

from ..store import LogClosed, Status, Store, StoreError, StreamTaken, UnknownStream
from .claim import Claim
from .elements import called, records_of
from .hub import Hub
from .options import StreamOptions
from .producer import produce
from .records import (
    CANCELLED,
    LOST,
    REPLACED,
    STOPPED,
    UNWRITTEN,
    End,
    Reason,
    Record,
)
from .run import OnEnd, Outcome, Resume, ResumeKey, ResumeNamed, Run
from .settings import Settings
from .value import read_log

log = logging.getLogger("jsonrill_server.runs")


@dataclass(slots=True)
class Begun:
    """A run that is produced here, or will be."""

    key: str
    name: str
    producer: str
    on_end: OnEnd | None
    resumes: bool
    options: StreamOptions


class RunHub(Hub):
    """The streams of a process that produces runs; see above for those of processes that are gone.

    `lease` are the seconds after which a run counts as lost, `takeover` those for which it is kept
    for another process. `resume` continues any run, `named` those that were started with a name.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        lease: float,
        takeover: float,
        resume: ResumeKey | None,
        named: dict[str, ResumeNamed],
        on_end: OnEnd | None,
    ) -> None:
        super().__init__(settings, store)
        self.lease = lease
        self.takeover = takeover
        self.resume = resume
        self.named = named
        self.on_end = on_end
        # The runs that are produced here, and the tasks that wait to take over others.
        self.running: dict[str, asyncio.Task[End | None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        # By what is logged of the run, which no other run shares.
        self._standing_by: dict[bytes, asyncio.Task[None]] = {}

    async def close(self) -> None:
        """Wait `grace` seconds for runs; what still runs then ends with an ERROR, unless another
        process may go on with it."""
        self.stop()
        if self._ending:
            await asyncio.wait(self._ending, timeout=self.time_left)
        for task in self.running.values():
            task.cancel()
        if self._ending:
            await asyncio.wait(self._ending, timeout=5.0)
        await super().close()

    async def attach(self, begun: Begun, resume: Resume | None, replace: bool) -> bool | None:
        """What became of a start whose key is taken: False if that run goes on, True if this one
        goes on with it, None to try again."""
        store, name = self.store, begun.name
        try:
            status = await store.status(name)
            if status.closed:
                return None if replace else False
            if not status.lost or name in self.producing:
                named = begun.options.notes.get("resume") is not None
                if (named or resume is not None) and name not in self.producing:
                    self._stand_by(begun, resume, status.meta)
                return False
            if begun.resumes:
                return await self._take_over(begun, resume)
            await self.end_lost(name, status)
            return None
        except UnknownStream:
            return None

    async def _take_over(self, begun: Begun, resume: Resume | None) -> bool | None:
        """Go on with a lost run; None if it has ended, or another process goes on with it."""
        if self.stopping:
            return False  # a start that was under way when this process was told to stop
        try:
            claim = await Claim.take(self, begun.name, begun.producer, self.lease)
        except (StreamTaken, LogClosed, UnknownStream):
            return None
        before, _ = await read_log(self.store, begun.name, claim.last)
        options = begun.options.given.get("input")
        asked = begun.options.notes
        begun.options = claim.options
        source = self._source_again(begun, asked, resume, before)
        log.info("going on with a run whose process is gone")
        self.go(begun, claim, records_of(source, options), before)
        return True

    def _source_again(
        self,
        begun: Begun,
        asked: Mapping[str, Any],
        resume: Resume | None,
        before: Sequence[Record],
    ) -> Callable[[], Any]:
        """What makes the stream that continues a run after these records.

        The name that was logged wins over the one that a later start has `asked` for.
        """
        key, again = begun.key, self.resume
        if resume is not None:
            return lambda: resume(len(before))
        for notes in (begun.options.notes, asked):
            if notes.get("resume") in self.named:
                run = Run(key, "active", None, before, begun.options)
                return self.continuation(notes["resume"], notes["args"], run)
        assert again is not None
        return lambda: again(key, len(before))

    def continuation(self, name: str, args: Mapping[str, Any], run: Run) -> Callable[[], Any]:
        function = self.named[name]
        return lambda: function(run, **args)

    def checked_name(self, resume: Any, args: Any) -> str | None:
        """The name under which a run is continued; None if it has none."""
        if not isinstance(resume, str):
            if args is not None:
                raise TypeError("args are those of a function that resume= names")
            return None
        if resume not in self.named:
            known = ", ".join(self.named) or "none"
            raise ValueError(f"Runs was given no function to resume {resume!r}; it has: {known}")
        if args is not None and not isinstance(args, Mapping):
            raise TypeError(f"args is a mapping of names to JSON values, not {args!r}")
        return resume

    def _stand_by(self, begun: Begun, resume: Resume | None, meta: bytes) -> None:
        """Go on with a run of another process when that is gone; not with one that takes its place,
        which this `resume` is not for."""
        name = begun.name

        async def wait() -> None:
            while True:
                try:
                    status = await self.store.status(name)
                    if status.closed or status.meta != meta:
                        return
                    if status.lost and await self._take_over(begun, resume):
                        return
                    wait = status.lease
                except UnknownStream:
                    return
                except StoreError:
                    wait = 1.0
                await asyncio.sleep(min(max(wait, 0.1), self.lease))

        if meta not in self._standing_by:
            task = self._standing_by[meta] = self.spawn(wait())
            task.add_done_callback(lambda _: self._standing_by.pop(meta, None))

    def go(
        self,
        begun: Begun,
        claim: Claim,
        source: AsyncGenerator[list[Record]],
        before: Sequence[Record],
    ) -> None:
        """Produce a run that has these records already."""
        name, stopped = begun.name, None if begun.resumes else STOPPED
        # Kept here, because another run may have its place in the store when `on_end` is called.
        kept = None if begun.on_end is None else [*before]
        running = self.running[name] = asyncio.create_task(
            produce(claim, source, stopped=stopped, keep=kept)
        )
        # Produced from now on, not from when the task begins.
        self.producing[name] = begun.producer
        ending = asyncio.create_task(self._wait(begun, running, kept))
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def _wait(
        self, begun: Begun, running: asyncio.Task[End | None], kept: list[Record] | None
    ) -> None:
        """Wait for the end of a run that is produced here, and call its `on_end`."""
        name, on_end = begun.name, begun.on_end
        await asyncio.wait({running})
        if self.running.get(name) is running:
            del self.running[name]
        if not running.cancelled() and (error := running.exception()) is not None:
            log.error("a run failed", exc_info=error)
        if on_end is None or kept is None:
            return
        end = None if running.cancelled() or running.exception() else running.result()
        if end is REPLACED:
            log.warning("lost a run: its lease ran out, and another process has gone on with it")
            return
        records: Sequence[Record] = kept
        if end is UNWRITTEN:  # the store may have taken what it did not confirm
            records, _ = await self._closed_elsewhere(begun, kept)
        elif end is None:
            records, end = await self._closed_elsewhere(begun, kept)
            # Closed by a process that took it for lost, and told its own `on_end`.
            if end is not None and end.code == LOST.code and on_end is self.on_end:
                end = None
        if end is not None:
            await _tell(on_end, _ended(begun, records, end))

    async def _closed_elsewhere(
        self, begun: Begun, kept: Sequence[Record]
    ) -> tuple[Sequence[Record], End | None]:
        """The log of a run that was not ended here; no end if another process goes on with it.

        The end that another process wrote belongs to the records before it, not to those that were
        kept here.
        """
        store = self.store
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

    async def goes_on(self, name: str, status: Status) -> bool:
        """Take over a lost run; True if it goes on, or another process may still take it over."""
        options = StreamOptions.from_bytes(status.meta)
        if not options.notes.get("resumes") or status.meta in self._standing_by:
            return status.meta in self._standing_by
        if self.stopping or not status.lost:
            return True  # another process does
        if self.resume is not None or options.notes.get("resume") in self.named:
            producer = secrets.token_hex(8)
            begun = Begun(options.notes["key"], name, producer, self.on_end, True, options)
            await self._take_over(begun, None)
            return True  # if it did not, another one was faster
        return -status.lease < self.takeover

    def more_grace(self, meta: bytes) -> float:
        """Readers of a run that another process may take over wait for that."""
        return self.takeover if StreamOptions.from_bytes(meta).notes.get("resumes") else 0.0

    def lost_closed(self, name: str, status: Status) -> None:
        """Call `on_end` for a run that was closed here because its process is gone."""
        options = StreamOptions.from_bytes(status.meta)
        if self.on_end is None or "key" not in options.notes:
            return
        on_end, begun = self.on_end, Begun(options.notes["key"], name, "", None, False, options)

        async def tell() -> None:
            with suppress(StoreError):
                records, end = await read_log(self.store, name, status.last + 1)
                if end is not None:  # no end: the store was closed while it was read
                    await _tell(on_end, _ended(begun, records, end))

        ending = asyncio.create_task(tell())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


# What a run is called that ended for this reason.
_OUTCOMES: Final[dict[Reason, Outcome]] = {
    "closed": "complete",
    "cancelled": "stopped",
    "error": "error",
}


def _ended(begun: Begun, records: Sequence[Record], end: End) -> Run:
    outcome = _OUTCOMES[end.reason]
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
