"""Reads recorded answers with `parts` and `run_tools`, whole and cut after every event, and counts.

    python tools/recorded_answers.py FOLDER

The folder has `calls.jsonl` as `recorded_calls.py` describes it. For each beginning of each stream,
every tool that `run_tools` starts must have the name and the arguments of a call at the end of the
stream, and each call starts once; a call that the provider runs itself never does. Joined, the
parts of a beginning are a beginning of the parts of the whole. The same streams are read again as
objects of the client libraries that are installed, as far as their types take the events. Exits
with 1 if anything is wrong.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jsonrill import Part
from jsonrill.agents.deciding import Job, ToolRun

Event = dict[str, Any]
Started = list[tuple[int, str, Any]]


class AnyTool(dict[str, Callable[..., Any]]):
    """Tools of every name that the streams have."""

    def __init__(self, names: set[str]) -> None:
        super().__init__((name, lambda **arguments: arguments) for name in names)


def run(events: list[Any], names: set[str], when: Any) -> Iterator[tuple[list[Part], Started]]:
    """The parts and the started tools after each event, and, last, after the end of the stream."""
    running = ToolRun(AnyTool(names), when=when)
    for event in [*events, None]:
        parts = running.flush() if event is None else running.feed(event)
        yield parts, [(job.call.number, job.call.name or "", given(job)) for job in running.jobs]
        running.jobs.clear()


def given(job: Job) -> Any:
    """What a tool is called with: its arguments, or one free text."""
    return job.positional[0] if job.call.encoding == "text" else job.named


def joined(parts: list[Part]) -> dict[int, str]:
    """The text of each part, by its index."""
    texts: dict[int, str] = {}
    for part in parts:
        if part.kind in ("text", "reasoning", "call"):
            texts[part.index] = texts.get(part.index, "") + part.delta
    return texts


class Count:
    def __init__(self) -> None:
        self.streams = self.cuts = self.starts = 0
        self.problems: list[str] = []

    def check(self, name: str, events: list[Any], expected: list[Event] | None) -> None:
        """Read a stream whole and cut after every event."""
        names = {it["name"] for it in expected or () if it["name"]}
        self.streams += 1
        for when in ("args", "call"):
            wanted = [it["name"] for it in expected or ()]
            known = None
            for at in range(len(events), -1, -1):
                steps = list(run(events[:at], names, when))
                self.cuts += 1
                started = [one for _, starts in steps for one in starts]
                self.starts += len(started)
                texts = joined([part for parts, _ in steps for part in parts])
                if known is None:
                    known = {number: rest for number, *rest in started}, texts
                    self._whole(f"{name}, when={when}", started, expected, wanted)
                self._cut(f"{name}, when={when}, cut after {at}", started, texts, known)

    def _whole(self, where: str, started: Started, expected: Any, wanted: list[str]) -> None:
        for _, name, arguments in started:
            if not any(fits(it, name, arguments) for it in expected or ()):
                self.problems.append(f"{where}: started {name} with {arguments!r}")
        if Counter(name for _, name, _ in started) - Counter(wanted):
            self.problems.append(f"{where}: started {started}, expected {wanted}")

    def _cut(self, where: str, started: Started, texts: dict[int, str], known: Any) -> None:
        calls, whole = known
        if len({number for number, *_ in started}) != len(started):
            self.problems.append(f"{where}: started twice: {started}")
        for number, *rest in started:
            if calls.get(number) != rest:
                self.problems.append(f"{where}: started {rest}, at the end {calls.get(number)}")
        for index, text in texts.items():
            if not whole.get(index, "").startswith(text):
                self.problems.append(f"{where}: {text!r} is no beginning of {whole.get(index)!r}")


def fits(expected: Event, name: str, arguments: Any) -> bool:
    """True if a call is the one that was expected, as far as that is known."""
    if expected["name"] != name:
        return False
    if expected.get("raw") is not None:
        if isinstance(arguments, str):
            return bool(expected["raw"] == arguments)
        try:
            return bool(json.loads(expected["raw"] or "{}") == arguments)
        except ValueError:  # the recording itself was cut off: such a call never runs
            return False
    return expected.get("args") is None or bool(expected["args"] == arguments)


def clients() -> dict[str, Callable[[Event], Any]]:
    """For each kind of stream, a function that makes objects as the client makes them."""
    makers: dict[str, Callable[[Event], Any]] = {}
    try:
        from openai._models import construct_type as construct
        from openai.types.chat import ChatCompletionChunk
        from openai.types.responses import ResponseStreamEvent

        makers["openai_chat"] = lambda event: construct(value=event, type_=ChatCompletionChunk)
        makers["openai_responses"] = lambda event: construct(value=event, type_=ResponseStreamEvent)
    except ImportError:
        pass
    try:
        from anthropic._models import construct_type
        from anthropic.types import RawMessageStreamEvent as Raw

        makers["anthropic"] = lambda event: construct_type(value=event, type_=Raw)
    except ImportError:
        pass
    try:
        from google.genai.types import GenerateContentResponse

        makers["gemini"] = GenerateContentResponse.model_validate
    except ImportError:
        pass
    return makers


def main(folder: Path) -> int:
    warnings.simplefilter("ignore")  # a beginning of a stream may have no event that is known
    streams = [json.loads(line) for line in (folder / "calls.jsonl").open(encoding="utf8")]
    plain, objects = Count(), Count()
    makers = clients()
    refused: Counter[str] = Counter()
    for stream in streams:
        events, calls = stream["events"], stream["calls"]
        plain.check(f"{stream['id']} as dicts", events, calls)
        kind = stream["id"].rpartition("-")[0]
        if (make := makers.get(kind)) is None:
            refused[kind] += 1
            continue
        try:
            typed = [make(event) for event in events]
        except ValueError:  # the types of this version of the client do not take it
            refused[kind] += 1
            continue
        objects.check(f"{stream['id']} as objects", typed, calls)
    for count, form in ((plain, "dicts"), (objects, "objects of the clients")):
        for problem in count.problems[:20]:
            print(problem)
        print(
            f"{count.streams} streams as {form}: {count.cuts} cut-offs, {count.starts} starts,"
            f" {len(count.problems)} wrong"
        )
    print(f"not taken by a client's types: {dict(refused)}")
    return 1 if plain.problems or objects.problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
