"""What a schema says about one value, in the form that can be asked while the value arrives.

The compilers (`jsonschema.py`, `coreschema.py`) make a graph of `Node`s, the walk (`walk.py`)
walks it. A node says only what is certain: a value that breaks it is refused by the real validator
whatever may follow. What it cannot say it leaves to a `Judge`, the real validator, asked when the
value is whole. No fragment and no library is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Set
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
# As much of a value as a message shows.
_SHOWN: Final = 60


class Refusal(NamedTuple):
    """Why a value cannot be; `path` leads from that value to the part that is to blame."""

    rule: str
    text: str
    path: Path = ()


class Judge(Protocol):
    """The real validator of one part of a schema, for values that are whole."""

    def refusal(self, value: Any) -> Refusal | None:
        """Why the value is refused; None if it is not, or if that cannot be said."""

    def final(self, value: Any) -> tuple[Refusal | None, Any]:
        """The last word: a refusal, or None and the validated instance."""

    def sample(self, kind: int) -> Refusal | None:
        """What is said about a simple value of this kind, if that is no."""

    def is_usable(self) -> bool:
        """Can this part be asked on its own?"""


class Choice(NamedTuple):
    """One of `nodes` must hold. Without a `rule` the last one's refusal is the reason given."""

    rule: str | None
    nodes: tuple[Node, ...]


class Members:
    """What is said about the members of an object."""

    __slots__ = ("additional", "closed", "maximum", "minimum", "names", "patterns", "properties",
                 "required", "rules")  # fmt: skip

    def __init__(self) -> None:
        self.properties: dict[str, tuple[Node, ...]] = {}
        self.patterns: list[tuple[Callable[[str], bool], Node]] = []
        self.additional: Node | None = None
        # Why a key that is not named above is refused, if it is.
        self.closed: Refusal | None = None
        self.names: Judge | None = None
        # Of each set of keys one must be there; the text names what is missing.
        self.required: list[tuple[frozenset[str], str]] = []
        self.minimum = 0
        self.maximum: int | None = None
        self.rules = ("required", "minProperties", "maxProperties")

    def find(self, key: str) -> Refusal | tuple[Node, ...]:
        """The nodes of the member with this key, or why it cannot be there."""
        if self.names is not None and (refusal := self.names.refusal(key)):
            return Refusal(refusal.rule, refusal.text)
        found = self.properties.get(key)
        if self.patterns:
            found = self._matching(key, found)
        if found is None:
            if self.closed is not None:
                return self.closed
            return () if self.additional is None else (self.additional,)
        for node in found:
            if not node.kinds:
                return node.mismatch(EVERY)
        return found

    def _matching(self, key: str, found: tuple[Node, ...] | None) -> tuple[Node, ...] | None:
        more = tuple(node for matches, node in self.patterns if matches(key))
        return found if not more else (found or ()) + more

    def missing(self, seen: Set[str]) -> Refusal | None:
        """Why an object with these keys cannot end here."""
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
            found = self.find(step)
            return None if isinstance(found, Refusal) or not found else [found]
        if self.closed is None and self.additional is None:
            return None
        below = [*self.properties.values(), *((node,) for _, node in self.patterns)]
        below += [(self.additional,)] if self.additional is not None else []
        return below or None


class Elements:
    """What is said about the elements of an array."""

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
        """Why an array of this length cannot end here."""
        if length < self.minimum:
            return Refusal(self.rules[0], f"fewer than {count(self.minimum, 'item')}")
        return None

    def children(self, step: Any) -> list[tuple[Node, ...]] | None:
        """The alternatives below a step of a pattern; None if one of them is not described."""
        if step is not ANY_INDEX:
            found = self.find(step)
            return None if isinstance(found, Refusal) or not found else [found]
        if self.rest is None and self.closed is None:
            return None
        below: list[tuple[Node, ...]] = [(node,) for node in self.prefix]
        below += [(self.rest,)] if self.rest is not None else []
        return below or None


class Node:
    """What is certain about one value. Filled by a compiler, then only read.

    `kinds` may begin; of a value of a kind in `sure`, whole, nothing more needs to be asked, for
    the others `judge` is. `all` are nodes that hold too, of each choice in `choices` one node.
    """

    __slots__ = ("_idle", "_parts", "all", "choices", "elements", "judge", "kinds", "length_rule",
                 "maker", "max_length", "members", "mismatch", "natural", "shape", "sure",
                 "text_rule", "texts", "whole")  # fmt: skip

    def __init__(self, kinds: int = EVERY, whole: Judge | None = None) -> None:
        self.kinds = kinds
        self.sure = EVERY
        self.judge: Judge | None = None
        # The real validator of all that is said here; None if this part cannot be asked alone.
        self.whole = whole
        self.mismatch: Callable[[int], Refusal] = _false
        self.max_length: int | None = None
        self.length_rule = "maxLength"
        # The only strings there may be.
        self.texts: tuple[str, ...] | None = None
        self.text_rule = "enum"
        self.members: Members | None = None
        self.elements: Elements | None = None
        self.all: list[Node] = []
        self.choices: list[Choice] = []
        # Not for judging: the kinds this is written as, what it looks like, how to build it.
        self.natural = EVERY
        self.shape: Node | None = None
        self.maker: Any = None
        self._idle: int | None = None
        self._parts: tuple[Node, ...] | None = None

    @property
    def parts(self) -> tuple[Node, ...]:
        """The nodes that must hold together, itself among them, without those that say nothing."""
        if self._parts is None:
            found: dict[Node, None] = {}
            todo = [self]
            while todo:
                node = todo.pop()
                if node not in found:
                    found[node] = None
                    todo += reversed(node.all)
            self._parts = tuple(node for node in found if not node.is_silent)
        return self._parts

    @property
    def is_silent(self) -> bool:
        """Does it say nothing of its own, about a value of any kind?"""
        silent = self.kinds == self.natural == self.idle == EVERY
        return silent and not self.choices and self.shape is None

    @property
    def idle(self) -> int:
        """The kinds of which, once they have begun, this node alone has nothing more to say."""
        if self._idle is None:
            busy = EVERY & ~self.sure
            busy |= STRING if self.max_length is not None or self.texts is not None else 0
            busy |= OBJECT if self.members is not None else 0
            busy |= ARRAY if self.elements is not None else 0
            self._idle = EVERY & ~busy
        return self._idle


def _false(kind: int) -> Refusal:
    return Refusal("false", "nothing is allowed here")


def kind_of(value: Any) -> int:
    """The kind of a scalar or container that is whole."""
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


def may_be(node: Node, kind: int) -> bool:
    """May a value of this kind begin here, as far as this node itself says?"""
    return all(part.kinds & kind for part in node.parts)
