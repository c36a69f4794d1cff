"""Compressed bytes → bytes, up to the damage: what was good is handed out before it is told."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import IO, Any, Final, NamedTuple

from ..errors import InputError

PIECE: Final = 1 << 16
# What a zstd block of a few bytes can become is 128 KiB; this bounds what one read can.
_COMPRESSED: Final = 1 << 12


def expanded(raw: Any, compression: str) -> Any:
    """The content of a file; where it is damaged, or stops early, an `EOFError`."""
    if not compression:
        return raw
    return io.BufferedReader(_Expanded(raw, _FRAMES[compression]()), PIECE)


def need(compression: str) -> None:
    """That it can be read here, or an `InputError` that says what is missing."""
    if compression:
        _FRAMES[compression]()


class _Frames(NamedTuple):
    """How a compressed file is read: a fresh reader for each of its parts, and what that raises."""

    make: Callable[[], Any]
    error: type[Exception]
    padding: bytes = b""


def _gzip() -> _Frames:
    return _Frames(lambda: zlib.decompressobj(wbits=31), zlib.error, b"\0")


def _zstd() -> _Frames:
    try:
        import zstandard
    except ModuleNotFoundError as missing:
        raise InputError(".zst needs an extra: pip install 'jsonrill[batch]'") from missing
    press = zstandard.ZstdDecompressor(max_window_size=1 << 31)
    return _Frames(press.decompressobj, zstandard.ZstdError)


_FRAMES: Final = {"gzip": _gzip, "zstd": _zstd}


class _Expanded(io.RawIOBase):
    """One part after the other. What was good before the damage is handed out before it is told,
    and so is what is missing at the end: the libraries' own readers do one or the other."""

    def __init__(self, raw: IO[bytes], frames: _Frames) -> None:
        self._raw = raw
        self._frames = frames
        self._frame: Any = None
        self._ready = memoryview(b"")
        self._damage: str | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if self._damage is not None:
                raise EOFError(self._damage)
            if not self._more():
                return 0
        taken = min(len(buffer), len(self._ready))
        buffer[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken

    def _more(self) -> bool:
        piece = self._raw.read(_COMPRESSED)
        if not piece:
            if self._frame is not None:
                self._damage = "it was cut off"
            return self._frame is not None
        made: list[bytes] = []
        try:
            self._expand(piece, made)
        except self._frames.error as error:
            self._damage = str(error)
        self._ready = memoryview(b"".join(made))
        return True

    def _expand(self, piece: bytes, made: list[bytes]) -> None:
        while piece:
            if self._frame is None:
                piece = piece.lstrip(self._frames.padding) if self._frames.padding else piece
                if not piece:
                    return
                self._frame = self._frames.make()
            self._decompress(piece, made)
            piece = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = None

    def _decompress(self, piece: bytes, made: list[bytes]) -> None:
        spare: Any = self._frame.copy() if hasattr(self._frame, "copy") else None
        try:
            made.append(self._frame.decompress(piece))
        except self._frames.error:
            # zlib does not hand out what was good in a piece that is not; byte by byte it does.
            for at in range(len(piece)) if spare is not None else ():
                made.append(spare.decompress(piece[at : at + 1]))
            raise
