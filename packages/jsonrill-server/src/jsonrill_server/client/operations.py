"""The operations of a client as steps, the same for `Client` and `AsyncClient`."""

from __future__ import annotations

import json
import math
import re
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, Unpack, overload
from urllib.parse import quote

from jsonrill.jsontext import dumps
from jsonrill.options import Input, modes_text

from ..runs.options import EventOptions, RunOptions
from .errors import Conflict
from .incoming import EventReading
from .outgoing import RENEW, Known, Outbox, code_of
from .steps import REMEDIES, RETRIED, Json, Request, Response, Steps, Tries, checked

# Seconds that a client waits for an answer, and for which it tries again.
TIMEOUT: Final = 30.0
RETRY_FOR: Final = 60.0
# What the value of a header can be.
_IN_A_HEADER: Final = re.compile(r"[!-~]([ -~]*[!-~])?")
LINES: Final = {"content-type": "application/x-ndjson"}


class NewStream(RunOptions, total=False):
    """Options of a new stream; `lease` is the silence after which its producer counts as lost."""

    lease: float


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """The state of a stream: `last` is the number of its records, `bytes` their size.

    `options` are those that were given when it was made.
    """

    id: str
    input: Input
    last: int
    closed: bool
    bytes: int
    many: bool
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, answer: dict[str, Any]) -> StreamStatus:
        """What a server says; a newer one may say more."""
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in answer.items() if name in names})


Transport = TypeVar("Transport")
# What `read` returns for each format: generators, sync or async.
Updates = TypeVar("Updates")
Fragments = TypeVar("Fragments")
Texts = TypeVar("Texts")
Calls = TypeVar("Calls")
Events = TypeVar("Events")
Others = TypeVar("Others")


