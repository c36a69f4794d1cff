"""The originals: imported if they are installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def original(module: str) -> Any:
    """The original module, or None where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


def attribute_of(module: Any, name: str) -> Callable[[str], Any]:
    """The `__getattr__` of a drop-in: what it does not replace is the original's."""

    def get(attribute: str) -> Any:
        if module is None or attribute.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        return getattr(module, attribute)

    return get
