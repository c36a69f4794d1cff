"""Tool calls as they stream: from any provider's events, over the wire, and back.

`call.py` is a call as its users see it, `life.py` how it grows and ends, `arguments.py` how its
arguments do, `identity.py` which call an event speaks of; `calls.py` puts them together and
`events.py` sends them. What providers' events mean is said in `providers/`.
"""

from .call import ToolCall
from .calls import ToolCalls, ToolCallUpdate
from .wire import ToolCallEvents

__all__ = ["ToolCall", "ToolCallEvents", "ToolCallUpdate", "ToolCalls"]
