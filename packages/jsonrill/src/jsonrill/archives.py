"""Decompresses `.gz` and `.zst`: files, and what comes piece by piece through a pipe.

The content before a damaged place is yielded before the error is raised.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import IO, Any, Final, NamedTuple

PIECE: Final = 1 << 16
# A zstd block of a few bytes can expand to 128 KiB; this limits what one read can expand to.
COMPRESSED: Final = 1 << 12
# The first bytes of a compressed file. No text in UTF-8 begins so.
MAGIC: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def expanded(raw: Any, compression: str) -> Any:
    """The decompressed file; reading raises `EOFError` where it is damaged or cut off."""
    if not compression:
        return raw
    return io.BufferedReader(_Expanded(raw, Expander(compression)), PIECE)


def need(compression: str) -> None:
    """`ImportError`, which names the remedy, if the package for it is not installed."""
    if compression:
        _FRAMES[compression]()


class _Frames(NamedTuple):
    """A compression: makes a decompressor for each frame of a file; the error that it raises."""

    make: Callable[[], Any]
    error: type[Exception]
    padding: bytes = b""


def _gzip() -> _Frames:
    return _Frames(lambda: zlib.decompressobj(wbits=31), zlib.error, b"\0")


def _zstd() -> _Frames:
    try:
        import zstandard
    except ModuleNotFoundError as missing:
        raise ImportError(".zst needs an extra: pip install 'jsonrill[batch]'") from missing
    press = zstandard.ZstdDecompressor(max_window_size=1 << 31)
    return _Frames(press.decompressobj, zstandard.ZstdError)


_FRAMES: Final = {"gzip": _gzip, "zstd": _zstd}


class Expander:
    """Decompresses one frame after another, piece by piece.

    `damage` says what is wrong, once a piece is damaged or `end` came too early. The content before
    the damage is returned; the libraries' own readers lose that or the error.
    """

    def __init__(self, compression: str) -> None:
        self._frames = _FRAMES[compression]()
        self._frame: Any = None
        self.damage: str | None = None

    def feed(self, piece: bytes) -> bytes:
        """The content of one more piece."""
        output: list[bytes] = []
        try:
            self._expand(piece, output)
        except self._frames.error as error:
            self.damage = str(error)
        return b"".join(output)

    def end(self) -> None:
        """Note that nothing more comes."""
        if self._frame is not None:
            self.damage = "the file is cut off"

    def _expand(self, piece: bytes, output: list[bytes]) -> None:
        while piece:
            if self._frame is None:
                piece = piece.lstrip(self._frames.padding) if self._frames.padding else piece
                if not piece:
                    return
                self._frame = self._frames.make()
            self._decompress(piece, output)
            piece = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = None

    def _decompress(self, piece: bytes, output: list[bytes]) -> None:
        spare: Any = self._frame.copy() if hasattr(self._frame, "copy") else None
        try:
            output.append(self._frame.decompress(piece))
        except self._frames.error:
            # zlib discards the good start of a damaged piece; fed byte by byte, it does not.
            for at in range(len(piece)) if spare is not None else ():
                output.append(spare.decompress(piece[at : at + 1]))
            raise


class _Expanded(io.RawIOBase):
    """An `Expander` as a file."""

    def __init__(self, raw: IO[bytes], expander: Expander) -> None:
        self._raw = raw
        self._expander = expander
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if self._expander.damage is not None:
                raise EOFError(self._expander.damage)
            if not self._more():
                return 0
        taken = min(len(buffer), len(self._ready))
        buffer[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken

    def _more(self) -> bool:
        piece = self._raw.read(COMPRESSED)
        if not piece:
            self._expander.end()
            return self._expander.damage is not None
        self._ready = memoryview(self._expander.feed(piece))
        return True
