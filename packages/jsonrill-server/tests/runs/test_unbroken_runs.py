"""A run whose answer breaks off, and one whose process is gone: readers see one answer."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import pytest

import jsonrill
from jsonrill.continuing import SoFar
from jsonrill_server import Run, Runs
from support import PYTHONPATH, ROOT, SLACK, hard

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


def test_the_text_of_a_run_that_began_again_is_that_of_the_last_start() -> None:
    other = TEXT.replace("Rome", "Oslo")
    answers = iter([[TEXT[:30]], [other], [other]])

    async def main() -> Any:
        async with Runs("memory:") as runs:
            ended: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            source = jsonrill.unbroken(lambda _: next(answers), on_contradiction="restart")
            await runs.start("trip", source, on_end=_told(ended))
            return await asyncio.wait_for(ended, 60)

    assert asyncio.run(main()).text == other


@pytest.mark.parametrize("format", ["chunks", "updates", "fragments", "openai"])
def test_a_format_that_has_one_text_ends_where_the_answer_begins_again(format: str) -> None:
    other = TEXT.replace("Rome", "Oslo")
    answers = iter([[TEXT[:30]], [other], [other]])

    async def main() -> list[Any]:
        async with Runs("memory:") as runs:
            source = jsonrill.unbroken(lambda _: next(answers), on_contradiction="restart")
            await runs.start("trip", source)
            return await read_all(runs, format)

    *before, last = asyncio.run(main())
    assert last["error"]["code"] == "REVISION" and last["error"]["path"] == "root.city"
    assert before and "Oslo" not in json.dumps(before)
    if format == "chunks":
        assert before == [TEXT[:30]]
    if format == "openai":
        assert "".join(jsonrill.content(before)) == TEXT[:30]


# ---- a function by name, in another replica ----

FORMATS = ("raw", "chunks", "updates", "openai")
DIES_AT = TEXT.index("ican")


def value_of(format: str, events: list[Any]) -> Any:
    """What a reader of this format has in the end."""
    if format == "raw":
        return [*jsonrill.values(events)][-1]
    if format == "updates":
        assert events[-1]["status"] == "COMPLETED"
        return events[-1]["data"]
    if format == "chunks":
        return json.loads("".join(events))
    return [*jsonrill.values(events)][-1]


class Replica:
    """A model that writes up to a place, and then nothing, with what it was asked and wrote."""

    def __init__(self, end: int = len(TEXT)) -> None:
        self.end = end
        self.asked: list[SoFar | None] = []
        self.written = ""

    def __call__(self, run: Run) -> Any:
        return jsonrill.unbroken(self._ask, before=run.events, stall=None)

    async def _ask(self, so_far: SoFar | None) -> AsyncIterator[Any]:
        self.asked.append(so_far)
        begun = "" if so_far is None else os.path.commonprefix([TEXT, so_far.text])
        for piece in TEXT[len(begun) : self.end]:
            self.written += piece
            yield chunk(piece)
            await asyncio.sleep(0)
        if self.end < len(TEXT):
            await asyncio.sleep(3600)
        yield chunk("", "stop")


async def read_all(runs: Runs, format: str, begun: Callable[[], None] = lambda: None) -> list[Any]:
    events: list[Any] = []
    async with aclosing(runs.read("trip", format=format)) as reading:
        async for event in reading:
            events.append(event.data)
            begun()
    return events


async def die(runs: Runs) -> None:
    """It goes without a word: nothing renews the lease any more, and it continues nothing."""
    runs._hub.named.clear()
    running = [*runs._hub.running.values()]
    for task in running:
        task.cancel()
    await asyncio.wait(running)


def test_another_replica_goes_on_with_an_answer_by_name(tmp_path: Path) -> None:
    dying, living = Replica(DIES_AT), Replica()
    store = f"sqlite:///{tmp_path}/log.db"

    async def main() -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        async with (
            asyncio.timeout(60 * SLACK),
            Runs(store, lease=0.5, resume={"answer": dying}) as first,
            Runs(store, lease=0.5, resume={"answer": living}) as second,
        ):
            await first.start("trip", resume="answer")
            begun = {format: asyncio.Event() for format in FORMATS}
            reading = {
                format: asyncio.create_task(read_all(second, format, begun[format].set))
                for format in FORMATS
            }
            for event in begun.values():
                await event.wait()
            await die(first)
            early = {format: await task for format, task in reading.items()}
            return early, {format: await read_all(second, format) for format in FORMATS}

    early, late = asyncio.run(main())
    for format in FORMATS:
        assert value_of(format, early[format]) == json.loads(TEXT), format
        assert value_of(format, late[format]) == json.loads(TEXT), format
    assert early["raw"] == late["raw"]
    told = [it["break"] for it in early["raw"] if "break" in it]
    assert told == [{"reason": "lost", "attempt": 1}]
    # The second one is asked once, for what the log does not have, and nothing is paid twice.
    at = next(at for at, it in enumerate(early["raw"]) if "break" in it)
    logged = "".join(it.get("text", "") for it in early["raw"][:at])
    assert dying.asked == [None] and logged and dying.written.startswith(logged)
    assert [it and it.text.rstrip() for it in living.asked] == [logged.rstrip()]
    assert logged + living.written == TEXT


# ---- a process that is killed ----

# Writes the beginning of the answer in a run of the store, and nothing more.
PROCESS = """
import asyncio
import sys
from jsonrill_server import Runs
from test_unbroken_runs import DIES_AT, Replica

async def main():
    async with Runs(sys.argv[1], lease=0.5, resume={"answer": Replica(DIES_AT)}) as runs:
        await runs.start("trip", resume="answer")
        print("started", flush=True)
        await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.mark.parametrize("format", ["raw", pytest.param("updates", marks=hard)])
def test_another_process_goes_on_when_one_is_killed(format: str, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/log.db"
    living = Replica()
    here = str(Path(__file__).parent)
    paths = os.pathsep.join([here, str(ROOT / "tests"), PYTHONPATH])

    async def main() -> list[Any]:
        killed = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROCESS, store),
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
        )
        assert killed.stdout is not None
        try:
            assert await killed.stdout.readline() == b"started\n"
            async with Runs(store, lease=0.5, resume={"answer": living}) as runs:

                def kill() -> None:
                    if killed.returncode is None:
                        with suppress(ProcessLookupError):
                            killed.kill()

                return await read_all(runs, format, kill)
        finally:
            with suppress(ProcessLookupError):
                killed.kill()
            await killed.wait()

    events = asyncio.run(asyncio.wait_for(main(), 60 * SLACK))
    assert value_of(format, events) == json.loads(TEXT)
    # It was asked once, for what the log does not have.
    [so_far] = living.asked
    assert so_far is not None and so_far.reason == "lost"
    assert so_far.text + living.written == TEXT


def _told(ended: asyncio.Future[Any]) -> Any:
    async def on_end(run: Any) -> None:
        ended.set_result(run)

    return on_end
