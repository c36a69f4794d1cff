"""Whether the store takes writes: one that is full, or read-only, still answers what is read."""

from __future__ import annotations

import asyncio
import logging
import time

from jsonrill_server.tasks import stop

from ..store import Store, StoreError

log = logging.getLogger("jsonrill_server")
# A store that takes longer for one small write is not ready.
READY_SECONDS = 2.0


class Readiness:
    """Checks that the store accepts writes, at most once a second for all requests."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._until = 0.0
        self._trying: asyncio.Task[bool] | None = None

    async def close(self) -> None:
        await stop(self._trying)

    async def check(self) -> bool:
        if self._trying is None or (self._trying.done() and time.monotonic() > self._until):
            self._trying = asyncio.create_task(self._try())
        return await asyncio.shield(self._trying)

    async def _try(self) -> bool:
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self._store.probe()
            return True
        except (StoreError, TimeoutError) as error:
            log.error("the store takes no writes: %s: %s", type(error).__name__, error)
            return False
        finally:
            self._until = time.monotonic() + 1.0
