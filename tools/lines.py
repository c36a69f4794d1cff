"""`make check`: how many lines of code each package has, and that none grows beyond its ceiling.

A line of code has something on it that is not a comment and not a docstring. The goal is the size
at which one person can still read the package; a ceiling is there so that a package above its goal
does not grow on the way there. A package that became smaller gets a lower ceiling, 5 % above its
count.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
# Tests, and what is data or belongs to others.
LEFT_OUT: Final = {"tests", "recordings", "node_modules", "__pycache__"}
NOT_CODE: Final = (
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
)
# A string or a pattern of JavaScript, which may hold what looks like a comment; or a comment.
JS_TOKEN: Final = re.compile(
    r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`"""
    r"""|(?<=[=(,:!&|?{};\[\n])\s*/(?![/*])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/)"""
    r"""|(//[^\n]*|/\*.*?\*/)""",
    re.DOTALL,
)
CSS_COMMENT: Final = re.compile(r"()(/\*.*?\*/)", re.DOTALL)
HTML_COMMENT: Final = re.compile(r"()(<!--.*?-->)", re.DOTALL)
COMMENTS: Final = {".js": JS_TOKEN, ".css": CSS_COMMENT, ".html": HTML_COMMENT}


class Package(NamedTuple):
    """A package: where its code is, how many lines it should have, and may have."""

    folder: str
    goal: int
    ceiling: int


PACKAGES: Final = {
    "library": Package("packages/jsonrill/src", 19_000, 28_900),
    "server": Package("packages/jsonrill-server/src", 7_000, 10_850),
    "batch": Package("packages/jsonrill-batch/src", 2_300, 2_900),
    "js": Package("js/src", 9_000, 12_600),
    "page": Package("page", 6_000, 7_900),
}


def in_python(text: str) -> int:
    """Lines with a token that is neither a comment nor part of a docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in NOT_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(doc := body[0], ast.Expr):
            if isinstance(doc.value, ast.Constant) and isinstance(doc.value.value, str):
                lines -= {*range(doc.lineno, (doc.end_lineno or doc.lineno) + 1)}
    return len(lines)


def in_text(text: str, comment: re.Pattern[str]) -> int:
    """Lines that are not empty without their comments."""
    bare = comment.sub(lambda token: token[1] or "\n" * token[2].count("\n"), text)
    return sum(1 for line in bare.splitlines() if line.strip())


def count(path: Path) -> int:
    """The lines of code of a file; 0 for what is not code."""
    if path.suffix == ".py":
        return in_python(path.read_text("utf8"))
    comment = COMMENTS.get(path.suffix)
    return 0 if comment is None else in_text(path.read_text("utf8"), comment)


def total(folders: Iterable[Path]) -> int:
    """The lines of code below some folders."""
    return sum(
        count(path)
        for folder in folders
        for path in ([folder] if folder.is_file() else sorted(folder.rglob("*")))
        if path.is_file() and LEFT_OUT.isdisjoint(path.relative_to(folder).parts)
    )


def report(root: Path = ROOT) -> list[str]:
    """Print the table; returns the packages that are above their ceilings."""
    above = []
    print("lines of code    now    goal  ceiling")
    for name, package in PACKAGES.items():
        now = total([root / package.folder])
        if now > package.ceiling:
            above.append(f"{name} has {now} lines of code, more than {package.ceiling}")
        print(f"  {name:10}{now:8}{package.goal:8}{package.ceiling:9}")
    return above


if __name__ == "__main__":
    sys.exit("\n".join(report()) or None)
