"""Streams for the clients of others: OpenAI chat chunks, AI SDK UI messages, AG-UI events.

A dialect is a stage: provider events or JSON text in, events of its clients out, as dicts. Only its
own file knows what such an event looks like; a new dialect is a file and a line here.
"""

from typing import Final

from .ag_ui import AGUI
from .ai_sdk import AISDK
from .dialect import ClientStream, Dialect, Event, Problem, Settings
from .native import NATIVE
from .openai import OpenAI

__all__ = ["DIALECTS", "NATIVE", "ClientStream", "Dialect", "Event", "Problem", "Settings"]

DIALECTS: Final[dict[str, type[Dialect]]] = {"openai": OpenAI, "ai-sdk": AISDK, "ag-ui": AGUI}
