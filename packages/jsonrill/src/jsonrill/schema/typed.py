"""Events of one value → instances of a pydantic type that grow.

A walk that also keeps what the values are: each is converted once, when it is complete, by the
validator that is asked about it anyway. A container is made of its converted parts when it closes,
by a *prefilled* validator, which takes them as they are; so a function of the user's runs once for
the value it belongs to, and once more when the whole is validated. With

    class Trip(BaseModel):
        day: date
        stops: list[Stop]

the text `{"day": "2024-05-01", "stops": [{"name": "Ro` is, when looked at, a `Partial[Trip]` with
`day`, converted, and a list with one `Partial[Stop]`. A look makes new objects for what is open,
here three, and shares the rest.

Alternatives are followed side by side: a frame has a part for each that describes it, and what
cannot be told apart yet is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from ..errors import InvalidSchema
from ..parse.sink import Sink
from ..paths import ABSENT, Path, Place, lookup, path_of
from .branches import Obligation, Refused
from .check import Check
from .containers import OpenContainer, OpenPart, Snapshot, alternative
from .nodes import EVERY, FRACTION, STRING, Node, Refusal, kind_of, may_be
from .partials import partial_model
from .shapes import CHOICE, ITEMS, ROOT, SCALAR, WITHIN, TypeShape, contents
from .validators import PydanticValidator, attempt_prefilled
from .walk import Frame, Walk


class TypedCheck(Check):
    """The check of a value of a pydantic type, which also makes partial instances of it.

    With `keep`, those of an earlier state can be made as well.
    """

    __slots__ = ("_growing", "_keep", "_moment", "_results", "_spine", "_told", "_top", "_zeros",
                 "changed")  # fmt: skip

    def __init__(
        self,
        node: Node,
        root: Place | None = None,
        then: Sink | None = None,
        violated: Callable[[InvalidSchema, Path | None], None] | None = None,
        *,
        keep: bool = True,
        zeros: bool = False,
    ) -> None:
        Check.__init__(self, node, root, then, violated)
        # Whether fields that have not come are zeros instead of None.
        self._zeros = zeros
        self._keeps_all = True
        self._keep = keep
        self._spine: list[OpenContainer] = []
        self._top: OpenContainer | None = None
        # The nodes of the open string that show it as it grows.
        self._growing: list[Node] = []
        # What the validators that were asked about the value at hand have made of it.
        self._results: dict[Node, Any] = {}
        # Counts the events that may decide between alternatives.
        self._moment = 0
        # The number of members of the root that `complete_fields` has seen.
        self._told = 0
        # True if a look may differ from the one before; the caller clears it.
        self.changed = False

    # Looks

    def snapshot(self) -> Any:
        """The partial instance as it is now; `ABSENT` if there is nothing to show."""
        snapshot = Snapshot()
        if self._growing and self._text is not None:
            text = self._text.text()
            for node in self._growing:
                snapshot.add(node, text if node.maker.grows else _grown(node, text))
        return self._around(self._spine, snapshot)

    def snapshot_without(self, path: Path) -> Any:
        """As `snapshot`, without the value at this path, which is open."""
        depth = max(1, len(path) - len(path_of(self._root)))
        snapshot = Snapshot()
        if not self._spine and self._top is not None:
            self._top.show(snapshot, self._moment, None, None)
        return self._around(self._spine[:depth], snapshot)

    def _around(self, containers: list[OpenContainer], snapshot: Snapshot) -> Any:
        """The snapshot of these containers, made from the last one outward."""
        for container in reversed(containers):
            container.show(snapshot, self._moment, container.step, None)
        return snapshot.at(self._node)

    def partial_now(self) -> Any:
        value = self.snapshot()
        return None if value is ABSENT else value

    def partial_model(self, value: Any, open_path: Path | None) -> Any:
        model = self._snapshot_of(value, open_path)
        return None if model is ABSENT else model

    def _snapshot_of(self, value: Any, open_path: Path | None) -> Any:
        levels: list[tuple[OpenContainer, str | int | None, Any]] = []
        container = self._top
        growing = [self._node]
        for step in open_path or ():
            if container is None or not isinstance(value, (dict, list)):
                return ABSENT
            levels.append((container, step, value))
            parts = container.parts.values()
            growing = [slot[1] for part in parts for slot in part.slots(step)]
            container = container.inner.get(step)
            value = lookup(value, (step,))[1]
        if container is not None and isinstance(value, (dict, list)):
            levels.append((container, None, value))
        snapshot = Snapshot()
        if isinstance(value, str):
            for node in growing:
                snapshot.add(node, _grown(node, value))
        for container, step, value in reversed(levels):
            container.show(snapshot, self._moment, step, value)
        return snapshot.at(self._node)

    def complete_fields(self, complete: Any) -> Iterator[tuple[str, Any]]:
        """The fields of the root that are complete; `complete` is the validated instance."""
        if self._top is None:
            return
        parts = [part for part in self._top.parts.values() if part.is_alive()]
        if len(parts) == 1 and parts[0].shape.role != ITEMS:
            yield from parts[0].named(islice(self._top.raw, self._told, None))
            self._told = len(self._top.raw)
        if complete is not ABSENT:
            yield from _given(complete, parts, self._top.raw)

    # Events

    def key(self, key: str, offset: int) -> None:
        self._spine[-1].step = key
        self._moment += 1
        Walk.key(self, key, offset)

    def text(self, run: str) -> None:
        if self._growing:
            self.changed = True
        Walk.text(self, run)

    def _opened_string(self) -> None:
        self._moment += 1
        self._growing = [node for node in self._below() if _grown(node, "") is not ABSENT]
        if self._growing:
            self.changed = True

    def _below(self) -> list[Node]:
        return self._spine[-1].below() if self._spine else [self._node]

    def _opened_container(self, kind: int, frame: Frame) -> None:
        opened = OpenContainer(kind, self._below())
        branches = dict(frame.obligations)
        around = self._spine[-1] if self._spine else None
        for node in opened.wants:
            unsure = around is not None and around.is_unsure(node)
            for content, before in contents(node, kind):
                opened.add(content, branches.get(content), unsure or before, self._zeros)
        if around is None:
            self._top = opened
        elif self._keep:
            around.inner[around.step] = opened
        self._spine.append(opened)
        self._moment += 1
        self.changed = True

    def _complete_container(self) -> None:
        if not self._spine:
            return  # a container that was refused: the rest of the piece is read all the same
        container = self._spine.pop()
        self.changed = True
        self._complete(container.raw, container.kind, container)

    def _complete_scalar(self, value: Any) -> None:
        # A string that was shown as it grew does not change when it ends.
        if not self._growing:
            self.changed = True
        self._growing = []
        self._complete(value, kind_of(value), None)

    def _complete(self, value: Any, kind: int, container: OpenContainer | None) -> None:
        self._moment += 1
        if not self._spine:
            self.root = value
            return
        around = self._spine[-1]
        step = around.step
        for part in around.parts.values():
            if part.is_alive():
                for slot in part.slots(step):
                    quiet = part.unsure and slot[1].maker.functions()
                    converted = (
                        ABSENT if quiet else self._converted(slot[1], value, kind, container)
                    )
                    if converted is ABSENT and not quiet and slot[1].full_validator is None:
                        converted = part.made_alone(slot[0], step, value, around.raw)
                    part.put(step, slot, converted)
        if type(step) is int:
            around.raw.append(value)
            around.step = step + 1
        else:
            around.raw[step] = value
        if container is not None:
            around.asked = max(around.asked, container.asked)
        self._results.clear()

    # Complete values

    def _validated(
        self, obligations: list[Obligation], value: Any, container: bool = False
    ) -> Refused:
        """As of the walk; what the validators make of the value is kept for `_complete`.

        The outermost node is asked, which validates all that it has inside.
        """
        if not obligations:
            return []
        closing = self._spine[-1] if container else None
        if closing is not None:
            value = closing.raw
        kind = kind_of(value)
        entries = _without_choices(self._below() if closing is None else closing.wants)
        refused: Refused = []
        covered: set[Obligation] = set()
        for inner, branch in obligations:
            if (inner, branch) in covered or (branch is not None and branch.gone):
                continue
            node = _asked(entries, inner)
            covered.update([(part, branch) for part in node.parts])
            refusal, result = self._made(node, value, kind, closing)
            if refusal is not None:
                refused.append((branch, refusal))
            elif result is not ABSENT:
                self._results[node] = result
        return refused

    def _converted(self, node: Node, value: Any, kind: int, container: OpenContainer | None) -> Any:
        """A complete value as this node has it; `ABSENT` if it cannot be told yet."""
        if node in self._results:
            return self._results[node]
        shape: TypeShape = node.maker
        if shape.role == WITHIN:
            assert shape.inner is not None
            return self._converted(shape.inner, value, kind, container)
        if shape.role == CHOICE:
            one = alternative(shape, value, kind, container)
            if one is not None:
                return self._converted(one, value, kind, container)
        elif shape.role == SCALAR and shape.as_is & kind:
            if kind != FRACTION or type(value) is float or shape.as_is == EVERY:
                return value
        elif container is not None:
            inside = contents(node, kind)
            part = container.parts.get(inside[0][0]) if len(inside) == 1 else None
            complete = ABSENT if part is None else part.complete(shape)
            if complete is not ABSENT:
                return complete
        return self._made(node, value, kind, container)[1]

    def _made(
        self, node: Node, value: Any, kind: int, container: OpenContainer | None
    ) -> tuple[Refusal | None, Any]:
        """What pydantic makes of a complete value, and why it refuses it."""
        validator = node.full_validator
        if not isinstance(validator, PydanticValidator):
            return None, ABSENT
        if container is None:
            return validator.attempt(value)
        prefilled = node.maker.prefilled
        inside = contents(node, kind)
        if prefilled is not None and len(inside) == 1 and inside[0][0] in container.parts:
            text, known, is_known = container.parts[inside[0][0]].as_known(value)
            if is_known or container.asks():
                return attempt_prefilled(prefilled, text, known, value)
        elif container.asks():
            return validator.attempt(value)
        return None, ABSENT


def _asked(entries: list[Node], inner: Node) -> Node:
    """The first of these nodes that has this one inside, else itself."""
    for node in entries:
        if inner in node.parts:
            return node
    return inner


def _without_choices(nodes: Iterable[Node]) -> list[Node]:
    """These nodes; of one that is a choice, its alternatives. Only those with a validator."""
    reached: dict[Node, None] = {}
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if node not in reached and node.maker is not None:
            reached[node] = None
            todo += node.maker.nodes
    return [
        node for node in reached if node.maker.role != CHOICE and node.full_validator is not None
    ]


def _grown(node: Node, text: str) -> Any:
    """A string that grows as this node has it; `ABSENT` unless it is taken as it is."""
    shape: TypeShape = node.maker
    if shape.role == SCALAR:
        return text if shape.grows else ABSENT
    if shape.role == WITHIN or shape.role == ROOT:
        assert shape.inner is not None
        value = _grown(shape.inner, text)
        if shape.role == WITHIN or value is ABSENT:
            return value
        return partial_model(shape.cls, {"root": value}, {"root"})
    return _grown_choice(shape, text) if shape.role == CHOICE else ABSENT


def _grown_choice(shape: TypeShape, text: str) -> Any:
    fits = [one for one in shape.nodes if may_be(one, STRING)]
    if len(fits) == 1:
        return _grown(fits[0], text)
    # Of several, a string stays a string if one takes it as it is and no other takes it so well.
    kept = all(one.maker.role == SCALAR and one.maker.as_is for one in fits)
    return text if kept and not shape.in_order and any(one.maker.grows for one in fits) else ABSENT


def _given(complete: Any, parts: list[OpenPart], raw: Any) -> Iterator[tuple[str, Any]]:
    """The fields that a complete value was given, also those that only its end tells."""
    if isinstance(complete, dict):
        yield from complete.items()
    elif not getattr(complete, "__pydantic_root_model__", False):
        # A list has no keys, even if a function of the user's makes an object of it.
        keys = raw if isinstance(raw, dict) else ()
        names = [slot[0] for part in parts for key in keys for slot in part.slots(key)]
        set_fields = sorted(getattr(complete, "model_fields_set", ()))
        for name in dict.fromkeys([*names, *set_fields]):
            if name is not None and hasattr(complete, name):
                yield name, getattr(complete, name)
