"""Fragments: addressed changes of a document, from text, over the wire, and back to a value.

`Parser` turns text into fragments and `Rebuilder` turns them back into the value. A fragment
travels as `{"path": "root.a", "kind": "PartialString", "textValue": "x"}`.
`JsonFragmentToStructuredUpdateGenerator` (docs/origins.md), the foreign generator here, writes
another dialect, which `Rebuilder` recognises: kinds in camelCase, payloads as source text with
quotes and escapes, partial texts that are provisional, wrong paths below nested containers, and a
JsonComplete that may come early.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from math import inf, isfinite
from typing import Any, Final, Literal, Unpack, get_args

from .document import GrowingValue, ValueBuilder
from .errors import CutShort, FragmentError, InvalidJSON, LimitExceeded
from .parse.grammar import NUMBER
from .parse.machine import Frame, Repair, path_of
from .parse.options import ParseOptions, create_machine
from .paths import Path, format_path, parse_path

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
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
# The kinds that a value begins with.
STARTS: Final = frozenset(
    ("StartObject", "StartArray", "StartString")
    + ("CompleteNumber", "CompleteBoolean", "CompleteNull")
)
# The kinds whose `textValue` jsonrill sends; the foreign generator sends it with every kind.
_WITH_TEXT: Final = ("PartialString", "CompleteNumber")
_WITH_VALUE: Final = ("Key", "CompleteString", "CompleteNumber", "CompleteBoolean")


class Fragment:
    """One change: its kind, where it happened, and what it carries. Treat it as read-only.

    `text` is the decoded new text of a PartialString or the source text of a number; `value` the
    decoded key or complete value; `offset` the character at which its token began.
    """

    __slots__ = ("kind", "offset", "path", "text", "value")

    def __init__(
        self,
        kind: Kind,
        path: Path = (),
        text: str | None = None,
        value: Any = None,
        offset: int = 0,
    ) -> None:
        self.kind: Kind = kind
        self.path = path
        self.text = text
        self.value = value
        self.offset = offset

    def to_dict(self) -> dict[str, Any]:
        """Return the wire form, for JSON; a number that no double holds travels as text."""
        wire: dict[str, Any] = {"path": format_path(self.path), "kind": self.kind}
        if self.text is not None:
            wire["textValue"] = self.text
        if self.kind == "CompleteNumber" and not _is_double(self.value):
            wire.setdefault("textValue", repr(self.value))
        elif self.value is not None:
            wire["value"] = self.value
        return wire

    @classmethod
    def from_dict(cls, wire: Mapping[str, Any]) -> Fragment:
        """Read the wire form; FragmentError for anything else."""
        return _from_wire(wire, is_foreign(wire))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fragment):
            return NotImplemented
        mine = (self.kind, self.path, self.text, self.value)
        return mine == (other.kind, other.path, other.text, other.value)

    __hash__ = None  # type: ignore[assignment]  # values may be of any type

    def __repr__(self) -> str:
        parts = [self.kind, format_path(self.path)]
        parts += [repr(part) for part in (self.text, self.value) if part is not None]
        return f"<{' '.join(parts)}>"


# ---- reading the wire form ----


def is_foreign(item: Any) -> bool:
    """Return whether only the foreign generator writes such a wire object."""
    kind = item.get("kind") if isinstance(item, Mapping) else None
    if not isinstance(kind, str):
        return False
    if kind in _WITH_TEXT:
        # The generator also writes the value of a number as text.
        return isinstance(item.get("value"), str) and item["value"] == item.get("textValue")
    return kind[:1].islower() or "textValue" in item


def _from_wire(wire: Any, foreign: bool) -> Fragment:
    if not isinstance(wire, Mapping):
        raise FragmentError(f"a fragment must be a JSON object, not {type(wire).__name__}")
    name, text, value = wire.get("kind"), wire.get("textValue"), wire.get("value")
    kind: Any = name[:1].upper() + name[1:] if isinstance(name, str) else None
    if kind not in KINDS:
        raise FragmentError(f"not a kind of fragment: {name!r}")
    if foreign:
        return _read_foreign(kind, value if text is None else text)
    path = wire.get("path")
    if not isinstance(path, str):
        raise FragmentError(f"a fragment's path must be a string like 'root.a[0]', not {path!r}")
    try:
        return _checked(kind, parse_path(path), text, value)
    except ValueError as error:
        raise FragmentError(str(error)) from error


def _read_foreign(kind: Kind, payload: Any) -> Fragment:
    """Read the foreign generator's payload: source text, in which control characters may be raw."""
    if kind == "PartialString":
        return _checked(kind, (), payload, None)
    if kind not in _WITH_VALUE or not isinstance(payload, str):
        return _checked(kind, (), None, payload)
    try:
        value = json.loads(payload, strict=False)
    except (ValueError, RecursionError) as error:
        raise FragmentError(f"the source text of a {kind} is not {payload!r}") from error
    return _checked(kind, (), payload if kind == "CompleteNumber" else None, value)


