"""Anything → server-sent events."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from typing import Any, overload

from ..errors import (
    FieldNotFound,
    InvalidJSON,
    InvalidSchema,
    LimitExceeded,
    SourceFailed,
    stream_error,
)
from ..eventstream import CLOSE, ClientStream, SSEEncoder, encode_event
from ..partial_stream import Update
from .driving import END, drive


@overload
def sse(source: AsyncIterable[Any], *, retry: int | None = None) -> AsyncGenerator[bytes]: ...
@overload
def sse(source: Iterable[Any], *, retry: int | None = None) -> Generator[bytes]: ...
def sse(source: Any, *, retry: int | None = None) -> Any:
    """Yield the bytes of server-sent events: one for each update, part, value or text, then CLOSE.

    CLOSE comes in any case. If the source raises, an ERROR comes before it: for bad data with what
    is wrong, for anything else with the code SOURCE_FAILED, and the exception is logged. Bytes are
    complete events and pass as they are. What `to_ai_sdk` and `to_ag_ui` yield ends as their
    clients expect. When the client leaves (the generator is closed, or its task cancelled), the
    source is closed. `retry` is sent with the first event, in milliseconds.
    """
    if isinstance(source, (str, bytes, Mapping)):
        raise TypeError(f"sse() takes an iterable of updates, not {type(source).__name__}")
    framing = _Framing(retry)
    if isinstance(source, ClientStream):
        framing = _ForClient(retry, source.done)
    blocks = drive(framing.stage, source)
    return (_sse_async if isinstance(source, AsyncIterable) else _sse_sync)(blocks, framing)


class _Framing:
    """Items → the bytes of events; the last one is CLOSE, also after a failure."""

    def __init__(self, retry: int | None) -> None:
        self._encoder = SSEEncoder(retry=retry)

    def stage(self, item: Any) -> Iterator[bytes]:
        if item is END:
            yield from self._close()
        elif isinstance(item, bytes):
            if item.startswith(CLOSE):
                self._encoder.flush()  # nothing may come after it
            yield item
        else:
            yield self._encoder.feed(item)

    def fail(self, error: Exception) -> Iterator[bytes]:
        """The events that tell of an exception of the source."""
        if isinstance(error, (InvalidJSON, InvalidSchema, LimitExceeded, FieldNotFound)):
            shown = stream_error(error)
        else:
            _log("the source of an event stream failed", error)
            shown = SourceFailed("the source failed").to_dict()
        if not self._encoder.closed:
            yield self._encoder.feed(Update(None, "ERROR", error=shown))
        yield from self._close()

    def _close(self) -> Iterator[bytes]:
        if last := self._encoder.flush():
            yield last


class _ForClient(_Framing):
    """For clients of others: their own events tell of a failure, and of the end."""

    def __init__(self, retry: int | None, done: str | None) -> None:
        super().__init__(retry)
        self._done = done

    def fail(self, error: Exception) -> Iterator[bytes]:
        _log("the source of an event stream failed", error)
        yield from self._close()

    def _close(self) -> Iterator[bytes]:
        if self._done is not None:
            yield encode_event(self._done)


def _log(message: str, error: Exception) -> None:
    import logging  # which takes a while

    logging.getLogger("jsonrill").error(message, exc_info=error)


def _sse_sync(blocks: Generator[bytes], framing: _Framing) -> Iterator[bytes]:
    try:
        # With `yield from`, what closing the source raises would be taken for its failure.
        for block in blocks:  # noqa: UP028
            yield block
    except Exception as error:
        yield from framing.fail(error)
    finally:
        try:
            blocks.close()
        except Exception as error:
            _log("the source of an event stream could not be closed", error)


async def _sse_async(blocks: AsyncGenerator[bytes], framing: _Framing) -> AsyncIterator[bytes]:
    try:
        async for block in blocks:
            yield block
    except Exception as error:
        for block in framing.fail(error):
            yield block
    finally:
        try:
            await blocks.aclose()
        except Exception as error:
            _log("the source of an event stream could not be closed", error)
