"""Runs, stores and readers in simulated time: one process, one seed, every schedule repeatable."""

from .loop import SimulatedLoop
from .schedules import (
    Schedule,
    Violation,
    in_simulated_time,
    seeded,
    shrunk,
    simulate,
    with_simulated_store,
)

__all__ = [
    "Schedule",
    "SimulatedLoop",
    "Violation",
    "in_simulated_time",
    "seeded",
    "shrunk",
    "simulate",
    "with_simulated_store",
]
