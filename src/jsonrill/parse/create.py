"""Creates the machine for given options: the strict one, or the lenient one with `repair`.

The lenient one is imported when it is first needed: compiling its patterns takes longer than
importing the rest of the package.
"""

from __future__ import annotations

from ..errors import Limits
from ..options import Duplicates, ParseFloat, Rules
from .machine import Machine
from .sink import Sink


def create_machine(
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
