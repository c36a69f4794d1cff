"""Fragments of one document, in any wire form → checked fragments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from ..errors import FragmentError
from ..parse.sink import TextBuffer
from ..paths import format_path
from .compact import utf16_length
from .cursor import Cursor, adopted, same_place
from .foreign import Dialect, check_dialect
from .fragment import KINDS, Fragment, checked, path_at
from .full import from_wire, read_path

# The path of a compact item that carries none: it is where the next fragment must be.
IMPLIED: Final[Any] = object()


class WireReader:
    """Fragments of one document, in order, in any form → checked fragments with their places.

    Takes `Fragment`s, full wire objects and compact items, in any mixture. A fragment that does
    not fit raises FragmentError and is as if it had never come.
    """

    __slots__ = ("_cursor", "_juf", "_parts")

    def __init__(self, dialect: Dialect = "jsonrill") -> None:
        check_dialect(dialect)
        self._juf = dialect == "juf"
        self._cursor = Cursor()
        self._parts = TextBuffer()

    @property
    def complete(self) -> bool:
        return self._cursor.wants == "nothing"

    def read(self, item: Any) -> Fragment | None:
        """The fragment that `item` stands for; None if this dialect ignores it."""
        try:
            sent = self._sent(item)
            kind, at, value = sent.kind, sent._at, sent.value
            if kind == "JsonComplete" and self._juf and self._cursor.wants != "end":
                return None
            expected = self._cursor.expect(kind)
            if at is not IMPLIED and not self._juf and not same_place(at, expected):
                here, there = format_path(path_at(at)), format_path(path_at(expected))
                raise FragmentError(f"{kind} of {here} does not fit: {there} is next")
            if kind == "CompleteString":
                value = self._whole(value)
                self._parts.take()
            elif kind == "PartialString":
                self._parts.add(cast(str, sent.text))
            place = expected if at is IMPLIED else adopted(at, expected)
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
            fragment = checked(item.kind, item._at, item.text, item.value)
            fragment.offset = item.offset
            return fragment
        if isinstance(item, str):
            return Fragment("PartialString", IMPLIED, item)
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
        at = IMPLIED if path is None else read_path(path)
        if kind == "CompleteString":
            if type(payload) is not int or payload != utf16_length(self._parts.text()):
                raise FragmentError(f"a string of {payload!r} UTF-16 units was announced, not sent")
            return Fragment(kind, at)
        text = payload if kind == "PartialString" else None
        if kind == "CompleteNumber":
            text = payload if isinstance(payload, str) else repr(payload)
            payload = None if isinstance(payload, str) else payload
        return checked(kind, at, text, payload)

    def _whole(self, value: Any) -> str:
        parts = self._parts.text()
        if value is None:
            return parts
        if value != parts and not self._juf:
            raise FragmentError(f"CompleteString {value!r} differs from its parts {parts!r}")
        return cast(str, value)
