"""Streams for the clients of others: OpenAI chat chunks, AI SDK UI messages, AG-UI events.

`to_openai`, `to_ai_sdk`, `to_ag_ui` and `to_mcp_app` write any provider's stream for such a client;
`ai_sdk_message` is the message to store. Back: `from_ai_sdk`, the messages of `useChat` as those of
a provider's request.

A dialect is a stage: provider events or JSON text in, events of its clients out, as dicts. Only its
own file knows what such an event looks like; a new dialect is a file and a line in `table.py`.
"""

from .ai_sdk_message import ai_sdk_message
from .dialect import Dialect, Event, Problem, Settings
from .native import NATIVE
from .table import DIALECTS
from .translate import to_ag_ui, to_ai_sdk, to_mcp_app, to_openai
from .ui_messages import from_ai_sdk

__all__ = [
    "DIALECTS",
    "NATIVE",
    "Dialect",
    "Event",
    "Problem",
    "Settings",
    "ai_sdk_message",
    "from_ai_sdk",
    "to_ag_ui",
    "to_ai_sdk",
    "to_mcp_app",
    "to_openai",
]
