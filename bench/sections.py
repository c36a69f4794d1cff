"""What is measured: one function for each table, each gives plain data for JSON.

A section runs in a process of its own (`worker.py`), in the environment that `SECTIONS` names.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from . import chunking, prefixes, shapes, wire
from . import contestants as who
from .contestants import Contestant, Unfit
from .measure import interleaved, peak_memory, race, settle
from .shapes import FAMILY, PIECE, SHAPES, pieces, text_of

Results = dict[str, Any]
Kinds = tuple[type[Contestant], ...]

LIVE: Final[Kinds] = (who.CompiledLive, who.PureLive)
KEPT: Final[Kinds] = (who.CompiledKept, who.PureKept)
STATEFUL: Final[Kinds] = (
    who.StreamingJsonParser,
    who.StreamingJsonParserPure,
    who.JsonRiver,
    who.IjsonC,
    who.IjsonPython,
)
REPARSERS: Final[Kinds] = (
    who.Jiter,
    who.PydanticCore,
    who.PartialJsonParser,
    who.LangChain,
    who.JsonRepair,
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure, in seconds of processor time: each row; and before one is stopped."""

    budget: float
    cap: float

    def part(self, share: float) -> Effort:
        return Effort(self.budget * share, self.cap)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def made(kinds: Iterable[type[Contestant]]) -> dict[str, Contestant]:
    """Those that are installed here, ready to run."""
    ready: dict[str, Contestant] = {}
    for kind in kinds:
        try:
            ready[kind.name] = kind()
        except ModuleNotFoundError as error:
            say(f"  without {kind.name}: {error}")
    settle()
    return ready


def raced(ready: dict[str, Contestant], text: str, effort: Effort, size: int = PIECE) -> Results:
    """One text, cut into pieces: who reads it how fast."""
    cut = pieces(text, size)
    runs: dict[str, Callable[[Iterable[str]], object]] = {}
    for name, contestant in ready.items():
        try:
            contestant.prepare(text)
            runs[name] = contestant.run
        except Unfit:
            continue
    timings = race(runs, cut, budget=effort.budget, cap=effort.cap)
    rows = {name: timings[name].as_json(len(cut)) for name in runs}
    return {"characters": len(text), "pieces": len(cut), "rows": rows}


def values(effort: Effort, rivals: Kinds = STATEFUL + REPARSERS) -> Results:
    """Pieces of four characters → the value, looked at after each."""
    ready = made((*LIVE, *KEPT, who.CompiledUnread, *rivals))
    results: Results = {}
    stopped: set[str] = set()
    for shape in SHAPES:
        say(f"  {shape}")
        # Who was stopped is not tried on a longer text of the same kind.
        out = stopped if shape in FAMILY else set()
        able = {name: one for name, one in ready.items() if name not in out}
        results[shape] = raced(able, text_of(shape), effort)
        stopped |= {name for name, row in results[shape]["rows"].items() if row["read"] < 1}
    return results


def with_instructor(effort: Effort) -> Results:
    """The same for instructor, which needs an older jiter and so a place of its own."""
    return values(effort, (who.Instructor,))


def growth(effort: Effort) -> Results:
    """The cost of one piece from 1 KB to 10 MB."""
    ready = made((*LIVE, *STATEFUL))
    results: Results = {}
    for label, size in (("1 KB", 10**3), ("10 KB", 10**4), ("100 KB", 10**5), ("1 MB", 10**6)):
        say(f"  {label}")
        results[label] = raced(ready, shapes.report(size), effort)
    say("  10 MB")
    results["10 MB"] = raced(ready, shapes.report(10**7), effort)
    return results


def path(effort: Effort) -> Results:
    """The whole path, beside its floors, and what others do instead."""
    from . import path as rows

    return {**rows.costs(effort.budget), "instead": rows.instead(effort.budget)}


def path_with_instructor(effort: Effort) -> Results:
    """What instructor does, which needs a place of its own."""
    from . import path as rows

    return {"instead": rows.instead(effort.budget)}


def fragments(effort: Effort) -> Results:
    """Pieces of four characters → fragments, beside the values of the fastest rival."""
    ready = made((who.CompiledFragments, who.PureFragments, who.StreamingJsonParser))
    return {shape: raced(ready, text_of(shape), effort) for shape in ("2 KB", "20 KB", "100 KB")}


