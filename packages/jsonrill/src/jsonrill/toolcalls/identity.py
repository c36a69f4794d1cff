"""Find the call that an event is about. The rules, in this order:

1. A known id wins. But if it comes with a name and another index, or with another name after the
   arguments have ended, it belongs to another call: some gateways use one id for all calls.
2. A new id opens a new call, even if its index is taken. But without a name it is another id of the
   call at that index; and with the same name it is the id of that call if it has none yet and its
   arguments have not ended, or if it comes with their end. A known alias at the same index means
   the same call, whatever the id.
3. Without an id, the index decides: the call last opened there. A new index opens a call; but if
   the last call took an index from another one and has no arguments yet, the event is about it. A
   name opens a call, too, if the arguments of the call at its index have begun and that has another
   name; or, in a response without ids, if they have ended.
4. Without either, the event is about the open call. A name opens a new call if the open one has
   another name, or has one and its arguments have ended.

The rules apply within one response and choice, a *scope*. For example, five deltas of one response:

    id=a index=0   opens call a                              (rule 2)
    index=0        belongs to call a                         (rule 3)
    index=1        opens a call with a generated id: m:1     (rule 3)
    id=b index=1   is about the same call, whose id is b now (rule 2)
    id=c index=1   is about the same call, whose id stays b  (rule 2)

A call whose id is taken gets a new id derived from it, so that each result has its call.

Identity reads only the name and the text of a call, and whether its arguments are complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..providers.statements import CallDelta
from .call import ToolCall


@dataclass(slots=True, eq=False)
class Scope:
    """The calls of one response and choice."""

    message_id: str
    choice: int
    has_ended: bool = False
    # True if an event has named a call by its id.
    has_ids: bool = False
    calls: dict[int, ToolCall] = field(default_factory=dict)
    ids: dict[str, ToolCall] = field(default_factory=dict)
    indices: dict[int, ToolCall] = field(default_factory=dict)
    last: ToolCall | None = None
    # The call that was opened last at an index that another call had.
    displacing: ToolCall | None = None
    count: int = 0

    def add_id(self, call: ToolCall, id: str) -> None:
        """Register another id of the call."""
        self.ids.setdefault(id, call)
        call.ids.append(id)

    def find(self, index: int | None, id: str) -> ToolCall | None:
        """Return the call with this id; of several, the one at this index."""
        call = None if index is None else self.indices.get(index)
        return call if call is not None and id in call.ids else self.ids.get(id)

    def open_call(self) -> ToolCall | None:
        """Return the call of the last event if it is open, else the open call that began last."""
        if self.last is not None and self.last.is_open:
            return self.last
        return next((call for call in reversed(self.calls.values()) if call.is_open), None)


class Identity:
    """Finds the call of a `CallDelta`; `make(id, index, message_id)` makes a new one."""

    def __init__(self, make: Callable[[str, int | None, str], ToolCall]) -> None:
        self._make = make
        self._scopes: dict[str, Scope] = {}
        # The latest call of each id, for results, which come late and do not name a response.
        self._latest: dict[str, ToolCall] = {}
        # The current response, and whether the source has named it.
        self._response: str | None = None
        self._is_named = False
        self._message_count = 0
        self._call_count = 0
        # True if the last `find` linked an id or an index with a call that lacked it.
        self.has_linked = False
        # The call without an id of its own whose index the last `find` gave to another call.
        self.displaced: ToolCall | None = None

    def begin(self, message: str | None) -> None:
        """Begin a response. Events that do not name a response belong to it."""
        self._response = message
        self._is_named = message is not None

    def find(self, delta: CallDelta) -> ToolCall | None:
        """Return the call that the delta is about, opened if need be; None if there is none."""
        self.displaced = None
        self.has_linked = False
        if delta.message:
            self.begin(delta.message)
        scope, id = self._scope(delta), delta.id
        is_named = not (id is delta.name is delta.alias is None)
        if scope is not None and not is_named and delta.index in scope.indices:
            # More text at a known index, as nearly always: the rest takes 0.5 µs.
            scope.last = scope.indices[delta.index]
            return scope.last
        call = None if scope is None else _choose(scope, delta)
        if call is None:
            if not delta.opens:
                return None
            if id is None and delta.index is None:
                # Nothing is open and this only continues something: a straggler, not a call.
                if delta.alias is None and delta.name is None and scope is not None and scope.calls:
                    return None
                id = delta.alias  # without any other id, it is the final one
            call = self._open(scope or self._new_scope(delta), id, delta.index)
        self._link(call, id, delta)
        return call

    def latest(self, id: str | None) -> ToolCall | None:
        """Return the latest call of this id, in any response."""
        return None if id is None else self._latest.get(id)

    def calls_of(self, message_id: str) -> list[ToolCall]:
        """Return the calls of one message, in the order of opening."""
        scope = self._scopes.get(message_id)
        return [] if scope is None else list(scope.calls.values())

    def end_scopes(
        self, message: str | None, choice: int | None, *, except_for: str | None = None
    ) -> Iterator[Scope]:
        """End the scopes of this response, or all if none is named; yield those that were open."""
        if message is None and choice is None:
            ending = [scope for key, scope in self._scopes.items() if key != except_for]
        else:
            key = _key(message or self._response or "", choice or 0)
            ending = [self._scopes[key]] if key in self._scopes else []
        for scope in ending:
            if not scope.has_ended:
                scope.has_ended = True
                yield scope

    def drop(self, call: ToolCall) -> None:
        """Forget this call."""
        scope = self._scopes.get(call.message_id)
        if scope is None:
            return
        for id in call.ids:
            if scope.ids.get(id) is call:
                del scope.ids[id]
            if self._latest.get(id) is call:
                del self._latest[id]
        if call.index is not None and scope.indices.get(call.index) is call:
            del scope.indices[call.index]
        if scope.last is call:
            scope.last = None
        scope.calls.pop(call.number, None)
        if not scope.calls:
            del self._scopes[call.message_id]

    def forget(self, message_id: str) -> list[ToolCall]:
        """Forget this message; return the calls that it had."""
        calls = self.calls_of(message_id)
        for call in calls:
            self.drop(call)
        if self._response == message_id:
            self._response = None
        return calls

    def _scope(self, delta: CallDelta) -> Scope | None:
        """Return the scope that the delta is about, if it exists."""
        response = delta.message or self._response
        if response is None:
            return None
        scope = self._scopes.get(_key(response, delta.choice))
        if delta.message or (delta.id is None and delta.name is None):
            return scope
        is_new = delta.id is not None and (scope is None or delta.id not in scope.ids)
        # An event that names its call but no response may be about an earlier response.
        other = self.latest(delta.id) if scope is None or is_new else None
        if other is not None and other.is_open:
            home = self._scopes[other.message_id]
            if home.choice == delta.choice:
                return home
        # If the source does not name responses, a new id or a name belongs to the next turn.
        next_turn = delta.name is not None or is_new
        if scope is not None and scope.has_ended and not self._is_named and next_turn:
            self._response = None
            return None
        return scope

    def _open(self, scope: Scope, id: str | None, index: int | None) -> ToolCall:
        scope.has_ended = False
        scope.count += 1
        # At an index that is taken, only the generated id distinguishes two calls: keep it.
        id_stays = id is not None or index in scope.indices
        # Derived from what a receiver sees, too, so that both ends generate the same id.
        new_id = f"{scope.message_id}:{'' if index is None else index}" if id is None else id
        if id in scope.ids or (id is None and (index is None or id_stays)):
            new_id += f"#{scope.count}"
        call = self._make(new_id, index, scope.message_id)
        call.own_id = id_stays
        self._call_count += 1
        call.number = self._call_count
        scope.calls[call.number] = call
        scope.add_id(call, new_id)
        if id is not None and id != new_id:
            scope.add_id(call, id)
        self._latest[new_id] = call
        if index is not None:
            if (previous := scope.indices.get(index)) is not None:
                scope.displacing = call
                if not previous.own_id:
                    # The index now belongs to another call, so a generated id is final.
                    previous.own_id = True
                    self.displaced = previous
            scope.indices[index] = call
        return call

    def _new_scope(self, delta: CallDelta) -> Scope:
        message = delta.message or self._response
        if message is None:
            self._message_count += 1
            message = self._response = f"message-{self._message_count}"
            self._is_named = False
        key = _key(message, delta.choice)
        return self._scopes.setdefault(key, Scope(key, delta.choice))

    def _link(self, call: ToolCall, id: str | None, delta: CallDelta) -> None:
        """Link the id, the alias and the index that came together."""
        scope = self._scopes[call.message_id]
        scope.last = call
        self.has_linked = False
        if id is not None:
            scope.has_ids = True
            # After the call has ended, a receiver assigns a new id to another call.
            if not (call.own_id or call.is_settled):
                call.id, call.own_id = id, True
                self.has_linked = True
            if id not in call.ids:
                scope.add_id(call, id)
                self._latest[id] = call
        if delta.alias is not None and delta.alias not in call.ids:
            scope.add_id(call, delta.alias)
        if delta.index is not None:
            scope.indices.setdefault(delta.index, call)
            if call.index is None:
                call.index = delta.index
                self.has_linked = True


def _choose(scope: Scope, delta: CallDelta) -> ToolCall | None:
    """Return the call of the scope that the delta is about, by rules 1 to 4."""
    id, index, name, alias = delta.id, delta.index, delta.name, delta.alias
    found = None if alias is None else scope.find(index, alias)
    if id is not None:
        if (owner := scope.find(index, id)) is not None:
            return None if _shares_id(owner, delta) else owner
        if found is not None and (found.id == alias or index in (None, found.index)):
            return found
        if found is None and index is not None:
            found = scope.indices.get(index)
        return found if found is not None and _takes_id(found, scope, delta) else None
    if found is not None or (alias is not None and index is None):
        return found
    if index is not None:
        call = scope.indices.get(index)
        last = scope.last
        if call is None and name is None and last and last is scope.displacing and not last.raw:
            return last
        if name is None or call is None or call.name is None:
            return call
        # The sender has already decided: it names calls that are not the first at their index.
        if delta.received or scope.has_ended:
            return call
        return None if _is_another(call, scope, name) else call
    call = scope.open_call()
    if call is None or name is None or call.name is None:
        return call
    return None if call.has_all_args or call.name != name else call


def _shares_id(call: ToolCall, delta: CallDelta) -> bool:
    """Return whether a delta with the id of this call is about another one."""
    if delta.name is None or call.name is None or delta.received or delta.alias in call.ids:
        return False
    if delta.index is not None and call.index is not None and delta.index != call.index:
        return True
    return call.has_all_args and delta.name != call.name


def _takes_id(call: ToolCall, scope: Scope, delta: CallDelta) -> bool:
    """Return whether a new id belongs to this call, judging only by what a receiver sees, too."""
    name = delta.name
    if call.is_settled or scope.has_ended or not call.is_open:
        return False
    if name is None:
        return not call.own_id or call.name is not None
    if call.own_id:
        return delta.end is not None and delta.alias is None and call.name == name
    return call.name is None or (call.name == name and not call.has_all_args)


def _is_another(call: ToolCall, scope: Scope, name: str) -> bool:
    """Return whether a name at the index of this call belongs to another call."""
    if call.has_all_args or not call.is_open:
        return name != call.name or not scope.has_ids
    return bool(call.raw) and name != call.name


def _key(message: str, choice: int) -> str:
    return f"{message}:{choice}" if choice else message
