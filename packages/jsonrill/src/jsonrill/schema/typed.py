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

from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from ..errors import InvalidSchema
from ..jsontext import dumps
from ..parse.sink import Sink
from ..paths import ABSENT, Path, Place, lookup, path_of
from .branches import Branch, Obligation, Refused
from .check import Check
from .makers import DataclassMaker, DictMaker, ItemsMaker, Maker, ModelMaker, RootMaker
from .nodes import EVERY, FRACTION, OBJECT, STRING, Node, Refusal, kind_of, may_be
from .partials import partial_model
from .shapes import (
    CHOICE,
    CLASS,
    FIELDS,
    ITEMS,
    ROOT,
    SCALAR,
    WITHIN,
    TypeShape,
    contents,
    missing,
    zero,
)
from .validators import Known, PydanticValidator, attempt_prefilled
from .walk import NESTED_VALIDATIONS, Frame, Walk

# What a key is that no field has, or an element that no schema describes.
_ANYTHING: Final = Node()
_ANYTHING.maker = TypeShape()
_ANYTHING.maker.as_is, _ANYTHING.maker.grows = EVERY, True

Slot = tuple[Any, Node, int]


class KnownPart:
    """The complete values in an open container, as one node describes them."""

    __slots__ = (
        "_base",
        "_ranks",
        "_zeros",
        "branch",
        "extra",
        "known",
        "node",
        "shape",
        "stopped",
        "unsure",
    )

    def __init__(self, node: Node, branch: Branch | None, unsure: bool, zeros: bool) -> None:
        self._zeros = zeros
        self.node = node
        self.shape: TypeShape = node.maker
        self.branch = branch
        # A function of the user's may change the container before it is validated.
        self.unsure = unsure
        # Fields by name, elements in order, or members by key; and what is no field.
        self.known: Any = [] if self.shape.role == ITEMS else {}
        self.extra: dict[str, Any] = {}
        # True once an element or member could not be converted: what follows is not shown.
        self.stopped = False
        self._ranks: dict[str, int] = {}
        self._base: dict[str, Any] | None = None

    @property
    def is_alive(self) -> bool:
        return self.branch is None or not self.branch.gone

    def slots(self, step: str | int | None) -> list[Slot]:
        """Where the value at this step belongs, with its node and rank; None: it is no field."""
        shape, node = self.shape, self.node
        if step is None:
            return []
        if shape.role == FIELDS:
            assert node.members is not None
            slots = shape.names.get(step)  # type: ignore[arg-type]
            if slots is not None or not shape.extra or step in shape.deep:
                return slots or []
            return [(None, node.members.additional or _ANYTHING, 0)]
        if shape.role == ITEMS:
            assert node.elements is not None and isinstance(step, int)
            nodes = node.elements.find(step)
            return [] if isinstance(nodes, Refusal) else [(step, (*nodes, _ANYTHING)[0], 0)]
        assert node.members is not None
        return [(step, node.members.additional or _ANYTHING, 0)]

    def put(self, step: str | int, slot: Slot, value: Any) -> None:
        """Keep a complete value, unless it could not be converted."""
        name, _, rank = slot
        if self.shape.role == FIELDS:
            if name is None:
                if value is not ABSENT:
                    self.extra[str(step)] = value
            elif rank <= self._ranks.get(name, rank):
                self._ranks[name] = rank
                if value is ABSENT:
                    self.known.pop(name, None)
                else:
                    self.known[name] = value
            return
        self.stopped = self.stopped or value is ABSENT
        if self.stopped:
            return
        if self.shape.role == ITEMS:
            self.known.append(value)
        else:
            self.known[self.key(step)] = value

    def key(self, step: Any) -> Any:
        """The key of a member as the type has it."""
        return step if self.shape.keys is None else self.shape.keys(step)

    def fields(self, level: Level) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields that are complete, and what is no field."""
        _, plain, step = level
        if plain is None:
            return self.known, self.extra
        names = {slot[0] for key in plain if key != step for slot in self.slots(key)}
        extra = {key: value for key, value in self.extra.items() if key in plain and key != step}
        return {name: value for name, value in self.known.items() if name in names}, extra

    def open_slots(self, level: Level, known: Container[str]) -> list[tuple[str | None, Node]]:
        """The fields that are open: a key that comes again does not take back its value."""
        slots = self.slots(level[2])
        return [(name, node) for name, node, _ in slots if (name or level[2]) not in known]

    def named(self, keys: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Name and value of what is known of these keys."""
        for key in keys:
            if self.shape.role != FIELDS:
                if self.key(key) in self.known:
                    yield self.key(key), self.known[self.key(key)]
                continue
            for name, _, _ in self.slots(key):
                if name is None and key in self.extra:
                    yield key, self.extra[key]
                elif name in self.known:
                    yield name, self.known[name]

    def base(self, cls: Any) -> dict[str, Any]:
        """The fields of an instance of this class as they are before they have come."""
        if self._base is None:
            self._base = missing(self.shape, (cls,) if self._zeros else None)
        return self._base

    def zeros(self) -> dict[str, Any]:
        """The fields of a dict that are there before they have come."""
        if self._base is None:
            self._base = zero(self.node) if self._zeros else {}
        return self._base


