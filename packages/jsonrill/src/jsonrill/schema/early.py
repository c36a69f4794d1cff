"""What the first characters of a value prove: the nodes that types and JSON Schemas share.

A `Node` says what a schema requires of the value at one place. It refuses early only what its
validator would refuse whatever follows: a value of the wrong kind at its first character, a key
that is forbidden, a string with which no allowed text begins.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from os.path import commonprefix
from typing import Any, Final

from ..paths import ABSENT
from .errors import Refusal, list_allowed, quote

# What a complete value becomes, or why it is refused.
Result = tuple[Any, Refusal | None]


class Kind:
    """The kinds of value that the first character tells apart, as bits."""

    NULL = 1
    BOOLEAN = 2
    NUMBER = 4
    STRING = 8
    ARRAY = 16
    OBJECT = 32
    EVERY = 63


NAMES: Final = {
    Kind.NULL: "null",
    Kind.BOOLEAN: "a boolean",
    Kind.NUMBER: "a number",
    Kind.STRING: "a string",
    Kind.ARRAY: "an array",
    Kind.OBJECT: "an object",
}
_KINDS: Final = dict(zip((type(None), bool, int, str, list, dict), NAMES, strict=True))
_FIRST: Final = {"n": Kind.NULL, "t": Kind.BOOLEAN, "f": Kind.BOOLEAN, "-": Kind.NUMBER}
_ZEROS: Final = {Kind.BOOLEAN: False, Kind.NUMBER: 0, Kind.STRING: ""}


def kind_of(value: Any) -> int:
    """Return the kind of a JSON value; numbers of other types are read with `parse_float`."""
    return _KINDS.get(type(value), Kind.NUMBER)


def kind_of_text(text: str) -> int:
    """Return the kind of a number or literal that begins so; Kind.EVERY if it is neither."""
    return Kind.NUMBER if text[:1].isdecimal() else _FIRST.get(text[:1], Kind.EVERY)


class Node:
    """What a schema requires of the value at one place. The base class requires nothing.

    `kinds` are the kinds that may be valid, `texts` the allowed strings, sorted, if they are
    listed. If a node `is_quiet`, code of the user sees the value first: nothing inside of it is
    refused before its end.
    """

    __slots__ = ("is_quiet", "kinds", "text_rule", "texts")

    def __init__(
        self, kinds: int = Kind.EVERY, texts: list[str] | None = None, text_rule: str = "enum"
    ) -> None:
        self.kinds = kinds
        self.texts = texts
        self.text_rule = text_rule
        self.is_quiet = False

    def refuse_kind(self, kind: int) -> Refusal:
        """Return why a value of this kind is refused."""
        return Refusal("type", f"{NAMES[kind]} is not allowed")

    def refuse_start(self, value: Any, kind: int = 0) -> Refusal | None:
        """Return what the first characters of a value prove, complete or not.

        `kind` is the kind of a number or literal that is not read yet.
        """
        kind = kind or kind_of(value)
        if not self.kinds & kind:
            return self.refuse_kind(kind)
        return self._refuse_text(value) if kind == Kind.STRING and self.texts is not None else None

    def _refuse_text(self, text: str) -> Refusal | None:
        texts = self.texts or []
        at = bisect_left(texts, text)
        if at < len(texts) and texts[at].startswith(text):
            return None
        # The shortest wrong prefix, so that the message does not depend on the pieces.
        near = texts[max(at - 1, 0) : at + 1]
        shared = max((len(commonprefix([text, other])) for other in near), default=0)
        begin = quote(text[: shared + 1])
        message = f"no allowed value begins with {begin}: {list_allowed(texts)}"
        return Refusal(self.text_rule, message, allowed=tuple(texts))

    def choose(self, container: Any, step: str | int | None) -> Node:
        """Return the node for the inside of a container, in which the child at `step` is open."""
        return self

    def child(self, step: str | int) -> Node | Refusal:
        """Return the node of a member or element, or why its key is refused."""
        return ANY

    def finish(self, value: Any, made: list[Any] | None = None) -> Result:
        """Return what a complete value becomes, or why it is refused.

        `made` has what the elements of a list have become, if they have been finished one by one.
        """
        return value, self.refuse_start(value)

    def close(self, value: Any) -> Result:
        """Return what a complete value becomes that is not part of another one."""
        return self.finish(value)

    def show(self, content: Any) -> Any:
        """Return what is shown of an open string, or container with these children, or `ABSENT`."""
        return content

    def field_names(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the name of the field for each of these keys that has one."""
        return {key: key for key in keys}

    def zero(self) -> Any:
        """Return the zero value of the type, for a field that has not come; None if it has none."""
        return _ZEROS.get(self.kinds)


class Unknown(Node):
    """A value about which nothing is known until the container around it is complete."""

    __slots__ = ()

    def child(self, step: str | int) -> Node | Refusal:
        return UNKNOWN

    def finish(self, value: Any, made: list[Any] | None = None) -> Result:
        return ABSENT, None

    def show(self, content: Any) -> Any:
        return ABSENT


ANY: Final = Node()
UNKNOWN: Final = Unknown()
