"""Tools that a model calls, and the loop of an agent around them.

simple     what simple annotations say, without pydantic
tools      a function with its rules, and its arguments
specs      the tools of a request
deciding   which calls are run, and when
running    `run_tools`: they are run, in threads or in the event loop
state      the conversation as plain JSON, also from a log of its parts
loop       `agent`: asks, runs the tools, asks again
"""

from .loop import Agent, AsyncAgent, agent
from .running import run_tools
from .specs import tool_specs
from .state import state_of
from .tools import Tool, ToolContext, tool

__all__ = [
    "Agent",
    "AsyncAgent",
    "Tool",
    "ToolContext",
    "agent",
    "run_tools",
    "state_of",
    "tool",
    "tool_specs",
]
