"""Prose is checked: what README.md and docs/ show is run, and their links lead somewhere.

The ```python blocks of a page run from top to bottom in one namespace; ```pycon blocks, and those
that begin with `>>>`, must also answer what the page says. `await` needs no function around it. A
block right below `<!-- skip: reason -->` is only compiled, unless it is for a server of the demo,
which the clients in it find as if it were the provider's. The ```console blocks hold commands in
lines that begin with `$ `. The programs of the tutorial are files, which tests/test_tutorial.py
runs.
"""

from __future__ import annotations

import doctest
import gc
import re
import subprocess
import textwrap
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from support.markdown import Block, anchors, broken, compiled, links, read, run_script
from support.processes import FAST_DEMO, Server

TUTORIAL = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
RUN = [
    ROOT / "README.md",
    *(it for it in sorted((ROOT / "docs").rglob("*.md")) if it not in TUTORIAL),
]
EXAMPLES = sorted((ROOT / "examples").glob("*/README.md"))
LINKED = [*RUN, *TUTORIAL, *EXAMPLES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
PYTHON = ("python", "pycon")
FOR_DEMO = "tests/test_docs.py runs it with serve --demo"


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def session(block: Block, where: str, names: dict[str, Any]) -> doctest.DocTest:
    parser = doctest.DocTestParser()
    return parser.get_doctest(block.text, names, where, where, block.line - 1)


def compile_only(block: Block, where: str) -> None:
    if block.is_session:
        for example in session(block, where, {}).examples:
            compiled(example.source, where, block.line + example.lineno)
    else:
        compiled(block.text, where, block.line)


def run_session(block: Block, where: str, names: dict[str, Any]) -> None:
    test = session(block, where, names)
    assert test.examples, f"{where}, line {block.line}: no >>> in this block"
    failures: list[str] = []
    flags = doctest.ELLIPSIS | doctest.REPORT_NDIFF
    doctest.DocTestRunner(optionflags=flags).run(test, out=failures.append, clear_globs=False)
    assert not failures, "\n" + "".join(failures)
    names.update(test.globs)


def run_page(text: str, where: str, *, demo: bool = False) -> int:
    """Run a page's Python; how many blocks were run. With `demo` those for that server, too.

    A `text` block that follows a block which prints is what that one prints.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    ran = 0
    printed = ""
    for block in read(text).blocks:
        if block.language == "text" and printed:
            assert printed == block.text, f"{where}, line {block.line}"
        if block.language not in PYTHON:
            printed = ""
            continue
        if block.skip is not None and not (demo and block.skip == FOR_DEMO):
            assert block.skip, f"{where}, line {block.line}: a skip needs its reason"
            compile_only(block, where)
            continue
        if block.is_session:
            run_session(block, where, names)
        else:
            printed = run_script(block, where, names)
        ran += 1
    return ran


@pytest.mark.parametrize("file", RUN, ids=name_of)
def test_examples_run(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # an example that writes a file leaves nothing behind
    run_page(file.read_text("utf8"), name_of(file))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Server(tmp_path_factory.mktemp("demo"), program=FAST_DEMO, demo=True) as server:
        yield server.url


@pytest.fixture
def as_providers(
    demo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """Clients without arguments find the server of the demo."""
    monkeypatch.chdir(tmp_path)
    variables = {
        "OPENAI_BASE_URL": f"{demo}/v1",
        "ANTHROPIC_BASE_URL": demo,
        "GOOGLE_GEMINI_BASE_URL": demo,
        **dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"), "any"),
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with warnings.catch_warnings():
        # The examples leave their clients to the collector.
        warnings.simplefilter("ignore", ResourceWarning)
        yield variables
        gc.collect()


@pytest.mark.parametrize(
    "file", [it for it in RUN if FOR_DEMO in it.read_text("utf8")], ids=name_of
)
def test_examples_run_with_the_demo(file: Path, demo: str, as_providers: Any) -> None:
    text = file.read_text("utf8").replace("http://127.0.0.1:8377", demo)
    run_page(text, name_of(file), demo=True)


def test_the_commands_of_the_first_steps_with_the_server_run(demo: str) -> None:
    blocks = read((ROOT / "docs" / "server.md").read_text("utf8")).blocks
    at = next(at for at, block in enumerate(blocks) if "curl" in block.text)
    commands = blocks[at].text.replace("http://127.0.0.1:8377", demo)
    script = "\n".join(line.removeprefix("$ ") for line in commands.splitlines())
    done = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, timeout=60)
    shown = re.sub(r"(?m)^(id: [\d.]+-).*", r"\1…", done.stdout[done.stdout.index("id: ") :])
    assert shown.strip() == blocks[at + 1].text.strip()


WITH_KEYS = [
    block
    for block in read((ROOT / "docs" / "tool-calls.md").read_text("utf8")).blocks
    if block.skip and any(name in block.text for name in ("OpenAI()", "Anthropic()", "genai.Cl"))
]


@pytest.mark.parametrize("block", WITH_KEYS, ids=lambda block: f"line {block.line}")
def test_recipes_for_tool_calls_run_with_the_demo(block: Block, as_providers: Any) -> None:
    assert "Lima" in run_script(block, "docs/tool-calls.md", {"__name__": "__main__"})


@pytest.mark.parametrize("file", [*RUN, *TUTORIAL], ids=name_of)
def test_console_blocks_show_a_command(file: Path) -> None:
    for block in read(file.read_text("utf8")).blocks:
        if block.language == "console":
            assert block.text.startswith("$ "), f"line {block.line}"


@pytest.mark.parametrize("file", LINKED, ids=name_of)
def test_links_resolve(file: Path) -> None:
    page = read(file.read_text("utf8"))
    assert [wrong for target in links(page) if (wrong := broken(target, file))] == []


def page(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def test_blocks_of_a_page_share_their_names() -> None:
    text = """
        ```python
        a = 20
        ```
        1. In a list, with `await`:

           ```python
           import asyncio
           await asyncio.sleep(0)
           async def more(): yield a + 1
           b = [x async for x in more()]
           ```

        ```pycon
        >>> b
        [21]
        >>> c = 1
        ```
        ```python
        assert c == 1
        ```
        ```json
        not Python
        ```
    """
    assert run_page(page(text), "page.md") == 4


@pytest.mark.parametrize(
    "block, error",
    [
        ("```python\nassert 1 == 2\n```", AssertionError),
        ("```python\nasync def f(): 1 / 0\nawait f()\n```", ZeroDivisionError),
        ("```pycon\n>>> 1 + 1\n3\n```", AssertionError),
        ("```python\n>>> 1 + 1\n3\n```", AssertionError),
        ("```pycon\nnothing asked\n```", AssertionError),
        ("<!-- skip: needs a key -->\n```python\nthis is no Python\n```", SyntaxError),
        ("<!-- skip: needs a key -->\n```pycon\n>>> this is no Python\n```", SyntaxError),
        ("<!-- skip: -->\n```python\n1 / 0\n```", AssertionError),
        ("<!-- skip: too far up -->\ntext\n```python\n1 / 0\n```", ZeroDivisionError),
        ("```python\n1 / 0\n", ValueError),
    ],
)
def test_a_wrong_example_is_caught(block: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        run_page(block, "page.md")


def test_a_skipped_block_is_not_run() -> None:
    assert run_page("<!-- skip: divides -->\n\n```python\n1 / 0\n```\n", "page.md") == 0


def test_a_traceback_names_the_line_of_the_page() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        run_page("# Title\n\n```python\nx = 1\nx / 0\n```\n", "page.md")
    last = traceback.extract_tb(caught.tb)[-1]
    assert (last.filename, last.lineno) == ("page.md", 5)


def test_a_broken_link_is_caught(tmp_path: Path) -> None:
    here = tmp_path / "here.md"
    here.write_text("# One `two`, three!\n")
    (tmp_path / "there.md").write_text("## Same\n## Same\n```\n# not a heading\n```\n")
    text = (
        "[a](there.md) [b](#one-two-three) [c](there.md#same-1) [d](https://example.org)\n"
        '[e](gone.md) [f](#gone) ![g](there.md#not-a-heading "title") `[h](code.md)`\n'
        "```\n[i](fenced.md)\n```\n"
    )
    targets = [target for target in links(read(text)) if broken(target, here)]
    assert targets == ["gone.md", "#gone", "there.md#not-a-heading"]


def test_headings_are_named_as_github_names_them() -> None:
    headings = "# P1: cutting does *not* matter\n## `feed()` & [`flush()`](x.md)\n"
    assert anchors(read(headings)) == {"p1-cutting-does-not-matter", "feed--flush"}
