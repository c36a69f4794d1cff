"""Sources of every kind, the collected items of a stream, and streams of updates."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any, get_args

import pytest

from jsonrill import PartialStream, Update
from jsonrill.partial_stream import Mode


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
    """Return deep copies of everything that a stream yields, and the error that ended it."""
    items: list[Any] = []

    async def drain(stream: AsyncIterable[Any]) -> None:
        async for item in stream:
            items.append(copy.deepcopy(item))

    try:
        if isinstance(stream, AsyncIterable):
            asyncio.run(drain(stream))
        else:
            for item in stream:
                items.append(copy.deepcopy(item))
    except Exception as error:
        return items, error
    return items, None


async def until(true: Callable[[], object]) -> None:
    """Let other tasks run until the condition is true, for at most five seconds."""
    for _ in range(500):
        if true():
            return
        await asyncio.sleep(0.01)


MODES: list[Mode] = [*get_args(Mode)]


def run(pieces: Any, mode: Mode, **options: Any) -> list[Update]:
    stream = PartialStream(mode, **options)
    updates = [update for piece in pieces for update in stream.feed(piece)]
    return updates + stream.flush()


def short(updates: list[Update]) -> list[tuple[Any, ...]]:
    return [(update.index, update.status, update.data) for update in updates]


def finals(updates: list[Update]) -> list[dict[str, Any]]:
    return [update.to_dict() for update in updates if update.status != "PARTIAL"]


def check_law(updates: list[Update], exact: bool = True) -> None:
    from jsonrill.deltas import apply_delta

    state: dict[Any, Any] = {}
    for update in updates:
        before = state.get(update.index)
        kept = copy.deepcopy(before)
        assert update.delta is not None
        state[update.index] = apply_delta(before, update.delta)
        assert state[update.index] == update.data
        assert exact is False or repr(state[update.index]) == repr(update.data)
        assert repr(before) == repr(kept)
