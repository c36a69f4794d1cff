"""Tool calls as they stream: from any provider's events, over the wire, and back.

`call.py` is a call that grows and ends, `identity.py` finds the call that an event is about,
`calls.py` puts them together and `wire.py` sends them. `providers/` reads the events of each
provider.
"""

from .call import ToolCall
from .calls import ToolCalls, ToolCallUpdate
from .wire import ToolCallEvents

__all__ = ["ToolCall", "ToolCallEvents", "ToolCallUpdate", "ToolCalls"]
