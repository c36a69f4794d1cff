"""Creates the machine for given options: the strict one, or with `repair` the repairing one.

The options of reading text come here as the caller gave them, and only here are they told apart.
The repairing machine is imported when it is first needed: compiling its patterns takes longer than
importing the rest of the package.
"""

from __future__ import annotations

from typing import Any, Final

from ..options import PARSE, ParseOptions, check, refuse_unknown
from .machine import Machine
from .position import Position
from .sink import Sink

_DEFAULTS: Final[ParseOptions] = {}


def create_machine(sink: Sink, options: ParseOptions = _DEFAULTS) -> Position:
    """The machine for these options; `TypeError` for one that is unknown."""
    if not options:
        return Machine(sink)
    refuse_unknown(options, PARSE, "unknown option")
    strict: dict[str, Any] = {**options}
    repair, on_repair = strict.pop("repair", False), strict.pop("on_repair", None)
    prefix = strict.pop("prefix", "")
    check(on_repair=on_repair, prefix=prefix)
    if not repair:
        machine: Position = Machine(sink, **strict)
    else:
        from .repair import RepairMachine

        check(**strict)
        machine = RepairMachine(sink, repair, on_repair, **strict)
    if prefix:
        machine.put_before(prefix)
    return machine
