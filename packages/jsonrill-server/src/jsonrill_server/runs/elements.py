"""Any source → records: the events of a provider, pieces of text, or events of one's own.

What is logged is what came: an event as the JSON that its provider sent, a model as the JSON that
it is. NaN and infinity, which JSON does not have, are null. Nothing is read out of it here; that is
done for each reader, in the format it asks for.
"""

from __future__ import annotations

import base64
import json
import re
from codecs import getincrementaldecoder
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
    Set,
)
from contextlib import aclosing, suppress
from dataclasses import fields, is_dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from inspect import isasyncgenfunction, isawaitable, iscoroutinefunction
from typing import Any, Final

from jsonrill.answer_parts import Part
from jsonrill.driver import drive
from jsonrill.errors import CutShort, JsonrillError, SourceFailed, stream_error
from jsonrill.eventstream import event_data, is_event_stream, is_lines
from jsonrill.jsontext import dumps, without_constants
from jsonrill.pipeline import Pipe, Stage
from jsonrill.providers import recognise
from jsonrill.providers.objects import as_data
from jsonrill.sources.events import EventText
from jsonrill.sources.opening import Opened, open_source

from .producer import Failed
from .records import End, Input, Record
from .threads import call_in_thread, in_thread

_TEXT: Final = (str, bytes, bytearray, memoryview)
# What has one of these is a source, though it may be callable, too.
_NOT_CALLED: Final = ("__iter__", "__aiter__", "read")
_PLAIN: Final = (dict, list, int, float, bool, type(None))
# How writers of JSON show numbers that it does not have.
_NOT_FINITE: Final = re.compile("NaN|Infinity|1e999")


async def records_of(
    source: Any, input: Input | None = None, *, sse: bool = False
) -> AsyncGenerator[list[Record]]:
    """Yield the records of a source, or of what a function returns, as they come.

    A source that is not async is read in a thread. Bad data, and an error response, are `Failed`.
    """
    try:
        source = await called(source)
        items = records(source, input, sse=sse)
        if isinstance(items, AsyncIterable):
            async with aclosing(items):  # type: ignore[type-var]
                async for record in items:
                    yield [record]
        else:
            close = getattr(source, "close", None)
            async with aclosing(in_thread(items, close)) as batches:
                async for batch in batches:
                    yield batch
    except (SourceFailed, ValueError) as error:
        if not isinstance(error, JsonrillError):
            raise
        problem = stream_error(error)
        raise Failed(End("error", problem["code"], problem["message"])) from error


def records(source: Any, input: Input | None = None, *, sse: bool = False) -> Any:
    """Yield the records of a source, sync or async as it is."""
    return drive(Pipe(_Reader(sse), _Stage(input)), source)


def check(source: Any) -> None:
    """`TypeError` with the remedy for what is no source, nor makes one when it is called."""
    if not (_is_called(source) or isawaitable(source)):
        open_source(source)


def _is_called(source: Any) -> bool:
    return callable(source) and not any(hasattr(source, name) for name in _NOT_CALLED)


async def called(source: Any) -> Any:
    """The source itself; of a function what it returns, of a coroutine its result.

    A function may send a request and wait for its answer, so it is called in a thread, unless it
    can only be called in the event loop.
    """
    if _is_called(source):
        if iscoroutinefunction(source) or isasyncgenfunction(source):
            source = source()
        else:
            try:
                source = await call_in_thread(source)
            except RuntimeError as error:
                if "no running event loop" not in str(error):
                    raise
                source = source()
    return await source if isawaitable(source) else source


class _Reader(Stage):
    """Decodes text that is said to hold events; everything else goes on as it is."""

    def __init__(self, sse: bool) -> None:
        self._sse = sse
        self._text: EventText | None = None

    def open(self, source: Opened) -> None:
        sse = self._sse or is_event_stream(source.content_type)
        if sse or is_lines(source.content_type):
            self._text = EventText(sse=sse)

    def feed(self, element: Any) -> Iterable[Any]:
        if self._text is None or not isinstance(element, _TEXT):
            return (element,)
        return map(_Json, self._text.feed(element if isinstance(element, str) else bytes(element)))

    def flush(self, cut: CutShort | None = None) -> Iterable[Any]:
        return () if self._text is None else map(_Json, self._text.flush())


class _Json(str):
    """The JSON text of an event, in contrast to a piece of text."""

    __slots__ = ()


