"""Simulated models that write to streams of the server, as any producer does.

A generation goes on when its reader leaves. If the server restarts and its store does not, the
generation continues from the last record as soon as its stream is asked for, because a model
writes the same text every time.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from ..runs.claim import Claim
from ..runs.hub import Hub
from ..runs.options import StreamOptions
from ..runs.producer import Failed, produce
from ..runs.records import HANDED_OVER, Record
from ..store import Status
from .models import PIECE, models

# Pieces that are due within one tick are appended in one call, each as its own record.
TICK: Final = 0.01
# Seconds after which a generation that no process renews may be continued by another one.
LEASE: Final = 3.0
MOST_PIECES: Final = 10_000.0


class Order(BaseModel):
    """The body of POST /demo/streams; the options of the stream note it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str = Field(description="Name of the model.")
    pace: float = Field(1.0, ge=0.01, le=1000, description="Speed; 1 is the model's own.")
    piece: int = Field(PIECE, ge=1, le=4096, description="Characters in a piece.")


class Demo:
    """The simulated models of this process."""

    def __init__(self, hub: Hub) -> None:
        self.models = models()
        self._hub = hub

    async def start(self, owner: str, order: Order) -> str:
        """Create a stream, start the generation, and return the stream's id."""
        options = StreamOptions.from_json(self.models[order.model].stream_options())
        options.notes = {"demo": order.model_dump(), "id": secrets.token_hex(8)}
        producer = secrets.token_hex(8)
        stream = await self._hub.create(owner, options, producer, LEASE)
        self._spawn(Claim(self._hub, stream, producer, LEASE, options), order)
        return stream

    async def take_over(self, stream: str, status: Status) -> bool:
        """Go on with a generation whose producer is lost; False if it is none of these."""
        order = StreamOptions.from_bytes(status.meta).notes.get("demo")
        if order is None or order["model"] not in self.models:
            return False
        if (claim := await Claim.of_lost(self._hub, stream, LEASE)) is not None:
            self._spawn(claim, Order(**order))
        return True

    def _spawn(self, claim: Claim, order: Order) -> None:
        self._hub.spawn(produce(claim, self._records(order, claim.last), stopped=None))

    async def _records(self, order: Order, first: int) -> AsyncGenerator[list[Record]]:
        """Yield the records behind the first ones when they are due."""
        model = self.models[order.model]
        records = model.records(order.piece)
        rate = min(model.pace * order.pace, MOST_PIECES)
        clock = asyncio.get_running_loop().time
        begun, done = clock(), first
        while done < len(records):
            await asyncio.sleep(max(TICK, begun + (done + 1 - first) / rate - clock()))
            if self._hub.stopping:
                raise Failed(HANDED_OVER)
            due = min(len(records), first + int((clock() - begun) * rate))
            yield records[done:due]
            done = due
