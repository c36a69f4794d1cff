"""Whatever reads text is gone with its last reference: nothing of it waits for the collector.

What waits takes memory, of a large schema much, and at last a full collection, which holds up all
other work of its process.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import ref

import pytest
from pydantic import BaseModel

import jsonrill
from jsonrill import JsonrillError, PartialStream

SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "pattern": "^x"},
        "b": {"type": "array", "items": {"type": "integer"}},
        "c": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
    },
    "required": ["a"],
}


class Model(BaseModel):
    a: str
    b: list[int] = []
    c: Model | None = None


TEXT = '{"a": "xyz", "b": [1, 2], "c": {"a": "x"}}'
TEXTS = {
    "whole": TEXT,
    "two": f"{TEXT}\n{TEXT}",
    "wrong": '{"a": "xyz", "b": [1, "2"], "c": {"a": "x"}}',
    "broken": '{"a": "xyz", "b": [1, 2}, "c": {}}',
    "sloppy": "Here: {a: 'xyz', b: [1, 2,], c: {'a': 'x'}",
}
READING: dict[str, dict[str, Any]] = {
    "plain": {},
    "schema": {"schema": SCHEMA},
    "model": {"schema": Model},
    "zeros": {"schema": Model, "missing": "zero"},
    "repair": {"repair": True},
    "repair by schema": {"repair": True, "schema": SCHEMA},
}
UPDATING: dict[str, dict[str, Any]] = {
    "entities": {"entity": "b[*]"},
    "only complete": {"only_complete": ["a", "b"]},
    "progressive": {"mode": "PROGRESSIVE", "schema": SCHEMA},
    "batch": {"mode": "BATCH", "schema": SCHEMA},
}
EVENTS = [
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call}]}}]}
    for call in (
        {"id": "c", "function": {"name": "f", "arguments": TEXT[:20]}},
        {"function": {"arguments": TEXT[20:]}},
    )
]


def pieces(text: str) -> list[str]:
    return [text[at : at + 5] for at in range(0, len(text), 5)]


def read_stream(text: str, **options: Any) -> None:
    stream = PartialStream(**options)
    for piece in pieces(text):
        for update in stream.feed(piece):
            update.to_dict()
    stream.flush()


def leave_stream(text: str, **options: Any) -> None:
    PartialStream(**options).feed(text[:-5])


def read_values(text: str, **options: Any) -> None:
    list(jsonrill.values(pieces(text), **options))


def leave_values(text: str, **options: Any) -> None:
    next(iter(jsonrill.values(pieces(text), **options)), None)


def left_by(work: Callable[[], object]) -> Counter[str]:
    """The objects of the package that are left after the work, by their types."""
    _do(work)  # once before, for what is kept for all: modules, caches
    gc.collect(0)
    gc.disable()
    try:
        _do(work)
        # All that was made since the collection is in this generation.
        kinds = Counter(map(type, gc.get_objects(generation=0)))
    finally:
        gc.enable()
    ours = {kind for kind in kinds if kind.__module__.startswith("jsonrill.")}
    return Counter({kind.__qualname__: kinds[kind] for kind in ours})


def _do(work: Callable[[], object]) -> None:
    with suppress(JsonrillError):
        work()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("options", READING)
@pytest.mark.parametrize("use", [read_stream, leave_stream, read_values, leave_values])
def test_nothing_is_left_of_what_was_read(
    use: Callable[..., None], options: str, text: str
) -> None:
    assert not left_by(lambda: use(TEXTS[text], **READING[options]))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("options", UPDATING)
@pytest.mark.parametrize("use", [read_stream, leave_stream])
def test_nothing_is_left_of_updates(use: Callable[..., None], options: str, text: str) -> None:
    assert not left_by(lambda: use(TEXTS[text], **UPDATING[options]))


@pytest.mark.parametrize(
    "work",
    {
        "loads": lambda: jsonrill.loads(TEXT, SCHEMA, repair=True),
        "partial": lambda: jsonrill.partial(TEXT[:20], SCHEMA, repair=True),
        "updates": lambda: list(jsonrill.updates(pieces(TEXT), schema=SCHEMA)),
        "select": lambda: list(jsonrill.select(pieces(TEXT), "b[*]", schema=SCHEMA)),
        "fields": lambda: list(jsonrill.fields(pieces(TEXT), schema=SCHEMA)),
        "fragments": lambda: list(jsonrill.fragments(pieces(TEXT))),
        "chunks": lambda: list(jsonrill.chunks([TEXT[:-1] + "}", TEXT])),
        "parts": lambda: list(jsonrill.parts(EVENTS)),
        "tool_calls": lambda: list(jsonrill.tool_calls(EVENTS, schemas={"f": SCHEMA})),
        "arguments": lambda: list(jsonrill.values(EVENTS, tool="f")),
    }.items(),
    ids=lambda item: item[0],
)
def test_nothing_is_left_of_a_function(work: tuple[str, Callable[[], object]]) -> None:
    assert not left_by(work[1])


def test_a_kept_update_does_not_keep_its_stream() -> None:
    stream = PartialStream(schema=SCHEMA)
    update = stream.feed(TEXT[:-5])[-1]
    weak = ref(stream)
    gc.disable()
    try:
        del stream
        assert weak() is None
    finally:
        gc.enable()
    assert update.data["a"] == "xyz"
