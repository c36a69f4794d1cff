"""Docstrings, comments, messages, help, pages and docs are in plain English: some phrases are not.

Each pattern has the words to use in its place. What is checked: comments and strings of Python,
every line of JavaScript and HTML, and the prose of the docs; and the names in code, that of tests,
tools, benchmarks and the Makefile included.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import ROOT, SOURCES

WHOLE = r"whole (value|stream|answer|document|response|container)s?\b"
# Phrase → what to say instead.
PHRASES: dict[str, str] = {
    r"who(ever|soever)\b": "name who: the caller, the reader, the producer, the client",
    r"who (asks|looks|reads|wants|waits)\b": "name who: the caller, the reader, the client",
    r"strangers?('s?)?\b": "untrusted input",
    r"(what|where) (it |this |that )?(stands|stood)\b": "the value, the text; is, was",
    r"stood\b": "was",
    r"stands? (at|in|under|above|below|beside|before|after|between|inside|outside)\b": "is",
    r"(everything|it all|all of it) has (come|arrived)\b": "complete",
    r"has come\b": "has arrived, is complete",
    r"one piece (forth|on)\b": "next piece",
    r"find out\b": "detect",
    r"for ever\b": "forever, permanently",
    r"(no|any|some)body\b": "name who: no reader, any producer, another caller",
    r"so many\b(?! \w+ that)": "at most N, the number of",
    r"nothing (more )?to say\b": "no events, no output",
    r"has (something|nothing|no more) to say\b": "emits, returns nothing",
    r"(lets?|let) go of\b": "close, release",
    r"by themselves\b": "by default",
    r"(is|was|are|were) whole\b": "is complete",
    WHOLE: "complete",
    r"(judge|judges|judged|judging)\b": "validate",
    r"(They|It does|Not now)\.(?=[\"'`)]|$)": "say what is returned",
}
# File → phrases that are right there, with the reason.
ALLOWED: dict[str, dict[str, str]] = {}

FILES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *(
        path
        for kind in ("py", "js", "html")
        for folder in (*SOURCES, ROOT / "js" / "src", ROOT / "page")
        for path in sorted(folder.rglob(f"*.{kind}"))
        if not {"recordings", "tests"} & {*path.parts}
    ),
]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that people read, with their numbers."""
    text = path.read_text("utf8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING) or token.type == _FSTRING:
            # A string of one word is a name, not prose.
            if " " in token.string:
                for extra, line in enumerate(token.string.splitlines()):
                    yield token.start[0] + extra, line


# From 3.12 on the text of an f-string is a token of its own.
_FSTRING = getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_phrase_that_has_a_plain_word(path: Path) -> None:
    allowed = ALLOWED.get(name_of(path), {})
    wrong = [
        f"{name_of(path)}:{number}: {match.group()!r}; say: {instead}"
        for number, line in prose(path)
        for phrase, instead in PHRASES.items()
        if phrase not in allowed
        for match in re.finditer(rf"\b(?:{phrase})", line, re.IGNORECASE)
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_what_is_allowed_occurs() -> None:
    for name, phrases in ALLOWED.items():
        text = "\n".join(line for _, line in prose(ROOT / name))
        for phrase in phrases:
            assert phrase in PHRASES and re.search(rf"\b(?:{phrase})", text, re.IGNORECASE), name


MODULES = [path for path in FILES if path.suffix == ".py"]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_docstring_says_what_is_returned_or_done_and_asks_nothing(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = re.split(r"(?<=[.?!])\s|\n\n", ast.get_docstring(node) or "", maxsplit=1)[0]
            assert not first.rstrip().endswith("?"), f"{name_of(path)}: {first}"


SCRIPTS = [path for path in FILES if path.suffix == ".js"]


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_a_comment_of_a_javascript_function_asks_nothing(path: Path) -> None:
    for comment in re.findall(r"/\*\*(.*?)\*/", path.read_text("utf8"), re.DOTALL):
        text = re.sub(r"\s*\n\s*\*\s?", " ", comment).partition("@")[0].strip()
        first = re.split(r"(?<=[.?!])\s", text, maxsplit=1)[0]
        assert not first.endswith("?"), f"{name_of(path)}: {first}"


# Words that a name does not consist of: they are figures of speech, or have a plain word.
NAMES: dict[str, str] = {
    "account": "what is counted",
    "beating": "heartbeats",
    "books": "totals",
    "calm": "what is off",
    "crowd": "readers, clients",
    "hollow": "prefilled",
    "hope": "retried",
    "judged": "validated",
    "lasts": "max_seconds",
    "last_words": "closing_bytes",
    "mend": "repair",
    "near": "closest, neighbours",
    "patience": "the chunker's option; elsewhere: seconds, retry_for, a limit",
    "pulse": "tick",
    "stood": "was",
    "strike": "remove, fail",
    "wakes": "wake_ups",
    "warily": "leniently",
    "wary": "leniency",
    "look": "snapshot, peek, check",
}
# Names that tell nothing of what a variable holds.
EMPTY = {"found", "given", "made", "said"}
# In the sentence that a test's name is, these are plain words; so are names of the trade.
IN_SENTENCES = {"lasts", "look", "near", "wakes"}
OF_THE_TRADE = re.compile("look_?(up|ahead)|near_?json")
# Part of the path → words that are right there, with the reason.
NAMES_ALLOWED: dict[str, dict[str, str]] = {
    "jsonrill_server/runs/options.py": {"patience": "the chunker's option"},
    "jsonrill_batch/": {"patience": "the chunker's option"},
    "jsonrill/options.py": {"patience": "the chunker's option"},
    "jsonrill/chunker/": {"patience": "the chunker's option"},
    "tests/chunker/": {"patience": "the chunker's option"},
    "tests/typing/": {"patience": "the chunker's option"},
}


def names_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The names in code, with their lines."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Name):
            yield line, node.id
        elif isinstance(node, ast.Attribute):
            yield line, node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield line, node.name
        elif isinstance(node, ast.arg | ast.keyword):
            yield line, node.arg or ""


# How JavaScript declares: a variable or what is taken out of an object, a function or a class, the
# parameters of either, a field.
_DECLARED = re.compile(
    r"\b(?:const|let|var)\s+(?:(\w+)|\{([^}=]*)\}|\[([^\]=]*)\])"
    r"|\b(?:function\*?|class)\s+(\w+)(?:\(([^()]*)\))?"
    r"|^\s*(?:async )?\*?[#\w]*\(([^()]*)\) \{$"
    r"|\(([^()]*)\) =>"
    r"|^  ([#_]?\w+)(?: = .*)?;$",
    re.MULTILINE,
)


def names_in_script(text: str) -> Iterator[tuple[int, str]]:
    """The names that JavaScript declares, with their lines."""
    for declared in _DECLARED.finditer(text):
        line = text.count("\n", 0, declared.start()) + 1
        inside = re.sub(r"/\*.*?\*/|=[^,]*|\w+:", "", " ".join(filter(None, declared.groups())))
        for name in re.findall(r"\w+", inside):
            yield line, name


def wrong_names(path: Path, names: Iterator[tuple[int, str]]) -> list[str]:
    """What is wrong with names of this file, each with its line and what to say instead."""
    allowed = {
        word for part, words in NAMES_ALLOWED.items() if part in name_of(path) for word in words
    }
    return [
        f"{name_of(path)}:{line}: {name}; say: {instead}"
        for line, name in names
        for word, instead in NAMES.items()
        if word not in allowed
        and re.search(rf"(?:^|_){word}(?:_|$)", plain(name))
        and not OF_THE_TRADE.search(plain(name))
        and not (name.startswith("test_") and word in IN_SENTENCES)
    ]


CODE = [
    path
    for folder in (
        *SOURCES,
        *(ROOT / name for name in ("tests", "tools", "bench", "fuzz", "examples", "js", "page")),
        *sorted((ROOT / "packages").glob("*/tests")),
    )
    for kind in ("py", "js", "mjs")
    for path in sorted(folder.rglob(f"*.{kind}"))
    if not {"node_modules", "recordings", "data", "dist", "build"}
    & {*path.relative_to(folder).parts[:-1]}
    or folder in SOURCES
]


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_no_name_that_has_a_plain_word(path: Path) -> None:
    text = path.read_text("utf8")
    names = names_in(ast.parse(text)) if path.suffix == ".py" else names_in_script(text)
    wrong = wrong_names(path, names)
    assert not wrong, "\n" + "\n".join(wrong)


def test_no_target_of_the_makefile_that_has_a_plain_word() -> None:
    names = re.findall(r"^([\w-]+) *(?::|[:?]?=)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert names
    wrong = wrong_names(ROOT / "Makefile", ((0, name.replace("-", "_")) for name in names))
    assert not wrong, "\n" + "\n".join(wrong)


def variables_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The variables and parameters in code, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.ExceptHandler):
            yield node.lineno, node.name or ""


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_a_variable_is_named_after_what_it_holds(path: Path) -> None:
    text = path.read_text("utf8")
    names = variables_in(ast.parse(text)) if path.suffix == ".py" else names_in_script(text)
    wrong = [(line, name) for line, name in names if plain(name).strip("_") in EMPTY]
    assert not wrong, f"{name_of(path)}: {wrong}"


def test_the_names_that_javascript_declares_are_seen() -> None:
    script = """
export function one(two, three = 3) {
  const four = 1;
  for (const { five, six: seven } of eight) ninth((ten) => ten);
}
class Eleven {
  #twelve = null;
  thirteen(fourteen) {
    let [fifteen, sixteen] = seventeen;
  }
}
"""
    names = {name for _, name in names_in_script(script)}
    assert names == {
        *("one", "two", "three", "four", "five", "seven", "ten", "Eleven"),
        *("twelve", "fourteen", "fifteen", "sixteen"),
    }


def plain(name: str) -> str:
    """`HTTPWakes` and `_WAKES` as `http_wakes` and `_wakes`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