def whole(effort: Effort) -> Results:
    """1 MB at once, and in pieces of 64 KB as a network brings them."""
    streams = made((*LIVE, who.StreamingJsonParser, who.IjsonC))
    ready = {**streams, **made((who.Loads, who.Orjson, who.Jiter, who.PydanticCore))}
    text = text_of("1 MB")
    return {
        "one piece": raced(ready, text, effort, size=len(text)),
        "pieces of 64 KB": raced(streams, text, effort, size=65_536),
    }


def recorded(effort: Effort) -> Results:
    """Recorded streams and a large file, beside a plain loop and ijson."""
    from . import recorded as rows

    return rows.costs(effort.budget)


def crossover(effort: Effort) -> Results:
    """Tiny documents, where parsing all again may well win: from which size on does it not?"""
    ready = made((*LIVE, who.Jiter))
    texts = [shapes.tool(fields) for fields in (*range(1, 20), *range(20, 100, 8))]
    rows = {str(len(text)): raced(ready, text, effort.part(0.1))["rows"] for text in texts}
    makers = {name: one.new for name, one in ready.items() if isinstance(one, who.Ours)}
    making = interleaved(makers, budget=effort.budget)
    return {"rows": rows, "making": {name: timing.seconds for name, timing in making.items()}}


def spine(effort: Effort) -> Results:
    """What `.value` costs, by the size of the open containers: they are copied, nothing else."""
    ready = made((*KEPT, *LIVE))
    texts = {
        **{f"{count:,} elements before it": shapes.beside(count) for count in (1, 10, 100, 1000)},
        **{f"{depth} levels down": shapes.below(depth) for depth in (10, 100)},
    }
    return {label: raced(ready, text, effort.part(0.3)) for label, text in texts.items()}


def updates(effort: Effort) -> Results:
    """Pieces of four characters → updates of the whole document, made and read in several ways."""
    stream = who.PureLive().jsonrill.PartialStream

    def reading(mode: str, send: str, field: str) -> Callable[[Iterable[str]], object]:
        def run(cut: Iterable[str]) -> None:
            updates = stream(mode, send=send)
            for piece in cut:
                for update in updates.feed(piece):
                    if field:
                        getattr(update, field)

        return run

    ways = {
        "`REALTIME`, made and not read": reading("REALTIME", "data", ""),
        "`REALTIME`, every delta read": reading("REALTIME", "delta", "delta"),
        "`REALTIME`, all data read": reading("REALTIME", "data", "data"),
        "`PROGRESSIVE`, all data read": reading("PROGRESSIVE", "data", "data"),
    }
    results: Results = {}
    for shape in ("2 KB", "20 KB", "100 KB"):
        cut = pieces(text_of(shape))
        timings = race(ways, cut, budget=effort.budget, cap=effort.cap)
        results[shape] = {"rows": {way: timings[way].as_json(len(cut)) for way in ways}}
    return results


def chunker(effort: Effort) -> Results:
    """What a snapshot costs, beside `json.loads` of the same snapshots."""
    jsonrill = who.PureLive().jsonrill
    results: Results = {}
    for label, size in (("1 KB", 1_000), ("4 KB", 4_000), ("20 KB", 20_000), ("100 KB", 100_000)):
        say(f"  {label}")
        results[label] = chunking.costs(jsonrill, shapes.report(size), effort.budget)
    return results


def written(effort: Effort) -> Results:
    """What the chunker writes: is it the last snapshot, and how much comes late?"""
    return chunking.written(who.PureLive().jsonrill)


def server(effort: Effort) -> Results:
    """Events a second to 300 readers of one process, beside a bare ASGI loop that only sends."""
    from . import bench_server

    readers, rounds, seconds = 300, max(1, round(effort.budget)), min(4.0, 2 * effort.budget)
    results: Results = {"readers": readers, "versions": bench_server.versions(), "rates": {}}
    for rate in (50, 150):
        rates = asyncio.run(bench_server.compare(readers, rate, seconds, rounds))
        results["rates"][str(readers * rate)] = {name: max(all) for name, all in rates.items()}
    return results


