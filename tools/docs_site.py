"""MkDocs hooks: adapt the pages of docs/ to the site and write llms.txt.

The pages are also read in the repository, so they use no syntax of the site:

* The text between `<!-- tabs -->` and `<!-- end of tabs -->` becomes tabs. Each begins with a line
  of bold text, its title.
* A link to a file outside of docs/ is removed; its text stays.
* A console block that contains only commands loses its `$ `, so that they can be copied.
* The description of a page is the beginning of its first paragraph.

The site has the Markdown of each page beside it, and `llms.txt`, the list of all pages for language
models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"
DESCRIPTION = 70  # characters after which a description needs no further sentence

FENCE = re.compile(r" *(```+)")
LINK = re.compile(r"!?\[([^\]]*)\]\((\.\./[^)\s]+)\)")
COMMANDS = re.compile(r"(?m)^( *)```console\n((?:\1\$ .*\n)+)\1```$")
TITLE = re.compile(r"\*\*([^*]+)\*\*\n")
SKIP = re.compile(r" *<!-- skip: .*-->\n")
CELL = re.compile(r"<td.*?</td>", re.DOTALL)


# ---- hooks ----


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    page.meta.setdefault("description", description(markdown))
    if page.is_homepage:
        # It lists all pages itself.
        page.meta["hide"] = ["navigation", "toc"]
    return adapt(markdown, page.file.src_uri)


def on_page_content(html: str, **_: Any) -> str:
    """Remove the backslash of a bar in a table cell, which Python's Markdown keeps in code."""
    return CELL.sub(lambda cell: cell[0].replace("\\|", "|"), html)


def on_post_build(config: Any) -> None:
    """Write the Markdown of each page beside the page, and llms.txt."""
    site = Path(config["site_dir"])
    for file in DOCS.rglob("*.md"):
        target = site / file.relative_to(DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.read_text("utf8"), "utf8")
    (site / "llms.txt").write_text(llms(config), "utf8")


# ---- pages ----


def adapt(text: str, name: str) -> str:
    """Return the Markdown of a page as the site needs it."""
    text = COMMANDS.sub(lambda match: f"{match[1]}```bash\n{bare(match[2])}{match[1]}```", text)
    lines: list[str] = []
    tabs: list[str] | None = None
    for line, is_code in with_fences(text):
        if not is_code:
            if line == "<!-- tabs -->\n":
                tabs = []
                continue
            if line == "<!-- end of tabs -->\n" and tabs is not None:
                lines += [*tabs, "\n"]
                tabs = None
                continue
            if SKIP.fullmatch(line):
                continue
            line = LINK.sub(lambda match: inside_docs(match, name), line)
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


def bare(commands: str) -> str:
    """Return commands without their prompts."""
    return re.sub(r"(?m)^( *)\$ ", r"\1", commands)


def with_fences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a page, each with whether it belongs to a fenced block."""
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


def inside_docs(link: re.Match[str], name: str) -> str:
    """Return a link, or only its text if it leads out of docs/."""
    target = (DOCS / name).parent / link[2].partition("#")[0]
    return link[0] if target.resolve().is_relative_to(DOCS) else link[1]


def description(text: str) -> str:
    """Return the first sentences of the first paragraph, without Markdown."""
    prose = "".join("\n" if is_code else line for line, is_code in with_fences(text))
    paragraphs = (paragraph.strip() for paragraph in re.split(r"\n\s*\n", prose))
    first = next(
        (item for item in paragraphs if re.match(r"[\w`*\"“]", item) and item[:2] != "* "), ""
    )
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(first.split())).replace("*", "")
    summary = ""
    for sentence in re.split(r"(?<=[.:!?])\s(?=[A-Z`<])", plain):
        summary = f"{summary} {sentence}".strip()
        if len(summary) >= DESCRIPTION:
            break
    return summary.rstrip(":")


# ---- the list for language models ----


def llms(config: Any) -> str:
    """Return the list of all pages, in the order of the site."""
    summary = description((DOCS / "index.md").read_text("utf8"))
    lines = [f"# {config['site_name']}", "", f"> {summary}", ""]
    lines.append("Every page is here as Markdown; links are relative to this file.")
    for section in config["nav"]:
        ((title, pages),) = section.items()
        lines += ["", f"## {title}", "", *entries([section] if isinstance(pages, str) else pages)]
    return "\n".join(lines) + "\n"


def entries(pages: list[dict[str, Any]]) -> Iterator[str]:
    for page in pages:
        ((title, target),) = page.items()
        if isinstance(target, str):
            yield f"- [{title}]({target}): {description((DOCS / target).read_text('utf8'))}"
        else:
            yield from entries(target)
