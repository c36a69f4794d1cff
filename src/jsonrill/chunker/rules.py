"""Which of several values that came together is opened at once: the options decide.

Key order proves nothing about which value a source is writing, so by default the choice waits for
the next snapshot; `eager` guesses, which is safe because an open value is closed only for a reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from .compare import ABSENT, is_empty, waits
from .snapshot import Tree


@dataclass(slots=True, frozen=True)
class Rules:
    eager: bool = False
    placeholder: bool = False
    patience: int = 1

    def is_there(self, tree: Tree) -> bool:
        return tree is not ABSENT and not (tree is None and self.placeholder)

    def pick(self, fresh: list[tuple[str, Tree]]) -> str | None:
        """The new member to open, or None to hold them all. No booleans or nulls among them."""
        if len(fresh) == 1:
            return _first(fresh)
        numbers = [member for member in fresh if type(member[1]) is tuple]
        if not self.eager:
            return _first(numbers) if len(numbers) == 1 else None
        growing = [member for member in fresh if type(member[1]) is not tuple]
        return _first([member for member in growing if not is_empty(member[1])] + numbers)


def _first(members: list[tuple[str, Tree]]) -> str | None:
    return next((key for key, value in members if not waits(value)), None)
