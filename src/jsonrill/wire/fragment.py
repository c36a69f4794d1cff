"""Fragments: a document as a list of small addressed changes, and their two wire forms.

`Fragment` is what happened, `Cursor` knows where the next one must be, `to_wire`/`from_wire`
speak the full form, `CompactEncoder` and `WireReader` the compact one. No text is parsed here
and no value is built.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import inf, isfinite
from typing import Any, Final, Literal, cast, get_args

from ..errors import FragmentError
from ..parse.sink import PlacedSink
from ..paths import Path, Place, from_text, path_of, to_text

Kind = Literal[
    "StartObject",
    "EndObject",
    "StartArray",
    "EndArray",
    "Key",
    "StartString",
    "PartialString",
    "CompleteString",
    "CompleteNumber",
    "CompleteBoolean",
    "CompleteNull",
    "JsonComplete",
]
Dialect = Literal["jsonrill", "juf"]

# The order of the kinds is their code in the compact form.
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_CODES: Final = {kind: code for code, kind in enumerate(KINDS)}
MANY_PARTS: Final = 512
_NUMBER_STARTS: Final = tuple("-0123456789")
_STARTS_VALUE: Final = frozenset(
    (
        "StartObject",
        "StartArray",
        "StartString",
        "CompleteNumber",
        "CompleteBoolean",
        "CompleteNull",
    )
)


class Fragment:
    """One change: its kind, where it happened, and what it carries. Treat it as read-only.

    `text` is the decoded new text of a PartialString or the source text of a number; `value` the
    decoded key or finished value; `offset` the character at which its token began; `document` the
    number of the document, where there are many.
    """

    __slots__ = ("_at", "document", "kind", "offset", "text", "value")

    def __init__(
        self,
        kind: Kind,
        path: Path | Place | None = (),
        text: str | None = None,
        value: Any = None,
        offset: int = 0,
        document: int = 0,
    ) -> None:
        self.kind: Kind = kind
        self._at = path
        self.text = text
        self.value = value
        self.offset = offset
        self.document = document

    @property
    def path(self) -> Path:
        """Keys and indices from the root, `()`; made when asked for."""
        return _path(self._at)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fragment):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.text == other.text
            and self.value == other.value
            and self.path == other.path
        )

    __hash__ = None  # type: ignore[assignment]  # values may be of any type

    def __repr__(self) -> str:
        parts = [self.kind, to_text(self.path)]
        parts += [repr(part) for part in (self.text, self.value) if part is not None]
        return f"<{' '.join(parts)}>"


class TextBuffer:
    """Text that comes in pieces and is joined when somebody looks, or when there are many.

    Tiny strings are mostly overhead: so it takes about as much memory as the text itself.
    """

    __slots__ = ("_new", "_text")

    def __init__(self) -> None:
        self._text = ""
        self._new: list[str] = []

    def add(self, run: str) -> None:
        new = self._new
        new.append(run)
        if len(new) == MANY_PARTS:
            self.text()

    def text(self) -> str:
        if self._new:
            # With no other owner the old text is extended in place: looking after each of many
            # pieces stays linear.
            text = self._text
            self._text = ""
            text += "".join(self._new)
            self._text = text
            self._new.clear()
        return self._text

    def take(self) -> str:
        """The whole text, which is then forgotten."""
        text = self.text()
        self._text = ""
        return text


class Cursor(PlacedSink):
    """The place that the next fragment must have, from the fragments before it.

    Read in order, fragments need no path: a Key names the next member, elements count.
    """

    __slots__ = ("_string", "wants")

    def __init__(self) -> None:
        super().__init__()
        # "value", "key", "element", "string", "end" (the root is whole), "nothing" (JsonComplete)
        self.wants = "value"
        self._string: Place | None = None

    def expect(self, kind: Kind) -> Place | None:
        """Where a fragment of this kind must be now; FragmentError if none can come."""
        wants = self.wants
        if kind in _STARTS_VALUE:
            if wants == "value" or wants == "element":
                return self._here()
        elif kind == "PartialString" or kind == "CompleteString":
            if wants == "string":
                return self._string
        elif kind == "JsonComplete":
            if wants == "end":
                return None
        elif wants == ("element" if kind == "EndArray" else "key"):
            return self._container
        elif kind == "EndObject" and wants == "value" and self._frames:
            # A key whose value never came: leniency closed a text that was cut off there.
            return self._container
        raise FragmentError(f"{kind} cannot come here: {self._wanted()}")

    @property
    def open_path(self) -> Path:
        """The string, or else the container, that is open; the root's path if nothing is."""
        return _path(self._string if self.wants == "string" else self._container)

    def move(self, kind: Kind, place: Place | None, value: Any) -> None:
        """Go past a fragment that `expect` allowed."""
        if kind == "PartialString":
            return
        if kind in _STARTS_VALUE:
            self._pass()
        if kind == "Key":
            self._step = value
            self.wants = "value"
        elif kind == "StartString":
            self._string = place
            self.wants = "string"
        elif kind == "StartObject":
            self._enter(place, "")
            self.wants = "key"
        elif kind == "StartArray":
            self._enter(place, 0)
            self.wants = "element"
        elif kind == "JsonComplete":
            self.wants = "nothing"
        else:
            if kind == "EndObject" or kind == "EndArray":
                self._leave()
            inside = "element" if type(self._step) is int else "key"
            self.wants = inside if self._frames else "end"

    def _wanted(self) -> str:
        return {
            "value": "a value must begin",
            "key": f"a Key or EndObject of {to_text(_path(self._container))} must come",
            "element": f"an element or EndArray of {to_text(_path(self._container))} must come",
            "string": f"the string {to_text(_path(self._string))} is open",
            "end": "JsonComplete must come",
            "nothing": "the document is complete",
        }[self.wants]


