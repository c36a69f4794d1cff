"""The parts of an answer, in the order in which they begin: text, reasoning, calls, results.

A text or a thought is complete when another part begins or the answer ends. Calls may grow beside
each other, so a call keeps its index while later parts come. For example, an answer with a thought,
a call and a text:

    reasoning 0 "Let me"     reasoning 0 " look."     reasoning 0 "" complete
    call 1 '{"city":'        call 1 '"Rome"}' complete
    text 2 "One moment."     text 2 "" complete
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, assert_never

from ..errors import CutShort, Limits, refuse_copy
from ..jsontext import dumps
from ..options import TABLE, OnRepair, Provider, Rules, Schemas
from ..parse.sink import TextBuffer
from ..providers import Reader
from ..providers.finish import Reason
from ..providers.statements import (
    Aggregate,
    Begin,
    CallDelta,
    Ending,
    Finish,
    Keep,
    Reasoning,
    Result,
    Statement,
    Text,
    Usage,
    Watch,
    of_choice,
)
from ..toolcalls import ToolCall, ToolCalls, ToolCallUpdate
from ..toolcalls.call import Status
from ..toolcalls.lifecycle import LiveCall
from .thinking import ThinkTags

Kind = Literal["text", "reasoning", "call", "result"]


@dataclass(slots=True, eq=False)
class Entry:
    """A part while it grows, and what the next request has to send back with it."""

    kind: Kind | Literal["kept"]
    index: int
    block: int | None = None
    call: LiveCall | None = None
    buffer: TextBuffer = field(default_factory=TextBuffer)
    length: int = 0
    kept: dict[str, Any] | None = None
    error: str | None = None
    turn: int = 0

    @property
    def text(self) -> str:
        return self.buffer.text()

    def add(self, text: str, *, complete: bool = False) -> Part:
        """Add text. The part shares the buffer, so that making many of them copies nothing."""
        self.buffer.add(text)
        self.length += len(text)
        assert self.kind != "kept"
        part = TextPart(self.kind, self.index, text, complete, turn=self.turn)
        part._buffer, part._length, part.error = self.buffer, self.length, self.error
        return part


@dataclass(slots=True, eq=False)
class AnyPart:
    """A change of one part of an answer, or its end.

    `index` numbers the parts, `turn` the answers of a conversation; `delta` is the text that is
    new. `complete`: nothing of a text follows, the arguments of a call are a complete value. A text
    that was cut ends with an `error`, and as a call that was cut it has the `reason`. `call` is the
    call, also of a result, whose `result` or `error` says what the tool returned.
    """

    kind: Kind
    index: int
    delta: str = ""
    complete: bool = False
    call: ToolCall | None = None
    result: Any = None
    error: str | None = None
    turn: int = 0
    reason: str | None = None
    # That of the call when the part was made: parts may be kept, and read later.
    _status: Status | None = field(default=None, repr=False)
    _buffer: TextBuffer | None = field(default=None, repr=False)
    _length: int = field(default=0, repr=False)

    @property
    def text(self) -> str:
        """The text of the part up to here; of a call, the argument text so far."""
        if self.call is not None:
            return self.call.raw
        return "" if self._buffer is None else self._buffer.text()[: self._length]

    @property
    def value(self) -> Any:
        """The arguments of the call as far as they are known, or the text. It is safe to keep."""
        return self.text if self.call is None else self.call.args

    def to_dict(self) -> dict[str, Any]:
        """The part as JSON wants it: its delta, and of a call its arguments once complete.

        It is a source, too: all that takes a provider's events takes these.
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
        fields: dict[str, Any] = {"id": call.id, "name": call.name}
        fields["status"] = self._status or call.status
        if self.kind != "call":
            return fields
        if self.complete:
            fields["args"] = call.args
        if call.encoding == "text":
            fields["encoding"] = "text"
        if call.hosted:
            fields["hosted"] = True
        return fields if call.error is None else {**fields, "error": call.error}


class TextPart(AnyPart):
    """A change of a text or of reasoning."""

    __slots__ = ()
    kind: Literal["text", "reasoning"]
    call: None


class CallPart(AnyPart):
    """A change of a call."""

    __slots__ = ()
    kind: Literal["call"]
    call: ToolCall


class ResultPart(AnyPart):
    """The result of a call."""

    __slots__ = ()
    kind: Literal["result"]
    call: ToolCall


# A type checker learns from `kind` which of them it is.
Part = TextPart | CallPart | ResultPart


