"""What can be iterated of a source: its elements, or its text in blocks as it arrives.

No library is imported for that: files, pipes and responses are known by their methods.
"""

from __future__ import annotations

import io
import os
import sys
from codecs import getincrementaldecoder
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Final

from .sources import Opened
from .sources.failures import ACCEPTED, described, refuse_complete

_BLOCK: Final = 1 << 16
_GENAI: Final = {"google", "genai"}
# Where streams of LiteLLM have what they read from.
_INSIDE: Final = ("completion_stream", "streaming_response")


def open_source(source: Any, *, in_blocks: bool = True) -> Opened:
    """The elements of a source; `TypeError` with the remedy for what is none.

    Files and responses are read in blocks, unless they are to be iterated as they are.
    """
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        return Opened((source,), None)
    if isinstance(source, (list, tuple, Generator, AsyncGenerator)):
        return Opened(source, source)
    if isinstance(source, Mapping):
        # A response of Bedrock is a dict that holds its stream; any other mapping is one event.
        inner = next(filter(_is_stream, map(source.get, ("stream", "body"))), None)
        if inner is None:
            refuse_complete(source)
            return Opened((source,), None)
        return open_source(inner)
    if hasattr(source, "model_dump") and not isinstance(source, type):
        refuse_complete(source)
        return Opened((source,), None)  # an event, though iterable
    _refuse_unopened(source)
    blocks = _blocks_of(source) if in_blocks else None
    if blocks is not None:
        standard = source is sys.stdin or source is getattr(sys.stdin, "buffer", None)
        return Opened(blocks, None if standard else source, _media(source), _failure(source))
    if isinstance(source, (AsyncIterable, Iterable)) and not isinstance(source, type):
        if _goes_both_ways(source) and not _is_async_inside(source):
            return Opened(_sync_elements(source), None)
        return Opened(source, source)
    raise TypeError(f"a source is {ACCEPTED}, or an iterable of these, not {_hint(source)}")


# ---- streams of LiteLLM, which can be iterated both ways, but work one way only ----


def _goes_both_ways(source: Any) -> bool:
    return isinstance(source, AsyncIterable) and isinstance(source, Iterable)


def _is_async_inside(source: Any) -> bool:
    """True if what a stream reads from is async, or nothing tells."""
    *_, last = _streams_inside(source)
    if not _goes_both_ways(last):
        return isinstance(last, AsyncIterable)
    # One that makes its request later has the function that makes it.
    if callable(make := getattr(last, "make_call", None)):
        return iscoroutinefunction(make)
    return True


def _streams_inside(source: Any) -> Iterator[Any]:
    """The stream, the one that it reads from, and so on."""
    inside = source
    while inside is not None:
        yield inside
        inner = (getattr(inside, name, None) for name in _INSIDE)
        inside = next((it for it in inner if it is not None), None)


def _sync_elements(source: Any) -> Iterator[Any]:
    """The elements; afterwards what they were read from is closed, since the stream has no way."""
    try:
        yield from iter(source)
    finally:
        methods = (getattr(it, "close", None) for it in _streams_inside(source))
        if (close := next(filter(callable, methods), None)) is not None:
            close()


def _is_stream(inner: Any) -> bool:
    return isinstance(inner, Iterable | AsyncIterable) and not isinstance(inner, str | Mapping)


def _refuse_unopened(source: Any) -> None:
    """`TypeError` for what becomes a source by `await` or `with`."""
    name = type(source).__qualname__
    if isawaitable(source):
        close = getattr(source, "close", None)
        if callable(close) and hasattr(source, "cr_frame"):
            close()  # else the interpreter would warn that it was never awaited
        raise TypeError(f"this {name} has not been awaited: pass `await` and the call, as a source")
    if isinstance(source, Iterable | AsyncIterable | os.PathLike) or hasattr(source, "read"):
        return
    word = "with" if hasattr(source, "__enter__") else "async with"
    if hasattr(source, "__enter__") or hasattr(source, "__aenter__"):
        if getattr(source, "stdout", None) is None:
            raise TypeError(
                f"{name} opens a stream and is none: use `{word} ... as stream:` and pass stream"
            )


def _hint(source: Any) -> str:
    """What the source is, and what to do about it."""
    if isinstance(source, os.PathLike):
        return f"{described(source)}: open the file, and pass that"
    if hasattr(source, "stdout"):
        return f"{described(source)}: pass its stdout"
    if callable(source):
        return f"{described(source)}: call it, and pass what it returns"
    return described(source)


