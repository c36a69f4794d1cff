"""Streams that can be iterated both ways, as LiteLLM's, and work in one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import jsonrill

EVENTS = [
    {"id": "c", "choices": [{"index": 0, "delta": {"content": text}}]}
    for text in ('{"a": "x', "y", 'z"}')
]
VALUE = {"a": "xyz"}


class Sync:
    """What a sync request returns."""

    def __init__(self) -> None:
        self.read, self.closed = 0, False

    def __iter__(self) -> Iterator[Any]:
        for event in EVENTS:
            self.read += 1
            yield event

    def close(self) -> None:
        self.closed = True


class Async:
    """What an async request returns."""

    def __init__(self) -> None:
        self.read, self.closed = 0, False

    async def __aiter__(self) -> AsyncIterator[Any]:
        for event in EVENTS:
            self.read += 1
            yield event


class Both:
    """Can be iterated both ways; only the way of what is inside works."""

    def __init__(self, inside: Any, name: str = "completion_stream") -> None:
        self.inside, self.name = inside, name
        if name == "make_call":
            self.make_call = inside
        else:
            setattr(self, name, inside)

    def __iter__(self) -> Iterator[Any]:
        stream = self.inside() if self.name == "make_call" else self.inside
        return iter(stream)

    async def __aiter__(self) -> AsyncIterator[Any]:
        stream = await self.inside() if self.name == "make_call" else self.inside
        async for event in stream:
            yield event


async def later() -> Async:
    return Async()


async def all_of(stream: Any) -> list[Any]:
    return [it async for it in stream]


SYNC: dict[str, Callable[[], Any]] = {
    "inside": lambda: Both(Sync()),
    "deep": lambda: Both(Both(Sync(), "streaming_response")),
    "later": lambda: Both(Sync, "make_call"),
}
ASYNC: dict[str, Callable[[], Any]] = {
    "inside": lambda: Both(Async()),
    "deep": lambda: Both(Both(Async(), "streaming_response")),
    "later": lambda: Both(later, "make_call"),
}


@pytest.mark.parametrize("name", SYNC)
@pytest.mark.parametrize("in_loop", [False, True])
def test_what_is_sync_inside_is_a_sync_source_even_where_a_loop_runs(
    name: str, in_loop: bool
) -> None:
    def read() -> None:
        assert [*jsonrill.values(SYNC[name]())][-1] == VALUE
        assert "".join(jsonrill.text(SYNC[name](), "a")) == "xyz"
        assert [part.kind for part in jsonrill.parts(SYNC[name]())][-1] == "text"
        assert [part.kind for part in jsonrill.run_tools(SYNC[name](), {})][-1] == "text"

    async def run() -> None:
        read()

    asyncio.run(run()) if in_loop else read()


@pytest.mark.parametrize("name", ASYNC)
def test_what_is_async_inside_is_an_async_source(name: str) -> None:
    async def run() -> None:
        assert (await all_of(jsonrill.values(ASYNC[name]())))[-1] == VALUE
        assert (await all_of(jsonrill.run_tools(ASYNC[name](), {})))[-1].kind == "text"

    asyncio.run(run())


class Neither:
    """Tells nothing of what it reads from."""

    def __iter__(self) -> Iterator[Any]:
        return iter(EVENTS)

    async def __aiter__(self) -> AsyncIterator[Any]:
        for event in EVENTS:
            yield event


def test_if_nothing_tells_it_is_async() -> None:
    async def run() -> list[Any]:
        return await all_of(jsonrill.values(Neither()))

    assert asyncio.run(run())[-1] == VALUE


def test_leaving_the_loop_closes_what_is_inside() -> None:
    inside = Sync()
    for _ in jsonrill.values(Both(Both(inside, "streaming_response"))):  # type: ignore[attr-defined]
        break
    assert (inside.read, inside.closed) == (1, True)
