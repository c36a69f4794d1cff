"""Creates the machine for given options: the strict one, or with `repair` the repairing one."""

from __future__ import annotations

from typing import Any

from .machine import Machine
from .position import Position
from .sink import Sink


def create_machine(sink: Sink, options: dict[str, Any]) -> Position:
    """Return the machine for these options; `TypeError` for one that is unknown."""
    if not options:
        return Machine(sink)
    given = {name: value for name, value in options.items() if value is not None}
    repair, on_repair = given.pop("repair", False), given.pop("on_repair", None)
    if not repair:
        return Machine(sink, **given)
    # Imported when it is first needed: compiling its patterns takes long.
    from .repair import RepairMachine

    return RepairMachine(sink, repair, on_repair, **given)
