"""The tutorial, page by page: each program prints what its page says, with the real SDKs.

The providers are `serve --demo`, which only writes faster here. The commands that install are left
out. The web recipe of the README runs here, too.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import pytest
from playwright.sync_api import Page, expect

from support import PYTHONPATH, ROOT, SLACK, hard
from support.browser import launched
from support.markdown import Step, pages, read, steps
from support.processes import FAST_DEMO, free_port

FASTER = "from jsonrill_server import demo; demo.PACE = 0.0005;import jsonrill.cli as c; c.main()"


@contextmanager
def process(command: list[str], url: str, folder: Path) -> Iterator[None]:
    """Run a server; the block begins when it answers."""
    env = {**os.environ, "PYTHONPATH": PYTHONPATH}
    with open(folder / "servers.log", "ab") as log:
        started = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 30 * SLACK
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
                break
            assert started.poll() is None and time.monotonic() < until, log_of(folder)
            time.sleep(0.05)
        yield
    finally:
        started.terminate()
        started.wait(20 * SLACK)


def log_of(folder: Path) -> str:
    return (folder / "servers.log").read_text()


class Walk:
    """Does the steps of the tutorial in one folder; each address of the pages is a free port."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.ports: dict[str, int] = {}
        self.running: set[str] = set()

    def prepare(self, page: str) -> None:
        """Do what the pages before this one leave behind: files, addresses, servers."""
        for before in pages()[: pages().index(page)]:
            for step in steps(before):
                if step.file or step.text.split()[0] in ("export", "jsonrill", "uvicorn"):
                    self.do(step)

    def here(self, text: str) -> str:
        def free(address: re.Match[str]) -> str:
            return f"{address[1]}{self.ports.setdefault(address[2], free_port())}"

        return re.sub(r"(127\.0\.0\.1:|--port )(\d+)", free, text)

    def do(self, step: Step) -> None:
        if step.file:
            (self.folder / step.file).write_text(self.here(step.text), "utf8")
            return
        command = self.here(step.text)
        words = shlex.split(command)
        if words[0] in ("pip", ".", "python3"):
            return
        if words[0] == "export":
            for word in words[1:]:
                name, _, value = word.partition("=")
                os.environ[name] = str(ROOT) if name == "CLONE" else value
        elif words[0] in ("jsonrill", "uvicorn"):
            self.serve(words)
        else:
            printed = self.program(words[1]) if words[0] == "python" else ""
            if words[:2] == ["python", "-m"] or words[0] == "curl":
                printed = self.shell(command)
            if step.prints is not None:
                assert printed == step.prints, f"{step.where}: {command}"

    def serve(self, words: list[str]) -> None:
        name = " ".join(words)
        if name in self.running:
            return
        self.running.add(name)
        if words[0] == "jsonrill":
            port = self.ports.setdefault("8377", free_port())
            command = [sys.executable, *FAST_DEMO, *words[1:], "--port", str(port)]
            url = f"http://127.0.0.1:{port}/livez"
        else:
            command = [sys.executable, "-m", *words]
            url = f"http://127.0.0.1:{words[-1]}/docs"
        self.stack.enter_context(process(command, url, self.folder))

    def program(self, name: str) -> str:
        """Run a program in this process, which has loaded the clients; return what it prints."""
        if not name.endswith(".py"):
            return ""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            runpy.run_path(str(self.folder / name), run_name="__main__")
        return printed.getvalue()

    def shell(self, command: str) -> str:
        command = re.sub(r"^python ", f"{shlex.quote(sys.executable)} ", command)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": PYTHONPATH},
            capture_output=True,
            text=True,
            timeout=60 * SLACK,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return re.sub(r"(?m)^id: .*", "id: …", done.stdout)


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    folder = tmp_path_factory.mktemp("tutorial")
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        # What the tutorial exports and imports is gone afterwards.
        stack.enter_context(mock.patch.dict(os.environ))
        stack.callback(sys.modules.pop, "models", None)
        yield Walk(folder, stack)


@pytest.mark.parametrize("page", pages())
# The programs are short, and leave their clients to the collector.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_page_of_the_tutorial_does_what_it_says(page: str, walk: Walk) -> None:
    walk.prepare(page)
    for step in steps(page):
        walk.do(step)
    gc.collect()


@pytest.fixture
def tab(walk: Walk) -> Iterator[Page]:
    """Yield a page of a browser while the servers of the tutorial run."""
    walk.prepare("tools.md")
    with launched() as browser:
        yield browser.new_page()


def test_the_page_of_the_tutorial_shows_the_trip(walk: Walk, tab: Page) -> None:
    tab.goto(f"http://127.0.0.1:{walk.ports['8000']}/")
    tab.click("button")
    expect(tab.locator("li")).to_have_text(["Lisbon", "Porto", "Coimbra"])
    expect(tab.locator("h1")).to_have_text("Rome, 3 days")


@hard
def test_the_page_of_a_run_survives_a_reload(walk: Walk, tab: Page) -> None:
    tab.goto(f"http://127.0.0.1:{walk.ports['8001']}/kept")
    tab.click("button")
    tab.wait_for_url("**/kept#*")
    tab.reload()
    expect(tab.locator("p")).to_have_text("Lisbon, Porto, Coimbra")
    expect(tab.locator("h1")).to_have_text("Rome, 3 days")


def test_the_web_recipe_of_the_readme_shows_the_answer(walk: Walk, tab: Page) -> None:
    for block in read((ROOT / "README.md").read_text("utf8")).blocks:
        if block.file:
            (walk.folder / block.file).write_text(block.text, "utf8")
    (walk.folder / "js").symlink_to(ROOT / "js")
    port = str(free_port())
    url = f"http://127.0.0.1:{port}/"
    with process([sys.executable, "-m", "uvicorn", "app:app", "--port", port], url, walk.folder):
        tab.goto(url)
        expect(tab.locator("h1")).to_have_text("Lentil soup with roasted carrots")
