"""The compact wire form: each fragment as a bare string or a short JSON array."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, assert_never

from ..errors import FragmentError, refuse_copy
from ..paths import format_path
from .cursor import Cursor, adopted, same_place
from .fragment import CODES, Fragment, is_double


class CompactEncoder:
    """Fragments → compact items, to be sent as JSON arrays, one document from its start."""

    __slots__ = ("_cursor",)

    def __init__(self) -> None:
        self._cursor = Cursor()

    def __copy__(self) -> NoReturn:
        refuse_copy(self)

    def feed(self, fragments: Iterable[Fragment]) -> list[Any]:
        """One item for each fragment: a bare string (new text), or `[code, path?, payload?]`."""
        items: list[Any] = []
        for fragment in fragments:
            items.append(self._item(fragment))
        return items

    def _item(self, fragment: Fragment) -> Any:
        kind, value = fragment.kind, fragment.value
        if (
            kind == "PartialString"
            and self._cursor.wants == "string"
            and fragment._at is self._cursor._string
        ):
            return fragment.text  # most fragments are this one, from our own parser
        expected = self._cursor.expect(kind)
        if not same_place(fragment._at, expected):
            message = f"{kind} of {format_path(fragment.path)} is not in document order"
            raise FragmentError(message, path=fragment.path)
        self._cursor.move(kind, adopted(fragment._at, expected), value)
        if kind == "PartialString":
            return fragment.text
        if kind == "CompleteString":
            return [CODES[kind], None, utf16_length(value)]
        if kind == "CompleteNumber":
            text = repr(value) if fragment.text is None else fragment.text
            exact = is_double(value) and repr(value) == text
            return [CODES[kind], None, value if exact else text]
        if kind == "Key" or kind == "CompleteBoolean":
            return [CODES[kind], None, value]
        if (
            kind == "StartObject"
            or kind == "EndObject"
            or kind == "StartArray"
            or kind == "EndArray"
            or kind == "StartString"
            or kind == "CompleteNull"
            or kind == "JsonComplete"
        ):
            return [CODES[kind]]
        assert_never(kind)


def utf16_length(text: str) -> int:
    """The length of a string in JavaScript."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
