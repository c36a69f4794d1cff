"""A plugin for the originals' own suites: what they test is the drop-in, for texts of any size."""

from __future__ import annotations

from importlib import import_module

from jsonrill import compat
from jsonrill.compat import ijson, langchain, memory

memory.MOST_SPENT = 0  # type: ignore[misc]
langchain._small = 0  # type: ignore[misc]
compat.install("langchain")

# Its suite takes each function from a backend, by the kind of source.
backend = import_module("ijson.backends.python")
for name in ("basic_parse", "parse", "items", "kvitems"):
    for kind in ("_gen", "_async"):
        setattr(backend, name + kind, getattr(ijson, name))
