"""What an answer consists of: text, reasoning, calls and results, and the turn to send back."""

from .parts import Part, Parts

__all__ = ["Part", "Parts"]
