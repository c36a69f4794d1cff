"""Runs of an application, read in every format while its replicas and its store die.

The replicas continue each other's runs. Each reader must have seen what an undisturbed reader sees
afterwards, and that must be what the source wrote: nothing lost, nothing twice, and an end.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx2

from jsonrill_server.options import FORMATS
from support.apps import App
from support.processes import Events
from support.run_app import events as logged

# The formats that do not apply to events, and to text.
NOT_OF_EVENTS = ("updates", "fragments", "text")
NOT_OF_TEXT = ("calls",)


class RunChaos:
    """Causes `faults` failures while `count` runs of `size` events are written and read."""

    def __init__(
        self, apps: list[App], server: Any, count: int, size: int, faults: int, seed: int = 1
    ) -> None:
        self.apps = apps
        self.server = server
        self.faults = faults
        self.kinds: dict[str, int] = {}
        self.reconnects = 0
        self.size = size
        # A run lasts as long as the faults do, about half a second each.
        pause = max(0.01, 0.6 * faults / size)
        self.keys = [f"run-{size}-{pause:.3f}-{number}" for number in range(count)]
        self.seen: dict[tuple[str, str], list[str]] = {}
        self._chance = random.Random(seed)

    def formats(self, key: str) -> list[str]:
        left_out = NOT_OF_EVENTS if int(key.rpartition("-")[2]) % 3 == 2 else NOT_OF_TEXT
        return [name for name in FORMATS if name not in left_out]

    @property
    def readers(self) -> int:
        return sum(len(self.formats(key)) for key in self.keys)

    async def run(self, seconds: float) -> None:
        async with asyncio.timeout(seconds):
            async with httpx2.AsyncClient(timeout=10, trust_env=False) as http:
                await asyncio.gather(*[self._start(http, key) for key in self.keys])
            async with asyncio.TaskGroup() as group:
                faults = group.create_task(self._cause_faults())
                for key in self.keys:
                    for name in self.formats(key):
                        group.create_task(self._see(key, name))
            await faults
            for key in self.keys:
                for name in self.formats(key):
                    undisturbed = await self._read_in_peace(key, name)
                    seen = self.seen[key, name]
                    assert seen == undisturbed, _difference(key, name, seen, undisturbed)
                    self._is_logged(key, name, undisturbed)

    async def _start(self, http: httpx2.AsyncClient, key: str) -> None:
        while True:
            with suppress(httpx2.HTTPError):
                answer = await http.post(f"{self._app().url}/runs/{key}")
                if answer.status_code == 200:
                    return
            await asyncio.sleep(0.1)

    async def _see(self, key: str, name: str) -> None:
        """Read to the end, reconnecting from the last id as often as needed."""
        seen: list[str] = []
        last = "0"  # which says that this client resumes
        while True:
            try:
                async with Events(self._url(key, name), headers={"last-event-id": last}) as events:
                    if events.status == 204:
                        break
                    if events.status == 200:
                        async for event in events:
                            last = event.id
                            seen.append(_shown(event))
                    else:
                        assert events.status == 503, (events.status, key, name, last)
            except (OSError, asyncio.IncompleteReadError):
                pass
            self.reconnects += 1
            await asyncio.sleep(0.1)
        self.seen[key, name] = seen

    async def _read_in_peace(self, key: str, name: str) -> list[str]:
        while True:  # the store may still recover from the last fault
            async with Events(self._url(key, name)) as events:
                if events.status == 200:
                    return [_shown(event) async for event in events]
            await asyncio.sleep(0.1)

    def _app(self) -> App:
        alive = [app for app in self.apps if app.process and app.process.poll() is None]
        return self._chance.choice(alive or self.apps)

    def _url(self, key: str, name: str) -> str:
        query = "&delta=1" if name == "updates" else ""
        return f"{self._app().url}/runs/{key}?format={name}{query}"

    def _is_logged(self, key: str, name: str, undisturbed: list[str]) -> None:
        data = [text.partition(" ")[2] for text in undisturbed]
        ends = "RUN_FINISHED" if name == "ag-ui" else "[DONE]"
        assert ends in data[-1], (key, name, undisturbed[-3:])
        source = logged(key, self.size)
        if name in ("raw", "text"):
            texts = [json.dumps(event) for event in source]
            read = [json.dumps(json.loads(text)) for text in data[:-1]]
            assert read == texts, _difference(key, name, read, texts)

    async def _cause_faults(self) -> None:
        for _ in range(self.faults):
            await asyncio.sleep(self._chance.uniform(0.05, 0.5))
            kind, cause = self._chance.choice(self._ways())
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
            await asyncio.to_thread(cause)

    def _ways(self) -> list[tuple[str, Callable[[], None]]]:
        app = self._chance.choice(self.apps)
        pause = self._chance.uniform(0.1, 1.5)

        def restart(victim: Any, how: int) -> Callable[[], None]:
            def work() -> None:
                victim.end(how)
                victim.start()

            return work

        def halt(send: Callable[[int], object]) -> Callable[[], None]:
            def work() -> None:
                send(signal.SIGSTOP)
                time.sleep(pause)
                send(signal.SIGCONT)

            return work

        ways = [
            ("app killed", restart(app, signal.SIGKILL)),
            ("app terminated", restart(app, signal.SIGTERM)),
            ("app halted", halt(app.send)),
        ]
        if self.server is not None:
            ways.append(("store killed", restart(self.server, signal.SIGKILL)))
            ways.append(("store halted", halt(self.server.send)))
        return ways


def _difference(key: str, name: str, seen: list[str], undisturbed: list[str]) -> str:
    both = zip(seen, undisturbed, strict=False)
    at = next((at for at, (a, b) in enumerate(both) if a != b), min(len(seen), len(undisturbed)))
    here = slice(max(at - 1, 0), at + 3)
    return f"{key} as {name}, event {at}: {seen[here]}, but {undisturbed[here]}"


def _shown(event: Any) -> str:
    return f"{event.type} {event.data}"
