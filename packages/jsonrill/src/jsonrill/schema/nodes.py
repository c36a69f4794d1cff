"""The rules of a schema for one value, in a form that can be checked while the value arrives.

The compilers (`jsonschema.py`, `coreschema.py`) make a graph of `Node`s, the walk (`walk.py`)
walks it. A node says only what is certain: a value that breaks it is refused by the real validator
whatever may follow. What it cannot say it leaves to a `Validator`, which is asked when the value is
complete. No fragment and no library is known here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Set
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol

from ..jsontext import dumps
from ..paths import ANY_INDEX, ANY_KEY, Path

# The kinds of value that the first characters tell apart, and sets of them.
STRING: Final = 1
INTEGER: Final = 2
FRACTION: Final = 4  # a number with a point or an exponent
TRUE: Final = 8
FALSE: Final = 16
NULL: Final = 32
OBJECT: Final = 64
ARRAY: Final = 128
NUMBER: Final = INTEGER | FRACTION
BOOLEAN: Final = TRUE | FALSE
EVERY: Final = 255

_NAMES: Final = {
    STRING: "a string",
    NUMBER: "a number",
    INTEGER: "a number",
    FRACTION: "a number with a point or an exponent",
    TRUE: "true",
    FALSE: "false",
    NULL: "null",
    OBJECT: "an object",
    ARRAY: "an array",
}
# The rule of a refusal that says no more than that validating would cost too much.
LIMIT: Final = "limit"
# The limit of nodes that are examined, and of the nesting of choices.
TOO_WIDE: Final = 1 << 20
_DEEPEST_CHOICE: Final = 100
# With more patterns of keys than this, the validator alone says what a key is.
MANY_PATTERNS: Final = 100
# As much of a value as a message shows.
_SHOWN: Final = 60
# The refusal of a key, until it is asked for: then it lists those that are allowed.
NO_KEY: Final = "this key is not allowed"
# As many values or keys as a message lists.
_LISTED: Final = 10


class Refusal(NamedTuple):
    """The reason why a value is invalid; `path` leads from it to the part that is."""

    rule: str
    text: str
    path: Path = ()


class Validator(Protocol):
    """The real validator of one part of a schema, for complete values."""

    def refusal(self, value: Any, budget: Any = None) -> Refusal | None:
        """The refusal of a complete value; None if it is valid or the validator cannot say."""

    def final(self, value: Any, budget: Any = None) -> tuple[Refusal | None, Any]:
        """The last word: a refusal, or None and the validated instance."""

    def sample(self, kind: int) -> Refusal | None:
        """The refusal of a simple value of this kind, if it is refused."""

    def is_usable(self) -> bool:
        """True if this part can be validated on its own."""


class Choice:
    """One of `nodes` must hold. Without a `rule` the last one's refusal is the reason given."""

    __slots__ = ("_alternatives", "_width", "nodes", "rule")

    def __init__(self, rule: str | None, nodes: tuple[Node, ...]) -> None:
        self.rule = rule
        self.nodes = nodes
        self._alternatives: list[Node] | None = None
        self._width: int | None = None

    @property
    def alternatives(self) -> list[Node]:
        """The nodes without those that ask the same as another."""
        if self._alternatives is None:
            self._alternatives = list({node.parts: node for node in self.nodes}.values())
        return self._alternatives

    @property
    def width(self) -> int:
        """How many nodes must be looked at for one value."""
        if self._width is None:
            self._width = sum(node.width for node in self.alternatives)
        return self._width


