"""One reader of one stream: from any position to the end, each frame once.

A reader has a place in the ring of a view. When its next frame has left the ring, or another view
is further and has it, it changes to another one (`Views.find`), at its position.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Final

from ..store import LogGap, LogLost, StoreError, StoreUnavailable, UnknownStream
from .positions import Position
from .records import End
from .render import Rendering
from .view import OTHER_LOG, View, Views, closing_bytes

GONE: Final = End("error", "GONE", "the stream was deleted, or has expired")
OTHER: Final = End("error", "LOG_LOST", f"{OTHER_LOG}. Read it again from its beginning")
UNREADABLE: Final = End("error", "UNAVAILABLE", "the stream cannot be shown")
UNREACHABLE: Final = End(
    "error",
    "UNAVAILABLE",
    "the store cannot be reached, or cannot say whether the stream goes on: read on later",
)
# What readers are told of an error of the store, whose text may name hosts and users.
_ENDS: Final = {
    UnknownStream: GONE,
    LogGap: OTHER,
    LogLost: OTHER,
    StoreUnavailable: UNREACHABLE,
}
# A reader that has lost its place so often reads by itself: it costs three renderings at the worst.
MOST_LOST = 2


class Reader:
    """`chunks()` yields bytes to send: complete events, in order, to the end of the stream."""

    def __init__(
        self,
        views: Views,
        position: Position,
        make: Callable[[], Rendering],
        *,
        lost: bool = False,
    ) -> None:
        self._views = views
        self._make = make
        # Whether the position cannot be one of this log.
        self._lost = lost
        self.position = position
        # How often it lost its place, and read the log from its beginning.
        self.replays = 0
        # How the log ended, or why it could not be read to its end; None before that.
        self.end: End | None = None

    async def chunks(self) -> AsyncGenerator[bytes]:
        try:
            if self._lost:
                raise LogLost(OTHER_LOG)
            while True:
                view = await self._views.find(self.position, alone=self.replays >= MOST_LOST)
                view.readers += 1
                try:
                    place = await self._place_in(view)
                    while place >= view.first:
                        if place < view.next:
                            chunk, place = view.chunk_from(place)
                            last = view.ring[place - 1 - view.first]
                            self.position, self.end = last.position, last.end
                            if chunk:
                                yield chunk
                        elif view.ended:
                            return
                        elif view.shared and self._views.is_behind(view, self.position):
                            break
                        else:
                            await view.more()
                    else:
                        self.replays += 1
                finally:
                    view.readers -= 1
                    self._views.left(view)
        except StoreError as error:
            yield self._failure(error)

    async def _place_in(self, view: View) -> int:
        while (place := view.place_after(self.position)) is None:
            await view.more()
        return place

    def _failure(self, error: StoreError) -> bytes:
        """Return the last event of a stream whose log no longer exists; it has no id."""
        self.end = _ENDS.get(type(error), UNREADABLE)
        return closing_bytes(self._make(), self.end)
