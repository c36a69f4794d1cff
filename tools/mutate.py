"""Break single lines of source, and count how many the tests notice.

    python tools/mutate.py library 40

The lines are chosen at random; the seed is the hash of the commit, so a run can be repeated. Each
change is undone before the next one. The tests with the name of the module run first, then all
tests of the part. A change that loops for ever is noticed by the processor time it takes: on a busy
machine, time on the clock says nothing.
"""

from __future__ import annotations

import ast
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
# The sources and the tests of each part.
PARTS: Final = {
    "library": ("packages/jsonrill/src/jsonrill", "packages/jsonrill/tests"),
    "server": ("packages/jsonrill-server/src/jsonrill_server", "packages/jsonrill-server/tests"),
    "batch": ("packages/jsonrill-batch/src/jsonrill_batch", "packages/jsonrill-batch/tests"),
    "js": ("js/src", "js/tests"),
}
FLIPS: Final = {
    "Eq": "!=", "NotEq": "==", "Lt": "<=", "LtE": "<", "Gt": ">=", "GtE": ">", "Is": "is not",
    "IsNot": "is", "In": "not in", "NotIn": "in",
}  # fmt: skip
JS_CHANGES: Final = (
    (re.compile(r"==="), "!=="),
    (re.compile(r"!=="), "==="),
    (re.compile(r" < "), " <= "),
    (re.compile(r" > "), " >= "),
    (re.compile(r"&&"), "||"),
    (re.compile(r"\|\|"), "&&"),
    (re.compile(r"if \("), "if (!"),
    (re.compile(r"\b1\b"), "2"),
    (re.compile(r"\b0\b"), "1"),
    (re.compile(r"^\s+[\w.#]+\([^()]*\);$"), ";"),
    (re.compile(r"\? (?P<a>[^?:]+) : (?P<b>[^?:;]+);"), r"? \g<b> : \g<a>;"),
)
# Of processor time in one process, and on the clock.
PROCESSOR_SECONDS: Final = 300
SECONDS: Final = 1800
FAILED: Final = re.compile(r"^(FAILED|ERROR|not ok|✖) .*", re.MULTILINE)


class Mutation(NamedTuple):
    """Bytes `start` to `end` of a file, and what replaces them."""

    file: Path
    start: int
    end: int
    text: str

    def __str__(self) -> str:
        source = self.file.read_bytes()
        line = source.count(b"\n", 0, self.start) + 1
        old = source[self.start : self.end].decode()
        return f"{self.file.relative_to(ROOT)}:{line}: {old!r} -> {self.text!r}"


def python_mutations(file: Path) -> Iterator[Mutation]:
    source = file.read_text("utf8")
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def text(node: ast.AST) -> str:
        return ast.get_source_segment(source, node) or ""

    def change(node: ast.expr | ast.stmt, new: str) -> Mutation:
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        return Mutation(file, start, end, new)

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            flipped = FLIPS[type(node.ops[0]).__name__]
            yield change(node, f"({text(node.left)} {flipped} {text(node.comparators[0])})")
        elif isinstance(node, (ast.If, ast.While)) and "TYPE_CHECKING" not in text(node.test):
            yield change(node.test, f"(not ({text(node.test)}))")
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield change(node, f"({node.value + 1})")
        elif isinstance(node, ast.IfExp):
            swapped = f"({text(node.orelse)} if {text(node.test)} else {text(node.body)})"
            yield change(node, swapped)
        elif isinstance(node, (ast.AugAssign, ast.Expr)) and not isinstance(
            node.value, ast.Constant
        ):
            yield change(node, "pass")


def js_mutations(file: Path) -> Iterator[Mutation]:
    start = 0
    for line in file.read_text("utf8").splitlines(keepends=True):
        is_comment = line.lstrip().startswith(("*", "/"))
        for pattern, new in () if is_comment else JS_CHANGES:
            for match in pattern.finditer(line):
                first = start + len(line[: match.start()].encode())
                end = first + len(match.group().encode())
                yield Mutation(file, first, end, match.expand(new))
        start += len(line.encode())


def commands(file: Path, sources: str, tests: str) -> list[list[str]]:
    """Return the commands that may notice a change of a file, the quickest first."""
    words = {file.stem, file.parent.name} - {Path(sources).name, "__init__", "index", "src"}
    found = sorted(
        path
        for path in (ROOT / tests).rglob("*test*.*")
        if path.suffix in (".py", ".mjs", ".js", ".ts", ".tsx")
        and any(word.strip("_") in str(path.relative_to(ROOT / tests)) for word in words)
    )
    near = [str(path) for path in found]
    if file.suffix == ".py":
        run = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        every = [*run, "-n", "2", str(ROOT / tests)]
        return [[*run, *near], every] if near else [every]
    every = ["node", "--test", *map(str, sorted((ROOT / tests).glob("*.test.js")))]
    return [["node", "--test", *near], every] if near else [every]


def _limit_processor_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))


def noticed_by(mutation: Mutation, sources: str, tests: str) -> str | None:
    """Return the line that names the first test which fails with this change."""
    before = mutation.file.read_bytes()
    try:
        changed = before[: mutation.start] + mutation.text.encode() + before[mutation.end :]
        mutation.file.write_bytes(changed)
        for command in commands(mutation.file, sources, tests):
            try:
                done = subprocess.run(
                    command,
                    cwd=ROOT,
                    capture_output=True,
                    text=True,
                    timeout=SECONDS,
                    preexec_fn=_limit_processor_time,
                )
            except subprocess.TimeoutExpired:
                return "a time limit"
            if done.returncode:
                failed = FAILED.search(done.stdout)
                return failed.group() if failed else f"exit code {done.returncode}"
        return None
    finally:
        mutation.file.write_bytes(before)


def main(part: str, count: int) -> None:
    sources, tests = PARTS[part]
    seed = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    mutate = js_mutations if part == "js" else python_mutations
    files = sorted((ROOT / sources).rglob("*.js" if part == "js" else "*.py"))
    every = [mutation for file in files for mutation in mutate(file)]
    survivors = 0
    for mutation in Random(seed).sample(every, count):
        shown, test = str(mutation), noticed_by(mutation, sources, tests)
        print(f"{shown}: {test or 'SURVIVED'}", flush=True)
        survivors += test is None
    print(f"{part}: {count - survivors} of {count} noticed, seed {seed}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
