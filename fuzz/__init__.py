"""Fuzz targets: each is a module with `TARGET`, one sentence that must hold, and `run`."""
