"""The tutorial as steps: files that its pages show, and commands with what they print.

A page's ```python and ```html blocks with a title are files; the lines of its ```console blocks are
commands, and a ```text block right after them is what the last of these prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from support import ROOT
from support.pages import read

TUTORIAL = ROOT / "docs" / "tutorial"


class Step(NamedTuple):
    """A file to write (`file` and its `text`), or a command (`text`) and what it prints."""

    where: str
    text: str
    file: str | None = None
    prints: str | None = None


def pages() -> list[str]:
    """The names of the tutorial's pages in the order of the site."""
    found = re.findall(r"^ +- .*: tutorial/(\S+)$", (ROOT / "mkdocs.yml").read_text("utf8"), re.M)
    assert sorted(found) == sorted(it.name for it in TUTORIAL.glob("*.md"))
    return found


def steps(page: str) -> Iterator[Step]:
    blocks = read((TUTORIAL / page).read_text("utf8")).blocks
    for at, block in enumerate(blocks):
        where = f"docs/tutorial/{page}, line {block.line}"
        if block.file:
            yield Step(where, block.text, block.file)
        elif block.language == "console":
            *commands, last = [it.removeprefix("$ ") for it in block.text.splitlines()]
            yield from (Step(where, command) for command in commands)
            after = blocks[at + 1] if at + 1 < len(blocks) else None
            shown = after.text if after and after.language == "text" else None
            yield Step(where, last, prints=shown)
        else:
            assert block.language in ("text", "pyi"), f"{where}: a program here has a title"
