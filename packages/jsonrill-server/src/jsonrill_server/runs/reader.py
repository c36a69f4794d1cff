"""One reader of one stream: from any position to the end, each frame once.

A reader has a place in the ring of a shared view while it keeps up: of one that follows the end of
the log, or of one that catches up for all who need older frames. A reader that falls behind renders
the log by itself, at its own pace, and joins the view that follows the end at most once, so that it
costs three renderings of a log at the worst.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable

from ..store import Entry, LogGap, LogLost, Store, StoreError, UnknownStream
from .options import ViewOptions
from .positions import Position
from .records import End, Record, from_entry
from .render import Rendering
from .steps import Steps
from .view import LATER, OTHER_LOG, Frame, View, Views, closing_bytes, frames

# How much is handed to the server at once.
CHUNK_BYTES = 64 * 1024
BURST = 64


class Reader:
    """`chunks()` yields bytes to send: complete events, in order, to the end of the stream."""

    def __init__(
        self,
        store: Store,
        stream: str,
        options: ViewOptions,
        position: Position,
        make: Callable[[], Rendering],
        views: Views | None,
        *,
        lost: bool = False,
        left: Callable[[View], object] = bool,
    ) -> None:
        self._store = store
        self._stream = stream
        self._options = options
        self._make = make
        self._views = views
        self._ended = False
        # Whether the position cannot be one of this log.
        self._lost = lost
        # Told of each view that this reader has left.
        self._left = left
        self.position = position
        # How often it had to go back to the log.
        self.replays = 0
        # How the log ended, or why it could not be read to its end; None before that.
        self.end: End | None = None

    async def chunks(self) -> AsyncGenerator[bytes]:
        try:
            if self._lost:
                raise LogLost(OTHER_LOG)
            view = None if self._views is None else await self._views.with_next(self.position)
            if view is not None:
                async for chunk in self._follow(view):
                    yield chunk
            if not self._ended:
                async for chunk in self._replay(joins=True):
                    yield chunk
            if not self._ended and self._views is not None:
                async for chunk in self._follow(self._views.main):
                    yield chunk
                if not self._ended:
                    async for chunk in self._replay(joins=False):
                        yield chunk
        except StoreError as error:
            yield self._failure(error)

    def _place(self) -> int | None:
        """The place in the view that follows the end of the log, unless that has failed."""
        if self._views is None or self._ended or self._views.main.failed is not None:
            return None
        return self._views.main.place_after(self.position)

    async def _follow(self, view: View) -> AsyncIterator[bytes]:
        """Yield frames of a view until the stream ends or the place is lost."""
        try:
            view.places[self] = LATER
            await view.reach(self.position.seq)
            while (place := view.place_after(self.position)) is not None:
                async for chunk in self._from(view, place):
                    yield chunk
                if self._ended or self._views is None or view is self._views.main:
                    return
                # The other one has the next frame, and is there for longer.
                view = self._move(view, self._views.main)
        finally:
            view.places.pop(self, None)
            self._left(view)

    def _move(self, old: View, new: View) -> View:
        if self._place() is None:
            return old
        old.places.pop(self, None)
        self._left(old)
        return new

    async def _from(self, view: View, place: int) -> AsyncIterator[bytes]:
        """Yield frames from a place until the stream ends, the place is lost, or the main view
        can be read instead."""
        main = view if self._views is None else self._views.main
        view.places[self] = place
        while place >= view.first:
            frames = view.frames_from(place, CHUNK_BYTES)
            if frames:
                place += len(frames)
                self._seen(frames[-1])
                yield b"".join([frame.data for frame in frames])
                view.places[self] = place
            elif view.failed is not None:
                raise view.failed
            if self._ended or (view.ended and place >= view.next):
                self._ended = True
                return
            if place >= view.next:
                if view is not main and view.caught_up and self._place() is not None:
                    return
                await view.wait()

    async def _replay(self, *, joins: bool) -> AsyncIterator[bytes]:
        """Render the log from its beginning and yield what was not delivered, until it can join."""
        self.replays += 1
        work, resume = self._make(), self.position
        steps = Steps(work.heavy is not None)
        group: list[Entry] = []
        reading = self._store.read(self._stream, work.start(resume))
        while batch := await self._next(reading):
            for entry in batch:
                if entry.seq == resume.seq and resume.mark not in (None, entry.mark):
                    raise LogLost(OTHER_LOG)
                group.append(entry)
                if not self._is_complete(group, resume) and entry is not batch[-1]:
                    continue
                if resume.done < entry.seq < resume.seq:
                    continue  # half of it was delivered: it must be rendered as it was
                size = sum([len(it.data) for it in group])
                work.more = entry is not batch[-1]
                if entry.seq <= resume.done:
                    records = [it for it in map(from_entry, group) if isinstance(it, Record)]
                    async for _ in steps.of(work.feed_in_parts(records), size):
                        pass
                else:
                    async for frames_of in steps.of(frames(work, group), size):
                        if chunk := self._missing(frames_of, resume):
                            yield chunk
                    self.position = Position(entry.seq, mark=entry.mark)
                    self._ended = entry.final
                    if isinstance(end := from_entry(entry), End):
                        self.end = end
                group = []
                if self._ended or (joins and self._place() is not None):
                    return
                await asyncio.sleep(0)

    async def _next(self, reading: AsyncIterator[list[Entry]]) -> list[Entry]:
        """The next entries of the log, or none. What the view fails with ends this too."""
        if self._views is None:
            return await anext(reading, [])
        view = self._views.main
        if view.failed is not None:
            raise view.failed
        return await view.beside(anext(reading, []))

    @staticmethod
    def _missing(frames: list[Frame], resume: Position) -> bytes:
        """The bytes of the frames that were not delivered yet."""
        if resume.sub is not None and frames[0].position.seq <= resume.seq:
            missed = resume.sub
            frames = [it for it in frames if it.last or (it.position.sub or 0) > missed]
        return b"".join([frame.data for frame in frames])

    def _is_complete(self, group: list[Entry], resume: Position) -> bool:
        """Return True if these entries, and no others, are rendered together."""
        last = group[-1]
        if last.seq <= resume.done:
            return last.seq == resume.done or len(group) >= BURST
        if last.seq <= resume.seq:
            return last.seq == resume.seq
        return last.final or sum(len(entry.data) for entry in group) >= self._together()

    def _together(self) -> int:
        if self._options.size:
            return self._options.size
        return 4096 if self._options.every else 0

    def _seen(self, frame: Frame) -> None:
        self.position = frame.position
        self.end = self.end or frame.end
        self._ended = self._ended or self.end is not None

    def _failure(self, error: StoreError) -> bytes:
        """Return the last event of a stream whose log no longer exists; it has no id."""
        codes = {UnknownStream: "GONE", LogGap: "LOG_LOST", LogLost: "LOG_LOST"}
        end = End("error", codes.get(type(error), "UNAVAILABLE"), str(error))
        self._ended = True
        self.end = end
        return closing_bytes(self._make(), end)
