"""`Run`: what was logged under a key, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from jsonrill.answer import Answer
from jsonrill.answer_parts import Parts
from jsonrill.messages import messages
from jsonrill.providers import Reader
from jsonrill.providers.ending import Watch
from jsonrill.providers.finish import Reason
from jsonrill.toolcalls import ToolCall

from .options import StreamOptions
from .records import Record

Outcome = Literal["active", "complete", "stopped", "error"]
OnEnd = Callable[["Run"], Awaitable[object] | object]
Resume = Callable[[int], Any]
ResumeKey = Callable[[str, int], Any]
# Called with the run as it is in the log, and the arguments that were logged with its start.
ResumeNamed = Callable[..., Any]


@dataclass(frozen=True)
class Run:
    """A run that has ended: what was logged, and how it ended.

    `error` has `code` and `message`, unless the run is complete. A function that continues a run
    gets it while it is `active`.
    """

    key: str
    status: Outcome
    error: dict[str, Any] | None
    _records: Sequence[Record] = field(repr=False)
    _options: StreamOptions = field(repr=False)

    @cached_property
    def events(self) -> list[Any]:
        """What was logged, in order: events as JSON values, pieces of text as `str`."""
        return [it.body if it.input == "text" else json.loads(it.body) for it in self._records]

    @cached_property
    def text(self) -> str:
        """The text of the answer; of a run of pieces of text, these joined."""
        answer, reader = Answer(), Reader(self._options.provider)
        watch = Watch(answer)
        for it in self._records:
            if it.input == "text":
                answer.add(it.body)
            else:
                watch.read(reader.feed(it.body))
        return answer.text

    @property
    def outcome(self) -> Reason | None:
        """How a provider's answer ended: complete, calls, length, filtered, refused, lost or error;
        None if it has not, because the run did not get there, or there is no answer."""
        outcome, cut = self._parts.outcome, self._parts.cut
        if outcome is None and cut is not None and self.status == "complete":
            return "lost"
        return outcome

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls of the answer."""
        return self._parts.calls

    def messages(self, form: str | None = None) -> list[dict[str, Any]]:
        """The answer as the next request to its provider sends it; `form` names another one.

        Calls are left out unless their results are in the answer, too.
        """
        # Parts are of no provider: they are written in the form that most take.
        provider = self._parts.reader.provider
        written = form or ("openai_chat" if provider == "parts" else provider)
        return messages(written, self._parts.entries)

    @cached_property
    def _parts(self) -> Parts:
        parts = Parts(self._options.provider)
        for record in self._records:
            if record.input == "events":
                parts.feed(record.body)
        parts.flush()
        return parts
