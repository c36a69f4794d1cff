"""`unbroken`: asks, reads, and asks again when an answer breaks off."""

from __future__ import annotations

import asyncio
from codecs import getincrementaldecoder
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from contextlib import suppress
from inspect import isasyncgenfunction, isawaitable, iscoroutinefunction
from queue import Empty, SimpleQueue
from threading import Thread
from time import sleep
from typing import Any, Final, Unpack, overload

from ..errors import JsonrillError, SourceFailed
from ..eventstream import looks_like_events
from ..opening import open_source
from ..options import Provider, Rules, Tool, UnbrokenOptions, refuse_unknown, taken_by
from ..providers import recognise
from ..sources import Opened
from ..sources.decoding import EventDecoder
from ..sources.failures import FailedResponse
from .session import Event, Session
from .so_far import SoFar

_TEXT: Final = (str, bytes, bytearray, memoryview)
# What a client may send again as it is: the server was busy, or too slow.
_BUSY: Final = (408, 409, 425, 429)
_LONGEST_WAIT: Final = 30.0


class _Stalled(Exception):
    """Nothing has arrived for too long."""


class _Elements:
    """The elements of one attempt, on their way to the session."""

    def __init__(self, session: Session, source: Opened, provider: Provider) -> None:
        self._session = session
        self._source = source
        self._provider = provider
        self._utf8: Any = getincrementaldecoder("utf-8")("replace")
        # Any: what decodes events, or reads the body of an error; None for the answer's text.
        self._decoder: Any = None
        self._begun = False

    def feed(self, element: Any) -> Iterator[Event]:
        """The events that an element makes."""
        if element is None:
            return
        if not self._begun:
            self._begun = True
            self._decoder = self._decoder_for(element)
        if self._decoder is None:
            text = element if isinstance(element, str) else self._utf8.decode(bytes(element))
            yield from self._session.feed_text(text)
            return
        for event in self._decoder.feed(element):
            yield from self._session.feed(event)

    def flush(self) -> Iterator[Event]:
        """The events at the end."""
        if self._decoder is None and self._source.failure is not None:
            self._decoder = FailedResponse(*self._source.failure)
        if self._decoder is not None:
            for event in self._decoder.flush():
                yield from self._session.feed(event)

    @property
    def said_done(self) -> bool:
        return isinstance(self._decoder, EventDecoder) and self._decoder.said_done

    def _decoder_for(self, first: Any) -> Any:
        source = self._source
        if source.failure is not None:
            return FailedResponse(*source.failure)
        if isinstance(first, _TEXT):
            begin = first.encode() if isinstance(first, str) else bytes(first)
            named = self._provider != "auto"
            # The rest of a text may begin as events do: with a colon.
            is_event = looks_like_events(begin[:100]) and not self._session.was_text
            if not (source.sse or source.lines or named or is_event):
                return None
        return EventDecoder(self._provider, source.sse)


class _Asking:
    """What sync and async sources share: the options, and what readers ask for."""

    def __init__(
        self, ask: Callable[[SoFar | None], Any], **options: Unpack[UnbrokenOptions]
    ) -> None:
        refuse_unknown(options, UnbrokenOptions.__annotations__, "unknown option")
        given = {it.name: it.check(options.get(it.name, it.default)) for it in taken_by("unbroken")}
        self._ask = ask
        self._provider = given["provider"]
        self._stall, self._backoff = given["stall"], given["backoff"]
        self._session = Session(
            self._provider,
            given["attempts"],
            given["budget"],
            restarts=given["on_contradiction"] == "restart",
        )
        self._session.schema = given["schema"]
        self._before = [*given["before"]]
        for event in self._before:
            if not isinstance(event, dict) or recognise(event) not in (None, "jsonrill"):
                raise TypeError(f"before are events that unbroken has yielded, not {event!r}")

    def read_for(
        self, *, schema: Any = None, repair: Rules = False, choice: int = 0, tool: Tool = None
    ) -> None:
        """Tell what the reader of this source asks for, before the first request is sent."""
        session = self._session
        if schema is not None:
            if (
                session.schema is not None
                and session.schema is not schema
                and session.schema != schema
            ):
                raise TypeError("unbroken(…, schema=…) and its reader have two different schemas")
            session.schema = schema
        session.repair, session.choice, session.tool = repair, choice, tool

    def _so_far(self) -> SoFar | None:
        return SoFar(self._session) if self._session.asked else None

    def _wait(self) -> float:
        """Seconds before the next attempt: none if the last one got on, or was not lost."""
        session = self._session
        if session.reason not in ("lost", "stalled") or not session.in_vain:
            return 0.0
        wait: float = self._backoff * 2.0 ** (session.in_vain - 1)
        return min(wait, _LONGEST_WAIT)


