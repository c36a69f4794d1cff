"""Tool calls as they stream: statements of a provider in, calls with growing arguments out.

Hands each statement to the call it is about (`identity.py` finds it, `lifecycle.py` lets it grow)
and bounds how many calls are kept. Knows no provider, and raises nothing on data.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn, assert_never

from ..errors import Limits, UnknownEvents, refuse_copy
from ..options import OnRepair, Provider, Rules, Schemas, check
from ..parse.rules import rule_names
from ..parse.sink import Repair
from ..providers import Reader
from ..providers.call_delta import CallDelta
from ..providers.fields import ABSENT
from ..providers.statements import (
    Aggregate,
    Begin,
    Finish,
    Keep,
    Reasoning,
    Result,
    Statement,
    Text,
    Usage,
)
from ..wire.compact import CompactEncoder
from ..wire.fragment import Fragment
from ..wire.full import to_wire
from .call import Status, ToolCall
from .identity import Identity, Scope
from .lifecycle import LiveCall, News, joined

if TYPE_CHECKING:
    from ..schema import Schema

# A response that never ends must not pile up calls without end.
_MOST: Final = 10_000
# How many results whose calls have not arrived are kept.
_MOST_EARLY: Final = 256


class ToolCallUpdate:
    """What one event changed in one call (`call`); None where it changed nothing.

    `json_update_fragments` is None when no argument text came, `[]` when some came but nothing is
    new. `status` and `error` are there when the status changed, `is_result` when a result came.
    """

    __slots__ = ("_sends_id", "call", "encoding", "error", "function_args", "function_name",
                 "index", "is_result", "json_update_fragments", "message_id", "status",
                 "tool_call_id")  # fmt: skip

    def __init__(
        self,
        call: LiveCall,
        function_name: str | None = None,
        function_args: str | None = None,
        json_update_fragments: list[Fragment] | None = None,
        status: Status | None = None,
        encoding: str | None = None,
        *,
        is_result: bool = False,
    ) -> None:
        self.call = call
        self.function_name = function_name
        self.function_args = function_args
        self.json_update_fragments = json_update_fragments
        self.status = status
        self.encoding = encoding
        self.is_result = is_result
        self.message_id = call.message_id
        self.tool_call_id = call.id
        self.index = call.index
        self.error = call.error if status == "error" else None
        # An id of our own making is not sent where the provider's may still come: the receiver
        # knows the call by its index until then, and makes the same one.
        self._sends_id = call.own_id or call.index is None

    def to_wire(self, encoder: CompactEncoder | None = None) -> dict[str, Any]:
        """As a dict for JSON, absent fields left out; with an encoder, fragments are compact."""
        fragments: list[Any] | None = self.json_update_fragments
        if fragments is not None:
            fragments = encoder.feed(fragments) if encoder else [*map(to_wire, fragments)]
        fields = {
            "tool_call_id": self.tool_call_id if self._sends_id else None,
            "index": self.index,
            "function_name": self.function_name,
            "encoding": self.encoding,
            "function_args": self.function_args,
            "json_update_fragments": fragments,
            "status": self.status,
            "error": self.error,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def __repr__(self) -> str:
        shown = (self.function_name, self.function_args, self.status)
        words = " ".join(repr(part) for part in shown if part is not None)
        return f"<ToolCallUpdate {self.tool_call_id} {words}>"


class ToolCalls:
    """Reads provider events and keeps tool calls whose arguments grow, interleaved or not.

    `provider` is `"auto"`, the name of a known provider, or a function from an event to statements.
    `schemas` maps tool names to what `Schema` takes. `repair` reads arguments that are nearly JSON,
    but a call that was cut off stays truncated. The last `keep` calls of responses that have ended
    are kept (None: all). One object can read any number of responses, one after another or at once.
    """

    __slots__ = ("_calls", "_counted", "_done", "_early", "_event", "_identity", "_keep",
                 "_last", "_recent", "_schemas", "_unknown", "_updates", "ended",
                 "reader")  # fmt: skip

    def __init__(
        self,
        provider: Provider = "auto",
        *,
        schemas: Schemas = None,
        keep: int | None = 256,
        repair: Rules = False,
        limits: Limits | None = None,
        on_repair: OnRepair = None,
    ) -> None:
        check(schemas=schemas, keep=keep, limits=limits)
        check(on_repair=on_repair)
        self.reader = Reader(provider)
        # How many events came before one was recognised; None after that.
        self._unknown: int | None = 0
        self._schemas = _compiled(schemas) if schemas else {}
        self._keep = keep
        # A call that was cut off stays truncated: half of one must not pass for a complete one.
        rules = rule_names(repair) - {"cut-off"}
        make = partial(LiveCall, limits=limits or Limits(), repair=rules, on_repair=on_repair)
        self._identity: Identity[LiveCall] = Identity(make)
        # The call that a delta is about if it says where it belongs as the last one did.
        self._recent: LiveCall | None = None
        self._last: CallDelta | None = None
        # All calls that are kept, by number; and those whose response has ended.
        self._calls: dict[int, LiveCall] = {}
        self._done: dict[int, LiveCall] = {}
        self._updates: list[ToolCallUpdate] = []
        # The results whose calls have not come yet, by id.
        self._early: dict[str, Result] = {}
        # The number of the last event, and of the last one with token counts.
        self._event = 0
        self._counted = 0
        # The messages whose response ended with the last `feed` or `flush`.
        self.ended: list[str] = []

    # Copies would share what grows.
    def __copy__(self) -> NoReturn:
        refuse_copy(self)

    def __deepcopy__(self, memo: Any) -> NoReturn:
        refuse_copy(self)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        refuse_copy(self)

    @property
    def calls(self) -> list[ToolCall]:
        """The calls that are kept, in order of appearance."""
        return [*self._calls.values()]

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: the repairs in the calls that are kept, call by call."""
        return [repair for call in self._calls.values() for repair in call.repairs]

    def get(self, id: str) -> ToolCall | None:
        """The latest call of this id."""
        return self._identity.known(id)

    def of(self, message_id: str) -> list[LiveCall]:
        """The calls of one message."""
        return self._identity.calls_of(message_id)

    def feed(self, event: Any) -> list[ToolCallUpdate]:
        """The updates that one event makes: a dict, JSON text, or an object of a client library."""
        statements = self.reader.feed(event)
        if self._unknown is not None:
            self._count(bool(statements))
        return self.read(statements)

    def read(self, statements: Iterable[Statement]) -> list[ToolCallUpdate]:
        """The updates that statements make; `self.reader` turns an event into statements."""
        if self.ended:
            self.ended = []
            self._evict()
        self._event += 1
        for statement in statements:
            self._act(statement)
        return self._take()

    def flush(self, *message_ids: str) -> list[ToolCallUpdate]:
        """The updates at the end of a stream: calls that have not ended are truncated.

        Another stream may follow. If several are read at once, name the messages of this one. If
        no event was recognised, it warns (`UnknownEvents`), once.
        """
        if self._unknown:
            unknown, self._unknown = self._unknown, None
            warnings.warn(
                f"none of {unknown} events is from a known provider; provider= takes the name of"
                " one, or a function that reads other events",
                UnknownEvents,
                stacklevel=2,
            )
        self.ended = []
        self._evict()
        for message_id in message_ids or (None,):
            for scope in self._identity.ended(message_id, None):
                self._end(scope, None)
        return self._take()

    def answer(self, id: str, result: Any, *, is_error: bool = False) -> list[ToolCallUpdate]:
        """Record a tool's result, where the provider's stream does not carry it."""
        self.ended = []
        self._result(Result(id, result, is_error))
        return self._take()

    def forget(self, message_id: str) -> None:
        """Drop the calls of this message, as if it had never come."""
        self._recent = None
        for call in self._identity.forget(message_id):
            self._calls.pop(call.number, None)
            self._done.pop(call.number, None)

    def _count(self, known: bool) -> None:
        """Notice the first event that is recognised: it says something, or is of a provider."""
        known = known or (self.reader.named == "auto" and self.reader.provider is not None)
        self._unknown = None if known else (self._unknown or 0) + 1

    def _take(self) -> list[ToolCallUpdate]:
        updates, self._updates = self._updates, []
        return updates

    def _act(self, statement: Statement) -> None:
        # No `match`: not every version of the compiler reads it.
        if isinstance(statement, CallDelta):
            self._call(statement)
            return
        if isinstance(statement, Usage):
            self._counted = self._event
            return
        self._recent = None
        if isinstance(statement, Begin):
            for scope in self._identity.ended(None, None, except_for=statement.message):
                self._end(scope, None)
            self._identity.begin(statement.message)
        elif isinstance(statement, Finish):
            for scope in self._identity.ended(statement.message, statement.choice):
                self._end(scope, statement)
        elif isinstance(statement, Result):
            self._result(statement)
        elif isinstance(statement, Aggregate):
            self._aggregate(statement.message, statement.calls)
        elif not isinstance(statement, (Text, Reasoning, Keep)):
            assert_never(statement)

    def _call(self, delta: CallDelta) -> None:
        if _says_nothing(delta):
            return
        call, new = self._recent, False
        if call is None or not _continues(delta, self._last):
            call = self._identity.find(delta)
            self._recent, self._last = call if self._identity.steady else None, delta
            new = self._identity.linked
            before = self._identity.displaced
            if before is not None and not before.settled:
                # A receiver knows it by its index alone, and would give it the id of this one.
                self._updates.append(ToolCallUpdate(before))
            if call is not None and (call.open or new) and call.number not in self._calls:
                new = True
                self._add(call)
        if call is None or not (call.open or new):
            return
        status = call.status
        call.event = self._event
        name = None if delta.name is None else self._name(call, delta.name, delta)
        text, fragments = _fed(call, delta) if call.open else (None, None)
        changed = call.status != status
        if new or name or text or fragments is not None or changed:
            update = ToolCallUpdate(call, name, text, fragments, call.status if changed else None)
            if new and call.encoding == "text":
                update.encoding = "text"
            self._updates.append(update)
        if self._early and new:
            self._take_early(call)

    def _add(self, call: LiveCall) -> None:
        self._calls[call.number] = call
        if len(self._calls) > (self._keep or 0) + _MOST and self._keep is not None:
            oldest = next(iter(self._calls.values()))
            if oldest.open:
                oldest.abandon()
                self._updates.append(ToolCallUpdate(oldest, status=oldest.status))
            self._drop(oldest)

    def _name(self, call: LiveCall, name: str, delta: CallDelta) -> str | None:
        """The name if it changes with this delta, else None. With it the schema is known.

        Before the arguments it may come in pieces, or again and longer. A schema of objects says
        nothing about free text.
        """
        if call.name is not None:
            if call.begun or name == call.name or delta.end is not None or not call.open:
                return None
            if not (delta.received or name.startswith(call.name)):
                name = call.name + name
        call.name = name
        if self._schemas:
            schema = self._schemas.get(name)
            if schema is not None and delta.free and not schema.takes_text:
                schema = None
            call.validate_with(schema)
        return name

    def _end(self, scope: Scope[LiveCall], finish: Finish | None) -> None:
        """End the calls of a response; `finish` is None if the provider did not end it."""
        for call in scope.calls.values():
            if call.open:
                self._close(call, finish)
            call.ended = True
            self._done[call.number] = call
        self.ended.append(scope.message_id)

    def _close(self, call: LiveCall, finish: Finish | None) -> None:
        status = call.status
        text, fragments = None, None
        if finish is None:
            # Some servers end a response with nothing but its token counts.
            call.abandon(counted=self._counted > call.event)
        else:
            text, fragments = call.finish(
                incomplete=finish.is_cut, error=finish.detail if finish.malformed else None
            )
        changed = call.status != status
        if changed or text is not None:
            shown = call.status if changed else None
            self._updates.append(ToolCallUpdate(call, None, text, fragments, shown))

    def _result(self, result: Result) -> None:
        call = self._identity.known(result.id)
        if call is None:
            self._keep_early(result)
            return
        if call.open and call.status == "streaming":
            # A tool that has answered was called: nothing more of its arguments will come.
            self._close(call, Finish())
        self._answer(call, result)

    def _keep_early(self, result: Result) -> None:
        """Keep a result that comes before its call."""
        if result.id is not None:
            self._early[result.id] = result
        if len(self._early) > _MOST_EARLY:
            del self._early[next(iter(self._early))]

    def _take_early(self, call: LiveCall) -> None:
        """Give a call the result that came before it. Its arguments may still grow."""
        for id in [call.id, *call.ids]:
            if (result := self._early.pop(id, None)) is not None:
                self._answer(call, result)

    def _answer(self, call: LiveCall, result: Result) -> None:
        call.answered = True
        call.result, call.result_is_error = result.result, result.is_error
        self._updates.append(ToolCallUpdate(call, is_result=True))

    def _aggregate(self, message: str | None, deltas: list[CallDelta]) -> None:
        """Replace the calls of a message by their final state."""
        told: set[int] = set()
        for delta in deltas:
            call = self._identity.find(delta)
            if call is None:
                continue
            if call.number not in self._calls:
                self._add(call)
            told.add(call.number)
            status = call.status
            name = None if delta.name is None else self._name(call, delta.name, delta)
            call.replace(delta)
            if name or call.status != status:
                self._updates.append(ToolCallUpdate(call, function_name=name, status=call.status))
            if self._early:
                self._take_early(call)
        for scope in self._identity.ended(message, 0):
            for number in scope.calls.keys() - told:
                self._drop(scope.calls[number])
            self._end(scope, None)

    def _evict(self) -> None:
        while self._keep is not None and len(self._done) > self._keep:
            self._drop(next(iter(self._done.values())))

    def _drop(self, call: LiveCall) -> None:
        self._recent = None
        self._identity.drop(call)
        self._calls.pop(call.number, None)
        self._done.pop(call.number, None)


def _fed(call: LiveCall, delta: CallDelta) -> News:
    """The new text and fragments of a call."""
    news = call.take(delta)
    return news if delta.end is None else joined(news, call.end(delta.end))


def _continues(delta: CallDelta, last: CallDelta | None) -> bool:
    """True for a delta that names the same place as the last one, and nothing else."""
    if last is None or not (delta.id is None and delta.name is None and delta.alias is None):
        return False
    return bool(
        delta.index == last.index and delta.message == last.message and delta.choice == last.choice
    )


def _says_nothing(delta: CallDelta) -> bool:
    """True for a delta without an id, an index, a name and content: noise."""
    content = delta.text or delta.parts or delta.end or delta.fragments
    named = delta.id or delta.name or delta.alias or delta.index is not None
    return not (content or named) and delta.value is ABSENT


def _compiled(schemas: Mapping[str, Any]) -> dict[str, Schema]:
    from ..schema import Schema

    return {name: Schema(schema) for name, schema in schemas.items()}
