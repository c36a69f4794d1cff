"""The wire for growing JSON (docs/wire.md): small messages that keep a remote copy equal.

>>> sender, receiver = Sender(), Receiver()
>>> messages = [sender.feed({"title": title}) for title in ("Os", "Oslo", "Oslo, Norway")]
>>> messages
[{'n': 1, 'value': {'title': 'Os'}}, [2, ['append', '/title', 'lo']], [3, ', Norway']]
>>> [receiver.feed(message) for message in messages]
[True, True, True]
>>> receiver.value
{'title': 'Oslo, Norway'}

A sender has a receiver of its own, which holds what every other receiver holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from reprlib import repr as short_repr
from typing import Any, Final

from .deltas import Operation, Patch, apply_delta, copy_json, difference, parse_pointer, resolve
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
    `error` the sender's error, if that is why. `ordered`, `last` and `done` are as in a snapshot.
    `limits` bounds depth and strings.
    """

    def __init__(self, *, limits: Limits = DEFAULT_LIMITS) -> None:
        if not isinstance(limits, Limits):
            raise ValueError(f"limits must be a Limits object, not {limits!r}")
        self._limits = limits
        self._patch = Patch(None, limits)
        # What builds the value, if operations only describe it: the recorder of a text.
        self.builder: Any = None
        self.n = 0
        self.ended = self.ordered = False
        self.error: dict[str, Any] | None = None
        self.last: str | None = None
        self.done: set[str] = set()
        # Whether a message was missed or rejected since the last snapshot, and whether the last
        # snapshot was rejected: then the changes after it belong to another value.
        self._is_lost = self._needs_snapshot = True

    @property
    def value(self) -> Any:
        """The sender's value. It is never changed in place: the next one shares what is equal."""
        return (self.builder or self._patch).value

    def feed(self, message: Any) -> bool:
        """Apply a message; return whether the value changed. A repeated change is ignored.

        `Gap` if a message is missing, `InvalidMessage` if this one is wrong. Both leave the value
        as it is, and a snapshot repairs both.
        """
        try:
            return self._adopt(message) if type(message) is dict else self._change(message)
        except (Gap, InvalidMessage):
            self._is_lost = True
            self._needs_snapshot = self._needs_snapshot or type(message) is dict
            raise

    def is_complete(self, pointer: str = "") -> bool:
        """Return whether there is a value at this JSON Pointer, and it is final."""
        if self.n == 0 or resolve(self.value, pointer) is ABSENT:
            return False
        around = _ancestors(pointer)
        if (self.ended and self.error is None) or not self.done.isdisjoint(around):
            return True
        if not self.ordered or self.last is None:
            return False
        return self.last not in around and pointer not in _ancestors(self.last)

    def _adopt(self, message: dict[str, Any]) -> bool:
        """Replace everything by a snapshot."""
        for name, kind in _MEMBERS.items():
            if name in message and type(message[name]) is not kind:
                raise InvalidMessage(f"{short_repr(message[name])} is not the {name} of a snapshot")
        if message.get("v", 1) != 1:
            raise InvalidMessage(f"version {short_repr(message['v'])} of the wire is not supported")
        n, last = _check_number(message.get("n")), message.get("last")
        parse_pointer(last or "", self._limits.depth)
        steps = [["set", "", message.get("value", ABSENT)]]
        steps += [["done", pointer] for pointer in message.get("done", [])]
        steps += [["end"]] if message.get("end") else []
        steps += [["error", message["error"]]] if "error" in message else []
        self._apply(n, steps, Patch(None, self._limits), set())
        self.last, self.ordered = last, message.get("ordered", False)
        self._is_lost = self._needs_snapshot = False
        return True

    def _change(self, message: Any) -> bool:
        """Apply a change, unless it was applied already."""
        steps = [message] if type(message) is str else message
        if type(steps) is not list or not steps:
            raise InvalidMessage(f"{short_repr(message)} is not a message")
        if type(steps[0]) is str or type(steps[0]) is list:
            if self._is_lost:
                raise Gap("a change without a number needs a snapshot; JSON text must be decoded")
            return self.advance(steps)
        n = _check_number(steps[0])
        if self._needs_snapshot or n > self.n + 1:
            raise Gap(f"message {n} came after message {self.n}: ask the sender for a snapshot")
        return n > self.n and self.advance(steps[1:])

    def advance(self, steps: list[Any]) -> bool:
        """Apply the steps of the next change, all or none; return whether the value changed."""
        if self.ended or not steps:
            raise InvalidMessage(f"{short_repr(steps)} came after the end, or has no operation")
        # One operation that fails changes nothing. Several are applied to a copy.
        patch = self._patch if len(steps) == 1 else Patch(self._patch.value, self._limits)
        return self._apply(self.n + 1, steps, patch, self.done)

    def _apply(self, n: int, steps: list[Any], patch: Patch, done: set[str]) -> bool:
        last, ended, error = self.last, False, None
        marks: list[str] = []
        is_changed = False
        for step in steps:
            match step:
                case _ if ended:
                    raise InvalidMessage(f"{short_repr(step)} came after the end")
                case ["done", pointer] if resolve(patch.value, pointer) is not ABSENT:
                    marks.append(pointer)
                case ["end"]:
                    ended = True
                case ["error", problem] if _is_error(problem):
                    ended, error = True, problem
                case _:
                    operation = ["append", last, step] if type(step) is str else step
                    if self.builder is None:
                        patch.apply(operation)
                    last, is_changed = operation[1], True
        done.update(marks)
        self.n, self._patch, self.last, self.done = n, patch, last, done
        self.ended, self.error = ended, error
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
        self._frozen = frozen
        # The state that every receiver has, and the state to compare the next one with.
        self.receiver = Receiver()
        self.receiver.ordered = ordered
        self._state: Any = ABSENT

    def feed(self, state: Any, done: Iterable[str] = ()) -> Message | None:
        """Return the message for this state, or None if nothing has changed.

        `done` are JSON Pointers of values that are final from now on. A state that changes one of
        them is refused with a ValueError, as is one that is not JSON.
        """
        receiver = self.receiver
        try:
            operations = difference(self._state, state)
        except RecursionError:
            raise ValueError("the state has too many levels") from None
        if receiver.done:
            self._check_done(operations)
        marks = [["done", mark] for mark in done if not receiver.is_complete(mark)]
        message = self.write([*operations, *marks])
        self._state = state if self._frozen else receiver.value
        return message

    def end(self, error: Exception | Mapping[str, Any] | None = None) -> Message | None:
        """Return the last message: everything is final, or `error` says why it is not."""
        return self.write([last_step(error)])

    def snapshot(self) -> dict[str, Any] | None:
        """Return the message for a receiver that joins now; None before the first state."""
        receiver = self.receiver
        members = {
            "last": receiver.last,
            "done": sorted(receiver.done),
            "ordered": receiver.ordered,
            "end": receiver.ended and receiver.error is None,
            "error": receiver.error,
        }
        present = {name: item for name, item in members.items() if item not in (None, False, [])}
        return {"n": receiver.n, "value": receiver.value, **present} if receiver.n else None

    def write(self, steps: list[Operation]) -> Message | None:
        """Return the message with these steps, or None if there are none."""
        receiver, last = self.receiver, self.receiver.last
        if receiver.ended:
            raise StreamClosed("the stream has ended; nothing more can be sent")
        if not steps:
            return None
        receiver.advance(steps)
        if receiver.n == 1:
            receiver.last = None
            return self.snapshot()
        message: list[Any] = [receiver.n] if self._numbered else []
        for step in steps:
            message.append(step[2] if step[:2] == ["append", last] else step)
            last = step[1] if len(step) > 1 else None
        return _shorten(message)

    def merge(self, held: Message, message: Message) -> Message | None:
        """Merge a message that was not sent yet with the next one, if possible in place."""
        if isinstance(held, dict) or isinstance(message, dict):
            return self.snapshot()
        self.receiver.n -= 1
        merged = [held] if isinstance(held, str) else held
        first, *others = [message] if isinstance(message, str) else message[self._numbered :]
        if type(first) is str and type(merged[-1]) is str:
            first = merged.pop() + first
        merged += [first, *others]
        return _shorten(merged)

    def _check_done(self, operations: list[Operation]) -> None:
        """Refuse operations that change, remove or move a value that was marked as done."""
        old, done = self.receiver.value, self.receiver.done
        new = apply_delta(old, operations)
        for _, pointer, *_ in operations:
            inside = [mark for mark in done if mark.startswith(pointer + "/")]
            for mark in done.intersection(_ancestors(pointer)).union(inside):
                item = resolve(new, mark)
                if item is ABSENT or difference(resolve(old, mark), item):
                    raise ValueError(f"the state changes {mark!r}, which is done")


def _shorten(message: list[Any]) -> Message:
    """Return a change without a number that is only a short append as that text (W5)."""
    return message[0] if len(message) == 1 and type(message[0]) is str else message


def _ancestors(pointer: str) -> list[str]:
    """Return the pointers of the containers around a value, and its own."""
    tokens = pointer.split("/")
    return ["/".join(tokens[:count]) for count in range(1, len(tokens) + 1)]


def _check_number(n: Any) -> int:
    if type(n) is not int or not 1 <= n <= _MAX_NUMBER:
        raise InvalidMessage(f"{short_repr(n)} is not the number of a message")
    return n


def _is_error(error: Any) -> bool:
    return type(error) is dict and type(error.get("code")) is type(error.get("message")) is str


def last_step(error: Exception | Mapping[str, Any] | None = None) -> Operation:
    """Return the step that ends a stream. It hides the details of unexpected exceptions."""
    if error is None:
        return ["end"]
    if isinstance(error, JsonrillError):
        error = error.to_dict()
    elif isinstance(error, Exception):
        error = SourceFailed("the source failed").to_dict()
    problem = copy_json(error)
    if not _is_error(problem):
        raise ValueError(f"an error has a code and a message, not {short_repr(problem)}")
    return ["error", problem]
