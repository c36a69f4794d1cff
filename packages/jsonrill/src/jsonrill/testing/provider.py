"""A provider that keeps what it generates: background responses, and a list of models."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from .answers import FakeAnswer
from .script import Cut, Script, Step, Token, framed
from .upstream import Exchange

Json = dict[str, Any]
_TICK: Final = 0.005


class Provider:
    """A reply of `Upstream` for all requests: models by name, each with its answer.

    A response with `background` is generated with or without a reader, one token in `pace`
    seconds. It can be retrieved, also as a stream that begins after an event (`starting_after`),
    cancelled and deleted. `resumes=False` is a provider that has no such streams.
    """

    def __init__(
        self,
        models: Mapping[str, FakeAnswer | Script] | Callable[[str], FakeAnswer | Script],
        *,
        names: tuple[str, ...] = (),
        resumes: bool = True,
    ) -> None:
        self._answer = models.__getitem__ if isinstance(models, Mapping) else models
        self._names = names or (tuple(models) if isinstance(models, Mapping) else ())
        self._resumes = resumes
        self.responses: dict[str, Response] = {}
        # Requests come in threads, and responses are deleted: no number is given out twice.
        self._numbers = count(1)

    def break_off(self) -> None:
        """Break all connections that stream a background response; it goes on."""
        for response in [*self.responses.values()]:
            response.breaks += 1

    def __call__(self, exchange: Exchange) -> Script | FakeAnswer:
        target = urlsplit(exchange.target)
        _, is_response, path = target.path.partition("/responses")
        if exchange.method == "GET" and target.path.endswith("/models"):
            return Script.json({"object": "list", "data": [_model(name) for name in self._names]})
        asked = exchange.json if isinstance(exchange.json, dict) else {}
        if is_response and path:
            return self._kept(exchange.method, path, parse_qs(target.query))
        answer = self._answer(asked["model"])
        if not isinstance(answer, FakeAnswer) or answer.status != 200:
            return answer
        return self._begin(answer, asked) if is_response and asked.get("background") else answer

    def _begin(self, answer: FakeAnswer, asked: Json) -> Script:
        id = f"resp_{next(self._numbers)}"
        begun = self.responses[id] = Response(id, answer, asked)
        return Script(begun.stream(0)) if asked.get("stream") else Script.json(begun.value())

    def _kept(self, method: str, path: str, query: Mapping[str, list[str]]) -> Script:
        id, _, action = path.strip("/").partition("/")
        response = self.responses.get(id)
        if response is None or action not in ("", "cancel"):
            return Script.json({"error": {"message": "not found", "type": "not_found"}}, 404)
        if method == "DELETE" and not action:
            response.cancelled.set()
            del self.responses[id]
            return Script.json({"id": id, "object": "response", "deleted": True})
        if method == "POST" and action == "cancel":
            response.cancelled.set()
        elif query.get("stream") == ["true"]:
            if not self._resumes:
                error = {"message": "cannot be streamed", "type": "invalid_request_error"}
                return Script.json({"error": error}, 400)
            [after] = query.get("starting_after", ["-1"])
            return Script(response.stream(int(after) + 1))
        return Script.json(response.value())


class Response:
    """A background response: its events, and how many of them are there by now."""

    def __init__(self, id: str, answer: FakeAnswer, asked: Json) -> None:
        self.id = id
        self.cancelled = threading.Event()
        # How often its connections were broken.
        self.breaks = 0
        self._begun = time.monotonic()
        # When each event is there, and the event.
        self._events: list[tuple[float, bytes]] = []
        at = 0.0
        for step in answer.script("/v1/responses", {**asked, "stream": True}).steps:
            if isinstance(step, float | int):
                at += step
            elif isinstance(step, bytes):
                self._events.append((at, self._renamed(step)))

    def _renamed(self, event: bytes) -> bytes:
        fields = json.loads(event.partition(b"data: ")[2])
        if isinstance(fields.get("response"), dict):
            fields["response"]["id"] = self.id
        return (Token if ".delta" in fields["type"] else bytes)(framed(fields))

    def stream(self, first: int) -> Iterator[Step]:
        """The steps of a stream from an event on; it breaks off when the response is cancelled."""
        breaks = self.breaks
        for at, event in self._events[first:]:
            while True:
                if self.cancelled.is_set():
                    return
                if breaks != self.breaks:
                    yield Cut.CLOSE
                if (rest := self._begun + at - time.monotonic()) <= 0:
                    break
                yield min(rest, _TICK)
            yield event

    def value(self) -> Json:
        """The response object as it is now."""
        now = time.monotonic() - self._begun
        there = [event for at, event in self._events if at <= now]
        events = [json.loads(event.partition(b"data: ")[2]) for event in there]
        last: Json = [event["response"] for event in events if "response" in event][-1]
        return {**last, "status": "cancelled"} if self.cancelled.is_set() else last


def _model(name: str) -> Json:
    return {"id": name, "object": "model", "created": 1, "owned_by": "fake"}