class TypedFrame:
    """An open container: its complete parts as sent, and as each node that describes it says."""

    __slots__ = ("asked", "inner", "kind", "parts", "raw", "step", "wants")

    def __init__(self, kind: int, wants: list[Node]) -> None:
        self.kind = kind
        # The nodes that the container itself is asked by.
        self.wants = wants
        self.raw: Any = {} if kind == OBJECT else []
        self.parts: dict[Node, KnownPart] = {}
        # The step of the value that is being read, and the containers below, by step.
        self.step: str | int = "" if kind == OBJECT else 0
        self.inner: dict[str | int, TypedFrame] = {}
        # How often a value in it was validated as it was sent, together with values around it.
        self.asked = 0

    def asks(self) -> bool:
        """Count a validation of all that was sent; False if that would be too often."""
        self.asked += 1
        return self.asked <= NESTED_VALIDATIONS

    def is_unsure(self, node: Node) -> bool:
        """True if a function of the user's may change this container before `node` is asked."""
        return any(part.unsure for part in self.parts.values() if node in _nodes(part, self.step))

    def is_decided(self) -> bool:
        """True if no alternative is left that something in the container could still refuse."""
        return all(part.branch is None for part in self.parts.values())

    def below(self) -> list[Node]:
        """The nodes of the value that is being read."""
        parts = [part for part in self.parts.values() if part.is_alive]
        return [slot[1] for part in parts for slot in part.slots(self.step)]


# An open container; what was known of it, if that is not all; the step of what is open in it.
Level = tuple[TypedFrame, Any, str | int | None]
# For each level, from the root inward: a maker for each node that describes the container.
Plan = list[list[tuple[Node, Maker]]]


