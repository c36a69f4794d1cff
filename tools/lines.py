"""Compare the size of each part with its ceiling; `make check` fails above one.

A line of code has a token that is neither a comment nor part of a docstring. A part that is above
its budget for 1.0 has its present size as ceiling, which may only be lowered.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
NOT_CODE: Final = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
)
DOCUMENTED: Final = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
WEB: Final = re.compile(r"\.(js|mjs|ts|jsx|tsx|css|html)$")
BLOCK_COMMENT: Final = re.compile(r"(?<![^\s(])/\*.*?\*/|<!--.*?-->", re.DOTALL)


class Part(NamedTuple):
    """The files of a part (a pattern of their names), how they are counted, and the limits."""

    files: str
    count: Callable[[Path], int]
    budget: int
    ceiling: int


def lines_of_python(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in NOT_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines -= {*range(docstring.lineno, (docstring.end_lineno or 0) + 1)}
    return len(lines)


def lines_of_web(text: str) -> int:
    text = BLOCK_COMMENT.sub("", text)
    return sum(1 for line in text.splitlines() if line.strip() and line.strip()[:2] != "//")


def code(file: Path) -> int:
    if file.suffix == ".py":
        return lines_of_python(file.read_text("utf8"))
    return lines_of_web(file.read_text("utf8")) if WEB.search(file.name) else 0


def raw(file: Path) -> int:
    return len(file.read_text("utf8").splitlines())


def words(file: Path) -> int:
    return len(file.read_text("utf8").split())


def kilobytes(file: Path) -> int:
    return -(-file.stat().st_size // 1000)


PARTS: Final = {
    "library": Part(r"packages/jsonrill/src/.*", code, 11_000, 11_580),
    "server": Part(r"packages/jsonrill-server/src/.*", code, 3_000, 3_192),
    "batch": Part(r"packages/jsonrill-batch/src/.*", code, 500, 493),
    "js": Part(r"js/src/.*", code, 4_500, 4_381),
    "page": Part(r"page/(?!tests/).*", code, 3_000, 3_000),
    "tests (raw lines)": Part(
        r"(.*/)?tests/.*\.(py|js|mjs|ts|tsx)|conftest\.py", raw, 30_000, 30_000
    ),
    "tools and bench": Part(r"(tools|bench)/.*", code, 2_000, 2_000),
    "docs (words)": Part(r"(README|CONTRIBUTING|js/README|docs/.*)\.md", words, 35_000, 35_000),
    "cases (kB)": Part(r"cases/.*", kilobytes, 1_000, 1_000),
}


def main() -> int:
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT)
    files = [file for file in listed.decode().splitlines() if (ROOT / file).is_file()]
    too_large = []
    print(f"{'':18}{'size':>8}{'ceiling':>9}{'budget':>8}")
    for name, part in PARTS.items():
        size = sum(part.count(ROOT / file) for file in files if re.fullmatch(part.files, file))
        print(f"{name:18}{size:8}{part.ceiling:9}{part.budget:8}")
        if size > part.ceiling:
            too_large.append(f"{name}: {size} is above the ceiling of {part.ceiling}")
    print("\n".join(too_large))
    return len(too_large)


if __name__ == "__main__":
    sys.exit(main())