class Unbroken(_Asking):
    """The events of an answer that goes on after breaks. It can be read once."""

    _run: Generator[Event] | None = None

    def __iter__(self) -> Iterator[Event]:
        if self._run is None:
            self._run = self._events()
        return self._run

    def close(self) -> None:
        """Close the source that is read, unless its answer begins again: it can be read on."""
        if self._run is not None and not self._session.restarted:
            self._run.close()

    def _events(self) -> Generator[Event]:
        session = self._session
        yield from session.take_up(self._before)
        while not session.over:
            if wait := self._wait():
                sleep(wait)
            so_far = self._so_far()
            try:
                source = self._ask(so_far)
            except Exception as error:
                session.begin()
                yield from session.end(_lost(error))
                continue
            session.begin(None if so_far is None else so_far._dropped)
            yield from self._attempt(_opened(source, is_async=False))

    def _attempt(self, source: Opened) -> Iterator[Event]:
        session = self._session
        elements = _Elements(session, source, self._provider)
        failure: Exception | None = None
        ended = False
        try:
            for element in _watched(iter(source.elements), self._stall):
                yield from elements.feed(element)
                if session.stopped:
                    break
            else:
                ended = True
                yield from elements.flush()
        except Exception as error:
            failure = _lost(error)
            session.stalled = isinstance(error, _Stalled)
        finally:
            if not ended:
                _close(source)
        yield from session.end(failure, done=elements.said_done)


class AsyncUnbroken(_Asking):
    """As `Unbroken`, for an `ask` that is async."""

    _run: AsyncGenerator[Event] | None = None

    def __aiter__(self) -> AsyncGenerator[Event]:
        if self._run is None:
            self._run = self._events()
        return self._run

    async def aclose(self) -> None:
        """Close the source that is read, unless its answer begins again: it can be read on."""
        if self._run is not None and not self._session.restarted:
            await self._run.aclose()

    async def _events(self) -> AsyncGenerator[Event]:
        session = self._session
        for event in session.take_up(self._before):
            yield event
        while not session.over:
            if wait := self._wait():
                await asyncio.sleep(wait)
            so_far = self._so_far()
            try:
                answer = self._ask(so_far)
                source = await answer if isawaitable(answer) else answer
            except Exception as error:
                session.begin()
                for event in session.end(_lost(error)):
                    yield event
                continue
            session.begin(None if so_far is None else so_far._dropped)
            async for event in self._attempt(_opened(source, is_async=True)):
                yield event

    async def _attempt(self, source: Opened) -> AsyncGenerator[Event]:
        session = self._session
        elements = _Elements(session, source, self._provider)
        failure: Exception | None = None
        ended = False
        try:
            async for element in _watched_async(source.elements, self._stall):
                for event in elements.feed(element):
                    yield event
                if session.stopped:
                    break
            else:
                ended = True
                for event in elements.flush():
                    yield event
        except Exception as error:
            failure = _lost(error)
            session.stalled = isinstance(error, _Stalled)
        finally:
            if not ended:
                await _aclose(source)
        for event in session.end(failure, done=elements.said_done):
            yield event


