"""An open container of a pydantic type: what is known of it, and how it is shown.

Its complete values are kept as they were sent, and converted as each node that describes it says:
there is an `OpenPart` for each, several while alternatives are open. A part is also what makes the
container for a snapshot: it copies what is complete and adds what is open inside, which has been
made before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from ..jsontext import dumps
from ..paths import ABSENT
from .branches import Branch
from .nodes import EVERY, OBJECT, Node, Refusal, may_be
from .partials import model_of, partial_dataclass, partial_model, plain_partial
from .shapes import CHOICE, CLASS, FIELDS, ITEMS, ROOT, TypeShape, contents, missing, zero
from .validators import Known, attempt_prefilled
from .walk import NESTED_VALIDATIONS

# What a key is that no field has, or an element that no schema describes.
_ANYTHING: Final = Node()
_ANYTHING.maker = TypeShape()
_ANYTHING.maker.as_is, _ANYTHING.maker.grows = EVERY, True

# As in `parse/machine.py`.
_COMPILED: Final = not __file__.endswith(".py")

# The name of a field, None if the value is no field; its node, and the rank of its key.
Slot = tuple[Any, Node, int]


class Snapshot:
    """What is open, as the nodes that describe it have it; made from the inside outward."""

    __slots__ = ("node", "others", "value")

    def __init__(self) -> None:
        # Mostly there is one such node; else there are others.
        self.node: Node | None = None
        self.value: Any = ABSENT
        self.others: dict[Node, Any] | None = None

    def at(self, node: Node) -> Any:
        """What is open, as this node has it; `ABSENT` if it is not shown."""
        if node is self.node:
            return self.value
        return ABSENT if self.others is None else self.others.get(node, ABSENT)

    def add(self, node: Node, value: Any) -> None:
        """What is open, as one more node has it."""
        if self.node is None:
            self.node, self.value = node, value
        else:
            self.others = {} if self.others is None else self.others
            self.others[node] = value


class OpenPart:
    """The complete values in an open container, as one node describes them."""

    __slots__ = ("_collect", "_keeps_extra", "_slots", "_step", "_zeros", "branch", "known", "node",
                 "shape", "stopped", "unsure")  # fmt: skip

    def __init__(self, node: Node, branch: Branch | None, unsure: bool, zeros: bool) -> None:
        self._zeros = zeros
        self.node = node
        self.shape: TypeShape = node.maker
        self._collect = self.shape.collect
        self._keeps_extra = self.shape.extra
        self.branch = branch
        # A function of the user's may change the container before it is validated.
        self.unsure = unsure
        # Fields by name, members by key, or elements in order.
        self.known: Any = {}
        # True once an element or member could not be converted: what follows is not shown.
        self.stopped = False
        # The slots of the step that was asked for last.
        self._step: str | int | None = None
        self._slots: list[Slot] = []

    def is_alive(self) -> bool:
        return self.branch is None or not self.branch.gone

    def slots(self, step: str | int | None) -> list[Slot]:
        """Where the value at this step belongs; nowhere if that is None."""
        if step is not self._step:
            self._slots = self._slots_at(step)
            self._step = step
        return self._slots

    def _slots_at(self, step: Any) -> list[Slot]:
        assert self.node.members is not None
        return [] if step is None else [(step, self.node.members.additional or _ANYTHING, 0)]

    def put(self, step: str | int, slot: Slot, value: Any) -> None:
        """Keep a complete value, unless it could not be converted."""
        self.stopped = self.stopped or value is ABSENT
        if not self.stopped:
            self.known[self.key(step)] = value

    def key(self, step: Any) -> Any:
        """The key of a member as the type has it."""
        return step if self.shape.keys is None else self.shape.keys(step)

    def make(self, cls: Any, step: str | int | None, plain: Any, snapshot: Snapshot) -> Any:
        """The container for a snapshot, of this class if it is one; `ABSENT` if it is not shown.

        What is open in it is at `step`. `plain` is what was known, if that is not all.
        """
        members = self.known
        if plain is None:
            members = members.copy()
        else:
            members = dict(islice(members.items(), len(plain) - (step is not None)))
        if not self.stopped:
            for name, node, _ in self.slots(step):
                value = snapshot.at(node)
                if value is not ABSENT and (key := self.key(name)) not in members:
                    members[key] = value
        return members

    def named(self, keys: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Name and value of what is known of these keys."""
        for key in map(self.key, keys):
            if key in self.known:
                yield key, self.known[key]

    def as_known(self, raw: Any) -> tuple[str, Known, bool]:
        """The text for a prefilled validator, what is known, and whether that is all.

        In the text a 0 is in the place of each value that is known.
        """
        items = [self.known.get(self.key(key), ABSENT) for key in raw]
        are_known = [value is not ABSENT for value in items]
        return _members_text(raw, are_known), Known({}, items), all(are_known)

    def made_alone(self, name: Any, step: Any, value: Any, raw: Any) -> Any:
        """A field that looks at those before it; `ABSENT` unless all of these are known."""
        return ABSENT

    def complete(self, shape: TypeShape) -> Any:
        """The complete container without pydantic; `ABSENT` if that has to be asked."""
        return ABSENT


