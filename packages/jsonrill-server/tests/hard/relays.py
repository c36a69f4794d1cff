"""Clients of relayed answers while replicas restart, and how each answer ended.

A chat answer is read by OpenAI's own client, and beside it as an AI SDK and as an AG-UI stream,
from any replica; others are responses, read by OpenAI's client, and messages, read by Anthropic's.
None of these clients resumes, so an answer is complete or has visibly failed. Responses in the
background are resumed at any replica, by the number of their last event, until they are complete.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import openai

from jsonrill.eventstream import SSEDecoder
from jsonrill.testing import FakeAnswer, Provider
from support.processes import Server

# How an event of each format names its text, its good end and its failure.
FORMATS = {
    "ai-sdk": ("text-delta", "finish", "error"),
    "ag-ui": ("TEXT_MESSAGE_CONTENT", "RUN_FINISHED", "RUN_ERROR"),
}


def text_of(model: str) -> str:
    """The answer of a model, which is called by the number of its words."""
    return "".join(f"word{number} " for number in range(int(model)))


def provider() -> Provider:
    return Provider(lambda model: FakeAnswer(text_of(model), pace=0.03))


# What the clients raise when an answer has visibly failed.
VISIBLE = (openai.APIError, anthropic.APIError, httpx2.HTTPError, OSError)
# Ends of a background response, after which it is not read again.
FINAL = ("UPSTREAM_LOST", "PRODUCER_LOST", "RELAY_STOPPED", "LIMIT_EXCEEDED", "UPSTREAM_ERROR")


class Relays:
    """Asks replicas, in several loops at once, until it is told to stop; counts the outcomes."""

    def __init__(self, replicas: list[Server], seed: int = 1) -> None:
        self.replicas = replicas
        self.chance = random.Random(seed)
        # (format, outcome); the outcomes "silent" and "wrong" must not occur.
        self.outcomes: Counter[tuple[str, str]] = Counter()
        # Of each background response that is not complete: every connection, and how it ended.
        self.histories: list[list[str]] = []
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
            model = str(self.chance.randint(1, 150))
            ask = self.chance.choice([self._chat, self._respond, self._say, self._resume])
            await ask(model)

    async def _respond(self, model: str) -> None:
        """One response, streamed."""
        text, last = "", ""
        async with self._openai() as client:
            try:
                stream = client.responses.create(model=model, input="hi", stream=True)
                async for event in await stream:
                    text += event.delta if event.type == "response.output_text.delta" else ""
                    last = event.type
                outcome = self._ended(last == "response.completed", text, model)
            except Exception as error:
                outcome = await self._failure(error, text, model)
        self.outcomes["responses", outcome] += 1

    async def _say(self, model: str) -> None:
        """One message, streamed."""
        text, last = "", ""
        url = self._replica().url
        async with anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0) as client:
            try:
                stream = client.messages.create(
                    model=model,
                    max_tokens=9,
                    messages=[{"role": "user", "content": "hi"}],
                    stream=True,
                )
                async for event in await stream:
                    if event.type == "content_block_delta" and event.delta.type == "text_delta":
                        text += event.delta.text
                    last = event.type
                outcome = self._ended(last == "message_stop", text, model)
            except Exception as error:
                outcome = await self._failure(error, text, model)
        self.outcomes["messages", outcome] += 1

    async def _resume(self, model: str) -> None:
        """One response in the background, resumed whenever its connection ends."""
        text, last, number, id = "", "", -1, ""
        outcome, history = "complete", [f"{model} words"]
        for _ in range(200):
            async with self._openai() as client:
                history.append(f"{time.time():.3f} {client.base_url} {id} after {number}")
                try:
                    if id:
                        stream: Any = client.responses.retrieve(
                            id, stream=True, starting_after=number
                        )
                    else:
                        stream = client.responses.create(
                            model=model, input="hi", stream=True, background=True
                        )
                    async for event in await stream:
                        id = event.response.id if number < 0 else id
                        if event.sequence_number != number + 1:
                            self.outcomes["background", "wrong"] += 1
                        number, last = event.sequence_number, event.type
                        text += event.delta if last == "response.output_text.delta" else ""
                    break
                except Exception as error:
                    history.append(f"{time.time():.3f} {number} {last}: {error!r}")
                    failed = await self._failure(error, text, model)
                    if not id:  # nothing of it was seen
                        failed = "wrong" if failed == "wrong" else "refused"
                    if not id or failed == "wrong" or getattr(error, "code", None) in FINAL:
                        self.outcomes["background", failed] += 1
                        return
                    outcome = "resumed"
                    await asyncio.sleep(0.1)
        ended = self._ended(last == "response.completed", text, model)
        self.outcomes["background", outcome if ended == "complete" else ended] += 1
        if ended != "complete":
            self.histories.append([*history, f"{time.time():.3f} {number} {last}: {text[-50:]!r}"])

    def _ended(self, complete: bool, text: str, model: str) -> str:
        """How an answer ended that raised nothing."""
        if not text_of(model).startswith(text):
            return "wrong"
        return "complete" if complete and text == text_of(model) else "silent"

    def _openai(self) -> openai.AsyncOpenAI:
        base = f"{self._replica().url}/v1"
        return openai.AsyncOpenAI(base_url=base, api_key="x", max_retries=0)

    async def _failure(self, error: Exception, text: str, model: str) -> str:
        """How an answer failed that raised this."""
        # What its HTTP client raises is not wrapped once the stream has begun.
        if not isinstance(error, VISIBLE) and "httpx" not in type(error).__module__:
            return "wrong"
        if not text_of(model).startswith(text):
            return "wrong"
        unreachable = (openai.APIConnectionError, anthropic.APIConnectionError)
        if isinstance(error, unreachable) and not text:
            await asyncio.sleep(0.2)
            return "refused"
        return "failed"

    async def _chat(self, model: str) -> None:
        beside: list[asyncio.Task[None]] = []
        text = ""
        async with self._openai() as client:
            try:
                raw = await client.chat.completions.with_raw_response.create(
                    model=model, messages=[{"role": "user", "content": "hi"}], stream=True
                )
                stream: Any = raw.parse()
                id = raw.headers["jsonrill-stream"]
                beside = [asyncio.create_task(self._read(id, it, model)) for it in FORMATS]
                async for chunk in stream:
                    text += chunk.choices[0].delta.content or ""
                outcome = self._ended(True, text, model)
            except Exception as error:
                outcome = await self._failure(error, text, model)
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
                        texts = [event.data for event in decoder.feed(data)]
                        events += [json.loads(it) for it in texts if it != "[DONE]"]
        except (httpx2.HTTPError, OSError):
            broken = True
        self.outcomes[format, self._outcome(format, events, broken, text_of(model))] += 1

    def _outcome(
        self, format: str, events: list[dict[str, Any]], broken: bool, expected: str
    ) -> str:
        delta, complete, failed = FORMATS[format]
        kinds = [event.get("type") for event in events]
        text = "".join(event["delta"] for event in events if event.get("type") == delta)
        if not expected.startswith(text):
            return "wrong"
        if failed in kinds or broken or not events:
            return "failed"
        return "complete" if complete in kinds and text == expected else "silent"

    def bad(self) -> Iterator[tuple[str, str]]:
        return (one for one in self.outcomes if one[1] in ("silent", "wrong"))
