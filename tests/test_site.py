"""The documentation site: tools/docs_site.py fits pages that are written for the repository."""

from __future__ import annotations

import sys

import pytest

from support import ROOT

sys.path.append(str(ROOT / "tools"))

import docs_site

TABS = """\
Before.

<!-- tabs -->
**One**

<!-- skip: needs a key -->
```python
a = 1

**not a title**
```

**Two**

Text.
<!-- end of tabs -->

After.
"""


def test_tabs_become_tabs_of_the_site() -> None:
    expected = """\
Before.

=== "One"

    ```python
    a = 1

    **not a title**
    ```

=== "Two"

    Text.

After.
"""
    got = docs_site.fitted(TABS, "page.md")
    assert [line for line in got.splitlines() if line] == [it for it in expected.splitlines() if it]


def test_tabs_without_an_end_are_refused() -> None:
    with pytest.raises(ValueError, match="page.md"):
        docs_site.fitted("<!-- tabs -->\n**One**\n", "page.md")


def test_links_out_of_the_pages_are_text() -> None:
    text = (
        "[a test](../../tests/x.py), [a page](index.md), [up](../index.md)\n```\n[x](../y)\n```\n"
    )
    got = docs_site.fitted(text, "tutorial/page.md")
    assert got.startswith("a test, [a page](index.md), [up](../index.md)\n")
    assert "[x](../y)" in got


def test_commands_can_be_copied_and_sessions_stay_as_they_are() -> None:
    assert docs_site.fitted("```console\n$ a\n$ b\n```\n", "page.md") == "```bash\na\nb\n```\n"
    session = "```console\n$ a\nwhat it prints\n```\n"
    assert docs_site.fitted(session, "page.md") == session


def test_a_bar_in_a_cell_has_no_backslash() -> None:
    html = r"<td><code>a \| b</code></td><p><code>a \| b</code></p>"
    assert (
        docs_site.on_page_content(html) == r"<td><code>a | b</code></td><p><code>a \| b</code></p>"
    )


def test_a_page_is_described_by_its_first_sentences() -> None:
    text = "# Title\n\n![picture](x.png)\n\n* a list\n\nWhat [it](x.md) **is**. And more.\n"
    assert docs_site.description(text) == "What it is. And more."
    assert docs_site.description(text.replace("is**", "is, " + "x" * 80 + "**")).endswith("x.")


@pytest.mark.parametrize(
    "file", sorted((ROOT / "docs").rglob("*.md")), ids=lambda it: it.relative_to(ROOT).as_posix()
)
def test_each_page_has_a_description_and_a_place(file: object) -> None:
    listed = docs_site.llms()
    name = str(file).removeprefix(f"{ROOT / 'docs'}/")
    line = next(it for it in listed.splitlines() if f"]({name}): " in it)
    assert len(line.partition("): ")[2]) > 10


def test_a_reader_can_survey_the_pages() -> None:
    """A new subject belongs on the page of its neighbours."""
    assert len(list((ROOT / "docs").rglob("*.md"))) <= 36


def test_the_check_of_the_site_counts_warnings() -> None:
    """With --quiet MkDocs neither shows nor counts them, whatever --strict says."""
    commands = [it for it in (ROOT / "Makefile").read_text("utf8").splitlines() if "(MKDOCS)" in it]
    assert "\t$(MKDOCS) $(BIN)/mkdocs build --strict" in commands


# What people type, and the page whose heading or first lines answer.
SEARCHES = {
    "websocket": "sse.md",
    "approval": "agents.md",
    "vllm": "values.md",
    "azure": "values.md",
    "openrouter": "values.md",
    "llama.cpp": "values.md",
    "ollama": "values.md",
    "pydantic-ai": "frameworks.md",
    "text to speech": "values.md",
    "chunker": "chunker.md",
}


@pytest.mark.parametrize("words", SEARCHES)
def test_a_search_for_what_people_type_finds_its_page(words: str) -> None:
    """In a title, a heading or the first lines, which the site's search puts first."""
    text = (ROOT / "docs" / SEARCHES[words]).read_text("utf8")
    first = [line for line in text.splitlines() if line.startswith("#")] + text.splitlines()[:8]
    assert words in "\n".join(first).lower()
