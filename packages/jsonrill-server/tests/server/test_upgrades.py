"""A rolling upgrade: replicas of two versions share a store, and live streams go on at both."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import httpx2
import pytest

from jsonrill_server import Config, create_app
from jsonrill_server.runs.options import StreamOptions, ViewOptions
from jsonrill_server.runs.records import End, from_entry
from jsonrill_server.runs.render import rendering, usable
from jsonrill_server.store import Entry, MemoryStore

LATER: list[dict[str, Any]] = [
    {"shade": "blue"},
    {"mode": "FOURTH_DIMENSION"},
    {"entity": "a", "shade": {"deep": [1]}},
    {"repair": ["around", "a-later-rule"]},
    {"entity": "$..x[?(@)]", "mode": "ONE-BY-ONE"},
    {"only_complete": ["$..x"], "zero_values": True},
    {"schema": {"type": "a later type"}, "zero_values": True, "send": "later"},
    {"schemas": {"f": {"pattern": "(("}}},
    {"mode": "ONE-BY-ONE", "zero_values": True},
]
FORMATS = ("updates", "fragments", "text", "raw", "ai-sdk", "ag-ui")


@pytest.mark.parametrize("later", LATER)
def test_a_stream_with_options_of_a_later_version_goes_on(
    later: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    store = MemoryStore()
    meta = json.dumps({"input": "text", **later, "notes": {"kept": 1}}).encode()

    async def main() -> None:
        app = create_app(Config(access_log=False), store=store)
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            await store.acquire("s", "", lease=60, meta=meta)
            plain = {"content-type": "text/plain"}
            answer = await http.post("/v1/streams/s/events", content='{"a": 1}', headers=plain)
            assert answer.status_code == 200, answer.text
            assert (await http.get("/v1/streams/s")).json()["last"] == 1
            assert (await http.get("/v1/streams/s/value")).json()["value"] == {"a": 1}
            assert (await http.post("/v1/streams/s/close")).status_code == 200
            events = [f"events?format={format}" for format in FORMATS]
            for path in ("events", *events):
                answer = await http.get(f"/v1/streams/s/{path}")
                assert answer.status_code == 200 and "ERROR" not in answer.text, answer.text
        await app.state.hub.close()

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert len([it for it in caplog.records if "another version" in it.message]) <= 2
    assert StreamOptions.from_bytes(meta).notes == {"kept": 1}


def test_what_is_known_beside_such_an_option_is_kept() -> None:
    options = {
        "zero_values": True,
        "repair": ["a-later-rule"],
        "schema": {"type": "object"},
    }
    stored = StreamOptions.from_bytes(json.dumps({**options, "notes": {"kept": 1}}).encode())
    known = usable(stored)
    assert known.given == {"zero_values": True, "schema": {"type": "object"}}
    assert known.notes == {"kept": 1}
    assert usable(known) is known


def test_a_client_that_asks_for_such_an_option_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown option"):
        StreamOptions.from_json({"shade": "blue"})
    with pytest.raises(ValueError, match="no repair rule"):
        rendering(StreamOptions.from_json({"repair": ["a-later-rule"]}), ViewOptions())


def test_an_end_may_have_more_fields() -> None:
    end = {"reason": "error", "code": "X", "message": "why", "line": None, "shade": 1}
    entry = Entry(1, json.dumps(end).encode(), True)
    assert from_entry(entry) == End("error", "X", "why")
