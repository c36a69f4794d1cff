"""The wire for growing JSON (docs/wire.md): small messages that keep a remote copy equal.

>>> sender, receiver = Sender(), Receiver()
>>> messages = [sender.feed({"title": title}) for title in ("Os", "Oslo", "Oslo, Norway")]
>>> messages
[{'n': 1, 'value': {'title': 'Os'}}, [2, ['append', '/title', 'lo']], [3, ', Norway']]
>>> [receiver.feed(message) for message in messages]
[True, True, True]
>>> receiver.value
{'title': 'Oslo, Norway'}

A `Sender` compares successive states. Text is sent without a comparison (`sending.py`), but by the
same `MessageWriter`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from .deltas import (
    LENGTHS,
    Comparison,
    Operation,
    Patch,
    check_length,
    check_value,
    is_operation,
    plain,
    prefixes_of,
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


# ---- receiving ----


class Receiver:
    """Follows one sender: feed each message, decoded from JSON, and read `value`.

    `n` is the number of the last change in the value, `ended` whether the stream is over, and
    `error` the sender's error, if that is why. `limits` bounds depth and strings.
    """

    __slots__ = ("_appended", "_done", "_is_lost", "_last", "_length", "_limits", "_ordered",
                 "_value", "ended", "error", "n")  # fmt: skip

    def __init__(self, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._value: Any = None
        self.n = 0
        self.ended = False
        self.error: dict[str, Any] | None = None
        self._ordered = False
        self._last: str | None = None
        self._done: set[str] = set()
        # Whether a message was missed or rejected: a change without a number does not fit then.
        self._is_lost = True
        # Text to append to the string at `_last`, None if that may not be a string, and the length
        # of both. It is joined when the value is read: a long string is not copied for each token.
        self._appended: list[str] | None = None
        self._length = 0

    @property
    def value(self) -> Any:
        """The sender's value. It is never changed in place: the next one shares what is equal."""
        if self._appended:
            patch = Patch(self._value, self._limits)
            patch.apply(["append", self._last, "".join(self._appended)])
            self._value = patch.value
            self._appended = []
        return self._value

    def feed(self, message: Any) -> bool:
        """Apply a message; return whether the value changed. A repeated change is ignored.

        `Gap` if a message is missing, `InvalidMessage` if this one is wrong. Both leave the value
        as it is, and a snapshot repairs both.
        """
        try:
            return self._adopt(message) if type(message) is dict else self._change(message)
        except (InvalidMessage, Gap):
            self._is_lost = True
            raise

    def is_complete(self, pointer: str = "") -> bool:
        """Return whether there is a value at this JSON Pointer, and it is final."""
        if resolve(self.value, pointer) is ABSENT or self.n == 0:
            return False
        if self.ended and self.error is None:
            return True
        if not self._done.isdisjoint(prefixes_of(pointer)):
            return True
        if not self._ordered or self._last is None:
            return False
        return not _contains(pointer, self._last) and not _contains(self._last, pointer)

    def _adopt(self, message: dict[str, Any]) -> bool:
        """Replace everything by a snapshot."""
        n = _number(message.get("n"))
        last, done = message.get("last", ABSENT), message.get("done", [])
        ordered, end = message.get("ordered", False), message.get("end", False)
        error = message.get("error", ABSENT)
        version = message.get("v", 1)
        if type(version) is not int or version != 1:
            raise InvalidMessage(f"version {version!r:.80} of the wire is not supported")
        if "value" not in message or type(ordered) is not bool or type(end) is not bool:
            raise InvalidMessage(f"{message!r:.80} is not a snapshot")
        if error is not ABSENT and (end or not _is_error(error)):
            raise InvalidMessage(f"{error!r:.80} is not an error")
        check_value(message["value"], self._limits.depth, self._limits)
        if last is not ABSENT:
            tokens_of(last, self._limits.depth)
        if type(done) is not list or any(_is_absent(message["value"], mark) for mark in done):
            raise InvalidMessage(f"{done!r:.80} is not a list of pointers into the value")
        self._value, self.n, self._ordered, self._done = message["value"], n, ordered, set(done)
        self._last = None if last is ABSENT else last
        self.error = None if error is ABSENT else error
        self.ended = end or self.error is not None
        self._is_lost, self._appended = False, None
        return True

    def _change(self, message: Any) -> bool:
        operations = [message] if type(message) is str else message
        if type(operations) is not list or not operations:
            raise InvalidMessage(f"{message!r:.80} is not a message")
        first = operations[0]
        if type(first) is str or type(first) is list:
            if self._is_lost:
                raise Gap("a change came before a snapshot: ask the sender for one")
        else:
            n, operations = _number(first), operations[1:]
            if self.n and n <= self.n:
                return False
            if self.n == 0 or n > self.n + 1:
                at = f"message {self.n}" if self.n else "no snapshot"
                raise Gap(f"message {n} came after {at}: ask the sender for a snapshot")
            if not operations:
                raise InvalidMessage("a change has at least one operation")
        if self.ended:
            raise InvalidMessage(f"{message!r:.80} came after the end")
        if len(operations) == 1 and type(operations[0]) is str and self._appended is not None:
            return self._append(operations[0])
        return self._apply(operations)

    def _append(self, text: str) -> bool:
        """Apply a short append to a string that is known."""
        assert self._appended is not None
        length = self._length + len(text)
        check_length(length, self._limits)
        self._appended.append(text)
        self._length = length
        if self._ordered:
            self._done.clear()
        self.n += 1
        self._is_lost = False
        return True

    def _apply(self, operations: list[Any]) -> bool:
        """Apply the operations of a change, all or none."""
        patch = Patch(self.value, self._limits)
        last, done = self._last, set(self._done)
        name = ""
        ended, error, changed = False, None, False
        for operation in operations:
            if ended:
                raise InvalidMessage(f"{operation!r:.80} came after the end")
            if type(operation) is str:
                operation = ["append", last, operation]
            if is_operation(operation):
                patch.apply(operation)
                name, last, changed = operation[0], operation[1], True
                if self._ordered:
                    done.clear()
                continue
            match operation:
                case ["done", pointer] if not _is_absent(patch.value, pointer):
                    done = {mark for mark in done if not _contains(pointer, mark)} | {pointer}
                case ["end"]:
                    ended = True
                case ["error", problem] if _is_error(problem):
                    ended, error = True, problem
                case _:
                    raise InvalidMessage(f"{operation!r:.80} is not an operation")
        self._value, self._last, self._done = patch.value, last, done
        self.ended, self.error = ended, error
        self._appended = None
        if name == "append":
            self._appended, self._length = [], patch.length
        self.n += 1
        self._is_lost = False
        return changed