def to_wire(fragment: Fragment) -> dict[str, Any]:
    """The full wire form, a dict for JSON: `{"path": "root.a", "kind": "Key", "value": "b"}`."""
    wire: dict[str, Any] = {"path": to_text(fragment.path), "kind": fragment.kind}
    if fragment.text is not None:
        wire["textValue"] = fragment.text
    if fragment.kind == "CompleteNumber" and not _is_double(fragment.value):
        wire.setdefault("textValue", repr(fragment.value))
    elif fragment.value is not None:
        wire["value"] = fragment.value
    return wire


def from_wire(wire: Mapping[str, Any], *, dialect: Dialect = "jsonrill") -> Fragment:
    """Read the full wire form; FragmentError for anything that is not one."""
    if not isinstance(wire, Mapping):
        raise FragmentError(f"a fragment is a JSON object, not {type(wire).__name__}")
    kind, text, value = _kind(wire.get("kind")), wire.get("textValue"), wire.get("value")
    if dialect not in get_args(Dialect):
        raise ValueError(f"dialect is one of {get_args(Dialect)}, not {dialect!r}")
    if dialect == "juf":
        # Its paths are wrong below nested containers; the order of the fragments is right.
        return _from_juf(kind, text if text is not None else value)
    return _checked(kind, _read_path(wire.get("path")), text, value)


def _read_path(text: Any) -> Path:
    if not isinstance(text, str):
        raise FragmentError(f"the path of a fragment is a text like 'root.a[0]', not {text!r}")
    try:
        return from_text(text)
    except ValueError as error:
        raise FragmentError(str(error)) from error


