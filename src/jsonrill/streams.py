"""The only file that knows sync from async: each function here takes either kind of iterable.

A stage is a generator function of one piece (or `END`), so that it can yield what was good and
then raise. `_drive` runs it over a source, lazily, and closes the source when the loop is left.
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from inspect import isawaitable
from typing import Any, Final, TypeVar, overload

from .document import Document
from .errors import InvalidJSON, LimitExceeded, Truncated
from .fragments import Fragment
from .parser import Parser
from .paths import Path, from_text, lookup
from .toolcalls import ToolCalls, ToolCallUpdate

Text = str | bytes
T = TypeVar("T")
U = TypeVar("U")

END: Final[Any] = object()


@overload
def values(
    source: Text | Iterable[Text], *, live: bool = False, **options: Any
) -> Iterator[Any]: ...
@overload
def values(
    source: AsyncIterable[Text], *, live: bool = False, **options: Any
) -> AsyncIterator[Any]: ...
def values(source: Any, *, live: bool = False, **options: Any) -> Any:
    """The value after each piece of text that changed it, safe to keep (`live=True`: without a
    copy, changing with the next piece). Options are those of `Document`.

    With `many=True` a document that is not JSON does not stop the others; the first such error is
    raised when the source has ended."""
    document = Document(**options)

    def stage(piece: Text) -> Iterator[Any]:
        try:
            changed = document.flush() if piece is END else document.feed(piece)
        except (InvalidJSON, LimitExceeded):
            if document.changed:
                yield document.live if live else document.value
            raise
        yield from document.finished
        if changed:
            yield document.live if live else document.value
        if piece is END and document.errors:
            raise document.errors[0]

    return _drive(stage, source)


@overload
def fragments(source: Text | Iterable[Text], **options: Any) -> Iterator[Fragment]: ...
@overload
def fragments(source: AsyncIterable[Text], **options: Any) -> AsyncIterator[Fragment]: ...
def fragments(source: Any, **options: Any) -> Any:
    """The fragments of a text, each as soon as it is certain. Options are those of `Parser`."""
    parser = Parser(**options)

    def stage(piece: Text) -> Iterator[Fragment]:
        try:
            yield from parser.flush() if piece is END else parser.feed(piece)
        except (InvalidJSON, LimitExceeded) as error:
            yield from error.fragments
            raise
        if piece is END and parser.errors:
            raise parser.errors[0]

    return _drive(stage, source)


@overload
def texts(
    source: Text | Iterable[Text], field: str | Path, *, document: Document | None = None
) -> Iterator[str]: ...
@overload
def texts(
    source: AsyncIterable[Text], field: str | Path, *, document: Document | None = None
) -> AsyncIterator[str]: ...
def texts(source: Any, field: str | Path, *, document: Document | None = None) -> Any:
    """The text of one string field as it grows: joined, the yielded pieces are the field.

    `field` is a path (`"answer"`, `"root.steps[0].title"`). Give a `Document` to keep the rest.
    """
    path = from_text(field) if isinstance(field, str) else tuple(field)
    whole = Document() if document is None else document
    shown = 0

    def stage(piece: Text) -> Iterator[str]:
        nonlocal shown
        error = None
        try:
            changed = whole.flush() if piece is END else whole.feed(piece)
        except (InvalidJSON, LimitExceeded) as raised:
            error, changed = raised, whole.changed
        if changed:
            _, text = lookup(whole.live, path)
            if isinstance(text, str) and len(text) > shown:
                new, shown = text[shown:], len(text)
                yield new
        if error is not None:
            raise error

    return _drive(stage, source)


@overload
def tool_calls(
    source: AsyncIterable[Any], *, calls: ToolCalls | None = None, **options: Any
) -> AsyncIterator[ToolCallUpdate]: ...
@overload
def tool_calls(
    source: Iterable[Any], *, calls: ToolCalls | None = None, **options: Any
) -> Iterator[ToolCallUpdate]: ...
def tool_calls(source: Any, *, calls: ToolCalls | None = None, **options: Any) -> Any:
    """What each event of a provider's stream changes in its tool calls; `update.call` is the call.

    The source is the stream that the provider's client hands out, or any iterable of events.
    Options are those of `ToolCalls`; give one as `calls` to keep it, or for the next turn.
    """
    if calls is not None and options:
        raise TypeError(f"calls is given, so it cannot have {', '.join(sorted(options))} too")
    reading = ToolCalls(**options) if calls is None else calls

    def stage(event: Any) -> Iterator[ToolCallUpdate]:
        yield from reading.flush() if event is END else reading.feed(event)

    return _drive(stage, (source,) if isinstance(source, Mapping) else source)


def partial(text: Text, **options: Any) -> Any:
    """The value of one text that may be cut off anywhere; InvalidJSON if it cannot be JSON."""
    document = Document(**options)
    document.feed(text)
    try:
        document.flush()
    except Truncated:
        pass
    return document.value


def _drive(stage: Callable[[T], Iterator[U]], source: Any) -> Any:
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        source = (source,)
    if isinstance(source, AsyncIterable):
        return _adrive(stage, source)
    if not isinstance(source, Iterable):
        raise TypeError(f"a source is text or an iterable of it, not {type(source).__name__}")
    return _sdrive(stage, source)


def _sdrive(stage: Callable[[T], Iterator[U]], source: Iterable[T]) -> Iterator[U]:
    pieces = iter(source)
    ended = False
    try:
        for piece in pieces:
            yield from stage(piece)
        ended = True
        yield from stage(END)
    finally:
        close = None if ended else _closer(pieces, source, "close")
        if close is not None:
            close()


async def _adrive(stage: Callable[[T], Iterator[U]], source: AsyncIterable[T]) -> AsyncIterator[U]:
    pieces = aiter(source)
    ended = False
    try:
        async for piece in pieces:
            for out in stage(piece):
                yield out
        ended = True
        for out in stage(END):
            yield out
    finally:
        close = None if ended else _closer(pieces, source, "aclose", "close")
        if close is not None:
            closing = close()
            if isawaitable(closing):
                await closing


def _closer(pieces: Any, source: Any, *names: str) -> Callable[[], Any] | None:
    """How to tell the source that nobody reads on, so that `break` stops a generation."""
    for owner in (source, pieces):
        for name in names:
            close = getattr(owner, name, None)
            if callable(close):
                return close  # type: ignore[no-any-return]
    return None