def _checked(kind: Kind, path: Path, text: Any, value: Any) -> Fragment:
    """Return a fragment whose payload has the type that its kind requires."""
    if kind == "CompleteNumber":
        return Fragment(kind, path, text, _read_number(text, value))
    is_text, is_key = isinstance(text, str), isinstance(value, str)
    fits = {
        "PartialString": is_text,
        "Key": is_key,
        "CompleteString": is_key or value is None,
        "CompleteBoolean": isinstance(value, bool),
    }
    if kind not in KINDS or not fits.get(kind, True):
        raise FragmentError(f"a {kind} does not carry text {text!r} and value {value!r}")
    if kind == "PartialString":
        return Fragment(kind, path, text)
    return Fragment(kind, path, None, value if kind in fits else None)


def _read_number(text: Any, value: Any) -> Any:
    """Return the number a fragment carries, read from its source text where that was sent."""
    if text is None and _is_number(value):
        return value
    try:
        if not isinstance(text, str) or not NUMBER.fullmatch(text):
            raise ValueError
        number = json.loads(text)  # a ValueError for more digits than Python reads
    except ValueError as error:
        raise FragmentError(f"not a number: text {text!r} and value {value!r}") from error
    if value is not None and not (_is_number(value) and _as_double(value) == _as_double(number)):
        raise FragmentError(f"the number {text!r} is not {value!r}")
    return number


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


def _is_double(value: Any) -> bool:
    """Return whether a reader that has only doubles gets the same number."""
    if type(value) is float:
        return isfinite(value)
    return type(value) is int and _as_double(value) == value


def _as_double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


# ---- text → fragments ----


class FragmentBuilder(ValueBuilder):
    """Build the value and record its fragments."""

    __slots__ = ("_offset", "fragments")

    def __init__(self) -> None:
        super().__init__()
        self.fragments: list[Fragment] = []
        # The path and offset of the open string.
        self._offset = 0

    def _note(self, kind: Kind, path: Path, text: str | None, value: Any, offset: int) -> None:
        self.fragments.append(Fragment(kind, path, text, value, offset))

    def _container(self) -> Path:
        return path_of(self.frames, 0, len(self.frames) - 1)

    def start_object(self, offset: int) -> None:
        ValueBuilder.start_object(self, offset)
        self._note("StartObject", self._container(), None, None, offset)

    def start_array(self, offset: int) -> None:
        ValueBuilder.start_array(self, offset)
        self._note("StartArray", self._container(), None, None, offset)

    def end_container(self, offset: int) -> None:
        kind: Kind = "EndObject" if self.frames[-1].is_object else "EndArray"
        self._note(kind, self._container(), None, None, offset)
        ValueBuilder.end_container(self, offset)

    def key(self, key: str, offset: int) -> None:
        self._note("Key", self._container(), None, key, offset)

    def start_string(self, offset: int) -> None:
        ValueBuilder.start_string(self, offset)
        self._offset = offset
        self._string_path = path_of(self.frames, 0, len(self.frames))
        self._note("StartString", self._string_path, None, None, offset)

    def text(self, run: str) -> None:
        ValueBuilder.text(self, run)
        self._note("PartialString", self._string_path, run, None, self._offset)

    def end_string(self) -> None:
        ValueBuilder.end_string(self)
        self._note("CompleteString", self._string_path, None, self._text, self._offset)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        ValueBuilder.scalar(self, value, text, offset)
        kind: Kind = "CompleteNull" if value is None else "CompleteBoolean"
        if text is not None:
            kind = "CompleteNumber"
        self._note(kind, path_of(self.frames, 0, len(self.frames)), text, value, offset)

    def complete(self, offset: int) -> None:
        ValueBuilder.complete(self, offset)
        self._note("JsonComplete", (), None, None, offset)

    def takes_values(self) -> bool:
        return False

    def take(self) -> list[Fragment]:
        """Return the fragments since the last call."""
        fragments = self.fragments
        self.fragments = []
        return fragments


