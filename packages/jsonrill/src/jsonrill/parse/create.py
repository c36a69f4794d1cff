"""Creates the machine for given options: the strict one, or the lenient one with `repair`.

The options of reading text come here as the caller gave them, and only here are they told apart.
The lenient machine is imported when it is first needed: compiling its patterns takes longer than
importing the rest of the package.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from ..options import PARSE, ParseOptions, check, refuse_unknown
from .machine import Machine
from .sink import Sink

_DEFAULTS: Final[ParseOptions] = {}


@cache
def _lenient() -> Any:
    from .lenient.inside import LenientMachine

    return LenientMachine


def create_machine(sink: Sink, options: ParseOptions = _DEFAULTS) -> Machine:
    """The machine for these options; `TypeError` for one that is unknown."""
    if not options:
        return Machine(sink)
    refuse_unknown(options, PARSE, "unknown option")
    strict: dict[str, Any] = {**options}
    repair, on_repair = strict.pop("repair", False), strict.pop("on_repair", None)
    prefix = strict.pop("prefix", "")
    check(on_repair=on_repair, prefix=prefix)
    if not repair:
        machine = Machine(sink, **strict)
    else:
        machine = _lenient()(sink, rules=repair, on_repair=on_repair, **strict)
    if prefix:
        machine.put_before(prefix)
    return machine
