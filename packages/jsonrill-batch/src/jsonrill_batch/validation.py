"""A text that is read and held against a schema at once: the end of it is the first violation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jsonrill.build.builder import ValueBuilder
from jsonrill.errors import Cut, InvalidJSON, InvalidSchema, LimitExceeded
from jsonrill.parse.create import create_machine
from jsonrill.parse.sink import Repair
from jsonrill.paths import Path

if TYPE_CHECKING:
    from jsonrill.schema import Schema


class Judged:
    """As `Document`, but held against a schema: it raises `InvalidSchema` at once."""

    def __init__(self, schema: Schema, options: dict[str, Any]) -> None:
        self._tree = ValueBuilder()
        self._check = schema.check((), self._tree, _refuse)
        self._machine = create_machine(self._check, **options)

    @property
    def started(self) -> bool:
        return self._tree.started

    @property
    def live(self) -> Any:
        return self._tree.live

    @property
    def changed(self) -> bool:
        return self._tree.changed

    @property
    def repairs(self) -> list[Repair]:
        return self._machine.repairs

    def feed(self, text: str) -> bool:
        try:
            self._take(lambda: self._machine.feed(text))
        except (InvalidJSON, LimitExceeded):
            # In smaller pieces, what has begun would have been checked before the error came.
            self._check_pending()
            raise
        self._check_pending()
        return self.changed

    def _check_pending(self) -> None:
        machine = self._machine
        if (pending := machine.pending) is not None:
            self._check.pending(*pending, machine.pending_offset)
        elif (key := machine.pending_key) is not None:
            self._check.pending_key(*key)

    def flush(self, cut: Cut | None = None) -> bool:
        self._take(lambda: self._machine.flush(cut))
        return self.changed

    def _take(self, step: Callable[[], None]) -> None:
        was_done, self._tree.changed = self._tree.done, False
        try:
            step()
        finally:  # a complete value is validated, whatever follows it
            if self._tree.done and not was_done:
                violation = self._check.close(self._tree.live)
                if violation is not None:
                    raise violation


def _refuse(violation: InvalidSchema, begun: Path | None) -> None:
    raise violation
