"""Text → values that keep to a schema: `SchemaDocument`, which raises at the first violation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NoReturn, Unpack

from ..build.builder import ValueBuilder
from ..errors import (
    CutShort,
    InvalidJSON,
    InvalidSchema,
    LimitExceeded,
    StreamClosed,
    refuse_copy,
)
from ..options import TABLE, Missing, ParseOptions
from ..parse.create import create_machine
from ..parse.sink import Repair, Sink, weak_method
from ..paths import ABSENT, Path, without
from . import Schema
from .check import Check
from .typed import TypedCheck


class SchemaDocument:
    """As `Document`, for a value that must keep to a schema.

    `value` is a partial instance of a pydantic type (of a JSON Schema the plain value) and, once
    the document is complete, the validated one. `feed` and `flush` raise `InvalidSchema` at the
    earliest character; this and the errors of the text have the last good value as `value`.

    With `live` the value is plain, also for a pydantic type, and changes with the next piece.
    """

    __slots__ = ("__weakref__", "_check", "_complete", "_ends", "_errors", "_fields", "_is_refused",
                 "_live", "_machine", "_violated_by", "_schema", "_seen", "_state", "_typed",
                 "_value", "_violation", "changed", "finished", "many")  # fmt: skip

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        refuse_copy(self)

    def __init__(
        self,
        schema: Any,
        *,
        live: bool = False,
        missing: Missing = "none",
        **options: Unpack[ParseOptions],
    ) -> None:
        self._schema = Schema(schema, zeros=TABLE["missing"].check(missing) == "zero")
        self._live = live
        # The check that makes instances of a pydantic type.
        self._typed: TypedCheck | None = None
        self.many = options.get("many", False)
        self._machine = create_machine(Sink(), options)
        self._machine.keep_lines(True)
        if options.get("repair"):
            self._machine.guide(self._schema.expected)
        # What is called while the machine runs: nothing of it keeps the document.
        self._ends = (
            weak_method(self, SchemaDocument._completed),
            weak_method(self, SchemaDocument._next_document),
        )
        self._violated_by = weak_method(self, SchemaDocument._violated)
        # The violation until it is raised; then the document is refused, and knows it no more: its
        # traceback knows the document.
        self._violation: InvalidSchema | None = None
        self._is_refused = False
        # How many of the machine's errors have their value.
        self._errors = 0
        # Values of documents that the last `feed` completed and then left for the next one.
        self.finished: list[Any] = []
        self.changed = False
        # The value as it was last looked at; the check of the document, and what builds the value.
        self._value: Any = ABSENT
        self._check: Check
        self._state: _Plain | TypedCheck
        # Top-level fields that are complete: those not read yet, and what was last told of each.
        self._fields: list[tuple[str, Any]] = []
        self._seen: dict[str, Any] = {}
        self._begin()

    def feed(self, data: str | bytes) -> bool:
        """Read one piece of text; returns whether the value changed."""
        return self._read(data, False)

    def flush(self, cut: CutShort | None = None) -> bool:
        """End the text; returns whether the value changed. `Truncated` if it stopped early."""
        return self._read("", True, cut)

    @property
    def has_fields(self) -> bool:
        """True if the value may be an object."""
        return self._schema.has_fields

    @property
    def value(self) -> Any:
        """The value so far, safe to keep; None if there is none."""
        return None if self._value is ABSENT else self._value

    @property
    def live(self) -> Any:
        """The value so far; with the option `live` it changes with the next piece."""
        return self.value

    @property
    def started(self) -> bool:
        """True once the value has begun."""
        return self._value is not ABSENT

    @property
    def document(self) -> int:
        """With `many`: the number of the document being read, from 0."""
        return self._machine.document

    @property
    def open_path(self) -> Path | None:
        """The path of the string or container that still grows, of a plain value."""
        return self._state.open_path if isinstance(self._state, _Plain) else None

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: the repairs, in order."""
        return self._machine.repairs

    def take_fields(self) -> list[tuple[str, Any]]:
        """The top-level fields that became complete since the last call, each with its value."""
        self._find_fields()
        fields, self._fields = self._fields, []
        return fields

    @property
    def complete(self) -> bool:
        """True once the value is complete and valid."""
        return self._complete

    @property
    def errors(self) -> list[InvalidJSON | LimitExceeded]:
        """With `many`: the errors that ended documents early, in order."""
        return self._machine.errors

    def _begin(self) -> None:
        """Begin a document."""
        self._complete = False
        self._value = ABSENT
        self._seen = {}
        if self._schema.is_typed and not self._live:
            sink, zeros = _Ends(*self._ends), self._schema.zeros
            self._check = self._state = self._typed = TypedCheck(
                self._schema.node, None, sink, self._violated_by, keep=False, zeros=zeros
            )
        else:
            self._state = _Live(*self._ends) if self._live else _Plain(*self._ends)
            self._check = self._schema.check((), self._state, self._violated_by)
        self._machine.tell(self._check)

    def _read(self, data: str | bytes, is_last: bool, cut: CutShort | None = None) -> bool:
        if self._is_refused:
            raise StreamClosed("the value violates its schema, nothing more is read")
        self.changed = False
        if self.finished:
            self.finished = []
        machine = self._machine
        begin = machine.pending_offset if machine.is_pending() else machine._offset
        try:
            if is_last:
                machine.flush(cut)
            else:
                machine.feed(data)
        except (InvalidJSON, LimitExceeded) as error:
            # In smaller pieces, what has begun would have been checked before the error came.
            self._check_pending()
            self._note_change(begin)
            error.value = self.value
            raise
        if self.many:
            self._keep_value()
        if machine.is_pending():
            self._check_pending()
        self._note_change(begin)
        return self.changed

    def _check_pending(self) -> None:
        """Check the number or literal, or the key, that has begun."""
        machine = self._machine
        if self._is_refused:
            return
        if (text := machine.pending_text) is not None:
            self._check.pending_value(text, machine.pending_offset)
        elif (key := machine.pending_key) is not None:
            self._check.pending_key(key[0], key[1])

    def _keep_value(self) -> None:
        """With `many`: give the error that ended a document its last good value."""
        for error in self._machine.errors[self._errors :]:
            value = self._value if self._complete else self._state.snapshot()
            error.value = None if value is ABSENT else value
        self._errors = len(self._machine.errors)

    def _note_change(self, begin: int) -> None:
        """Note whether a look differs from the one before; raise the violation, if there is one."""
        violation, self._violation = self._violation, None
        if violation is not None:
            self._check.violation = None
            violation.line, violation.column = self._machine.line_and_column(violation.offset)
            violation.value = self.value
            # What was shown before this piece is not shown again without its wrong part.
            self.changed = violation.offset >= begin and violation.value is not None
            try:
                raise violation
            finally:
                del violation  # of this frame, which is in its traceback
        # (Twice the same: of a typed check the compiler knows where its attributes are.)
        typed = self._typed
        if typed is not None:
            if not typed.changed:
                return
            typed.changed = False
            if not self._complete:
                self._value = typed.snapshot()
        elif self._state.changed:
            self._state.changed = False
            if not self._complete:
                self._value = self._state.snapshot()
        else:
            return
        self.changed = self._value is not ABSENT

    # Called while the machine runs.

    def _violated(self, violation: InvalidSchema, drop: Path | None) -> None:
        self._value = self._state.snapshot() if drop is None else self._state.snapshot_without(drop)
        self._violation, self._is_refused = violation, True
        self._machine.tell(Sink())

    def _completed(self) -> None:
        violation = self._check.close(self._state.root)
        if violation is not None:
            self._violated(violation, violation.path)
            return
        self._complete = self._state.changed = True
        self._value = self._state.root if self._typed is None else self._check.model

    def _next_document(self) -> None:
        self._keep_value()
        if not self._is_refused:
            if self._state.changed:
                value = self._value if self._complete else self._state.snapshot()
                if value is not ABSENT:
                    self.finished.append(value)
            self._find_fields()
            self._begin()

    def _find_fields(self) -> None:
        """Note the top-level fields that are complete; at the end also those only it tells.

        A field that is another one at the end is told again: its key came twice, another of its
        aliases came, or a validator of the whole changed it.
        """
        fields = self._state.complete_fields(self._value if self._complete else ABSENT)
        for name, value in fields:
            if name not in self._seen or _differs(value, self._seen[name]):
                self._seen[name] = value
                self._fields.append((name, value))