@overload
def unbroken(
    ask: Callable[[SoFar | None], Iterable[Any]], **options: Unpack[UnbrokenOptions]
) -> Unbroken: ...
@overload
def unbroken(
    ask: Callable[[SoFar | None], Awaitable[Any] | AsyncIterable[Any]],
    **options: Unpack[UnbrokenOptions],
) -> AsyncUnbroken: ...
@overload
def unbroken(
    ask: Callable[[SoFar | None], Any], **options: Unpack[UnbrokenOptions]
) -> Unbroken: ...
def unbroken(ask: Callable[[SoFar | None], Any], **options: Unpack[UnbrokenOptions]) -> Any:
    """A source that goes on after a break: `ask` is called again for the rest of the answer.

    `ask(so_far)` sends a request and returns its stream, of any provider; `so_far` is None at
    first, then a `jsonrill.continuing.SoFar`. It is async if `ask` is an `async def`. Any function
    that takes a source takes this one; its readers see one answer, in which nothing is taken back.

    It asks again if the connection was lost, nothing has arrived for `stall` seconds (None: however
    long that takes), the token limit was reached, or the schema was violated; not if the answer was
    filtered or refused. After `attempts` answers in a row that brought nothing new, or when
    `budget` tokens have been written, the last error is raised. `backoff` are the seconds before
    the second attempt in vain, twice as many before the next one.

    `schema` is for readers that have none of their own. An answer that contradicts what is complete
    is a `RevisionError`; with `on_contradiction="restart"` the source can be read on after it, and
    begins again (`parts` and `tool_calls` just go on). `before` are the events that
    another process has yielded of this answer, and which are not yielded again.
    """
    if not callable(ask):
        raise TypeError(f"unbroken calls a function that asks, not {type(ask).__name__}: {ask!r}")
    is_async = _is_async(ask) or _is_async(type(ask).__call__)
    return (AsyncUnbroken if is_async else Unbroken)(ask, **options)


def _is_async(function: Any) -> bool:
    return iscoroutinefunction(function) or isasyncgenfunction(function)


def _opened(source: Any, *, is_async: bool) -> Opened:
    """The elements of an answer; `TypeError` if it is async where `ask` is not."""
    if not is_async and isawaitable(source):
        close = getattr(source, "close", None)
        if callable(close):
            close()
        raise TypeError("ask returned something to await: define it with `async def`")
    opened = open_source(source)
    if not is_async and isinstance(opened.elements, AsyncIterable):
        raise TypeError("ask returned an async stream: define it with `async def`")
    return opened


def _lost(error: Exception) -> Exception:
    """The error, if it may be one of the connection or the provider; else it is raised.

    Errors of client libraries have classes of their own; those of Python's own are mistakes in the
    program, but for those of the system.
    """
    if isinstance(error, _Stalled):
        return SourceFailed(str(error))
    status = getattr(error, "status_code", getattr(error, "status", None))
    if type(status) is int and 400 <= status < 500 and status not in _BUSY:
        raise error
    if isinstance(error, JsonrillError):
        is_lost = isinstance(error, SourceFailed)
    else:
        of_python = type(error).__module__ == "builtins"
        is_lost = isinstance(error, OSError | EOFError) or not of_python
    if not is_lost:
        raise error
    return error


def _close(source: Opened) -> None:
    for it in (source.owner, source.elements):
        if callable(close := getattr(it, "close", None)):
            # One that is stuck in another thread cannot be closed; it ends with the thread.
            with suppress(ValueError):
                close()
            return


async def _aclose(source: Opened) -> None:
    for it in (source.owner, source.elements):
        for name in ("aclose", "close"):
            if callable(close := getattr(it, name, None)):
                closing = close()
                if isawaitable(closing):
                    await closing
                return


def _watched(elements: Iterator[Any], seconds: float | None) -> Iterator[Any]:
    """The elements; `_Stalled` if one does not come in time.

    They are read in a thread, one at a time: nothing else can leave a read that blocks.
    """
    if seconds is None:
        yield from elements
        return
    wanted: SimpleQueue[bool] = SimpleQueue()
    came: SimpleQueue[tuple[bool, Any]] = SimpleQueue()

    def read() -> None:
        while wanted.get():
            try:
                came.put((True, next(elements)))
            except StopIteration:
                came.put((False, None))
            except BaseException as error:
                came.put((False, error))

    Thread(target=read, name="jsonrill-unbroken", daemon=True).start()
    try:
        while True:
            wanted.put(True)
            try:
                is_element, it = came.get(timeout=seconds)
            except Empty:
                raise _Stalled(f"nothing has arrived for {seconds} seconds") from None
            if not is_element:
                if it is not None:
                    raise it
                return
            yield it
    finally:
        wanted.put(False)


async def _watched_async(elements: Any, seconds: float | None) -> AsyncGenerator[Any]:
    if not isinstance(elements, AsyncIterable):
        for it in elements:
            yield it
        return
    pieces = aiter(elements)
    while True:
        try:
            async with asyncio.timeout(seconds):
                it = await anext(pieces)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise _Stalled(f"nothing has arrived for {seconds} seconds") from None
        yield it
