"""The options of a call: those of the source, and those of the stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..options import SourceOptions, Stage, refuse_unknown, taken_by
from ..parse.rules import rule_names
from ..sources import Reading


def refuse_other(stage: Stage, unknown: Mapping[str, object], *own: str) -> None:
    if unknown:
        refuse_unknown(unknown, [*own, *(it.name for it in taken_by(stage))], "unknown option")


def take_options(
    stage: Stage | None,
    options: Mapping[str, Any],
    *own: str,
    first: bool = False,
    many: bool = False,
) -> tuple[Reading, dict[str, Any]]:
    """How to read the source, and the options of the stage; names in `own` are allowed, too."""
    if not options:
        return Reading(first=first, many=many), {}
    stages = ("source",) if stage is None else (stage, "source")
    refuse_unknown(options, [*own, *(it.name for it in taken_by(*stages))], "unknown option")
    rest = dict(options)
    wanted = {name: rest.pop(name) for name in SourceOptions.__annotations__ if name in rest}
    parsing = {name: rest[name] for name in ("repair", "prefix") if name in rest}
    reading = Reading(**wanted, **parsing, first=first, many=many)
    if many and rest.get("repair"):
        rest["repair"] = rule_names(rest["repair"])  # an iterator can be read once
    # The provider says whether a call is complete.
    return reading, rest if reading.tool is None else without_cut_off(rest)


def without_cut_off(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options for a text that is complete: `repair` closes nothing at its end."""
    repair = options.get("repair", False)
    return {**options, "repair": rule_names(repair) - {"cut-off"}} if repair else {**options}
