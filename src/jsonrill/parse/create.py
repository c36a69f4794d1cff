"""Which machine reads a text: the strict one, or the lenient one where repairs are asked for.

The lenient one is loaded when it is first wanted: its patterns take longer to make than all the
rest of the package takes to import.
"""

from __future__ import annotations

from ..errors import Limits
from ..options import Duplicates, ParseFloat, Rules
from .machine import Machine
from .sink import Sink


def machine(
    sink: Sink,
    repair: Rules = False,
    many: bool = False,
    duplicates: Duplicates = "last",
    parse_float: ParseFloat = float,
    limits: Limits | None = None,
) -> Machine:
    """The machine for these options."""
    if not repair:
        return Machine(sink, many, duplicates, parse_float, limits)
    from .lenient.inside import LenientMachine

    return LenientMachine(
        sink,
        rules=repair,
        many=many,
        duplicates=duplicates,
        parse_float=parse_float,
        limits=limits,
    )
