"""How to iterate a source: by its elements, or by blocks of text as they arrive.

Files, pipes and responses are recognised by their methods, so that no library is imported.
"""

from __future__ import annotations

import io
import os
import sys
from codecs import iterdecode
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Final, NamedTuple

from .explain import ACCEPTED, describe, refuse_complete

_BLOCK: Final = 1 << 16
TEXT: Final = (str, bytes, bytearray, memoryview)


class Opened(NamedTuple):
    """The elements of a source, and what is known about it before the first one."""

    # An iterable or an async iterable.
    elements: Any
    # The object to close when the loop is left early; None if there is none.
    owner: Any = None
    # The content type of a response, and its status and reason if it is an error.
    content_type: str = ""
    failure: tuple[int, str] | None = None


def open_source(source: Any, *, in_blocks: bool = True) -> Opened:
    """Return the elements of a source; raise `TypeError` with a hint for anything else.

    Without `in_blocks` a file is iterated as it is, by lines.
    """
    if isinstance(source, TEXT):
        return Opened((source,))
    if isinstance(source, Mapping):
        return _open_mapping(source)
    if hasattr(source, "model_dump") and not isinstance(source, type):
        refuse_complete(source)
        return Opened((source,))  # an event, though pydantic models are iterable
    _refuse_unopened(source)
    if in_blocks:
        for matches, read_blocks in _BLOCK_READERS:
            if matches(source):
                return _open_blocks(source, read_blocks(source))
    if isinstance(source, (AsyncIterable, Iterable)) and not isinstance(source, type):
        if isinstance(source, AsyncIterable) and isinstance(source, Iterable):
            return _open_both_ways(source)
        return Opened(source, source)
    raise TypeError(f"a source must be {ACCEPTED}, or an iterable of these, not {_hint(source)}")


def _open_mapping(source: Mapping[str, Any]) -> Opened:
    """Open a response of Bedrock, which is a dict with a stream; any other mapping is one event."""
    for name in ("stream", "body"):
        inner = source.get(name)
        if isinstance(inner, (Iterable, AsyncIterable)) and not isinstance(inner, (str, Mapping)):
            return open_source(inner)
    refuse_complete(source)
    return Opened((source,))


def _open_blocks(source: Any, blocks: Any) -> Opened:
    is_stdin = source is sys.stdin or source is getattr(sys.stdin, "buffer", None)
    return Opened(blocks, None if is_stdin else source, _content_type(source), _failure(source))


# ---- files, pipes and responses ----


def _read_httpx(response: Any) -> Any:
    is_async = not isinstance(getattr(response, "stream", ()), Iterable)
    return response.aiter_bytes() if is_async else response.iter_bytes()


def _read_requests(response: Any) -> Any:
    """Read the body of a `requests.Response`.

    Its `iter_content(None)` yields chunks as they arrive, or a body that has been read. It would
    read a body that is not chunked to its end first, so that is read with `read1`.
    """
    raw = response.raw
    has_read1 = hasattr(raw, "read1") and hasattr(raw, "decode_content")
    if getattr(raw, "chunked", False) or getattr(raw, "closed", True) or not has_read1:
        return response.iter_content(None)
    return _blocks(lambda size: raw.read1(size, decode_content=True))


def _read_file(source: Any) -> Any:
    """Read a file, a pipe or a response of `http.client`; `read1` does not wait for a block."""
    if iscoroutinefunction(source.read):
        return _async_blocks(source.read)
    if callable(getattr(source, "read1", None)):
        return _blocks(source.read1)
    return _pipe_blocks(source) or _blocks(source.read)


