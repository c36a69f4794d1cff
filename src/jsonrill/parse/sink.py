"""What the machine tells: events to a `Sink`, and the repairs that leniency made."""

from __future__ import annotations

from typing import Any, NamedTuple


class Repair(NamedTuple):
    """What lenient parsing put right: which rule, and the character at which it was noticed."""

    rule: str
    offset: int
    line: int
    column: int
    document: int = 0


class Sink:
    """What the machine tells. Each call is an event that has happened; offsets are of tokens."""

    __slots__ = ()

    def start_object(self, offset: int) -> None: ...
    def start_array(self, offset: int) -> None: ...
    def end_container(self, offset: int) -> None: ...
    def key(self, key: str, offset: int) -> None: ...
    def start_string(self, offset: int) -> None: ...
    def text(self, run: str) -> None: ...
    def end_string(self) -> None: ...
    def scalar(self, value: Any, text: str | None, offset: int) -> None: ...
    def complete(self, offset: int) -> None: ...
    def next_document(self) -> None: ...

    def takes_values(self) -> bool:
        """May a whole container be handed over by `scalar`, instead of event by event?"""
        return False
