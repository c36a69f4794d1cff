"""What the options of a stream of updates mean: checked once, before the first text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from ..options import (
    PARSE,
    TABLE,
    Mode,
    Modes,
    ParseOptions,
    UpdateOptions,
    check,
    refuse_unknown,
    refuse_unused,
    taken_by,
)
from ..parse.rules import rule_names
from ..paths import ABSENT
from .codes import UNREAD
from .entities import Entities, pattern_of
from .schemas import schemas

_DEFAULTS: Final[dict[str, Any]] = {it.name: it.default for it in taken_by("updates")}


class StreamSettings:
    """The options of a `PartialStream` in the form in which it uses them."""

    __slots__ = ("data", "delta", "entities", "literals", "sees_pending", "mode",
                 "mode_of", "numbers", "only_complete", "parse_float", "parsing", "rules",
                 "schema_of", "zeros")  # fmt: skip

    def __init__(self, mode: Modes, schema: Any, options: UpdateOptions) -> None:
        refuse_unknown(options, _DEFAULTS, "unknown option")
        check(**{name: value for name, value in options.items() if name not in PARSE})
        value: dict[str, Any] = {**_DEFAULTS, **options}
        self.entities = Entities(value["entity"])
        self.mode_of = _modes(mode, self.entities)
        self.mode: Modes = (
            mode if isinstance(mode, Mapping) else self.mode_of[self.entities.names[0]]
        )
        self.schema_of = schemas(schema, self.entities, value["missing"] == "zero")
        modes = set(self.mode_of.values())
        refuse_unused(modes, **options)
        # What an update has before its data or its delta is read: it is not sent, or not built yet.
        self.data = UNREAD if value["send"] != "delta" else ABSENT
        self.delta = UNREAD if value["send"] != "data" else ABSENT
        only = value["only_complete"]
        self.only_complete = tuple(map(pattern_of, [only] if isinstance(only, str) else only))
        self.rules = rule_names(value["repair"])
        # The names, since the option may be an iterator, which is read once.
        reading = {**options, "repair": self.rules}
        self.parsing = cast(ParseOptions, {name: reading[name] for name in PARSE & reading.keys()})
        self.parse_float = value["parse_float"]
        # A number that is cut off is dropped by that repair, so it is shown when it is complete.
        self.numbers: bool = value["partial_numbers"] and "cut-off" not in self.rules
        self.literals: bool = value["early_literals"]
        self.zeros: bool = value["zero_values"]
        if self.schema_of is None and self.zeros:
            raise ValueError("zero_values needs a schema")
        # Whether a value is of interest before the machine has an event for it.
        self.sees_pending = "REALTIME" in modes or self.schema_of is not None


def _modes(mode: Modes, entities: Entities) -> dict[str | None, Mode]:
    """The mode of each declared entity; of those that a mapping does not name, the default."""
    option = TABLE["mode"]
    mode = option.check(mode)
    if not isinstance(mode, Mapping):
        return dict.fromkeys(entities.names, mode)
    unknown = mode.keys() - set(entities.names)
    if unknown:
        raise ValueError(
            f"mode names {', '.join(sorted(unknown))}, which `entity` does not declare"
        )
    return {name: mode.get(name or "", option.default) for name in entities.names}
