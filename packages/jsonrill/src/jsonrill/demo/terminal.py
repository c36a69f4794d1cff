"""Shows the three jobs in about ten seconds, on recorded streams, without a network.

In a terminal each part is animated; in a pipe the same steps are printed as lines, without pauses.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .. import Chunker, PartialStream, ToolCalls
from ..jsontext import dumps
from ..options import Mode
from ..terminal import CARET, Screen, rendered, safe
from .recordings import recorded

MODES: tuple[Mode, ...] = ("REALTIME", "PROGRESSIVE", "ONE-BY-ONE")


def show(pace: float = 1.0, console: Console | None = None, still: bool = False) -> None:
    """Show all four parts, one after the other."""
    stage = Stage(console or Screen(highlight=False), pace, still)
    stage.title("jsonrill", "streaming JSON in both directions")
    for part in (text_to_values, snapshots_to_text, tool_calls, stopped_early):
        part(stage)
    stage.say("Next: jsonrill values --help, or the README.", "dim")


class Stage:
    """Shows a part: animated in a terminal, as lines elsewhere, or only its last frame."""

    def __init__(self, console: Console, pace: float, still: bool = False) -> None:
        self.console = console
        self._live = console.is_terminal
        self._still = still
        self._pace = pace if self._live else 0.0

    def title(self, title: str, about: str) -> None:
        self.console.print(Text.assemble(("\n" + title, "bold cyan"), ("  " + about, "dim")))

    def say(self, text: str, style: str = "") -> None:
        self.console.print(Text(text, style))

    def rest(self, seconds: float) -> None:
        if self._pace:
            time.sleep(seconds * self._pace)

    @contextmanager
    def playing(self) -> Iterator[Callable[[RenderableType, str], None]]:
        """A function that shows a frame, or prints the line that replaces it."""
        if not self._live:
            yield (
                lambda frame, line: self.console.print(Text(line), soft_wrap=True) if line else None
            )
            return
        if self._still:
            frames: list[RenderableType] = []
            yield lambda frame, line: frames.append(frame)
            self.console.print(frames[-1])
            return
        with Live(console=self.console, auto_refresh=False) as live:
            yield lambda frame, line: live.update(frame, refresh=True)


def tokens(text: str, size: int = 4) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def text_to_values(stage: Stage) -> None:
    """Show a model's tokens becoming values, in three modes side by side."""
    stage.title("text → values", "the same tokens in three modes")
    text = recorded("trip.txt")
    streams: dict[str, PartialStream] = {mode: PartialStream(mode, entity="days") for mode in MODES}
    last: dict[str, Any] = dict.fromkeys(MODES)
    counts: dict[str, int] = dict.fromkeys(MODES, 0)
    shown = ""
    with stage.playing() as play:
        for token in tokens(text):
            shown += token
            line = ""
            for mode, stream in streams.items():
                for update in stream.feed(token):
                    last[mode] = update
                    counts[mode] += 1
                    if update.status == "COMPLETED":
                        line += f"{mode:12} {update.to_json()}\n"
            play(_modes(shown, last, counts), line.rstrip())
            stage.rest(0.035)
    for mode, count in counts.items():
        stage.say(f"  {mode}: {count} updates, each valid JSON", "green")


def _modes(shown: str, last: dict[str, Any], counts: dict[str, int]) -> RenderableType:
    answer = Panel(
        Text(safe(shown) + CARET), title="the model writes", border_style="dim", height=9
    )
    panels = [
        Panel(
            rendered(update.data, update.open_path) if update else Text(""),
            title=f"{mode} ({counts[mode]})",
            subtitle=f"days[{update.index}] {update.status}" if update else "",
            height=11,
        )
        for mode, update in last.items()
    ]
    return Group(answer, _side_by_side(panels))


def _side_by_side(panels: list[Panel]) -> Table:
    """The panels in one row, however narrow the terminal is."""
    row = Table.grid(expand=True)
    for _ in panels:
        row.add_column(ratio=1)
    row.add_row(*panels)
    return row


def snapshots_to_text(stage: Stage) -> None:
    """Show shuffled snapshots becoming chunks."""
    stage.title("snapshots → text", "complete snapshots with shuffled keys, as chunks again")
    snapshots = recorded("snapshots.jsonl").splitlines()
    chunker = Chunker()
    written = ""
    with stage.playing() as play:
        for number, snapshot in enumerate([*snapshots, None], start=1):
            chunk = chunker.flush() if snapshot is None else chunker.feed(snapshot)
            written += chunk
            play(_chunks(snapshot, number, written, chunk), f"chunk {number:2}  {dumps(chunk)}")
            stage.rest(0.22)
    same = json.loads(written) == json.loads(snapshots[-1])
    stage.say(f"  joined, the chunks {'are' if same else 'ARE NOT'} the last snapshot", "green")


def _chunks(snapshot: str | None, number: int, written: str, chunk: str) -> RenderableType:
    old = written[: len(written) - len(chunk)]
    text = Text.assemble(old, (chunk, "bold yellow"), (CARET, "bold yellow"))
    return Group(
        Panel(
            Text(snapshot or "(the end)"), title=f"snapshot {number}", border_style="dim", height=5
        ),
        Panel(text, title="text written so far", height=6),
    )


def tool_calls(stage: Stage) -> None:
    """Show two interleaved tool calls as they grow."""
    stage.title("tool calls", "two calls of one answer, interleaved, each live")
    calls = ToolCalls()
    with stage.playing() as play:
        for line in recorded("calls.jsonl").splitlines():
            changed = calls.feed(json.loads(line))
            told = [f"{u.call.name:12} {dumps(u.call.args)}" for u in changed if u.status]
            play(_cards(calls), "\n".join(told))
            stage.rest(0.09)
    done = sum(call.status == "complete" for call in calls.calls)
    stage.say(f"  {done} of {len(calls.calls)} calls complete", "green")


def _cards(calls: ToolCalls) -> RenderableType:
    return _side_by_side(
        [
            Panel(
                rendered(call.args) if call.args is not None else Text(CARET, "bold yellow"),
                title=f"{call.name}",
                subtitle=call.status,
                border_style="green" if call.status == "complete" else "yellow",
                height=8,
            )
            for call in calls.calls
        ]
    )


def stopped_early(stage: Stage) -> None:
    """Show a schema violation that is found while it is written."""
    stage.title("a doomed answer", "a schema violation, stopped at its first character")
    text = recorded("broken.txt")
    try:
        stream = PartialStream("REALTIME", schema=json.loads(recorded("broken.schema.json")))
    except ImportError as missing:
        stage.say(f"  left out: {missing}", "yellow")
        return
    read = 0
    with stage.playing() as play:
        for token in tokens(text):
            read += len(token)
            errors = [u.error for u in stream.feed(token) if u.error]
            play(_answer(text, read, errors), "")
            if errors:
                break
            stage.rest(0.03)
    for error in errors:
        stage.say(f"  {error['code']}: {error['message']}", "red")
    stage.say(
        f"  stopped after {read} of {len(text)} characters: {len(text) - read} saved", "green"
    )


def _answer(text: str, read: int, errors: list[Any]) -> RenderableType:
    style = "red" if errors else "dim"
    return Panel(Text(text[:read] + CARET), title="the model writes", border_style=style, height=9)
