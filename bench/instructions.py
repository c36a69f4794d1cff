"""Count the processor instructions of ten rows that users feel, and report what changed.

`python -m bench.instructions` compares with `instructions.json`; `--write` replaces it. The counts
hardly depend on the load of the machine. Each is one whole run of pure Python under valgrind.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_suffix(".json")
ROOT: Final = FILE.parent.parent


def rows() -> dict[str, Callable[[], Any]]:
    import jsonrill

    from .texts import TEXTS, call_events, chat_events, pieces, table

    text = TEXTS["2 KB"]
    cut = pieces(text)
    chat, call = [*chat_events(cut)], [*call_events(cut)]
    messages = [*jsonrill.send(cut)]
    snapshots = [jsonrill.partial(text[:end]) for end in range(64, len(text), 64)]
    states = [table(2000), {**table(2000), "status": "done"}]
    return {
        "live": lambda: [*jsonrill.values(cut, live=True)],
        "values": lambda: [*jsonrill.values(cut)],
        "updates": lambda: [*jsonrill.updates(cut, send="delta")],
        "fragments": lambda: [*jsonrill.fragments(cut)],
        "repair": lambda: [*jsonrill.values(cut, repair=True)],
        "parts": lambda: [*jsonrill.parts(chat)],
        "calls": lambda: [*jsonrill.tool_calls(call)],
        "chunks": lambda: [*jsonrill.chunks(snapshots)],
        "send": lambda: [*jsonrill.send(cut), *jsonrill.send(states, states=True)],
        "receive": lambda: [*jsonrill.receive(messages)],
    }


def run(name: str, times: int) -> None:
    work = rows()[name]
    for _ in range(times):
        work()


def count(name: str, times: int) -> int:
    command = [
        *("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"),
        *(sys.executable, "-m", "bench.instructions", name, str(times)),
    ]
    environment = {"PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None, done.stderr
    return int(found[1])


def measure() -> dict[str, int]:
    """Return the instructions of one run of each row: what a second and third one add."""
    return {name: (count(name, 3) - count(name, 1)) // 2 for name in rows()}


def main() -> None:
    if len(sys.argv) == 3:
        return run(sys.argv[1], int(sys.argv[2]))
    if shutil.which("valgrind") is None:
        return print("instructions: valgrind is not installed")
    found = measure()
    if sys.argv[1:] == ["--write"]:
        FILE.write_text(json.dumps(found, indent=2) + "\n", "utf8")
        return None
    before: dict[str, int] = json.loads(FILE.read_text("utf8"))
    print("instructions of one run, compared with bench/instructions.json")
    for name, number in found.items():
        change = number / before[name] - 1 if name in before else 0.0
        print(f"  {name:10}{number:14,}{change:+8.1%}")
    return None


if __name__ == "__main__":
    main()
