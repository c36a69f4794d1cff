"""The signals that end a process, whichever server runs the application in it.

A server such as uvicorn waits for open answers when it is told to stop, and event streams do not
end on their own. So the application puts its own handler before the server's: it ends the responses
of readers first, which resume elsewhere.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def before_the_end(
    drain: float, draining: Callable[[], None], stop: Callable[[], None]
) -> Iterator[None]:
    """Call `draining`, after `drain` seconds `stop`, and then the handler that was there before.

    A second signal does not wait. Nothing happens outside of the main thread, or where no server
    has set a handler: then it is not this process's end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    former: dict[int, Callable[[int, FrameType | None], Any]] = {}
    told = False

    def end(number: int) -> None:
        stop()
        former[number](number, None)

    def handler(number: int, frame: FrameType | None) -> None:
        nonlocal told
        wait, told = 0.0 if told else drain, True
        loop.call_soon_threadsafe(draining)
        loop.call_soon_threadsafe(loop.call_later, wait, end, number)

    for number in (signal.SIGTERM, signal.SIGINT):
        present = signal.getsignal(number)
        if callable(present) and present is not signal.default_int_handler:
            former[number] = present
            signal.signal(number, handler)
    try:
        yield
    finally:
        for one, before in former.items():
            if signal.getsignal(one) is handler:
                signal.signal(one, before)
