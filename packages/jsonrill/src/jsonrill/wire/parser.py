"""Text → fragments: the machine with a list of fragments as its sink; and fragments → events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, Unpack, assert_never

from ..errors import CutShort, InvalidJSON, LimitExceeded, refuse_copy
from ..options import ParseOptions
from ..parse.create import create_machine
from ..parse.sink import PlacedSink, Repair, Sink, TextBuffer
from ..paths import Path, Place
from .fragment import Fragment, Kind


class FragmentSink(PlacedSink):
    """Events → fragments, each linked to its place."""

    __slots__ = ("_ended", "_offset", "_string", "_text", "document", "fragments")

    def __init__(self) -> None:
        super().__init__()
        self.fragments: list[Fragment] = []
        self.document = 0
        self._string: Place | None = None
        self._offset = 0
        # The text of the open string, and that of the last one that has ended.
        self._text = TextBuffer()
        self._ended = ""

    def start_object(self, offset: int) -> None:
        place = self._next()
        self.fragments.append(Fragment("StartObject", place, None, None, offset, self.document))
        self._enter(place, "")

    def start_array(self, offset: int) -> None:
        place = self._next()
        self.fragments.append(Fragment("StartArray", place, None, None, offset, self.document))
        self._enter(place, 0)

    def next_document(self) -> None:
        self._reset()
        self._text.take()
        self.document += 1

    def end_container(self, offset: int) -> None:
        place = self._container
        kind: Kind = "EndArray" if type(self._step) is int else "EndObject"
        self.fragments.append(Fragment(kind, place, None, None, offset, self.document))
        self._leave()

    def key(self, key: str, offset: int) -> None:
        self._step = key
        self.fragments.append(Fragment("Key", self._container, None, key, offset, self.document))

    def start_string(self, offset: int) -> None:
        self._string = self._next()
        self._offset = offset
        self._ended = ""
        self.fragments.append(
            Fragment("StartString", self._string, None, None, offset, self.document)
        )

    def text(self, run: str) -> None:
        self._text.add(run)
        self.fragments.append(
            Fragment("PartialString", self._string, run, None, self._offset, self.document)
        )

    def end_string(self) -> None:
        value = self._ended = self._text.take()
        self.fragments.append(
            Fragment("CompleteString", self._string, None, value, self._offset, self.document)
        )

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        kind: Kind = (
            "CompleteNumber"
            if text is not None
            else "CompleteNull"
            if value is None
            else "CompleteBoolean"
        )
        self.fragments.append(Fragment(kind, self._next(), text, value, offset, self.document))

    def complete(self, offset: int) -> None:
        self.fragments.append(Fragment("JsonComplete", None, None, None, offset, self.document))

    def take(self) -> list[Fragment]:
        """The fragments since the last call."""
        fragments = self.fragments
        self.fragments = []
        return fragments


def emit(fragments: Iterable[Fragment], sink: Sink) -> None:
    """Emit the events that fragments stand for to a sink. Their order is not checked."""
    for fragment in fragments:
        kind = fragment.kind
        if kind == "PartialString":
            sink.text(fragment.text or "")
        elif kind == "StartString":
            sink.start_string(fragment.offset)
        elif kind == "CompleteString":
            sink.end_string()
        elif kind == "Key":
            sink.key(fragment.value, fragment.offset)
        elif kind == "StartObject":
            sink.start_object(fragment.offset)
        elif kind == "StartArray":
            sink.start_array(fragment.offset)
        elif kind == "EndObject" or kind == "EndArray":
            sink.end_container(fragment.offset)
        elif kind == "JsonComplete":
            sink.complete(fragment.offset)
        elif kind == "CompleteNumber" or kind == "CompleteBoolean" or kind == "CompleteNull":
            sink.scalar(fragment.value, fragment.text, fragment.offset)
        else:
            assert_never(kind)


class Parser:
    """Text → fragments, strict RFC 8259, any cutting, O(1) amortised a character.

    `feed` raises `InvalidJSON` at the first character that no continuation can make valid,
    `flush` raises `Truncated` when the text stopped early. Either carries the fragments that were
    found before it.
    """

    __slots__ = ("_machine", "_sink")

    def __init__(self, **options: Unpack[ParseOptions]) -> None:
        self._sink = FragmentSink()
        self._machine = create_machine(self._sink, options)

    def __copy__(self) -> NoReturn:
        refuse_copy(self)

    def feed(self, data: str | bytes) -> list[Fragment]:
        """The fragments that this piece of text makes certain."""
        try:
            self._machine.feed(data)
        except (InvalidJSON, LimitExceeded) as error:
            error.fragments = self._sink.take()
            raise
        return self._sink.take()

    def flush(self, cut: CutShort | None = None) -> list[Fragment]:
        """The text has ended: the last fragments, or `Truncated`.

        With `cut` the answer goes on behind the text, as the provider says: nothing is repaired.
        """
        try:
            self._machine.flush(cut)
        except (InvalidJSON, LimitExceeded) as error:
            error.fragments = self._sink.take()
            raise
        return self._sink.take()

    @property
    def pending(self) -> tuple[Path, str] | None:
        """Path and text of the number or literal that is being read, else None."""
        return self._machine.pending

    @property
    def pending_offset(self) -> int:
        """The character at which the pending number or literal began."""
        return self._machine.pending_offset

    @property
    def pending_key(self) -> tuple[str, int] | None:
        """Text so far and offset of the key that is being read, else None."""
        return self._machine.pending_key

    @property
    def document(self) -> int:
        """With `many`: the number of the document being read, from 0."""
        return self._machine.document

    @property
    def errors(self) -> list[InvalidJSON | LimitExceeded]:
        """With `many`: the errors that ended documents early, in order."""
        return self._machine.errors

    @property
    def repairs(self) -> list[Repair]:
        """With `repair`: the repairs, in order."""
        return self._machine.repairs