def load(effort: Effort) -> Results:
    """How late events arrive at few and many readers, beside a bare loop and sse-starlette."""
    import argparse

    from . import bench_load, bench_server

    seconds = min(8.0, 4 * effort.budget)
    figures = asyncio.run(bench_load.sweep(argparse.Namespace(offered=15_000.0, seconds=seconds)))
    return {**figures, "seconds": seconds, "versions": bench_server.versions()}


def memory(effort: Effort) -> Results:
    """The most memory above that before, each in a fresh process."""
    tasks: dict[str, Kinds] = {
        "streamed": (who.Loads, *LIVE, *STATEFUL),
        "kept": (*KEPT, who.Jiter, who.PydanticCore),
    }
    return {
        task: {kind.name: in_fresh_process(kind, task) for kind in kinds}
        for task, kinds in tasks.items()
    }


def correctness(effort: Effort) -> Results:
    """What each shows for every prefix, and what it does with 30 000 open brackets at once."""
    results: Results = {}
    for name, contestant in made((*LIVE, *STATEFUL, *REPARSERS)).items():
        say(f"  {name}")
        deep = in_fresh_process(type(contestant), "deep")
        results[name] = {**prefixes.judge(contestant), "deep": deep}
    return results


def bytes_on_the_wire(effort: Effort) -> Results:
    """Bytes sent ÷ bytes of text, for tokens of four characters."""
    jsonrill = who.PureLive().jsonrill
    return {shape: wire.sizes(jsonrill, text_of(shape)) for shape in ("2 KB", "20 KB")}


def javascript(effort: Effort) -> Results:
    """The parser in JavaScript beside those of others: speed, size, and what each shows."""
    from . import javascript as parsers

    return parsers.compared(effort.budget, effort.cap)


SECTIONS: Final[dict[str, tuple[str, Callable[[Effort], Results]]]] = {
    "values": ("rivals", values),
    "instructor": ("instructor", with_instructor),
    "path": ("rivals", path),
    "path_instructor": ("instructor", path_with_instructor),
    "growth": ("rivals", growth),
    "fragments": ("rivals", fragments),
    "whole": ("rivals", whole),
    "recorded": ("rivals", recorded),
    "crossover": ("rivals", crossover),
    "spine": ("rivals", spine),
    "updates": ("rivals", updates),
    "chunker": ("rivals", chunker),
    "written": ("rivals", written),
    "wire": ("rivals", bytes_on_the_wire),
    "server": ("dev", server),
    "load": ("dev", load),
    "javascript": ("dev", javascript),
    "memory": ("rivals", memory),
    "correctness": ("rivals", correctness),
}


# ---- what has to begin in a fresh process: its memory is its own, and so is its crash ----


def in_fresh_process(kind: type[Contestant], task: str) -> int | str:
    """What the task printed, or how it ended."""
    say(f"  {kind.name}: {task}")
    command = [sys.executable, "-m", "bench.worker", task, kind.__name__]
    text = TASKS[task][0]()
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf8", check=False)
    if done.returncode < 0:
        return f"killed by signal {-done.returncode}"
    if done.returncode:
        return done.stderr.strip().splitlines()[-1].partition(":")[0].rpartition(".")[2]
    return int(done.stdout)


def streamed(contestant: Contestant, text: str) -> None:
    """Pieces of four characters; or all at once, for what the value alone takes."""
    if isinstance(contestant, who.Loads):
        contestant.parse(text)
    else:
        contestant.run(text[at : at + PIECE] for at in range(0, len(text), PIECE))


def kept(contestant: Contestant, text: str) -> None:
    """Every value kept to the end."""
    assert len(list(contestant.steps(pieces(text)))) >= len(text) // PIECE


def deep(contestant: Contestant, text: str) -> None:
    contestant.run([text])


# What the process is given (made here, so that the making is not in its memory), what it does.
TASKS: Final[dict[str, tuple[Callable[[], str], Callable[[Contestant, str], None]]]] = {
    "streamed": (lambda: text_of("1 MB"), streamed),
    "kept": (lambda: text_of("20 KB"), kept),
    "deep": (lambda: "[" * 30_000, deep),
}


def in_this_process(contestant: Contestant, task: str) -> int:
    """Do a task; the most memory that it took."""
    text = sys.stdin.buffer.read().decode()
    before = peak_memory()
    TASKS[task][1](contestant, text)
    return peak_memory() - before