class TypedCheck(Check):
    """The check of a value of a pydantic type, which also makes partial instances of it.

    With `keep`, those of an earlier state can be made as well.
    """

    __slots__ = (
        "_decided",
        "_grows",
        "_keep",
        "_plan",
        "_results",
        "_spine",
        "_told",
        "_top",
        "_valid",
        "_wants",
        "_zeros",
        "changed",
        "root",
    )

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
        self._spine: list[TypedFrame] = []
        self._top: TypedFrame | None = None
        # The nodes of the open string, and whether its text is shown.
        self._wants: list[Node] = []
        self._grows = False
        # What the validators that were asked about the value at hand have made of it.
        self._results: dict[Node, Any] = {}
        # How a look is made; the number of its levels that are still right; and the number of
        # frames, from the root inward, in which no alternatives are left that could end later.
        self._plan: Plan = []
        self._valid = 0
        self._decided = 0
        # The number of members of the root that `complete_fields` has seen.
        self._told = 0
        # True if a look may differ from the one before; the caller clears it.
        self.changed = False
        # The complete value as sent.
        self.root: Any = ABSENT

    # Looks

    def snapshot(self) -> Any:
        """The partial instance as it is now; `ABSENT` if there is nothing to show."""
        spine, plan = self._spine, self._plan
        del plan[self._valid :]
        for at in range(self._valid, len(spine)):
            frame = spine[at]
            plan.append(_makers((frame, None, frame.step)))
        self._valid = len(plan)
        wants = self._wants
        text = self._text.text() if wants and self._text is not None else None
        return _made_by(plan, wants, text).get(self._node, ABSENT)

    def snapshot_without(self, path: Path) -> Any:
        """As `look`, without the value at this path, which is open."""
        depth = max(1, len(path) - len(path_of(self._root)))
        levels: list[Level] = [(frame, None, frame.step) for frame in self._spine[:depth]]
        if not levels and self._top is not None:
            levels = [(self._top, None, None)]
        return _made_by(_planned(levels), [], None).get(self._node, ABSENT)

    def partial_now(self) -> Any:
        value = self.snapshot()
        return None if value is ABSENT else value

    def partial_model(self, value: Any, open_path: Path | None) -> Any:
        model = self._snapshot_of(value, open_path)
        return None if model is ABSENT else model

    def _snapshot_of(self, value: Any, open_path: Path | None) -> Any:
        levels: list[Level] = []
        frame = self._top
        wants = [self._node]
        for step in open_path or ():
            if frame is None or not isinstance(value, (dict, list)):
                return ABSENT
            levels.append((frame, value, step))
            wants = [node for part in frame.parts.values() for node in _nodes(part, step)]
            frame = frame.inner.get(step)
            value = lookup(value, (step,))[1]
        if frame is not None and isinstance(value, (dict, list)):
            levels.append((frame, value, None))
        text = value if isinstance(value, str) else None
        return _made_by(_planned(levels), wants, text).get(self._node, ABSENT)

    def complete_fields(self, complete: Any) -> Iterator[tuple[str, Any]]:
        """The fields of the root that are complete; `complete` is the validated instance."""
        if self._top is None:
            return
        parts = [part for part in self._top.parts.values() if part.is_alive]
        if len(parts) == 1 and parts[0].shape.role != ITEMS:
            yield from parts[0].named(islice(self._top.raw, self._told, None))
            self._told = len(self._top.raw)
        if complete is not ABSENT:
            yield from _given(complete, parts, self._top.raw)

    # Events

    def key(self, key: str, offset: int) -> None:
        self._spine[-1].step = key
        self._replan()
        Walk.key(self, key, offset)

    def text(self, run: str) -> None:
        self.changed = self.changed or self._grows
        Walk.text(self, run)

    def _opened_string(self) -> None:
        self._valid = min(self._valid, self._decided)
        self._wants = self._below()
        self._grows = False
        for node in self._wants:
            if _grown(node, "") is not ABSENT:
                self._grows = self.changed = True
                break

    def _replan(self) -> None:
        """The innermost container has changed: plan it anew, and what is not decided around it."""
        self._valid = max(0, min(self._valid, self._decided, len(self._spine) - 1))

    def _below(self) -> list[Node]:
        return self._spine[-1].below() if self._spine else [self._node]

    def _opened_container(self, kind: int, frame: Frame) -> None:
        opened = TypedFrame(kind, self._below())
        branches = dict(frame.obligations)
        around = self._spine[-1] if self._spine else None
        for node in opened.wants:
            unsure = around is not None and around.is_unsure(node)
            for content, before in contents(node, kind):
                if content not in opened.parts:
                    part = KnownPart(content, branches.get(content), unsure or before, self._zeros)
                    opened.parts[content] = part
        if around is None:
            self._top = opened
        elif self._keep:
            around.inner[around.step] = opened
        if self._decided == len(self._spine) and opened.is_decided():
            self._decided += 1
        self._valid = min(self._valid, self._decided)
        self._spine.append(opened)
        self.changed = True

    def _complete_container(self) -> None:
        if not self._spine:
            return  # a container that was refused: the rest of the piece is read all the same
        frame = self._spine.pop()
        self._decided = min(self._decided, len(self._spine))
        self.changed = True
        self._complete(frame.raw, frame.kind, frame)

    def _complete_scalar(self, value: Any) -> None:
        # A string that was shown as it grew does not change when it ends.
        self.changed = self.changed or not self._grows
        self._wants, self._grows = [], False
        self._complete(value, kind_of(value), None)

    def _complete(self, value: Any, kind: int, frame: TypedFrame | None) -> None:
        self._replan()
        if not self._spine:
            self.root = value
            return
        around = self._spine[-1]
        step = around.step
        for part in around.parts.values():
            if part.is_alive:
                for slot in part.slots(step):
                    quiet = part.unsure and slot[1].maker.functions()
                    converted = ABSENT if quiet else self._converted(slot[1], value, kind, frame)
                    if converted is ABSENT and not quiet and slot[1].full_validator is None:
                        converted = _made_alone(part, slot[0], step, value, around.raw)
                    part.put(step, slot, converted)
        if type(step) is int:
            around.raw.append(value)
            around.step = step + 1
        else:
            around.raw[step] = value
        if frame is not None:
            around.asked = max(around.asked, frame.asked)
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
        frame = self._spine[-1] if container else None
        if frame is not None:
            value = frame.raw
        kind = kind_of(value)
        entries = _without_choices(self._below() if frame is None else frame.wants)
        refused: Refused = []
        covered: set[Obligation] = set()
        for inner, branch in obligations:
            if (inner, branch) in covered or (branch is not None and branch.gone):
                continue
            node = _asked(entries, inner)
            covered.update([(part, branch) for part in node.parts])
            refusal, result = self._made(node, value, kind, frame)
            if refusal is not None:
                refused.append((branch, refusal))
            elif result is not ABSENT:
                self._results[node] = result
        return refused

    def _converted(self, node: Node, value: Any, kind: int, frame: TypedFrame | None) -> Any:
        """A complete value as this node has it; `ABSENT` if it cannot be told yet."""
        if node in self._results:
            return self._results[node]
        shape: TypeShape = node.maker
        if shape.role == WITHIN:
            assert shape.inner is not None
            return self._converted(shape.inner, value, kind, frame)
        if shape.role == CHOICE:
            one = _alternative(shape, value, kind, frame)
            if one is not None:
                return self._converted(one, value, kind, frame)
        elif shape.role == SCALAR and shape.as_is & kind:
            if kind != FRACTION or type(value) is float or shape.as_is == EVERY:
                return value
        elif shape.role == ITEMS and shape.collect is list and frame is not None:
            part = frame.parts.get(node)
            if part is not None and not part.stopped:
                return part.known
        return self._made(node, value, kind, frame)[1]

    def _made(
        self, node: Node, value: Any, kind: int, frame: TypedFrame | None
    ) -> tuple[Refusal | None, Any]:
        """What pydantic makes of a complete value, and why it refuses it."""
        validator = node.full_validator
        if not isinstance(validator, PydanticValidator):
            return None, ABSENT
        if frame is None:
            return validator.attempt(value)
        prefilled = node.maker.prefilled
        inside = contents(node, kind)
        if prefilled is not None and len(inside) == 1 and inside[0][0] in frame.parts:
            text, known, is_known = _as_known(frame.parts[inside[0][0]], value)
            if is_known or frame.asks():
                return attempt_prefilled(prefilled, text, known, value)
        elif frame.asks():
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


