"""Runs, stores and readers in simulated time: one process, one seed, every schedule repeatable."""

from .schedules import Schedule, Violation, seeded, shrunk, simulate, with_simulated_store

__all__ = ["Schedule", "Violation", "seeded", "shrunk", "simulate", "with_simulated_store"]