class _Stage(Stage):
    """Elements → records."""

    def __init__(self, input: Input | None) -> None:
        self._input = input
        self._utf8: Any = getincrementaldecoder("utf-8")("replace")
        # Packages whose objects are a provider's events.
        self._providers: set[str] = set()

    def feed(self, piece: Any) -> list[Record]:
        if isinstance(piece, _Json):
            return [Record(self._input or "events", without_constants(piece))]
        if isinstance(piece, _TEXT):
            text = piece if isinstance(piece, str) else self._utf8.decode(bytes(piece))
            return [Record(self._input or "text", text)] if text else []
        input: Input = "snapshots" if self._input == "snapshots" else "events"
        return [Record(input, self._json(piece))]

    def flush(self, cut: CutShort | None = None) -> list[Record]:
        rest = self._utf8.decode(b"", True)
        return [Record("text", rest)] if rest else []

    def _json(self, item: Any) -> str:
        if isinstance(item, _PLAIN):
            return _dumps(item)
        if isinstance(item, Part):
            return _dumps(item.to_dict())
        package = type(item).__module__.partition(".")[0]
        if package not in self._providers and recognise(item) is None:
            return _own(item)
        # A tuple is one of a framework's events; its package is that of no provider.
        if package != "builtins":
            self._providers.add(package)
        return _dumps(as_data(item))


def _own(item: Any) -> str:
    """The JSON text of an event that is no provider's: as it would be sent without a run."""
    if not isinstance(item, tuple | Mapping):
        with suppress(TypeError, ValueError):  # bytes in it, for instance
            text = event_data(item)
            if not _NOT_FINITE.search(text):
                return text
    return dumps(_jsonable(item, _refuse), finite=True)


def _dumps(value: Any) -> str:
    """The JSON text of a plain value: a provider's event, or one of the program's own."""
    try:
        return dumps(value, finite=True)
    except TypeError:  # models, dates or bytes in it
        known = isinstance(value, dict) and recognise(value) is not None
        return dumps(_jsonable(value, _as_a_provider if known else _refuse), finite=True)


def _jsonable(value: Any, other: Callable[[Any], Any]) -> Any:
    """The value as JSON has it: bytes as base64, which is how providers write them.

    `other` reads objects that have no form of their own in JSON.
    """
    if value is None or isinstance(value, str | int | float | Decimal):
        return value
    if isinstance(value, Enum):
        return _jsonable(value.value, other)
    if isinstance(value, Mapping):
        return {
            _jsonable(key, other) if isinstance(key, Enum) else key: _jsonable(item, other)
            for key, item in value.items()
        }
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    if isinstance(value, Sequence | Set):
        return [_jsonable(item, other) for item in value]
    if isinstance(value, date | time):
        return value.isoformat()
    return _jsonable(other(value), other)


def _as_a_provider(value: Any) -> Any:
    """The content of an object in a provider's event, read as the event itself is."""
    data = as_data(value)
    return str(value) if data is None or data is value else data


def _refuse(value: Any) -> Any:
    """The content of an object in an event of the program's own, complete; else `TypeError`."""
    kind = type(value)
    if not isinstance(value, type):
        if callable(write := getattr(value, "model_dump_json", None)):
            try:
                return json.loads(write())
            except (TypeError, ValueError):  # bytes that are no text
                return value.model_dump()
        if callable(to_dict := getattr(value, "to_dict", None)):
            return to_dict()
        if is_dataclass(value):
            return {field.name: getattr(value, field.name) for field in fields(value)}
        if public := {name: it for name, it in _vars(value).items() if name[:1] != "_"}:
            return public
        written = any("__str__" in vars(it) for it in kind.__mro__[:-1])
        if written and not isinstance(value, BaseException):
            return _text(value)
    raise TypeError(
        f"an event of a run is JSON, a model or a dataclass, not {kind.__module__}.{kind.__name__}:"
        " yield a dict of what readers should see"
    )


def _vars(value: Any) -> dict[str, Any]:
    members: dict[str, Any] = getattr(value, "__dict__", {})
    return members


def _text(value: Any) -> Any:
    """A time span, an address and the like, as pydantic writes it, else as Python does."""
    with suppress(ImportError, ValueError):
        from pydantic_core import to_jsonable_python

        return to_jsonable_python(value)
    return str(value)