def _alternative(shape: TypeShape, value: Any, kind: int, frame: TypedFrame | None) -> Node | None:
    """The only node of a choice that a value can still be; None if there are several."""
    if shape.tag is not None and isinstance(value, dict):
        tag = value.get(shape.tag)
        if isinstance(tag, (str, int)) and tag in shape.tags:
            return shape.tags[tag]
    fits = [node for node in shape.nodes if may_be(node, kind)]
    if len(fits) > 1 and frame is not None:
        fits = [node for node in fits if _is_left(node, frame)]
    return fits[0] if len(fits) == 1 else None


def _is_left(node: Node, frame: TypedFrame) -> bool:
    parts = [frame.parts.get(content) for content, _ in contents(node, frame.kind)]
    return not parts or any(part is None or part.is_alive for part in parts)


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


def _planned(levels: list[Level]) -> Plan:
    """How to make these open containers, once what is open in the innermost is known."""
    return [_makers(level) for level in levels]


def _makers(level: Level) -> list[tuple[Node, Maker]]:
    """What makes one open container: one maker for each node that describes it."""
    return [(node, make) for node in level[0].wants if (make := _maker(node, level)) is not None]


def _made_by(plan: Plan, wants: list[Node], text: str | None) -> dict[Node, Any]:
    """The outermost open value for each node that describes it; `text` is the open string."""
    inner: dict[Node, Any] = {}
    if text is not None:
        for node in wants:
            value = _grown(node, text)
            if value is not ABSENT:
                inner[node] = value
    for at in range(len(plan) - 1, -1, -1):
        around: dict[Node, Any] = {}
        for node, maker in plan[at]:
            around[node] = maker.make(inner)
        inner = around
    return inner


def _maker(node: Node, level: Level) -> Maker | None:
    """What makes an open container as this node has it; None if it is not shown yet."""
    shape: TypeShape = node.maker
    frame = level[0]
    if shape.role == CHOICE:
        one = _alternative(shape, frame.raw, frame.kind, frame)
        return None if one is None else _maker(one, level)
    if shape.role == CLASS:
        # A function of the class may be around its fields.
        inside = [frame.parts.get(content) for content, _ in contents(node, frame.kind)]
        known = len(inside) == 1 and inside[0] is not None
        return _instance_maker(shape.cls, inside[0], level) if known else None
    if shape.inner is not None:
        make = _maker(shape.inner, level)
        if shape.role != ROOT or make is None:
            return make
        return RootMaker(shape.cls, make)
    part = frame.parts.get(node)
    if part is None:
        return None
    if shape.role == FIELDS:
        return _fields_maker(part, level)
    return _items_maker(part, level) if shape.role == ITEMS else _members_maker(part, level)