class OpenItems(OpenPart):
    """Elements of a list, a set or a tuple. A set has only those that are complete."""

    __slots__ = ()

    def __init__(self, node: Node, branch: Branch | None, unsure: bool, zeros: bool) -> None:
        OpenPart.__init__(self, node, branch, unsure, zeros)
        self.known = []

    def _slots_at(self, step: Any) -> list[Slot]:
        assert self.node.elements is not None
        nodes = () if step is None else self.node.elements.find(step)
        if step is None or isinstance(nodes, Refusal):
            return []
        return [(step, (*nodes, _ANYTHING)[0], 0)]

    def put(self, step: str | int, slot: Slot, value: Any) -> None:
        self.stopped = self.stopped or value is ABSENT
        if not self.stopped:
            self.known.append(value)

    def complete(self, shape: TypeShape) -> Any:
        is_list = shape.collect is list and not self.stopped
        return self.known if is_list else ABSENT

    def make(self, cls: Any, step: str | int | None, plain: Any, snapshot: Snapshot) -> Any:
        collect = self._collect
        if collect is None:
            return ABSENT
        items = self.known[:] if plain is None else self.known[: len(plain) - (step is not None)]
        if not self.stopped and collect is not set and collect is not frozenset:
            for slot in self.slots(step):
                value = snapshot.at(slot[1])
                if value is not ABSENT:
                    items.append(value)
        return items if collect is list else collect(items)

    def as_known(self, raw: Any) -> tuple[str, Known, bool]:
        items = self.known + [ABSENT] * (len(raw) - len(self.known))
        texts = [_text(item, value is not ABSENT) for item, value in zip(raw, items, strict=True)]
        return f"[{','.join(texts)}]", Known({}, items), len(self.known) == len(raw)


