"""The page as a clone serves it, in its modules, and as a wheel does, bundled by esbuild."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

import page_bundle
import pytest

from jsonrill_server.http import pages
from support import ROOT
from support.apps import asked
from support.npm import TOOLS, installed


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `web` of a wheel."""
    installed(TOOLS, "npm")
    web = tmp_path_factory.mktemp("bundle")
    page_bundle.bundle(web / "page")
    shutil.copytree(ROOT / "js" / "src", web / "js" / "src")
    return web


def named_in(html: str) -> list[str]:
    return re.findall(r'(?:src|href)="(web/[^"]+)"', html)


def test_the_bundle_is_small_and_its_html_names_files_of_it(bundled: Path) -> None:
    html = (bundled / "page" / "index.html").read_text("utf8")
    names = named_in(html)
    # The chunks of the page's module are named too, so that they are fetched at once.
    assert 4 <= len(names) <= 16
    first = [html.encode(), *((bundled / name.removeprefix("web/")).read_bytes() for name in names)]
    assert sum(len(gzip.compress(data, 9)) for data in first) < 95_000


def test_a_wheel_serves_its_bundle_and_keeps_hashed_names_for_ever(
    bundled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "root", lambda: bundled)
    html = asked("GET", "/").text
    for path in named_in(html):
        answer = asked("GET", f"/{path}", headers={"accept-encoding": "br, gzip"})
        assert answer.status_code == 200
        plain = asked("GET", f"/{path}", headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers and plain.content == answer.content
        if len(plain.content) > 1000:
            assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["cache-control"] == (
            "public, max-age=31536000, immutable" if "bundle" in path else "no-cache"
        )
    assert asked("GET", "/web/lib/index.js").status_code == 200
    assert asked("GET", "/web/page/bundle/page-0.js").status_code == 404


def test_a_clone_serves_the_modules_as_they_are() -> None:
    html = asked("GET", "/").text
    for path in named_in(html):
        answer = asked("GET", f"/{path}")
        assert answer.content == (ROOT / path.removeprefix("web/")).read_bytes()
        assert answer.headers["cache-control"] == "no-cache"