class Members:
    """The rules for the members of an object."""

    __slots__ = ("_sorted", "additional", "closed", "maximum", "minimum", "names", "patterns",
                 "properties", "required", "rules")  # fmt: skip

    def __init__(self) -> None:
        self.properties: dict[str, tuple[Node, ...]] = {}
        self.patterns: list[tuple[Callable[[str], bool], Node]] = []
        self.additional: Node | None = None
        # Why a key that is not named above is refused, if it is.
        self.closed: Refusal | None = None
        self.names: Validator | None = None
        # Of each set of keys one must be there; the text names what is missing.
        self.required: list[tuple[frozenset[str], str]] = []
        self.minimum = 0
        self.maximum: int | None = None
        self.rules = ("required", "minProperties", "maxProperties")
        self._sorted: list[str] | None = None

    def find(self, key: str) -> Refusal | tuple[Node, ...]:
        """The nodes of the member with this key, or why it cannot be there."""
        if self.names is not None and (refusal := self.names.refusal(key)):
            return Refusal(refusal.rule, refusal.text)
        nodes = self.properties.get(key)
        if self.patterns:
            if len(self.patterns) > MANY_PATTERNS:
                return nodes or ()
            nodes = self._matching(key, nodes)
        if nodes is None:
            if self.closed is not None:
                if self.closed.text is NO_KEY:
                    reason = f"{NO_KEY}: {allowed(self.properties)}"
                    self.closed = Refusal(self.closed.rule, reason)
                return self.closed
            return () if self.additional is None else (self.additional,)
        for node in nodes:
            if not node.kinds:
                return node.mismatch(EVERY)
        return nodes

    def _matching(self, key: str, nodes: tuple[Node, ...] | None) -> tuple[Node, ...] | None:
        more = tuple(node for matches, node in self.patterns if matches(key))
        return nodes if not more else (nodes or ()) + more

    def forbidden(self, key: str) -> tuple[int, Refusal] | None:
        """The index of the first character with which no allowed key begins, and the refusal."""
        if self.closed is None or self.patterns or self.names is not None or key in self.properties:
            return None
        if self._sorted is None:
            self._sorted = sorted(self.properties)
        at = bisect_left(self._sorted, key)
        # Of all allowed keys one of the two neighbours in order has most in common with it, and one
        # that begins with it is the next.
        neighbours = self._sorted[max(at - 1, 0) : at + 1]
        if not key or (neighbours and neighbours[-1].startswith(key)):
            return None
        far = max((common(one, 0, key) for one in neighbours), default=0)
        begun = shown(key[: far + 1])
        text = f"no allowed key begins with {begun}: {allowed(self.properties)}"
        return far, Refusal(self.closed.rule, text)

    def missing(self, seen: Set[str]) -> Refusal | None:
        """The refusal of an object that ends with these keys."""
        for keys, text in self.required:
            if seen.isdisjoint(keys):
                return Refusal(self.rules[0], text)
        if len(seen) < self.minimum:
            return Refusal(self.rules[1], f"fewer than {self.minimum} members")
        return None

    def excess(self, count: int) -> Refusal | None:
        if self.maximum is not None and count > self.maximum:
            return Refusal(self.rules[2], f"more than {self.maximum} members")
        return None

    def children(self, step: Any) -> list[tuple[Node, ...]] | None:
        """The alternatives below a step of a pattern; None if one of them is not described."""
        if step is not ANY_KEY:
            nodes = self.find(step)
            return None if isinstance(nodes, Refusal) or not nodes else [nodes]
        if self.closed is None and self.additional is None:
            return None
        below = [*self.properties.values(), *((node,) for _, node in self.patterns)]
        below += [(self.additional,)] if self.additional is not None else []
        return below or None


class Elements:
    """The rules for the elements of an array."""

    __slots__ = ("closed", "maximum", "minimum", "prefix", "rest", "rules")

    def __init__(self) -> None:
        self.prefix: list[Node] = []
        self.rest: Node | None = None
        # Why an element after the prefix is refused, if it is.
        self.closed: Refusal | None = None
        self.minimum = 0
        self.maximum: int | None = None
        self.rules = ("minItems", "maxItems")

    def find(self, index: int) -> Refusal | tuple[Node, ...]:
        """The nodes of the element at this index, or why it cannot be there."""
        if self.maximum is not None and index >= self.maximum:
            return Refusal(self.rules[1], f"more than {count(self.maximum, 'item')}")
        if index < len(self.prefix):
            return (self.prefix[index],)
        if self.closed is not None:
            return self.closed
        return () if self.rest is None else (self.rest,)

    def missing(self, length: int) -> Refusal | None:
        """The refusal of an array that ends with this length."""
        if length < self.minimum:
            return Refusal(self.rules[0], f"fewer than {count(self.minimum, 'item')}")
        return None

    def children(self, step: Any) -> list[tuple[Node, ...]] | None:
        """The alternatives below a step of a pattern; None if one of them is not described."""
        if step is not ANY_INDEX:
            nodes = self.find(step)
            return None if isinstance(nodes, Refusal) or not nodes else [nodes]
        if self.rest is None and self.closed is None:
            return None
        below: list[tuple[Node, ...]] = [(node,) for node in self.prefix]
        below += [(self.rest,)] if self.rest is not None else []
        return below or None


