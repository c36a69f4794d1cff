"""Traffic in which every stream is read in every format while servers and the store die and halt.

What each reader saw must be what one sees who reads in peace afterwards: nothing lost, nothing
twice, and an end. That reading itself is compared with what was published.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import time
from collections.abc import Callable
from typing import Any

import httpx2

from jsonrill_server.runs.options import FORMATS
from support import numbered
from support.processes import Events, Server
from support.stores import StoreServer
from support.traffic import LINES, Traffic

# What an event stream of provider events is not read as.
TEXT_ONLY = ("updates", "fragments", "text")


class Chaos(Traffic):
    """Every third stream has a provider's events, the others text; each has a reader per format.

    `faults` things go wrong while it is written: publishers go on only as far as faults allow.
    Each record is `padding` characters longer than it need be. A store without a server is None.
    """

    def __init__(
        self,
        replicas: list[Server],
        store: StoreServer | None,
        streams: int,
        records: int,
        faults: int,
        padding: int = 0,
    ) -> None:
        super().__init__(replicas, streams, records, seed=7)
        self.store = store
        self.faults = faults
        self.struck = 0
        self.kinds: dict[str, int] = {}
        self.seen: dict[tuple[int, str], list[str]] = {}
        # Characters of each stream in each format.
        self.sizes: dict[tuple[int, str], int] = {}
        self._fate = random.Random(8)
        for number in self.records:
            if self.has_events(number):
                self.records[number] = [_event(at, records, padding) for at in range(records)]
            elif padding:
                pad = json.dumps("x" * padding)
                self.records[number] = [
                    it.replace('"text": "', f'"pad": {pad}, "text": "')
                    for it in self.records[number]
                ]

    @staticmethod
    def has_events(number: int) -> bool:
        return number % 3 == 2

    def formats(self, number: int) -> list[str]:
        left_out = TEXT_ONLY if self.has_events(number) else ("calls",)
        return [name for name in FORMATS if name not in left_out]

    async def run_all(self, seconds: float) -> None:
        async with (
            asyncio.timeout(seconds),
            httpx2.AsyncClient(timeout=10, trust_env=False) as http,
        ):
            for number in self.records:
                options = {"input": "events"} if self.has_events(number) else {}
                answer = await http.post(f"{self.replica().url}/v1/streams", json=options)
                self.ids[number] = answer.json()["id"]
            async with asyncio.TaskGroup() as group:
                group.create_task(self._cause_faults())
                for number in self.records:
                    group.create_task(self._publish(http, number))
                    for name in self.formats(number):
                        group.create_task(self._see(number, name))
            for number in self.records:
                for name in self.formats(number):
                    undisturbed = await self._once(number, name)
                    assert self.seen[number, name] == undisturbed, (number, name)
                    self._is_published(number, name, undisturbed)
                    self.sizes[number, name] = sum(map(len, undisturbed))

    async def _publish(self, http: httpx2.AsyncClient, number: int) -> None:
        at, seq, records = 0, 0, self.records[number]
        while at < len(records):
            while at >= len(records) * (self.struck + 1) / (self.faults + 1):
                await asyncio.sleep(0.02)
            size = self.chance.randint(1, 6)
            some = records[at : at + size]
            lines = some if self.has_events(number) else [json.dumps(record) for record in some]
            headers = {**LINES, **numbered(seq)}
            path = f"/v1/streams/{self.ids[number]}/events"
            await self._until_done(http, path, "".join(f"{line}\n" for line in lines), headers)
            at, seq = at + size, seq + 1
            self.written += size
        await self._until_done(http, f"/v1/streams/{self.ids[number]}/close", "", {})

    async def _see(self, number: int, name: str) -> None:
        """Read to the end, whatever it takes, from the last id."""
        seen: list[str] = []
        last = "0"  # which says that this client resumes
        while True:
            try:
                url = self._url(self.replica(), number, name)
                async with Events(url, headers={"last-event-id": last}) as events:
                    if events.status == 204:
                        break
                    if events.status == 200:
                        async for event in events:
                            last = event.id
                            seen.append(f"{event.type} {event.data}")
                    else:
                        assert events.status == 503, events.status
            except (OSError, asyncio.IncompleteReadError):
                pass
            self.reconnects += 1
            await asyncio.sleep(0.1)
        self.seen[number, name] = seen

    async def _once(self, number: int, name: str) -> list[str]:
        async with Events(self._url(self.replica(), number, name)) as events:
            return [f"{event.type} {event.data}" async for event in events]

    def _url(self, server: Server, number: int, name: str) -> str:
        query = "&send=delta" if name == "updates" else ""
        return f"{server.url}/v1/streams/{self.ids[number]}/events?format={name}{query}"

    def _is_published(self, number: int, name: str, undisturbed: list[str]) -> None:
        assert _is_end(name, undisturbed[-1:]), (number, name, undisturbed[-1:])
        data = [line.partition(" ")[2] for line in undisturbed]
        if name == "text" or (name == "raw" and not self.has_events(number)):
            assert [json.loads(text) for text in data[:-1]] == self.records[number]
        elif name == "raw" and self.has_events(number):
            assert data[:-1] == self.records[number]

    async def _cause_faults(self) -> None:
        for _ in range(self.faults):
            await asyncio.sleep(self._fate.uniform(0.05, 0.5))
            kind, cause = self._fate.choice(self._ways())
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
            await asyncio.to_thread(cause)
            self.struck += 1

    def _ways(self) -> list[tuple[str, Callable[[], None]]]:
        server = self._fate.choice(self.replicas)
        pause = self._fate.uniform(0.1, 1.5)

        def restart(victim: Any, how: int) -> Callable[[], None]:
            def work() -> None:
                victim.end(how)
                victim.start()

            return work

        def halt(victim: Any) -> Callable[[], None]:
            def work() -> None:
                victim.send(signal.SIGSTOP)
                time.sleep(pause)
                victim.send(signal.SIGCONT)

            return work

        ways = [
            ("replica killed", restart(server, signal.SIGKILL)),
            ("replica terminated", restart(server, signal.SIGTERM)),
            ("replica halted", halt(server)),
        ]
        if self.store is not None:
            ways.append((f"{self.store.name} killed", restart(self.store, signal.SIGKILL)))
            ways.append((f"{self.store.name} halted", halt(self.store)))
        return ways


def _is_end(name: str, last: list[str]) -> bool:
    """True if this is the last event of a complete answer in this format."""
    ends = {"ag-ui": "RUN_FINISHED", "ai-sdk": "[DONE]"}
    return bool(last) and ends.get(name, "[DONE]") in last[0]


def _event(at: int, records: int, padding: int) -> str:
    """A chunk of an OpenAI answer: text, then the arguments of a call in pieces, then its end."""
    delta: dict[str, Any] = {"content": f"{at} " + "x" * padding}
    if at == records // 2:
        function = {"name": "f", "arguments": "["}
        delta = {
            "tool_calls": [{"index": 0, "id": "call", "type": "function", "function": function}]
        }
    elif at > records // 2:
        text = f'{at},"{"x" * padding}"' + ("]" if at == records - 2 else ",")
        delta = {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
    reason = "tool_calls" if at == records - 1 else None
    choice = {"index": 0, "delta": {} if reason else delta, "finish_reason": reason}
    return json.dumps({"id": "x", "object": "chat.completion.chunk", "choices": [choice]})
