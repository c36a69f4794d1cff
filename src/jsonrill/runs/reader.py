"""One reader of one stream: from any position to the end, each frame once.

A reader has a place in the ring of the shared view while it keeps up. Before that (its position
is older than the ring) and after it fell behind, it renders the log by itself, at its own pace.
It joins the view at most once, so that a reader costs two renderings of a log at the worst.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

from ..eventstream import DONE, encode_event
from ..store import Entry, LogGap, LogLost, Store, StoreError, UnknownStream
from .options import ViewOptions
from .positions import Position
from .records import End, Record, from_entry
from .render import Rendering
from .view import Frame, View, render

# How much is handed to the server at once, and rendered without letting others run.
CHUNK_BYTES = 64 * 1024
BURST = 64
OTHER_LOG = "the store lost records that were read before"


class Reader:
    """`chunks()` yields bytes to send: complete events, in order, to the end of the stream."""

    def __init__(
        self,
        store: Store,
        stream: str,
        options: ViewOptions,
        position: Position,
        make: Callable[[], Rendering],
        view: View | None,
        *,
        lost: bool = False,
    ) -> None:
        self._store = store
        self._stream = stream
        self._options = options
        self._make = make
        self._view = view
        self._ended = False
        # Whether the position cannot be one of this log.
        self._lost = lost
        self.position = position
        # How often it had to go back to the log.
        self.replays = 0

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            if self._lost:
                raise LogLost(OTHER_LOG)
            place = self._place()
            if place is None:
                async for chunk in self._replay(joins=True):
                    yield chunk
                place = self._place()
            if place is not None:
                async for chunk in self._follow(place):
                    yield chunk
                if not self._ended:
                    async for chunk in self._replay(joins=False):
                        yield chunk
        except StoreError as error:
            yield self._failure(error)

    def _place(self) -> int | None:
        if self._view is None or self._ended:
            return None
        return self._view.place_after(self.position)

    async def _follow(self, place: int) -> AsyncIterator[bytes]:
        """Yield frames from the ring until the stream ends or the place is lost."""
        view = self._view
        assert view is not None
        while place >= view.first:
            frames = list(_from(view, place))
            if frames:
                place += len(frames)
                self._seen(frames[-1])
                yield b"".join([frame.data for frame in frames])
            elif view.failed is not None:
                raise view.failed
            if self._ended or (view.ended and place >= view.next):
                self._ended = True
                return
            if place >= view.next:
                await view.wait()

    async def _replay(self, *, joins: bool) -> AsyncIterator[bytes]:
        """Render the log from its beginning and yield what was not delivered, until it can join."""
        self.replays += 1
        work, resume = self._make(), self.position
        group: list[Entry] = []
        reading = self._store.read(self._stream)
        while batch := await self._next(reading):
            for entry in batch:
                if entry.seq == resume.seq and resume.mark not in (None, entry.mark):
                    raise LogLost(OTHER_LOG)
                group.append(entry)
                if not self._is_whole(group, resume) and entry is not batch[-1]:
                    continue
                if resume.done < entry.seq < resume.seq:
                    continue  # half of it was delivered: it must be rendered as it was
                if chunk := self._deliver(work, group, resume):
                    yield chunk
                group = []
                if self._ended or (joins and self._place() is not None):
                    return
                await asyncio.sleep(0)

    async def _next(self, reading: AsyncIterator[list[Entry]]) -> list[Entry]:
        """The next entries of the log, or none. What the view fails with ends this too."""
        if self._view is None:
            return await anext(reading, [])
        if self._view.failed is not None:
            raise self._view.failed
        return await self._view.beside(anext(reading, []))

    def _deliver(self, work: Rendering, group: list[Entry], resume: Position) -> bytes:
        """Render a group; the bytes of what was not delivered yet."""
        last = group[-1]
        if last.seq <= resume.done:
            work.feed([found for entry in group if isinstance(found := from_entry(entry), Record)])
            return b""
        frames = render(work, group)
        if resume.sub is not None and last.seq <= resume.seq:
            missed = resume.sub
            frames = [it for it in frames if it.last or (it.position.sub or 0) > missed]
        self.position = Position(last.seq, mark=last.mark)
        self._ended = last.final
        return b"".join([frame.data for frame in frames])

    def _is_whole(self, group: list[Entry], resume: Position) -> bool:
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
        self._ended = self._ended or frame.final

    def _failure(self, error: StoreError) -> bytes:
        """Return the last event of a stream whose log no longer exists; it has no id."""
        codes = {UnknownStream: "GONE", LogGap: "LOG_LOST", LogLost: "LOG_LOST"}
        end = End("error", codes.get(type(error), "UNAVAILABLE"), str(error))
        self._ended = True
        work = self._make()
        blocks = [encode_event(data) for data in work.failure(end)]
        if work.closes:
            blocks.append(encode_event(DONE, event="CLOSE"))
        return b"".join(blocks)


def _from(view: View, place: int) -> Iterator[Frame]:
    size = 0
    for at in range(place - view.first, len(view.ring)):
        frame = view.ring[at]
        yield frame
        size += len(frame.data)
        if size >= CHUNK_BYTES:
            return
