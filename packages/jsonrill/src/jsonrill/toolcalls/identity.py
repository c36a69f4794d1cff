"""Which call an event is about. The rules, in this order:

1. A known id wins. But if it comes with a name and another index, or with another name after the
   arguments have ended, it belongs to another call: some gateways give one id to all calls.
2. A new id opens a new call, even if its index is taken. But without a name it is another id of the
   call at that index; and with the same name it is the id of that call if it has none yet and its
   arguments have not ended, or if it comes with their end. A known alias at the same index is that
   of the same call, whatever the id.
3. Without an id, the index decides: the call last opened there. An index not seen opens a call. So
   does a name, if the arguments of that call have begun and it has another name; or, in a response
   without ids, if they have ended.
4. With neither, it is the call that is open now; a name opens a new one if the open one has
   another name, or has one and its arguments have ended.

All of it within one response and choice, a *scope*. For example, of five deltas in one response

    id=a index=0   opens call a                              (rule 2)
    index=0        belongs to call a                         (rule 3)
    index=1        opens a call, whose id we make up: m:1    (rule 3)
    id=b index=1   is about the same call, whose id is b now (rule 2)
    id=c index=1   is about the same call, whose id stays b  (rule 2)

A call whose id is taken gets another, made of that one, so that each result has its call.

Identity sees of a call only what the protocol `Identified` names: neither its text nor how it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from ..providers.statements import CallDelta


class Identified(Protocol):
    """The fields of a call that identity reads and writes."""

    id: str
    number: int  # unique, in the order of opening
    ids: list[str]  # the ids and aliases under which it is known
    own_id: bool  # True: the id is the provider's own and will not change
    index: int | None
    name: str | None
    message_id: str
    is_open: bool  # more of it may come

    @property
    def has_text(self) -> bool: ...  # argument text has arrived
    @property
    def has_all_args(self) -> bool: ...  # the arguments are a complete JSON value
    @property
    def is_settled(self) -> bool: ...  # complete or truncated, or its response has ended


C = TypeVar("C", bound=Identified)


@dataclass(slots=True, eq=False)
class Scope(Generic[C]):
    """The calls of one response and choice."""

    message_id: str
    choice: int
    has_ended: bool = False
    # True if an event has named a call by its id.
    has_ids: bool = False
    calls: dict[int, C] = field(default_factory=dict)
    ids: dict[str, C] = field(default_factory=dict)
    indices: dict[int, C] = field(default_factory=dict)
    last: C | None = None
    count: int = 0

    def know(self, call: C, id: str) -> None:
        """Find the call under this id, too."""
        self.ids.setdefault(id, call)
        call.ids.append(id)

    def at(self, index: int | None, id: str) -> C | None:
        """Return the call that is known under this id; of several, the one at this index."""
        there = None if index is None else self.indices.get(index)
        return there if there is not None and id in there.ids else self.ids.get(id)

    def open_call(self) -> C | None:
        """Return the open call: the one that an event was about last, if it has not ended."""
        if self.last is not None and self.last.is_open:
            return self.last
        return next((call for call in reversed(self.calls.values()) if call.is_open), None)


class Identity(Generic[C]):
    """Finds the call of a `CallDelta`; `make(id, index, message_id)` makes a new one."""

    def __init__(self, make: Callable[[str, int | None, str], C]) -> None:
        self._make = make
        self._scopes: dict[str, Scope[C]] = {}
        # The latest call of each id, for results, which come late and name no response.
        self._known: dict[str, C] = {}
        # The current response, and whether the source has named it.
        self._response: str | None = None
        self._named = False
        self._count = 0
        self._opened = 0
        # True if the last `find` linked an id or an index with a call that lacked it.
        self.linked = False
        # The call without an id of its own whose index the last `find` gave to another call.
        self.displaced: C | None = None

    def begin(self, message: str | None) -> None:
        """Begin a response: what names no response belongs to this one."""
        self._response = message
        self._named = message is not None

    def find(self, delta: CallDelta) -> C | None:
        """Return the call that the delta is about, opened if need be; None if there is none."""
        self.displaced = None
        self.linked = False
        if delta.message:
            self.begin(delta.message)
        scope = self._scope(delta)
        call = None if scope is None else _among(scope, delta)
        id = delta.id
        if call is None:
            if not delta.opens:
                return None
            if id is None and delta.index is None:
                # Nothing is open and this only continues something: a straggler, not a call.
                if delta.alias is None and delta.name is None and scope is not None and scope.calls:
                    return None
                id = delta.alias  # where that is all there is, it is the id for good
            call = self._open(scope or self._new_scope(delta), id, delta.index)
        self._learn(call, id, delta)
        return call

    def known(self, id: str | None) -> C | None:
        """Return the latest call of this id, in any response."""
        return None if id is None else self._known.get(id)

    def calls_of(self, message_id: str) -> list[C]:
        """Return the calls of one message, in the order of opening."""
        scope = self._scopes.get(message_id)
        return [] if scope is None else list(scope.calls.values())

    def ended(
        self, message: str | None, choice: int | None, *, except_for: str | None = None
    ) -> Iterator[Scope[C]]:
        """Yield the scopes that end with this response; all open ones if none is named."""
        if message is None and choice is None:
            ending = [scope for key, scope in self._scopes.items() if key != except_for]
        else:
            key = _key(message or self._response or "", choice or 0)
            ending = [self._scopes[key]] if key in self._scopes else []
        for scope in ending:
            if not scope.has_ended:
                scope.has_ended = True
                yield scope

    def drop(self, call: C) -> None:
        """Forget this call."""
        scope = self._scopes.get(call.message_id)
        if scope is None:
            return
        for id in call.ids:
            if scope.ids.get(id) is call:
                del scope.ids[id]
            if self._known.get(id) is call:
                del self._known[id]
        if call.index is not None and scope.indices.get(call.index) is call:
            del scope.indices[call.index]
        if scope.last is call:
            scope.last = None
        scope.calls.pop(call.number, None)
        if not scope.calls:
            del self._scopes[call.message_id]

    def forget(self, message_id: str) -> list[C]:
        """Forget this message; return the calls that it had."""
        calls = self.calls_of(message_id)
        for call in calls:
            self.drop(call)
        if self._response == message_id:
            self._response = None
        return calls

    def _scope(self, delta: CallDelta) -> Scope[C] | None:
        """Return the scope that the delta is about, if it is there already."""
        response = delta.message or self._response
        if response is None:
            return None
        scope = self._scopes.get(_key(response, delta.choice))
        if delta.message:
            return scope
        is_new = delta.id is not None and (scope is None or delta.id not in scope.ids)
        # An event that names its call but no response may be about an earlier response.
        other = self.known(delta.id) if scope is None or is_new else None
        if other is not None and other.is_open:
            home = self._scopes[other.message_id]
            if home.choice == delta.choice:
                return home
        # A source that names no responses: a new id or a name belongs to the next turn.
        next_turn = delta.name is not None or is_new
        if scope is not None and scope.has_ended and not self._named and next_turn:
            self._response = None
            return None
        return scope

    def _open(self, scope: Scope[C], id: str | None, index: int | None) -> C:
        scope.has_ended = False
        scope.count += 1
        # At an index that is taken, a made id is all that tells two calls apart: it stays.
        id_stays = id is not None or index in scope.indices
        taken = None
        if id in scope.ids:
            id, taken = f"{id}#{scope.count}", id
        if id is None:
            # Made of what a receiver sees too, so that both ends make the same one.
            id = f"{scope.message_id}:" + ("" if index is None else str(index))
            id += f"#{scope.count}" if index is None or id_stays else ""
        call = self._make(id, index, scope.message_id)
        call.own_id = id_stays
        self._opened += 1
        call.number = self._opened
        scope.calls[call.number] = call
        scope.know(call, id)
        if taken is not None:
            scope.know(call, taken)
        self._known[id] = call
        if index is not None:
            before = scope.indices.get(index)
            if before is not None and not before.own_id:
                # The index leads elsewhere from now on, so an id that was made is the id for good.
                before.own_id = True
                self.displaced = before
            scope.indices[index] = call
        return call

    def _new_scope(self, delta: CallDelta) -> Scope[C]:
        message = delta.message or self._response
        if message is None:
            self._count += 1
            message = self._response = f"message-{self._count}"
            self._named = False
        key = _key(message, delta.choice)
        return self._scopes.setdefault(key, Scope(key, delta.choice))

    def _learn(self, call: C, id: str | None, delta: CallDelta) -> None:
        """Link the id, the alias and the index that came together."""
        scope = self._scopes[call.message_id]
        scope.last = call
        self.linked = False
        if id is not None:
            scope.has_ids = True
            # Once it has ended, a receiver assigns a new id to another call.
            if not (call.own_id or call.is_settled):
                call.id, call.own_id = id, True
                self.linked = True
            if id not in call.ids:
                scope.know(call, id)
                self._known[id] = call
        if delta.alias is not None and delta.alias not in call.ids:
            scope.know(call, delta.alias)
        if delta.index is not None and call.index is None:
            call.index = delta.index
            scope.indices.setdefault(delta.index, call)
            self.linked = True


def _among(scope: Scope[C], delta: CallDelta) -> C | None:
    """Return the call of the scope that the delta is about, by rules 1 to 4."""
    id, index, name, alias = delta.id, delta.index, delta.name, delta.alias
    there = None if alias is None else scope.at(index, alias)
    if id is not None:
        if (known := scope.at(index, id)) is not None:
            return None if _shares_id(known, delta) else known
        if there is not None and (there.id == alias or index in (None, there.index)):
            return there
        if there is None and index is not None:
            there = scope.indices.get(index)
        return there if there is not None and _takes_id(there, scope, delta) else None
    if there is not None or (alias is not None and index is None):
        return there
    if index is not None:
        call = scope.indices.get(index)
        if name is None or call is None or call.name is None:
            return call
        # A sender has decided already, and names a call that is not the first at its index.
        if delta.received or scope.has_ended:
            return call
        return None if _is_another(call, scope, name) else call
    call = scope.open_call()
    if call is None or name is None or call.name is None:
        return call
    return None if call.has_all_args or call.name != name else call


def _shares_id(call: Identified, delta: CallDelta) -> bool:
    """Return whether a delta with the id of this call is about another one."""
    if delta.name is None or call.name is None or delta.received or delta.alias in call.ids:
        return False
    if delta.index is not None and call.index is not None and delta.index != call.index:
        return True
    return call.has_all_args and delta.name != call.name


def _takes_id(call: Identified, scope: Scope[Any], delta: CallDelta) -> bool:
    """Return whether a new id belongs to this call, decided by what a receiver sees too."""
    name = delta.name
    if call.is_settled or scope.has_ended or not call.is_open:
        return False
    if name is None:
        return not call.own_id or call.name is not None
    if call.own_id:
        return delta.end is not None and delta.alias is None and call.name == name
    return call.name is None or (call.name == name and not call.has_all_args)


def _is_another(call: Identified, scope: Scope[Any], name: str) -> bool:
    """Return whether a name at the index of this call belongs to another call."""
    if call.has_all_args or not call.is_open:
        return name != call.name or not scope.has_ids
    return call.has_text and name != call.name


def _key(message: str, choice: int) -> str:
    return f"{message}:{choice}" if choice else message