class Parts:
    """Reads a provider's events and returns the parts of the answer as they grow.

    Options are those of `ToolCalls`; `choice` selects one of several answers. Reasoning that the
    model writes into the text, between `<think>` tags at its beginning, is a part of its own.
    """

    # Copies would share what grows.
    __copy__ = __deepcopy__ = __reduce_ex__ = refuse_copy

    def __init__(
        self,
        provider: Provider = "auto",
        *,
        choice: int = 0,
        schemas: Schemas = None,
        repair: Rules = False,
        limits: Limits | None = None,
        on_repair: OnRepair = None,
    ) -> None:
        if type(choice) is not int or choice < 0:
            raise ValueError(f"choice is a whole number from 0 up, not {choice!r}")
        self._calls = ToolCalls(
            provider,
            schemas=schemas,
            repair=repair,
            on_repair=on_repair,
            limits=limits,
            keep=None,
        )
        self._choice = choice
        self._tags = ThinkTags()
        self._ending = Ending()
        # All parts in the order in which they began; the one that text is added to, the last one
        # that a statement was about, and those of calls, by the number of the call.
        self.entries: list[Entry] = []
        self._open: Entry | None = None
        self._last: Entry | None = None
        self._of_call: dict[int, Entry] = {}
        self._began = 0
        # The number of the response at hand, and where its entries begin.
        self._turn = 0
        self._first = 0
        # How the answer was cut, once it has ended; and if a part says so.
        self.cut: CutShort | None = None
        self._told = False
        self.error: str | None = None
        self.usage: dict[str, Any] | None = None
        self._watch: Watch | None = None

    def tell(self, answer: Any) -> None:
        """Let the caller's object know of the text, the end and the token counts."""
        if TABLE["answer"].check(answer) is not None:
            self._watch = Watch(answer, self._choice)

    def asks_again(self) -> None:
        """The caller lets a model that pauses go on, so that its answer is not cut."""
        self._ending = Ending(asks_again=True)

    @property
    def paused(self) -> bool:
        """True if the model goes on when it is sent what it has said so far."""
        return self._ending.paused

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of the answer, in the order in which they began."""
        return self._calls.calls

    @property
    def reader(self) -> Reader:
        """Turns events into statements, for `read`."""
        return self._calls.reader

    @property
    def outcome(self) -> Reason | None:
        """How the answer ended: complete, calls, length, filtered, refused, lost or error; None if
        the provider has not ended it."""
        return self._ending.of(self._choice)

    @property
    def text(self) -> str:
        """The text of the answer so far, without reasoning and calls."""
        return "".join([entry.text for entry in self.entries if entry.kind == "text"])

    def feed(self, event: Any) -> list[Part]:
        """The parts that one event changes: a dict, JSON text, or an object of a client library."""
        return self.read(counts_first(self.reader.feed(event)))

    def read(self, statements: Iterable[Statement]) -> list[Part]:
        """The parts that statements change; those of one event in the order of `counts_first`."""
        statements = of_choice(statements, self._choice)
        self._ending.feed(statements)
        if self._watch is not None:
            self._watch.read(statements)
        return [part for statement in statements for part in self._act(statement)]

    def flush(self, *, done: bool = False) -> list[Part]:
        """The parts at the end of the stream: calls that have not ended are truncated.

        `done`: the stream said that it is at its end, such as with `[DONE]`.
        """
        last = self.read([Finish()]) if self.reader.ends_with_source else []
        ends = self.reader.ends and not done
        cut = self.cut = self._ending.cut(self._choice, ends=ends)
        if self._watch is not None:
            self._watch.end(ends=ends)
        return [
            *last,
            *self._end_text(),
            *self._updates(self._calls.flush(), cut),
            *self._close_text(cut),
            *self._tell(cut),
        ]

    def answer(self, call: ToolCall, result: Any = None, *, error: str | None = None) -> list[Part]:
        """The part of a tool's result, where the provider's stream does not carry it.

        The call may still be open: what the provider says of it afterwards still counts.
        """
        call.answered, call.result_is_error = True, error is not None
        call.result = result if error is None else error
        return [*self._result(call)]

    def _act(self, statement: Statement) -> Iterator[Part]:
        if not isinstance(statement, Text | Keep | Usage):
            yield from self._end_text()
        match statement:
            case Text():
                yield from self._tagged(statement)
            case Reasoning():
                yield from self._text("reasoning", statement)
            case Keep():
                self._keep(statement)
            case Usage(counts):
                self.usage = {**(self.usage or {}), **counts}
                self._calls.read([statement])
            case Begin() | CallDelta() | Result() | Aggregate() | Finish():
                cut = self._ending.cut(self._choice, ends=False)
                yield from self._updates(self._calls.read([statement]), cut)
                if isinstance(statement, Begin):
                    yield from self._close_text()
                    self._tags = ThinkTags()
                    self._turn += len(self.entries) > self._first
                    self._first = len(self.entries)
                elif isinstance(statement, Finish):
                    self._tags = ThinkTags()
                    yield from self._close_text(self._ending.cut(self._choice))
                    yield from self._tell(self._ending.cut(self._choice))
                    if statement.reason == "error":
                        self.error = self.error or statement.detail
            case _:
                assert_never(statement)

    def _text(self, kind: Kind, statement: Text | Reasoning) -> Iterator[Part]:
        entry = self._open
        if entry is None or entry.kind != kind or entry.block != statement.block:
            yield from self._close_text()
            entry = self._open = self._begin(kind, statement.block)
        self._last = entry
        if statement.text or not statement.ends:
            yield entry.add(statement.text)
        if statement.ends:
            yield from self._close_text()

    def _tagged(self, statement: Text) -> Iterator[Part]:
        """Divide a text into reasoning and answer. Providers that number texts have no tags."""
        if self._tags.is_answer or statement.block is not None:
            yield from self._text("text", statement)
            return
        for is_reasoning, text in self._tags.feed(statement.text):
            yield from self._piece(is_reasoning, text)
        if statement.ends:
            yield from self._end_text()
            yield from self._close_text()

    def _piece(self, is_reasoning: bool, text: str) -> Iterator[Part]:
        if is_reasoning:
            yield from self._text("reasoning", Reasoning(text))
        else:
            yield from self._text("text", Text(text))

    def _end_text(self) -> Iterator[Part]:
        """The text has ended: what was held back is no tag."""
        for is_reasoning, text in self._tags.flush():
            yield from self._piece(is_reasoning, text)

    # ---- parts ----

    def _close_text(self, cut: CutShort | None = None) -> Iterator[Part]:
        """End the open text; one that was cut is not complete, and its `error` says why."""
        entry, self._open = self._open, None
        if entry is None:
            return
        entry.error = None if cut is None else str(cut)
        part = entry.add("", complete=entry.error is None)
        if cut is not None:
            self._told, part.reason = True, cut.reason
        yield part

    def _tell(self, cut: CutShort | None) -> Iterator[Part]:
        """An empty text that says why the answer was cut, if no other part does."""
        if cut is not None and not self._told:
            self._open = self._begin("text", None)
            yield from self._close_text(cut)

    def _updates(
        self, updates: Iterable[ToolCallUpdate], cut: CutShort | None = None
    ) -> Iterator[Part]:
        for update in updates:
            call = update.call
            if update.is_result:
                yield from self._result(call)
                continue
            known = self._of_call.get(call.number)
            if known is None:
                yield from self._close_text()
                known = self._of_call[call.number] = self._begin("call", None, call)
            self._last = known
            part = self._call_part(known, update.function_args or "", call.complete_args)
            if call.status == "truncated" and cut is not None:
                self._told, part.reason = True, cut.reason
            yield part

    def _call_part(self, entry: Entry, text: str, complete: bool) -> CallPart:
        call = entry.call
        assert call is not None
        return CallPart(
            "call", entry.index, text, complete, call, turn=entry.turn, _status=call.status
        )

    def _result(self, call: ToolCall) -> Iterator[Part]:
        entry = Entry("result", self._began, turn=self._turn)
        self._began += 1
        self.entries.append(entry)
        failed = call.result_is_error
        yield ResultPart(
            "result",
            entry.index,
            "",
            True,
            call,
            None if failed else call.result,
            _as_text(call.result) if failed else None,
            turn=entry.turn,
            _status=call.status,
        )

    def _begin(self, kind: Kind, block: int | None, call: LiveCall | None = None) -> Entry:
        entry = self._last = Entry(kind, self._began, block, call, turn=self._turn)
        self._began += 1
        self._told = False
        self.entries.append(entry)
        return entry

    def _keep(self, keep: Keep) -> None:
        """Attach what the next request sends back to its part, or keep it as an entry of its own.

        A repetition replaces what came before.
        """
        owner = None if keep.alone else self._owner(keep.block)
        if owner is None:
            self._last = owner = Entry("kept", -1, keep.block, turn=self._turn)
            self.entries.append(owner)
        owner.kept = keep.data

    def _owner(self, block: int | None) -> Entry | None:
        if block is None:
            return self._last
        for entry in reversed(self.entries[self._first :]):
            its = entry.block if entry.call is None else entry.call.index
            if its == block and entry.kind != "result":
                return entry
        return None


def counts_first(statements: Iterable[Statement]) -> list[Statement]:
    """The statements of one event, token counts before the rest.

    Some servers end a response with nothing but its token counts: a call that came before them is
    complete. Counts that come in one event with a call do not end that call.
    """
    return sorted(statements, key=_is_no_count)


def _is_no_count(statement: Statement) -> bool:
    return not isinstance(statement, Usage)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def plain(value: Any) -> Any:
    """A tool's result as JSON values: models and dataclasses become objects."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    try:
        from pydantic_core import to_jsonable_python
    except ImportError:
        return value
    return to_jsonable_python(value)
