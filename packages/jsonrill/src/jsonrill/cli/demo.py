"""The demo in a terminal: the jobs of jsonrill on recorded streams, without a network.

In a terminal each part is animated; in a pipe only its last picture is printed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from .. import Chunker, PartialStream, Receiver, ToolCalls, send
from ..demo.recordings import recorded
from ..jsontext import dumps
from .files import BadOutput, safe


class Screen(Console):
    """A console that reports a closed pipe as `BadOutput`; rich would exit the program."""

    def on_broken_pipe(self) -> None:
        raise BadOutput("the reader has left") from BrokenPipeError()


def show(pace: float = 1.0, console: Console | None = None) -> None:
    """Show all parts, one after the other."""
    console = console or Screen(highlight=False)
    _say(console, "jsonrill", "growing JSON, in both directions")
    parts = (
        ("text → values", "a model's tokens as valid updates", _updates(), 0.035),
        ("snapshots → text", "snapshots with shuffled keys as chunks again", _chunks(), 0.22),
        ("tool calls", "two interleaved calls of one answer", _calls(), 0.09),
        ("a wire for growing JSON", "a state as small messages", _messages(), 0.04),
        ("a doomed answer", "a schema violation, found while it is written", _violation(), 0.03),
    )
    for title, about, pictures, seconds in parts:
        _say(console, title, about)
        _play(console, pictures, seconds * pace)
    console.print(Text("Next: jsonrill values --help, or the README.", "dim"))


def _say(console: Console, title: str, about: str) -> None:
    console.print(Text.assemble(("\n" + title, "bold cyan"), ("  " + about, "dim")))


def _play(console: Console, pictures: Iterator[str], seconds: float) -> None:
    if not console.is_terminal:
        *_, last = pictures
        console.print(Text(safe(last)), soft_wrap=True)
        return
    with Live(console=console, auto_refresh=False) as live:
        for picture in pictures:
            live.update(Panel(Text(safe(picture))), refresh=True)
            time.sleep(seconds)


def _tokens(text: str, size: int = 4) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _updates() -> Iterator[str]:
    stream = PartialStream("REALTIME", entity="days")
    written, count, last = "", 0, ""
    for token in _tokens(recorded("trip.txt")):
        written += token
        for update in stream.feed(token):
            count += 1
            last = f"days[{update.index}] {update.status}\n{_pretty(update.data)}"
        yield f"{written[-160:]}▌\n\n{last}"
    yield f"{last}\n\n{count} updates, each valid JSON"


def _chunks() -> Iterator[str]:
    chunker, written = Chunker(), ""
    snapshots = recorded("snapshots.jsonl").splitlines()
    for number, snapshot in enumerate(snapshots, start=1):
        written += chunker.feed(snapshot)
        yield f"snapshot {number}\n{snapshot}\n\ntext\n{written}▌"
    written += chunker.flush()
    is_same = json.loads(written) == json.loads(snapshots[-1])
    yield f"{written}\n\njoined, the chunks {'are' if is_same else 'ARE NOT'} the last snapshot"


def _calls() -> Iterator[str]:
    calls = ToolCalls()
    cards = ""
    for line in recorded("calls.jsonl").splitlines():
        calls.feed(json.loads(line))
        shown = [f"{call.name} {call.status}\n{_pretty(call.args)}" for call in calls.calls]
        cards = "\n\n".join(shown)
        yield cards
    done = sum(call.status == "complete" for call in calls.calls)
    yield f"{cards}\n\n{done} of {len(calls.calls)} calls complete"


def _messages() -> Iterator[str]:
    receiver = Receiver()
    text, sent, whole = recorded("trip.txt"), 0, 0
    for message in send(_tokens(text)):
        receiver.feed(message)
        sent += len(dumps(message))
        whole += len(dumps(receiver.value))
        yield f"{dumps(message)}\n\n{_pretty(receiver.value)}"
    result = f"{sent} bytes of messages; whole states would be {whole} bytes"
    yield f"{_pretty(receiver.value)}\n\n{result}"


def _violation() -> Iterator[str]:
    text, read = recorded("broken.txt"), 0
    try:
        stream = PartialStream("REALTIME", schema=json.loads(recorded("broken.schema.json")))
    except ImportError as missing:
        yield f"left out: {missing}"
        return
    for token in _tokens(text):
        read += len(token)
        yield f"{text[:read]}▌"
        if error := next((update.error for update in stream.feed(token) if update.error), None):
            saved = f"stopped after {read} of {len(text)} characters"
            yield f"{text[:read]}▌\n\n{error['code']}: {error['message']}\n{saved}"
            return
