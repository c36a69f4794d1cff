"""Which of several values that came together is opened at once: the options decide.

Key order proves nothing about which value a source is writing, so by default the choice waits for
the next snapshot; `eager` guesses, which is safe because an open value is closed only for a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .compare import ABSENT, is_blank, is_empty, waits
from .snapshot import Tree


@dataclass(slots=True, frozen=True)
class Rules:
    eager: bool = False
    placeholder: bool = False
    patience: int = 1

    def is_there(self, tree: Tree) -> bool:
        return tree is not ABSENT and not (self.placeholder and is_blank(tree))

    def pick(self, fresh: Sequence[str], value: dict[str, Tree], blanks: bool) -> str | None:
        """The new member of `value` to open, or None to hold them all. No booleans or nulls.

        An empty one is not begun for certain while there are `blanks` beside it: typed sources
        show an empty array where they show null for all else.
        """
        if len(fresh) == 1:
            only = value[fresh[0]]
            return None if waits(only) or (blanks and is_empty(only)) else fresh[0]
        numbers = [key for key in fresh if type(value[key]) is bytes]
        if not self.eager:
            return numbers[0] if len(numbers) == 1 and not waits(value[numbers[0]]) else None
        others = (key for key in fresh if type(value[key]) is not bytes)
        full = [key for key in others if not is_empty(value[key])]
        return next((key for key in full + numbers if not waits(value[key])), None)
