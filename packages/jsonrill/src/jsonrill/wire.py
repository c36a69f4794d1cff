"""The wire for growing JSON (docs/wire.md): small messages that keep a remote copy equal.

>>> sender, receiver = Sender(), Receiver()
>>> messages = [sender.feed({"title": title}) for title in ("Os", "Oslo", "Oslo, Norway")]
>>> messages
[{'n': 1, 'value': {'title': 'Os'}}, [2, ['append', '/title', 'lo']], [3, ', Norway']]
>>> [receiver.feed(message) for message in messages]
[True, True, True]
>>> receiver.value
{'title': 'Oslo, Norway'}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from .deltas import (
    LENGTHS,
    Operation,
    Patch,
    apply_delta,
    check_value,
    difference,
    is_operation,
    plain,
    resolve,
    tokens_of,
)
from .errors import (
    DEFAULT_LIMITS,
    Gap,
    InvalidMessage,
    JsonrillError,
    Limits,
    SourceFailed,
    StreamClosed,
)
from .paths import ABSENT

# A snapshot, a change, or the text of a short append (W1).
Message = dict[str, Any] | list[Any] | str

_MAX_NUMBER: Final = 2**53 - 1


# The types of what a snapshot may contain besides the value.
_MEMBERS: Final = {"last": str, "done": list, "ordered": bool, "end": bool, "error": dict, "v": int}


class Receiver:
    """Follows one sender: feed each message, decoded from JSON, and read `value`.

    `n` is the number of the last change in the value, `ended` whether the stream is over, and
    `error` the sender's error, if that is why. `limits` bounds depth and strings.
    """

    def __init__(self, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._patch = Patch(None, limits)
        self.n = 0
        self.ended = False
        self.error: dict[str, Any] | None = None
        self._ordered = False
        self._last: str | None = None
        self._done: set[str] = set()
        # Whether a message was missed or rejected since the last snapshot.
        self._is_lost = True

    @property
    def value(self) -> Any:
        """The sender's value. It is never changed in place: the next one shares what is equal."""
        return self._patch.value

    def feed(self, message: Any) -> bool:
        """Apply a message; return whether the value changed. A repeated change is ignored.

        `Gap` if a message is missing, `InvalidMessage` if this one is wrong. Both leave the value
        as it is, and a snapshot repairs both.
        """
        try:
            return self._adopt(message) if type(message) is dict else self._change(message)
        except JsonrillError:
            self._is_lost = True
            raise

    def is_complete(self, pointer: str = "") -> bool:
        """Return whether there is a value at this JSON Pointer, and it is final."""
        if self.n == 0 or resolve(self.value, pointer) is ABSENT:
            return False
        if self.ended and self.error is None:
            return True
        around = _prefixes(pointer)
        if not self._ordered or self._last is None:
            return not self._done.isdisjoint(around)
        is_open = self._last in around or pointer in _prefixes(self._last)
        return not is_open or not self._done.isdisjoint(around)

    def _adopt(self, message: dict[str, Any]) -> bool:
        """Replace everything by a snapshot."""
        for name, kind in _MEMBERS.items():
            if name in message and type(message[name]) is not kind:
                raise InvalidMessage(f"{message[name]!r:.80} is not the {name} of a snapshot")
        if message.get("v", 1) != 1:
            raise InvalidMessage(f"version {message['v']!r:.80} of the wire is not supported")
        n, value, error = (
            _number(message.get("n")),
            message.get("value", ABSENT),
            message.get("error"),
        )
        if error is not None and (message.get("end") or not _is_error(error)):
            raise InvalidMessage(f"{error!r:.80} is not an error")
        check_value(value, self._limits.depth, self._limits)
        tokens_of(message.get("last", ""), self._limits.depth)
        done = message.get("done", [])
        for mark in done:
            _check_exists(value, mark)
        self.n, self._patch.value, self._done, self.error = n, value, set(done), error
        self._last, self._ordered = message.get("last"), message.get("ordered", False)
        self.ended = message.get("end", False) or error is not None
        self._is_lost = False
        return True

    def _change(self, message: Any) -> bool:
        """Apply a change, unless it was applied already."""
        steps = [message] if type(message) is str else message
        if type(steps) is not list or not steps:
            raise InvalidMessage(f"{message!r:.80} is not a message")
        if type(steps[0]) is str or type(steps[0]) is list:
            if self._is_lost:
                raise Gap(
                    "a change without a number needs a snapshot first: ask the sender for one"
                )
        else:
            n, steps = _number(steps[0]), steps[1:]
            if self.n == 0 or n > self.n + 1:
                raise Gap(f"message {n} came after message {self.n}: ask the sender for a snapshot")
            if n <= self.n:
                return False
        if not steps or self.ended:
            raise InvalidMessage(f"{message!r:.80} is empty, or came after the end")
        before = ABSENT if len(steps) == 1 else self.value
        try:
            changed = self._apply(steps)
        except InvalidMessage:
            if before is not ABSENT:
                self._patch.value = before
            raise
        self.n += 1
        return changed

    def _apply(self, steps: list[Any]) -> bool:
        last, done, error = self._last, self._done, self.error
        is_changed = is_last = False
        for step in steps:
            if type(step) is str:
                step = ["append", last, step]
            if is_last or type(step) is not list:
                raise InvalidMessage(f"{step!r:.80} is not an operation, or came after the end")
            if is_operation(step):
                self._patch.apply(step)
                last, is_changed = step[1], True
                done = set() if self._ordered else done
            elif step[:1] == ["done"] and len(step) == 2:
                _check_exists(self.value, step[1])
                done = done | {step[1]}
            elif step == ["end"]:
                is_last = True
            elif step[:1] == ["error"] and len(step) == 2 and _is_error(step[1]):
                is_last, error = True, step[1]
            else:
                raise InvalidMessage(f"{step!r:.80} is not an operation")
        self._last, self._done, self.error, self.ended = last, done, error, is_last
        return is_changed


