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


def script() -> str:
    """All steps as one script of bash: the pages' own commands, word for word.

    What needs a terminal of its own runs in the background; the next command waits until it
    answers. After each page the script notes in times.txt the seconds since it began, and the
    processor time of its commands.
    """
    lines = ["set -eu", "SECONDS=0", "trap 'kill $(jobs -p)' EXIT"]
    for page in pages():
        for step in steps(page):
            lines += [f"# {step.where}", *_commands(step)]
        lines.append("times > processor.txt")  # in a pipe it would be that of the pipe
        lines.append(f'echo "{page}: $SECONDS s, $(tail -1 processor.txt)" >> times.txt')
    return "\n".join(lines) + "\n"


def _commands(step: Step) -> Iterator[str]:
    if step.file:
        yield f"cat > {step.file} <<'END_OF_FILE'\n{step.text}END_OF_FILE"
    elif (word := step.text.split()[0]) in ("jsonrill", "uvicorn"):
        url = "8377/livez" if word == "jsonrill" else f"{step.text.split()[-1]}/docs"
        yield f"{step.text} >> servers.log 2>&1 &"
        yield f"until curl -so /dev/null http://127.0.0.1:{url}; do sleep 0.1; done"
    elif step.prints is None:
        yield step.text
    else:
        yield f"{step.text} > printed.txt"
        yield f"diff printed.txt - <<'END_OF_TEXT'\n{step.prints}END_OF_TEXT"
