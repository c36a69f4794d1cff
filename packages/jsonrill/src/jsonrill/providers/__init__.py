"""One module for each provider, with all that is known of it: its events in, statements out.

A module has `accepts(event)`, which tells whether an event is its provider's, and `translate`, a
function from an event to statements, or `Translation`, a class of such functions that remember
something. `reader.py` finds the module for an event. Some modules are of frameworks, which send
events of a provider in an envelope, or say the same in other words.
"""

from .objects import plain
from .reader import PROVIDERS, Reader, recognise

__all__ = ["PROVIDERS", "Reader", "plain", "recognise"]