class Sender:
    """Turns successive states of one value into messages.

    A state is a dict, list, dataclass, model or scalar; it may be the same object, changed in
    place. `frozen=True` promises that a state does not change once it was fed: parts that it
    shares with the next one are not compared. `ordered=True` promises that states grow in document
    order (W10). `numbered=False` leaves the numbers out, for transports that lose nothing.
    """

    def __init__(
        self, *, numbered: bool = True, ordered: bool = False, frozen: bool = False
    ) -> None:
        self._numbered = numbered
        self._ordered = ordered
        self._frozen = frozen
        self.n = 0
        self.ended = False
        self.error: dict[str, Any] | None = None
        # What a receiver has, and the state to compare the next one with.
        self.value: Any = None
        self._state: Any = None
        self._last: str | None = None
        self._done: set[str] = set()

    def feed(self, state: Any, done: Iterable[str] = ()) -> Message | None:
        """Return the message for this state, or None if nothing is new.

        `done` are JSON Pointers of values that are final from now on. A state that changes one of
        them is refused with a ValueError, as is one that is not JSON.
        """
        self._check_open()
        delta = difference(self._state, state) if self.n else [["set", "", plain(state)]]
        for operation in delta:
            self._check_done(operation)
        value = apply_delta(self.value, delta)
        marks = [mark for mark in done if self._done.isdisjoint(_prefixes(mark))]
        for mark in marks:
            _check_exists(value, mark)
        self.value, self._state = value, state if self._frozen else value
        self._done.update(marks)
        return self.write([*delta, *(["done", mark] for mark in marks)])

    def end(self, error: Exception | Mapping[str, Any] | None = None) -> Message | None:
        """Return the last message: everything is final, or `error` says why it is not."""
        self._check_open()
        self.error = None if error is None else _as_error(error)
        self.ended = True
        return self.write([["end"] if error is None else ["error", self.error]])

    def snapshot(self) -> dict[str, Any] | None:
        """Return the message for a receiver that joins now; None before the first state."""
        members = {
            "last": self._last,
            "done": sorted(self._done) or None,
            "ordered": self._ordered or None,
            "end": True if self.ended and self.error is None else None,
            "error": self.error,
        }
        present = {name: item for name, item in members.items() if item is not None}
        return {"n": self.n, "value": self.value, **present} if self.n else None

    def write(self, operations: list[Operation]) -> Message | None:
        """Return the message with these operations on `value`, None if there are none."""
        if self.n == 0:
            self.n = 1
            return self.snapshot()
        if not operations:
            return None
        self.n += 1
        message: list[Any] = [self.n] if self._numbered else []
        for operation in operations:
            is_short = operation[0] == "append" and operation[1] == self._last
            message.append(operation[2] if is_short else operation)
            if operation[0] in LENGTHS:
                self._last = operation[1]
        return message[0] if len(message) == 1 and type(message[0]) is str else message

    def merge(self, held: list[Any] | str, message: list[Any] | str) -> Message:
        """Merge a change that was not sent yet with the next one."""
        self.n -= 1
        merged = [held] if isinstance(held, str) else held[:]
        added = [message] if isinstance(message, str) else message[self._numbered :]
        if type(added[0]) is str and type(merged[-1]) is str:
            merged[-1] += added.pop(0)
        elif type(added[0]) is str and merged[-1][0] == "append":
            merged[-1] = [*merged[-1][:2], merged[-1][2] + added.pop(0)]
        merged += added
        return merged[0] if len(merged) == 1 and type(merged[0]) is str else merged

    def _check_open(self) -> None:
        if self.ended:
            raise StreamClosed("the stream has ended; nothing more can be sent")

    def _check_done(self, operation: Operation) -> None:
        pointer = operation[1]
        broken = self._done.intersection(_prefixes(pointer)) if self._done else set()
        if operation[0] != "append":
            broken.update(mark for mark in self._done if _moves(operation, mark))
        if broken:
            raise ValueError(f"the state changes {pointer!r}, but {min(broken)!r} is done")


