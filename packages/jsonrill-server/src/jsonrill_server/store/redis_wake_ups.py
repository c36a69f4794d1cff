"""One connection per process that is notified of changes to the streams that are read here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from jsonrill_server.tasks import stop

from .signals import Signals

# Seconds of silence after which the connection is pinged.
PING_EVERY = 5.0
# Seconds between two wake-ups of every reader while the connection is down.
RETRY = 1.0


class WakeUps:
    """Subscribes to each stream that has listeners, and wakes them.

    A subscription counts from Redis's answer to it, so that this answer wakes listeners, too: they
    look once more, for records that arrived in the meantime.
    """

    def __init__(
        self,
        client: Any,
        signals: Signals,
        channel: Callable[[str], str],
        on_error: Callable[[str, Exception], None],
    ) -> None:
        self._client = client
        self._signals = signals
        # The name of the channel of a stream; it ends with the stream's name.
        self._channel = channel
        self._on_error = on_error
        self._changed: set[str] = set()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        signals.on_change = self._change

    async def close(self) -> None:
        await stop(self._task)
        await self._client.aclose()

    def _change(self, stream: str) -> None:
        self._changed.add(stream)
        self._wanted.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while True:
            try:
                async with self._client.pubsub() as link:
                    await link.subscribe(self._channel(""))  # to have a connection
                    # Not a TaskGroup, which cancels once: `stop` knows that this can get lost.
                    both = [
                        asyncio.create_task(work(link)) for work in (self._subscribe, self._hear)
                    ]
                    try:
                        ended, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                        ended.pop().result()
                    finally:
                        await stop(*both)
            except Exception as error:  # the loop must survive any error
                self._on_error("wake-ups", error)
            for stream in tuple(self._signals.streams):
                self._signals.wake(stream)
            await asyncio.sleep(RETRY)

    async def _subscribe(self, link: Any) -> None:
        have: set[str] = set()
        self._changed.update(self._signals.streams)
        while True:
            changed, self._changed = self._changed, set()
            want = {stream for stream in changed if stream in self._signals.streams}
            if new := want - have:
                await link.subscribe(*map(self._channel, new))
            if gone := changed & have - want:
                await link.unsubscribe(*map(self._channel, gone))
            have = (have | new) - gone
            self._wanted.clear()
            if not self._changed:
                await self._wanted.wait()

    async def _hear(self, link: Any) -> None:
        asked = False
        while True:
            message = await link.get_message(timeout=PING_EVERY)
            if message is not None:
                asked = False
                if message["type"] in ("message", "subscribe"):
                    channel = message["channel"].decode()
                    self._signals.wake(channel.removeprefix(self._channel("")))
            elif asked:
                raise TimeoutError("Redis does not answer")
            else:
                asked = True
                await link.ping()
