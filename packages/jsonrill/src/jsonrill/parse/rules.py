"""The rules of `repair`, by name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Final

# docs/repair.md says what each of them reads.
RULES: Final = (
    *("around", "commas", "comments", "quotes", "inner-quotes", "keys", "words", "newlines"),
    *("escapes", "spaces", "ellipses", "cut-off"),
)


def rule_names(rules: Any) -> frozenset[str]:
    """Return the names of the rules that `repair=` selects; `ValueError` for an unknown name."""
    if isinstance(rules, bool):
        return frozenset(RULES if rules else ())
    if not isinstance(rules, Iterable) or isinstance(rules, bytes):
        raise ValueError(f"repair is true, false, or names of repairs, not {rules!r}")
    names = frozenset([rules] if isinstance(rules, str) else rules)
    for name in sorted(map(str, names.difference(RULES))):
        close = get_close_matches(name, RULES, 1, 0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(RULES)}"
        raise ValueError(f"no repair rule is named {name!r}: {hint}")
    return names
