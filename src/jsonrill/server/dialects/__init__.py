"""A log as other people's clients read it: OpenAI chat chunks, AI SDK UI messages, AG-UI events.

Each is a rendering that ends in its dialect's way and sends no ids: these clients do not resume
by id but read again from the start. What a dialect's event looks like is known on its page alone.
"""

from .ag_ui import AGUI
from .ai_sdk import AISDK
from .openai import OpenAI

__all__ = ["AGUI", "AISDK", "OpenAI"]