def _differs(value: Any, other: Any) -> bool:
    """True if these are not equal; False where their type has no answer, as arrays of numpy."""
    try:
        return value is not other and bool(value != other)
    except Exception:
        return False


class _Ends(Sink):
    """Calls when a document is complete, and when the next one begins."""

    __slots__ = ("_completed", "_next_document")

    def __init__(self, completed: Callable[[], None], next_document: Callable[[], None]) -> None:
        self._completed = completed
        self._next_document = next_document

    def complete(self, offset: int) -> None:
        self._completed()

    def next_document(self) -> None:
        self._next_document()


class _Plain(ValueBuilder):
    """The value of a JSON Schema: plain."""

    __slots__ = ("_completed", "_next_document", "_told")

    def __init__(self, completed: Callable[[], None], next_document: Callable[[], None]) -> None:
        ValueBuilder.__init__(self)
        self._told = 0
        self._completed = completed
        self._next_document = next_document

    def complete(self, offset: int) -> None:
        self._completed()

    def next_document(self) -> None:
        self._next_document()

    def snapshot(self) -> Any:
        return self.value if self.started else ABSENT

    def snapshot_without(self, path: Path) -> Any:
        return without(self.value, path)

    def complete_fields(self, complete: Any) -> Iterator[tuple[str, Any]]:
        """The members of the root that became complete since the last call."""
        if isinstance(self.root, dict):
            is_open = self.open_path not in ((), None)
            end = len(self.root) - is_open
            members = list(islice(self.root.items(), self._told, end))
            self._told = end
            yield from members
            if complete is not ABSENT:
                yield from self.root.items()


class _Live(_Plain):
    """The value itself, which changes, instead of a copy."""

    __slots__ = ()

    def snapshot(self) -> Any:
        return self.root if self.started else ABSENT
