"""Run the cases of cases against any implementation: `python tools/conformance.py COMMAND`.

COMMAND is a program that answers questions: it reads one JSON object a line and writes one JSON
value a line. docs/fragments.md describes the questions; tools/conformance_adapter.py is such a
program, for jsonrill itself. Only the standard library is needed here.
"""

from __future__ import annotations

import argparse
import base64
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

CASES: Final = Path(__file__).resolve().parent.parent / "cases"
REFUSED: Final = {"refused": True}


class Question(NamedTuple):
    """What is asked, the right answer, and the case that it is from."""

    case: str
    asked: dict[str, Any]
    right: Any


def cuttings(text: Any) -> Iterator[list[Any]]:
    """A text at once, character by character, and in pieces of seven."""
    for size in (max(1, len(text)), 1, 7):
        yield [text[at : at + size] for at in range(0, len(text), size)]


def repair(case: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    right = REFUSED if case.get("refused") else {"value": case.get("value")}
    for pieces in cuttings(case["text"]):
        yield {"do": "repair", "pieces": pieces}, right


def fragments(case: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    for form in ("full", "compact"):
        right = case["wire" if form == "full" else "compact"]
        yield {"do": "fragments", "feeds": case["feeds"], "form": form}, right


def rebuild(case: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    if "refused" not in case:
        right = {"values": case["values"], "open": case["open"], "complete": case["complete"]}
        dialect = case.get("dialect", "jsonrill")
        yield {"do": "rebuild", "feeds": case["feeds"], "dialect": dialect}, right


def delta(case: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    asked = {"do": "apply", "previous": case["previous"], "delta": case["delta"]}
    yield asked, {"value": case["data"]}


def chunks(case: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    yield {"do": "chunks", "snapshots": case["snapshots"]}, case["chunks"]


def calls(case: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    if "errors" not in case:
        yield {"do": "calls", "events": case["events"]}, case["calls"]


def sse(case: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    raw = case.get("base64") or case.get("bytes_base64")
    data = base64.b64decode(raw) if raw is not None else case["text"].encode()
    for pieces in cuttings(data):
        texts = [base64.b64encode(piece).decode() for piece in pieces]
        yield {"do": "sse", "pieces": texts}, case["events"]


FILES: Final[dict[str, Callable[[dict[str, Any]], Iterator[tuple[Any, Any]]]]] = {
    "near_json": repair,
    "repair": repair,
    "fragments": fragments,
    "rebuilder": rebuild,
    "delta": delta,
    "walkthrough": chunks,
    "calls": calls,
    "sse": sse,
    "sse_browser": sse,
}


def questions(name: str) -> Iterator[Question]:
    """The questions that a file asks."""
    for number, case in enumerate(json.loads((CASES / f"{name}.json").read_text("utf8"))["cases"]):
        for asked, right in FILES[name](case):
            yield Question(
                f"{name} {number}: {case.get('name', case.get('class', ''))}", asked, right
            )


def same(one: Any, other: Any) -> bool:
    """True if two JSON values are equal; 1, 1.0 and true are three values."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the conformance suite.")
    parser.add_argument("--files", default=",".join(FILES), help="which files, by commas")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the program that answers")
    options = parser.parse_args()
    if not options.command:
        parser.error("name the program that answers")
    if unknown := {*options.files.split(",")} - FILES.keys():
        parser.error(f"{', '.join(sorted(unknown))}: the files are {', '.join(FILES)}")
    failed = 0
    print(f"suite {json.loads((CASES / 'suite.json').read_text('utf8'))['version']}")
    for name in options.files.split(","):
        asked = list(questions(name))
        wrong = [*_wrong(asked, options.command)]
        print(f"{name}: {len(asked) - len(wrong)} of {len(asked)}")
        for question, answer in wrong[:3]:
            print(f"  {question.case}\n    {json.dumps(question.asked)[:300]}")
            print(f"    right: {json.dumps(question.right)[:200]}")
            print(f"    given: {json.dumps(answer)[:200]}")
        failed += len(wrong)
    return min(failed, 1)


def _wrong(asked: list[Question], command: list[str]) -> Iterator[tuple[Question, Any]]:
    """The questions that got another answer, with it."""
    lines = "".join(json.dumps(question.asked) + "\n" for question in asked)
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, encoding="utf8")
    answers: list[Any] = [json.loads(line) for line in done.stdout.split("\n") if line]
    answers += ["no answer"] * (len(asked) - len(answers))
    for question, answer in zip(asked, answers, strict=True):
        if not same(question.right, answer):
            yield question, answer


if __name__ == "__main__":
    sys.exit(main())
