"""How often a JSON Schema's parts are visited when a value is validated, without validating it.

`anyOf` of two references to a schema that is itself such an `anyOf` doubles the work at each level:
25 levels of it fit into 2 kB and take a validator minutes, or all memory if it explains itself.
So paths are counted before a validator is asked. `Costs` reads a schema document once into a graph
of its subschemas; a path through it is a visit. Most schemas are cheap for every value (`is_cheap`)
and never counted again; for the others `visits` counts with the value at hand.

Counting is linear where visiting is not: at each value the number of visits is passed on from a
subschema to those it applies, in an order in which each is complete before it passes its own on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Any, Final

from .lookup import CHOICES, compared, listed, told_apart, unquoted

# Visits of one value, at the most, by a schema that counts as cheap for every value.
CHEAP: Final = 1000
# Steps that counting may take by itself.
_STEPS: Final = 100_000
# Visits that it costs to compare a value with one that cannot be looked up.
_COMPARED: Final = 8
MORE: Final = 1 << 62

_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("not", "if", "then", "else")
_BY_KEY: Final = ("dependentSchemas", "dependencies")
_MEMBERS: Final = ("additionalProperties", "unevaluatedProperties")
_ITEMS: Final = ("items", "additionalItems", "contains", "unevaluatedItems")
_DYNAMIC: Final = ("$dynamicRef", "$recursiveRef")

Place = tuple[str | int, ...]
# The edges of most subschemas: a list of their own would be five objects more for each.
_NONE: Final[list[int]] = []


class _Subschema:
    """Where the visits of one subschema lead: to others at the same value, and below it."""

    __slots__ = ("apart", "each_item", "each_member", "names", "own", "paths", "prefix",
                 "properties", "rank", "same")  # fmt: skip

    def __init__(self) -> None:
        # What a visit here counts for itself.
        self.own = 1
        self.same = _NONE
        # Alternatives of which one is visited: by keyword and property, which one for each value.
        self.apart: dict[str, dict[str, int]] = {}
        self.properties: dict[str, int] = {}
        self.each_member = _NONE
        self.names = _NONE
        self.prefix = _NONE
        self.each_item = _NONE
        # Visits of one value that a visit here leads to, and the order in which to count.
        self.paths = 0
        self.rank = 0

    def add(self, edges: str, target: int) -> None:
        """Add an edge to those of a kind."""
        if getattr(self, edges) is _NONE:
            setattr(self, edges, [target])
        else:
            getattr(self, edges).append(target)

    def at_one_value(self) -> Iterator[int]:
        """What may apply to the same value."""
        yield from self.same
        for alternatives in self.apart.values():
            yield from alternatives.values()

    def at(self, value: Any) -> Iterator[int]:
        """What applies to this value."""
        yield from self.same
        for name, alternatives in self.apart.items():
            own = value.get(name.partition(" ")[2]) if isinstance(value, dict) else None
            if isinstance(own, str) and own in alternatives:
                yield alternatives[own]

    def targets(self) -> Iterator[int]:
        yield from self.at_one_value()
        yield from self.properties.values()
        yield from self.each_member
        yield from self.names
        yield from self.prefix
        yield from self.each_item


class Costs:
    """The subschemas of one document as a graph, by their place (steps from the root).

    With a draft, what the validator looks up is one visit (`lookup.py`). Reasons are not looked up.
    """

    def __init__(self, source: Any, draft: int | None = None) -> None:
        self._source = source
        self._draft = draft
        # True if something is looked up, so that reasons cost more than verdicts.
        self.looks_up = False
        self._parts: list[_Subschema] = []
        self._numbers: dict[Place, int] = {}
        # What references may name: resources by the end of their address, anchors by name.
        self._resources: dict[str, list[Place]] = {}
        self._anchors: dict[str, list[Place]] = {}
        # Where references lead that cannot be told apart: a part of its own, since there may be as
        # many of them as places they lead to.
        self._junctions: dict[Place, list[Place]] = {}
        # Edges that lead back to a part on the way here: a validator remembers there what it said
        # about a value. And those that do so at the same value: circles, which mean nothing.
        self._back: set[tuple[int, int]] = set()
        self._circles: set[tuple[int, int]] = set()
        self._index(source)
        self._read(())
        self._sort()

    def at(self, pointer: str) -> int:
        """The number of the subschema at this place."""
        place = tuple(self._steps((), pointer))
        if place not in self._numbers:
            self._read(place)
            self._sort()
        return self._numbers[place]

    def is_cheap(self, number: int, *, explained: bool) -> bool:
        """True if validating costs in proportion to the size of the value, whatever it is.

        With reasons that holds only where no reference leads back.
        """
        return self._parts[number].paths <= CHEAP and not (explained and self._back)

    def bound(self, number: int, value: Any, limit: int) -> int:
        """As `visits`, without counting: what a recursive reference leads to counts once."""
        paths = self._parts[number].paths
        visits = paths * _size(value, limit // paths)
        return visits if visits <= limit else MORE

    def visits(self, number: int, value: Any, limit: int, *, remembers: bool) -> int:
        """How often subschemas are visited for this value, at most; `MORE` if above `limit`.

        With `remembers`, what a recursive reference leads to is visited once for each value.
        """
        if remembers or not self._back:
            bound = self.bound(number, value, limit)
            if bound <= limit:
                return bound  # as often as that at the most, so there is nothing to count
        total = steps = 0
        todo: list[tuple[Any, dict[int, int]]] = [(value, {number: 1})]
        while todo:
            value, counts = todo.pop()
            active = self._spread(counts, value, remembers)
            total += sum(count * self._parts[part].own for part, count in active.items())
            steps += len(active)
            if isinstance(value, (dict, list)):
                steps += len(active) * len(value)
            if total > limit or steps > _STEPS:
                return MORE
            if isinstance(value, dict):
                for key, inner in value.items():
                    self._descend(todo, active, inner, remembers, key=key)
            elif isinstance(value, list):
                for index, inner in enumerate(value):
                    self._descend(todo, active, inner, remembers, index=index)
        return total

    def _spread(self, counts: dict[int, int], value: Any, remembers: bool) -> dict[int, int]:
        """Visits at one value, also of what applies to the same value."""
        queue = sorted((self._parts[number].rank, number) for number in counts)
        while queue:
            number = heappop(queue)[1]
            for target in self._parts[number].at(value):
                if (number, target) not in self._circles:
                    if target not in counts:
                        heappush(queue, (self._parts[target].rank, target))
                    self._pass_on(counts, number, target, counts[number], remembers)
        return counts

    def _descend(
        self,
        todo: list[tuple[Any, dict[int, int]]],
        active: dict[int, int],
        value: Any,
        remembers: bool,
        key: str | None = None,
        index: int = 0,
    ) -> None:
        """Pass visits on to a member or element."""
        below: dict[int, int] = {}
        names: dict[int, int] = {}
        for number, count in active.items():
            part = self._parts[number]
            if key is None:
                if index < len(part.prefix):
                    self._pass_on(below, number, part.prefix[index], count, remembers)
                targets = part.each_item
            else:
                if key in part.properties:
                    self._pass_on(below, number, part.properties[key], count, remembers)
                for target in part.names:
                    self._pass_on(names, number, target, count, remembers)
                targets = part.each_member
            for target in targets:
                self._pass_on(below, number, target, count, remembers)
        if names:
            todo.append((key, names))
        if below:
            todo.append((value, below))

    def _pass_on(
        self, counts: dict[int, int], number: int, target: int, count: int, remembers: bool
    ) -> None:
        if remembers and (number, target) in self._back:
            counts[target] = max(counts.get(target, 0), 1)
        else:
            counts[target] = counts.get(target, 0) + count

    # Reading a document

    def _index(self, source: Any) -> None:
        """Find what has a name: resources and anchors, wherever they stand."""
        todo: list[tuple[Any, Place]] = [(source, ())]
        while todo:
            part, place = todo.pop()
            if isinstance(part, dict):
                if name := _own_name(part):
                    self._resources.setdefault(_last_part(name), []).append(place)
                for keyword in ("$anchor", "$dynamicAnchor", "$id", "id"):
                    anchor = part.get(keyword)
                    if isinstance(anchor, str):
                        self._anchors.setdefault(anchor.removeprefix("#"), []).append(place)
                if part.get("$recursiveAnchor") is True:
                    self._anchors.setdefault("", []).append(place)
                todo += [(inner, (*place, key)) for key, inner in part.items()]
            elif isinstance(part, list):
                todo += [(inner, (*place, index)) for index, inner in enumerate(part)]

    def _read(self, place: Place) -> None:
        """Read a subschema and all that it leads to."""
        todo = [place]
        self._enter(place)
        while todo:
            place = todo.pop()
            schema, resource = self._at(place)
            if not isinstance(schema, dict):
                continue
            part = self._parts[self._numbers[place]]
            values = schema.get("enum")
            part.own += _COMPARED * compared(values, self._draft)
            self.looks_up |= compared(values, self._draft) != compared(values, None)
            for edges, key, target in self._edges(schema, place, resource):
                if target not in self._numbers:
                    self._enter(target)
                    todo.append(target)
                if edges == "properties":
                    part.properties[key] = self._numbers[target]
                elif " " in edges:
                    part.apart.setdefault(edges, {})[key] = self._numbers[target]
                else:
                    part.add(edges, self._numbers[target])

    def _enter(self, place: Place) -> None:
        self._numbers[place] = len(self._parts)
        self._parts.append(_Subschema())

    def _at(self, place: Place) -> tuple[Any, Place]:
        """The subschema at a place, and the resource that it belongs to."""
        part, resource = self._source, 0
        for depth, step in enumerate(place, 1):
            try:
                part = part[step]
            except (KeyError, IndexError, TypeError):
                return {}, place[:resource]
            if _own_name(part):
                resource = depth
        return part, place[:resource]

    def _alternatives(
        self, schema: dict[str, Any], keyword: str, resource: Place
    ) -> Iterator[tuple[str, str, int]]:
        """As `_edges`, for one list of alternatives, with an index instead of the place."""
        schemas: Any = schema.get(keyword)
        each = _indexes(schemas)
        if self._draft is not None and keyword in CHOICES and each:
            if listed(schema, keyword, self._draft) is not None:
                self.looks_up = True
                return
            apart = told_apart([self._target(one, resource) for one in schemas])
            if apart is not None:
                self.looks_up = True
                name, values = apart
                yield from ((f"{keyword} {name}", values[index], index) for index in each)
                return
        yield from (("same", "", index) for index in each)

    def _target(self, schema: Any, resource: Place) -> Any:
        """What a schema refers to if it is nothing but a reference inside its document."""
        if isinstance(schema, dict) and schema.keys() == {"$ref"}:
            targets = list(self._referred(schema, resource))
            return self._at(targets[0])[0] if len(targets) == 1 else None
        return schema

    def _edges(
        self, schema: dict[str, Any], place: Place, resource: Place
    ) -> Iterator[tuple[str, str, Place]]:
        """Which kind of edge, the member's key, and the place that it leads to."""
        for target in self._junctions.get(place, ()):
            yield "same", "", target
        for target in self._referred(schema, resource):
            yield "same", "", target
        for keyword in _LISTS:
            for edges, key, index in self._alternatives(schema, keyword, resource):
                yield edges, key, (*place, keyword, index)
        for keyword in _SINGLE:
            if keyword in schema:
                yield "same", "", (*place, keyword)
        for keyword in _BY_KEY:
            for key in _keys(schema.get(keyword)):
                yield "same", "", (*place, keyword, key)
        for key in _keys(schema.get("properties")):
            yield "properties", key, (*place, "properties", key)
        for pattern in _keys(schema.get("patternProperties")):
            yield "each_member", "", (*place, "patternProperties", pattern)
        for keyword in _MEMBERS:
            if keyword in schema:
                yield "each_member", "", (*place, keyword)
        if "propertyNames" in schema:
            yield "names", "", (*place, "propertyNames")
        for keyword in ("prefixItems", "items"):
            for index in _indexes(schema.get(keyword)):
                yield "prefix", "", (*place, keyword, index)
        for keyword in _ITEMS:
            if isinstance(schema.get(keyword), dict):
                yield "each_item", "", (*place, keyword)

    def _referred(self, schema: dict[str, Any], resource: Place) -> Iterator[Place]:
        """Where references lead. Of those that cannot be told apart here, each."""
        for keyword in _DYNAMIC:
            if isinstance(schema.get(keyword), str):
                name = schema[keyword].partition("#")[2]
                yield from self._joined("#" + name, self._anchors.get(name, [()]))
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return
        address, _, fragment = reference.partition("#")
        if fragment and not fragment.startswith("/"):
            yield from self._joined("#" + fragment, self._anchors.get(fragment, []))
        elif not address:
            yield (*resource, *self._steps(resource, fragment))
        else:
            roots = self._resources.get(_last_part(address), [])
            places = ((*root, *self._steps(root, fragment)) for root in roots)
            yield from self._joined(f"{_last_part(address)}#{fragment}", places)

    def _joined(self, name: str, targets: Iterable[Place]) -> list[Place]:
        """The one target of references of this name, or the junction that leads to several."""
        place: Place = (-1, name)  # no schema has an element before its first
        if place not in self._junctions:
            self._junctions[place] = list(targets)
        return [place] if len(self._junctions[place]) > 1 else self._junctions[place]

    def _steps(self, resource: Place, fragment: str) -> Iterator[str | int]:
        part = self._at(resource)[0]
        for text in unquoted(fragment).split("/")[1:]:
            step: str | int = text.replace("~1", "/").replace("~0", "~")
            if isinstance(part, list) and str(step).isdigit():
                step = int(step)
            yield step
            try:
                part = part[step]
            except (KeyError, IndexError, TypeError):
                part = None

    def _sort(self) -> None:
        """Find the edges that lead back, rank the parts, and count the paths."""
        order, self._circles = self._depth_first(lambda part: part.at_one_value())
        for rank, number in enumerate(reversed(order)):
            self._parts[number].rank = rank
        order, self._back = self._depth_first(lambda part: part.targets())
        for number in order:
            self._parts[number].paths = self._paths(number)

    def _depth_first(
        self, edges: Callable[[_Subschema], Iterable[int]]
    ) -> tuple[list[int], set[tuple[int, int]]]:
        """Parts, each after those it leads to, and the edges that had to be left out for that."""
        order: list[int] = []
        back: set[tuple[int, int]] = set()
        entered: set[int] = set()
        on_the_way: set[int] = set()
        for root in range(len(self._parts)):
            stack = [] if root in entered else [(root, iter(edges(self._parts[root])))]
            entered.add(root)
            on_the_way.add(root)
            while stack:
                number, targets = stack[-1]
                target = next(targets, None)
                if target is None:
                    stack.pop()
                    on_the_way.discard(number)
                    order.append(number)
                elif target in on_the_way:
                    back.add((number, target))
                elif target not in entered:
                    entered.add(target)
                    on_the_way.add(target)
                    stack.append((target, iter(edges(self._parts[target]))))
            on_the_way.clear()
        return order, back

    def _paths(self, number: int) -> int:
        part = self._parts[number]

        def of(targets: list[int]) -> int:
            return sum(
                1 if (number, target) in self._back else self._parts[target].paths
                for target in targets
            )

        # Of members that are named, and of leading elements, one at a time is the value below.
        named = max((of([target]) for target in part.properties.values()), default=0)
        leading = max((of([target]) for target in part.prefix), default=0)
        more = of(part.each_member) + of(part.each_item) + of(part.names)
        # Of alternatives that are told apart, one is visited.
        apart = sum(max(of([one]) for one in each.values()) for each in part.apart.values())
        return min(MORE, part.own + of(part.same) + apart + named + leading + more)


def _size(value: Any, limit: int) -> int:
    """How many values there are in a value, keys among them; not counted beyond `limit`."""
    total, todo = 0, [value]
    while todo and total <= limit:
        value = todo.pop()
        total += 1
        if isinstance(value, dict):
            total += len(value)
            todo += value.values()
        elif isinstance(value, list):
            todo += value
    return total


def _last_part(address: str) -> str:
    """The part of an address by which it is known here, however much of it is left out."""
    return address.partition("#")[0].rpartition("/")[2]


def _own_name(schema: Any) -> str:
    if not isinstance(schema, dict):
        return ""
    name = schema.get("$id", schema.get("id"))
    return name if isinstance(name, str) and not name.startswith("#") else ""


def _indexes(value: Any) -> range:
    return range(len(value)) if isinstance(value, list) else range(0)


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []
