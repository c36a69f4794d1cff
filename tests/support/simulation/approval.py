"""An agent whose one tool waits for a person, and the people who decide, in a simulation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from jsonrill import agent, tool
from jsonrill_server import NotWaiting, Run
from jsonrill_server.store import StoreError, UnknownStream

if TYPE_CHECKING:
    from .schedules import World

QUESTION: Final = [{"role": "user", "content": "Book Rome"}]
CALL: Final = "b1"


def _chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


FUNCTION: Final = {"name": "book", "arguments": '{"city": "Rome"}'}
CALLING: Final = (
    _chunk(content="I try."),
    _chunk(tool_calls=[{"index": 0, "id": CALL, "function": FUNCTION}]),
    _chunk("tool_calls"),
)
# That of the world in which a tool is called.
BOOKING: ContextVar[Booking] = ContextVar("BOOKING")
DONE: Final = (_chunk(content="Done."), _chunk("stop"))


@tool(approve=True)
async def book(city: str) -> str:
    booking = BOOKING.get()
    booking.booked += 1
    await booking.pause()
    return f"booked {city}"


class Booking:
    """What was booked, and what people were told of their decisions."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.booked = 0
        # The decisions that were taken, as their people know.
        self.taken: list[bool] = []

    def trip(self, run: Run) -> Any:
        """The agent, as every replica has it."""
        BOOKING.set(self)
        return agent(
            self._ask, {"book": book}, messages=QUESTION, state=run.state, decisions=run.decisions
        )

    async def _ask(self, messages: list[Any]) -> AsyncIterator[dict[str, Any]]:
        return self._answer(CALLING if len(messages) == 1 else DONE)

    async def _answer(self, events: tuple[dict[str, Any], ...]) -> AsyncIterator[dict[str, Any]]:
        for event in events:
            await self.pause()
            yield event

    async def pause(self) -> None:
        await asyncio.sleep(self._world.draw.choice((0.0, 0.05, 1.0)) * self._world.draw.random())

    async def decide(self, key: str, decision: bool) -> None:
        """A person who decides, again and elsewhere until it is decided or over. A store that loses
        its last writes may lose a decision: then the run waits again."""
        world, decided = self._world, False
        while not world.log.is_closed(f"run:{key}") and key not in world.gone:
            if not decided or key in world.failed_over:
                decided = await self._asked(key, decision)
            elif world.is_quiet:
                return
            await asyncio.sleep(world.draw.uniform(0.1, 1.0))

    async def _asked(self, key: str, decision: bool) -> bool:
        replica, runs = await self._world.living()
        asking = await replica.does(runs.decide(key, CALL, decision))
        if not asking.done():
            return False
        try:
            asking.result()
        except (NotWaiting, UnknownStream, StoreError):
            return False
        self.taken.append(decision)
        return True
