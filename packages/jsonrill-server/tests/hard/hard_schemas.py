"""The largest schemas of each kind that are accepted: no other request waits for them."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx2
import pytest

from jsonrill.schema.weight import weight_of
from jsonrill_server.runs.schemas import EACH, TOTAL
from support.hostile import LONGEST, body_of, chain, memory_of, patterns, properties, used
from support.processes import Server

# What a body may have.
BODY = 1 << 20


def _kind(name: str) -> Any:
    return {"properties": {"k": {"const": name}, "x": {"type": "string"}}, "required": ["k"]}


def _many(keyword: str, make: Callable[[int], Any], count: int) -> Any:
    return {keyword: [make(at) for at in range(count)]}


KINDS: dict[str, Callable[[int], Any]] = {
    **{
        f"{keyword} of {name}": partial(_many, keyword, make)
        for keyword in ("anyOf", "oneOf", "allOf")
        for name, make in {
            "values": lambda at: {"const": at},
            "lengths": lambda at: {"type": "object", "minProperties": at},
            "objects": lambda at: _kind(f"v{at}"),
            "patterns": lambda at: {"pattern": f"^a{at}"},
            "itself": lambda at: {"not": {"properties": {"p1": {"$ref": "#"}}}},
        }.items()
    },
    "properties": properties,
    "nothing": lambda n: {"properties": {f"p{at}": {} for at in range(n)}},
    "items": lambda n: {"prefixItems": [{"type": "string"}] * n},
    "conditions": lambda n: {
        "allOf": [{"if": {"const": at}, "then": {"minLength": at}} for at in range(n)]
    },
    "patterns of keys": lambda n: {"patternProperties": {f"^p.*{at}$": {} for at in range(n)}},
    "patterns": lambda n: patterns(n, r"^\w+@\d{2,5}[^\s]$"),
    "Unicode classes": lambda n: {"pattern": f"\\p{{L}}{{{n}}}"},
    "optional characters": lambda n: {"pattern": "a?" * n + "a" * n},
    "any case": lambda n: {"pattern": "(?i)" + "ſ" * n},
    "references": chain,
    "dependencies": lambda n: {
        "dependentSchemas": {f"p{at}": {"required": ["p1"]} for at in range(n)}
    },
    "not evaluated": lambda n: {
        "allOf": [{"properties": {f"p{at}": True}} for at in range(n)],
        "unevaluatedProperties": False,
    },
    "texts": lambda n: {"enum": [f"value-{at}" for at in range(n)]},
    "numbers": lambda n: {"enum": list(range(n))},
    "required": lambda n: {"required": [f"p{at}" for at in range(n)]},
}


def largest(make: Callable[[int], Any]) -> Any:
    def excess(size: int) -> int:
        schema = make(size)
        return max(weight_of([None, schema, None]) - EACH, len(body_of(schema)) - BODY)

    return make(bisect_right(range(BODY), 0, lo=1, key=excess) - 1)


async def waits(server: Server, over: asyncio.Event) -> float:
    """The longest that another request waited."""
    longest = 0.0
    async with httpx2.AsyncClient(base_url=server.url, timeout=20, trust_env=False) as http:
        await http.get("/livez")
        while not over.is_set():
            begun = time.monotonic()
            assert (await http.get("/livez")).status_code == 200
            longest = max(longest, time.monotonic() - begun)
            await asyncio.sleep(0.005)
    return longest


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("server")) as running:
        # What is loaded for the first schema of all is not what a schema weighs.
        asyncio.run(warm(running))
        yield running


async def warm(server: Server) -> None:
    async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
        for schema in (properties(10), properties(3_000)):
            assert await used(http, body_of(schema), "openai") == 201


@pytest.mark.parametrize("kind", KINDS)
def test_others_do_not_wait_for_the_largest_schema(server: Server, kind: str) -> None:
    async def main() -> None:
        over = asyncio.Event()
        others = asyncio.create_task(waits(server, over))
        async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
            await asyncio.sleep(0.05)
            status = await used(http, body, "openai")
        over.set()
        longest = await others
        print(f"\n{kind}: {status}, {longest * 1000:.0f} ms, {memory_of(server) >> 20} MB")
        assert status == 201
        assert longest < LONGEST

    body = body_of(largest(KINDS[kind]))  # before others begin to wait, here and there
    before = memory_of(server)
    asyncio.run(main())
    assert memory_of(server) - before < TOTAL


def test_many_large_schemas_at_once(server: Server) -> None:
    """As many as may wait, and more: each is used, or told to come back."""

    async def main() -> None:
        over = asyncio.Event()
        others = asyncio.create_task(waits(server, over))
        async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
            media = {"content-type": "application/json"}
            asked = [http.post("/v1/streams", content=body, headers=media) for body in bodies]
            statuses = [answer.status_code for answer in await asyncio.gather(*asked)]
        over.set()
        assert set(statuses) <= {201, 422, 429}
        assert await others < LONGEST

    bodies = [body_of({**properties(12_000), "title": str(at)}) for at in range(12)]
    before = memory_of(server)
    asyncio.run(main())
    assert memory_of(server) - before < 2 * TOTAL
