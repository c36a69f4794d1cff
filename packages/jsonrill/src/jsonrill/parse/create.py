"""Creates the machine for given options: the strict one, or the lenient one with `repair`.

The lenient one is imported when it is first needed: compiling its patterns takes longer than
importing the rest of the package.
"""

from __future__ import annotations

from ..errors import Limits
from ..options import Duplicates, OnRepair, ParseFloat, Rules, check
from .machine import Machine
from .sink import Sink


def create_machine(
    sink: Sink,
    repair: Rules = False,
    many: bool = False,
    duplicates: Duplicates = "last",
    parse_float: ParseFloat = float,
    limits: Limits | None = None,
    on_repair: OnRepair = None,
    prefix: str = "",
) -> Machine:
    """The machine for these options."""
    if on_repair is not None or prefix:
        check(on_repair=on_repair, prefix=prefix)
    if not repair:
        machine = Machine(sink, many, duplicates, parse_float, limits)
    else:
        from .lenient.inside import LenientMachine

        machine = LenientMachine(
            sink,
            rules=repair,
            on_repair=on_repair,
            many=many,
            duplicates=duplicates,
            parse_float=parse_float,
            limits=limits,
        )
    if prefix:
        machine.put_before(prefix)
    return machine
