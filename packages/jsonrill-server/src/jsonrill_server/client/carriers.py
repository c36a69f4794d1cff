"""What carries out the operations of a client: an event loop, or the thread that calls it.

Operations are coroutines, written once (`operations.py`). All that they wait for comes from a
carrier. With `Blocking` each of these calls blocks instead of waiting, so that a coroutine runs to
its end in one go, and `carry_out` needs no event loop for it.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Coroutine, Generator
from contextlib import aclosing, asynccontextmanager, closing, suppress
from importlib import import_module
from typing import Any, Final, TypeVar

from jsonrill.ext import tasks

from ..runs.threads import in_thread

T = TypeVar("T")
# What the value of a header can be.
_IN_A_HEADER: Final = re.compile(r"[!-~]([ -~]*[!-~])?")


def checked_header(name: str, text: str) -> str:
    """The text; raises ValueError for one that cannot be the value of a header."""
    if text and not _IN_A_HEADER.fullmatch(text):
        raise ValueError(
            f"a {name} has no line end, no space around it and no character beyond ASCII:"
            " .strip() takes off the line end of a file"
        )
    return text


def _connected(kind: str, token: str, timeout: float, transport: Any) -> Any:
    """A client of httpx2, of this kind."""
    headers = {"accept-encoding": "identity"}
    if checked_header("token", token):
        headers["authorization"] = f"Bearer {token}"
    # Loaded here, because it takes a while.
    httpx: Any = import_module("httpx2")
    return getattr(httpx, kind)(headers=headers, timeout=timeout, transport=transport)


class _LoopEvent(asyncio.Event):
    async def wait_for(self, seconds: float | None) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.wait()


class InLoop:
    """Waits in the running event loop; what is spawned is a task."""

    lock: Any = asyncio.Lock
    event = _LoopEvent
    sleep = staticmethod(asyncio.sleep)
    spawn: Any = staticmethod(asyncio.create_task)
    stop = staticmethod(tasks.stop)

    def __init__(self, token: str, timeout: float, transport: Any) -> None:
        http = _connected("AsyncClient", token, timeout, transport)
        self.request, self.stream, self.shutdown = http.request, http.stream, http.aclose

    async def join(self, job: Any) -> None:
        await job

    def pieces(self, response: Any) -> Any:
        return response.aiter_bytes()

    async def texts(self, texts: Any, source: Any) -> AsyncGenerator[str]:
        """What is not async is read in a thread."""
        if isinstance(texts, AsyncIterable):
            async with aclosing(texts):  # type: ignore[type-var]
                async for body in texts:
                    yield body
            return
        async with aclosing(in_thread(texts, getattr(source, "close", None))) as batches:
            async for batch in batches:
                for body in batch:
                    yield body


class _ThreadEvent(threading.Event):
    async def wait_for(self, seconds: float | None) -> None:
        self.wait(seconds)


class _ThreadLock:
    def __init__(self) -> None:
        self._lock = threading.Lock()

    async def __aenter__(self) -> None:
        self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()


class Blocking:
    """Blocks the thread that calls it; what is spawned has a thread of its own."""

    lock: Any = _ThreadLock
    event = _ThreadEvent

    def __init__(self, token: str, timeout: float, transport: Any) -> None:
        self._http = _connected("Client", token, timeout, transport)

    async def request(self, **asked: Any) -> Any:
        return self._http.request(**asked)

    @asynccontextmanager
    async def stream(self, **asked: Any) -> AsyncIterator[Any]:
        with self._http.stream(**asked) as response:
            yield response

    async def shutdown(self) -> None:
        self._http.close()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def spawn(self, work: Coroutine[Any, Any, None]) -> Any:
        job = threading.Thread(target=carry_out, args=(work,), name="jsonrill-publish", daemon=True)
        job.start()
        return job

    async def join(self, job: Any) -> None:
        job.join()

    stop = join

    def pieces(self, response: Any) -> Any:
        return _as_async(response.iter_bytes())

    def texts(self, texts: Any, source: Any) -> AsyncGenerator[str]:
        if isinstance(texts, AsyncIterable):
            raise TypeError("an async source is published by AsyncClient")
        return _as_async(texts)


Carrier = InLoop | Blocking


async def _as_async(items: Any) -> AsyncGenerator[Any]:
    with closing(items):
        for item in items:
            yield item


def carry_out(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine over `Blocking` returns."""
    try:
        work.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise AssertionError("a coroutine that should block has waited")


def iterate(items: AsyncGenerator[T]) -> Generator[T]:
    """Yield the items of an async generator over `Blocking`."""
    try:
        while True:
            try:
                item = carry_out(items.__anext__())
            except StopAsyncIteration:
                return
            yield item
    finally:
        carry_out(items.aclose())
