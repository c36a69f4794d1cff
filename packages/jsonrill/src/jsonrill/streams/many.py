"""One document after another: `many=True`, and the calls of a tool.

Each document is read by a stage of its own. It ends at a record separator (RFC 7464), which is
between the arguments of two calls. With `many` it also ends where more text follows a complete
value: a `Document` reads ahead of the stage, and refuses what follows.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, Protocol

from ..build.document import Document
from ..errors import CutShort, InvalidJSON, JsonrillError, LimitExceeded
from ..options import PARSE, TABLE
from ..parse.grammar import SEPARATOR
from .driving import END, Loop, Pulled
from .types import Ended, T, T_co, Text


def check_many(many: bool) -> bool:
    """Return the option `many`; `ValueError` if it is not allowed."""
    return bool(TABLE["many"].check(many))


class DocumentStage(Protocol[T_co]):
    """What reads one document."""

    def feed(self, text: str, /) -> Iterable[T_co]: ...
    def flush(self, cut: CutShort | None = None, /) -> Iterable[T_co]: ...


class ManyDocuments(Generic[T]):
    """Read one document after another; `begin(options)` makes the stage of the next one.

    Offsets in errors count from the beginning of their document. Of calls, the first error is
    raised at the end, so that the calls after it are read.
    """

    def __init__(
        self,
        begin: Callable[[Mapping[str, Any]], DocumentStage[T]],
        options: Mapping[str, Any],
        *,
        splits: bool,
    ) -> None:
        self._begin = begin
        self._options = dict(options)
        self._splits = splits
        self._decoder = getincrementaldecoder("utf-8")("strict")
        self._stage: DocumentStage[T] | None = None
        self._probe = Document()
        # The text from the piece on that completed the document, and the offset of that piece.
        self._kept = ""
        self._kept_at = 0
        # True once the document is not JSON, so that its end cannot be found.
        self.failed = False
        self._error: JsonrillError | None = None

    def feed(self, data: Text) -> Iterator[T]:
        """Yield what this piece of text brings."""
        first, *others = self._decoded(data).split(SEPARATOR)
        yield from self._guarded(self._read(first))
        for record in others:
            yield from self._guarded(self._end())
            self.failed = False
            yield from self._guarded(self._read(record))

    def flush(self, cut: CutShort | None = None) -> Iterator[T]:
        """End the text. If the provider cut the answer, more documents might have come."""
        self._decoded(b"", last=True)
        was_open = self._stage is not None
        yield from self._guarded(self._end(cut))
        if self._error is not None:
            raise self._error
        if cut is not None and (cut.reason != "lost" or not was_open):
            yield from self._begin(self._options).flush(cut)

    def _guarded(self, items: Iterator[T]) -> Iterator[T]:
        try:
            yield from items
        except (InvalidJSON, LimitExceeded) as error:
            if self._splits:
                raise
            self._error = self._error or error
            self._stage, self.failed = None, True

    def _decoded(self, data: Text, *, last: bool = False) -> str:
        try:
            return data if isinstance(data, str) else self._decoder.decode(data, last)
        except UnicodeDecodeError as error:
            raise InvalidJSON(f"expected UTF-8: {error.reason}") from error

    def _read(self, text: str) -> Iterator[T]:
        rest: str | None = None if self.failed else text
        while rest:
            if self._stage is None:
                rest = rest.lstrip(" \t\r\n\ufeff")
                if not rest:
                    return
                self._stage = self._begin(self._options)
                self._probe = self._new_probe()
                self._options.pop("prefix", None)
                self._kept_at, self._kept = 0, ""
            text, rest = self._split(rest) if self._splits else (rest, None)
            yield from self._stage.feed(text)
            if rest is not None:
                yield from self._end()

    def _new_probe(self) -> Document:
        names = (PARSE & self._options.keys()) - {"on_repair"}
        return Document(**{name: self._options[name] for name in names})

    def _split(self, text: str) -> tuple[str, str | None]:
        """Return what of this text the document has, and what the next one, if one begins."""
        if not self._probe.complete:
            self._kept_at, self._kept = self._kept_at + len(self._kept), ""
        self._kept += text
        try:
            self._probe.feed(text)
        except JsonrillError as error:
            if self._probe.complete and error.offset is not None:
                rest = self._kept[max(error.offset - self._kept_at, 0) :]
                return text[: max(len(text) - len(rest), 0)], rest
            self.failed = True  # the stage says why
        return text, None

    def _end(self, cut: CutShort | None = None) -> Iterator[T]:
        stage, self._stage = self._stage, None
        if stage is not None:
            yield from stage.flush(cut)

    def loop(self, reading: Ended | None = None) -> Loop[Text, T]:
        """Return the stage for `drive`."""

        def run(source: Pulled[Text]) -> Iterator[T]:
            with source as pieces:
                for piece in pieces:
                    if piece is END:
                        yield from self.flush(None if reading is None else reading.cut)
                    else:
                        yield from self.feed(piece)

        return Loop(run)
