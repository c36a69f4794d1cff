"""Streams for other clients: `to_ai_sdk` and `to_ag_ui` write any provider's stream for them.

A dialect is a stage: provider events or JSON text in, events of its clients out, as dicts. Only its
own file knows what such an event looks like; a new dialect is a file and a line in `table.py`.
"""

from .dialect import Dialect, Event, Problem, Settings
from .table import DIALECTS
from .translate import to_ag_ui, to_ai_sdk

__all__ = [
    "DIALECTS",
    "Dialect",
    "Event",
    "Problem",
    "Settings",
    "to_ag_ui",
    "to_ai_sdk",
]