class Core(ABC, Generic[Transport, Updates, Fragments, Texts, Calls, Events, Others]):
    """What both clients have in common: operations as steps."""

    # The class of httpx2 that carries them out.
    _kind: ClassVar[str]

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        producer: str = "",
        timeout: float = TIMEOUT,
        retry_for: float = RETRY_FOR,
        transport: Transport | None = None,
    ) -> None:
        if not str(url).startswith(("http://", "https://")):
            raise ValueError(f"the URL of a server begins with http:// or https://, not {url!r}")
        for name, text in (("token", token), ("producer", producer)):
            if text and not _IN_A_HEADER.fullmatch(text):
                raise ValueError(
                    f"a {name} has no line end, no space around it and no character beyond ASCII:"
                    " .strip() takes off the line end of a file"
                )
        self.url = url.rstrip("/")
        self.producer = producer or secrets.token_hex(8)
        self.retry_for = retry_for
        headers = {"accept-encoding": "identity"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        # Loaded here, because it takes a while.
        self._httpx: Any = import_module("httpx2")
        settings = {"headers": headers, "timeout": timeout, "transport": transport}
        self._http = getattr(self._httpx, self._kind)(**settings)
        # What is known of the streams that are published to from here, and the last epoch.
        self._known: dict[str, Known] = {}
        self._epoch = 0
        self._locks: dict[str, Any] = {}

    def _path(self, stream: str, rest: str = "") -> str:
        if not stream or type(stream) is not str:
            raise TypeError(f"a stream is named by its id, a text, not {stream!r}")
        return f"/v1/streams/{quote(stream, safe='')}{rest}"

    def _asked(self, request: Request) -> Json:
        """The arguments with which httpx2 sends a request."""
        asked = request._asdict()
        return {"url": self.url + asked.pop("path"), **asked}

    def _tries(self) -> Tries:
        return Tries(self.url, self.retry_for)

    def _call(self, request: Request, stream: str = "") -> Steps[Response]:
        """A request that may be repeated, until it is answered."""
        tries = self._tries()
        while True:
            response = yield request
            assert response is not None
            if not response.error and response.status not in RETRIED:
                again = tries.count > 0
                if again and request.method == "DELETE" and response.status == 404:
                    return Response(204)  # the first try did it
                return checked(response, stream)
            yield tries.wait(response)

    def _post(self, path: str, value: Any, stream: str = "") -> Steps[Json]:
        content = None if value is None else dumps(value).encode()
        headers = {"content-type": "application/json"} if content else {}
        response = yield from self._call(Request("POST", path, content, headers), stream)
        answer: Json = json.loads(response.body)
        return answer

    def _create(self, options: Json) -> Steps[str]:
        created = yield from self._post("/v1/streams", options)
        stream: str = created["id"]
        renew = min(RENEW, options.get("lease", math.inf) / 3)
        self._known[stream] = Known(options.get("input", "text"), 0, self._new_epoch(), renew)
        return stream

    def _new_epoch(self) -> int:
        """A number that is higher than those of clients that began before, in this process too."""
        self._epoch = max(self._epoch + 1, int(time.time() * 1000))
        return self._epoch

    def _end(self, stream: str, how: str, value: Any = None) -> Steps[StreamStatus]:
        status = yield from self._post(self._path(stream, f"/{how}"), value, stream)
        self._forget(stream)
        return StreamStatus.from_json(status)

    def _failed(self, stream: str, error: Exception) -> Steps[StreamStatus]:
        """Say that the source of a stream has failed."""
        code, message = code_of(error)
        return self._end(stream, "fail", {"code": code, "message": message})

    def _delete(self, stream: str) -> Steps[None]:
        yield from self._call(Request("DELETE", self._path(stream)), stream)
        self._forget(stream)

    def _forget(self, stream: str) -> None:
        self._known.pop(stream, None)
        self._locks.pop(stream, None)

    def _get(self, stream: str, rest: str = "") -> Steps[Json]:
        response = yield from self._call(Request("GET", self._path(stream, rest)), stream)
        answer: Json = json.loads(response.body)
        return answer

    def _status(self, stream: str) -> Steps[StreamStatus]:
        status = yield from self._get(stream)
        return StreamStatus.from_json(status)

    def _value(self, stream: str) -> Steps[Any]:
        answer = yield from self._get(stream, "/value")
        return answer.get("value", answer)

    def _open(self, stream: str) -> Steps[Outbox]:
        """An outbox for records of a stream."""
        known = self._known.get(stream)
        if known is None:
            status = yield from self._status(stream)
            if status.closed:
                message = f"stream {stream}: the stream has ended: {REMEDIES['CLOSED']}"
                raise Conflict(message, code="CLOSED")
            known = Known(status.input, status.last, self._new_epoch())
            self._known[stream] = known
        return Outbox(known)

    def _append(self, stream: str, outbox: Outbox) -> Steps[None]:
        """Send what waits in the outbox; nothing, if it is empty, renews the lease."""
        known = outbox.known
        headers = {
            **LINES,
            "producer-id": self.producer,
            "producer-epoch": str(known.epoch),
            "producer-seq": str(known.seq),
        }
        body = b"\n".join(outbox.take())
        # If it fails, its number may have been used: what comes then begins another epoch.
        self._known.pop(stream, None)
        request = Request("POST", self._path(stream, "/chunks"), body, headers)
        response = yield from self._call(request, stream)
        known.last, known.seq = json.loads(response.body)["last"], known.seq + 1
        self._known[stream] = known

    @abstractmethod
    def _read(self, begin: Callable[[Tries], EventReading[Any]]) -> Any:
        """Carry out a reading; its time begins when the first event is asked for."""

    @overload
    def read(
        self,
        stream: str,
        format: Literal["updates"] = "updates",
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Updates: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["fragments"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Fragments: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["chunks"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Texts: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["calls"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Calls: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["openai", "ai-sdk", "ag-ui"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Events: ...
    @overload
    def read(
        self, stream: str, format: str, *, after: str = "", **options: Unpack[EventOptions]
    ) -> Others: ...
    def read(
        self,
        stream: str,
        format: str = "updates",
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Any:
        """Yield what is published, as it comes, in this format, to the end of the stream.

        `updates` are `Update`s, `fragments` `Fragment`s, `chunks` pieces of the text, `calls`
        `ToolCallUpdate`s, `raw` the records themselves; events of other clients (`openai`,
        `ai-sdk`, `ag-ui`) are dicts. A connection that breaks is resumed after the last event:
        nothing is missing, and nothing comes twice. `after` is the id of an event to go on from.
        A stream that did not end well raises `StreamFailed` behind its last event.
        """
        query = {"format": format, **options}
        pairs = [f"{name}={quote(_text(value))}" for name, value in query.items()]
        path = self._path(stream, f"/events?{'&'.join(pairs)}")
        return self._read(partial(EventReading, stream, path, format, after))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return modes_text(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def named(error: Exception) -> str:
    """The name of an exception and, if it has one, its message."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
