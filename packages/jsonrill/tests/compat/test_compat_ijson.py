"""`jsonrill.compat.ijson`, as ijson's documentation describes the original."""

from __future__ import annotations

import asyncio
import io
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import pytest

from jsonrill.compat import ijson

TEXT = b'{"a": {"item": [1, {"b": 2.5}]}, "": ["x", []], "n": {"k": null, "l": {"m": [true]}}}'
EVENTS = [
    ("", "start_map", None),
    ("", "map_key", "a"),
    ("a", "start_map", None),
    ("a", "map_key", "item"),
    ("a.item", "start_array", None),
    ("a.item.item", "number", 1),
    ("a.item.item", "start_map", None),
    ("a.item.item", "map_key", "b"),
    ("a.item.item.b", "number", Decimal("2.5")),
    ("a.item.item", "end_map", None),
    ("a.item", "end_array", None),
    ("a", "end_map", None),
    ("", "map_key", ""),
    ("", "start_array", None),
    (".item", "string", "x"),
    (".item", "start_array", None),
    (".item", "end_array", None),
    ("", "end_array", None),
    ("", "map_key", "n"),
    ("n", "start_map", None),
    ("n", "map_key", "k"),
    ("n.k", "null", None),
    ("n", "map_key", "l"),
    ("n.l", "start_map", None),
    ("n.l", "map_key", "m"),
    ("n.l.m", "start_array", None),
    ("n.l.m.item", "boolean", True),
    ("n.l.m", "end_array", None),
    ("n.l", "end_map", None),
    ("n", "end_map", None),
    ("", "end_map", None),
]
SIZES = (1, 7, 64 * 1024)


class AsyncFile:
    """As aiofiles opens one."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    async def read(self, size: int = -1) -> bytes:
        await asyncio.sleep(0)
        return self._file.read(size)


@pytest.mark.parametrize("size", SIZES)
def test_events(size: int) -> None:
    assert list(ijson.parse(io.BytesIO(TEXT), buf_size=size)) == EVENTS
    events = list(ijson.basic_parse(io.BytesIO(TEXT), buf_size=size))
    assert events == [event[1:] for event in EVENTS]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "prefix, expected",
    [
        ("a.item.item", [1, {"b": Decimal("2.5")}]),
        ("a.item", [[1, {"b": Decimal("2.5")}]]),
        ("n", [{"k": None, "l": {"m": [True]}}]),
        ("n.l.m.item", [True]),
        (".item", ["x", []]),
        ("nothing", []),
    ],
)
def test_items(prefix: str, expected: list[Any], size: int) -> None:
    assert list(ijson.items(io.BytesIO(TEXT), prefix, buf_size=size)) == expected


@pytest.mark.parametrize("size", SIZES)
def test_kvitems(size: int) -> None:
    pairs = list(ijson.kvitems(io.BytesIO(TEXT), "n", buf_size=size))
    assert pairs == [("k", None), ("l", {"m": [True]})]
    assert dict(ijson.kvitems(TEXT, "", use_float=True))["a"] == {"item": [1, {"b": 2.5}]}
    assert list(ijson.kvitems(TEXT, "a.item.item")) == [("b", Decimal("2.5"))]


def test_asynchronous_files() -> None:
    async def read() -> tuple[list[Any], ...]:
        return (
            [event async for event in ijson.parse(AsyncFile(TEXT), buf_size=3)],
            [event async for event in ijson.basic_parse(AsyncFile(TEXT))],
            [item async for item in ijson.items(AsyncFile(TEXT), "a.item.item.b", use_float=True)],
            [pair async for pair in ijson.kvitems(AsyncFile(TEXT), "n.l")],
        )

    events, plain, items, pairs = asyncio.run(read())
    assert events == EVENTS
    assert plain == [event[1:] for event in EVENTS]
    assert items == [2.5]
    assert pairs == [("m", [True])]


def test_options_and_sources() -> None:
    mapping = list(ijson.items(TEXT.decode(), "n", map_type=OrderedDict))[0]
    assert type(mapping) is OrderedDict and type(mapping["l"]) is OrderedDict
    assert list(ijson.items(b"1 [2] 3", "", multiple_values=True)) == [1, [2], 3]
    assert list(ijson.items(io.StringIO("[1, 2]"), "item")) == [1, 2]
    with pytest.raises(ValueError, match="Unknown source type"):
        ijson.items(5, "item")
    with pytest.raises(ijson.JSONError, match="1e400"):
        list(ijson.items(b"[1e400]", "item", use_float=True))
    with pytest.raises(ValueError, match="comments are not supported"):
        ijson.parse(b"[]", allow_comments=True)
    with pytest.raises(TypeError, match="has no option colour"):
        ijson.parse(b"[]", colour=1)


@pytest.mark.parametrize(
    "text, before, error",
    [
        (b"[1, 2", [1], ijson.IncompleteJSONError),
        (b"", [], ijson.IncompleteJSONError),
        (b"[1, 2 x", [1, 2], ijson.JSONError),
        (b"[1] 2", [1], ijson.JSONError),
        (b'["\xc3\x28"]', [], ijson.JSONError),
    ],
)
def test_what_is_good_comes_before_the_error(
    text: bytes, before: list[Any], error: type[Exception]
) -> None:
    items = ijson.items(io.BytesIO(text), "item")
    read = []
    with pytest.raises(error):
        for item in items:
            read.append(item)
    assert read == before
