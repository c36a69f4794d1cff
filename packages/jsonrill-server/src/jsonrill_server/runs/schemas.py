"""Untrusted schemas: weighed when they arrive, compiled beside the event loop, bounded in all.

Ordinary schemas are compiled in a few milliseconds, where they are needed. A heavy one takes up to
a few seconds: that is done in a thread of its own, one after the other, and it counts as long as a
stream is read with it. Readers of the same schema share what it was compiled to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from .options import SHORT, BadOption, StreamOptions, TooMany

T = TypeVar("T")
# What the schemas of one stream may weigh, and those of all streams that are read at a time: a
# full garbage collection looks through all of them, in about 2 ms for each MiB.
EACH: Final = 32 << 20
TOTAL: Final = 64 << 20
# What a character of a schema weighs, once it is compiled.
_FACTOR: Final = 32
# Up to this weight a schema is compiled at once.
LIGHT: Final = 1 << 18
# How long one may be compiled, in seconds, and how many may wait for that.
LONGEST: Final = 10.0
WAITING: Final = 8
# One, so that the event loop waits for one thread at the most: jsonschema-rs keeps Python's lock
# while it compiles, up to a tenth of a second for what a schema may weigh.
_THREAD: Final = ThreadPoolExecutor(1, "jsonrill-schema")


class HeavySchemas:
    """The schemas of streams that are read with them: they count until this is forgotten."""

    __slots__ = ("__weakref__", "weight")

    def __init__(self, weight: int) -> None:
        self.weight = weight


class Schemas:
    """The heavy schemas that are in use in this process."""

    def __init__(self) -> None:
        self._in_use: WeakValueDictionary[str, HeavySchemas] = WeakValueDictionary()
        self._waiting = 0
        self._turn = asyncio.Lock()

    async def compiling(self, stream: StreamOptions, work: Callable[[], T]) -> T:
        """Do what compiles the schemas of a stream; BadOption if they are too heavy.

        TooMany if they would be with those that are in use, or if too many wait for the thread.
        """
        text = stream.schemas[1]
        weight = _FACTOR * len(text)
        if len(text) <= SHORT and weight <= LIGHT:
            return work()
        known = self._in_use.get(text)
        if known is None:
            known = self._counted(text, weight)
        stream.heavy = known
        return await self._beside(work)

    async def in_turn(self, read: Callable[[], StreamOptions]) -> StreamOptions:
        """Read options, large ones one after the other, so that other requests come in between."""
        async with self._turn:
            await asyncio.sleep(0)
            options = read()
            _ = options.schemas  # their text is made here, too
        return options

    async def _beside(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do it in the thread. What takes too long is refused, although the thread goes on."""
        if self._waiting >= WAITING:
            raise TooMany("too many schemas wait to be compiled")
        begun = Event()

        def run() -> T:
            begun.set()
            return work(*arguments)

        self._waiting += 1
        future = asyncio.get_running_loop().run_in_executor(_THREAD, run)
        future.add_done_callback(self._done)
        if not (await asyncio.wait((future,), timeout=LONGEST))[0]:
            future.cancel()
            if begun.is_set():
                raise BadOption("the schema takes too long to compile")
            raise TooMany("schemas before this one take too long to compile")
        return future.result()

    def _done(self, future: asyncio.Future[Any]) -> None:
        self._waiting -= 1

    def _counted(self, text: str, weight: int) -> HeavySchemas:
        if weight > EACH:
            raise BadOption(
                "the schema is too large: subschemas, values and patterns would be compiled to"
                f" more than {EACH >> 20} MiB"
            )
        if sum(one.weight for one in self._in_use.values()) + weight > TOTAL:
            raise TooMany("the schemas that are in use take too much memory")
        return self._in_use.setdefault(text, HeavySchemas(weight))
