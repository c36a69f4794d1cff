"""pydantic's scalar types → nodes: which kinds of JSON value lax and strict mode may take.

A table says what may begin; pydantic itself is asked about true, false and null, of which there is
one each. A complete scalar is validated by pydantic wherever a value of its kind could be refused.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Any, Final

from .nodes import (
    EVERY,
    FALSE,
    FRACTION,
    INTEGER,
    NULL,
    NUMBER,
    STRING,
    TRUE,
    Node,
    Refusal,
    Validator,
    kind_of,
    named,
)

Core = Any  # a core schema: dictionaries with a "type"
Config = dict[str, Any]

# The kinds that lax mode may take, and strict mode, and those a value is usually written as.
LEAVES: Final[dict[str, tuple[int, int, int]]] = {
    "none": (0, 0, NULL),
    "bool": (STRING | NUMBER, 0, TRUE | FALSE),
    "int": (STRING | NUMBER, INTEGER, NUMBER),
    "float": (STRING | NUMBER, NUMBER, NUMBER),
    "decimal": (STRING | NUMBER, STRING | NUMBER, STRING | NUMBER),
    "str": (STRING, STRING, STRING),
    "bytes": (STRING, STRING, STRING),
    "date": (STRING | NUMBER, STRING, STRING),
    "time": (STRING | NUMBER, STRING, STRING),
    "datetime": (STRING | NUMBER, STRING, STRING),
    "timedelta": (STRING | NUMBER, STRING, STRING),
    "uuid": (STRING, STRING, STRING),
    "url": (STRING, STRING, STRING),
    "multi-host-url": (STRING, STRING, STRING),
    "json": (STRING, STRING, STRING),
}
# What a leaf may carry and still take every value of its own kind.
_PLAIN: Final = frozenset(("type", "ref", "metadata", "serialization", "strict"))
_STRING_SETTINGS: Final = (
    *("str_max_length", "str_min_length", "str_strip_whitespace", "str_to_lower", "str_to_upper"),
)
_LISTABLE: Final = frozenset((str, int, float, bool, type(None)))


def leaf(node: Node, core: Core, config: Config) -> None:
    """A type of the table."""
    lax, strict, node.natural = LEAVES[core["type"]]
    is_strict = _is_strict(core, config)
    node.kinds = strict if is_strict else lax
    if core["type"] == "str":
        _string(node, core, config, is_strict)
    _probe(node)
    node.sure |= every_one(core, config)


def literal(node: Node, core: Core, config: Config) -> None:
    _listed(node, list(core["expected"]), "literal_error")


def enum(node: Node, core: Core, config: Config) -> None:
    if core.get("missing") is not None or _makes_members(core["cls"]):
        opaque(node)
        return
    _listed(node, [member.value for member in core["members"]], "enum")
    if core.get("sub_type") in ("int", "float") and not _is_strict(core, config):
        # "1" is a 1 to lax mode.
        node.kinds |= STRING
        node.texts = None
        node.sure &= ~STRING
    elif core.get("sub_type") == "str" and config.get("coerce_numbers_to_str"):
        node.kinds |= NUMBER


def opaque(node: Node, shape: Node | None = None) -> None:
    """Leave everything to the validator, when the value is complete."""
    node.end_validator = node.full_validator
    node.sure = 0 if node.end_validator is not None else EVERY
    node.is_described = False
    node.shape = shape


def every_one(core: Core, config: Config) -> int:
    """The kinds of which this leaf takes every value."""
    if not _PLAIN.issuperset(core):
        return 0
    if core["type"] == "str":
        return 0 if any(config.get(setting) for setting in _STRING_SETTINGS) else STRING
    if core["type"] == "int":
        return INTEGER
    return FRACTION if core["type"] == "float" and config.get("allow_inf_nan", True) else 0


def takes_as_is(core: Core, config: Config) -> bool:
    """True if this string type changes no string that it takes."""
    own = ("strip_whitespace", "to_lower", "to_upper")
    return not any(core.get(name, config.get(f"str_{name}")) for name in own)


def mismatch(validator: Validator | None, kind: int) -> Refusal:
    """The refusal of a value of this kind, in pydantic's own words."""
    refusal = validator.sample(kind) if validator is not None else None
    return refusal if refusal is not None else Refusal("type", f"{named(kind)} is not allowed")


def _string(node: Node, core: Core, config: Config, strict: bool) -> None:
    if not strict and core.get("coerce_numbers_to_str", config.get("coerce_numbers_to_str")):
        node.kinds |= NUMBER
    if not core.get("strip_whitespace", config.get("str_strip_whitespace")):
        node.max_length = core.get("max_length", config.get("str_max_length"))
        node.length_rule = "string_too_long"


def _listed(node: Node, values: list[Any], rule: str) -> None:
    """Strings must be equal to a value listed; numbers and booleans may be so after all."""
    if not all(type(value) in _LISTABLE for value in values):
        opaque(node)
        return
    node.kinds = node.natural = 0
    for value in values:
        kind = kind_of(value)
        node.natural |= kind
        node.kinds |= kind if kind in (STRING, NULL) else NUMBER
    _probe(node)
    node.texts = tuple(sorted(value for value in values if isinstance(value, str)))
    node.text_rule = rule
    node.sure |= STRING


def _probe(node: Node) -> None:
    """Ask pydantic about the values of which there is one each; it will also say why not."""
    node.end_validator = node.full_validator
    node.sure = 0
    if node.full_validator is None:
        node.kinds, node.max_length = EVERY, None
        return
    for kind in (TRUE, FALSE, NULL):
        if node.full_validator.sample(kind) is None:
            node.kinds |= kind
        node.sure |= kind
    node.mismatch = partial(mismatch, node.full_validator)


def _is_strict(core: Core, config: Config) -> bool:
    own = core.get("strict")
    return bool(config.get("strict") if own is None else own)


def _makes_members(cls: Any) -> bool:
    """True if the class has its own way to find a member for any value."""
    return getattr(cls._missing_, "__func__", None) is not getattr(Enum._missing_, "__func__", None)
