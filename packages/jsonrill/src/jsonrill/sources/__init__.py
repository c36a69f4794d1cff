"""Any source → pieces of text: text itself, the answer or the arguments in a provider's stream."""

from __future__ import annotations

from .reading import Decoder, EventReading, Opened, Reading

__all__ = ["Decoder", "EventReading", "Opened", "Reading"]
