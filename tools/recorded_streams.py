"""Reads a folder of recorded streams with every reader, in both languages, and prints what differs.

    python tools/recorded_streams.py FOLDER

Recordings are read in the forms in which projects keep them: VCR cassettes (`.yaml`), HAR, event
streams (`.sse`, `.txt`), JSON lines (`.jsonl`, `.chunks.txt`) of events or of objects with
`events`, and such objects alone (`.json`). Each stream is read whole, as text in random pieces, and
cut off after every event; Python's result is compared with that of JavaScript (if there is node).
Exits with 1 if they differ. What the clients of OpenAI, Anthropic and Google accumulate (if they
are installed) is only shown where it differs: they join what odd servers repeat, for one.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from official_clients import accumulated, agrees

from jsonrill import Parts, ToolCalls
from jsonrill.eventstream import SSEDecoder, is_done, looks_like_events
from jsonrill.providers import Reader

Events = list[dict[str, Any]]
SCRIPT = Path(__file__).with_suffix(".mjs")


def recordings(folder: Path) -> Iterator[tuple[str, Events]]:
    """The name and the events of each stream in the folder."""
    for file in sorted(it for it in folder.rglob("*") if it.is_file()):
        name = str(file.relative_to(folder))
        if file.suffix in (".yaml", ".yml"):
            yield from _numbered(name, _cassette(file))
        elif file.suffix == ".har":
            log = json.loads(file.read_text("utf8"))["log"]
            bodies = [entry["response"]["content"].get("text", "") for entry in log["entries"]]
            yield from _numbered(name, bodies)
        elif file.suffix == ".json":
            case = json.loads(file.read_text("utf8"))
            if isinstance(case, dict) and isinstance(case.get("events"), list):
                yield name, case["events"]
        elif file.suffix in (".sse", ".txt", ".jsonl", ".ndjson"):
            text = file.read_text("utf8")
            lines = _objects(text)
            if lines and all("events" in line for line in lines):
                for number, line in enumerate(lines):
                    yield str(line.get("id") or f"{name}#{number}"), line["events"]
            else:
                yield from _numbered(name, [text])


def _cassette(file: Path) -> Iterator[str]:
    import yaml

    for one in (yaml.safe_load(file.read_text("utf8")) or {}).get("interactions", ()):
        body = one.get("response", {}).get("body", "")
        body = body.get("string", "") if isinstance(body, dict) else body
        yield body.decode("utf8", "replace") if isinstance(body, bytes) else str(body or "")


def _numbered(name: str, bodies: Any) -> Iterator[tuple[str, Events]]:
    for number, body in enumerate(bodies):
        if events := events_in(body):
            yield f"{name}#{number}", events


def events_in(body: str) -> Events:
    """The events of a body: an event stream, or JSON lines."""
    if not looks_like_events(body.encode()):
        return _objects(body)
    # The last event may lack its blank line.
    data = [event.data for event in SSEDecoder().feed(body + "\n\n")]
    return _objects("\n".join(text.replace("\n", "") for text in data if not is_done(text)))


def _objects(text: str) -> Events:
    """The objects of JSON lines; none if a line is something else."""
    try:
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError:
        return []
    return lines if all(isinstance(line, dict) for line in lines) else []


def read(events: Events) -> dict[str, Any]:
    """Text, thoughts, calls and end of a stream."""
    parts, calls = Parts(), ToolCalls(keep=None)
    texts = {"text": "", "reasoning": ""}
    for event in events:
        for part in parts.feed(event):
            if part.kind in texts:
                texts[part.kind] += part.delta
        calls.feed(event)
    parts.flush()
    calls.flush()
    shown = [[call.name, call.raw, call.status] for call in calls.calls]
    return {**texts, "calls": shown, "end": parts.outcome}


def differences(events: Events, whole: dict[str, Any], chance: random.Random) -> Iterator[str]:
    """What a stream says differently if it is cut in pieces, or off."""
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    decoder, at, decoded = SSEDecoder(), 0, []
    while at < len(text):
        size = chance.randint(1, 40)
        decoded += [json.loads(event.data) for event in decoder.feed(text[at : at + size])]
        at += size
    if (cut := read(decoded)) != whole:
        yield f"in random pieces: {cut}, whole: {whole}"
    for at in range(len(events)):
        cut = read(events[:at])
        if not all(whole[kind].startswith(cut[kind]) for kind in ("text", "reasoning")):
            yield f"cut after {at} events: {cut}, whole: {whole}"
        for now, final in zip(cut["calls"], whole["calls"], strict=False):
            if now[2] == "complete" and final[2] == "complete" and not _same(now[1], final[1]):
                yield f"cut after {at} events, {now} is complete; whole: {final}"


def _same(text: str, other: str) -> bool:
    return text == other or json.loads(text or "{}") == json.loads(other or "{}")


def in_javascript(streams: list[Events]) -> list[dict[str, Any]] | None:
    """What JavaScript reads; None without node."""
    if shutil.which("node") is None:
        return None
    lines = "".join(json.dumps(events) + "\n" for events in streams)
    done = subprocess.run(
        ["node", str(SCRIPT)], input=lines, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def main(folder: Path) -> int:
    warnings.simplefilter("ignore")  # a beginning of a stream may have no event that is known
    streams = [*recordings(folder)]
    chance = random.Random(0)
    theirs = in_javascript([events for _, events in streams])
    providers: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    others: Counter[str] = Counter()
    wrong = 0
    for number, (name, events) in enumerate(streams):
        whole, reader = read(events), Reader()
        for event in events:
            reader.feed(event)
        providers[reader.provider or "not recognised"] += 1
        problems = [*differences(events, whole, chance)]
        if theirs is not None and theirs[number] not in (whole, None):
            problems.append(f"JavaScript: {theirs[number]}, Python: {whole}")
        client = accumulated(reader.provider, events)
        if reader.provider is not None and client is not None:
            compared[reader.provider] += 1
            if not agrees(client, whole):
                others[reader.provider] += 1
                print(f"{name}: its client: {client}, jsonrill: {whole}")
        wrong += bool(problems)
        for problem in problems[:3]:
            print(f"{name}: {problem}")
    print(f"{len(streams)} streams: {dict(providers)}")
    print(f"{wrong} differ; node: {theirs is not None}")
    print(f"beside their clients: {dict(compared)}, which read in another way: {dict(others)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
