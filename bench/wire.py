"""How many bytes it takes to keep a receiver up to date, for each way of sending.

Every event is one of a server-sent stream, `data: …` and a blank line; `id:` lines are not counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from .shapes import pieces


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sse(payloads: Iterable[Any]) -> int:
    return sum(len(f"data: {dumps(payload)}\n\n".encode()) for payload in payloads)


def sizes(jsonrill: Any, text: str) -> dict[str, float]:
    """Bytes sent ÷ bytes of text, by way of sending."""
    ways = {
        "compact fragments, an event for each token": _compact(jsonrill, text, 4),
        "compact fragments, coalesced to 64 characters": _compact(jsonrill, text, 64),
        "full fragments, an event for each token": _full(jsonrill, text, 4),
        "the tokens themselves": pieces(text),
        "JSON Patch (RFC 6902)": _patches(jsonrill, text),
        "the whole value each time": _snapshots(jsonrill, text),
    }
    length = len(text.encode())
    return {way: sse(payloads) / length for way, payloads in ways.items()}


def _compact(jsonrill: Any, text: str, size: int) -> Iterator[Any]:
    parser, encoder = jsonrill.Parser(), jsonrill.wire.CompactEncoder()
    for piece in pieces(text, size):
        if items := encoder.feed(parser.feed(piece)):
            yield items


def _full(jsonrill: Any, text: str, size: int) -> Iterator[Any]:
    parser = jsonrill.Parser()
    for piece in pieces(text, size):
        if fragments := parser.feed(piece):
            yield [jsonrill.wire.to_wire(fragment) for fragment in fragments]


def _snapshots(jsonrill: Any, text: str) -> Iterator[Any]:
    return jsonrill.values(pieces(text))


def _patches(jsonrill: Any, text: str) -> Iterator[Any]:
    make_patch = import_module("jsonpatch").make_patch
    before: Any = None
    for value in jsonrill.values(pieces(text)):
        yield make_patch(before, value).patch
        before = value
