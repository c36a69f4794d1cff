"""The check of one value: the walk over its events, then the last word of the real validator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidSchema
from ..parse.sink import Sink
from ..paths import Path, Place, path_of
from ..wire.fragment import Fragment
from ..wire.parser import emit
from .nodes import Node, Refusal
from .walk import DEEPEST, Walk, violation_at


class Check(Walk):
    """The check of one value: a sink of its events; close it with the complete value.

    Or feed it fragments: each call returns the first violation, or None. After one, nothing more
    is fed.
    """

    __slots__ = ("_node", "model")

    def __init__(
        self,
        node: Node,
        root: Place | None = None,
        then: Sink | None = None,
        violated: Callable[[InvalidSchema, Path | None], None] | None = None,
    ) -> None:
        super().__init__(node, root, then, violated)
        self._node = node
        # After close() without a violation: the validated instance of a pydantic type.
        self.model: Any = None

    def feed(self, *fragments: Fragment) -> InvalidSchema | None:
        """The next fragments of the value, in order, from its first to its last."""
        self.violation = None
        emit(fragments, self)
        return self.violation

    def pending(self, path: Path, text: str, offset: int | None = None) -> InvalidSchema | None:
        """The violation of a number or literal that has begun: `Parser.pending` after a feed.

        Without the offset there is no verdict before the number or literal has ended: a violation
        must name the same place however the text was cut.
        """
        return None if offset is None else super().pending(path, text, offset)

    def close(self, value: Any) -> InvalidSchema | None:
        """The violation of the complete value, as the real validator says."""
        validator = self._node.full_validator
        assert validator is not None
        refusal: Refusal | None
        if self.deepest > DEEPEST:
            refusal = Refusal("depth", f"more than {DEEPEST} levels cannot be validated")
        else:
            refusal, self.model = validator.final(value)
        if refusal is None:
            return None
        path = path_of(self._root) + refusal.path
        return violation_at(path, self.offset_of(path), refusal)

    def partial_model(self, value: Any, open_path: Path | None) -> Any:
        """The partial instance of a pydantic type when `value` was known; None if there is none.

        What is at `open_path` still grew then.
        """
        return None
