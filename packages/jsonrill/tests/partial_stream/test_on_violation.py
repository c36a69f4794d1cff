"""What follows a violation: the end of the stream and of its source, or the next entity."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from jsonrill import PartialStream, updates
from jsonrill.options import Mode
from support import cuttings

pytest.importorskip("jsonschema_rs")

MODES: tuple[Mode, ...] = ("BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME")
ROW = {"type": "object", "properties": {"n": {"type": "integer"}}}
ROWS = '[{"n": 1}, {"n": "x"}, {"n": 3}, {"n": "y"}, {"n": 5}]'


def ends(text: str, mode: Mode = "ONE-BY-ONE", **options: Any) -> list[tuple[Any, ...]]:
    """Status, index and data of the updates but PARTIAL, the same for every cutting."""
    by_cutting = []
    for cut in cuttings(text):
        stream = PartialStream(mode, **options)
        all_of_them = [update for piece in cut for update in stream.feed(piece)] + stream.flush()
        assert stream.ended
        by_cutting.append(
            [(it.status, it.index, it.data) for it in all_of_them if it.status[0] != "P"]
        )
    assert all(repr(one) == repr(by_cutting[0]) for one in by_cutting)
    return by_cutting[0]


class Tokens:
    """A source that counts what is read of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.read = 0
        self.closed = False

    def __iter__(self) -> Iterator[str]:
        for at in range(0, len(self.text), 4):
            self.read += 1
            yield self.text[at : at + 4]

    def close(self) -> None:
        self.closed = True


class AsyncTokens(Tokens):
    async def __aiter__(self) -> AsyncIterator[str]:  # type: ignore[override]
        for piece in Tokens.__iter__(self):
            yield piece

    async def aclose(self) -> None:
        self.closed = True


@pytest.mark.parametrize("mode", MODES)
def test_a_violation_of_the_root_ends_the_stream_whatever_follows(mode: Mode) -> None:
    for rest in ('"x", "m": [1, 2]}', '"x", oops', '"x"'):
        assert ends('{"n": ' + rest, mode, schema=ROW) == [("ERROR", 0, {})]


@pytest.mark.parametrize("every", [None, 60.0])
def test_it_closes_the_source(every: float | None) -> None:
    text = '{"a": 1, "n": "x", ' + '"more": "text", ' * 500 + '"z": 1}'
    source = Tokens(text)
    *_, last = updates(source, schema=ROW, every=every)
    assert last.status == "ERROR" and source.closed and source.read == 4

    async def main() -> None:
        source = AsyncTokens(text)
        stream: Any = updates(source, schema=ROW, every=every)
        all_updates = [update async for update in stream]
        assert all_updates[-1].status == "ERROR" and source.closed and source.read <= 5

    asyncio.run(main())


def test_a_violation_of_another_entity_ends_that_entity() -> None:
    ended = ends(ROWS, schema=ROW)
    assert [(status, index) for status, index, _ in ended] == [
        *[("COMPLETED", 0), ("ERROR", 1), ("COMPLETED", 2), ("ERROR", 3), ("COMPLETED", 4)]
    ]
    source = Tokens(ROWS)
    list(updates(source, schema=ROW))
    assert not source.closed


def test_stop_ends_the_stream_at_any_entity() -> None:
    ended = ends(ROWS, schema=ROW, on_violation="stop")
    assert ended == [("COMPLETED", 0, {"n": 1}), ("ERROR", 1, {})]
    source = Tokens(ROWS)
    list(updates(source, schema=ROW, on_violation="stop"))
    assert source.closed and source.read < 6


def test_stop_loses_nothing_that_is_complete() -> None:
    first = {"n": 1}
    options = {"schema": ROW, "on_violation": "stop"}
    assert ends(ROWS, "ALL-TOGETHER", **options) == [("ERROR", 1, {}), ("COMPLETED", 0, first)]
    assert ends(ROWS, "BATCH", **options) == [("ERROR", 1, {}), ("COMPLETED", 0, [first])]


def test_next_reads_on_after_the_root() -> None:
    source = Tokens('{"n": "x", "m": [1, 2, 3, 4, 5, 6]}')
    all_updates = list(updates(source, schema=ROW, on_violation="next"))
    assert [update.status for update in all_updates if update.status != "PARTIAL"] == ["ERROR"]
    assert not source.closed and source.read == 9


def test_of_many_documents_the_others_are_read() -> None:
    text = '{"n": 1}\n{"n": "x"}\n{"n": 3}\n'
    ended = ends(text, schema=ROW, many=True)
    assert [status for status, *_ in ended] == ["COMPLETED", "ERROR", "COMPLETED"]
    ended = ends(text + "oops\n", schema=ROW, many=True, on_violation="stop")
    assert [status for status, *_ in ended] == ["COMPLETED", "ERROR"]


def test_a_violation_outside_of_entities_ends_the_stream() -> None:
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "rows": {"type": "array", "items": ROW}},
    }
    text = '{"rows": [{"n": 1}], "title": 5, "rest": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}'
    ended = ends(text, entity="rows", document_schema=schema)
    assert [status for status, *_ in ended] == ["COMPLETED", "ERROR"]
    source = Tokens(text)
    list(updates(source, "ONE-BY-ONE", entity="rows", document_schema=schema))
    assert source.closed and source.read < 10


@pytest.mark.parametrize("wrong", ["STOP", "", True, 1])
def test_what_it_may_be(wrong: Any) -> None:
    with pytest.raises(ValueError, match="on_violation is one of stop, next, not"):
        PartialStream(on_violation=wrong)
