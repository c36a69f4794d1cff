"""Generates the log of a relayed answer, and goes on with one that another process has left.

A background response lives at the upstream: if the connection to it breaks, or the process that
reads it ends, its events are asked for again, from the last one in the log. Any other answer ends
with its connection, visibly.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from ..runs.claim import Claim
from ..runs.hub import Hub
from ..runs.options import StreamOptions
from ..runs.producer import Failed, produce
from ..runs.records import RELAY_STOPPED, End, Record
from ..store import LogClosed, Status, UnknownStream
from .apis import RESPONSES, logged, note, response_id
from .upstream import Incoming, Received, UpstreamFailed, next_number
from .upstreams import Upstream, Upstreams

GONE: Final = End(
    "error", "UPSTREAM_LOST", "the upstream cannot go on with the response: ask again"
)
# After these ends a response may still be there, at its upstream.
BROKEN: Final = ("UPSTREAM_LOST", "UPSTREAM_TIMEOUT")
# Statuses, beside those of 500 and more, after which another try may succeed.
LATER: Final = (408, 409, 425, 429)
# Statuses of an upstream that does not have a response, or keeps none that could be deleted.
NOT_KEPT: Final = (404, 405, 410, 501)
# Seconds before each try to reach it again, as long as none brings anything new.
TRIES: Final = (0.0, 0.5, 1.0, 2.0)


@dataclass(slots=True)
class RelayRun:
    """A run that is relayed here: its log, and where its answer comes from."""

    hub: Hub
    upstreams: Upstreams
    upstream: Upstream
    claim: Claim
    provider: str
    choices: int = 1
    background: bool = False
    # Of a background response: the upstream's id of it, and the upstream's number of the last
    # event that was read; None if its events are not numbered.
    id: str = ""
    number: int | None = -1

    @property
    def stream(self) -> str:
        return self.claim.stream

    async def generate(self, received: Received | None) -> None:
        """Write what the upstream sends until it ends, fails, or the run is cancelled.

        A background response that is stopped with its server is left for another one.
        """
        hub = self.hub
        if self.background or received is None:
            source, stopped = self._resumed(received), None
        else:
            source, stopped = self._records(received), RELAY_STOPPED
        hub.metrics.add("relays", 1)
        try:
            end = await produce(self.claim, source, stopped=stopped)
        finally:
            hub.metrics.add("relays", -1)
            if received is not None:
                await received.close()
        if end is not None and end.code.startswith("UPSTREAM"):
            note(hub, end.code.lower(), end.message)
        if end is None and self.background:
            await self._cancel()

    async def _records(self, received: Received) -> AsyncGenerator[list[Record]]:
        limit = self.upstreams.config.record_bytes
        incoming = Incoming(limit, self.provider, self.choices, after=self.number)
        async with aclosing(incoming.records(received)) as batches:
            async for records in batches:
                self.id, self.number = incoming.message or self.id, incoming.number
                yield records

    async def _resumed(self, received: Received | None) -> AsyncGenerator[list[Record]]:
        """Yield the records of a background response, however often its connection breaks."""
        if self.claim.last:
            await self._read_log(self.claim.last)
        tries = iter(TRIES)
        while True:
            try:
                received = received or await self._reopen()
                async with aclosing(self._records(received)) as batches:
                    async for records in batches:
                        if records:
                            tries = iter(TRIES)
                        yield records
                return
            except UpstreamFailed as failed:
                end = End("error", failed.code.upper(), failed.message)
            except Failed as failed:
                end = failed.end
            wait = next(tries, None)
            resumable = self.id and self.number is not None and end is not GONE
            if end.code not in BROKEN or wait is None or not resumable:
                raise Failed(end) from None
            received = None
            await asyncio.sleep(wait)
            if (await self.hub.store.status(self.stream)).closed:
                raise LogClosed("the run was cancelled")
            note(self.hub, end.code.lower(), "it is asked to go on with a response")

    async def _read_log(self, last: int) -> None:
        """Take the upstream's id of the response, and its number of the last event."""
        async for event in logged(self.hub, self.stream, last):
            if isinstance(event, dict):
                self.id = response_id(event) or self.id
                self.number = next_number(self.number, event)

    async def _reopen(self) -> Received:
        """The events of the response after the last one that was read."""
        if not self.id or self.number is None:
            raise Failed(GONE)
        path = f"/responses/{quote(self.id, safe='')}?stream=true"
        if self.number >= 0:
            path += f"&starting_after={self.number}"
        received = await self.upstreams.send(self.upstream, "GET", path)
        if await received.is_event_stream():
            return received
        await received.close()
        if received.status in LATER or received.status >= 500:
            raise UpstreamFailed(502, "upstream_lost", f"it answered {received.status}")
        raise Failed(GONE)

    async def _cancel(self) -> None:
        """Cancel it at the upstream if it was cancelled here, and not taken over elsewhere."""
        with suppress(UnknownStream):
            if not (await self.hub.store.status(self.stream)).closed:
                return
        if self.id:
            try:
                await cancel_response(self.upstreams, self.upstream, self.id)
            except UpstreamFailed as failed:
                note(self.hub, failed.code, failed.message)


async def cancel_response(upstreams: Upstreams, upstream: Upstream, id: str) -> None:
    """Cancel a background response at its upstream; one that has ended already stays as it is."""
    received = await upstreams.send(upstream, "POST", f"/responses/{quote(id, safe='')}/cancel")
    await received.read()
    if received.status >= 500:
        raise UpstreamFailed(502, "upstream_error", "the upstream could not cancel the response")


async def delete_response(upstreams: Upstreams, upstream: Upstream, id: str) -> None:
    """Delete a response at its upstream, unless that has none, or keeps none."""
    received = await upstreams.send(upstream, "DELETE", f"/responses/{quote(id, safe='')}")
    await received.read()
    if received.status >= 300 and received.status not in NOT_KEPT:
        message = f"the upstream did not delete the response: it answered {received.status}"
        raise UpstreamFailed(502, "upstream_error", message)


async def take_over(hub: Hub, upstreams: Upstreams, stream: str, status: Status) -> bool:
    """Go on with a background response whose producer is lost; False if that cannot be."""
    notes = StreamOptions.from_bytes(status.meta).notes
    upstream = upstreams.named(notes.get("upstream", ""))
    if upstream is None or not notes.get("background") or not status.last:
        return False
    claim = await Claim.of_lost(hub, stream, upstreams.config.relay_lease)
    if claim is not None:
        run = RelayRun(hub, upstreams, upstream, claim, RESPONSES.provider, background=True)
        hub.spawn(run.generate(None))
    return True
