"""An upstream that requests are relayed to: what its answers say, and how they fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any, Final

import httpx2

from jsonrill.errors import LimitExceeded
from jsonrill.eventstream import SSEDecoder, is_done, is_event_stream, looks_like_events
from jsonrill.jsontext import dumps, without_constants
from jsonrill.providers import Reader
from jsonrill.providers.fields import as_error, as_index
from jsonrill.providers.statements import Begin, Ending, Finish

from ..config import Config
from ..problems import Problem
from ..runs.producer import Failed
from ..runs.records import End, Record

# Fields of an answer that is no error, in any API.
ANSWERS: Final = {"choices", "output", "content", "data"}
# Of an answer without events, what is kept to look for an error in it.
BEGINNING: Final = 64 * 1024
TOO_LARGE: Final = End("error", "LIMIT_EXCEEDED", "an event of the upstream is too large")
NO_END: Final = End("error", "UPSTREAM_LOST", "the upstream ended before the answer did: ask again")


class UpstreamFailed(Problem):
    """There is no answer of the upstream to pass on; the client gets this status instead."""


class Received:
    """A response of the upstream whose body is still to be read. Failures are UpstreamFailed."""

    def __init__(self, response: httpx2.Response, config: Config) -> None:
        self.status = response.status_code
        self.headers = response.headers
        self._response = response
        self._config = config
        self._pieces = response.aiter_bytes()
        self._first: bytes | None = None

    async def is_event_stream(self) -> bool:
        """True if the media type says so, or, where it says something else, the first bytes do."""
        if self.status != 200:
            return False
        if is_event_stream(self.headers.get("content-type", "")):
            return True
        self._first = await self.next(self._config.upstream_first)
        return self._first is not None and looks_like_events(self._first)

    async def next(self, seconds: float | None = None) -> bytes | None:
        """The next bytes of the body; None if it has ended. They may take `upstream_idle`."""
        if (first := self._first) is not None:
            self._first = None
            return first
        try:
            async with asyncio.timeout(seconds or self._config.upstream_idle):
                return await anext(self._pieces, None)
        except TimeoutError:
            await self.close()
            raise UpstreamFailed(
                504, "upstream_timeout", "the upstream fell silent: ask again"
            ) from None
        except httpx2.HTTPError:
            message = "the connection to the upstream broke: ask again"
            raise UpstreamFailed(502, "upstream_lost", message) from None

    async def read(self) -> bytes:
        """All of the body; closes the response."""
        body = bytearray()
        clock = asyncio.get_running_loop().time
        until = clock() + self._config.upstream_first
        try:
            while (data := await self.next(max(until - clock(), 0.001))) is not None:
                body += data
                if len(body) > self._config.stream_bytes:
                    message = "the upstream's answer is too large"
                    raise UpstreamFailed(502, "upstream_too_large", message)
        finally:
            await self.close()
        return bytes(body)

    async def close(self) -> None:
        await self._response.aclose()


def check_answer(body: bytes) -> None:
    """Raise UpstreamFailed if a body with a good status is no answer: an error, or a page."""
    fields = json_object(body)
    if fields is None:
        message = "the upstream's answer is not a JSON object"
        raise UpstreamFailed(502, "upstream_invalid", message)
    if (error := fields.get("error")) and not ANSWERS & fields.keys():
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 502
        raise UpstreamFailed(status, "upstream_error", as_error(error))


class Incoming:
    """Reads the event stream of an answer: the records of its log, and how it ended.

    `choices` is how many were asked for: an answer is complete when each has ended, or when the
    upstream says that nothing follows (`[DONE]`, `message_stop`, `response.completed`). Events of
    a stream that is read again are left out up to and with the number `after`.
    """

    def __init__(
        self, limit: int, provider: str, choices: int = 1, *, after: int | None = -1
    ) -> None:
        self._decoder = SSEDecoder(limit=limit)
        self._provider = provider
        self._reader = Reader(provider)
        self._ending = Ending()
        self._choices = choices
        self._beginning = b""
        self._any = False
        self._error: str | None = None
        # The upstream's id of the answer, where it has one, and its number of the last event.
        self.message: str | None = None
        self.number = after
        self._after = -1 if after is None else after
        # Whether nothing more needs to be read.
        self._done = False

    async def records(self, received: Received) -> AsyncGenerator[list[Record]]:
        """Yield the records of an answer as they come; `Failed` if it is not complete."""
        end = NO_END
        try:
            while not self._done and (data := await received.next()) is not None:
                if not self._any and len(self._beginning) < BEGINNING:
                    self._beginning += data
                yield self._records(data)
            # An event without its blank line counts, too.
            yield self._records(b"\n\n", last=True)
        except UpstreamFailed as failed:
            end = End("error", failed.code.upper(), failed.message)
        except LimitExceeded:
            raise Failed(TOO_LARGE) from None
        finally:
            await received.close()
        if not self._any and (fields := json_object(self._beginning)) and fields.get("error"):
            self._error = as_error(fields["error"])
        if self._error is not None:
            raise Failed(End("error", "UPSTREAM_ERROR", self._error))
        if not self._complete():
            raise Failed(end)

    def _complete(self) -> bool:
        finished = all(self._ending.of(choice) for choice in range(self._choices))
        # After [DONE] the reasons to stop may be missing; other APIs have an event for the end.
        said_so = self._done and self._provider == "openai_chat"
        return self._any and (said_so or (finished and self._ending.complete))

    def _records(self, data: bytes, *, last: bool = False) -> list[Record]:
        records: list[Record] = []
        for event in self._decoder.feed(data):
            if is_done(event.data):
                self._done = True
            if self._done or not event.data.strip():
                continue
            fields = json_object(event.data)
            if fields is None:
                # The last event of a body may have been cut off.
                if not last:
                    self._done, self._error = True, "an event is not a JSON object"
                continue
            named = self._named(fields, event.type)
            if (number := as_index(named.get("sequence_number"))) is not None:
                if number <= self._after:
                    continue
            self.number = next_number(self.number, named)
            as_sent = named is fields
            body = without_constants(event.data) if as_sent else dumps(named, finite=True)
            self._any = True
            records.append(Record("events", body))
            self._listen(named)
        return records

    def _named(self, fields: dict[str, Any], name: str) -> dict[str, Any]:
        """The event with what only its name says."""
        if self._provider != "openai_chat":
            return fields if "type" in fields else {"type": name, **fields}
        return {"error": fields} if name == "error" and not fields.get("error") else fields

    def _listen(self, event: dict[str, Any]) -> None:
        statements = self._reader.feed(event)
        self._ending.feed(statements)
        for statement in statements:
            if isinstance(statement, Begin):
                self.message = statement.message
            elif isinstance(statement, Finish):
                if statement.reason == "error":
                    self._error = self._error or statement.detail
                self._done = self._done or statement.last


def next_number(number: int | None, event: dict[str, Any]) -> int | None:
    """The number of this event, after one with another number; None if they do not count up."""
    later = as_index(event.get("sequence_number"))
    return later if number is not None and later is not None and later > number else None


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """The JSON object in this text; None if it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
