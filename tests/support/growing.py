"""The three ways to a growing value, behind one face: a Document, or a Rebuilder near or far."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from jsonrill import Document, Parser, Rebuilder
from jsonrill.jsontext import dumps
from jsonrill.wire import CompactEncoder, to_wire


class Near:
    """Parser and Rebuilder side by side."""

    def __init__(self) -> None:
        self.parser = Parser()
        self.rebuilder = Rebuilder()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rebuilder, name)

    def feed(self, text: str) -> None:
        self.rebuilder.feed(self.sent(self.parser.feed(text)))

    def flush(self) -> None:
        self.rebuilder.feed(self.sent(self.parser.flush()))

    def sent(self, fragments: list[Any]) -> list[Any]:
        return fragments


class FarFull(Near):
    """The fragments travel as JSON text, in the full form."""

    def sent(self, fragments: list[Any]) -> list[Any]:
        return [json.loads(dumps(to_wire(fragment)).encode()) for fragment in fragments]


class FarCompact(Near):
    """The fragments travel as JSON text, in the compact form."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = CompactEncoder()

    def sent(self, fragments: list[Any]) -> list[Any]:
        items: list[Any] = json.loads(dumps(self.encoder.feed(fragments)).encode())
        return items


WAYS: list[Callable[[], Any]] = [Document, Near, FarFull, FarCompact]
