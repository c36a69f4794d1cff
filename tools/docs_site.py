"""Fits the pages of docs/ to the site that MkDocs builds of them, and writes docs/llms.txt.

The pages are written to be read in the repository as well, so they use no syntax of the site:

* What is between `<!-- tabs -->` and `<!-- end of tabs -->` becomes tabs. Each begins with a line
  of bold text, its title.
* A link to a file outside of docs/ (a test, for instance) is a link in the repository only.
* A console block of nothing but commands loses its `$ `, so that they can be copied.
* A page's description is how its first paragraph begins.

The site has the Markdown of each page beside it, and `llms.txt`, the list of all pages for language
models, which tools/reference.py writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LIST = DOCS / "llms.txt"
# Characters after which a description needs no other sentence.
ENOUGH = 70
GENERATED = ("reference.md", "reference-modules.md", "commands.md")

FENCE = re.compile(r" *(```+)")
LINK = re.compile(r"!?\[([^\]]*)\]\((\.\./[^)\s]+)\)")
COMMANDS = re.compile(r"(?m)^( *)```console\n((?:\1\$ .*\n)+)\1```$")
CELL = re.compile(r"<td.*?</td>", re.DOTALL)
TITLE = re.compile(r"\*\*([^*]+)\*\*\n")
SKIP = re.compile(r" *<!-- skip: .*-->\n")


# ---- what MkDocs calls while it builds ----


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    page.meta.setdefault("description", description(markdown))
    if page.is_homepage:
        # It lists all pages itself.
        page.meta["hide"] = ["navigation", "toc"]
    if page.file.src_uri in GENERATED:
        # A guide says more about a word than a list of names does.
        page.meta["search"] = {"boost": 0.4}
    return fitted(markdown, page.file.src_uri)


def on_page_content(html: str, **_: Any) -> str:
    """In a cell, `\\|` is a bar; Markdown of Python keeps the backslash of one in code."""
    return CELL.sub(lambda cell: cell[0].replace("\\|", "|"), html)


def on_post_build(config: Any) -> None:
    """Put the Markdown of each page beside the page."""
    for file in DOCS.rglob("*.md"):
        there = Path(config["site_dir"]) / file.relative_to(DOCS)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(file.read_text("utf8"), "utf8")


# ---- a page ----


def text_of(file: Path) -> str | None:
    """The text of a file, None if there is none."""
    return file.read_text("utf8") if file.exists() else None


def fitted(text: str, name: str) -> str:
    """The Markdown of a page as the site needs it."""
    text = COMMANDS.sub(lambda match: f"{match[1]}```bash\n{copied(match[2])}{match[1]}```", text)
    lines: list[str] = []
    tabs: list[str] | None = None
    for line, code in with_fences(text):
        if not code:
            if line == "<!-- tabs -->\n":
                tabs = []
                continue
            if line == "<!-- end of tabs -->\n" and tabs is not None:
                lines += [*tabs, "\n"]
                tabs = None
                continue
            if SKIP.fullmatch(line):
                continue
            line = LINK.sub(lambda match: without_link(match, name), line)
            if tabs is not None and (title := TITLE.fullmatch(line)):
                tabs.append(f'=== "{title[1]}"\n')
                continue
        if tabs is None:
            lines.append(line)
        else:
            tabs.append(f"    {line}" if line.strip() else line)
    if tabs is not None:
        raise ValueError(f"{name}: tabs without an end")
    return "".join(lines)


def copied(commands: str) -> str:
    return re.sub(r"(?m)^( *)\$ ", r"\1", commands)


def with_fences(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of a page, each with whether it belongs to a fenced block."""
    ticks = None
    for line in text.splitlines(keepends=True):
        fence = FENCE.match(line)
        if ticks is None:
            ticks = fence[1] if fence else None
            yield line, ticks is not None
        else:
            yield line, True
            if line.strip() == ticks:
                ticks = None


def without_link(link: re.Match[str], name: str) -> str:
    """The text of a link that leads out of docs/; any other link as it is."""
    there = (DOCS / name).parent / link[2].partition("#")[0]
    return link[0] if there.resolve().is_relative_to(DOCS) else link[1]


def description(text: str) -> str:
    """The first sentences of the first paragraph, until they say enough, without Markdown."""
    prose = "".join("\n" if code else line for line, code in with_fences(text))
    paragraphs = (it.strip() for it in re.split(r"\n\s*\n", prose))
    first = next((it for it in paragraphs if re.match(r"[\w`*\"“]", it) and it[:2] != "* "), "")
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(first.split())).replace("*", "")
    summary = ""
    for sentence in re.split(r"(?<=[.:!?])\s(?=[A-Z`<])", plain):
        summary = f"{summary} {sentence}".strip()
        if len(summary) >= ENOUGH:
            break
    return summary.rstrip(":")


# ---- the list for language models ----


def llms() -> str:
    """The list of all pages, in the order of the site."""
    site = yaml.load((ROOT / "mkdocs.yml").read_text("utf8"), Loader=Loader)
    lines = [
        f"# {site['site_name']}",
        "",
        f"> {description((DOCS / 'index.md').read_text('utf8'))}",
    ]
    lines += ["", "Every page is here as Markdown; links are relative to this file."]
    for section in site["nav"]:
        ((title, pages),) = section.items()
        if isinstance(pages, str):
            pages = [section]
        lines += ["", f"## {title}", "", *entries(pages)]
    return "\n".join(lines) + "\n"


def entries(pages: list[dict[str, Any]]) -> Iterator[str]:
    for page in pages:
        ((title, target),) = page.items()
        if isinstance(target, str):
            text = (DOCS / target).read_text("utf8")
            yield f"- [{title}]({target}): {description(text)}"
        else:
            yield from entries(target)


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, whose tags for Python objects mean nothing here."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)
