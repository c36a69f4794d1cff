"""How the choices of an answer end, and what a caller's `Answer` learns of it."""

from __future__ import annotations

from .statements import Ending as Ending
from .statements import Watch as Watch
