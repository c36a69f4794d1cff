"""The rules of `repair`, by name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Final

RULES: Final = {
    "around": "text, fences and <think> around one object or list",
    "commas": "one too many before a closing bracket, one missing between two values",
    "comments": "//, /* */ and #",
    "quotes": "single and curly ones",
    "inner-quotes": "quotes in a string that are not escaped",
    "keys": "without quotes",
    "words": "True, False, None in any case; NaN, Infinity and undefined become null",
    "newlines": "control characters in strings",
    "escapes": "a backslash that begins no escape is text",
    "spaces": "no-break, zero-width and ideographic spaces, byte order marks",
    "ellipses": "... as the last element",
    "cut-off": "what is open at the end is closed",
}


def rule_names(rules: Any) -> frozenset[str]:
    """Return the names of the rules that `repair=` selects; `ValueError` for an unknown name."""
    if isinstance(rules, bool):
        return frozenset(RULES if rules else ())
    if not isinstance(rules, Iterable) or isinstance(rules, bytes):
        raise ValueError(f"repair is true, false, or names of repairs, not {rules!r}")
    names = frozenset([rules] if isinstance(rules, str) else rules)
    for name in sorted(map(str, names - RULES.keys())):
        close = get_close_matches(name, RULES, 1, 0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(RULES)}"
        raise ValueError(f"no repair rule is named {name!r}: {hint}")
    return names