class CompactEncoder:
    """Fragments → compact items, to be sent as JSON arrays, one document from its start."""

    __slots__ = ("_cursor",)

    def __init__(self) -> None:
        self._cursor = Cursor()

    def feed(self, fragments: Iterable[Fragment]) -> list[Any]:
        """One item for each fragment: a bare string (new text), or `[code, path?, payload?]`."""
        return [self._item(fragment) for fragment in fragments]

    def _item(self, fragment: Fragment) -> Any:
        kind, value = fragment.kind, fragment.value
        expected = self._cursor.expect(kind)
        if not _same_place(fragment._at, expected):
            message = f"{kind} of {to_text(fragment.path)} is not in document order"
            raise FragmentError(message, path=fragment.path)
        self._cursor.move(kind, _adopted(fragment._at, expected), value)
        if kind == "PartialString":
            return fragment.text
        if kind == "CompleteString":
            return [_CODES[kind], None, utf16_length(value)]
        if kind == "CompleteNumber":
            text = repr(value) if fragment.text is None else fragment.text
            exact = _is_double(value) and repr(value) == text
            return [_CODES[kind], None, value if exact else text]
        if kind == "Key" or kind == "CompleteBoolean":
            return [_CODES[kind], None, value]
        return [_CODES[kind]]


class WireReader:
    """Fragments of one document, in order, in any form → checked fragments with their places.

    Takes `Fragment`s, full wire objects and compact items, in any mixture. A fragment that does
    not fit raises FragmentError and is as if it had never come.
    """

    __slots__ = ("_cursor", "_juf", "_parts")

    def __init__(self, dialect: Dialect = "jsonrill") -> None:
        if dialect not in get_args(Dialect):
            raise ValueError(f"dialect is one of {get_args(Dialect)}, not {dialect!r}")
        self._juf = dialect == "juf"
        self._cursor = Cursor()
        self._parts = TextBuffer()

    @property
    def complete(self) -> bool:
        return self._cursor.wants == "nothing"

    def read(self, item: Any) -> Fragment | None:
        """The fragment that `item` stands for; None for one that this dialect says to ignore."""
        try:
            sent = self._sent(item)
            kind, at, value = sent.kind, sent._at, sent.value
            if kind == "JsonComplete" and self._juf and self._cursor.wants != "end":
                return None
            expected = self._cursor.expect(kind)
            if at is not _IMPLIED and not self._juf and not _same_place(at, expected):
                here, there = to_text(_path(at)), to_text(_path(expected))
                raise FragmentError(f"{kind} of {here} does not fit: {there} is next")
            if kind == "CompleteString":
                value = self._whole(value)
                self._parts.take()
            elif kind == "PartialString":
                self._parts.add(cast(str, sent.text))
            place = expected if at is _IMPLIED else _adopted(at, expected)
            self._cursor.move(kind, place, value)
            return Fragment(kind, place, sent.text, value, sent.offset)
        except FragmentError as error:
            error.path = self._cursor.open_path
            raise

    def _sent(self, item: Any) -> Fragment:
        """A fragment whose payload is checked; that of a compact item has its place implied."""
        if isinstance(item, Fragment):
            if item.kind == "CompleteNumber" and item.value is not None:
                return item  # its value is whatever `parse_float` made of its text
            checked = _checked(item.kind, item._at, item.text, item.value)
            checked.offset = item.offset
            return checked
        if isinstance(item, str):
            return Fragment("PartialString", _IMPLIED, item)
        if isinstance(item, Mapping):
            return from_wire(item, dialect="juf" if self._juf else "jsonrill")
        return self._compact(item)

    def _compact(self, item: Any) -> Fragment:
        if not isinstance(item, (list, tuple)) or not 1 <= len(item) <= 3:
            raise FragmentError(f"not a fragment: {item!r}")
        code, path, payload = (*item, None, None)[:3]
        if type(code) is not int or not 0 <= code < len(KINDS):
            raise FragmentError(f"not the code of a kind: {code!r}")
        kind = KINDS[code]
        at = _IMPLIED if path is None else _read_path(path)
        if kind == "CompleteString":
            if type(payload) is not int or payload != utf16_length(self._parts.text()):
                raise FragmentError(f"a string of {payload!r} UTF-16 units was announced, not sent")
            return Fragment(kind, at)
        text = payload if kind == "PartialString" else None
        if kind == "CompleteNumber":
            text = payload if isinstance(payload, str) else repr(payload)
            payload = None if isinstance(payload, str) else payload
        return _checked(kind, at, text, payload)

    def _whole(self, value: Any) -> str:
        parts = self._parts.text()
        if value is None:
            return parts
        if value != parts and not self._juf:
            raise FragmentError(f"CompleteString {value!r} differs from its parts {parts!r}")
        return cast(str, value)


