"""Running one tool, in a thread or in an event loop; whatever it raises becomes an error text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from inspect import isawaitable, iscoroutinefunction
from threading import Thread
from typing import Any

from .tools import Job

# A tool's result, and the error text if it failed.
Outcome = tuple[Any, str | None]


def in_thread(work: Callable[[], object]) -> None:
    """Run this in a thread of its own, which does not keep the program from ending."""
    Thread(target=copy_context().run, args=(work,), daemon=True, name="jsonrill tool").start()


def outcome_of(job: Job, timeout: float | None) -> Outcome:
    """Run a tool in this thread; an async one gets an event loop of its own."""

    async def waited(result: Any) -> Outcome:
        return await _waited(result, timeout)

    try:
        result = job.function(*job.positional, **job.named)
        return asyncio.run(waited(result)) if isawaitable(result) else (result, None)
    except Exception as error:
        return None, describe(error)


async def awaited_outcome_of(job: Job, timeout: float | None) -> Outcome:
    """Run a tool in this event loop; one that is not async gets a thread of its own."""
    function = job.function
    try:
        if _is_async(function):
            return await _waited(function(*job.positional, **job.named), timeout)
        result, error = await _waited_thread(job, timeout)
        return await _waited(result, timeout) if isawaitable(result) else (result, error)
    except Exception as error:
        return None, describe(error)


def late(timeout: float | None) -> str:
    """The error text of a tool that took too long."""
    return f"the tool has not returned within {timeout:g} seconds"


def describe(error: BaseException) -> str:
    """The error text of an exception: its type and what it says."""
    said = str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


async def _waited(result: Any, timeout: float | None) -> Outcome:
    try:
        async with asyncio.timeout(timeout) as limit:
            return await result, None
    except TimeoutError as error:
        return None, late(timeout) if limit.expired() else describe(error)


async def _waited_thread(job: Job, timeout: float | None) -> Outcome:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()

    def deliver(outcome: Outcome) -> None:
        if not future.done():
            future.set_result(outcome)

    def work() -> None:
        try:
            outcome: Outcome = job.function(*job.positional, **job.named), None
        except Exception as error:
            outcome = None, describe(error)
        try:
            loop.call_soon_threadsafe(deliver, outcome)
        except RuntimeError:  # the loop has been closed: nobody waits any more
            pass

    in_thread(work)
    try:
        async with asyncio.timeout(timeout):
            return await future
    except TimeoutError:
        return None, late(timeout)


def _is_async(function: Any) -> bool:
    while hasattr(function, "func"):  # functools.partial
        function = function.func
    return iscoroutinefunction(function) or iscoroutinefunction(type(function).__call__)
