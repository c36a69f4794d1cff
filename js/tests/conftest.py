"""A node process that answers questions, and a page of a real browser."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from support import ROOT, need_command
from support.browser import launched
from support.javascript import Ask


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Give the peer a job and get its answer."""
    command = [need_command("node"), str(ROOT / "js" / "tests" / "peer.js")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as peer:
        assert peer.stdin is not None and peer.stdout is not None

        def question(job: str, **rest: Any) -> Any:
            assert peer.stdin is not None and peer.stdout is not None
            peer.stdin.write(json.dumps({"job": job, **rest}).encode() + b"\n")
            peer.stdin.flush()
            answer = json.loads(peer.stdout.readline())
            assert "failure" not in answer, answer["failure"]
            return answer["answer"]

        yield question
        peer.stdin.close()
        assert peer.wait(60) == 0


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    command = [need_command("node"), str(ROOT / "js" / "tests" / "site.js")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as site:
        assert site.stdin is not None and site.stdout is not None
        url = site.stdout.readline().strip()
        with launched() as browser:
            page = browser.new_page()
            page.goto(url)
            yield page
        site.stdin.close()
