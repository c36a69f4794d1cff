"""Clients of relayed answers while replicas restart, and how each answer ended.

Every answer is read by OpenAI's own client, and beside it as an AI SDK and as an AG-UI stream, from
any replica. None of these formats can resume, so an answer is complete or has visibly failed.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx2
import openai

from jsonrill.eventstream import SSEDecoder
from jsonrill.testing import Answer, Exchange
from support.processes import Server

# How an event of each format names its text, its good end and its failure.
FORMATS = {
    "ai-sdk": ("text-delta", "finish", "error"),
    "ag-ui": ("TEXT_MESSAGE_CONTENT", "RUN_FINISHED", "RUN_ERROR"),
}


def text_of(model: str) -> str:
    """The answer of a model, which is called by the number of its words."""
    return "".join(f"word{number} " for number in range(int(model)))


def reply(exchange: Exchange) -> Answer:
    return Answer(text_of(exchange.json["model"]), pace=0.03)


class Relays:
    """Asks replicas, in several loops at once, until it is told to stop; counts the outcomes."""

    def __init__(self, replicas: list[Server], seed: int = 1) -> None:
        self.replicas = replicas
        self.chance = random.Random(seed)
        # (format, outcome); the outcomes "silent" and "wrong" must not occur.
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.restarts = 0
        self._stopping = False

    async def run(self, loops: int, restarts: int) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(loops):
                group.create_task(self._ask_again_and_again())
            await self._restart(restarts)
            self._stopping = True

    async def _restart(self, count: int) -> None:
        """One replica after the other: told to stop, and every fourth killed."""
        for number in range(count):
            await asyncio.sleep(self.chance.random())
            server = self.replicas[number % len(self.replicas)]
            how = signal.SIGKILL if number % 4 == 3 else signal.SIGTERM
            await asyncio.to_thread(server.end, how)
            await asyncio.to_thread(server.start)
            self.restarts += 1

    def _replica(self) -> Server:
        alive = [one for one in self.replicas if one.process and one.process.poll() is None]
        return self.chance.choice(alive or self.replicas)

    async def _ask_again_and_again(self) -> None:
        while not self._stopping:
            await self._ask(str(self.chance.randint(1, 150)))

    async def _ask(self, model: str) -> None:
        url = self._replica().url
        beside: list[asyncio.Task[None]] = []
        text = ""
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
            try:
                raw = await client.chat.completions.with_raw_response.create(
                    model=model, messages=[{"role": "user", "content": "hi"}], stream=True
                )
                stream: Any = raw.parse()
                id = raw.headers["jsonrill-stream"]
                beside = [asyncio.create_task(self._read(id, it, model)) for it in FORMATS]
                async for chunk in stream:
                    text += chunk.choices[0].delta.content or ""
                outcome = "complete" if text == text_of(model) else "silent"
            except (openai.APIError, httpx2.HTTPError, OSError) as error:
                outcome = "failed" if text_of(model).startswith(text) else "wrong"
                if isinstance(error, openai.APIConnectionError) and not text:
                    outcome = "refused"
                    await asyncio.sleep(0.2)
            except Exception as error:
                # What its HTTP client raises is not wrapped once the stream has begun.
                outcome = "failed" if "httpx" in type(error).__module__ else "wrong"
        self.outcomes["openai", outcome] += 1
        await asyncio.gather(*beside)

    async def _read(self, id: str, format: str, model: str) -> None:
        url = f"{self._replica().url}/v1/streams/{id}/{format}"
        decoder, events = SSEDecoder(), list[dict[str, Any]]()
        broken = False
        try:
            async with httpx2.AsyncClient(timeout=60, trust_env=False) as http:
                async with http.stream("POST", url) as answer:
                    async for data in answer.aiter_bytes():
                        found = [event.data for event in decoder.feed(data)]
                        events += [json.loads(it) for it in found if it != "[DONE]"]
        except (httpx2.HTTPError, OSError):
            broken = True
        self.outcomes[format, self._outcome(format, events, broken, text_of(model))] += 1

    def _outcome(
        self, format: str, events: list[dict[str, Any]], broken: bool, expected: str
    ) -> str:
        said, complete, failed = FORMATS[format]
        kinds = [event.get("type") for event in events]
        text = "".join(event["delta"] for event in events if event.get("type") == said)
        if not expected.startswith(text):
            return "wrong"
        if failed in kinds or broken or not events:
            return "failed"
        return "complete" if complete in kinds and text == expected else "silent"

    def bad(self) -> Iterator[tuple[str, str]]:
        return (one for one in self.outcomes if one[1] in ("silent", "wrong"))
