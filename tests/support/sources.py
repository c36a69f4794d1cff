"""Sources of every kind, and all that a stream yields."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import pytest


def as_list(items: Iterable[Any]) -> list[Any]:
    return list(items)


def as_generator(items: Iterable[Any]) -> Iterator[Any]:
    yield from items


async def as_async(items: Iterable[Any]) -> AsyncIterator[Any]:
    for item in items:
        await asyncio.sleep(0)
        yield item


sources = pytest.mark.parametrize("source", [as_list, as_generator, as_async])


def collect(stream: Any) -> tuple[list[Any], Exception | None]:
    """All that a stream yields, deep as it was then, and the error that ended it."""
    found: list[Any] = []

    async def drain(stream: AsyncIterable[Any]) -> None:
        async for item in stream:
            found.append(copy.deepcopy(item))

    try:
        if isinstance(stream, AsyncIterable):
            asyncio.run(drain(stream))
        else:
            for item in stream:
                found.append(copy.deepcopy(item))
    except Exception as error:
        return found, error
    return found, None


async def until(true: Callable[[], object]) -> None:
    """Lets the others run until it is true; whoever waits in vain finds out what is missing."""
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.01)
