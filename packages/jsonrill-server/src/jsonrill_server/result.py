"""`Run`: what is logged under a key, and how it ended."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from jsonrill import Parts, ToolCall
from jsonrill.messages import messages
from jsonrill.sources.answer import AnswerText

from .options import Options
from .records import Record, Status

OnEnd = Callable[["Run"], Awaitable[object] | object]


@dataclass(frozen=True)
class Run:
    """What is logged, and how it ended.

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
        return [it.body if it.input == "text" else json.loads(it.body) for it in self._records]

    @cached_property
    def text(self) -> str:
        """The text of the answer; of a run of pieces of text, these joined."""
        answer = AnswerText(self._options.provider)
        texts = [it.body if it.input == "text" else answer.feed(it.body) for it in self._records]
        return "".join(texts)

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls of the answer."""
        return self._parts.calls

    def messages(self, form: str | None = None) -> list[dict[str, Any]]:
        """Return the answer as the next request to its provider sends it; `form` names another one.

        Calls are left out unless their results are in the answer, too.
        """
        provider = self._parts.reader.provider
        # Parts have no provider: they are written in the form that most take.
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
