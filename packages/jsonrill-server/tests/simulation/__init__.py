"""Runs in simulated time: a seed chooses what is written, who reads it, and what fails and when.

`simulate(seed)` raises `Violation` if a reader does not get each event once, in order, and an end
that is true, or if `on_end` is not called. `python -m simulation FIRST COUNT` runs many.
"""

from .loop import Stuck
from .world import Violation, World, simulate

__all__ = ["Stuck", "Violation", "World", "simulate"]
