"""Which call an event speaks of. The rules, in their order:

1. A known id wins.
2. A new id opens a new call, even if its index is taken; but if the call at that index has no id
   yet (and no other name), it is that call's id.
3. Without an id, the index tells: the call last opened there. An index not seen opens a call.
4. With neither, it is the call that is open now; a name opens a new one if the open one has
   another name, or has one and is whole.

All of it within one response and choice, a *scope*. What calls hold and how they end is not known
here: `Call` is all that identity sees of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar


class Call(Protocol):
    """What identity needs of a call."""

    id: str
    number: int  # which call this is
    ids: list[str]  # the ids and aliases under which it is known
    given: bool  # is the id the provider's own?
    index: int | None
    name: str | None
    message_id: str

    @property
    def whole(self) -> bool: ...  # are its arguments whole, as far as can be told?
    @property
    def open(self) -> bool: ...  # may more of it come?
    @property
    def settled(self) -> bool: ...  # has it come to a good end, or been cut off?


C = TypeVar("C", bound=Call)


class Scope(Generic[C]):
    """The calls of one response and choice."""

    __slots__ = (
        "calls",
        "choice",
        "count",
        "ended",
        "ids",
        "indices",
        "last",
        "message_id",
    )

    def __init__(self, message_id: str, choice: int) -> None:
        self.message_id = message_id
        self.choice = choice
        self.ended = False
        self.calls: dict[int, C] = {}
        self.ids: dict[str, C] = {}
        self.indices: dict[int, C] = {}
        self.last: C | None = None
        self.count = 0

    def know(self, call: C, id: str) -> None:
        self.ids[id] = call
        call.ids.append(id)

    def open_call(self) -> C | None:
        """The call that is open now: the one spoken of last, if it has not ended."""
        if self.last is not None and self.last.open:
            return self.last
        return next((call for call in reversed(self.calls.values()) if call.open), None)


class Identity(Generic[C]):
    """Events' ids, indices and names → calls, which `make(id, index, message_id)` makes."""

    def __init__(self, make: Callable[[str, int | None, str], C]) -> None:
        self._make = make
        self._scopes: dict[str, Scope[C]] = {}
        # The latest call of each id, for results, which come late and name no response.
        self._known: dict[str, C] = {}
        # The response at hand; has the source named it?
        self._response: str | None = None
        self._named = False
        self._count = 0
        self._opened = 0
        # Did the last `find` link an id or an index with a call that lacked it?
        self.linked = False

    def begin(self, message: str | None) -> None:
        """A response begins: what names no response belongs to this one."""
        self._response = message
        self._named = message is not None

    def find(
        self,
        id: str | None = None,
        index: int | None = None,
        name: str | None = None,
        *,
        alias: str | None = None,
        message: str | None = None,
        choice: int = 0,
        opens: bool = True,
    ) -> C | None:
        """The call that is meant; a new one if need be and `opens`; None: nothing that we know."""
        if message is not None:
            self.begin(message)
        scope = self._scope(message, choice, id, name)
        call = self._among(scope, id, index, name, alias) if scope is not None else None
        if call is None:
            bare = id is None and index is None and name is None and alias is None
            # Nothing is open and this only continues something: a straggler, not a call.
            if not opens or (bare and scope is not None and scope.calls):
                return None
            if id is None and index is None:
                id = alias  # where that is all there is, it is the id for good
            call = self._open(message, choice, scope, id, index)
        self._learn(call, id, index, alias)
        return call

    def known(self, id: str | None) -> C | None:
        """The latest call of this id, in whatever response."""
        return None if id is None else self._known.get(id)

    def scope_of(self, message_id: str) -> Scope[C] | None:
        return self._scopes.get(message_id)

    def ended(
        self, message: str | None, choice: int | None, *, but: str | None = None
    ) -> Iterator[Scope[C]]:
        """The scopes that end when this response ends; all open ones if none is named."""
        if message is None and choice is None:
            for scope in list(self._scopes.values()):
                if scope.message_id != but:
                    yield from self._end(scope)
        elif (message := message or self._response) is not None:
            yield from self._end(self._scopes.get(_key(message, choice or 0)))

    def _end(self, scope: Scope[C] | None) -> Iterator[Scope[C]]:
        if scope is not None and not scope.ended:
            scope.ended = True
            yield scope

    def drop(self, call: C) -> None:
        """Know nothing of this call any more."""
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
        """Know nothing of this message any more; the calls it had."""
        scope = self._scopes.get(message_id)
        calls = list(scope.calls.values()) if scope is not None else []
        for call in calls:
            self.drop(call)
        if self._response == message_id:
            self._response = None
        return calls

    def _scope(
        self, message: str | None, choice: int, id: str | None, name: str | None
    ) -> Scope[C] | None:
        """The scope that is meant, if it is there already."""
        if message is not None:
            return self._scopes.get(_key(message, choice))
        if self._response is None:
            return None
        scope = self._scopes.get(_key(self._response, choice))
        if scope is None or (id is not None and id not in scope.ids):
            # An event that names its call but no response may mean an earlier response.
            other = self._known.get(id) if id is not None else None
            if other is not None and other.open:
                home = self._scopes[other.message_id]
                if home.choice == choice:
                    return home
        if scope is not None and scope.ended and not self._named:
            # A source that names no responses: a new id or a name is the next turn's.
            if name is not None or (id is not None and id not in scope.ids):
                self._response = None
                return None
        return scope

    def _among(
        self,
        scope: Scope[C],
        id: str | None,
        index: int | None,
        name: str | None,
        alias: str | None,
    ) -> C | None:
        """Rules 1 to 4 among the calls that are there."""
        if id is not None:
            call = scope.ids.get(id)
            if call is None:
                there = scope.ids.get(alias) if alias is not None else None
                if there is not None and there.id == alias:
                    return there
                if there is None and index is not None:
                    there = scope.indices.get(index)
                call = there if there is not None and _could_be(there, scope, name) else None
            return call
        if alias is not None and (alias in scope.ids or index is None):
            return scope.ids.get(alias)
        if index is not None:
            return scope.indices.get(index)
        call = scope.open_call()
        if call is None or name is None or call.name is None:
            return call
        return None if call.whole or call.name != name else call

    def _open(
        self, message: str | None, choice: int, scope: Scope[C] | None, id: str | None,
        index: int | None,
    ) -> C:  # fmt: skip
        if scope is None:
            scope = self._new_scope(message, choice)
        scope.ended = False
        scope.count += 1
        given = id is not None
        if id is None:
            # Told from what a receiver sees too, so that both ends make the same one.
            tail = f"#{scope.count}" if index is None else str(index)
            id = f"{scope.message_id}:{tail}"
        call = self._make(id, index, scope.message_id)
        call.given = given
        self._opened += 1
        call.number = self._opened
        scope.calls[call.number] = call
        scope.know(call, id)
        self._known[id] = call
        if index is not None:
            if index in scope.indices:
                # The index leads elsewhere from now on, so an id that was made is the id for good.
                scope.indices[index].given = True
            scope.indices[index] = call
        return call

    def _new_scope(self, message: str | None, choice: int) -> Scope[C]:
        if message is None:
            if self._response is None:
                self._count += 1
                self._response = f"message-{self._count}"
                self._named = False
            message = self._response
        key = _key(message, choice)
        return self._scopes.setdefault(key, Scope(key, choice))

    def _learn(self, call: C, id: str | None, index: int | None, alias: str | None) -> None:
        """Link what has been seen together."""
        scope = self._scopes[call.message_id]
        scope.last = call
        self.linked = False
        if id is not None and not call.given:
            call.id, call.given = id, True
            scope.know(call, id)
            self._known[id] = call
            self.linked = True
        if alias is not None and alias not in scope.ids:
            scope.know(call, alias)
        if index is not None and call.index is None:
            call.index = index
            scope.indices.setdefault(index, call)
            self.linked = True


def _could_be(call: Call, scope: Scope[Any], name: str | None) -> bool:
    """Can an id that comes now be this call's? What a receiver cannot see does not count."""
    waits = not (call.given or call.settled or scope.ended)
    return waits and (name is None or call.name in (None, name))


def _key(message: str, choice: int) -> str:
    return f"{message}:{choice}" if choice else message