def _instance_maker(cls: Any, part: KnownPart | None, level: Level) -> Maker:
    assert part is not None
    known, extra = part.fields(level)
    names = {*known, *extra}
    base = {**part.base(cls), **known}
    fields = part.open_slots(level, names)
    if not hasattr(cls, "model_construct"):
        return DataclassMaker(cls, base, fields)
    return ModelMaker(cls, base, extra, fields, str(level[2]), part.shape.extra, names)


def _fields_maker(part: KnownPart, level: Level) -> Maker:
    known, extra = part.fields(level)
    told = {**known, **extra}
    slots = [
        (level[2] if name is None else name, node) for name, node in part.open_slots(level, told)
    ]
    return DictMaker({**part.zeros(), **told}, slots)


def _items_maker(part: KnownPart, level: Level) -> Maker | None:
    """Elements that are complete, and the open one. A set has only those that are complete."""
    _, plain, step = level
    collect = part.shape.collect
    if collect is None:
        return None
    count = len(part.known) if plain is None else len(plain) - (step is not None)
    items = part.known if count == len(part.known) else part.known[:count]
    is_shown = collect not in (set, frozenset) and not part.stopped
    nodes = list(_nodes(part, step)) if is_shown else []
    return ItemsMaker(items, nodes, collect)


def _members_maker(part: KnownPart, level: Level) -> Maker:
    _, plain, step = level
    count = None if plain is None else len(plain) - (step is not None)
    members = part.known if plain is None else dict(islice(part.known.items(), count))
    nodes = list(_nodes(part, step)) if not part.stopped else []
    keys = [(part.key(step), node) for node in nodes]
    keys = [(key, node) for key, node in keys if key not in members]
    return DictMaker(members, keys)


def _given(complete: Any, parts: list[KnownPart], raw: Any) -> Iterator[tuple[str, Any]]:
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


def _as_known(part: KnownPart, raw: Any) -> tuple[str, Known, bool]:
    """The text for a prefilled validator, what is known, and whether that is all.

    In the text a 0 is in the place of each value that is known.
    """
    known, shape = part.known, part.shape
    items: list[Any] = []
    if shape.role == ITEMS:
        items = known + [ABSENT] * (len(raw) - len(known))
        texts = [_text(item, value is not ABSENT) for item, value in zip(raw, items, strict=True)]
        return f"[{','.join(texts)}]", Known({}, items), len(known) == len(raw)
    if shape.role == FIELDS:
        all_known = [_is_known(part, key) for key in raw]
    else:
        items = [known.get(part.key(key), ABSENT) for key in raw]
        all_known = [value is not ABSENT for value in items]
    texts = [
        f"{dumps(key, strict=True)}:{_text(item, is_known)}"
        for (key, item), is_known in zip(raw.items(), all_known, strict=True)
    ]
    text = "{" + ",".join(texts) + "}"
    return text, Known(known if shape.role == FIELDS else {}, items), all(all_known)


def _made_alone(part: KnownPart, name: Any, step: Any, value: Any, raw: Any) -> Any:
    """A field that looks at those before it; `ABSENT` unless all of these are known."""
    shape = part.shape
    if shape.role != FIELDS or name is None or step in shape.deep:
        return ABSENT
    names = [field.name for field in shape.fields]
    before = names[: names.index(name)]
    if not all(it in part.known for it in before):
        return ABSENT
    keys = [key for key in raw if any(slot[0] in before for slot in part.slots(key))]
    texts = [f"{dumps(key, strict=True)}:0" for key in keys if key != step]
    texts.append(f"{dumps(step, strict=True)}:{dumps(value, strict=True)}")
    known = Known({it: part.known[it] for it in before}, ())
    validator = shape.alone(name)
    if validator is None:
        return ABSENT
    result = attempt_prefilled(validator, "{" + ",".join(texts) + "}", known, raw)[1]
    fields = result[0] if isinstance(result, tuple) else result
    return fields.get(name, ABSENT) if isinstance(fields, dict) else ABSENT


def _is_known(part: KnownPart, key: str) -> bool:
    """True if all fields of this key are known."""
    names = part.shape.names.get(key, ())
    return (
        bool(names) and key not in part.shape.deep and all(name in part.known for name, *_ in names)
    )


def _text(value: Any, is_known: bool) -> str:
    return "0" if is_known else dumps(value, strict=True)


def _nodes(part: KnownPart, step: str | int | None) -> Iterator[Node]:
    return (slot[1] for slot in part.slots(step))
