"""Simulated models that write to streams of the server, as any producer does.

A generation goes on when its reader leaves. If the server restarts and its store does not, the
generation continues from the last record as soon as a reader connects again, because a
model writes the same text every time; if none does within the lease, the producer counts as lost.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, NamedTuple

from jsonrill.options import Option

from ..runs.claim import Claim
from ..runs.hub import Hub
from ..runs.options import BadOption, StreamOptions, ViewOptions, checked
from ..runs.records import CLOSED
from ..runs.render import rendering
from ..store import StoreError, UnknownStream
from .models import PIECE, Model, models

LEASE: Final = 60.0
# Pieces that are due within one tick are appended in one call, each as its own record.
TICK: Final = 0.01
MOST_PIECES: Final = 10_000.0
_PRODUCER: Final = "demo"


class Order(NamedTuple):
    """The parameters of a generation. Its producer's name holds them, so the store keeps them."""

    model: str
    pace: float
    piece: int

    def __str__(self) -> str:
        return f"{_PRODUCER}:{self.model}:{self.pace:g}:{self.piece}"


# The options of POST /demo/streams.
ORDER: Final = {
    option.name: option
    for option in (
        Option("model", str, None, (), "Name of the model."),
        Option("pace", float | None, 1, (), "Speed; 1 is the model's own.", least=0.01, most=1000),
        Option("piece", int, PIECE, (), "Characters in a piece.", least=1, most=4096),
    )
}


def order_of(producer: str, known: dict[str, Model]) -> Order | None:
    """The order in a producer's name; None if it holds none."""
    kind, *rest = producer.split(":")
    try:
        model, pace, piece = rest
        order = Order(model, ORDER["pace"].check(float(pace)), ORDER["piece"].check(int(piece)))
    except ValueError:
        return None
    return order if kind == _PRODUCER and model in known else None


class Demo:
    """The models of this process and the streams they are writing to."""

    def __init__(self, hub: Hub) -> None:
        self.models = {name: model for name, model in models().items() if _works(model)}
        self._hub = hub
        self._running: set[str] = set()

    async def start(self, owner: str, order: Order) -> str:
        """Create a stream, start the generation, and return the stream's id."""
        options = StreamOptions.from_json(self.models[order.model].stream_options())
        stream = await self._hub.create(owner, options, str(order), LEASE)
        self._spawn(Claim(self._hub, stream, str(order), LEASE, options), order)
        return stream

    async def revive(self, stream: str) -> None:
        """Continue a generation that this process is not running."""
        if stream in self._running:
            return
        try:
            status = await self._hub.store.status(stream)
        except UnknownStream:
            return
        order = order_of(status.producer, self.models)
        if order is None or status.closed or status.lost or stream in self._running:
            return
        self._running.add(stream)  # a second reader that comes meanwhile claims nothing
        try:
            claim = await Claim.take(self._hub, stream, str(order), LEASE)
        except StoreError:
            self._running.discard(stream)
        else:
            self._spawn(claim, order)

    def _spawn(self, claim: Claim, order: Order) -> None:
        self._running.add(claim.stream)
        task = self._hub.spawn(self._generate(claim, order))
        task.add_done_callback(lambda _: self._running.discard(claim.stream))

    async def _generate(self, claim: Claim, order: Order) -> None:
        try:
            if await self._publish(claim, order, self.models[order.model]):
                await claim.end(CLOSED)
        except StoreError:
            pass  # cancelled, deleted, full or claimed by another process: readers learn of that

    async def _publish(self, claim: Claim, order: Order, model: Model) -> bool:
        """Append the records when they are due; False if the server stops before the last."""
        records, first = model.records(order.piece), claim.last
        rate = min(model.pace * order.pace, MOST_PIECES)
        clock = asyncio.get_running_loop().time
        begun, done = clock(), first
        while done < len(records):
            await asyncio.sleep(max(TICK, begun + (done + 1 - first) / rate - clock()))
            if self._hub.stopping:
                return False
            due = min(len(records), first + int((clock() - begun) * rate))
            if due > done:
                await claim.append(records[done:due])
                done = due
        return True


def _works(model: Model) -> bool:
    """True if the packages for its stream are installed: schemas need an extra."""
    try:
        rendering(StreamOptions.from_json(model.stream_options()), ViewOptions())
    except ImportError:
        return False
    return True


def read_order(given: Any, demo: Demo) -> Order:
    """The order in the body of POST /demo/streams; `BadOption` if it is not valid."""
    if not isinstance(given, dict) or given.get("model") not in [*demo.models]:
        raise BadOption(f"model is one of {', '.join(demo.models)}")
    return Order(**{"pace": 1, "piece": PIECE, **checked(ORDER, given, "option")})
