"""Text → values that keep to a schema: `SchemaDocument`, which raises at the first violation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from ..document import ValueBuilder
from ..errors import CutShort, InvalidJSON, LimitExceeded
from ..parse.options import ParseOptions, create_machine
from ..paths import ABSENT
from . import Schema
from .check import SourceText
from .errors import Refused


class SchemaDocument:
    """As `Document`, for a value that must keep to a schema.

    `value` is a partial instance of the type (of a JSON Schema the plain value) and, once the
    document is complete, the validated one. `feed` and `flush` raise `InvalidSchema`; this error
    and the errors of the text have the last good value as `value`.
    """

    def __init__(self, schema: Any, zeros: bool = False, **options: Unpack[ParseOptions]) -> None:
        self.schema = Schema(schema, zeros=zeros)
        self._options = options
        self._builder = ValueBuilder()
        self._machine = create_machine(self._builder, options)
        self._check = self.schema.check()
        self._text = SourceText(options.get("prefix", ""))
        # The value so far, safe to keep; None if there is none.
        self.value: Any = None
        # The names of the fields that were taken.
        self._taken: set[str] = set()
        self._is_complete = False
        self.changed = False

    def feed(self, data: str | bytes) -> bool:
        """Read one piece of text; return whether the value changed."""
        self._text.add(data)
        return self._read(self._machine.feed, data)

    def flush(self, cut: CutShort | None = None) -> bool:
        """End the text; return whether the value changed. `Truncated` if it stopped early."""
        return self._read(self._machine.flush, cut)

    def take_fields(self) -> list[tuple[str, Any]]:
        """Return the top-level fields that became complete since the last call."""
        root, check = self._builder.root, self._check
        fields = self.schema.fields_of(self.value, root) if self._is_complete else check.fields()
        new = [(name, value) for name, value in fields if name not in self._taken]
        self._taken.update(name for name, _ in new)
        return new

    def _read(self, read: Callable[[Any], None], data: Any) -> bool:
        self.changed = False
        try:
            try:
                read(data)
            finally:
                # In smaller pieces the value would have been checked before an error of the text.
                self._update()
        except (InvalidJSON, LimitExceeded) as error:
            error.value = self.value
            raise
        return self.changed

    def _update(self) -> None:
        """Check what the last piece added, and update `value`."""
        builder, check = self._builder, self._check
        if self._is_complete:
            return
        try:
            if builder.done:
                self.value = check.close(builder.root)
                self._is_complete = self.changed = True
                return
            check.look(builder.root, builder.open_path)
            if not builder.in_string and not self._options.get("repair"):
                check.begin_at(self._machine)
        except Refused as refused:
            error = self._text.violation(refused, self._options)
            good = check.before(builder.root, refused.path)[1]
            self.value = error.value = None if good is ABSENT else good
            raise error from None
        if check.changed:
            check.changed = False
            shown = check.partial()
            self.changed = shown is not ABSENT
            self.value = shown if self.changed else None