class Parser:
    """Parse text into fragments: strict RFC 8259, cut anywhere, in constant time per character.

    `feed` raises `InvalidJSON` at the first character that no continuation can make valid,
    `flush` raises `Truncated` when the text stopped early. Either carries the fragments that were
    found before it.
    """

    __slots__ = ("_builder", "_machine")

    def __init__(self, **options: Unpack[ParseOptions]) -> None:
        self._builder = FragmentBuilder()
        self._machine = create_machine(self._builder, options)

    def feed(self, data: str | bytes) -> list[Fragment]:
        """Return the fragments that this piece of text makes certain."""
        return self._read(self._machine.feed, data)

    def flush(self, cut: CutShort | None = None) -> list[Fragment]:
        """End the text: return the last fragments, or raise `Truncated`.

        With `cut`, the provider says that the answer stopped early: nothing is completed.
        """
        return self._read(self._machine.flush, cut)

    def _read(self, read: Callable[[Any], None], data: Any) -> list[Fragment]:
        try:
            read(data)
        except (InvalidJSON, LimitExceeded) as error:
            error.fragments = self._builder.take()
            raise
        return self._builder.take()

    @property
    def pending(self) -> tuple[Path, str, int] | None:
        """Path, text and offset of the number or literal that is being read, else None."""
        text = self._machine.pending_text
        return None if text is None else (self._machine.path, text, self._machine.pending_offset)

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: the repairs, in order."""
        return self._machine.repairs


# ---- fragments → value ----

# The kinds allowed in each state, and the text for error messages; {} is the open container or
# string.
_EXPECTED: Final = {
    "value": (STARTS, "a value must begin"),
    # A repair closes a text that was cut off after a key.
    "member": (STARTS | {"EndObject"}, "a value must begin"),
    "key": ({"Key", "EndObject"}, "a Key or EndObject of {} must come"),
    "element": (STARTS | {"EndArray"}, "an element or EndArray of {} must come"),
    "string": ({"PartialString", "CompleteString"}, "the string {} is open"),
    "end": ({"JsonComplete"}, "JsonComplete must come"),
    "nothing": (frozenset[str](), "the document is complete"),
}


class Rebuilder(GrowingValue):
    """Rebuild a value from its fragments, as objects or wire dicts, in any grouping."""

    __slots__ = ("_frames", "_has_key", "_is_foreign")

    def __init__(self) -> None:
        self._builder = ValueBuilder()
        self._frames = self._builder.frames = []
        # Whether the value of the last key has not begun.
        self._has_key = False
        self._is_foreign = False

    def feed(self, fragments: Iterable[Any]) -> None:
        """Apply fragments. One that does not fit raises FragmentError; those before it stay."""
        if isinstance(fragments, (str, bytes, Mapping, Fragment)):
            raise TypeError(f"feed() takes a list of fragments, not {type(fragments).__name__}")
        for item in fragments:
            self._is_foreign = self._is_foreign or is_foreign(item)
            try:
                self._apply(self._read(item))
            except FragmentError as error:
                error.path = self._builder.open_path or ()
                raise

    def _read(self, item: Any) -> Fragment:
        if not isinstance(item, Fragment):
            return _from_wire(item, self._is_foreign)
        if item.kind == "CompleteNumber" and item.value is not None:
            return item  # its value is whatever `parse_float` made of its text
        return _checked(item.kind, item.path, item.text, item.value)

    def _apply(self, fragment: Fragment) -> None:
        kind, builder = fragment.kind, self._builder
        state = self._state()
        if kind == "JsonComplete" and self._is_foreign and state != "end":
            return
        path = self._path_for(kind, state)
        if fragment.path != path and not self._is_foreign:
            here, there = format_path(fragment.path), format_path(path)
            raise FragmentError(f"{kind} of {here} does not fit: {there} is next")
        self._has_key = kind == "Key"
        if kind == "PartialString":
            builder.text(fragment.text or "")
        elif kind == "StartString":
            builder.start_string(0)
        elif kind == "CompleteString":
            self._end_string(fragment.value)
        elif kind == "Key":
            self._frames[-1].key = fragment.value
        elif kind == "StartObject":
            self._frames.append(Frame(True))
            builder.start_object(0)
        elif kind == "StartArray":
            self._frames.append(Frame(False))
            builder.start_array(0)
        elif kind == "EndObject" or kind == "EndArray":
            builder.end_container(0)
            self._frames.pop()
        elif kind == "JsonComplete":
            builder.complete(0)
        else:
            builder.scalar(fragment.value, None, 0)

    def _state(self) -> str:
        builder = self._builder
        if builder.in_string:
            return "string"
        if self._frames:
            if not self._frames[-1].is_object:
                return "element"
            return "member" if self._has_key else "key"
        if builder.done:
            return "nothing"
        return "end" if builder.started else "value"

    def _path_for(self, kind: Kind, state: str) -> Path:
        """Return the path that a fragment of this kind must have now."""
        depth = len(self._frames)
        kinds, expected = _EXPECTED[state]
        if kind not in kinds:
            end = depth if state == "string" else max(depth - 1, 0)
            place = format_path(path_of(self._frames, 0, end))
            raise FragmentError(f"{kind} cannot come here: {expected.format(place)}")
        if kind in ("Key", "EndObject", "EndArray"):
            return path_of(self._frames, 0, depth - 1)
        if state == "element":
            self._frames[-1].count = len(self._frames[-1].elements)
        return path_of(self._frames, 0, depth)

    def _end_string(self, value: str | None) -> None:
        text = self._builder._text
        if value is not None and value != text:
            if not self._is_foreign:
                raise FragmentError(f"CompleteString {value!r} differs from its parts {text!r}")
            self._builder._replace(value)  # its partial texts were provisional
        self._builder.end_string()
