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
from contextlib import aclosing, suppress
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
from ..sources import Decoder, EventReading, Opened
from ..streams.driving import END, close_async_source, close_source, drive_async, drive_sync
from .session import Event, Session
from .so_far import SoFar

_TEXT: Final = (str, bytes, bytearray, memoryview)
# What a client may send again as it is: the server was busy, or too slow.
_BUSY: Final = (408, 409, 425, 429)
_LONGEST_WAIT: Final = 30.0


class _Stalled(Exception):
    """Nothing has arrived for too long."""


class _Attempt(EventReading):
    """One request and its answer, on the way to the session: events, or the text of the answer."""

    def __init__(self, session: Session, provider: Provider) -> None:
        super().__init__(provider, split=True)
        self._session = session
        self.so_far = SoFar(session) if session.asked else None
        self._begun = False
        self._failure: Exception | None = None
        self._utf8: Any = getincrementaldecoder("utf-8")("replace")
        self._is_text = False

    def opened(self, source: Any, *, is_async: bool) -> Opened:
        """The elements of the answer; `TypeError` if it is async where `ask` is not."""
        self._begin()
        if not is_async and isawaitable(source):
            close = getattr(source, "close", None)
            if callable(close):
                close()
            raise TypeError("ask returned something to await: define it with `async def`")
        opened = open_source(source)
        if not is_async and isinstance(opened.elements, AsyncIterable):
            raise TypeError("ask returned an async stream: define it with `async def`")
        return opened

    def decoder(self, first: Any, source: Opened) -> Decoder | None:
        """As that of `EventReading`; text that looks like events holds them."""
        if isinstance(first, _TEXT):
            begin = first.encode() if isinstance(first, str) else bytes(first)
            # The rest of a text may begin as events do: with a colon.
            self._split = self._session.was_text or not looks_like_events(begin[:100])
        decoder = super().decoder(first, source)
        self._is_text = decoder is None
        return decoder

    def feed(self, piece: Any) -> Iterator[Event]:
        """The events that a piece of the answer makes."""
        if piece is END:
            return iter(())
        if not self._is_text:
            return self._session.feed(piece)
        text = piece if isinstance(piece, str) else self._utf8.decode(bytes(piece))
        return self._session.feed_text(text)

    def is_over(self) -> bool:
        """True if no more of the answer is wanted."""
        return self._session.stopped

    def fail(self, error: Exception) -> None:
        """Reading or asking raised this; it is raised if another request does not help."""
        self._begin()
        self._failure = _lost(error)
        self._session.stalled = isinstance(error, _Stalled)

    def end(self) -> Iterator[Event]:
        """The events at the end."""
        return self._session.end(self._failure, done=self.said_done)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._session.begin(None if self.so_far is None else self.so_far._dropped)


class _Asking:
    """What sync and async sources share: the options, and what readers ask for."""

    def __init__(
        self, ask: Callable[[SoFar | None], Any], **options: Unpack[UnbrokenOptions]
    ) -> None:
        refuse_unknown(options, UnbrokenOptions.__annotations__, "unknown option")
        settings = {
            it.name: it.check(options.get(it.name, it.default)) for it in taken_by("unbroken")
        }
        self._ask = ask
        self._provider = settings["provider"]
        self._stall, self._backoff = settings["stall"], settings["backoff"]
        self._session = Session(
            self._provider,
            settings["attempts"],
            settings["budget"],
            restarts=settings["on_contradiction"] == "restart",
        )
        self._session.schema = settings["schema"]
        self._before = [*settings["before"]]
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

    @property
    def answered_by(self) -> str | None:
        """The provider of the last answer; None if it was text, or there is none yet."""
        return self._session.provider

    def _attempt(self) -> _Attempt:
        return _Attempt(self._session, self._provider)

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
            attempt = self._attempt()
            try:
                source = attempt.opened(self._ask(attempt.so_far), is_async=False)
                watched = source._replace(elements=_watched(source, self._stall), owner=None)
                yield from drive_sync(attempt.feed, watched, attempt.is_over, attempt)
            except Exception as error:
                attempt.fail(error)
            yield from attempt.end()


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
            await asyncio.sleep(self._wait())
            attempt = self._attempt()
            try:
                answer = self._ask(attempt.so_far)
                answer = await answer if isawaitable(answer) else answer
                source = attempt.opened(answer, is_async=True)
                watched = source._replace(elements=_watched_async(source, self._stall), owner=None)
                driven = drive_async(attempt.feed, watched, attempt.is_over, attempt)
                async with aclosing(driven) as events:
                    async for event in events:
                        yield event
            except Exception as error:
                attempt.fail(error)
            for event in attempt.end():
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


def _watched(source: Opened, seconds: float | None) -> Iterator[Any]:
    """The elements; `_Stalled` if one does not come in time. Afterwards the source is closed."""
    elements = iter(source.elements)
    try:
        yield from elements if seconds is None else _in_time(elements, seconds)
    finally:
        # One that is stuck in another thread cannot be closed; it ends with the thread.
        with suppress(ValueError):
            close_source(source.owner, elements)


def _in_time(elements: Iterator[Any], seconds: float) -> Iterator[Any]:
    """The elements, read in a thread, one at a time: nothing else can leave a read that blocks."""
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


async def _watched_async(source: Opened, seconds: float | None) -> AsyncGenerator[Any]:
    elements = source.elements
    try:
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
    finally:
        await close_async_source(source.owner, elements)
