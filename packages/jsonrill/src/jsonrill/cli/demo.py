"""The demo in a terminal: the jobs of jsonrill on recorded streams, without a network.

In a terminal each part is animated; in a pipe the same steps are printed as lines, without pauses.
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

# A picture for the terminal, and the line that replaces it elsewhere.
Step = tuple[str, str]


class Screen(Console):
    """A console whose reader may leave: rich itself would end the program."""

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
    for title, about, steps, seconds in parts:
        _say(console, title, about)
        _play(console, steps, seconds * pace)
    console.print(Text("Next: jsonrill values --help, or the README.", "dim"))


def _say(console: Console, title: str, about: str) -> None:
    console.print(Text.assemble(("\n" + title, "bold cyan"), ("  " + about, "dim")))


def _play(console: Console, steps: Iterator[Step], seconds: float) -> None:
    if not console.is_terminal:
        for _, line in steps:
            if line:
                console.print(Text(safe(line)), soft_wrap=True)
        return
    with Live(console=console, auto_refresh=False) as live:
        for picture, _ in steps:
            live.update(Panel(Text(safe(picture))), refresh=True)
            time.sleep(seconds)


def _tokens(text: str, size: int = 4) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _updates() -> Iterator[Step]:
    stream = PartialStream("REALTIME", entity="days")
    written, count, last = "", 0, ""
    for token in _tokens(recorded("trip.txt")):
        written += token
        line = ""
        for update in stream.feed(token):
            count += 1
            last = f"days[{update.index}] {update.status}\n{_pretty(update.data)}"
            line = update.to_json() if update.status == "COMPLETED" else line
        yield f"{written[-160:]}▌\n\n{last}", line
    yield f"{last}\n\n{count} updates, each valid JSON", f"{count} updates, each valid JSON"


def _chunks() -> Iterator[Step]:
    chunker, written = Chunker(), ""
    snapshots = recorded("snapshots.jsonl").splitlines()
    for number, snapshot in enumerate(snapshots, start=1):
        chunk = chunker.feed(snapshot)
        written += chunk
        yield f"snapshot {number}\n{snapshot}\n\ntext\n{written}▌", f"chunk {dumps(chunk)}"
    written += chunker.flush()
    is_same = json.loads(written) == json.loads(snapshots[-1])
    result = f"joined, the chunks {'are' if is_same else 'ARE NOT'} the last snapshot"
    yield f"{written}\n\n{result}", result


def _calls() -> Iterator[Step]:
    calls = ToolCalls()
    cards: list[str] = []
    for line in recorded("calls.jsonl").splitlines():
        changed = [update.call for update in calls.feed(json.loads(line)) if update.status]
        cards = [f"{call.name} {call.status}\n{_pretty(call.args)}" for call in calls.calls]
        lines = [f"{call.name} {call.status} {dumps(call.args)}" for call in changed]
        yield "\n\n".join(cards), "\n".join(lines)
    done = sum(call.status == "complete" for call in calls.calls)
    result = f"{done} of {len(calls.calls)} calls complete"
    yield "\n\n".join([*cards, result]), result


def _messages() -> Iterator[Step]:
    receiver = Receiver()
    text, sent, whole = recorded("trip.txt"), 0, 0
    for message in send(_tokens(text)):
        receiver.feed(message)
        sent += len(dumps(message))
        whole += len(dumps(receiver.value))
        yield f"{dumps(message)}\n\n{_pretty(receiver.value)}", ""
    result = f"{sent} bytes of messages; whole states would be {whole} bytes"
    yield f"{_pretty(receiver.value)}\n\n{result}", result


def _violation() -> Iterator[Step]:
    text = recorded("broken.txt")
    try:
        stream = PartialStream("REALTIME", schema=json.loads(recorded("broken.schema.json")))
    except ImportError as missing:
        yield f"left out: {missing}", f"left out: {missing}"
        return
    read = 0
    for token in _tokens(text):
        read += len(token)
        errors = [update.error for update in stream.feed(token) if update.error]
        if errors:
            saved = f"stopped after {read} of {len(text)} characters"
            line = f"{errors[0]['code']}: {errors[0]['message']}\n{saved}"
            yield f"{text[:read]}▌\n\n{line}", line
            return
        yield f"{text[:read]}▌", ""
