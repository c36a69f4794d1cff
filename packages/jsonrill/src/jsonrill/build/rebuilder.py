"""Fragments → the value that they describe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..wire.foreign import Dialect
from ..wire.parser import emit
from ..wire.reader import WireReader
from .builder import LIVE, GrowingValue, ValueBuilder


class Rebuilder(GrowingValue):
    """Fragments, as objects or from the wire, in any grouping → the value they tell of."""

    __slots__ = {"_reader": "", "live": LIVE}

    def __init__(self, *, dialect: Dialect = "jsonrill") -> None:
        self._builder = ValueBuilder()
        self.live: Any = None
        self._reader = WireReader(dialect)

    def feed(self, fragments: Iterable[Any]) -> None:
        """Apply fragments. One that does not fit raises FragmentError; those before it stay."""
        if isinstance(fragments, (str, bytes, Mapping)):
            raise TypeError(f"feed() takes a list of fragments, not {type(fragments).__name__}")
        self.live = None  # a string at the root is extended in place
        try:
            for item in fragments:
                fragment = self._reader.read(item)
                if fragment is None:
                    continue
                if fragment.kind == "CompleteString":
                    # In a foreign dialect the partial texts may be provisional.
                    self._builder.replace_string(fragment.value)
                else:
                    emit((fragment,), self._builder)
        finally:
            self.live = self._builder.root
