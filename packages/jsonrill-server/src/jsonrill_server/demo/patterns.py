"""A text that a regular expression finds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

# re's own parser has no public name.
_re: Any = re
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ -_.,:/@#+%()"
_CATEGORIES: Final = {"DIGIT": str.isdigit, "SPACE": str.isspace}


def matching(pattern: str, number: int = 0, more: int = 0) -> str | None:
    """A text that `pattern` finds, a different one for each `number` where that is easy.

    What may be repeated is repeated `more` times than it must be. None if there is none that is
    simple: look-arounds are not looked at, and flavours other than Python's may not be read.
    """
    try:
        tree = _re._parser.parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return None
    written = _Written(number, more)
    written.all(tree)
    text = "".join(written.characters)
    return text if re.search(pattern, text) else None


class _Written:
    """The text so far: characters follow each other in the alphabet, to look like something."""

    def __init__(self, number: int, more: int) -> None:
        self.characters: list[str] = []
        self._number = number
        self._more = more
        self._groups: dict[int, str] = {}

    def all(self, nodes: Iterable[tuple[Any, Any]]) -> None:
        for kind, given in nodes:
            self._one(str(kind), given)

    def _one(self, kind: str, given: Any) -> None:
        match kind:
            case "LITERAL":
                self.characters.append(chr(given))
            case "IN" | "NOT_LITERAL" | "ANY":
                self.characters.append(self._character(kind, given))
            case "BRANCH":
                options = given[1]
                self.all(options[self._number % len(options)])
            case "SUBPATTERN":
                before = len(self.characters)
                self.all(given[-1])
                if given[0] is not None:
                    self._groups[given[0]] = "".join(self.characters[before:])
            case "ATOMIC_GROUP":
                self.all(given)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, repeated = given
                for _ in range(min(int(least) + self._more, int(most), 4096)):
                    self.all(repeated)
            case "GROUPREF":
                self.characters.append(self._groups.get(given, ""))

    def _character(self, kind: str, given: Any) -> str:
        items = {"IN": given, "NOT_LITERAL": [("NEGATE", None), ("LITERAL", given)], "ANY": []}
        nodes = [(str(name), it) for name, it in items[kind]]
        negated = bool(nodes) and nodes[0][0] == "NEGATE"
        wanted = [
            char
            for char in _ALPHABET
            if kind == "ANY" or any(_is_in(char, *node) for node in nodes) != negated
        ]
        if not wanted:
            return next((chr(it[0] if name == "RANGE" else it) for name, it in nodes), "?")
        return wanted[(len(self.characters) + self._number) % len(wanted)]


def _is_in(char: str, name: str, given: Any) -> bool:
    match name:
        case "LITERAL":
            return bool(ord(char) == given)
        case "RANGE":
            return bool(given[0] <= ord(char) <= given[1])
        case "CATEGORY":
            word = str(given).removeprefix("CATEGORY_")
            kind = word.removeprefix("NOT_")
            is_word = char.isalnum() or char == "_"
            found = _CATEGORIES[kind](char) if kind in _CATEGORIES else is_word
            return bool(found) == (kind == word)
    return False
