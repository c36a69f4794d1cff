"""Text → updates: how far each entity of a document has come, in one of five modes.

update.py   an update: a position in the log of its entity, read when somebody asks
judge.py    which schema an entity must keep to, and who sees to it
stream.py   the stage itself
"""

from .stream import PartialStream
from .update import Update, absorb

__all__ = ["PartialStream", "Update", "absorb"]
