"""Tool calls as they stream: statements of a provider in, calls with growing arguments out.

Each statement goes to the call it is about: `identity.py` finds it, `call.py` lets it grow. Nothing
here knows a provider, or raises on data.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ..errors import DEFAULT_LIMITS, LimitExceeded, Limits, Problem, UnknownEvents
from ..fragment import Fragment
from ..parse.options import ParseOptions, rule_names
from ..paths import ABSENT
from ..providers import Reader, Translate
from ..providers.statements import Aggregate, Begin, CallDelta, Finish, Result, Statement, Usage
from .call import Status, ToolCall
from .identity import Identity, Scope

if TYPE_CHECKING:
    from ..schema import Schema

# How many calls the responses that have not ended may have.
MAX_CALLS: Final = 10_000
# How many results whose calls have not arrived are kept.
_MAX_EARLY: Final = 256


@dataclass(slots=True, eq=False, repr=False)
class ToolCallUpdate:
    """The change that one event made to one call (`call`); unchanged fields are None.

    `json_update_fragments` is None when no argument text came, `[]` when some came but nothing is
    new. `status` and `error` are there when the status changed, `is_result` when a result came.
    """

    call: ToolCall
    function_name: str | None = None
    function_args: str | None = None
    json_update_fragments: list[Fragment] | None = None
    status: Status | None = None
    encoding: str | None = None
    is_result: bool = False
    message_id: str = field(init=False)
    tool_call_id: str = field(init=False)
    index: int | None = field(init=False)
    error: Problem | None = field(init=False)
    _sends_id: bool = field(init=False)

    def __post_init__(self) -> None:
        call = self.call
        self.message_id = call.message_id
        self.tool_call_id = call.id
        self.index = call.index
        self.error = call.error if self.status == "error" else None
        # Do not send a generated id while the provider's may still arrive: the receiver
        # generates the same one from the index.
        self._sends_id = call.own_id or call.index is None

    def to_wire(self) -> dict[str, Any]:
        """Return the update as a dict for JSON, absent fields left out."""
        fragments: Any = self.json_update_fragments
        fields = {
            "tool_call_id": self.tool_call_id if self._sends_id else None,
            "index": self.index,
            "function_name": self.function_name,
            "encoding": self.encoding,
            "function_args": self.function_args,
            "json_update_fragments": fragments and [item.to_dict() for item in fragments],
            "status": self.status,
            "error": self.error,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def __repr__(self) -> str:
        fields = (self.function_name, self.function_args, self.status)
        words = " ".join(repr(part) for part in fields if part is not None)
        return f"<ToolCallUpdate {self.tool_call_id} {words}>"


class ToolCalls:
    """Reads provider events and keeps tool calls whose arguments grow, interleaved or not.

    `provider` is `"auto"`, the name of a known provider, or a function from an event to statements.
    `schemas` maps tool names to types or JSON Schemas. `repair` reads arguments that are nearly
    JSON, but a call that was cut off stays truncated. The last `keep` calls of responses that have
    ended are kept (None: all). One object can read many responses, one after another or at once.
    """

    __slots__ = ("_calls", "_counted", "_done", "_early", "_event", "_identity", "_keep",
                 "_schemas", "_unknown", "_updates", "ended", "reader")  # fmt: skip

    def __init__(
        self,
        provider: str | Translate = "auto",
        *,
        schemas: Mapping[str, Any] | None = None,
        keep: int | None = 256,
        repair: Any = False,
        limits: Limits | None = None,
        on_repair: Any = None,
    ) -> None:
        if keep is not None and (type(keep) is not int or keep < 0):
            raise ValueError(f"keep must be a whole number from 0 up, or None, not {keep!r}")
        if limits is not None and not isinstance(limits, Limits):
            raise TypeError(f"limits must be a Limits object, not {limits!r}")
        self.reader = Reader(provider)
        # How many events came before one was recognised; None after that.
        self._unknown: int | None = 0
        self._schemas = _compiled(schemas)
        self._keep = keep
        # Without `cut-off`: half a call must not pass for a complete one.
        rules = rule_names(repair) - {"cut-off"} if repair else False
        options: ParseOptions = {"limits": limits or DEFAULT_LIMITS}
        if rules:
            options["repair"], options["on_repair"] = rules, on_repair
        self._identity: Identity = Identity(
            lambda id, index, message_id: ToolCall(id, index, message_id, _options=options)
        )
        # All calls that are kept, by number; and those whose response has ended.
        self._calls: dict[int, ToolCall] = {}
        self._done: dict[int, ToolCall] = {}
        # The updates of the last event.
        self._updates: list[ToolCallUpdate] = []
        # The results whose calls have not come yet, by id.
        self._early: dict[str, Result] = {}
        # The number of the last event, and of the last one with token counts.
        self._event = 0
        self._counted = 0
        # The messages whose response ended with the last `feed` or `flush`.
        self.ended: list[str] = []

    @property
    def calls(self) -> list[ToolCall]:
        """The calls that are kept, in order of appearance."""
        return [*self._calls.values()]

    def get(self, id: str) -> ToolCall | None:
        """Return the latest call of this id."""
        return self._identity.latest(id)

    def of(self, message_id: str) -> list[ToolCall]:
        """Return the calls of one message."""
        return self._identity.calls_of(message_id)

    def feed(self, event: Any) -> list[ToolCallUpdate]:
        """Return the updates that one event makes: a dict, JSON text, or an SDK's object."""
        statements = self.reader.feed(event)
        if self._unknown is not None:
            is_auto = self.reader.named == "auto" and self.reader.provider is not None
            self._unknown = None if statements or is_auto else self._unknown + 1
        return self.read(statements)

    def read(self, statements: Iterable[Statement]) -> list[ToolCallUpdate]:
        """Return the updates that statements make; `self.reader` makes them of an event."""
        if self.ended:
            self.ended = []
            self._evict()
        self._updates = []
        self._event += 1
        for statement in statements:
            if type(statement) is CallDelta:
                self._call(statement)
            else:
                self._apply(statement)
        return self._updates

    def flush(self, *message_ids: str) -> list[ToolCallUpdate]:
        """Return the updates at the end of a stream: calls that have not ended are truncated.

        Another stream may follow. If several are read at once, name the messages of this one. If
        no event was recognised, it warns (`UnknownEvents`), once.
        """
        if self._unknown:
            unknown, self._unknown = self._unknown, None
            hint = "provider= takes the name of one, or a function that reads other events"
            message = f"none of {unknown} events is from a known provider; {hint}"
            warnings.warn(message, UnknownEvents, stacklevel=2)
        self.ended, self._updates = [], []
        self._evict()
        for message_id in message_ids or (None,):
            for scope in self._identity.end_scopes(message_id, None):
                self._end(scope, None)
        return self._updates

    def answer(self, id: str, result: Any, *, is_error: bool = False) -> list[ToolCallUpdate]:
        """Record a tool's result, where the provider's stream does not carry it."""
        self.ended, self._updates = [], []
        self._result(Result(id, result, is_error))
        return self._updates

    def forget(self, message_id: str) -> None:
        """Drop the calls of this message, as if it had never come."""
        for call in self._identity.forget(message_id):
            self._drop(call)

    def _apply(self, statement: Statement) -> None:
        if isinstance(statement, Usage):
            self._counted = self._event
        elif isinstance(statement, Begin):
            for scope in self._identity.end_scopes(None, None, except_for=statement.message):
                self._end(scope, None)
            self._identity.begin(statement.message)
        elif isinstance(statement, Result):
            self._result(statement)
        elif isinstance(statement, Aggregate):
            self._aggregate(statement.message, statement.calls)
        elif isinstance(statement, Finish):
            for scope in self._identity.end_scopes(statement.message, statement.choice):
                self._end(scope, statement)

    def _call(self, delta: CallDelta) -> None:
        if delta.text is None and _is_empty(delta):
            return
        is_full = len(self._calls) - len(self._done) >= MAX_CALLS
        if is_full and delta.id is None and delta.name is None:
            # It continues a call that was refused.
            delta.opens = False
        call = self._identity.find(delta)
        displaced = self._identity.displaced
        if displaced is not None and not displaced.is_settled:
            # A receiver knows that call only by its index, and would give it the id of this one.
            self._updates.append(ToolCallUpdate(displaced))
        is_new = self._identity.has_linked
        if call is None or not (call.is_open or is_new):
            return
        if call.number not in self._calls:
            is_new = True
            if is_full:
                self._refuse(call, delta.name)
                return
            self._calls[call.number] = call
        status = call.status
        call.event = self._event
        name = None if delta.name is None else self._set_name(call, delta.name, delta)
        if call.is_open:
            call.take(delta)
            if delta.end is not None:
                call.end(delta.end)
        self._update(call, status, name, is_new)
        if self._early and is_new:
            self._take_early(call)

    def _update(
        self, call: ToolCall, status: Status, name: str | None = None, is_new: bool = False
    ) -> None:
        """Make an update with the changes of a call that had this status."""
        text, fragments = call.new_text, call.new_fragments
        call.new_text = call.new_fragments = None
        changed = call.status if call.status != status else None
        if is_new or name or text or fragments is not None or changed:
            encoding = "text" if is_new and call.encoding == "text" else None
            self._updates.append(ToolCallUpdate(call, name, text, fragments, changed, encoding))

    def _refuse(self, call: ToolCall, name: str | None) -> None:
        """End a call beyond the limit with an error, and keep nothing of it."""
        call.name = name
        message = f"more than {MAX_CALLS} calls have not ended (calls)"
        call.status, call.error = "error", LimitExceeded(message, limit="calls").to_dict()
        self._updates.append(ToolCallUpdate(call, name, status="error"))
        self._identity.drop(call)

    def _set_name(self, call: ToolCall, name: str, delta: CallDelta) -> str | None:
        """Set the name and the schema of a call; return the name if it changed.

        Before the arguments a name may come in pieces, or again and longer. A schema that does not
        allow strings is not used for free text.
        """
        if call.name is not None:
            if call.raw or name == call.name or delta.end is not None or not call.is_open:
                return None
            if not (delta.received or name.startswith(call.name)):
                name = call.name + name
        call.name = name
        if self._schemas:
            schema = self._schemas.get(name)
            if schema is not None and delta.free and not schema.node.allows("string"):
                schema = None
            call.validate_with(schema)
        return name

    def _end(self, scope: Scope, finish: Finish | None) -> None:
        """End the calls of a response; `finish` is None if the provider did not end it."""
        for call in scope.calls.values():
            if call.is_open:
                self._close(call, finish)
            call.has_ended = True
            self._done[call.number] = call
        self.ended.append(scope.message_id)

    def _close(self, call: ToolCall, finish: Finish | None) -> None:
        status = call.status
        if finish is None:
            # Some servers end a response only with its token counts.
            call.abandon(counted=self._counted > call.event)
        else:
            error = finish.detail if finish.malformed else None
            call.finish(is_cut=finish.is_cut, error=error)
        self._update(call, status)

    def _result(self, result: Result) -> None:
        call = self._identity.latest(result.id)
        if call is None:
            # It comes before its call.
            if result.id is not None:
                self._early[result.id] = result
            if len(self._early) > _MAX_EARLY:
                del self._early[next(iter(self._early))]
            return
        if call.is_open and call.status == "streaming":
            # A result proves that the call was made, so its arguments are complete.
            self._close(call, Finish())
        self._answer(call, result)

    def _take_early(self, call: ToolCall) -> None:
        """Give a call the result that came before it. Its arguments may still grow."""
        for id in [call.id, *call.ids]:
            if (result := self._early.pop(id, None)) is not None:
                self._answer(call, result)

    def _answer(self, call: ToolCall, result: Result) -> None:
        call.answered = True
        call.result, call.result_is_error = result.result, result.is_error
        self._updates.append(ToolCallUpdate(call, is_result=True))

    def _aggregate(self, message: str | None, deltas: Iterable[CallDelta]) -> None:
        """Replace the calls of a message by their final state."""
        numbers: set[int] = set()
        for delta in deltas:
            call = self._identity.find(delta)
            if call is None:
                continue
            self._calls.setdefault(call.number, call)
            numbers.add(call.number)
            status = call.status
            name = None if delta.name is None else self._set_name(call, delta.name, delta)
            call.replace(delta)
            self._update(call, status, name)
            if self._early:
                self._take_early(call)
        for scope in self._identity.end_scopes(message, 0):
            for number in scope.calls.keys() - numbers:
                self._drop(scope.calls[number])
            self._end(scope, None)

    def _evict(self) -> None:
        while self._keep is not None and len(self._done) > self._keep:
            self._drop(next(iter(self._done.values())))

    def _drop(self, call: ToolCall) -> None:
        self._identity.drop(call)
        self._calls.pop(call.number, None)
        self._done.pop(call.number, None)


def _is_empty(delta: CallDelta) -> bool:
    """Return whether a delta has no id, index, name and content."""
    content = delta.text or delta.parts or delta.end or delta.fragments
    identity = delta.id or delta.name or delta.alias or delta.index is not None
    return not (content or identity) and delta.value is ABSENT


def _compiled(schemas: Mapping[str, Any] | None) -> dict[str, Schema]:
    if not schemas:
        return {}
    if not isinstance(schemas, Mapping):
        raise TypeError(f"schemas must map names of tools to schemas, not {schemas!r}")
    from ..schema import Schema

    return {
        name: schema if isinstance(schema, Schema) else Schema(schema)
        for name, schema in schemas.items()
    }
