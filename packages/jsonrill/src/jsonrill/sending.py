"""`send` and `receive`: a growing value over any transport, and their stages."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Iterator
from contextlib import suppress
from typing import Any, Final, Unpack, overload

from .deltas import Operation
from .driver import Pace, drive
from .errors import CutShort, Gap, InvalidMessage, JsonrillError, Limits, SourceFailed
from .parse.options import create_machine
from .partial_stream.recorder import Recorder
from .pipeline import Pipe, Stage
from .stages import BAD_TEXT, TextReader
from .streams import ReadOptions, Source, read_options
from .wire import Message, Receiver, Sender, last_step

# The fields and comments of server-sent events that carry no message.
_OTHER_FIELDS: Final = (b":", b"event:", b"id:", b"retry:")


class SendOptions(ReadOptions, total=False):
    """The options of `send`: also those that say how to read text."""

    states: bool
    numbered: bool
    frozen: bool
    every: float | None


@overload
def send(source: AsyncIterable[Any], **options: Unpack[SendOptions]) -> AsyncGenerator[Message]: ...
@overload
def send(source: Source, **options: Unpack[SendOptions]) -> Generator[Message]: ...
def send(
    source: Any,
    *,
    states: bool = False,
    numbered: bool = True,
    frozen: bool = False,
    every: float | None = None,
    **options: Any,
) -> Any:
    """Yield the messages that keep a remote copy of a growing value equal (docs/wire.md).

    The source is JSON text, or whatever else `values` reads. With `states` its elements are the
    states of a value, as `Sender.feed` takes them. With `every`, there is at most one message in
    that many seconds. Bad text ends in an error message; an exception of the source does, too, and
    is raised after it.
    """
    reader = Stage()
    stage: StateSender
    if states:
        stage = StateSender(numbered=numbered, frozen=frozen, **options)
    else:
        reading, parsing = read_options(options, is_first_call=True)
        reader = TextReader(reading)
        stage = TextSender(numbered=numbered, **parsing)
    pace: Pace[Message] | None = None if every is None else Pace(every, stage.sender.merge)
    return drive(Pipe(reader, stage), source, in_blocks=not states, pace=pace)


@overload
def receive(
    messages: AsyncIterable[Any], *, limits: Limits | None = None
) -> AsyncGenerator[Any]: ...
@overload
def receive(messages: Any, *, limits: Limits | None = None) -> Generator[Any]: ...
def receive(messages: Any, *, limits: Limits | None = None) -> Any:
    """Yield the value after each message that changed it.

    A message is decoded JSON. Bytes, and sources of bytes (a response, a file), are read as lines
    or server-sent events. `Gap` if a message or the end is missing, `InvalidMessage` if one is
    wrong, `SourceFailed` if the sender reports an error.
    """
    return drive(ValueReceiver(limits), messages)


# ---- stages ----


class StateSender(Stage):
    """States → messages."""

    def __init__(self, **options: Any) -> None:
        self.sender = Sender(**options)

    def feed(self, state: Any) -> list[Message]:
        """Return the message for this state."""
        return _as_list(self.sender.feed(state))

    def flush(self, cut: CutShort | None = None) -> list[Message]:
        """Return the last message."""
        return self.stop()

    def stop(self, error: Exception | None = None) -> list[Message]:
        """Return the last message; `error` is the reason for the end."""
        self.ended = True
        return _as_list(self.sender.end(error))

    def rescue(self, error: Exception) -> Iterator[Message]:
        if not self.ended:
            yield from self.stop(error)
        raise error


class TextSender(StateSender):
    """Pieces of JSON text → messages, at constant cost per piece: the parser knows the changes.

    A bad text ends in an error message, and nothing is raised.
    """

    def __init__(self, *, numbered: bool = True, **options: Any) -> None:
        super().__init__(numbered=numbered, ordered=True)
        # Something may follow the value, so its end changes nothing.
        self._recorder = self.sender.receiver.builder = Recorder(0, lambda: None)
        self._machine = create_machine(self._recorder, options)

    def feed(self, text: str | bytes) -> list[Message]:
        """Return the message for the changes that this piece of text makes."""
        return self._read(self._machine.feed, text, [])

    def flush(self, cut: CutShort | None = None) -> list[Message]:
        return self._read(self._machine.flush, cut, [last_step()])

    def _read(self, read: Callable[[Any], Any], data: Any, end: list[Operation]) -> list[Message]:
        """Return the message for the last changes and the end, which may be an error."""
        if self.ended:
            return []
        try:
            read(data)
        except BAD_TEXT as error:
            end = [last_step(error)]
        self.ended = bool(end)
        recorder = self._recorder
        is_new = recorder.started and (recorder.is_dirty or not recorder.is_sent)
        operations = recorder.take()[0] if is_new else []
        return _as_list(self.sender.write([*operations, *end]))


def _as_list(message: Message | None) -> list[Message]:
    return [] if message is None else [message]


class ValueReceiver(Stage):
    """Messages → the value after each change. Errors have the last value in `value`.

    Bytes are lines: each is a message, in an event stream after `data:`.
    """

    def __init__(self, limits: Limits | None) -> None:
        self._limits = limits or Limits()
        self._receiver = Receiver(limits=self._limits)
        # The incomplete last line.
        self._rest = bytearray()

    def feed(self, data: Any) -> Iterator[Any]:
        receiver = self._receiver
        is_text = isinstance(data, (bytes, bytearray, memoryview))
        for message in self._messages(bytes(data)) if is_text else (data,):
            if receiver.feed(message):
                yield receiver.value
            if receiver.ended:
                self.ended = True
                break
        if (error := receiver.error) is not None:
            self.fail(SourceFailed(f"the sender reports {error['code']}: {error['message']}"))

    def flush(self, cut: CutShort | None = None) -> Iterator[Any]:
        with suppress(InvalidMessage):  # a part of a message
            yield from self.feed(b"\n")
        if not self.ended:
            raise Gap("the messages stopped before the end")

    def rescue(self, error: Exception) -> Iterable[Any]:
        if isinstance(error, JsonrillError):
            error.value = self._receiver.value
        raise error

    def _messages(self, data: bytes) -> Iterator[Any]:
        """Return the messages in the lines that are complete with this data."""
        self._rest += data
        lines = self._rest.split(b"\n") if b"\n" in data else [self._rest]
        self._rest = lines.pop()
        if len(self._rest) > self._limits.text:
            raise InvalidMessage(f"a message has more than {self._limits.text} bytes")
        for line in lines:
            text = bytes(line).removeprefix(BOM_UTF8).strip().removeprefix(b"data:").strip()
            if text in (b"", b"[DONE]") or text.startswith(_OTHER_FIELDS):
                continue
            try:
                message = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise InvalidMessage(f"{text[:80]!r} is not JSON") from error
            yield message
