"""Text → updates: the progress of each entity of a document, in one of five modes.

settings.py  what the options mean, checked
schemas.py   which schema an entity must keep to
entities.py  what an entity is, and where one begins
log.py       the events of one entity, in order
update.py    an update: a position in the log of its entity, read on access
replay.py    a part of the log → the value that it builds, or a delta
delta.py     deltas, and how they are applied
stream.py    the stage itself
"""

from .stream import PartialStream
from .update import Update, absorb

__all__ = ["PartialStream", "Update", "absorb"]
