"""`Answer`: the text of an answer, how it ended, and its token counts."""

from __future__ import annotations

from typing import Any


class Answer:
    """Pass one as `answer=` to any function that reads a stream, and read it afterwards.

    `finish` is how the answer ended: complete, calls, length, filtered, refused, lost or error;
    None before the provider says it, and of plain text. `usage` are the token counts, with the
    names of the provider; None until its stream has been read to the end, and if it has none.
    """

    __slots__ = ("_pieces", "finish", "usage")

    def __init__(self) -> None:
        self.begin()

    @property
    def text(self) -> str:
        """The text of the answer so far, without reasoning and calls."""
        return joined(self._pieces)

    def begin(self) -> None:
        """Reset, because another stream is read."""
        self._pieces: list[Any] = []
        self.finish: str | None = None
        self.usage: dict[str, Any] | None = None

    def add(self, text: str | bytes | bytearray | memoryview) -> None:
        """Add text."""
        self._pieces.append(text)

    def __repr__(self) -> str:
        return f"Answer(finish={self.finish!r}, usage={self.usage!r}, text={self.text!r})"


def joined(pieces: list[Any]) -> str:
    """Return the text of pieces that are text or UTF-8."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    raw = [p.encode("utf-8", "replace") if isinstance(p, str) else bytes(p) for p in pieces]
    return b"".join(raw).decode("utf-8", "replace")
