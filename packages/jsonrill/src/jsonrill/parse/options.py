"""The options of everything that reads JSON text, and the machine for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypedDict

from ..errors import DEFAULT_LIMITS, Limits, check_names, suggestion
from .machine import Machine, Repair, Sink, Tokens


class ParseOptions(TypedDict, total=False):
    """The options of everything that reads JSON text.

    `repair` is true or the names of repairs; `on_repair` is called with each repair. `prefix` is
    text before the answer. `parse_float` converts numbers with a fraction or exponent.
    """

    repair: bool | Iterable[str]
    on_repair: Callable[[Repair], object] | None
    prefix: str
    limits: Limits | None
    parse_float: Callable[[str], Any]


PARSE_OPTIONS: Final = frozenset(ParseOptions.__annotations__)
# The rules of `repair`; docs/repair.md says what each of them reads.
RULES: Final = (
    *("around", "commas", "comments", "quotes", "inner-quotes", "keys", "words", "newlines"),
    *("escapes", "spaces", "ellipses", "cut-off"),
)


def create_machine(sink: Sink, options: Mapping[str, Any]) -> Tokens:
    """Return a machine that emits to the sink; raise `TypeError` for an unknown option."""
    if not options:
        return Machine(sink)
    check_names(options, PARSE_OPTIONS)
    limits, prefix = options.get("limits") or DEFAULT_LIMITS, options.get("prefix", "")
    parse_float, on_repair = options.get("parse_float", float), options.get("on_repair")
    if not isinstance(limits, Limits):
        raise ValueError(f"limits must be a Limits object such as Limits(depth=64), not {limits!r}")
    if not isinstance(prefix, str):
        raise ValueError(f"prefix must be a string, not {prefix!r}")
    if not callable(parse_float):
        raise ValueError(f"parse_float must be a function, not {parse_float!r}")
    if on_repair is not None and not callable(on_repair):
        raise ValueError(f"on_repair must be a function, not {on_repair!r}")
    rules = rule_names(options.get("repair", False))
    if not rules:
        return Machine(sink, limits, parse_float, prefix)
    # Imported when it is needed: compiling its patterns takes longer than the rest of the package.
    from .repair import RepairMachine

    return RepairMachine(sink, rules, on_repair, limits, parse_float, prefix)


def rule_names(rules: Any) -> frozenset[str]:
    """Return the names of the rules that `repair=` selects; `ValueError` for an unknown name."""
    if isinstance(rules, bool):
        return frozenset(RULES if rules else ())
    if not isinstance(rules, Iterable) or isinstance(rules, bytes):
        raise ValueError(f"repair must be true, false, or names of repairs, not {rules!r}")
    names = frozenset([rules] if isinstance(rules, str) else rules)
    for name in sorted(map(str, names.difference(RULES))):
        raise ValueError(f"no repair rule is named {name!r}: {suggestion(name, RULES)}")
    return names
