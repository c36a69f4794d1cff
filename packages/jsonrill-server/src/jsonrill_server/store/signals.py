"""Signals that wake the listeners of a stream, within one process and one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager


class Signal:
    """Set when something may have happened to a stream. Clear it, look, then wait."""

    __slots__ = ("_event", "closed")

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.closed = False

    def clear(self) -> None:
        self._event.clear()

    def set(self) -> None:
        self._event.set()

    async def wait(self, seconds: float | None = None) -> None:
        """Return when set, or after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            pass


class Signals:
    """A signal for each listener of each stream.

    `on_change` is called with a stream when its first listener comes and when its last one goes.
    """

    def __init__(self) -> None:
        self._listening: dict[str, set[Signal]] = {}
        self._closed = False
        self.on_change: Callable[[str], None] | None = None

    @property
    def streams(self) -> Collection[str]:
        """The streams that have listeners."""
        return self._listening.keys()

    @contextmanager
    def listen(self, stream: str) -> Iterator[Signal]:
        signal = Signal()
        signal.closed = self._closed
        mine = self._listening.get(stream)
        if mine is None:
            mine = self._listening[stream] = set()
            self._changed(stream)
        mine.add(signal)
        try:
            yield signal
        finally:
            mine.discard(signal)
            if not mine and self._listening.get(stream) is mine:
                del self._listening[stream]
                self._changed(stream)

    def _changed(self, stream: str) -> None:
        if self.on_change is not None and not self._closed:
            self.on_change(stream)

    def wake(self, stream: str) -> None:
        for signal in self._listening.get(stream, ()):
            signal.set()

    def close(self) -> None:
        self._closed = True
        for signals in self._listening.values():
            for signal in signals:
                signal.closed = True
                signal.set()