# The sources that are read in blocks: how each kind is recognised, and how it is read.
_BLOCK_READERS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...]] = (
    (lambda obj: hasattr(obj, "iter_bytes") and hasattr(obj, "aiter_bytes"), _read_httpx),
    (lambda obj: hasattr(obj, "http_response"), lambda obj: _read_httpx(obj.http_response)),  # SDKs
    (lambda obj: hasattr(obj, "iter_content") and hasattr(obj, "raw"), _read_requests),
    (
        lambda obj: hasattr(getattr(obj, "content", None), "iter_any"),  # aiohttp
        lambda obj: obj.content.iter_any(),
    ),
    (lambda obj: callable(getattr(obj, "read", None)), _read_file),
)


def _blocks(read: Callable[[int], Any]) -> Iterator[Any]:
    while block := read(_BLOCK):
        yield block
    if block is None:
        raise BlockingIOError("the source does not block, and has no data now")


async def _async_blocks(read: Callable[[int], Any]) -> AsyncIterator[Any]:
    while block := await read(_BLOCK):
        yield block


def _pipe_blocks(source: Any) -> Iterator[Any] | None:
    """Return the blocks of a text file that is a pipe, whose `read` would wait for a full block."""
    seekable: Any = getattr(source, "seekable", None)
    buffer: Any = getattr(source, "buffer", None)
    if buffer is None or not callable(seekable) or seekable():
        return None
    try:
        source.reconfigure(errors=source.errors)
    except io.UnsupportedOperation:
        # Text was read before, and the file object may hold more of it.
        return _blocks(lambda size: source.read(1))
    read = buffer.read if isinstance(buffer, io.RawIOBase) else buffer.read1
    return iterdecode(_blocks(read), source.encoding, source.errors)


def _content_type(source: Any) -> str:
    get = getattr(getattr(source, "headers", None), "get", None)
    media = (get("content-type") or get("Content-Type")) if callable(get) else None
    return media if isinstance(media, str) else ""


def _failure(source: Any) -> tuple[int, str] | None:
    for name in ("status_code", "status"):
        status = getattr(source, name, None)
        if type(status) is int:
            reason = getattr(source, "reason_phrase", None) or getattr(source, "reason", None)
            return (status, str(reason or "")) if status >= 400 else None
    return None


# ---- streams with both iterator protocols, of which only one works: LiteLLM's ----


def _open_both_ways(source: Any) -> Opened:
    """Open a stream with the iterator protocol of the stream inside it, if there is one."""
    inner = source
    while below := _stream_inside(inner):
        inner = below
    make = getattr(inner, "make_call", None)  # makes the request with the first element
    if iscoroutinefunction(make) or (not callable(make) and isinstance(inner, AsyncIterable)):
        return Opened(source, source)
    # iter(): the elements must not look async; the stream inside is what can be closed.
    return Opened(iter(source), source if hasattr(source, "close") else inner)


def _stream_inside(source: Any) -> Any:
    names = ("completion_stream", "streaming_response")
    return next(filter(None, (getattr(source, name, None) for name in names)), None)


# ---- objects that are not sources ----


def _refuse_unopened(source: Any) -> None:
    """Raise `TypeError` for an object that is a source only after `await` or `with`."""
    name = type(source).__qualname__
    if isawaitable(source):
        close = getattr(source, "close", None)
        if callable(close):
            close()  # else the interpreter would warn that it was never awaited
        raise TypeError(f"this {name} was not awaited: pass `await call(...)`, not `call(...)`")
    if isinstance(source, Iterable | AsyncIterable | os.PathLike) or hasattr(source, "read"):
        return
    for method, word in (("__enter__", "with"), ("__aenter__", "async with")):
        if hasattr(source, method) and getattr(source, "stdout", None) is None:
            raise TypeError(
                f"{name} opens a stream and is not one: use `{word} ... as stream:` and pass stream"
            )


def _hint(source: Any) -> str:
    hint = ""
    if isinstance(source, os.PathLike):
        hint = ": open the file, and pass that"
    elif hasattr(source, "stdout"):
        hint = ": pass its stdout"
    elif callable(source):
        hint = ": call it, and pass what it returns"
    return describe(source) + hint
