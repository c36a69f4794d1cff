"""Other libraries, each as a function that reads pieces and has a value after every piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Final

Read = Callable[[Sequence[str]], object]


def _reparse(parse: Callable[[str], Any]) -> Read:
    """Parse all the text so far again after each piece, as libraries without state need it."""

    def read(pieces: Sequence[str]) -> None:
        text = ""
        for piece in pieces:
            text += piece
            parse(text)

    return read


def _streaming_json_parser() -> Read:
    parser_class = import_module("streaming_json_parser").StreamingJsonParser

    def read(pieces: Sequence[str]) -> None:
        parser = parser_class()
        for piece in pieces:
            parser.feed(piece).value  # noqa: B018

    return read


def _jsonriver() -> Read:
    parse = import_module("jsonriver").parse

    async def drain(pieces: Sequence[str]) -> None:
        async def source() -> AsyncIterator[str]:
            for piece in pieces:
                yield piece

        async for _ in parse(source()):
            pass

    return lambda pieces: asyncio.run(drain(pieces))


def _ijson() -> Read:
    ijson = import_module("ijson")
    parse = ijson.get_backend("yajl2_c").basic_parse_coro
    builder_class = import_module("ijson.common").ObjectBuilder

    def read(pieces: Sequence[str]) -> None:
        events, builder = ijson.sendable_list(), builder_class()
        parser = parse(events, use_float=True)
        for piece in pieces:
            parser.send(piece.encode())
            for event, value in events:
                builder.event(event, value)
            del events[:]

    return read


def _jiter() -> Read:
    from_json = import_module("jiter").from_json

    def read(pieces: Sequence[str]) -> None:
        data = b""
        for piece in pieces:
            data += piece.encode()
            from_json(data, partial_mode="trailing-strings")

    return read


RIVALS: Final[dict[str, Callable[[], Read]]] = {
    "streaming-json-parser (Rust)": _streaming_json_parser,
    "ijson (C)": _ijson,
    "jsonriver": _jsonriver,
    "jiter": _jiter,
    "pydantic_core": lambda: _reparse(
        partial(import_module("pydantic_core").from_json, allow_partial="trailing-strings")
    ),
    "partial-json-parser": lambda: _reparse(import_module("partial_json_parser").loads),
    "LangChain": lambda: _reparse(import_module("langchain_core.utils.json").parse_partial_json),
    "json_repair": lambda: _reparse(
        partial(import_module("json_repair").loads, stream_stable=True)
    ),
}


def installed() -> Iterator[tuple[str, Read]]:
    for name, make in RIVALS.items():
        try:
            yield name, make()
        except ModuleNotFoundError as error:
            print(f"  without {name}: {error}")


def instructor(model: type) -> Read:
    """Return instructor's reader of partial models."""
    partial_model = import_module("instructor.dsl.partial").Partial[model]

    def read(pieces: Sequence[str]) -> None:
        for _ in partial_model.model_from_chunks(pieces):
            pass

    return read
