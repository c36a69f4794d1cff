"""Creates the machine for given options: the strict one, or the repairing one."""

from __future__ import annotations

from typing import Any

from .machine import Machine
from .sink import Sink


def create_machine(sink: Sink, options: dict[str, Any]) -> Machine:
    return Machine(sink, **options)
