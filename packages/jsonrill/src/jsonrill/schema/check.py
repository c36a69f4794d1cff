"""The check of one value: the walk over its events, then the last word of the real validator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidSchema
from ..parse.sink import Sink, TextBuffer
from ..paths import ABSENT, Path, Place, path_of
from ..wire.fragment import Fragment
from ..wire.parser import emit
from .nodes import OBJECT, Node, Refusal, kind_of
from .parts import is_plain_list
from .validators import Budget
from .walk import DEEPEST, Walk, validated, violation_at


class Check(Walk):
    """The check of one value: a sink of its events; close it with the complete value.

    Or feed it fragments: each call returns the first violation, or None. After one, nothing more
    is fed.
    """

    __slots__ = ("_node", "model", "root")

    def __init__(
        self,
        node: Node,
        root: Place | None = None,
        then: Sink | None = None,
        violated: Callable[[InvalidSchema, Path | None], None] | None = None,
        budget: Budget | None = None,
    ) -> None:
        Walk.__init__(self, node, root, then, violated)
        self._node = node
        self.budget = Budget() if budget is None else budget
        # The complete value as it was sent, if this check has kept it.
        self.root: Any = ABSENT
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
        return None if offset is None else self.pending_value(text, offset)

    def close(self, value: Any) -> InvalidSchema | None:
        """The violation of the complete value, as the real validator says."""
        validator = self._node.full_validator
        assert validator is not None
        refusal: Refusal | None
        if self.deepest > DEEPEST:
            refusal = Refusal("depth", f"more than {DEEPEST} levels cannot be validated")
        else:
            refusal, self.model = validator.final(value, self.budget)
        if refusal is None:
            return None
        path = path_of(self._root) + refusal.path
        return violation_at(path, self.offset_of(path), refusal)

    def partial_now(self) -> Any:
        """The partial instance of a pydantic type as it is now; None if there is none."""
        return None

    def partial_model(self, value: Any, open_path: Path | None) -> Any:
        """The partial instance of a pydantic type when `value` was known; None if there is none.

        What is at `open_path` still grew then.
        """
        return None


class DocumentCheck(Check):
    """The check of a document around its entities, each of which has a check of its own.

    Outside of entities it is a sink of events. An entity comes as one value: `begins` before it,
    `passed` after it. So nothing is checked twice while it arrives, and at the end the validator of
    the document is asked, for which the document's value is kept. A list whose schema says nothing
    but how many elements there are and what each of them is needs no more than to be counted.
    """

    __slots__ = ("_keeps",)

    def __init__(
        self,
        node: Node,
        violated: Callable[[InvalidSchema, Path | None], None],
        budget: Budget | None = None,
    ) -> None:
        Check.__init__(self, node, None, None, violated, budget)
        self._keeps = not is_plain_list(node)

    def begins(self, offset: int) -> bool:
        """False, and a violation, if no value at all may be here."""
        refused = self._expected()[1]
        return not refused or self._allows(refused, self._here(), offset)

    def passed(
        self, known_value: Callable[[], tuple[Any, Path | None]], offset: int, depth: int
    ) -> None:
        """Take in a complete entity, in which containers nest `depth` deep."""
        if not self._keeps:
            self._pass()
            return
        known = known_value()[0]
        kind = kind_of(known)
        active, refused = self._begin(kind)
        place = self._started(offset)
        frame = self._inside
        assert frame is not None
        frame.put(place, known)
        self.deepest = max(self.deepest, len(self._frames) + depth)
        # What holds outside of choices the check of the entity has asked.
        if self._allows(refused, place, offset, begun=True):
            branched = [one for one in active if one[1] is not None and not one[0].sure & kind]
            self._allows(validated(branched, known, self.budget), place, offset, begun=True)

    def end_container(self, offset: int) -> None:
        frame = self._inside
        assert frame is not None
        Walk.end_container(self, offset)
        if not self._frames and self.violation is None and self._keeps:
            self._finish(frame.value)

    def start_string(self, offset: int) -> None:
        Walk.start_string(self, offset)
        if not self._frames and self._text is None:
            self._text = TextBuffer()

    def end_string(self) -> None:
        value = None if self._frames or self._text is None else self._text.text()
        Walk.end_string(self)
        if value is not None and self.violation is None:
            self._finish(value)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        Walk.scalar(self, value, text, offset)
        if not self._frames and self.violation is None:
            self._finish(value)

    def _start(self, kind: int, step: str | int, offset: int) -> bool:
        allowed = Walk._start(self, kind, step, offset)
        if self._keeps and len(self._frames) == 1 and self._inside is not None:
            self._inside.value = {} if kind == OBJECT else []
        return allowed

    def _started(self, offset: int) -> Place | None:
        return Walk._started(self, offset) if self._keeps or not self._starts else self._next()

    def _finish(self, value: Any) -> None:
        violation = self.close(value)
        if violation is not None and self._violated is not None:
            self._violated(violation, None)
