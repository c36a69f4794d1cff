"""Text → updates in five modes."""

from .stream import Mode as Mode
from .stream import PartialStream as PartialStream
from .update import Status as Status
from .update import Update as Update
