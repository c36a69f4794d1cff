"""Schemas that are small to send and large to compile, and a server that gets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2

from support.processes import Server

# Seconds that another request may wait.
LONGEST = 0.25


def nested(levels: int, level: Any) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = level(schema)
    return schema


def patterns(count: int, pattern: str) -> Any:
    return {"properties": {f"p{at}": {"pattern": f"{pattern}{at}"} for at in range(count)}}


def properties(count: int) -> Any:
    names = [f"p{at}" for at in range(count)]
    return {"properties": {name: {"type": "string"} for name in names}, "required": names}


def chain(length: int) -> Any:
    steps = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(length)}
    return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{length}": {"type": "string"}}}


def memory_of(server: Server) -> int:
    assert server.process is not None
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) * 1024


def body_of(schema: Any) -> bytes:
    """What a stream with this schema is created with."""
    return json.dumps({"document_schema": schema}, separators=(",", ":")).encode()


async def used(http: httpx2.AsyncClient, body: bytes, *formats: str) -> int:
    """Create a stream with a schema, write to it, read it, delete it; the status of the first."""
    media = {"content-type": "application/json"}
    answer = await http.post("/v1/streams", content=body, headers=media)
    if answer.status_code == 201:
        urls = answer.json()["urls"]
        text = json.dumps({"p1": "1", "p2": ["x"] * 20})
        plain = {"content-type": "text/plain"}
        await http.post(urls["chunks"], content=text, headers=plain)
        await http.post(urls["close"])
        for format in ("updates", *formats):
            events = await http.get(f"{urls['events']}?format={format}")
            assert events.text.rstrip().endswith("data: [DONE]"), events.text[-100:]
        assert (await http.get(f"{urls['stream']}/value")).status_code == 200
        assert (await http.delete(urls["stream"])).status_code == 204
    return answer.status_code