class Node:
    """The rules that are certain for one value. Filled by a compiler, then only read.

    A value of one of `kinds` may begin. When it is complete, `end_validator` is asked unless its
    kind is in `sure`. The nodes of `all` must hold too, and one node of each of `choices`.
    """

    __slots__ = ("__weakref__", "_idle", "_others", "_says_nothing", "_width", "about",
                 "all", "choices", "elements", "end_validator", "full_validator", "is_described",
                 "kinds", "length_rule", "maker", "max_length", "members", "mismatch", "natural",
                 "shape", "sure", "text_rule", "texts")  # fmt: skip

    def __init__(self, kinds: int = EVERY, full_validator: Validator | None = None) -> None:
        self.kinds = kinds
        self.sure = EVERY
        self.end_validator: Validator | None = None
        # The real validator of all that is said here; None if this part cannot be asked alone.
        self.full_validator = full_validator
        self.mismatch: Callable[[int], Refusal] = _false
        self.max_length: int | None = None
        self.length_rule = "maxLength"
        # The only strings there may be, sorted.
        self.texts: tuple[str, ...] | None = None
        self.text_rule = "enum"
        self.members: Members | None = None
        self.elements: Elements | None = None
        self.all: list[Node] = []
        self.choices: list[Choice] = []
        # True if no rule for a container is left out here: `end_validator` knows the others.
        self.is_described = False
        # Not for validation: the kinds this is written as, what it looks like, and of a pydantic
        # type what becomes of a value (a `TypeShape`).
        self.natural = EVERY
        # The kinds that a schema without a type has keywords for.
        self.about = 0
        self.shape: Node | None = None
        self.maker: Any = None
        self._idle: int | None = None
        # The other parts, without itself: what refers to itself is not gone with its last user.
        self._others: tuple[Node, ...] | None = None
        self._says_nothing = False
        self._width: int | None = None

    @property
    def parts(self) -> tuple[Node, ...]:
        """The nodes that must hold together, itself among them, without those that say nothing."""
        others = self.others
        return others if self._says_nothing else (self, *others)

    @property
    def others(self) -> tuple[Node, ...]:
        """Its parts without itself."""
        if self._others is None:
            reached: dict[Node, None] = {self: None}
            todo = self.all[::-1]
            while todo:
                node = todo.pop()
                if node not in reached:
                    reached[node] = None
                    todo += reversed(node.all)
            del reached[self]
            self._says_nothing = self.is_silent
            self._others = tuple(node for node in reached if not node.is_silent)
        return self._others

    @property
    def width(self) -> int:
        """How many nodes must be looked at for one value, `TOO_WIDE` if that has no small bound.

        Worked out once for each node, so that shared ones are visited once. A node that leads
        back to itself has no bound.
        """
        if self._width is None:
            self._width = TOO_WIDE
            self._width = _width(self, 0)
        return self._width

    @property
    def is_silent(self) -> bool:
        """True if it has no rule of its own for a value of any kind."""
        silent = self.kinds == self.natural == self.idle == EVERY
        return silent and not self.choices and self.shape is None

    @property
    def idle(self) -> int:
        """The kinds of which, once they have begun, this node alone does not check any further."""
        if self._idle is None:
            busy = EVERY & ~self.sure
            busy |= STRING if self.max_length is not None or self.texts is not None else 0
            busy |= OBJECT if self.members is not None else 0
            busy |= ARRAY if self.elements is not None else 0
            self._idle = EVERY & ~busy
        return self._idle


def _width(node: Node, depth: int) -> int:
    if depth > _DEEPEST_CHOICE:
        return TOO_WIDE
    total = 0
    for part in node.parts:
        total += 1
        for choice in part.choices:
            for one in choice.alternatives:
                if one._width is None:
                    one._width = TOO_WIDE  # while it is being worked out
                    one._width = _width(one, depth + 1)
                total += one._width
                if total >= TOO_WIDE:
                    return TOO_WIDE
    return total


def _false(kind: int) -> Refusal:
    return Refusal("false", "nothing is allowed here")


def kind_of(value: Any) -> int:
    """The kind of a complete scalar or container."""
    if value is None:
        return NULL
    if value is True or value is False:
        return TRUE if value else FALSE
    if isinstance(value, str):
        return STRING
    if isinstance(value, dict):
        return OBJECT
    if isinstance(value, list):
        return ARRAY
    return INTEGER if isinstance(value, int) else FRACTION


def named(kind: int) -> str:
    """`a string`, `an object`: what a message calls it."""
    return _NAMES.get(kind, "a value")


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shown(value: Any) -> str:
    """A scalar as JSON, cut to what a message can hold."""
    if isinstance(value, str) and len(value) > _SHOWN:
        return dumps(value[:_SHOWN])[:-1] + '…"'
    if isinstance(value, (str, int, float, bool)) or value is None:
        text = dumps(value)
        return text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN] + "…"
    return str(value)


def allowed(values: Collection[Any]) -> str:
    """`allowed are "a", "b"`: what a message says of the values or keys that may come."""
    if not values:
        return "none is allowed"
    few = ", ".join(map(shown, islice(values, _LISTED)))
    more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
    return f"allowed {'is' if len(values) == 1 else 'are'} {few}{more}"


def common(text: str, at: int, run: str) -> int:
    """The number of characters in which `run` agrees with `text` from `at` on."""
    rest = text[at : at + len(run)]
    for index, char in enumerate(rest):
        if char != run[index]:
            return index
    return len(rest)


def may_be(node: Node, kind: int) -> bool:
    """True if this node itself lets a value of this kind begin."""
    return all(part.kinds & kind for part in node.parts)
