"""One module for each provider, with all that is known of it: its events in, statements out.

`reader.py` recognises which provider an event is from. Some modules are of frameworks, which send
events of a provider in an envelope, or say the same in other words.
"""

from .objects import plain
from .reader import PROVIDERS, Reader, recognise

__all__ = ["PROVIDERS", "Reader", "plain", "recognise"]
