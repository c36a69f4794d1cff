"""Which machine reads a text: the strict one, or the lenient one where repairs are asked for.

The lenient one is loaded when it is first wanted: its patterns take longer to make than all the
rest of the package takes to import.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .machine import Machine, Sink


def machine(sink: Sink, *, repair: bool | Iterable[str] = False, **options: Any) -> Machine:
    """The machine for these options."""
    if not repair:
        return Machine(sink, **options)
    from .repair import LenientMachine

    return LenientMachine(sink, rules=repair, **options)
