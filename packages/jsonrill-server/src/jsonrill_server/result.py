"""`Run`: the logged events under a key and how the run ended, and functions that read them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from jsonrill import Document, Parts, ToolCall
from jsonrill.errors import stream_error
from jsonrill.messages import messages
from jsonrill.sources.answer import AnswerText

from .formats import BAD_TEXT, TextSource
from .log import Head, Lost, Store
from .options import Options
from .records import COMPLETE, End, Record, Status, from_bytes

log = logging.getLogger("jsonrill_server")
OnEnd = Callable[["Run"], Awaitable[object] | object]


@dataclass(frozen=True, slots=True)
class Meta:
    """The description of a run in its log's head."""

    key: str
    options: dict[str, Any] = field(default_factory=dict)
    source: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    lease: float = 10.0
    has_on_end: bool = False

    def to_json(self) -> str:
        fields = (self.key, self.options, self.source, self.args, self.lease, self.has_on_end)
        return json.dumps(fields)

    @classmethod
    def parse(cls, text: str) -> Meta:
        """Read the text of `to_json`; return the defaults if it is damaged."""
        try:
            key, options, source, args, lease, has_on_end = json.loads(text)
            return cls(str(key), dict(options), source, dict(args), float(lease), bool(has_on_end))
        except (ValueError, TypeError):
            log.error("a stream's options in the store are damaged")
            return cls("")


@dataclass(frozen=True)
class Run:
    """The logged events of a run, and how it ended.

    `status` is `active`, `complete`, `length`, `filtered`, `refused` (how the provider cut the
    answer), `stopped`, `error` or `lost`; `error` has `code` and `message`.
    """

    key: str
    status: Status | Literal["active"]
    error: dict[str, str] | None
    _records: Sequence[Record] = field(repr=False)
    _options: Options = field(repr=False)

    @cached_property
    def events(self) -> list[Any]:
        """The events in order: JSON values, and pieces of text as `str`."""
        return [r.body if r.input == "text" else json.loads(r.body) for r in self._records]

    @property
    def text(self) -> str:
        """The text of the answer; for a run of plain text, its pieces joined."""
        return self._answer[1]

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls of the answer."""
        return self._parts.calls

    def messages(self, form: str | None = None) -> list[dict[str, Any]]:
        """Return the answer as the next request to its provider sends it; `form` names another one.

        Calls are left out unless their results are in the answer, too.
        """
        return messages(self._parts, form)

    def current_value(self) -> dict[str, Any]:
        """Return the value so far: a document, or the text and the calls of an answer."""
        is_closed, problem = self.status != "active", None
        if self._options.input == "events":
            fields = ("id", "name", "args", "status")
            calls = [{name: getattr(call, name) for name in fields} for call in self.calls]
            body: dict[str, Any] = {"text": self.text, "calls": calls}
        else:
            source = TextSource(self._options)
            document = Document(**self._options.of("document"))
            try:
                for record in self._records:
                    document.feed(source.feed(record))
                if is_closed and self.error is None:
                    document.feed(source.flush())
                    document.flush()
            except BAD_TEXT as error:
                problem = stream_error(error)
            body = {"value": document.live, "complete": document.complete}
        body |= {"status": self.status, "closed": is_closed}
        body["last"] = len(self._records) + is_closed
        return body | ({"error": self.error or problem} if self.error or problem else {})

    def answer_end(self) -> End:
        """Return how the answer ended, after its source was read completely."""
        answer = self._answer[0]
        if answer.failure is not None:
            return End("error", "PROVIDER_ERROR", answer.failure)
        cut = answer.cut()
        return COMPLETE if cut is None else End(cut.reason)  # type: ignore[arg-type]

    @cached_property
    def _answer(self) -> tuple[AnswerText, str]:
        source = TextSource(self._options)
        text = "".join([source.feed(r) for r in self._records if r.input != "snapshots"])
        return source.answer, text

    @cached_property
    def _parts(self) -> Parts:
        parts = Parts(**self._options.of("calls"))
        for record in self._records:
            if record.input == "events":
                parts.feed(record.body)
        if self.status != "active":
            parts.flush()
        return parts


async def read_all(store: Store, name: str) -> tuple[Head | None, list[Record], End | None]:
    """Return everything in a log: its head, its records, and its end."""
    records: list[Record] = []
    seq = 0
    while True:
        head, rows = await store.read(name, seq)
        for row in rows:
            item = from_bytes(row.data)
            if isinstance(item, End):
                return head, records, item
            records.append(item)
        seq += len(rows)
        if head is None or seq >= head.last:
            return head, records, None
        if not rows:
            raise Lost("the store has lost records")


async def read_answer_end(store: Store, name: str) -> End:
    run = await read_run(store, name)
    return COMPLETE if run is None else await asyncio.to_thread(run.answer_end)


async def read_end(store: Store, name: str) -> End | None:
    """Return how a log ended; None if it has not."""
    head, _ = await store.read(name, 0, 0)
    if head is None or not head.closed:
        return None
    _, rows = await store.read(name, head.last - 1, 1)
    item = from_bytes(rows[0].data) if rows else None
    return item if isinstance(item, End) else None


async def read_run(store: Store, name: str) -> Run | None:
    head, records, end = await read_all(store, name)
    if head is None:
        return None
    meta = Meta.parse(head.meta)
    options = Options.stored(meta.options)
    if end is None:
        return Run(meta.key, "active", None, records, options)
    return Run(meta.key, end.status, end.error, records, options)
