"""Any source → records: a provider's events as JSON, pieces of text, or your own events.

The log holds what the source sent; each reader's format interprets it. NaN and infinity, which JSON
lacks, become null.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from codecs import getincrementaldecoder
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing, suppress
from contextvars import copy_context
from inspect import isasyncgenfunction, isawaitable, iscoroutinefunction
from typing import Any, Final

from pydantic_core import to_json

from jsonrill.driver import drive
from jsonrill.errors import CutShort, InvalidJSON
from jsonrill.eventstream import is_event_stream, is_lines
from jsonrill.jsontext import dumps
from jsonrill.pipeline import Stage
from jsonrill.providers import recognise
from jsonrill.providers.objects import as_data
from jsonrill.sources.events import EventText
from jsonrill.sources.opening import Opened, open_source

from .records import Input, Record

_TEXT: Final = (str, bytes, bytearray, memoryview)
# An object that has one of these is a source, though it may be callable, too.
_SOURCE_METHODS: Final = ("__iter__", "__aiter__", "read")
_CONSTANTS: Final = re.compile("NaN|Infinity")
# A thread that reads a source pauses while this many elements wait for the event loop.
_MAX_PENDING: Final = 1000


def check_source(source: Any) -> None:
    """Raise `TypeError` unless this is a source or a function that may return one."""
    if not (_is_factory(source) or isawaitable(source)):
        open_source(source)


async def records_of(
    source: Any, input: Input | None = None, *, sse: bool = False
) -> AsyncGenerator[list[Record]]:
    """Yield the records of a source, or of the source that a function returns; then close it.

    A source that is not async is read in a thread.
    """
    source = await _resolve(source)
    items = drive(_Records(input, sse), source)
    if not isinstance(items, AsyncGenerator):
        items = _read_in_thread(items, source)
    async with aclosing(items):
        async for record in items:
            yield [record]


class _Records(Stage):
    """Elements of a source → records."""

    def __init__(self, input: Input | None, sse: bool) -> None:
        self._input = input
        self._sse = sse
        self._utf8: Any = getincrementaldecoder("utf-8")("replace")
        self._text: EventText | None = None

    def open(self, source: Opened) -> None:
        sse = self._sse or is_event_stream(source.content_type)
        if sse or is_lines(source.content_type):
            self._text = EventText(sse=sse)

    def feed(self, element: Any) -> Iterable[Record]:
        if not isinstance(element, _TEXT):
            input: Input = "snapshots" if self._input == "snapshots" else "events"
            yield Record(input, _json(element))
        elif self._text is not None:
            for text in self._text.feed(element if isinstance(element, str) else bytes(element)):
                yield self._event(text)
        elif text := element if isinstance(element, str) else self._utf8.decode(bytes(element)):
            yield Record("text", text) if self._input is None else self._event(text)

    def flush(self, cut: CutShort | None = None) -> Iterable[Record]:
        for text in () if self._text is None else self._text.flush():
            yield self._event(text)
        if rest := self._utf8.decode(b"", True):
            yield Record("text", rest)

    def _event(self, text: str) -> Record:
        """Return the record of a JSON text; of an event that is something else, as a string."""
        input = self._input or "events"
        if input == "text":
            return Record(input, text)
        try:
            value = json.loads(text, parse_constant=lambda name: None)
        except (ValueError, RecursionError) as error:
            if input == "snapshots":
                raise InvalidJSON(f"a snapshot is not JSON: {error}") from error
            return Record(input, dumps(text))
        return Record(input, dumps(value) if _CONSTANTS.search(text) else text)


def _json(item: Any) -> str:
    """Return the JSON text of an event: a provider's, or one of the program's own."""
    if hasattr(item, "to_dict"):
        item = item.to_dict()
    elif type(item) is not dict and recognise(item) is not None:
        item = as_data(item)
    try:
        return dumps(item, finite=True)
    except TypeError:  # models, dates or bytes in it
        return to_json(item, bytes_mode="base64", inf_nan_mode="null").decode()


def _is_factory(source: Any) -> bool:
    return callable(source) and not any(hasattr(source, name) for name in _SOURCE_METHODS)


async def _resolve(source: Any) -> Any:
    """Return the source itself, or the result of a function or coroutine."""
    if _is_factory(source):
        return await call(source)
    return await source if isawaitable(source) else source


async def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function: in a thread, since it may block, unless it is async."""
    if iscoroutinefunction(function) or isasyncgenfunction(function):
        result = function(*arguments)
    else:
        result = await asyncio.to_thread(function, *arguments)
    return await result if isawaitable(result) else result


async def _read_in_thread(items: Iterator[Any], owner: Any) -> AsyncGenerator[Any]:
    """Yield the items of an iterator that blocks, from a thread of its own.

    In a pool, many waiting sources would leave no thread for others.
    """
    loop = asyncio.get_running_loop()
    # Lists of one item; an empty one is the end.
    queue: asyncio.Queue[list[Any]] = asyncio.Queue()
    slots = threading.Semaphore(_MAX_PENDING)
    is_stopped = threading.Event()
    errors: list[BaseException] = []

    def put(entry: list[Any]) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(queue.put_nowait, entry)

    def run() -> None:
        try:
            for item in items:
                slots.acquire()
                if is_stopped.is_set():
                    break
                put([item])
        except BaseException as error:
            errors.append(error)
        _close_quietly(items)
        put([])

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    try:
        while entry := await queue.get():
            slots.release()
            yield entry[0]
        for error in errors:  # SystemExit would end the event loop
            raise error if isinstance(error, Exception) else RuntimeError(repr(error))
    finally:
        is_stopped.set()
        slots.release()
        # A call that blocks ends when its connection is closed.
        threading.Thread(target=_close_quietly, args=(owner,), daemon=True).start()


def _close_quietly(source: Any) -> None:
    close: Callable[[], object] | None = getattr(source, "close", None)
    if close is not None:
        with suppress(Exception):
            close()
