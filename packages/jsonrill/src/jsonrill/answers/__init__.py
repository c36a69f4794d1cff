"""What an answer consists of: text, reasoning, calls and results, and running the calls."""

from .parts import Part, Parts
from .tools import ToolRun

__all__ = ["Part", "Parts", "ToolRun"]
