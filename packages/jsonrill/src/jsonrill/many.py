"""One document after another, each read as if it were alone: `many=True`, and tool calls."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .errors import CutShort, JsonrillError
from .parse.machine import Sink
from .parse.options import PARSE_OPTIONS, create_machine
from .parse.states import END, EXPECTED
from .pipeline import Stage
from .sources.options import NEXT_DOCUMENT


class Documents(Stage):
    """Reads each document with a new stage from `begin(options)`; `NEXT_DOCUMENT` precedes it."""

    def __init__(
        self, begin: Callable[[dict[str, Any]], Stage], options: Mapping[str, Any]
    ) -> None:
        self._begin, self._options = begin, dict(options)
        self._stage: Stage | None = None

    @property
    def ended(self) -> bool:  # type: ignore[override]
        return self._stage is not None and self._stage.failed

    @property
    def error(self) -> Exception | None:  # type: ignore[override]
        return None if self._stage is None else self._stage.error

    def feed(self, piece: Any) -> Iterator[Any]:
        if piece is NEXT_DOCUMENT:
            if self._stage is not None:
                yield from self._stage.flush()
            if not self.ended:
                self._start()
        elif self._stage is not None:
            yield from self._stage.feed(piece)

    def flush(self, cut: CutShort | None = None) -> Iterator[Any]:
        was_open = self._stage is not None
        if self._stage is not None:
            yield from self._stage.flush(cut)
        # If the provider cut the answer, another document may be missing.
        if cut and not self.ended and (cut.reason != "lost" or not was_open):
            yield from self._start().flush(cut)

    def rescue(self, error: Exception) -> Iterable[Any]:
        return super().rescue(error) if self._stage is None else self._stage.rescue(error)

    def _start(self) -> Stage:
        self._stage = self._begin({**self._options})
        self._options.pop("prefix", None)
        return self._stage


class _End(Sink):
    """Detects where a document is complete."""

    offset: int | None = None

    def complete(self, offset: int) -> None:
        self.offset = offset

    def takes_values(self) -> bool:
        return True


class Splitter(Stage):
    """Text with one document after another → pieces, and `NEXT_DOCUMENT` where one begins.

    A document ends at a separator (RFC 7464), or where more text follows a complete value. A second
    machine finds that place.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        known = PARSE_OPTIONS & options.keys() - {"on_repair"}
        self._options = {name: options[name] for name in known}
        # Bytes that are not UTF-8 are passed on unchanged: the document's stage refuses them.
        self._decoder = getincrementaldecoder("utf-8")("surrogateescape")
        self._end: _End | None = None
        # The text after a complete value, in which the next document may begin.
        self._rest = ""

    def feed(self, piece: Any) -> Iterator[Any]:
        is_text = isinstance(piece, str)
        return self._pieces(piece if is_text else self._decoder.decode(piece), is_text)

    def flush(self, cut: CutShort | None = None) -> Iterator[Any]:
        self.cut = cut
        return self._pieces(self._decoder.decode(b"", True), is_text=False)

    def _pieces(self, text: str, is_text: bool) -> Iterator[Any]:
        for number, record in enumerate(text.split("\x1e")):
            if number:
                self._end = None
            for item in self._read(record):
                is_ready = is_text or item is NEXT_DOCUMENT
                yield item if is_ready else item.encode("utf-8", "surrogateescape")

    def _read(self, text: str) -> Iterator[Any]:
        while text:
            if self._end is None:
                text = text if self._options.get("prefix") else text.lstrip(" \t\r\n\ufeff")
                if text:
                    self._start()
                    yield NEXT_DOCUMENT
            else:
                current, text = self._split(self._end, text)
                yield current

    def _start(self) -> None:
        self._end, self._rest, self._offset = _End(), "", 0
        self._machine = create_machine(self._end, self._options)
        self._options.pop("prefix", None)

    def _split(self, end: _End, text: str) -> tuple[str, str]:
        """Return more text of this document, and the text of the next one if one begins."""
        text, new = self._rest + text, text
        size = len(text)
        try:
            self._machine.feed(new)
        except JsonrillError as error:
            at = size if error.offset is None else max(error.offset - self._offset, 0)
            # A number is complete if another value begins after it.
            is_number = getattr(error, "expected", "") == EXPECTED[END]
            if end.offset is not None or (is_number and text[at] in '{["tfn'):
                self._end = None
                return text[:at], text[at:]
        if end.offset is not None:
            size = max(end.offset - self._offset, 0)
        self._offset += size
        self._rest = text[size:]
        return text[:size], ""
