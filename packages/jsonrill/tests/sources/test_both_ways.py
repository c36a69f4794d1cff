"""Streams like LiteLLM's that have both iterator protocols, of which only one works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import jsonrill
from support.streams import collect

EVENTS = [
    {"id": "c", "choices": [{"index": 0, "delta": {"content": item}}]} for item in ("[1", "]")
]


class Sync:
    """What a sync request returns."""

    closed = False

    def __iter__(self) -> Iterator[Any]:
        yield from EVENTS

    def close(self) -> None:
        self.closed = True


class Async:
    """What an async request returns."""

    async def __aiter__(self) -> AsyncIterator[Any]:
        for event in EVENTS:
            yield event


class Both:
    """Has both iterator protocols; only the wrapped stream's own one works."""

    def __init__(self, name: str, inside: Any) -> None:
        self.inside = inside
        setattr(self, name, inside)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.inside() if callable(self.inside) else self.inside)

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for event in await self.inside() if callable(self.inside) else self.inside:
            yield event


async def request() -> Async:
    return Async()


SYNC = {"inside": ("completion_stream", Sync()), "later": ("make_call", Sync)}
ASYNC = {"inside": ("completion_stream", Async()), "later": ("make_call", request)}


def streams(inside: tuple[str, Any]) -> list[Any]:
    return [Both(*inside), Both("streaming_response", Both(*inside))]


@pytest.mark.parametrize("name", SYNC)
def test_a_wrapper_of_a_sync_stream_is_a_sync_source_in_a_running_loop(name: str) -> None:
    async def run() -> None:
        for stream in streams(SYNC[name]):
            assert [*jsonrill.values(stream)] == [[], [1]]

    asyncio.run(run())


@pytest.mark.parametrize("name", ASYNC)
def test_a_wrapper_of_an_async_stream_is_an_async_source(name: str) -> None:
    for stream in streams(ASYNC[name]):
        values = jsonrill.values(stream)
        assert hasattr(values, "__anext__") and collect(values) == ([[], [1]], None)


def test_leaving_the_loop_closes_the_inner_stream() -> None:
    inside = Sync()
    stream: Any = Both("streaming_response", Both("completion_stream", inside))
    for _ in jsonrill.values(stream):
        break
    assert inside.closed