def _number(n: Any) -> int:
    if type(n) is not int or not 1 <= n <= _MAX_NUMBER:
        raise InvalidMessage(f"{n!r:.80} is not the number of a message")
    return n


def _is_error(error: Any) -> bool:
    return type(error) is dict and type(error.get("code")) is type(error.get("message")) is str


def _is_absent(value: Any, pointer: Any) -> bool:
    return resolve(value, pointer) is ABSENT


def _contains(outer: str, inner: str) -> bool:
    """Return whether one pointer leads to the value at another, or to a container around it."""
    return inner == outer or inner.startswith(outer + "/")


# ---- sending ----


class MessageWriter:
    """Numbers changes, shortens appends, and knows what a snapshot says besides the value."""

    __slots__ = ("_last", "_numbered", "_ordered", "done", "ended", "error", "n")

    def __init__(self, *, numbered: bool = True, ordered: bool = False) -> None:
        self._numbered = numbered
        self._ordered = ordered
        self._last: str | None = None
        self.n = 0
        self.done: set[str] = set()
        self.ended = False
        self.error: dict[str, Any] | None = None

    def snapshot(self, value: Any) -> dict[str, Any]:
        """Return the message that contains everything up to now."""
        self.n = max(self.n, 1)
        message = {"n": self.n, "value": value}
        if self._last is not None:
            message["last"] = self._last
        if self.done:
            message["done"] = sorted(self.done)
        if self._ordered:
            message["ordered"] = True
        if self.error is not None:
            message["error"] = self.error
        elif self.ended:
            message["end"] = True
        return message

    def change(self, operations: list[Operation]) -> Message:
        """Return the message with these operations."""
        self.n += 1
        message: list[Any] = [self.n] if self._numbered else []
        last = self._last
        for operation in operations:
            name = operation[0]
            is_short = name == "append" and operation[1] == last
            message.append(operation[2] if is_short else operation)
            if name in LENGTHS:
                last = operation[1]
        self._last = last
        if len(message) == 1 and type(message[0]) is str:
            return message[0]
        return message

    def merge(self, held: list[Any] | str, message: list[Any] | str) -> Message:
        """Return one change for a change that was not sent yet and the one after it."""
        self.n -= 1
        merged: list[Any] = held[:] if isinstance(held, list) else [held]
        added: list[Any] = message[:] if isinstance(message, list) else [message]
        if self._numbered:
            del added[0]
        if type(added[0]) is str:
            if type(merged[-1]) is str:
                merged[-1] += added.pop(0)
            elif type(merged[-1]) is list and merged[-1][0] == "append":
                merged[-1] = [*merged[-1][:2], merged[-1][2] + added.pop(0)]
        merged += added
        return merged[0] if len(merged) == 1 and type(merged[0]) is str else merged

    def end(self, error: Any = None) -> Operation:
        """End the stream; return the operation that says so."""
        self.ended = True
        if error is None:
            return ["end"]
        self.error = error
        return ["error", error]


