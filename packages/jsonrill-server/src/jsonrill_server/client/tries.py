"""Requests, responses, and how often and how long a request is tried."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from .errors import ClientError, Conflict, Refused, StreamNotFound, Unauthorized, Unavailable

Json = dict[str, Any]
# What the server answers when another try may succeed.
RETRIED: Final = (408, 425, 429, 500, 502, 503, 504)
# Seconds between tries: twice as many each time, up to the longest, and not the same for all.
FIRST_WAIT: Final = 0.1
LONGEST_WAIT: Final = 5.0


class Request(NamedTuple):
    method: str
    path: str
    content: bytes | None = None
    headers: Mapping[str, str] = {}


class Response(NamedTuple):
    """A response, or no response: then `error` says why."""

    status: int = 0
    body: bytes = b""
    headers: Mapping[str, str] = {}
    error: str = ""


BROKEN: Final = Response(error="the connection ended before the stream did")


class Tries:
    """How long to wait before the next try; raises when it is time to give up."""

    def __init__(self, url: str, retry_for: float) -> None:
        self._url = url
        self._retry_for = retry_for
        self.reset()
        self._progress = False

    def reset(self) -> None:
        """Something was achieved: the time begins anew, and the next try is made at once."""
        self.count = 0
        self._until = time.monotonic() + self._retry_for
        self._progress = True

    def wait(self, failure: Response) -> float:
        """Seconds until the next try; raises Unavailable if that is too late."""
        if self._progress:
            self._progress = False
            return 0.0
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0**self.count) * random.uniform(0.75, 1.25)
        with suppress(ValueError):
            wait = max(wait, float(failure.headers.get("retry-after", "")))
        self.count += 1
        if time.monotonic() + wait > self._until:
            raise self._given_up(failure)
        return wait

    def _given_up(self, failure: Response) -> ClientError:
        seconds = f"{self._retry_for:g} s"
        if failure.error:
            return Unavailable(
                f"{self._url} could not be reached for {seconds} ({failure.error}): is the server"
                " running there? `retry_for=` is how long the client tries"
            )
        problem = _problem(failure)
        return Unavailable(
            f"{self._url} answered {failure.status} for {seconds}: {problem['message']}",
            code=problem["code"],
            status=failure.status,
        )


def _problem(response: Response) -> Json:
    """Code and message of an error response, of our server or another."""
    with suppress(ValueError, TypeError, LookupError):
        error = json.loads(response.body)["error"]
        return {**error, "code": str(error["code"]), "message": str(error["message"])}
    return {"code": f"HTTP_{response.status}", "message": "it is no answer of jsonrill's server"}


def checked(response: Response, stream: str = "") -> Response:
    """The response; raises the error that it is."""
    if response.status < 300:
        return response
    problem = _problem(response)
    code, reason = problem["code"], problem["message"]
    kind, remedy = _KINDS.get(response.status, (Refused, ""))
    if code == "STALE_EPOCH":
        kind = Conflict
    message = f"{reason}: {remedy}" if remedy else reason
    if code in REMEDIES:
        message = f"{reason}: {REMEDIES[code]}"
    if stream:
        message = f"stream {stream}: {message}"
    raise kind(message, code=code, status=response.status)


_KINDS: Final[dict[int, tuple[type[ClientError], str]]] = {
    401: (Unauthorized, "pass Client(url, token=…)"),
    403: (Unauthorized, "the server does not let this client do it"),
    404: (StreamNotFound, "it was deleted, has expired, or belongs to another token"),
    409: (Conflict, ""),
    410: (Conflict, ""),
}
REMEDIES: Final = {
    "CLOSED": "create another one",
    "TAKEN": "publish to a stream of your own",
    "STALE_EPOCH": "a client with the same producer= began to publish later",
    "SEQUENCE_GAP": "the server lost records that it had confirmed",
    "NOT_FOUND": "is this the URL of jsonrill's server?",
}