def inner_streams(owner: Any) -> list[Any]:
    """The generators that a generator reads and does not close: those of google-genai.

    It has its response in a circle of references with them, and closes it when they end: without
    the garbage collector the connection stays open, and the model goes on writing.
    """
    inner: list[Any] = []
    todo = [owner] if _is_genai(owner) else []
    while todo:
        for it in _held_by(todo.pop()):
            if _is_genai(it) and it is not owner and it not in inner:
                inner.append(it)
                todo.append(it)
            elif _is_response(it):
                todo.append(it)
    return inner


def _held_by(it: Any) -> list[Any]:
    """The variables of a generator, or the attributes of a response."""
    held = it.ag_frame and it.ag_frame.f_locals if hasattr(it, "ag_frame") else vars(it)
    return [*(held or {}).values()]


def _is_genai(it: Any) -> bool:
    code = getattr(it, "ag_code", None)
    return code is not None and _GENAI <= {*code.co_filename.replace("\\", "/").split("/")}


def _is_response(it: Any) -> bool:
    return type(it).__name__ == "HttpResponse" and type(it).__module__.startswith("google.genai")


# ---- something to read from ----


def _blocks_of(source: Any) -> Iterable[Any] | AsyncIterable[Any] | None:
    """The text of a file, a pipe or a response in blocks; None if it is none of them."""
    if hasattr(source, "iter_bytes") and hasattr(source, "aiter_bytes"):  # httpx
        is_async = not isinstance(getattr(source, "stream", ()), Iterable)
        return source.aiter_bytes() if is_async else source.iter_bytes()  # type: ignore[no-any-return]
    if hasattr(source, "http_response"):  # the raw responses of SDKs
        return _blocks_of(source.http_response)
    if hasattr(source, "iter_content") and hasattr(source, "raw"):
        return _of_requests(source)
    content: Any = getattr(source, "content", None)
    if hasattr(content, "iter_any"):  # aiohttp
        return content.iter_any()  # type: ignore[no-any-return]
    read = getattr(source, "read", None)
    if not callable(read):
        return None
    if iscoroutinefunction(read):
        return _async_blocks(read)
    if callable(getattr(source, "read1", None)):
        return _blocks(source.read1, source)
    return _of_text(source) or _blocks(read, source)


def _blocks(read: Callable[[int], Any], source: Any) -> Iterator[Any]:
    while block := read(_BLOCK):
        yield block
    if block is None:
        raise BlockingIOError("the source does not block, and has no data now")
    # http.client does not report that a body is shorter than was announced.
    missing = getattr(source, "length", None)
    if type(missing) is int and missing > 0 and hasattr(source, "chunked"):
        from http.client import IncompleteRead

        raise IncompleteRead(b"", missing)


async def _async_blocks(read: Callable[[int], Any]) -> AsyncIterator[Any]:
    while block := await read(_BLOCK):
        yield block


def _of_text(source: Any) -> Iterator[Any] | None:
    """The blocks of a text file that is a pipe, whose `read` would wait for a full block."""
    seekable: Any = getattr(source, "seekable", None)
    buffer: Any = getattr(source, "buffer", None)
    if buffer is None or not callable(seekable) or seekable():
        return None
    read = buffer.read if isinstance(buffer, io.RawIOBase) else buffer.read1
    try:
        source.reconfigure(errors=source.errors)
    except io.UnsupportedOperation:
        # Text was read before, and more of it may wait in the file object, which does not tell.
        return _blocks(lambda size: source.read(1), source)
    if source.encoding.lower().replace("_", "-") in ("utf-8", "utf8") and source.errors == "strict":
        return _blocks(read, source)
    return _decoded(_blocks(read, source), source.encoding, source.errors)


def _decoded(blocks: Iterator[bytes], encoding: str, errors: str) -> Iterator[str]:
    decoder = getincrementaldecoder(encoding)(errors)
    for block in blocks:
        yield decoder.decode(block)
    yield decoder.decode(b"", True)


def _of_requests(source: Any) -> Iterator[Any]:
    """The body of a `requests.Response`.

    Its `iter_content(None)` yields chunks as they arrive, or a body that has been read; of one that
    is not chunked it would read everything first.
    """
    raw = source.raw
    if getattr(raw, "chunked", False) or getattr(raw, "closed", True) or not _has_read1(raw):
        return source.iter_content(None)  # type: ignore[no-any-return]
    return _blocks(lambda size: raw.read1(size, decode_content=True), None)


def _has_read1(raw: Any) -> bool:
    return hasattr(raw, "read1") and hasattr(raw, "decode_content")


# ---- responses ----


def _media(source: Any) -> str:
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