_IMPLIED: Final[Any] = object()


def _adopted(at: Path | Place | None, expected: Place | None) -> Place | None:
    """The sender's own Place where it has one: its children are then told by identity."""
    return at if isinstance(at, Place) else expected


def _path(at: Path | Place | None) -> Path:
    return path_of(at) if at is None or isinstance(at, Place) else at


def _same_place(at: Path | Place | None, expected: Place | None) -> bool:
    if at is expected:
        return True
    if isinstance(at, Place) and expected is not None and at.parent is expected.parent:
        return at.key == expected.key
    return _path(at) == _path(expected)


def utf16_length(text: str) -> int:
    """How long JavaScript says that a string is."""
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)


def _is_double(value: Any) -> bool:
    """Does this number survive a reader that has only doubles?"""
    if type(value) is float:
        return isfinite(value)
    try:
        return type(value) is int and int(float(value)) == value
    except OverflowError:
        return False


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


def _as_double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _kind(name: Any) -> Kind:
    if isinstance(name, str):
        kind = name[:1].upper() + name[1:]
        if kind in _CODES:
            return kind
    raise FragmentError(f"not a kind of fragment: {name!r}")


def _checked(kind: Kind, at: Any, text: Any, value: Any) -> Fragment:
    """A fragment whose payload has the type that its kind asks for."""
    if kind == "PartialString" and isinstance(text, str):
        return Fragment(kind, at, text)
    if kind == "Key" and isinstance(value, str):
        return Fragment(kind, at, None, value)
    if kind == "CompleteString" and (value is None or isinstance(value, str)):
        return Fragment(kind, at, None, value)
    if kind == "CompleteBoolean" and isinstance(value, bool):
        return Fragment(kind, at, None, value)
    if kind == "CompleteNumber":
        return Fragment(kind, at, text, _number(text, value))
    if kind in ("PartialString", "Key", "CompleteString", "CompleteBoolean") or kind not in _CODES:
        raise FragmentError(f"a {kind} does not carry text {text!r} and value {value!r}")
    return Fragment(kind, at)


def _number(text: Any, value: Any) -> Any:
    """The number a fragment carries; read from its source text where only that was sent."""
    if text is None:
        if not _is_number(value):
            raise FragmentError(f"a CompleteNumber does not carry {value!r}")
        return value
    # json.loads takes spaces and NaN, too; a number begins and ends with itself.
    if not isinstance(text, str) or text[:1] not in _NUMBER_STARTS or not text[-1:].isdigit():
        raise FragmentError(f"not the text of a number: {text!r}")
    try:
        number = json.loads(text)
    except ValueError as error:
        raise FragmentError(f"not the text of a number: {text!r}") from error
    if value is not None and not (_is_number(value) and _as_double(value) == _as_double(number)):
        raise FragmentError(f"the number {text!r} is not {value!r}")
    return number


def _from_juf(kind: Kind, text: Any) -> Fragment:
    """The public generator's dialect: payloads are source text, quoted and escaped.

    It lets raw control characters in strings pass, so they are read.
    """
    if kind in ("Key", "CompleteString", "CompleteNumber", "CompleteBoolean"):
        try:
            value = json.loads(text, strict=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise FragmentError(f"the source text of a {kind} is not {text!r}") from error
        return _checked(kind, (), text if kind == "CompleteNumber" else None, value)
    return _checked(kind, (), text if kind == "PartialString" else None, None)
