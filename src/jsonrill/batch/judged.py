"""A text that is read and held against a schema at once: the end of it is the first violation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..build.rebuilder import Rebuilder
from ..errors import InvalidJSON, InvalidSchema, LimitExceeded
from ..parse.sink import Repair
from ..wire.parser import Parser

if TYPE_CHECKING:
    from ..schema import Schema


class Judged:
    """As `Document`, but every fragment is held against a schema: it raises `InvalidSchema`."""

    def __init__(self, schema: Schema, options: dict[str, Any]) -> None:
        self._parser = Parser(**options)
        self._rebuilder = Rebuilder()
        self._check = schema.check()
        self.changed = False

    @property
    def started(self) -> bool:
        return self._rebuilder.started

    @property
    def live(self) -> Any:
        return self._rebuilder.live

    @property
    def repairs(self) -> list[Repair]:
        return self._parser.repairs

    def feed(self, text: str) -> bool:
        self._take(lambda: self._parser.feed(text))
        pending = self._parser.pending
        if pending is not None:
            self._judge(self._check.pending(*pending, self._parser.pending_offset))
        return self.changed

    def flush(self) -> bool:
        self._take(self._parser.flush)
        return self.changed

    def _take(self, step: Callable[[], Any]) -> None:
        error = None
        try:
            found = step()
        except (InvalidJSON, LimitExceeded) as raised:
            found, error = raised.fragments, raised
        self.changed = bool(found)
        for fragment in found:
            if fragment.kind == "JsonComplete":
                self._judge(self._check.close(self._rebuilder.live))
            else:
                self._judge(self._check.feed(fragment))
            self._rebuilder.feed([fragment])
        if error is not None:
            raise error

    def _judge(self, violation: InvalidSchema | None) -> None:
        if violation is not None:
            raise violation
