"""The parts of an answer, in the order in which they begin: text, reasoning, calls, results.

A text or a thought is complete when another part begins or the answer ends, a call when its
arguments are a complete value. Each part is complete at most once. Calls may grow side by side, so
a call keeps its index while later parts come. An answer with a thought, a call and a text:

    reasoning 0 "Let me"     reasoning 0 " look."     reasoning 0 "" complete
    call 1 '{"city":'        call 1 '"Rome"}' complete
    text 2 "One moment."     text 2 "" complete
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .answer import Answer
from .errors import CutShort, Limits
from .jsontext import dumps
from .providers import Translate
from .providers.ending import Ending
from .providers.finish import Reason
from .providers.statements import Begin, Finish, Keep, Reasoning, Statement, Text, Usage, of_choice
from .thinking import ThinkTags
from .toolcalls import ToolCall, ToolCalls, ToolCallUpdate
from .toolcalls.call import Status

Kind = Literal["text", "reasoning", "call", "result"]


@dataclass(slots=True, eq=False)
class Entry:
    """A part while it grows, and the data that the next request has to send back with it.

    That is the provider's `original` item. An entry of the kind `original` is only such an item.
    """

    kind: Kind | Literal["original"]
    index: int
    block: int | None = None
    call: ToolCall | None = None
    text: str = ""
    original: dict[str, Any] | None = None
    error: str | None = None
    turn: int = 0
    is_complete: bool = False

    def add(self, text: str) -> None:
        # The string must have no other owner while it grows: then CPython extends it in place.
        whole, self.text = self.text, ""
        whole += text
        self.text = whole


@dataclass(slots=True, eq=False)
class Part:
    """A change of one part of an answer, or its end. It does not change afterwards.

    `index` numbers the parts, `turn` the answers of a conversation; `delta` is the new text.
    `complete`: a text has ended, or the arguments of a call are a complete value. It is true at
    most once for each part. A text that was cut ends with an `error`; a text or call that was cut
    has a `reason`. Calls and results have `call` and its `status`; a result has the `result` or
    `error` that the tool returned.
    """

    kind: Kind
    index: int
    delta: str = ""
    complete: bool = False
    call: ToolCall | None = None
    status: Status | None = None
    result: Any = None
    error: str | None = None
    turn: int = 0
    reason: str | None = None
    _entry: Entry | None = field(default=None, repr=False)
    _length: int = field(default=0, repr=False)

    @property
    def text(self) -> str:
        """The text of the part so far; for a call, the argument text."""
        if self.call is not None:
            return self.call.raw[: self._length]
        return "" if self._entry is None else self._entry.text[: self._length]

    @property
    def value(self) -> Any:
        """The arguments of the call as far as they are known, or the text. It is safe to keep."""
        return self.text if self.call is None else self.call.args_until(self._length)

    def to_dict(self) -> dict[str, Any]:
        """Return the part for JSON: its delta, and a call's arguments once they are complete.

        It is a source, too: everything that reads a provider's events reads these.
        """
        fields: dict[str, Any] = {"kind": self.kind, "index": self.index}
        if self.turn:
            fields["turn"] = self.turn
        if self.call is not None:
            fields["call"] = self._call_fields(self.call)
        if self.kind == "result":
            return {**fields, "result": plain(self.result), "error": self.error}
        fields |= {"delta": self.delta, "complete": self.complete}
        if self.error is not None:
            fields["error"] = self.error
        return fields if self.reason is None else {**fields, "reason": self.reason}

    def _call_fields(self, call: ToolCall) -> dict[str, Any]:
        fields: dict[str, Any] = {"id": call.id, "name": call.name, "status": self.status}
        if self.kind != "call":
            return fields
        if self.complete:
            fields["args"] = self.value
        if call.encoding == "text":
            fields["encoding"] = "text"
        if call.hosted:
            fields["hosted"] = True
        return {**fields, "error": call.error} if self.status == "error" else fields


class Parts:
    """Reads a provider's events and returns the parts of the answer as they grow.

    It has the options of `ToolCalls`; `choice` selects one of several answers, and `answer` gets
    its text, end and token counts. Reasoning that the model writes into the text, between `<think>`
    tags at its beginning, is a part of its own.
    """

    def __init__(
        self,
        provider: str | Translate = "auto",
        *,
        choice: int = 0,
        answer: Answer | None = None,
        schemas: Mapping[str, Any] | None = None,
        repair: Any = False,
        limits: Limits | None = None,
        on_repair: Any = None,
        asks_again: bool = False,
    ) -> None:
        if type(choice) is not int or choice < 0:
            raise ValueError(f"choice must be a whole number from 0 up, not {choice!r}")
        self._calls = ToolCalls(
            provider, schemas=schemas, repair=repair, on_repair=on_repair, limits=limits, keep=None
        )
        self._choice = choice
        self._tags = ThinkTags()
        # The reader of events, for `read`; how the answer ends.
        self.reader = self._calls.reader
        self.ending = Ending(choice, answer, asks_again)
        # All parts in the order in which they began; the part that text is added to, the part of
        # the last statement, and the parts of calls, by the number of the call.
        self.entries: list[Entry] = []
        self._open: Entry | None = None
        self._last: Entry | None = None
        self._by_call: dict[int, Entry] = {}
        self._count = 0
        # The number of the current response, and where its entries begin.
        self._turn = 0
        self._first = 0
        # How the answer was cut, once it has ended; and whether a part has that reason.
        self.cut: CutShort | None = None
        self._shows_cut = False

    @property
    def error(self) -> str | None:
        """The error that the provider has reported."""
        return self.ending.failure

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of the answer, in the order in which they began."""
        return self._calls.calls

    @property
    def outcome(self) -> Reason | None:
        """How the answer ended: complete, calls, length, filtered, refused, lost or error; None if
        the provider has not ended it."""
        return self.ending.outcome

    @property
    def text(self) -> str:
        """The text of the answer so far, without reasoning and calls."""
        return "".join([entry.text for entry in self.entries if entry.kind == "text"])

    def feed(self, event: Any) -> list[Part]:
        """Return the parts that one event changes: a dict, JSON text, or an SDK's object."""
        return self.read(self.reader.feed(event))

    def read(self, statements: Iterable[Statement]) -> list[Part]:
        """Return the parts that the statements of one event change."""
        # Some servers end a response with nothing but its token counts: a call that came before
        # them is complete. Counts in one event with a call do not end that call.
        ordered = sorted(statements, key=lambda statement: not isinstance(statement, Usage))
        chosen = of_choice(ordered, self._choice)
        self.ending.read(chosen)
        return [part for statement in chosen for part in self._apply(statement)]

    def flush(self, *, done: bool = False) -> list[Part]:
        """Return the parts at the end of the stream: calls that have not ended are truncated.

        `done`: the stream had an end mark such as `[DONE]`.
        """
        last = self.read([Finish()]) if self.reader.provider == "parts" else []
        ends = self.reader.ends and not done
        cut = self.cut = self.ending.end(ends=ends)
        last += self._release_text()
        last += self._updates(self._calls.flush(), cut)
        last += self._close_text(cut)
        return last + [*self._show_cut(cut)]

    def answer(self, call: ToolCall, result: Any = None, *, error: str | None = None) -> list[Part]:
        """Add a tool's result that the provider's stream does not contain, and return its part.

        The call may still be open; later events about it are still read.
        """
        call.answered, call.result_is_error = True, error is not None
        call.result = result if error is None else error
        return [self._result(call)]

    def _apply(self, statement: Statement) -> Iterator[Part]:
        if not isinstance(statement, Text | Keep | Usage):
            yield from self._release_text()
        match statement:
            case Text():
                yield from self._tagged(statement)
            case Reasoning():
                yield from self._text(statement)
            case Keep():
                self._keep(statement)
            case Usage():
                self._calls.read([statement])
            case _:
                cut = self.ending.cut(ends=False)
                yield from self._updates(self._calls.read([statement]), cut)
        if isinstance(statement, Begin):
            yield from self._close_text()
            self._tags = ThinkTags()
            self._turn += len(self.entries) > self._first
            self._first = len(self.entries)
        elif type(statement) is Finish:
            self._tags = ThinkTags()
            cut = self.ending.cut()
            yield from self._close_text(cut)
            yield from self._show_cut(cut)

    # ---- text ----

    def _text(self, statement: Text | Reasoning) -> Iterator[Part]:
        kind: Kind = "reasoning" if isinstance(statement, Reasoning) else "text"
        entry = self._open
        if entry is None or entry.kind != kind or entry.block != statement.block:
            yield from self._close_text()
            entry = self._open = self._begin(kind, statement.block)
        self._last = entry
        if statement.text or not statement.ends:
            entry.add(statement.text)
            yield self._text_part(entry, statement.text)
        if statement.ends:
            yield from self._close_text()

    def _tagged(self, statement: Text) -> Iterator[Part]:
        """Split a text into reasoning and answer. Providers that number texts send no tags."""
        if self._tags.is_answer or statement.block is not None:
            yield from self._text(statement)
            return
        for piece in self._tags.feed(statement.text):
            yield from self._text(piece)
        if statement.ends:
            yield from self._release_text()
            yield from self._close_text()

    def _release_text(self) -> Iterator[Part]:
        """Return the text that was held back because it could have become a tag."""
        for piece in self._tags.flush():
            yield from self._text(piece)

    def _close_text(self, cut: CutShort | None = None) -> Iterator[Part]:
        """End the open text. If it was cut, it is not complete, and its `error` says why."""
        entry, self._open = self._open, None
        if entry is None:
            return
        failure = self.error if self.ending.outcome == "error" else None
        entry.error = failure if cut is None else str(cut)
        part = self._text_part(entry, "")
        part.complete = entry.error is None
        if cut is not None:
            self._shows_cut, part.reason = True, cut.reason
        yield part

    def _show_cut(self, cut: CutShort | None) -> Iterator[Part]:
        """Yield an empty text that says why the answer was cut, if no other part does."""
        if cut is not None and not self._shows_cut:
            self._open = self._begin("text", None)
            yield from self._close_text(cut)

    def _text_part(self, entry: Entry, delta: str) -> Part:
        kind: Any = entry.kind
        part = Part(kind, entry.index, delta, error=entry.error, turn=entry.turn)
        part._entry, part._length = entry, len(entry.text)
        return part

    # ---- calls and results ----

    def _updates(
        self, updates: Iterable[ToolCallUpdate], cut: CutShort | None = None
    ) -> Iterator[Part]:
        for update in updates:
            call = update.call
            if update.is_result:
                yield self._result(call)
                continue
            entry = self._by_call.get(call.number)
            if entry is None:
                yield from self._close_text()
                entry = self._by_call[call.number] = self._begin("call", None, call)
            self._last = entry
            if entry.is_complete and update.status == "complete" and not update.function_args:
                continue  # the complete part has been yielded already
            part = Part("call", entry.index, update.function_args or "", turn=entry.turn)
            part.call, part.status, part._length = call, call.status, len(call.raw)
            # A name may come after the arguments; until then the call cannot be used.
            is_named = call.name is not None or call.status == "complete"
            part.complete = call.complete_args and is_named and not entry.is_complete
            entry.is_complete = entry.is_complete or part.complete
            if call.status == "truncated" and cut is not None:
                self._shows_cut, part.reason = True, cut.reason
            yield part

    def _result(self, call: ToolCall) -> Part:
        entry = Entry("result", self._count, turn=self._turn)
        self._count += 1
        self.entries.append(entry)
        part = Part("result", entry.index, complete=True, turn=entry.turn)
        part.call, part.status, part._length = call, call.status, len(call.raw)
        if call.result_is_error:
            result = call.result
            part.error = result if isinstance(result, str) else dumps(result, finite=True)
        else:
            part.result = call.result
        return part

    def _begin(self, kind: Kind, block: int | None, call: ToolCall | None = None) -> Entry:
        entry = self._last = Entry(kind, self._count, block, call, turn=self._turn)
        self._count += 1
        self._shows_cut = False
        self.entries.append(entry)
        return entry

    # ---- data that the next request sends back ----

    def _keep(self, keep: Keep) -> None:
        """Attach the data to its part, or to a new entry. Repeated data replaces earlier data."""
        owner = self._last if keep.block is None else self._owner(keep.block)
        if owner is None:
            self._last = owner = Entry("original", -1, keep.block, turn=self._turn)
            self.entries.append(owner)
        owner.original = keep.data

    def _owner(self, block: int) -> Entry | None:
        for entry in reversed(self.entries[self._first :]):
            known = entry.block if entry.call is None else entry.call.index
            if known == block and entry.kind != "result":
                return entry
        return None


def plain(value: Any) -> Any:
    """Return a tool's result as JSON values: models and dataclasses become objects."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    try:
        from pydantic_core import to_jsonable_python
    except ImportError:
        return value
    return to_jsonable_python(value)