def _moves(operation: Operation, mark: str) -> bool:
    """Return whether an operation on a container replaces or moves the value at `mark`."""
    name, pointer = operation[0], operation[1]
    if not mark.startswith(pointer + "/"):
        return False
    if name != "splice":
        return True
    start, count, new = operation[2:]
    index = int(mark[len(pointer) + 1 :].partition("/")[0])
    return bool(index >= start and (index < start + count or count != len(new)))


def _prefixes(pointer: str) -> list[str]:
    """Return the pointers of the containers around a value, and its own."""
    tokens = pointer.split("/")
    return ["/".join(tokens[:count]) for count in range(1, len(tokens) + 1)]


def _check_exists(value: Any, pointer: Any) -> None:
    if resolve(value, pointer) is ABSENT:
        raise InvalidMessage(f"there is no value at {pointer!r:.80} that could be done")


def _number(n: Any) -> int:
    if type(n) is not int or not 1 <= n <= _MAX_NUMBER:
        raise InvalidMessage(f"{n!r:.80} is not the number of a message")
    return n


def _is_error(error: Any) -> bool:
    return type(error) is dict and type(error.get("code")) is type(error.get("message")) is str


def _as_error(error: Exception | Mapping[str, Any]) -> dict[str, Any]:
    """Return an error for the wire. The details of other exceptions are not for strangers."""
    if isinstance(error, Exception):
        if not isinstance(error, JsonrillError):
            error = SourceFailed("the source failed")
        error = error.to_dict()
    problem: dict[str, Any] = plain(error)
    if not _is_error(problem):
        raise ValueError(f"an error has a code and a message, not {problem!r:.80}")
    return problem
