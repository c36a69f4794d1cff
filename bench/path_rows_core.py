"""Rows of the whole path from text to values and updates, and the floor of each.

A row reads a text in pieces as a user's program would and looks after each piece. Its floor is the
cheapest program that makes the same objects for the same pieces, written in Python: what is between
the two is what jsonrill costs.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from .measure import resident

Read = Callable[[Sequence[str]], object]

# One event of a chat completion, as it arrives for each token.
CHUNK: Final = json.dumps(
    {
        "id": "chatcmpl-8s1f2Q0cGkT0vJb3mWZr4nXyL5aPd",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "gpt-4o-2024-08-06",
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
        "choices": [
            {"index": 0, "delta": {"content": " text"}, "logprobs": None, "finish_reason": None}
        ],
        "usage": None,
    },
    separators=(",", ":"),
)


def rows(jsonrill: Any, model: type[Any]) -> dict[str, Read]:
    """Each row's work with this build of jsonrill; `model` is a pydantic type of the text."""
    json_schema = model.model_json_schema()

    def live(pieces: Sequence[str]) -> None:
        document = jsonrill.Document()
        for piece in pieces:
            document.feed(piece)
            document.live  # noqa: B018

    def values(pieces: Sequence[str]) -> None:
        for _ in jsonrill.values(pieces):
            pass

    def live_values(pieces: Sequence[str]) -> None:
        for _ in jsonrill.values(pieces, live=True):
            pass

    def typed_values(pieces: Sequence[str]) -> None:
        for _ in jsonrill.values(pieces, model):
            pass

    def updates(schema: Any, field: str) -> Read:
        send = "delta" if field == "delta" else "data"

        def read(pieces: Sequence[str]) -> None:
            stream = jsonrill.PartialStream("REALTIME", send=send, schema=schema)
            for piece in pieces:
                for update in stream.feed(piece):
                    getattr(update, field)

        return read

    return {
        "`Document.live`": live,
        "`values()`": values,
        "`values(live=True)`": live_values,
        "`values()`, pydantic": typed_values,
        "updates, deltas": updates(None, "delta"),
        "updates, deltas, pydantic": updates(model, "delta"),
        "updates, deltas, JSON Schema": updates(json_schema, "delta"),
        "updates, models": updates(model, "model"),
    }


def floors() -> dict[str, Read]:
    """The cheapest programs that make the same objects, by the rows they belong to."""

    def live(pieces: Sequence[str]) -> None:
        value = {"a": ""}
        for piece in pieces:
            text = value["a"]
            value["a"] = ""
            text += piece
            value["a"] = text

    def copied(pieces: Sequence[str]) -> None:
        for _ in _copies(pieces):
            pass

    def deltas(pieces: Sequence[str]) -> None:
        for piece in pieces:
            update = _Update(None, "PARTIAL")
            update.delta = [{"op": "append", "path": "/sections/0/body", "value": piece}]

    def models(pieces: Sequence[str]) -> None:
        for value in _copies(pieces):
            section, report = _Model(), _Model()
            section.__dict__ = value["sections"][-1]
            section.names = {"id", "heading", "body"}
            report.__dict__ = value
            report.names = {"title", "summary", "language", "sections"}

    return {
        "`Document.live`": live,
        "`values()`": copied,
        "`values()`, pydantic": models,
        "updates, deltas": deltas,
        "updates, models": models,
    }


def _copies(pieces: Sequence[str]) -> Any:
    """An object in a list in an object, copied for each piece with one more piece of text."""
    section: Any = {"id": 1, "heading": "a", "body": ""}
    root: Any = {"title": "a", "summary": "b", "language": "en", "sections": [section] * 20}
    for piece in pieces:
        section = section.copy()
        section["body"] += piece
        sections = root["sections"].copy()
        sections[-1] = section
        root = root.copy()
        root["sections"] = sections
        yield root


class _Model:
    """An instance of a class: its fields in a dict, and the names of those that have come."""

    __slots__ = ("__dict__", "names")

    def __init__(self) -> None:
        self.names: Any = None


class _Update:
    __slots__ = ("delta", "entity", "status")

    def __init__(self, entity: Any, status: str) -> None:
        self.entity = entity
        self.status = status
        self.delta: Any = None


def interleaved_streams(
    jsonrill: Any, model: type[Any], pieces: Sequence[str], count: int
) -> tuple[Callable[[], None], Callable[[], float]]:
    """Many streams with a schema, a piece of each in turn: the work, and bytes for each stream."""

    def read() -> list[Any]:
        streams = [jsonrill.PartialStream(send="delta", schema=model) for _ in range(count)]
        for piece in pieces:
            for stream in streams:
                for update in stream.feed(piece):
                    update.delta  # noqa: B018
        return streams

    def memory() -> float:
        gc.collect()
        before = resident()
        streams = read()
        gc.collect()
        return (resident() - before) / len(streams)

    return lambda: None if read() else None, memory
