"""Unmodified clients: ai and @ag-ui/client with an application, curl with the server."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from jsonrill.testing import Call, FakeAnswer
from jsonrill_server import Runs
from support import SLACK, need_command
from support.apps import served
from support.processes import Server

ARGUMENTS = '{"city": "Zürich", "days": 3, "units": ["c", "f"]}'
ANSWER = FakeAnswer("Hello wörld", calls=[Call("get_weather", ARGUMENTS, "call_1")])
EVENTS = ANSWER.events("/v1/chat/completions")
TEXT = '{"colors":[{"name":"red","__proto__":1},{"name":"blue"}],"ok":true}'


def app_of(runs: Runs) -> Any:
    async def read(request: Request) -> Any:
        format: Any = request.path_params["format"]
        return await runs.response(request, request.path_params["key"], format=format)

    return Starlette(routes=[Route("/{key}/{format}", read, methods=["GET", "POST"])])


def run(work: Callable[[Runs, str], Awaitable[None]]) -> None:
    async def main() -> None:
        async with Runs(grace=0.2) as runs, asyncio.timeout(20 * SLACK):
            async with served(app_of(runs), lifespan="off") as url:
                await work(runs, url)
                runs.stop()

    asyncio.run(main())


async def node(npm: Path, script: str, *arguments: str) -> Any:
    process = await asyncio.create_subprocess_exec(
        need_command("node"), script, *arguments, cwd=npm, stdout=subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return json.loads(out)


def test_ai_sdk_reads_events_of_a_provider(npm: Path) -> None:
    async def work(runs: Runs, url: str) -> None:
        await runs.start("k", EVENTS)
        while await runs.active("k"):
            await asyncio.sleep(0.01)
        seen = await node(npm, "ai-sdk.mjs", f"{url}/k/ai-sdk", f"{url}/k/ai-sdk")
        parts = {part["type"]: part for part in seen["first"]["parts"]}
        assert parts["text"]["text"] == "Hello wörld"
        tool = parts["dynamic-tool"]
        assert tool["input"] == json.loads(ARGUMENTS) and tool["state"] == "input-available"
        assert seen["first"]["errors"] == []
        # Asked again without a position, a run that has ended is not sent.
        assert seen["nothing"] is None and seen["resumed"] is None

    run(work)


def test_ai_sdk_reads_entities_and_resumes_while_they_are_written(npm: Path) -> None:
    async def work(runs: Runs, url: str) -> None:
        async def source() -> AsyncIterator[str]:
            yield TEXT[:30]
            while runs.readers < 2:
                await asyncio.sleep(0.01)
            yield TEXT[30:]

        await runs.start("k", source, entity="colors")
        seen = await node(npm, "ai-sdk.mjs", f"{url}/k/ai-sdk")
        data = [part for part in seen["first"]["parts"] if part["type"] == "data-colors"]
        # An event with the key __proto__ would be refused as a whole by this client.
        assert [part["data"]["data"] for part in data] == [{"name": "red"}, {"name": "blue"}]
        assert seen["first"]["errors"] == [] and seen["resumed"]["parts"] == seen["first"]["parts"]

    run(work)


def test_ag_ui_reads_calls_state_and_errors(npm: Path) -> None:
    async def fail() -> AsyncIterator[str]:
        yield "{"
        raise ValueError("no model")

    async def work(runs: Runs, url: str) -> None:
        for key, source in (("calls", EVENTS), ("state", [TEXT]), ("failed", fail)):
            await runs.start(key, source)
        urls = [f"{url}/{key}/ag-ui" for key in ("calls", "state", "failed")]
        first, second, third = await node(npm, "ag-ui.mjs", *urls)
        assert first["messages"][0]["content"] == "Hello wörld" and first["error"] is None
        calls = [call for message in first["messages"] for call in message.get("toolCalls", [])]
        assert json.loads(calls[0]["function"]["arguments"]) == json.loads(ARGUMENTS)
        assert second["state"] == json.loads(TEXT) and second["error"] is None
        assert "RUN_ERROR" in third["events"]

    run(work)


def curl(*arguments: str) -> str:
    command = [need_command("curl"), "-sS", "-N", "--max-time", "15", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_curl_publishes_and_resumes(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text(TEXT)
    with Server(tmp_path) as server:
        stream = json.loads(curl("-X", "POST", f"{server.url}/v1/streams"))
        base = f"{server.url}{stream['urls']['stream']}"
        curl("-T", str(file), "-X", "POST", "-H", "content-type: text/plain", f"{base}/events")
        curl("-X", "POST", f"{base}/close")
        assert '"complete":true' in curl(f"{base}/value")
        whole = curl(f"{base}/events?format=text")
        ids = [line[4:] for line in whole.splitlines() if line.startswith("id: ")]
        rest = curl("-H", f"Last-Event-ID: {ids[0]}", f"{base}/events?format=text")
        assert rest.count("id: ") == len(ids) - 1
        at_end = ("-o", "/dev/null", "-w", "%{http_code}", "-H", f"Last-Event-ID: {ids[-1]}")
        assert curl(*at_end, f"{base}/events?format=text") == "204"
