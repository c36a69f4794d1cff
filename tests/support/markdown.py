"""Read Markdown pages for tests: blocks, headings, links, and the steps of the tutorial."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from support import ROOT

FENCE = re.compile(r"(?P<indent> *)(?P<ticks>```+) *(?P<language>[\w+-]*)(?P<rest>[^`]*)$")
FILE = re.compile(r'title="(?P<name>[^"]+)"')
SKIP = re.compile(r"<!-- *skip: *(?P<reason>.*?) *-->")
HEADING = re.compile(r"#{1,6} +(?P<title>.+?) *#*$")
LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)(?: +\"[^\"]*\")?\)")
CODE = re.compile(r"(`+).+?\1")


class Block(NamedTuple):
    """A fenced block: its language, text, first line in the page, and why it is not run if so.

    `file` is its title: the name of the file that it shows.
    """

    language: str
    text: str
    line: int
    skip: str | None
    file: str | None = None

    @property
    def is_session(self) -> bool:
        """True for an interactive session, which includes Python's answers."""
        return self.language == "pycon" or self.text.lstrip().startswith(">>>")


class Page(NamedTuple):
    blocks: list[Block]
    prose: str  # the page without fenced blocks


def read(text: str) -> Page:
    blocks: list[Block] = []
    prose: list[str] = []
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        fence = FENCE.match(line)
        if fence is None:
            prose.append(line)
            continue
        body = list(_until(fence["ticks"], lines, number))
        inside = "".join(_outdent(inner, len(fence["indent"])) + "\n" for inner in body)
        named = FILE.search(fence["rest"])
        file = named["name"] if named else None
        blocks.append(Block(fence["language"], inside, number + 1, _skip_reason(prose), file))
    return Page(blocks, "\n".join(prose))


def _until(ticks: str, lines: Iterator[tuple[int, str]], opened: int) -> Iterator[str]:
    for _, line in lines:
        if line.strip() == ticks:
            return
        yield line
    raise ValueError(f"the block opened in line {opened} is never closed")


def _outdent(line: str, width: int) -> str:
    return line[width:] if not line[:width].strip() else line


def _skip_reason(prose: list[str]) -> str | None:
    """Return the reason in the comment right before a block, if there is one."""
    before = next((line for line in reversed(prose) if line.strip()), "")
    comment = SKIP.fullmatch(before.strip())
    return comment["reason"] if comment else None


def links(page: Page) -> list[str]:
    """Return the links of a page into the repository: other pages, their headings, files."""
    targets = [link["target"] for link in LINK.finditer(CODE.sub("", page.prose))]
    return [target for target in targets if not re.match(r"[a-z][a-z0-9+.-]*:", target)]


def anchors(page: Page) -> set[str]:
    """Return the headings' anchors as GitHub makes them; a repeated one gets -1."""
    seen: dict[str, int] = {}
    names = set()
    for line in page.prose.splitlines():
        if heading := HEADING.match(line):
            # A link counts by its text, code without its backticks.
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading["title"]).lower()
            slug = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
            count = seen[slug] = seen.get(slug, -1) + 1
            names.add(f"{slug}-{count}" if count else slug)
    return names


def broken(target: str, file: Path) -> str | None:
    """Return the problem of a link in `file`, or None."""
    name, _, anchor = target.partition("#")
    there = file.parent / name if name else file
    if not there.exists():
        return f"{target}: there is no {name}"
    if anchor and there.suffix == ".md" and anchor not in anchors(read(there.read_text("utf8"))):
        return f"{target}: no such heading"
    return None


def compiled(source: str, where: str, line: int) -> Any:
    """Compile code whose traceback names the page and the line in it."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return compile("\n" * (line - 1) + source, where, "exec", flags, dont_inherit=True)


def run_script(block: Block, where: str, names: dict[str, Any]) -> str:
    """Run a block and return its output."""
    code = compiled(block.text, where, block.line)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        result = eval(code, names)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(result)
    return printed.getvalue()


TUTORIAL = ROOT / "docs" / "tutorial"


class Step(NamedTuple):
    """A file to write (`file` and its `text`), or a command (`text`) and its output."""

    where: str
    text: str
    file: str | None = None
    prints: str | None = None


def pages() -> list[str]:
    """Return the names of the tutorial's pages in the order of the site."""
    listed = re.findall(r"^ +- .*: tutorial/(\S+)$", (ROOT / "mkdocs.yml").read_text("utf8"), re.M)
    assert sorted(listed) == sorted(item.name for item in TUTORIAL.glob("*.md"))
    return listed


def steps(page: str) -> Iterator[Step]:
    blocks = read((TUTORIAL / page).read_text("utf8")).blocks
    for at, block in enumerate(blocks):
        where = f"docs/tutorial/{page}, line {block.line}"
        if block.file:
            yield Step(where, block.text, block.file)
        elif block.language == "console":
            *commands, last = [item.removeprefix("$ ") for item in block.text.splitlines()]
            yield from (Step(where, command) for command in commands)
            after = blocks[at + 1] if at + 1 < len(blocks) else None
            shown = after.text if after and after.language == "text" else None
            yield Step(where, last, prints=shown)
        else:
            assert block.language in ("text", "pyi"), f"{where}: a program here has a title"
