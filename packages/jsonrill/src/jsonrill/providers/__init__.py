"""One module for each provider: its events in, statements out.

A module has `accepts(event)`, which recognises its provider's events, and `translate`, a function
from an event to statements, or `Translation`, a class of such functions that keep state.
`reader.py` finds the module for an event. Some modules are for frameworks, which wrap a
provider's events in an envelope, or have their own names for the same content.
"""

from .objects import plain
from .reader import PROVIDERS, Reader, recognise
from .statements import Translate

__all__ = ["PROVIDERS", "Reader", "Translate", "plain", "recognise"]
