"""Iterates in a thread what would block the event loop.

Each iterator has a thread of its own: of a pool, a thousand that wait would leave none for others.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
# Items that may wait for the event loop; then the thread waits.
_MOST: Final = 1000


async def in_thread(
    items: Iterator[T], interrupt: Callable[[], object] | None = None
) -> AsyncGenerator[list[T]]:
    """Yield the items of an iterator that blocks, as many at a time as there are.

    When this is closed early, `interrupt` is called (in another thread), to end a call that blocks;
    the thread is not waited for. It closes the iterator, if that can be closed.
    """
    pump = _Pump(items)
    threading.Thread(target=copy_context().run, args=(pump.run,), daemon=True).start()
    try:
        while True:
            some, over = await pump.taken()
            if some:
                yield some
            if over:
                break
        if pump.error is not None:
            raise pump.error
    finally:
        if pump.stop() and interrupt is not None:
            threading.Thread(target=_quietly, args=(interrupt,), daemon=True).start()


async def call_in_thread(work: Callable[[], T]) -> T:
    """Return what a function returns that may block.

    If this is cancelled, what it returns later is closed, if that can be closed.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            _hand(_for_loop(error), done.set_exception, None)
        else:
            _hand(result, done.set_result, getattr(result, "close", None))

    def _hand(item: Any, accept: Callable[[Any], None], close: Any) -> None:
        def hand() -> None:
            if not done.done():
                accept(item)
            elif callable(close):
                threading.Thread(target=_quietly, args=(close,), daemon=True).start()

        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(hand)

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    return await done


class _Pump(Generic[T]):
    """Hands items from a thread to the event loop that made it."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._loop = asyncio.get_running_loop()
        self._some = asyncio.Event()
        self._changed = threading.Condition()
        self._waiting: list[T] = []
        self._over = False
        self._stopped = False
        self.error: BaseException | None = None

    def run(self) -> None:
        """What the thread does."""
        try:
            for item in self._items:
                with self._changed:
                    self._changed.wait_for(lambda: len(self._waiting) < _MOST or self._stopped)
                    if self._stopped:
                        break
                    self._waiting.append(item)
                self._wake()
        except BaseException as error:  # it is raised in the event loop
            self.error = _for_loop(error)
        finally:
            close = getattr(self._items, "close", None)
            if self._stopped and close is not None:
                _quietly(close)
            self._over = True
            self._wake()

    async def taken(self) -> tuple[list[T], bool]:
        """Wait for items and return them, and whether they are the last."""
        await self._some.wait()
        self._some.clear()
        with self._changed:
            over, some, self._waiting = self._over, self._waiting, []
            self._changed.notify()
        return some, over

    def stop(self) -> bool:
        """Tell the thread to end; return True if it had not."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        return not self._over

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._some.set)


def _for_loop(error: BaseException) -> BaseException:
    """What a thread raised, as the event loop may raise it.

    There SystemExit and KeyboardInterrupt would end the loop, and a future takes no StopIteration.
    """
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    raised = RuntimeError(f"the source raised {type(error).__name__}")
    raised.__cause__ = error
    return raised


def _quietly(close: Callable[[], object]) -> None:
    with suppress(Exception):
        close()
