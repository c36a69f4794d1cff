"""The examples of README.md and docs/ run, and the links between the pages resolve.

The ```python blocks of a page run from top to bottom in one namespace; ```pycon blocks, and those
that begin with `>>>`, must also print what the page shows. `await` needs no function around it. A
block right below `<!-- skip: reason -->` is only compiled, unless it needs the demo server, which
the clients in it then find as if it were the provider. tests/test_tutorial.py runs the programs of
the tutorial, which are files.
"""

from __future__ import annotations

import doctest
import gc
import re
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import ROOT
from support.markdown import Block, broken, compiled, links, read, run_script
from support.processes import FAST_DEMO, Server

TUTORIAL = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
RUN = [
    ROOT / "README.md",
    *(item for item in sorted((ROOT / "docs").rglob("*.md")) if item not in TUTORIAL),
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


def run_page(text: str, where: str, *, demo: bool = False) -> None:
    """Run the Python blocks of a page; with `demo`, also those that need the demo server.

    A `text` block that follows a block which prints is its output.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
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


@pytest.mark.parametrize("file", RUN, ids=name_of)
def test_examples_run(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # an example that writes a file leaves nothing behind
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    run_page(file.read_text("utf8"), name_of(file))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Server(tmp_path_factory.mktemp("demo"), program=FAST_DEMO, demo=True) as server:
        yield server.url


@pytest.fixture
def as_providers(
    demo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """Let clients without arguments find the server of the demo."""
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
    "file", [item for item in RUN if FOR_DEMO in item.read_text("utf8")], ids=name_of
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
    shown = re.sub(r"(?m)^id: .*", "id: …", done.stdout[done.stdout.index("id: ") :])
    assert shown.strip() == blocks[at + 1].text.strip()


@pytest.mark.parametrize("file", LINKED, ids=name_of)
def test_links_resolve(file: Path) -> None:
    page = read(file.read_text("utf8"))
    assert [wrong for target in links(page) if (wrong := broken(target, file))] == []
