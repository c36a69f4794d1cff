"""A run whose answer breaks off, and one whose process is gone: readers see one answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import jsonrill
from jsonrill.continuing import SoFar
from jsonrill_server import Runs

TEXT = json.dumps({"city": "Rome", "stops": ["the Forum", "the Vatican"]})


def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}


def ask(so_far: SoFar | None) -> Iterator[Any]:
    if so_far is None:
        yield from map(chunk, TEXT[:30])
        raise ConnectionResetError
    yield from map(chunk, TEXT[len(so_far.text) :])
    yield chunk("", "stop")


def test_a_run_goes_on_after_a_break() -> None:
    async def main() -> Any:
        async with Runs("memory:") as runs:
            ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            await runs.start("trip", jsonrill.unbroken(ask), on_end=_told(ended))
            return await asyncio.wait_for(ended, 60)

    run = asyncio.run(main())
    assert (run.status, run.text, run.outcome) == ("complete", TEXT, "complete")
    assert [it["break"]["reason"] for it in run.events if "break" in it] == ["lost"]


def test_another_process_goes_on_from_the_log() -> None:
    log = list(jsonrill.unbroken(ask))[:9]

    async def main() -> Any:
        async with Runs("memory:") as runs:
            ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            rest = jsonrill.unbroken(ask, before=log)
            await runs.start("trip", [*log, *rest], on_end=_told(ended))
            return await asyncio.wait_for(ended, 60)

    run = asyncio.run(main())
    assert (run.status, run.text) == ("complete", TEXT)


def _told(ended: asyncio.Future[Any]) -> Any:
    async def on_end(run: Any) -> None:
        ended.set_result(run)

    return on_end
