"""Who may write to a log: one claim at a time, whose writes are numbered.

The process that creates a log has the first claim to it; one that goes on with it takes the next,
of a higher epoch. From then on the log refuses what an earlier claim still sends, however late that
arrives, also if the lease is free again: a process need not know for how long it was halted. What
is written again because its answer was lost has the same number, and is in the log once.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from ..store import LogClosed, LogLost, StreamTaken, Turn, TurnRefused
from .hub import Hub
from .options import StreamOptions
from .records import LOG_LOST, End, Record


class Claim:
    """The right to write to a log, whose lease `producer` has; `last` is its last record."""

    def __init__(
        self, hub: Hub, stream: str, producer: str, lease: float, options: StreamOptions
    ) -> None:
        self.hub = hub
        self.stream = stream
        self.producer = producer
        self.lease = lease
        self.options = options
        self.last = 0
        # One name for all claims to this log; another log may have its place in the store later.
        self._turn = Turn(options.notes.get("id", stream), 0, 0)

    @classmethod
    async def take(cls, hub: Hub, stream: str, producer: str, lease: float) -> Claim:
        """Claim a log whose producer is lost, and shut out that one for good.

        Raises StreamTaken, LogClosed or UnknownStream if it cannot be had.
        """
        status = await hub.store.acquire(stream, producer, lease=lease)
        claim = cls(hub, stream, producer, lease, StreamOptions.from_bytes(status.meta))
        turn = claim._turn._replace(epoch=1)
        while True:
            try:
                tail = await hub.store.write(stream, producer, (), turn=turn, lease=lease)
                break
            except TurnRefused as refused:
                turn = turn._replace(epoch=refused.epoch + 1)
        claim._turn, claim.last = turn._replace(seq=1), tail.last
        return claim

    @classmethod
    async def of_lost(cls, hub: Hub, stream: str, lease: float) -> Claim | None:
        """The claim to a log whose producer is lost; None if it is for another one to go on."""
        if hub.stopping:
            return None
        try:
            return await cls.take(hub, stream, secrets.token_hex(8), lease)
        except (StreamTaken, LogClosed):
            return None  # another one was faster

    async def append(self, records: Sequence[Record], hold: float = 0.0) -> None:
        """Append records, and renew the lease. StreamTaken if there is a later claim."""
        try:
            await self.hub.append(
                self.stream, self.producer, records, turn=self._turn, lease=self.lease, hold=hold
            )
        except TurnRefused as refused:
            if refused.epoch > self._turn.epoch:
                raise StreamTaken("another producer has gone on with this stream") from None
            if (refused.epoch, refused.seq) != self._turn[1:]:
                raise LogLost("the store lost records of this stream") from None
        self._turn = self._turn._replace(seq=self._turn.seq + 1)
        self.last += len(records)

    async def end(self, end: End) -> End | None:
        """Close the log, and return how; None if it was closed before, or there is a later claim.

        An append before it may have failed without saying whether it is in the log. Where one is
        missing that had succeeded, the log does not end well.
        """
        failed = self._turn.seq
        while True:
            try:
                await self.hub.store.write(
                    self.stream, self.producer, (), turn=self._turn, end=end.to_bytes()
                )
                self.hub.count_end(end)
                return end
            except (LogClosed, StreamTaken):
                return None
            except TurnRefused as refused:
                if refused.closed or refused.epoch > self._turn.epoch:
                    return None
                seq = refused.seq + 1 if refused.epoch == self._turn.epoch else 0
                end = LOG_LOST if seq < failed else end
                self._turn = self._turn._replace(seq=seq)