class Sender:
    """Turns successive states of one value into messages.

    A state is a dict, list, dataclass, model or scalar; it may be the same object, changed in
    place. `frozen=True` promises that a state does not change once it was fed: parts that it
    shares with the next one are not compared. `ordered=True` promises that states grow in document
    order (W10). `numbered=False` leaves the numbers out, for transports that lose nothing.
    """

    __slots__ = ("_frozen", "_value", "writer")

    def __init__(
        self, *, numbered: bool = True, ordered: bool = False, frozen: bool = False
    ) -> None:
        self.writer = MessageWriter(numbered=numbered, ordered=ordered)
        self._frozen = frozen
        # The last state: the caller's own if it is frozen, else a copy.
        self._value: Any = None

    @property
    def ended(self) -> bool:
        return self.writer.ended

    def feed(self, state: Any, done: Iterable[str] = ()) -> Message | None:
        """Return the message for this state, or None if nothing is new.

        `done` are JSON Pointers of values that are final from now on. A state that changes one of
        them is refused with a ValueError, as is one that is not JSON.
        """
        writer = self.writer
        if writer.ended:
            raise StreamClosed("the stream has ended; nothing more can be sent")
        if writer.n == 0:
            value = plain(state)
            writer.done = self._new_marks(value, done)
            self._value = state if self._frozen else value
            return writer.snapshot(value)
        comparison = Comparison()
        value = comparison.compare(self._value, state)
        operations = comparison.operations
        for operation in operations:
            self._check_done(operation)
        marks = self._new_marks(plain(state) if self._frozen and done else value, done)
        writer.done = {mark for mark in writer.done if not _is_inside(mark, marks)} | marks
        self._value = state if self._frozen else value
        operations += [["done", mark] for mark in sorted(marks)]
        return writer.change(operations) if operations else None

    def end(self, error: Exception | Mapping[str, Any] | None = None) -> Message:
        """Return the last message: everything is final, or `error` says why it is not."""
        writer = self.writer
        if writer.ended:
            raise StreamClosed("the stream has ended already")
        operation = writer.end(problem_of(error))
        return writer.change([operation]) if writer.n else writer.snapshot(None)

    def snapshot(self) -> dict[str, Any] | None:
        """Return the message for a receiver that joins now; None before the first state."""
        if self.writer.n == 0:
            return None
        return self.writer.snapshot(plain(self._value) if self._frozen else self._value)

    def _new_marks(self, value: Any, done: Iterable[str]) -> set[str]:
        marks = {mark for mark in done if not _is_inside(mark, self.writer.done)}
        for mark in marks:
            if _is_absent(value, mark):
                raise ValueError(f"there is no value at {mark!r} that could be done")
        return {mark for mark in marks if not _is_inside(mark, marks - {mark})}

    def _check_done(self, operation: Operation) -> None:
        name, pointer = operation[0], operation[1]
        marks = self.writer.done
        broken = [mark for mark in prefixes_of(pointer) if mark in marks] if marks else []
        if marks and name != "append":
            broken += [mark for mark in marks if _moves(operation, mark)]
        if broken:
            raise ValueError(f"the state changes {pointer!r}, but {broken[0]!r} is done")


def _is_inside(pointer: str, marks: set[str]) -> bool:
    return not marks.isdisjoint(prefixes_of(pointer))


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


def problem_of(error: Exception | Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return an error for the wire. The details of other exceptions are not for strangers."""
    if isinstance(error, Exception):
        if not isinstance(error, JsonrillError):
            error = SourceFailed("the source failed")
        error = dict(error.to_dict())
    problem: dict[str, Any] | None = plain(error)
    if problem is not None and not _is_error(problem):
        raise ValueError(f"an error has a code and a message, not {problem!r:.80}")
    return problem
