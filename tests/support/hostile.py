"""What is within all limits and costs as much as it can: records, and schemas small to send."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from jsonrill.dialects import DIALECTS
from jsonrill_server.runs.hub import Hub
from jsonrill_server.runs.options import StreamOptions, ViewOptions
from jsonrill_server.runs.positions import START
from jsonrill_server.runs.records import Record
from jsonrill_server.runs.settings import Settings
from jsonrill_server.runs.value import value_of
from jsonrill_server.store import MemoryStore
from support.processes import Server

MEGABYTE = 1_000_000
# How late the loop may run, whatever is rendered.
LAG = 0.250
OWN_VIEWS: tuple[dict[str, Any], ...] = (
    {"format": "updates"},
    {"format": "updates", "send": "both"},
    {"format": "updates", "mode": "one-by-one"},
    {"format": "fragments"},
    {"format": "text"},
    {"format": "deltas"},
    {"format": "raw"},
)
VIEWS: tuple[dict[str, Any], ...] = (
    *OWN_VIEWS,
    *({"format": name} for name in DIALECTS),
)
CALL_VIEWS: tuple[dict[str, Any], ...] = (
    {"format": "calls"},
    {"format": "raw"},
    {"format": "parts"},
    *({"format": name} for name in DIALECTS),
)


WORST = (
    {"format": "updates"},
    {"format": "updates", "send": "delta"},
    {"format": "fragments"},
    {"format": "ai-sdk"},
    {"format": "calls"},
    {"format": "parts"},
)


class Hostile(NamedTuple):
    """`make(size)` returns the options of a stream and its records, about so many bytes each."""

    make: Callable[[int], tuple[dict[str, Any], list[str]]]
    views: Sequence[dict[str, Any]] = VIEWS

    @property
    def worst(self) -> list[dict[str, Any]]:
        """The views that take longest, one of each kind."""
        return [view for view in self.views if view in WORST]


def _repeated(text: str, size: int) -> str:
    return text * (size // len(text))


def _text(text: str, **options: Any) -> tuple[dict[str, Any], list[str]]:
    return options, [text]


def _any_of(levels: int) -> dict[str, Any]:
    defs: dict[str, Any] = {
        f"s{at}": {"anyOf": [{"$ref": f"#/$defs/s{at + 1}"}] * 2} for at in range(levels)
    }
    return {"$defs": {**defs, f"s{levels}": {"type": "integer"}}, "$ref": "#/$defs/s0"}


def _many_violations(size: int) -> tuple[dict[str, Any], list[str]]:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]}
    text = "[" + _repeated('{"a":"x"},', size - 20) + "{}]"
    return {"schema": schema, "entity": "[*]"}, [text]


def _branches(size: int) -> tuple[dict[str, Any], list[str]]:
    one = [{"type": "object", "properties": {f"k{at}": {"type": "string"}}, "required": [f"k{at}"]}
           for at in range(20)]  # fmt: skip
    schema = {"type": "array", "items": {"anyOf": one}}
    return {"schema": schema}, ["[" + _repeated('{"k19":"x"},', size - 20) + '{"k19":"x"}]']


def _call(size: int, arguments: str) -> tuple[dict[str, Any], list[str]]:
    function = {"name": "f", "arguments": arguments}
    call = {"index": 0, "id": "c", "type": "function", "function": function}
    chunk = {"id": "x", "object": "chat.completion.chunk", "choices": [
        {"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}]}  # fmt: skip
    last = {"id": "x", "object": "chat.completion.chunk", "choices": [
        {"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}  # fmt: skip
    return {"input": "events"}, [json.dumps(chunk), json.dumps(last)]


def _many_calls(size: int) -> tuple[dict[str, Any], list[str]]:
    calls = [
        {"index": at, "id": f"c{at}", "function": {"name": "f", "arguments": "{}"}}
        for at in range(size // 70)
    ]
    chunk = {"id": "x", "object": "chat.completion.chunk", "choices": [
        {"index": 0, "delta": {"role": "assistant", "tool_calls": calls}}]}  # fmt: skip
    return {"input": "events"}, [json.dumps(chunk, separators=(",", ":"))]


def _growing(size: int) -> tuple[dict[str, Any], list[str]]:
    """A value of 150 000 elements, and then small records: each update has all of it."""
    elements = size * 15 // 100
    return {}, ['{"a":[' + "1," * elements, *["1,"] * 20]


def _snapshots(size: int) -> tuple[dict[str, Any], list[str]]:
    half = [{"k": at, "t": "x" * 10} for at in range(size // 60)]
    whole = [*half, *half]
    return {"input": "snapshots"}, [json.dumps(half), json.dumps(whole, separators=(",", ":"))]


def _full(size: int) -> tuple[dict[str, Any], list[str]]:
    """A stream that is as large as one may be, of records of this size."""
    return {}, ["[", *[_repeated("1,", size)] * 15]


HOSTILE: dict[str, Hostile] = {
    "many entities": Hostile(lambda size: _text("[" + _repeated("1,", size), entity="[*]")),
    "many lists": Hostile(lambda size: _text("[" + _repeated("[],", size))),
    "many keys": Hostile(
        lambda size: _text("{" + "".join(f'"{at:07}":0,' for at in range(size // 12)))
    ),
    "deep": Hostile(lambda size: _text("[" + _repeated("[" * 250 + "]" * 250 + ",\n", size))),
    "one string": Hostile(lambda size: _text('"' + "é" * (size // 2))),
    "escapes": Hostile(lambda size: _text('"' + _repeated("\\ud83d\\n", size))),
    "near-JSON": Hostile(lambda size: _text("[" + _repeated("{a:'b',},", size), repair=True)),
    "many violations": Hostile(_many_violations),
    "branches": Hostile(_branches),
    "any of": Hostile(lambda size: _text("[" + _repeated("1,", size), schema=_any_of(25))),
    "elements": Hostile(_growing),
    "snapshots": Hostile(_snapshots),
    "call": Hostile(lambda size: _call(size, "[" + _repeated("[],", size) + "[]]"), CALL_VIEWS),
    "text call": Hostile(lambda size: _call(size, '"' + "x" * size), CALL_VIEWS),
    "many calls": Hostile(_many_calls, CALL_VIEWS),
    "full stream": Hostile(_full, ({"format": "updates", "send": "delta"}, {"format": "text"})),
}


def view_of(view: dict[str, Any], stream: StreamOptions) -> ViewOptions:
    return ViewOptions.from_query({name: str(value) for name, value in view.items()}, stream)


class Lag(NamedTuple):
    """Seconds: how late the loop was at worst, and how long its thread was busy meanwhile, which
    does not depend on what else the machine does."""

    worst: float
    busy: float
    took: float
    bytes: int


async def _beat(gaps: list[tuple[float, float]]) -> None:
    """Measures how late the loop runs what is due, again and again."""
    while True:
        due, busy = time.perf_counter() + 0.005, time.thread_time()
        await asyncio.sleep(0.005)
        gaps.append((time.perf_counter() - due, time.thread_time() - busy))


async def lag_of(options: dict[str, Any], records: list[str], view: dict[str, Any] | None) -> Lag:
    """How late the loop ran while a reader of this view (None: of the value) got everything."""
    hub = Hub(Settings(), MemoryStore())
    await hub.open()
    kept = StreamOptions(**options)
    stream = await hub.create("o", kept, "", 600)
    gaps: list[tuple[float, float]] = []
    heartbeats = asyncio.create_task(_beat(gaps))
    await asyncio.sleep(0.02)
    begun, size = time.perf_counter(), 0
    try:
        for record in records:
            await hub.append(stream, "", [Record(kept.input, record)])
        await hub.end(stream)
        status = await hub.status(stream)
        if view is None:
            size = len((await value_of(hub.store, stream, status))[0])
        else:
            async with hub.reader(stream, status, view_of(view, kept), START) as reader:
                async for chunk in reader.chunks():
                    size += len(chunk)
        await asyncio.sleep(0.02)
    finally:
        heartbeats.cancel()
        await hub.close()
    worst, busy = (max(gap) for gap in zip(*gaps, strict=True))
    return Lag(worst, busy, time.perf_counter() - begun, size)


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
    return json.dumps({"schema": schema}, separators=(",", ":")).encode()


async def used(http: httpx2.AsyncClient, body: bytes, *formats: str) -> int:
    """Create a stream with a schema, write to it, read it, delete it; the status of the first."""
    media = {"content-type": "application/json"}
    answer = await http.post("/v1/streams", content=body, headers=media)
    if answer.status_code == 201:
        urls = answer.json()["urls"]
        text = json.dumps({"p1": "1", "p2": ["x"] * 20})
        plain = {"content-type": "text/plain"}
        await http.post(urls["events"], content=text, headers=plain)
        await http.post(urls["close"])
        for format in ("updates", *formats):
            events = await http.get(f"{urls['events']}?format={format}")
            assert events.text.rstrip().endswith("data: [DONE]"), events.text[-100:]
        assert (await http.get(f"{urls['stream']}/value")).status_code == 200
        assert (await http.delete(urls["stream"])).status_code == 204
    return answer.status_code
