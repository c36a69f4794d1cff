"""The parts of an answer, in the order in which they begin: text, reasoning, calls, results.

A text or a thought is complete when another part begins or the answer ends. Calls may grow beside
each other, so a call keeps its index while later parts come. For example, an answer with a thought,
a call and a text:

    reasoning 0 "Let me"     reasoning 0 " look."     reasoning 0 "" complete
    call 1 '{"city":'        call 1 '"Rome"}' complete
    text 2 "One moment."     text 2 "" complete
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, assert_never

from ..build.document import Document
from ..errors import CutShort, InvalidJSON, LimitExceeded, Limits, refuse_copy
from ..jsontext import dumps
from ..options import TABLE, OnRepair, Provider, Rules, Schemas, Split
from ..parse.sink import TextBuffer
from ..providers import Reader
from ..providers.finish import Reason
from ..providers.statements import (
    Aggregate,
    Begin,
    CallDelta,
    End,
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
from .split import Segment, Splitter

Kind = Literal["text", "reasoning", "json", "call", "result"]


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
    # Of a JSON block: what reads it.
    document: Document | None = None
    error: str | None = None
    turn: int = 0

    @property
    def text(self) -> str:
        return self.buffer.text()

    def add(self, text: str, *, complete: bool = False, raw: str | None = None) -> Part:
        """Add text. The part shares the buffer, so that making many of them copies nothing."""
        self.buffer.add(text)
        self.length += len(text)
        assert self.kind != "kept"
        part = TextPart(self.kind, self.index, text, complete, turn=self.turn)
        part._buffer, part._length, part._document = self.buffer, self.length, self.document
        part.raw, part.error = text if raw is None else raw, self.error
        return part


@dataclass(slots=True, eq=False)
class AnyPart:
    """A change of one part of an answer, or its end.

    `index` numbers the parts, `turn` the answers of a conversation; `delta` is the text that is
    new. `complete`: nothing of a text follows, the arguments of a call are a complete value. A text
    that was cut ends with an `error`, and as a call that was cut it has the `reason`. `call` is the
    call, also of a result, whose `result` or `error` says what the tool returned. With `split`,
    `raw` is the text as it came, with tags: joined, the `raw` of all parts is the text.

    Of an agent, the `status` of a call is `started` before its tool is run, and `waiting` if a
    person has to decide. `state` is what `state_of` needs to continue.
    """

    kind: Kind
    index: int
    delta: str = ""
    complete: bool = False
    call: ToolCall | None = None
    result: Any = None
    error: str | None = None
    raw: str = ""
    turn: int = 0
    reason: str | None = None
    status: Literal["started", "waiting"] | None = None
    state: dict[str, Any] | None = field(default=None, repr=False)
    # That of the call when the part was made: parts may be kept, and read later.
    _status: Status | None = field(default=None, repr=False)
    _document: Document | None = field(default=None, repr=False)
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
        """The arguments of the call, or the value of the JSON block, as far as they are known; else
        the text. It is safe to keep."""
        if self._document is not None:
            return self._document.value
        return self.text if self.call is None else self.call.args

    def to_dict(self, *, state: bool = False) -> dict[str, Any]:
        """The part as JSON wants it: its delta, and of a call its arguments once complete.

        It is a source, too: all that takes a provider's events takes these. With `state`, also what
        `state_of` needs to continue: for a log, not for a page.
        """
        fields: dict[str, Any] = {"kind": self.kind, "index": self.index}
        if self.turn:
            fields["turn"] = self.turn
        if self.status is not None:
            fields["status"] = self.status
        if state and self.state is not None:
            fields["state"] = self.state
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
    """A change of a text, a thought, or (with `split`) a block of JSON."""

    __slots__ = ()
    kind: Literal["text", "reasoning", "json"]
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

    Options are those of `ToolCalls`; `choice` selects one of several answers. `split` divides the
    text into prose, reasoning, JSON blocks and calls that open models write as text: True, or names
    from the table in `split.py`.
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
        split: Split = False,
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
        self._provider = provider
        self._choice = choice
        self._repair, self._on_repair, self._limits = repair, on_repair, limits
        self._split = split
        self._splitter = Splitter(split, bool(repair)) if split else None
        # The parts of a text that is split, by the number of the segment.
        self._segments: dict[int, Entry] = {}
        self._texts = 0
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._asks_again = False
        self._ending = Ending()
        # All parts in the order in which they began; the one that text is added to, the last one
        # that a statement was about, and those of calls, by the number of the call.
        self.entries: list[Entry] = []
        self._open: Entry | None = None
        self._last: Entry | None = None
        self._of_call: dict[int, Entry] = {}
        self.began = 0
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
        self._asks_again, self._ending = True, Ending(asks_again=True)

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
        """The parts that one event changes: a dict, JSON text, or an object of a client library.

        With `split`, text is a piece of the answer's text.
        """
        if self._splitter is not None and isinstance(event, (str, bytes, bytearray, memoryview)):
            return self.feed_text(event)
        return self.read(counts_first(self.reader.feed(event)))

    def read(self, statements: Iterable[Statement]) -> list[Part]:
        """The parts that statements change; those of one event in the order of `counts_first`."""
        statements = of_choice(statements, self._choice)
        self._ending.feed(statements)
        if self._watch is not None:
            self._watch.read(statements)
        return [part for statement in statements for part in self._act(statement)]

    def feed_text(self, text: str | bytes | bytearray | memoryview) -> list[Part]:
        """The parts that a piece of text changes, for `split` without a provider."""
        if not isinstance(text, str):
            text = self._decoder.decode(text)
        statement = Text(text, self._choice)
        if self._watch is not None:
            self._watch.read([statement])
        return [*self._act(statement)]

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
            *self._end_split(),
            *self._updates(self._calls.flush(), cut),
            *self._close_text(cut),
            *self._tell(cut),
        ]

    def begin(self) -> None:
        """Another answer of the same conversation follows: indices count on."""
        self._calls.read([Begin()])
        self._calls.reader = Reader(self._provider)
        self._ending = Ending(asks_again=self._asks_again)
        self._splitter = Splitter(self._split, bool(self._repair)) if self._split else None
        self._segments.clear()
        self._open = self._last = None
        self._turn += len(self.entries) > self._first
        self._first = len(self.entries)
        self.cut = self.error = self.usage = None

    def resume(self, turn: int) -> None:
        """An answer is read again from what was saved of it, after `turn` other answers."""
        self._calls.skip(turn)
        self._turn = turn
        self._splitter = None  # it is divided already

    def entry_of(self, call: LiveCall) -> Entry:
        """The entry of a call."""
        return self._of_call[call.number]

    def answer(self, call: ToolCall, result: Any = None, *, error: str | None = None) -> list[Part]:
        """The part of a tool's result, where the provider's stream does not carry it.

        The call may still be open: what the provider says of it afterwards still counts.
        """
        call.answered, call.result_is_error = True, error is not None
        call.result = result if error is None else error
        return [*self._result(call)]

    def _act(self, statement: Statement) -> Iterator[Part]:
        if self._splitter is not None and not isinstance(statement, Text | Keep | Usage):
            yield from self._end_split()
        match statement:
            case Text(text) if self._splitter is not None:
                yield from self._divided(self._splitter.feed(text))
            case Text():
                yield from self._text("text", statement)
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
                if isinstance(statement, CallDelta) and statement.status in ("started", "waiting"):
                    yield from self._state_of_call(statement)
                if isinstance(statement, Begin):
                    yield from self._close_text()
                    self._turn += len(self.entries) > self._first
                    self._first = len(self.entries)
                elif isinstance(statement, Finish):
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

    # ---- a text that is split ----

    def _divided(self, segments: Iterable[Segment]) -> Iterator[Part]:
        for segment in segments:
            if segment.kind == "call":
                yield from self._written_call(segment)
            else:
                yield from self._segment(segment)

    def _segment(self, segment: Segment) -> Iterator[Part]:
        entry = self._segments.get(segment.number)
        if entry is None:
            yield from self._close_text()
            entry = self._segments[segment.number] = self._open = self._begin(segment.kind, None)
            if segment.kind == "json":
                entry.document = Document(
                    repair=self._repair, on_repair=self._on_repair, limits=self._limits
                )
        if entry.document is not None and entry.error is None:
            try:
                entry.document.feed(segment.content)
                if segment.closed:
                    entry.document.flush()
            except (InvalidJSON, LimitExceeded) as error:
                entry.error = error.message
        closed = segment.closed and entry.error is None
        if segment.content or segment.raw or closed:
            yield entry.add(segment.content, complete=closed, raw=segment.raw)
        if segment.closed:
            self._open = None

    def _written_call(self, segment: Segment) -> Iterator[Part]:
        """The parts of a call that the model wrote as text."""
        alias = f"text-{self._texts}-{segment.number}"
        # An id that comes twice names two calls, whatever the model means.
        id = segment.id if self._calls.get(segment.id or "") is None else None
        delta = CallDelta(
            id,
            None,
            segment.name,
            segment.content or None,
            choice=self._choice,
            alias=alias,
            end=End(sure=True) if segment.closed else None,
        )
        parts = [*self._updates(self._calls.read([delta]))]
        if parts:
            parts[-1].raw = segment.raw
            self._segments[segment.number] = self.entries[-1]
        elif segment.raw:
            entry = self._segments[segment.number]
            complete = entry.call is not None and entry.call.complete_args
            parts = [self._call_part(entry, "", complete, raw=segment.raw)]
        yield from parts

    def _end_split(self) -> Iterator[Part]:
        """The text has ended: what follows is divided anew."""
        if self._splitter is not None and self._splitter.fed:
            yield from self._divided(self._splitter.flush())
            self._splitter = Splitter(self._split, bool(self._repair), first=False)
            self._segments.clear()
            self._texts += 1

    # ---- parts ----

    def _close_text(self, cut: CutShort | None = None) -> Iterator[Part]:
        """End the open text; one that was cut is not complete, and its `error` says why."""
        entry, self._open = self._open, None
        if entry is None:
            return
        if entry.document is None:
            entry.error = None if cut is None else str(cut)
        elif entry.error is None:
            try:
                entry.document.flush(cut)
            except (InvalidJSON, LimitExceeded) as error:
                entry.error = error.message
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

    def _call_part(self, entry: Entry, text: str, complete: bool, raw: str = "") -> CallPart:
        call = entry.call
        assert call is not None
        return CallPart(
            "call", entry.index, text, complete, call, raw=raw, turn=entry.turn, _status=call.status
        )

    def _state_of_call(self, delta: CallDelta) -> Iterator[Part]:
        """A part that says that the tool of a call was started, or that the call waits."""
        call = self._calls.get(delta.id or "")
        if isinstance(call, LiveCall) and call.number in self._of_call:
            part = self._call_part(self._of_call[call.number], "", call.complete_args)
            part.status = "started" if delta.status == "started" else "waiting"
            yield part

    def _result(self, call: ToolCall) -> Iterator[Part]:
        entry = Entry("result", self.began, turn=self._turn)
        self.began += 1
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
        entry = self._last = Entry(kind, self.began, block, call, turn=self._turn)
        self.began += 1
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