class OpenFields(OpenPart):
    """Fields of a model, a dataclass or a TypedDict."""

    __slots__ = ("_before", "_make", "_names", "_now", "_plain", "_ranks", "extra")

    def __init__(self, node: Node, branch: Branch | None, unsure: bool, zeros: bool) -> None:
        OpenPart.__init__(self, node, branch, unsure, zeros)
        # What is no field.
        self.extra: dict[str, Any] = {}
        self._ranks: dict[str, int] = {}
        # The names of all that has arrived.
        self._names: set[str] = set()
        # Once it has been looked at: the fields as they are before they have come, and now; what
        # an instance is made of, or what makes one.
        self._before: dict[str, Any] = {}
        self._now: dict[str, Any] | None = None
        self._plain: tuple[Any, ...] | None = None
        self._make: Callable[..., Any] | None = None

    def _slots_at(self, step: Any) -> list[Slot]:
        shape = self.shape
        slots = shape.names.get(step)
        if slots is not None or step is None or not shape.extra or step in shape.deep:
            return slots or []
        assert self.node.members is not None
        return [(None, self.node.members.additional or _ANYTHING, 0)]

    def put(self, step: str | int, slot: Slot, value: Any) -> None:
        name, rank = slot[0], slot[2]
        if name is None:
            if value is not ABSENT:
                self.extra[str(step)] = value
                self._names.add(str(step))
        elif rank <= self._ranks.get(name, rank):
            self._ranks[name] = rank
            if value is not ABSENT:
                self.known[name] = value
                self._names.add(name)
                if self._now is not None:
                    self._now[name] = value
            elif self.known.pop(name, ABSENT) is not ABSENT:
                self._names.remove(name)
                self._now = None

    def make(self, cls: Any, step: str | int | None, plain: Any, snapshot: Snapshot) -> Any:
        if self._now is None:
            self._begin(cls)
        fields, extra, more = self._now, self.extra, None
        assert fields is not None
        if plain is None:
            fields, names = fields.copy(), set(self._names)
        else:
            known, extra = self._known_in(plain, step)
            fields, names = {**self._before, **known}, {*known, *extra}
        if self._keeps_extra:
            more = extra.copy()
            if cls is None:
                fields.update(extra)
                more = fields
        for slot in self.slots(step):
            name = slot[0]
            own: Any = step if name is None else name
            value = snapshot.at(slot[1])
            # A key that comes again does not take back its value.
            if value is not ABSENT and own not in names:
                names.add(own)
                if name is not None:
                    fields[name] = value
                elif more is not None:
                    more[str(step)] = value
        if self._plain is not None:
            if _COMPILED:  # where this is a function of `partials.pxd`
                return instance_of(self._plain, fields, more, names)  # type: ignore[name-defined]  # noqa: F821
            return self._plain[1]((fields, more, names))
        return fields if self._make is None else self._make(cls, fields, names, more)

    def _begin(self, cls: Any) -> None:
        """Prepare for snapshots as an instance of this class, or as a dict."""
        if cls is None:
            self._before = self._before or (zero(self.node) if self._zeros else {})
        else:
            # Defaults are made once for each instance.
            self._before = self._before or missing(self.shape, (cls,) if self._zeros else None)
            self._make = partial_model if hasattr(cls, "model_construct") else partial_dataclass
            self._plain = plain_partial(cls)
        self._now = {**self._before, **self.known}

    def _known_in(self, plain: Any, step: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields that were complete when this was known, and what is no field."""
        names = {slot[0] for key in plain if key != step for slot in self._slots_at(key)}
        extra = {key: value for key, value in self.extra.items() if key in plain and key != step}
        return {name: value for name, value in self.known.items() if name in names}, extra

    def named(self, keys: Iterable[str]) -> Iterator[tuple[str, Any]]:
        for key in keys:
            for name, _, _ in self._slots_at(key):
                if name is None and key in self.extra:
                    yield key, self.extra[key]
                elif name in self.known:
                    yield name, self.known[name]

    def as_known(self, raw: Any) -> tuple[str, Known, bool]:
        are_known = [self._is_known(key) for key in raw]
        return _members_text(raw, are_known), Known(self.known, ()), all(are_known)

    def complete(self, shape: TypeShape) -> Any:
        fields = self.shape.fields
        # Where nothing is left to a default, pydantic would do no more than this.
        if not shape.is_plain or self._keeps_extra or len(self.known) != len(fields):
            return ABSENT
        values = {field.name: self.known[field.name] for field in fields}
        return model_of(shape.cls, values, self._names.copy())

    def _is_known(self, key: str) -> bool:
        """True if all fields of this key are known."""
        names = self.shape.names.get(key, ())
        is_there = bool(names) and key not in self.shape.deep
        return is_there and all(name in self.known for name, *_ in names)

    def made_alone(self, name: Any, step: Any, value: Any, raw: Any) -> Any:
        shape = self.shape
        if name is None or step in shape.deep:
            return ABSENT
        names = [field.name for field in shape.fields]
        before = names[: names.index(name)]
        if not all(it in self.known for it in before):
            return ABSENT
        validator = shape.alone(name)
        if validator is None:
            return ABSENT
        keys = [key for key in raw if any(it[0] in before for it in self._slots_at(key))]
        texts = [f"{dumps(key, strict=True)}:0" for key in keys if key != step]
        texts.append(f"{dumps(step, strict=True)}:{dumps(value, strict=True)}")
        known = Known({it: self.known[it] for it in before}, ())
        result = attempt_prefilled(validator, "{" + ",".join(texts) + "}", known, raw)[1]
        fields = result[0] if isinstance(result, tuple) else result
        return fields.get(name, ABSENT) if isinstance(fields, dict) else ABSENT


class OpenContainer:
    """An open container: its complete values as sent, and a part for each node inside."""

    __slots__ = ("_is_settled", "_moment", "_recipes", "asked", "inner", "kind", "parts", "raw",
                 "step", "wants")  # fmt: skip

    def __init__(self, kind: int, wants: list[Node]) -> None:
        self.kind = kind
        # The nodes that the container itself is asked by.
        self.wants = wants
        self.raw: Any = {} if kind == OBJECT else []
        self.parts: dict[Node, OpenPart] = {}
        # The step of the value that is being read, and the containers below, by step.
        self.step: str | int = "" if kind == OBJECT else 0
        self.inner: dict[str | int, OpenContainer] = {}
        # How often a value in it was validated as it was sent, together with values around it.
        self.asked = 0
        # How it is made; the moment at which that was found; whether it stays so.
        self._recipes: list[Recipe] | None = None
        self._moment = 0
        self._is_settled = True

    def add(self, node: Node, branch: Branch | None, unsure: bool, zeros: bool) -> None:
        """Add the part of a node that describes what is inside."""
        if node not in self.parts:
            role = node.maker.role
            kind = OpenFields if role == FIELDS else OpenItems if role == ITEMS else OpenPart
            self.parts[node] = kind(node, branch, unsure, zeros)
            self._is_settled = self._is_settled and branch is None

    def asks(self) -> bool:
        """Count a validation of all that was sent; False if that would be too often."""
        self.asked += 1
        return self.asked <= NESTED_VALIDATIONS

    def is_unsure(self, node: Node) -> bool:
        """True if a function of the user's may change this container before `node` is asked."""
        return any(
            part.unsure and any(slot[1] is node for slot in part.slots(self.step))
            for part in self.parts.values()
        )

    def below(self) -> list[Node]:
        """The nodes of the value that is being read."""
        nodes = []
        for part in self.parts.values():
            if part.is_alive():
                for slot in part.slots(self.step):
                    nodes.append(slot[1])
        return nodes

    def show(self, snapshot: Snapshot, moment: int, step: str | int | None, plain: Any) -> None:
        """Let the snapshot, which is that of what is open inside, be that of this container.

        `moment` counts the events that may decide between alternatives. `step` and `plain` are
        those of `OpenPart.make`.
        """
        if self._recipes is None or not (self._is_settled or self._moment == moment):
            self._recipes = [it for node in self.wants if (it := self._recipe(node)) is not None]
            self._moment = moment
        if len(self._recipes) == 1:
            recipe = self._recipes[0]
            snapshot.value = recipe.make(step, plain, snapshot)
            snapshot.node, snapshot.others = recipe.node, None
        else:
            snapshot.others = {it.node: it.make(step, plain, snapshot) for it in self._recipes}
            snapshot.node, snapshot.value = None, ABSENT

    def _recipe(self, node: Node) -> Recipe | None:
        """How this node has the container; None if it is not shown yet."""
        roots: list[Any] = []
        inside: Node | None = node
        while inside is not None:
            shape: TypeShape = inside.maker
            if shape.role == CHOICE:
                fitting = sum(may_be(one, self.kind) for one in shape.nodes)
                self._is_settled = self._is_settled and fitting <= 1
                inside = alternative(shape, self.raw, self.kind, self)
            elif shape.role == CLASS:
                # A function of the class may be around its fields.
                parts = [self.parts.get(content) for content, _ in contents(inside, self.kind)]
                one = parts[0] if len(parts) == 1 else None
                return None if one is None else Recipe(node, one, shape.cls, roots)
            elif shape.inner is not None:
                if shape.role == ROOT:
                    roots.insert(0, shape.cls)
                inside = shape.inner
            else:
                part = self.parts.get(inside)
                return None if part is None else Recipe(node, part, None, roots)
        return None


class Recipe:
    """How a node has a container: of which part, as which class, in which root models."""

    __slots__ = ("_cls", "_part", "_roots", "node")

    def __init__(self, node: Node, part: OpenPart, cls: Any, roots: list[Any]) -> None:
        self.node = node
        self._part = part
        self._cls = cls
        self._roots = roots

    def make(self, step: str | int | None, plain: Any, snapshot: Snapshot) -> Any:
        value = self._part.make(self._cls, step, plain, snapshot)
        if value is not ABSENT:
            for root in self._roots:
                value = partial_model(root, {"root": value}, {"root"})
        return value


def alternative(
    shape: TypeShape, value: Any, kind: int, container: OpenContainer | None
) -> Node | None:
    """The only node of a choice that a value can still be; None if there are several."""
    if shape.tag is not None and isinstance(value, dict):
        tag = value.get(shape.tag)
        if isinstance(tag, (str, int)) and tag in shape.tags:
            return shape.tags[tag]
    fits = [node for node in shape.nodes if may_be(node, kind)]
    if len(fits) > 1 and container is not None:
        fits = [node for node in fits if _is_left(node, container)]
    return fits[0] if len(fits) == 1 else None


def _is_left(node: Node, container: OpenContainer) -> bool:
    parts = [container.parts.get(content) for content, _ in contents(node, container.kind)]
    return not parts or any(part is None or part.is_alive() for part in parts)


def _members_text(raw: dict[str, Any], are_known: list[bool]) -> str:
    texts = [
        f"{dumps(key, strict=True)}:{_text(item, is_known)}"
        for (key, item), is_known in zip(raw.items(), are_known, strict=True)
    ]
    return "{" + ",".join(texts) + "}"


def _text(value: Any, is_known: bool) -> str:
    return "0" if is_known else dumps(value, strict=True)
