"""Text → updates: the progress of each entity of a document, in one of five modes.

update.py   an update: a position in the log of its entity, read on access
schemas.py  which schema an entity must keep to
stream.py   the stage itself
"""

from .stream import PartialStream
from .update import Update, absorb

__all__ = ["PartialStream", "Update", "absorb"]
