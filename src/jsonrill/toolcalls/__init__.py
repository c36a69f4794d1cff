"""Tool calls as they stream: from any provider's events, over the wire, and back.

`identity.py` tells which call an event speaks of, `arguments.py` how arguments grow, `call.py` how
one call lives, `calls.py` puts them together, `events.py` sends them. What providers' events mean
is said in `providers/`.
"""

from .call import ToolCall
from .calls import ToolCalls, ToolCallUpdate
from .events import ToolCallEvents

__all__ = ["ToolCall", "ToolCallEvents", "ToolCallUpdate", "ToolCalls"]
