"""A stream as other people's clients read it: OpenAI chat chunks, AI SDK UI messages, AG-UI events.

A dialect is a stage: provider events or JSON text in, events of its clients out, as dicts. What
such an event looks like is known on its page alone; a new dialect is a page and a line here.
"""

from typing import Final

from .ag_ui import AGUI
from .ai_sdk import AISDK
from .dialect import Dialect, Event, Problem, Settings
from .openai import OpenAI

__all__ = ["DIALECTS", "Dialect", "Event", "Problem", "Settings"]

DIALECTS: Final[dict[str, type[Dialect]]] = {"openai": OpenAI, "ai-sdk": AISDK, "ag-ui": AGUI}
