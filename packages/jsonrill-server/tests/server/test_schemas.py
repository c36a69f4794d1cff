"""Schemas of strangers: small to send, large to compile. Others do not wait, memory is bounded."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from jsonrill_server.runs.options import BadOption, StreamOptions, TooMany, ViewOptions
from jsonrill_server.runs.schemas import TOTAL, WAITING, Schemas
from support import SLACK
from support.processes import Server

PLAIN = {"content-type": "text/plain"}
# Seconds that another request may wait.
LONGEST = 0.25


def nested(levels: int, level: Any) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = level(schema)
    return schema


def patterns(count: int, pattern: str) -> Any:
    return {"properties": {f"p{at}": {"pattern": f"{pattern}{at}"} for at in range(count)}}


def chain(length: int) -> Any:
    steps = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{length}": {"type": "string"}}}


# Each with whether it is refused.
HEAVY: dict[str, tuple[Any, bool]] = {
    "Unicode classes": (patterns(20, r"\p{L}{200}"), True),
    "Unicode classes in groups": (patterns(20, r"(?:(?:\p{L}|x){14}){14}"), True),
    "Unicode classes in lookahead": (patterns(1, r"(?=\p{L}{3})" * 2000), True),
    "repetitions": (patterns(50, r"((a{40}){40}){9}"), True),
    "a long pattern": ({"pattern": "ab?" * 300_000}, True),
    "patterns of keys": (
        {"patternProperties": {f"^p.*{at}$": {"type": "string"} for at in range(15_000)}},
        True,
    ),
    "alternatives": ({"anyOf": [{"const": at} for at in range(40_000)]}, True),
    "empty alternatives": ({"oneOf": [{}] * 200_000}, True),
    "a tree of alternatives": (nested(10, lambda inner: {"anyOf": [inner, inner]}), False),
    "conditions": (
        {"allOf": [{"if": {"const": at}, "then": {"minLength": at}} for at in range(1500)]},
        False,
    ),
    "references": (chain(1500), False),
    "too many references": (chain(10_000), True),
    "properties": ({"properties": {f"p{at}": {"type": "string"} for at in range(5000)}}, False),
    "too many properties": (
        {"properties": {f"p{at}": {"type": "string"} for at in range(15_000)}},
        True,
    ),
    "dynamic references": (
        {
            "$defs": {f"d{at}": {"$dynamicAnchor": "x"} for at in range(1000)},
            "allOf": [{"$dynamicRef": "#x"}] * 1000,
        },
        False,
    ),
    "values": ({"enum": [f"value-{at}" for at in range(50_000)]}, False),
}


def memory_of(server: Server) -> int:
    assert server.process is not None
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) * 1024


async def waits(server: Server, over: asyncio.Event) -> list[float]:
    """How long each of the other requests waited."""
    found = []
    async with httpx2.AsyncClient(base_url=server.url, timeout=20, trust_env=False) as http:
        await http.get("/livez")
        while not over.is_set():
            begun = time.monotonic()
            assert (await http.get("/livez")).status_code == 200
            found.append(time.monotonic() - begun)
            await asyncio.sleep(0.01)
    return found


async def used(http: httpx2.AsyncClient, schema: Any) -> int:
    """Create a stream with a schema, write to it, read it, delete it; the status of the first."""
    made = await http.post("/v1/streams", json={"document_schema": schema})
    if made.status_code == 201:
        urls = made.json()["urls"]
        text = json.dumps({"p1": "1", "p2": ["x"] * 20})
        await http.post(urls["chunks"], content=text, headers=PLAIN)
        await http.post(urls["close"])
        events = await http.get(urls["events"])
        assert events.text.endswith("event: CLOSE\ndata: [DONE]\n\n"), events.text[-100:]
        assert (await http.delete(urls["stream"])).status_code == 204
    return made.status_code


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Server(tmp_path_factory.mktemp("server")) as server:
        asyncio.run(_once(server, {"type": "object"}))
        yield server


async def _once(server: Server, schema: Any) -> int:
    async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
        return await used(http, schema)


@pytest.mark.parametrize("name", HEAVY)
def test_others_do_not_wait_for_a_schema(quiet: Server, name: str) -> None:
    async def main() -> None:
        over = asyncio.Event()
        others = asyncio.create_task(waits(quiet, over))
        await asyncio.sleep(0.1)
        status = await _once(quiet, schema)
        over.set()
        longest = max(await others)
        assert (status == 422) == refused
        assert longest < LONGEST * SLACK

    schema, refused = HEAVY[name]
    before = memory_of(quiet)
    asyncio.run(main())
    assert memory_of(quiet) - before < TOTAL


def test_what_compiles_too_long_is_refused_and_so_is_who_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thread that does not come back is lost; the requests are not."""
    monkeypatch.setattr("jsonrill_server.runs.schemas.LONGEST", 0.05)
    over = threading.Event()
    monkeypatch.setattr("jsonrill_server.runs.schemas.weight_of", lambda *_: over.wait(30) or 1)
    heavy = StreamOptions(document_schema={"enum": [f"value-{at}" for at in range(5000)]})

    async def main() -> None:
        schemas = Schemas()
        asked = [schemas.rendering(heavy) for _ in range(WAITING + 2)]
        errors = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(error) for error in errors] == [BadOption] + [TooMany] * (WAITING + 1)
        assert "before" in str(errors[1]) and "wait" in str(errors[-1])
        over.set()
        monkeypatch.undo()
        assert await schemas.rendering(heavy, ViewOptions())

    asyncio.run(main())
